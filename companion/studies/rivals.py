"""What one would take instead: other libraries and an ensemble on the hundred sets.

Each method has the rows, features and parts of `hundred_sets`, and up to four candidates said here
beforehand, the library's own default first; a rule chooses on the validation part as there, which
also ends boosting. The ensemble is ours: the mean of five cross-entropy networks. The libraries
come with the extra ``rivals``; their bits aren't promised, so only the ensemble is made again.
"""

import hashlib
import importlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from amol import engine
from amol.metrics import METRICS
from companion.errors import StudyError
from companion.studies import hundred_sets
from companion.studies.decisions import label_scores, nll_and_rps
from companion.studies.fair_fight import run_of
from companion.studies.hundred_sets import DECISIONS, LABEL, MONITORS, VALIDATION
from companion.studies.recording_checks import Comparison
from companion.studies.task_study import TaskStudy
from companion.train.runs import Run

RULES = {name: hundred_sets.RULES[name] for name in ("QWK", "default")}
TREES, ROUNDS, PATIENCE = 100, 500, 20  # of a forest; of boosting, at most and without gain
MEMBERS = 5  # networks of the ensemble
SPLITS = 5  # the first of those of `hundred_sets`
CANDIDATES: dict[str, list[dict]] = {
    "LogAT": [{"alpha": alpha} for alpha in (1.0, 0.1, 10.0, 100.0)],
    "LightGBM": [
        {"num_leaves": leaves, "learning_rate": rate} for leaves in (31, 8) for rate in (0.1, 0.05)
    ],
    "forest": [{"min_samples_leaf": rows} for rows in (1, 3, 10, 30)],
    "CE ×5": [{"monitor": monitor} for monitor in MONITORS],
}
CANDIDATES["LightGBM regression"] = CANDIDATES["LightGBM"]
OURS = "CE ×5"


@dataclass(frozen=True)
class Answers:
    """Labels (n,) of validation and test part, and probabilities (n, K) where there are any."""

    labels: tuple[np.ndarray, np.ndarray]
    probabilities: tuple[np.ndarray, np.ndarray] | None = None


