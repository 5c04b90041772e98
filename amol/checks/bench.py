"""The training engine beside what a user would write instead, in one run on one thread.

Every engine trains the same networks from the same first weights on the same batches for the same
epochs: the loop over a ``DataLoader``, the loop over batches taken by index, skorch, and the stack
of `amol.experiments.training`. Their floating-point operations at the machine's own rate
are the limit that none can pass.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import joblib
import pandas as pd
import psutil
import torch
from torch import Tensor
from tqdm import tqdm

from amol.checks.baseline_loops import LOOPS, Job, dataloader_loop, jobs, layers
from amol.experiments.runs import prepare
from amol.experiments.settings import StudySettings
from amol.experiments.study import CHUNK
from amol.experiments.training import Arrays, Protocol, one_thread, train_stack
from amol.host import processor
from amol.losses import PAPER_METHODS
from amol.paths import ROOT, build_dir

RECORDED = ROOT / "book" / "recorded" / "bench.json"
DATASETS = ("Abalone", "Wine White")
BATCH_SIZES = (64, Protocol.batch_size)  # a usual one, and the protocol's
CASE = ["dataset", "batch_size"]
BARS = {"dataloader_ratio": 10, "index_ratio": 4, "gemm_share": 0.35}


def stack(chunk: Sequence[Job], data: Arrays, protocol: Protocol) -> list[Tensor]:
    """Test probabilities (n, K) of each job, trained as one stack."""
    runs = train_stack([job.loss for job in chunk], [job.seed for job in chunk], data, protocol)
    outcomes = dict(runs)
    return [torch.from_numpy(outcomes[i].probabilities) for i in range(len(chunk))]


def operations(data: Arrays, protocol: Protocol) -> int:
    """Floating-point operations of one network's matrix products in one epoch.

    A product (n, i) × (i, o) takes 2nio. A training step has three a layer: forward, and the
    gradients of its weights and of its input, the last not for the first layer; validation has
    the first alone.
    """
    sizes = [wide * narrow for wide, narrow in layers(data, protocol)]
    train, validation = len(data.X_train), len(data.X_validation)
    return 2 * (train * (3 * sum(sizes) - sizes[0]) + validation * sum(sizes))


def gemm_rate(size: int = 512, repeats: int = 5) -> float:
    """Floating-point operations a second of a square float32 product on one thread; the best."""
    a, b = torch.randn(2, size, size)
    return 2 * size**3 / min(_timed(torch.mm, a, b)[1] for _ in range(repeats))


def _timed(work: Callable, *arguments) -> tuple[object, float]:
    """What `work` gives, and the processor seconds it took."""
    start = time.process_time()
    done = work(*arguments)
    return done, time.process_time() - start


def _watched(command: Sequence[str], **environment: str) -> tuple[float, float]:
    """Seconds by the clock that a command takes, and the most MB its processes hold together."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start, peak = time.perf_counter(), 0
    process = psutil.Popen([sys.executable, *command], env=variables, **quiet)
    while process.poll() is None:
        with suppress(psutil.NoSuchProcess):
            family = [process, *process.children(recursive=True)]
            peak = max(peak, sum(member.memory_info().rss for member in family))
        time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - start, peak / 2**20


def peak_mb(dataset: str, batch_size: int) -> float:
    """Most memory that a new process holds while it trains one stack, its libraries included."""
    code = f"from amol.checks import bench; bench.first_stack({dataset!r}, {batch_size})"
    return _watched(["-c", code])[1]


def first_stack(dataset: str, batch_size: int) -> None:
    """Train the first stack of a case and no more."""
    protocol, data, todo = _case(dataset, batch_size)
    stack(todo[:CHUNK], data, protocol)


def _case(
    dataset: str, batch_size: int, seeds: int = 5, epochs: int = 3
) -> tuple[Protocol, Arrays, list[Job]]:
    protocol = Protocol(batch_size=batch_size, epochs=epochs, patience=epochs)
    data = prepare(dataset, StudySettings().split_seed).arrays
    return protocol, data, jobs(data.num_classes, seeds)


def compare(
    dataset: str, batch_size: int, seeds: int = 5, epochs: int = 3, every: int = 1, bar=None
) -> dict:
    """One row of the bench: every engine in turn on each stack's jobs, on one thread.

    What else a machine does changes its speed from one second to the next. So the stack is timed
    anew before every single run of another engine, or every few, and ratios are of sums. The rate
    of a large product is taken right before each stack; the limit takes the best one of all.

    Returns
    -------
    dict
        ``dataset``, ``batch_size``, ``runs``, ``epochs``; ``stack_ms``, processor time a network
        and epoch; ``dataloader_ratio``, ``index_ratio`` and ``skorch_ratio``, each engine's time
        over the stack's; ``gemm_share``, the limit's time over the stack's;
        ``gemm_share_beside``, the same by the rate right before each stack instead of the best;
        ``limit_ratio``, the ``DataLoader`` loop's time over the limit's; ``gemm_gflops``, the rate
        behind that limit; ``difference``, the largest between test probabilities of the stack
        and of any other engine.
    """
    protocol, data, todo = _case(dataset, batch_size, seeds, epochs)
    chunks = [todo[i : i + CHUNK] for i in range(0, len(todo), CHUNK)]
    taken = {name: dict.fromkeys(["stack", "loop", "limit"], 0.0) for name in LOOPS}
    work = epochs * operations(data, protocol)  # of a run
    rates, difference = [], 0.0
    with one_thread():
        stack(chunks[0], data, protocol)
        for loop in LOOPS.values():  # the first call of all pays for what is made once
            loop(chunks[0][0], data, replace(protocol, epochs=1))
        for chunk in chunks:
            for name, loop in LOOPS.items():
                for start in range(0, len(chunk), every):
                    few = slice(start, start + every)
                    rates.append(gemm_rate())
                    ours, seconds = _timed(stack, chunk, data, protocol)
                    taken[name]["stack"] += seconds * len(chunk[few]) / len(chunk)
                    taken[name]["limit"] += work * len(chunk[few]) / rates[-1]
                    for job, expected in zip(chunk[few], ours[few], strict=True):
                        found, seconds = _timed(loop, job, data, protocol)
                        taken[name]["loop"] += seconds
                        difference = max(difference, float((found - expected).abs().max()))
                if bar is not None:
                    bar.update(len(chunk))
    total, beside = (sum(spent[what] for spent in taken.values()) for what in ("stack", "limit"))
    mean, limit = total / len(LOOPS), len(todo) * work / max(rates)
    return {
        "dataset": dataset,
        "batch_size": batch_size,
        "runs": len(todo),
        "epochs": epochs,
        "stack_ms": 1e3 * mean / len(todo) / epochs,
        **{f"{name}_ratio": spent["loop"] / spent["stack"] for name, spent in taken.items()},
        "gemm_share": limit / mean,
        "gemm_share_beside": beside / total,
        "limit_ratio": taken["dataloader"]["loop"] / limit,
        "gemm_gflops": max(rates) / 1e9,
        "difference": difference,
    }


