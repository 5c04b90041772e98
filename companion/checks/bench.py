"""Bench of the training engine: rivals, limits of the machine, and how cost grows.

Times of training are processor time on one thread. What else a machine does changes its speed from
one second to the next, so engine and rival are timed in turn, and ratios are of sums.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import torch
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from amol.engine import Arrays, Protocol, train
from amol.engine.arithmetic import compiled
from amol.engine.kernels import KEEP, aligned, product_above
from amol.losses import LOSSES, PAPER_METHODS, OrdinalLoss
from companion import StudySettings
from companion.checks.baseline_loops import RIVALS, layers
from companion.host import processor
from companion.paths import ROOT, build_dir, store_path
from companion.train.runs import plan

RECORDED = ROOT / "book" / "recorded" / "bench.json"
DATASETS = ("Abalone", "Wine White")
BATCH_SIZES = (64, Protocol.batch_size)  # a usual one, and the protocol's
EPOCHS = 20  # a run of the study has some 70: what comes once per run shouldn't weigh much more
SHORT = 3  # rounding grows from epoch to epoch, so that networks are compared early
# What the engine was built to reach, at each of the batch sizes on every data set.
BARS = {"share": (0.5, 0.6), "DataLoader loop": (15, 10), "best other": (1.3, 1.3)}
# The runs that a build trains; data sets of any size for the growth of cost.
BUILD = (
    "from companion import run_studies\n"
    "from companion.studies.grids import TRAINED_BY_BUILD, grid_of\n"
    "grids = [settings for name in TRAINED_BY_BUILD for _, settings in grid_of(name)]\n"
    "run_studies(grids, workers=2)"
)
GROWTH = {
    "samples": (500, 2000, 8000, 32000),
    "units": (32, 64, 128, 256, 512),
    "classes": (2, 8, 32, 128),
}


@contextmanager
def one_thread():
    """Hold torch and the libraries of NumPy at one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def operations(data: Arrays, protocol: Protocol) -> int:
    """Floating-point operations of one network's matrix products in one epoch.

    A product (n, i) × (i, o) takes 2nio. A training step has three per layer: forward, and the
    gradients of its weights and of its input, the last not for the first layer; validation has
    the first alone.
    """
    sizes = [inputs * outputs for inputs, outputs in layers(data, protocol)]
    training, validation = len(data.X_train), len(data.X_validation)
    return 2 * (training * (3 * sum(sizes) - sizes[0]) + validation * sum(sizes))


@compiled
def _multiply(a, b, zeros, c):
    """c = a @ b by the engine's kernel; all (size, size)."""
    size = len(a)
    product_above(a.ctypes.data, size, 1, b.ctypes.data, size, c.ctypes.data, size, size, size,
                  size, zeros.ctypes.data, 0, 1, KEEP)  # fmt: skip


def large_product(size: int = 512) -> float:
    """Floating-point operations a second of a square float32 product; the best of five.

    The better of PyTorch's and the engine's own, since on some processors PyTorch's library
    reaches less than half of what they can do.
    """
    a, b, zeros, c = aligned(4, size, size)
    a[:], b[:] = torch.randn(2, size, size)
    _multiply(a, b, zeros, c)
    theirs = partial(torch.mm, torch.from_numpy(a), torch.from_numpy(b))
    ours = partial(_multiply, a, b, zeros, c)
    return 2 * size**3 / min(timed(work)[1] for work in (theirs, ours) * 5)


def products_alone(data: Arrays, protocol: Protocol) -> Callable[[], None]:
    """One network's matrix products in one epoch, without anything between them."""
    calls, (whole, rest) = [], divmod(len(data.X_train), protocol.batch_size)
    steps = [protocol.batch_size] * whole + [rest] * bool(rest)
    for n, trains in [*((n, True) for n in steps), (len(data.X_validation), False)]:
        for position, (inputs, outputs) in enumerate(layers(data, protocol)):
            x, w, z = torch.randn(n, inputs), torch.randn(inputs, outputs), torch.randn(n, outputs)
            back = [(x.T, z, torch.empty_like(w)), (z, w.T, torch.empty_like(x))]
            calls += [(x, w, z), *back[: trains * (2 if position else 1)]]

    def work():
        for a, b, out in calls:
            torch.mm(a, b, out=out)

    return work


def timed(work: Callable, *arguments) -> tuple[object, float]:
    """What ``work`` returns, and the processor seconds that it took."""
    begin = time.process_time()
    done = work(*arguments)
    return done, time.process_time() - begin


def engine(loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol) -> list[np.ndarray]:
    """Test probabilities (n, K) of a network per seed, as a rival returns them."""
    return [train(loss, seed, data, protocol).probabilities for seed in seeds]


