"""The fair fight: seventeen losses with the same budget on ten data sets and thirty splits.

Per data set and split every method trains its `candidates`, eight settings said here beforehand,
the untuned one first. A rule chooses one of them on the validation part, the first of equals: the
highest QWK, or the lowest AMAE. Then the chosen network is measured on the test part, once per
rule; the rule "default" takes the untuned candidate. From each cross-entropy network chosen by QWK,
and from the untuned one, other decisions are measured, too. A row of the recording is one choice.

What a method chose on a data set and split is kept in ``build/fair_fight`` the moment it is known,
split by split, so that a command that is stopped goes on where it was.
"""

import os
import time
from collections.abc import Callable
from contextlib import closing
from itertools import product

import numpy as np
import pandas as pd
from tqdm import tqdm

from amol import engine
from amol.metrics import METRICS
from companion.data.datasets import DATASETS, MORE_DATASETS
from companion.paths import build_dir
from companion.studies.decisions import DECIMALS, DECISIONS, label_scores, probability_scores
from companion.studies.protocol_search import digest
from companion.studies.recording_checks import Comparison, compare_rows
from companion.studies.recordings import folder, keep
from companion.train.runs import Run, plan
from companion.train.settings import StudySettings
from companion.train.workers import run_tasks

NAME = "fair_fight"
SETS = (*MORE_DATASETS, *DATASETS)
SPLITS = 30
BATCH = 64  # as quick as 256 on large sets, quicker on small ones
RATES, WIDTHS = (1e-3, 3e-3), (128, 64)  # learning rates, units per hidden layer; defaults first
MORE_RATES = (1e-3, 3e-4, 3e-3, 1e-2)  # of a method without a parameter of its own
OWN = {  # own parameter and its values, the default first
    "KL": {"sigma": (1.0, 0.5)},
    "AMOL": {"alpha": (1.0, 2.0), "sigma": (1.0, 0.5)},
    "AMOL-asym": {"alpha": (1.0, 2.0), "sigma": (1.0, 0.5)},
    "SORD": {"sigma": (1.0, 0.5)},
    "SLACE": {"slope": (1.0, 0.3)},
    "Triangular": {"neighbor": (0.05, 0.1)},
    "Binomial": {"eta": (1.0, 0.5)},
    "Beta": {"eta": (1.0, 0.5)},
    "LogitAdj": {"tau": (1.0, 0.5)},
}
METHODS = ("CE", "KL", "AMOL", "AMOL-asym", "SORD", "OLL", "SLACE", "CORN", "CORAL", "CLM", "EMD2",
           "WK", "Triangular", "Binomial", "Beta", "LogitAdj", "CE-balanced")  # fmt: skip
# Untuned networks with one change: other α, for a rule that chooses it, and the epoch with the
# highest validation QWK in place of that with the least loss.
STOP = {"QWK stop": {"monitor": "QWK"}}
CHANGED = {
    "CE": STOP,
    "KL": STOP,
    "SORD": STOP,
    "AMOL": {f"alpha {alpha:g}": {"alpha": alpha} for alpha in (0.5, 2.0, 4.0)} | STOP,
}
PROTOCOL = ("lr", "hidden", "monitor")  # what of a candidate isn't the loss's own
TEXT = {"weights": str, "key": str}  # digests, of which some look like numbers
ROW = ["dataset", "method", "split_seed", "rule"]


def candidates(method: str) -> list[dict]:
    """Settings of a method's eight candidates, the untuned one first."""
    own = OWN.get(method, {})
    axes = [[{name: value} for value in values] for name, values in own.items()]
    if len(axes) < 2:
        axes.append([{"hidden": width} for width in WIDTHS])
    axes.append([{"lr": rate} for rate in (RATES if own else MORE_RATES)])
    return [{key: v for part in parts for key, v in part.items()} for parts in product(*axes)]


def run_of(dataset: str, method: str, split: int, candidate: dict) -> Run:
    """The run of a candidate; the network's seed is the split's."""
    own = {name: v for name, v in candidate.items() if name not in PROTOCOL}
    rest = {name: v for name, v in candidate.items() if name in PROTOCOL}
    settings = StudySettings(
        dataset, (method,), seeds=(split,), split_seed=split, batch_size=BATCH,
        loss_parameters={method: own} if own else {}, **rest,
    )  # fmt: skip
    return plan(settings)[0]


RULES: dict[str, Callable[[pd.DataFrame], int]] = {  # from validation scores to a candidate
    "QWK": lambda scores: int(scores["QWK"].to_numpy().argmax()),
    "AMAE": lambda scores: int(scores["AMAE"].to_numpy().argmin()),
    "default": lambda scores: 0,
}
VALIDATION = ("QWK", "AMAE")


def _validation(run: Run, outcome: engine.Outcome) -> dict[str, float]:
    arrays = run.data.arrays
    found = (arrays.y_validation, outcome.y_pred_validation, arrays.num_classes)
    return {name: METRICS[name](*found) for name in VALIDATION}


def _trained(run: Run, stop: Callable | None) -> engine.Outcome:
    return engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol, stop)