def engines(repeats: int = 2) -> pd.DataFrame:
    """`compare` and `peak_mb` for each data set and batch size, ``repeats`` times, a row each."""
    cases = [(dataset, size) for size in BATCH_SIZES for dataset in DATASETS] * repeats
    total = len(cases) * len(LOOPS) * 5 * len(PAPER_METHODS)
    with tqdm(total=total, unit="run", disable=not sys.stderr.isatty()) as bar:
        rows = [compare(*case, bar=bar) | {"peak_mb": peak_mb(*case)} for case in cases]
    return pd.DataFrame(rows)


def span(rows: pd.DataFrame, name: str, digits: int = 1, factor: int = 1) -> pd.Series:
    """Least and most of a figure in each case of `engines`, such as "9.7–10.1"."""
    ends = factor * rows.groupby(CASE, sort=False)[name].agg(["min", "max"])
    texts = ends.map(f"{{:.{digits}f}}".format)
    return texts.agg(lambda row: "–".join(dict.fromkeys(row)), axis=1)


def verdicts(rows: pd.DataFrame) -> dict[str, str]:
    """How many cases of `engines` reach each of `BARS` in every repeat, as ``"1 of 4"``."""
    least = rows.groupby(CASE)[list(BARS)].min()
    return {name: f"{(least[name] >= bar).sum()} of {len(least)}" for name, bar in BARS.items()}


def study(*options: str, workers: int = 2) -> tuple[dict, pd.Series]:
    """`amol study` as a command of its own with an empty store.

    Returns
    -------
    dict
        ``runs`` and ``seconds`` by the clock, start-up included; ``peak_mb``, the most that all
        its processes held at one moment.
    Series
        Epochs trained on each data set, over all its runs.
    """
    command = ["-m", "amol", "study", "--workers", str(workers), *options]
    with tempfile.TemporaryDirectory(prefix="amol-bench-") as home:
        seconds, peak = _watched(command, AMOL_HOME=home)
        with closing(sqlite3.connect(Path(home) / "build" / "runs.sqlite")) as store:
            query = "SELECT json_extract(described, '$.dataset') AS dataset, epochs FROM runs"
            runs = pd.read_sql_query(query, store)
    epochs = runs.groupby("dataset")["epochs"].sum()
    return {"runs": len(runs), "seconds": seconds, "peak_mb": peak}, epochs


def whole_study(epochs: int = 2) -> dict:
    """All of the paper's runs on two processes: `amol study` beside the ``DataLoader`` loop.

    The loop is timed for a few epochs of every run, two runs at a time, and its time an epoch
    multiplied by the epochs that the study took.
    """
    ours, trained = study()
    seconds = 0.0
    with joblib.Parallel(n_jobs=2) as pool:
        for dataset, total in trained.items():
            protocol, data, todo = _case(dataset, Protocol.batch_size, epochs=epochs)
            tasks = [joblib.delayed(dataloader_loop)(job, data, protocol) for job in todo]
            start = time.perf_counter()
            pool(tasks)
            seconds += (time.perf_counter() - start) / len(tasks) / epochs * total
    return {**ours, "dataloader_seconds": seconds, "study_ratio": seconds / ours["seconds"]}


def scaling(seeds: Sequence[int] = (5, 10, 20, 50, 100), epochs: int = 2) -> pd.DataFrame:
    """Time and memory of `amol study` from 160 runs to 3,200, each of a few epochs."""
    rows = []
    for count in tqdm(seeds, unit="study", disable=not sys.stderr.isatty()):
        measured, _ = study("--seeds", str(count), "--epochs", str(epochs))
        rows.append({"seeds": count, **measured})
    return pd.DataFrame(rows)


def bench(record: bool = False) -> dict:
    """Run the whole bench; write ``bench.json`` to the results, or to what the book shows.

    Returns
    -------
    dict
        ``machine``, ``torch``, ``date``, ``engines`` (`engines`' rows), ``study``
        (`whole_study`) and ``scaling`` (rows).
    """
    done = {
        "machine": processor(),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "engines": engines().to_dict("records"),
        "study": whole_study(),
        "scaling": scaling().to_dict("records"),
    }
    path = RECORDED if record else build_dir() / "results" / "bench.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    return done