def _library(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise StudyError(f'{name} isn\'t installed: pip install ".[rivals]"') from None


def _of_classifier(model, a: engine.Arrays) -> Answers:
    """Answers of a fitted classifier; a class that its training part lacked has probability 0."""
    probabilities = []
    for X in (a.X_validation, a.X_test):
        p = np.zeros((len(X), a.num_classes))
        p[:, model.classes_] = model.predict_proba(X)
        probabilities.append(p)
    return Answers(tuple(p.argmax(axis=1) for p in probabilities), tuple(probabilities))


def _ordered_logit(run: Run, split: int, candidate: dict, stop: Callable | None) -> Answers:
    """All-threshold ordered logit (Rennie and Srebro 2005), as mord has it."""
    a = run.data.arrays
    model = _library("mord").LogisticAT(max_iter=10_000, **candidate).fit(a.X_train, a.y_train)
    found = _of_classifier(model, a)
    labels = tuple(model.predict(X) for X in (a.X_validation, a.X_test))
    return Answers(labels, found.probabilities)


def _boosted(run: Run, split: int, candidate: dict, stop: Callable | None, kind: str):
    lightgbm, a = _library("lightgbm"), run.data.arrays
    model = getattr(lightgbm, f"LGBM{kind}")(
        n_estimators=ROUNDS, n_jobs=1, random_state=split, verbose=-1, **candidate
    )
    end = lightgbm.early_stopping(PATIENCE, verbose=False)
    held = [(a.X_validation, a.y_validation)]
    return model.fit(a.X_train, a.y_train, eval_set=held, callbacks=[end]), a


def _boosting(*task) -> Answers:
    return _of_classifier(*_boosted(*task, "Classifier"))


def _boosted_regression(*task) -> Answers:
    model, a = _boosted(*task, "Regressor")
    answers = [model.predict(X) for X in (a.X_validation, a.X_test)]
    return Answers(tuple(np.clip(np.rint(y), 0, a.num_classes - 1).astype(int) for y in answers))


def _forest(run: Run, split: int, candidate: dict, stop: Callable | None) -> Answers:
    a = run.data.arrays
    model = RandomForestClassifier(TREES, n_jobs=1, random_state=split, **candidate)
    return _of_classifier(model.fit(a.X_train, a.y_train), a)


def _ensemble(run: Run, split: int, candidate: dict, stop: Callable | None) -> Answers:
    """The mean of five networks' probabilities; the first is the one of `hundred_sets`."""
    a, protocol = run.data.arrays, run.settings.protocol
    members = [engine.train(run.loss, split + 100 * i, a, protocol, stop) for i in range(MEMBERS)]
    parts = (
        sum(getattr(each, part).astype(np.float64) for each in members) / MEMBERS
        for part in ("probabilities_validation", "probabilities")
    )
    held, p = parts
    return Answers((held.argmax(axis=1), p.argmax(axis=1)), (held, p))


FITS: dict[str, Callable[[Run, int, dict, Callable | None], Answers]] = {
    "LogAT": _ordered_logit,
    "LightGBM": _boosting,
    "LightGBM regression": _boosted_regression,
    "forest": _forest,
    OURS: _ensemble,
}
METHODS = tuple(FITS)


def decisions_of(method: str) -> tuple[str, ...]:
    """Names of the decisions measured, the method's own first."""
    if method == "LightGBM regression":
        return ("own",)
    return ("own", *(name for name in DECISIONS if name != "argmax" or method == "LogAT"))


def _run(dataset: str, method: str, split: int, candidate: dict) -> Run:
    """A cross-entropy run that has the split's arrays, and for the ensemble the protocol."""
    return run_of(dataset, "CE", split, candidate if method == OURS else {})


def keys_of(dataset: str, method: str, split: int) -> dict[tuple, str]:
    """By label, a key of the split's arrays, the method and its candidates."""
    runs = [_run(dataset, method, split, c) for c in CANDIDATES[method]]
    rests_on = [run.key if method == OURS else run.data.digest for run in runs]
    text = json.dumps([method, CANDIDATES[method], rests_on])
    key = hashlib.sha256(text.encode()).hexdigest()[:8]
    return {
        (dataset, method, split, rule, decision): key
        for rule in RULES
        for decision in decisions_of(method)
    }


def rows_of(dataset: str, method: str, split: int, stop: Callable | None) -> list[dict]:
    """Fit a method's candidates on a split: one row per rule and decision."""
    runs = [_run(dataset, method, split, c) for c in CANDIDATES[method]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # feature names, a class too rare to be drawn
        answers = [
            FITS[method](run, split, candidate, stop)
            for run, candidate in zip(runs, CANDIDATES[method], strict=True)
        ]
    a, y = runs[0].data.arrays, runs[0].data.y_test
    held = a.y_validation
    scores = pd.DataFrame(
        {name: METRICS[name](held, each.labels[0], a.num_classes) for name in VALIDATION}
        for each in answers
    )
    rows = []
    for rule, choose in RULES.items():
        chosen = choose(scores)
        for decision in decisions_of(method):
            labels = (dataset, method, split, rule, decision)
            row = dict(zip(LABEL, labels, strict=True)) | {"candidate": chosen}
            rows.append(row | _measured(y, held, answers[chosen], a.num_classes, decision))
    return rows


def _measured(y: np.ndarray, held: np.ndarray, found: Answers, K: int, decision: str) -> dict:
    """What a decision scores on the test part; of a method's own, NLL and RPS, too."""
    if decision == "own":
        scores = label_scores(y, found.labels[1], K)
        return scores | (nll_and_rps(y, found.probabilities[1]) if found.probabilities else {})
    p_held, p = found.probabilities
    return label_scores(y, DECISIONS[decision](p, held, p_held), K)


STUDY = TaskStudy(
    "rivals",
    task=LABEL[:3],
    label=LABEL,
    tasks=tuple(product(hundred_sets.SETS, METHODS, range(SPLITS))),
    keys=keys_of,
    measure=rows_of,
    trainings=lambda dataset, method, split: (
        len(CANDIDATES[method]) * (MEMBERS if method == OURS else 1)
    ),
    facts=lambda: {name: version(name) for name in ("lightgbm", "mord", "scikit-learn")},
)


def verify(count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """`TaskStudy.verify` of the ensemble, on the sets of this project's own files."""
    among = {"dataset": hundred_sets.own_sets(), "method": [OURS]}
    return STUDY.verify(count, sample_seed, among)
