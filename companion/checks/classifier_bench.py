"""Bench of `amol.OrdinalClassifier`: an epoch beside others', a first fit, a million rows.

Times are processor time on one thread, imports left out; each of the last two is measured in
processes of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import version
from itertools import product

from amol import OrdinalClassifier
from amol.engine import Arrays, Protocol
from amol.losses import LOSSES
from companion import StudySettings
from companion.checks.baseline_loops import RIVALS
from companion.checks.bench import BATCH_SIZES, EPOCHS, one_thread, timed
from companion.host import processor
from companion.paths import ROOT, build_dir
from companion.train.runs import plan

RECORDED = ROOT / "book" / "recorded" / "classifier_bench.json"
DATASETS = ("Wine Red", "Wine White", "Abalone")
BARS = {"scikit-learn": 4, "skorch": 12}  # how many times theirs ours was built to be as fast
FIRST = ("AMOL", "CE", "CORAL", "SLACE")  # losses of different formulas
FIRST_FIT = """
import sys, time
import numba, sklearn, torch, numpy as np, amol
amol.OrdinalClassifier, amol.engine
X = np.random.default_rng(0).normal(size=(500, 10))
y = np.digitize(X[:, 0], [-1, 0, 1])
begin, cpu = time.perf_counter(), time.process_time()
amol.OrdinalClassifier(sys.argv[1], random_state=0).fit(X, y).predict(X)
print(time.perf_counter() - begin, time.process_time() - cpu)
"""
# The most memory above what a process holds that has already trained, over the size of X and y.
LARGE = """
import json, resource, sys, time
import numpy as np, psutil, amol
unit = 1 if sys.platform == "darwin" else 1024
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
rng = np.random.default_rng(0)
fit = lambda X, y, epochs: amol.OrdinalClassifier(max_iter=epochs, random_state=0).fit(X, y)
label = lambda X: np.digitize(X[:, 0], [-1, 0, 1])
small = rng.standard_normal((2000, 20), dtype=sys.argv[1])
fit(small, label(small), 1)
before = psutil.Process().memory_info().rss
X = rng.standard_normal((1_000_000, 20), dtype=sys.argv[1])
y = label(X)
begin = time.process_time(); fit(X, y, 1); one = time.process_time() - begin
begin = time.process_time(); fit(X, y, 3); three = time.process_time() - begin
print(json.dumps({"numbers": sys.argv[1], "fit_seconds": one, "epoch_seconds": (three - one) / 2,
                  "memory_share": (most() - before) / (X.nbytes + y.nbytes)}))
"""


def ours(loss: str, arrays: Arrays, protocol: Protocol) -> None:
    """Fit as long as the protocol says, and predict the test part."""
    model = OrdinalClassifier(
        loss,
        batch_size=protocol.batch_size,
        max_iter=protocol.epochs,
        n_iter_no_change=protocol.patience,
        restore_best=protocol.restore,
        random_state=0,
    )
    model.fit(arrays.X_train, arrays.y_train, X_val=arrays.X_validation, y_val=arrays.y_validation)
    model.predict_proba(arrays.X_test)


def speed(datasets=DATASETS, batch_sizes=BATCH_SIZES, times: int = 5) -> list[dict]:
    """Milliseconds an epoch of ours and of theirs, fitted in turn, and the ratio of their sums.

    All have the same network, epochs and batches. scikit-learn trains by cross-entropy alone, and
    looks at no validation part.
    """
    rows = []
    with one_thread():
        for dataset, batch_size, name in product(datasets, batch_sizes, BARS):
            arrays = plan(StudySettings(dataset, "CE", seeds=1))[0].data.arrays
            protocol = Protocol(
                batch_size=batch_size, epochs=EPOCHS, patience=EPOCHS, restore=False
            )
            loss = "CE" if RIVALS[name].only_cross_entropy else "AMOL"
            theirs = partial(RIVALS[name].train, LOSSES[loss](arrays.num_classes), range(1))
            ours(loss, arrays, protocol), theirs(arrays, protocol)  # what is made once
            spent = [
                (timed(ours, loss, arrays, protocol)[1], timed(theirs, arrays, protocol)[1])
                for _ in range(times)
            ]
            own, rival = (1e3 * sum(part) / times / EPOCHS for part in zip(*spent, strict=True))
            row = {"dataset": dataset, "batch_size": batch_size, "rival": name}
            rows.append(row | {"ours_ms": own, "theirs_ms": rival, "ratio": rival / own})
    return rows


def _python(code: str, argument: str, **variables: str) -> str:
    here = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | variables
    command = [sys.executable, "-c", code, argument]
    return subprocess.run(command, env=here, check=True, capture_output=True, text=True).stdout


def first_fits(losses=FIRST) -> list[dict]:
    """Seconds of a first fit with an empty cache, and of the next process's; by the clock, too."""
    rows = []
    for loss in losses:
        with tempfile.TemporaryDirectory(prefix="amol-first-fit-") as cache:
            pairs = [_python(FIRST_FIT, loss, AMOL_CACHE=cache).split() for _ in range(2)]
        (clock, first), (next_clock, following) = (map(float, pair) for pair in pairs)
        times = {"first": first, "first_clock": clock}
        rows.append({"loss": loss} | times | {"next": following, "next_clock": next_clock})
    return rows


def bench(record: bool = False) -> dict:
    """Measure all and write it to the results, or to what the book shows.

    Returns
    -------
    dict
        ``machine``, ``date``, ``versions``; rows of `speed` and `first_fits`; ``large``: a million
        rows of 20 features in float32 and in float64.
    """
    done = {
        "machine": processor(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "versions": {name: version(name) for name in BARS},
        "speed": speed(),
        "first_fits": first_fits(),
        "large": [json.loads(_python(LARGE, numbers)) for numbers in ("float32", "float64")],
    }
    path = RECORDED if record else build_dir() / "results" / RECORDED.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    return done
