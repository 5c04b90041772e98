"""Twins: the wines on splits that keep rows with equal features on one side, recorded.

A fifth of the wines' rows repeat another one. On ordinary splits a test row may then have a twin
among the training rows. Here rows are drawn by groups of equal features, stratified by the label of
a group's first row, with all else as in the recording "splits".
"""

import json
from dataclasses import replace

import numpy as np
import pandas as pd

from amol import engine
from amol.metrics import METRICS
from companion.data.dataset import Dataset, split
from companion.studies.recording_checks import Comparison, compare_rows
from companion.studies.recordings import DECIMALS, folder, keep
from companion.train.runs import Run, arrange, named_dataset, plan
from companion.train.settings import StudySettings
from companion.train.workers import run_tasks

NAME = "twins"
SETS, METHODS, SPLITS = ("Wine Red", "Wine White"), ("CE", "KL", "AMOL", "AMOL-asym"), 30
MEASURED = ("QWK", "CHR_ext", "MAE", "J_c", "extreme_recall", "center_recall")
ROW = ["dataset", "method", "split_seed"]


def grouped_split(data: Dataset, split_seed: int) -> tuple[np.ndarray, ...]:
    """Rows of training, validation and test part (60/20/20), equal features on one side."""
    _, first, group = np.unique(data.X, axis=0, return_index=True, return_inverse=True)
    parts = split(data.y[first], split_seed)
    return tuple(np.flatnonzero(np.isin(group.ravel(), part)) for part in parts)


def run_of(dataset: str, method: str, split_seed: int) -> Run:
    """A run on a grouped split; its seed is the split's."""
    settings = StudySettings(dataset, (method,), seeds=(split_seed,), split_seed=split_seed)
    (run,) = plan(settings)
    data = named_dataset(dataset)
    prepared = arrange(data, grouped_split(data, split_seed), settings.standardize_on)
    described = json.loads(run.described) | {"data": prepared.digest}
    return replace(run, data=prepared, described=json.dumps(described, sort_keys=True))


def row_of(dataset: str, method: str, split_seed: int, stop=None) -> dict:
    """Train a run on a grouped split and measure it."""
    run = run_of(dataset, method, split_seed)
    outcome = engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol, stop)
    found = run.data.y_test, outcome.y_pred, run.data.arrays.num_classes
    measured = {name: round(METRICS[name](*found), DECIMALS) for name in MEASURED}
    labels = dict(zip(ROW, (dataset, method, split_seed), strict=True))
    return labels | measured | {"weights": outcome.weights_digest[:16], "key": run.key[:16]}


def record(workers: int | None = None, address: str | None = None) -> pd.DataFrame:
    """Train all runs and write ``twins.csv``."""
    tasks = [(d, m, s) for d in SETS for m in METHODS for s in range(SPLITS)]
    rows = pd.DataFrame(run_tasks(row_of, tasks, workers, address))
    places = rows["dataset"].map(SETS.index), rows["method"].map(METHODS.index), rows["split_seed"]
    rows = rows.iloc[np.lexsort(places[::-1])].reset_index(drop=True)
    keep(NAME, rows, {"runs": len(rows)})
    return rows


def load() -> pd.DataFrame:
    """Recorded rows."""
    return pd.read_csv(folder() / f"{NAME}.csv", dtype={"weights": str, "key": str})


def verify(count: int, sample_seed: int = 0) -> Comparison:
    """Train ``count`` random rows again."""
    rows = load()
    rng = np.random.default_rng(sample_seed)
    chosen = rows.iloc[sorted(rng.choice(len(rows), min(count, len(rows)), False))]
    new = pd.DataFrame([row_of(*where) for where in chosen[ROW].itertuples(index=False)])
    return compare_rows(NAME, chosen, new, ROW)[1]
