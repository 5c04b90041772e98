"""The fair fight: seventeen losses with the same budget on ten data sets and thirty splits.

Per data set and split every method trains its `candidates`, eight settings said here beforehand,
the untuned one first. A rule chooses one of them on the validation part, the first of equals: the
highest QWK, or the lowest AMAE. Then the chosen network is measured on the test part, once per
rule; the rule "default" takes the untuned candidate. From each cross-entropy network chosen by QWK,
and from the untuned one, other decisions are measured, too. A row of the recording is one choice.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd

from amol import engine
from amol.metrics import METRICS
from companion.studies.decisions import (
    DECISIONS,
    SCORE_DECIMALS,
    label_scores,
    probability_scores,
)
from companion.studies.recordings import joint_key
from companion.studies.task_study import TaskStudy
from companion.train.runs import Run, plan
from companion.train.settings import StudySettings

PAPER_SETS = ("Synthetic", "Wine Red", "Wine White", "Abalone")
OTHER_SETS = ("ERA", "ESL", "LEV", "SWD", "Balance scale", "ANES 1996")
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
LABEL = ("dataset", "method", "split_seed", "rule")


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


def _answers(method: str, rule: str) -> dict[str, str]:
    """The decisions measured of what a rule chose, by the method's name in the recording."""
    others = DECISIONS if method == "CE" and rule != "AMAE" else ()
    return {method: ""} | {f"{method}, {decision}": decision for decision in others}


def keys_of(dataset: str, method: str, split: int) -> dict[tuple, str]:
    """By label, the key of all runs that a row rests on."""
    tuned = joint_key(run_of(dataset, method, split, c).key for c in candidates(method))
    keys = {
        (dataset, name, split, rule): tuned[:8] for rule in RULES for name in _answers(method, rule)
    }
    for change, candidate in CHANGED.get(method, {}).items():
        key = joint_key([run_of(dataset, method, split, candidate).key])
        keys[dataset, method, split, change] = key[:8]
    return keys


def rows_of(dataset: str, method: str, split: int, stop: Callable | None) -> list[dict]:
    """Train a method's candidates on a split: one row per rule, and per decision of "CE"."""
    runs = [run_of(dataset, method, split, c) for c in candidates(method)]
    outcomes = [_trained(run, stop) for run in runs]
    scores = pd.DataFrame([_validation(*pair) for pair in zip(runs, outcomes, strict=True)])
    rows = []
    for rule, choose in RULES.items():
        chosen = choose(scores)
        for name, decision in _answers(method, rule).items():
            labels = (dataset, name, split, rule, chosen)
            rows.append(_row(labels, runs[chosen], outcomes[chosen], decision))
    for change, candidate in CHANGED.get(method, {}).items():
        run = run_of(dataset, method, split, candidate)
        rows.append(_row((dataset, method, split, change, 0), run, _trained(run, stop)))
    return rows


def _row(labels: tuple, run: Run, outcome: engine.Outcome, decision: str = "") -> dict:
    """What is recorded of one choice; of another decision, labels and what they score."""
    arrays, y = run.data.arrays, run.data.y_test
    row = dict(zip([*LABEL, "candidate"], labels, strict=True))
    weights = {"weights": outcome.weights_digest[:8]}
    if decision:
        counts = np.bincount(arrays.y_train, minlength=arrays.num_classes)
        y_pred = DECISIONS[decision](outcome.probabilities, counts)
        return row | label_scores(y, y_pred, arrays.num_classes) | weights
    found = _validation(run, outcome).items()
    row |= {f"validation_{name}": round(value, SCORE_DECIMALS) for name, value in found}
    row |= label_scores(y, outcome.y_pred, arrays.num_classes)
    held = arrays.y_validation, outcome.probabilities_validation
    return row | probability_scores(y, outcome.probabilities, *held) | weights


STUDY = TaskStudy(
    "fair_fight",
    task=LABEL[:3],
    label=LABEL,
    tasks=tuple(product((*OTHER_SETS, *PAPER_SETS), METHODS, range(SPLITS))),
    keys=keys_of,
    measure=rows_of,
    trainings=lambda dataset, method, split: len(candidates(method)) + len(CHANGED.get(method, ())),
)

# Rules that choose α on the validation part, from the untuned AMOL networks.
ALPHAS = {  # method and rule of the recording by α; KL is AMOL at α = 0
    0.0: ("KL", "default"),
    0.5: ("AMOL", "alpha 0.5"),
    1.0: ("AMOL", "default"),
    2.0: ("AMOL", "alpha 2"),
    4.0: ("AMOL", "alpha 4"),
}
WITHIN = (0.0, 0.01, 0.02, 0.03)  # of the highest validation QWK, tried


def by_alpha(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `ALPHAS` under a column alpha."""
    keys = rows.set_index(["method", "rule"]).sort_index()
    return pd.concat([keys.loc[[key]].assign(alpha=a) for a, key in ALPHAS.items()]).reset_index()


def largest_within(rows: pd.DataFrame, within: float, strength: str = "alpha") -> pd.DataFrame:
    """Per data set and split the row of the largest α whose validation QWK is near the best.

    Parameters
    ----------
    rows : DataFrame
        As from `by_alpha`.
    within : float
        How far below the highest validation QWK it may be.
    strength : str
        Column of what is to be largest.
    """
    where = ["dataset", "split_seed"]
    best = rows.groupby(where)["validation_QWK"].transform("max")
    near = rows[rows["validation_QWK"] >= best - within - 1e-9]
    return near.loc[near.groupby(where, sort=False)[strength].idxmax()]