def compare(dataset: str, batch_size: int, methods: Sequence[str] = PAPER_METHODS) -> dict:
    """One row of the bench: engine and rivals in turn on each method, and the limits.

    Returns
    -------
    dict
        dataset, batch_size; ``engine_ms``, processor time per network and epoch; each rival's
        time over the engine's, by name, None where its library isn't installed; ``best other``,
        the least of them but the first; ``share``, the time of all products at the rate of a large
        one over the engine's, and ``products_share``, that of the products alone at these shapes;
        ``gflops``, that rate; ``difference``, the median over networks of the largest difference
        between a test probability of the engine and of a rival that starts alike, after `SHORT`
        epochs. (The largest of
        all would say little: where a gradient is all but 0, Adam makes a step of a rounding.)
    """
    protocol = Protocol(batch_size=batch_size, epochs=EPOCHS, patience=EPOCHS, restore=False)
    short = replace(protocol, epochs=SHORT, patience=SHORT)
    data = plan(StudySettings(dataset, "CE", seeds=1))[0].data.arrays
    products, ratios = products_alone(data, protocol), dict.fromkeys(RIVALS)
    rates, alone, ours, differences = [], [], [], []
    with one_thread():
        for name, rival in RIVALS.items():
            spent = []  # (engine's, rival's) seconds
            for method in methods if rival.available else ():
                loss = LOSSES["CE" if rival.only_cross_entropy else method](data.num_classes)
                task = (loss, range(rival.seeds), data, protocol)
                if not spent:  # the first call pays for what is made once
                    engine(*task), rival.train(*task)
                pair = engine(*task[:3], short), rival.train(*task[:3], short)
                if not rival.own_start:
                    differences.extend(np.abs(np.subtract(*pair)).max(axis=(1, 2)))
                rates.append(large_product())
                alone.append(timed(products)[1])
                spent.append((timed(engine, *task)[1], timed(rival.train, *task)[1]))
                ours.append(spent[-1][0] / rival.seeds / EPOCHS)
            if spent:
                engines, rivals = map(sum, zip(*spent, strict=True))
                ratios[name] = rivals / engines
    mean = sum(ours) / len(ours)
    return {
        "dataset": dataset,
        "batch_size": batch_size,
        "engine_ms": 1e3 * mean,
        **ratios,
        "best other": min(ratio for ratio in [*ratios.values()][1:] if ratio),
        "share": operations(data, protocol) / max(rates) / mean,
        "products_share": sum(alone) / len(alone) / mean,
        "gflops": max(rates) / 1e9,
        "difference": float(np.median(differences)),
    }


def verdicts(rows: Sequence[dict]) -> dict[str, dict[int, tuple[float, float]]]:
    """Of each of `BARS` and batch size: the least figure over the data sets, and the bar."""
    found = {}
    for name, bars in BARS.items():
        for batch_size, bar in zip(BATCH_SIZES, bars, strict=True):
            least = min(row[name] for row in rows if row["batch_size"] == batch_size)
            found.setdefault(name, {})[batch_size] = least, bar
    return found


def growth(epochs: int = 2) -> list[dict]:
    """Time per network and epoch as samples, hidden units or classes grow, others held.

    Returns
    -------
    list of dict
        what, value, milliseconds, and the rate of its products in GFLOP/s.
    """
    rows = []
    for what, values in GROWTH.items():
        for value in values:
            case = {"samples": 2000, "units": 128, "classes": 8} | {what: value}
            random, n, K = np.random.RandomState(0), case["samples"], case["classes"]
            X, y = random.standard_normal((n, 10)).astype(np.float32), np.arange(n) % K
            data = Arrays(X, y, X[: n // 4], y[: n // 4], X[:1], K)
            protocol = Protocol(hidden=case["units"], epochs=epochs, patience=epochs)
            task = (LOSSES["AMOL"](K), 0, data, protocol)
            least = min(timed(train, *task)[1] for _ in range(3)) / epochs
            rate = operations(data, protocol) / least / 1e9
            rows.append({"what": what, "value": value, "ms": 1e3 * least, "gflops": rate})
    return rows


def _watched(command: Sequence[str], home: Path) -> dict:
    """Runs stored, seconds by the clock and most MB held by a command with an empty store."""
    variables = os.environ | {"PYTHONPATH": str(ROOT), "AMOL_HOME": str(home)}
    store = home / store_path().relative_to(ROOT)
    before, begin, peak = len([*store.glob("*")]), time.perf_counter(), 0
    with tempfile.TemporaryFile() as errors:
        process = psutil.Popen(
            [sys.executable, *command], env=variables, stdout=subprocess.DEVNULL, stderr=errors
        )
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                family = [process, *process.children(recursive=True)]
                peak = max(peak, sum(member.memory_info().rss for member in family))
            time.sleep(0.1)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(errors.read().decode(errors="replace"))
    seconds, runs = time.perf_counter() - begin, len([*store.glob("*")]) - before
    return {"runs": runs, "seconds": seconds, "peak_mb": peak / 2**20}


def studies(seeds: Sequence[int] = (5, 25, 100), epochs: int = 2) -> tuple[dict, list[dict]]:
    """All runs of a build on two threads, compiling included; then longer studies of few epochs.

    Each is a command of its own. The latter, from 160 runs to 3,200, take what was compiled.
    """
    with tempfile.TemporaryDirectory(prefix="amol-bench-") as home:
        whole, rows = _watched(["-c", BUILD], Path(home)), []
        for position, count in enumerate(seeds):  # another split each, so that none is reused
            options = {"seeds": count, "epochs": epochs, "split-seed": position}
            command = [
                part for name, value in options.items() for part in (f"--{name}", str(value))
            ]
            command = ["-m", "companion", "study", "--workers", "2", *command]
            rows.append({"seeds": count} | _watched(command, Path(home)))
    return whole, rows


def bench(record: bool = False) -> dict:
    """Run the whole bench; write ``bench.json`` to the results, or to what the book shows.

    Returns
    -------
    dict
        ``machine``, ``torch``, ``date``, ``engines`` (rows of `compare`), ``growth`` (rows),
        ``study`` and ``scaling`` (`studies`).
    """
    cases = [(dataset, size) for size in BATCH_SIZES for dataset in DATASETS]
    shown = tqdm(cases, unit="case", disable=not sys.stderr.isatty())
    engines = [compare(*case) for case in shown]
    study, scaling = studies()
    done = {
        "machine": processor(),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "engines": engines,
        "growth": growth(),
        "study": study,
        "scaling": scaling,
    }
    path = RECORDED if record else build_dir() / "results" / "bench.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    return done
