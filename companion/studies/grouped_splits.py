"""The wines on splits that keep rows with equal features on one side, recorded.

A fifth of the wines' rows repeat another one. On ordinary splits the features of a test row may
then stand among the training rows. Here rows are drawn by groups of equal features, stratified by
the label of a group's first row, with all else as in the recording "splits".
"""

import json
from dataclasses import replace
from itertools import product

import numpy as np

from amol import engine
from amol.metrics import METRICS
from companion.data.dataset import Dataset, split
from companion.studies.recordings import DECIMALS
from companion.studies.task_study import TaskStudy
from companion.train.runs import Run, arrange, named_dataset, plan
from companion.train.settings import StudySettings

SETS, METHODS, SPLITS = ("Wine Red", "Wine White"), ("CE", "KL", "AMOL", "AMOL-asym"), 30
MEASURED = ("QWK", "CHR_ext", "MAE", "J_c", "extreme_recall", "center_recall")
LABEL = ("dataset", "method", "split_seed")


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


def keys_of(dataset: str, method: str, split_seed: int) -> dict[tuple, str]:
    """The key of a run, by its label."""
    return {(dataset, method, split_seed): run_of(dataset, method, split_seed).key[:16]}


def rows_of(dataset: str, method: str, split_seed: int, stop=None) -> list[dict]:
    """Train a run on a grouped split and measure it: one row."""
    run = run_of(dataset, method, split_seed)
    outcome = engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol, stop)
    found = run.data.y_test, outcome.y_pred, run.data.arrays.num_classes
    measured = {name: round(METRICS[name](*found), DECIMALS) for name in MEASURED}
    labels = dict(zip(LABEL, (dataset, method, split_seed), strict=True))
    return [labels | measured | {"weights": outcome.weights_digest[:16]}]


STUDY = TaskStudy(
    "grouped_splits",
    task=LABEL,
    label=LABEL,
    tasks=tuple(product(SETS, METHODS, range(SPLITS))),
    keys=keys_of,
    measure=rows_of,
)