def rows_of(dataset: str, method: str, split: int, stop: Callable | None = None) -> list[dict]:
    """Train a method's candidates on a split: one row per rule, and per decision of "CE"."""
    runs = [run_of(dataset, method, split, c) for c in candidates(method)]
    key = digest(run.key for run in runs)
    outcomes = [_trained(run, stop) for run in runs]
    scores = pd.DataFrame([_validation(*pair) for pair in zip(runs, outcomes, strict=True)])
    rows = []
    for rule, choose in RULES.items():
        chosen = choose(scores)
        labels = (dataset, method, split, rule, chosen)
        rows.append(_row(labels, runs[chosen], outcomes[chosen], key))
        for name in DECISIONS if method == "CE" and rule != "AMAE" else ():
            labels = (dataset, f"CE, {name}", split, rule, chosen)
            rows.append(_row(labels, runs[chosen], outcomes[chosen], key, name))
    for change, candidate in CHANGED.get(method, {}).items():
        run, labels = run_of(dataset, method, split, candidate), (dataset, method, split, change, 0)
        rows.append(_row(labels, run, _trained(run, stop), digest([run.key])))
    return rows


def _row(labels: tuple, run: Run, outcome: engine.Outcome, key: str, decision: str = "") -> dict:
    """What is recorded of one choice; of another decision, labels and what they score."""
    arrays, y = run.data.arrays, run.data.y_test
    row = dict(zip([*ROW, "candidate"], labels, strict=True))
    digests = {"weights": outcome.weights_digest[:8], "key": key[:8]}
    if decision:
        counts = np.bincount(arrays.y_train, minlength=arrays.num_classes)
        y_pred = DECISIONS[decision](outcome.probabilities, counts)
        return row | label_scores(y, y_pred, arrays.num_classes) | digests
    found = _validation(run, outcome).items()
    row |= {f"validation_{name}": round(value, DECIMALS) for name, value in found}
    row |= label_scores(y, outcome.y_pred, arrays.num_classes)
    held = arrays.y_validation, outcome.probabilities_validation
    return row | probability_scores(y, outcome.probabilities, *held) | digests


def _fight(dataset: str, method: str, split: int, stop: Callable) -> pd.DataFrame:
    """Rows of a method on a data set and split: as kept, or trained and kept."""
    settings = candidates(method)
    key = run_of(dataset, method, split, settings[0]).key
    state = digest([key, str(settings), str(CHANGED.get(method))])
    file = build_dir() / NAME / f"{dataset}-{method}-{split}-{state}.csv"
    if not file.exists():
        started = time.thread_time()
        rows = pd.DataFrame(rows_of(dataset, method, split, stop))
        rows["seconds"] = (time.thread_time() - started) / len(rows)
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(".new")
        rows.to_csv(scratch, index=False)
        os.replace(scratch, file)
    return pd.read_csv(file, dtype=TEXT)


def fight(
    sets: tuple[str, ...] = SETS,
    methods: tuple[str, ...] = METHODS,
    splits: int = SPLITS,
    workers: int | None = None,
    address: str | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Rows of the study or a part of it, in the order of the arguments.

    ``attrs["seconds"]`` is the time that training and measuring took on one core.
    """
    tasks = [(d, m, split) for split in range(splits) for d in sets for m in methods]
    with closing(run_tasks(_fight, tasks, workers, address)) as results:
        frames = list(
            tqdm(results, total=len(tasks), unit="choice", mininterval=5, disable=not progress)
        )
    rows = pd.concat(frames, ignore_index=True)
    seconds = float(rows.pop("seconds").sum())
    names = [name for m in methods for name in (m, *(f"{m}, {d}" for d in DECISIONS))]
    places = rows["dataset"].map(sets.index), rows["method"].map(names.index), rows["split_seed"]
    rows = rows.iloc[np.lexsort(places[::-1])].reset_index(drop=True)
    rows.attrs["seconds"] = seconds
    return rows


def record(workers: int | None = None, address: str | None = None) -> pd.DataFrame:
    """Run the study and write ``fair_fight.csv``; what was kept isn't trained again."""
    rows = fight(workers=workers, address=address, progress=True)
    runs = sum(len(candidates(m)) + len(CHANGED.get(m, {})) for m in METHODS) * len(SETS) * SPLITS
    keep(NAME, rows, {"trainings": runs, "training seconds": round(rows.attrs["seconds"])})
    return rows


def load() -> pd.DataFrame:
    """Recorded rows."""
    return pd.read_csv(folder() / f"{NAME}.csv", dtype=TEXT)


def verify(count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """Choose ``count`` data sets, methods and splits at random, train all candidates of each anew.

    Returns
    -------
    DataFrame
        One row per choice: `ROW`, QWK recorded, QWK retrained and equal, which looks at all columns
        of the recording.
    Comparison
        ``keys_match`` looks at the sampled rows.
    """
    recorded = load()
    known = recorded.loc[recorded["method"].isin(METHODS), ROW[:3]].drop_duplicates()
    rng = np.random.default_rng(sample_seed)
    chosen = known.iloc[sorted(rng.choice(len(known), min(count, len(known)), False))]
    new = pd.DataFrame([row for where in chosen.itertuples(index=False) for row in rows_of(*where)])
    old = new[ROW].merge(recorded, on=ROW, how="left")
    equal, compared = compare_rows(NAME, old, new, ROW)
    retrained = {"QWK recorded": old["QWK"], "QWK retrained": new["QWK"], "equal": equal}
    return old[ROW].assign(**retrained), compared
