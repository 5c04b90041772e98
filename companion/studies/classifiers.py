"""`amol.OrdinalClassifier` beside other people's ordinal classifiers on twenty sets.

The sets are every fifth of the collection's natural ones in its order, the first twenty; the splits
are the first three of `hundred_sets`, with the same standardized arrays. Candidates are those that
a library's user would try first, said here before any of them ran; what isn't named has the
library's default. Each is fitted on the training part and measured by two decisions: "own", what
its ``predict`` answers, and, where it gives probabilities, "qwk": thresholds on their mean that
maximize the quadratic weighted kappa of the validation part, the same rule for all. Ours watches
the validation part to stop, too. `chosen` takes per decision, library, set and split the candidate
with the highest kappa of the validation part, the first of equals.

Only ours promises equal bits, so `verify` trains its rows alone again.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product

import numpy as np
import pandas as pd
from scipy.linalg import qr

from amol import OrdinalClassifier, decisions, engine
from amol.metrics import METRICS
from companion.data import collection
from companion.errors import StudyError
from companion.studies.fair_fight import run_of
from companion.studies.recording_checks import Comparison
from companion.studies.recordings import DECIMALS, joint_key
from companion.studies.task_study import TaskStudy
from companion.train.runs import Prepared

NAME, OURS = "classifiers", "OrdinalClassifier"
SETS = (
    "cleveland", "fair_marriage", "gsoep_school", "gss_vocab", "chile_income", "nhefs_education",
    "kakadu_jobs", "cps_education", "mpaa", "verbagg", "student_late", "exam_intake",
    "so_satisfaction", "yrbss_tv", "ames_kitchen", "bfi_education", "pines_cover", "cces_ideology",
    "essbe_police", "nesarc_education",
)  # fmt: skip
SPLITS = 3
MEASURED = ("QWK", "MAE", "accuracy")
DECISIONS = ("own", "qwk")
LABEL = ("dataset", "library", "split_seed", "candidate", "decision")


class OrderedModel:
    """statsmodels' model by maximum likelihood, on columns that don't depend on others."""

    def __init__(self, distribution: str):
        self.distribution = distribution

    def fit(self, X: np.ndarray, y: np.ndarray) -> "OrderedModel":
        from statsmodels.miscmodels.ordinal_model import OrderedModel as Model

        _, R, order = qr(X - X.mean(axis=0), mode="economic", pivoting=True)
        size = np.abs(R.diagonal())
        self.columns = np.sort(order[: (size > 1e-8 * size.max()).sum()])
        model = Model(y, X[:, self.columns], distr=self.distribution)
        self.fitted = model.fit(method="bfgs", maxiter=500, disp=0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.fitted.model.predict(self.fitted.params, exog=X[:, self.columns])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predict_proba(X).argmax(axis=1)


def _mord(seed: int, alpha: float):
    from mord import LogisticAT

    return LogisticAT(alpha=alpha)


def _skordinal(seed: int, name: str):
    from skordinal import classifiers

    made = getattr(classifiers, name)()
    return made.set_params(random_state=seed) if "random_state" in made.get_params() else made


def _ogboost(seed: int, **given):
    from ogboost import GradientBoostingOrdinal

    return GradientBoostingOrdinal(random_state=seed, **given)


# By library: the distribution to install, and by name what makes each candidate from a seed.
LIBRARIES: dict[str, tuple[str, dict[str, Callable]]] = {
    OURS: (
        "amol",
        {
            loss: lambda seed, loss=loss: OrdinalClassifier(loss, random_state=seed)
            for loss in ("AMOL", "SORD", "CE")
        },
    ),
    "mord": (
        "mord",
        {f"LogisticAT, alpha {a:g}": partial(_mord, alpha=a) for a in (1, 0.1, 10, 100)},
    ),
    "skordinal": (
        "skordinal",
        {
            name: partial(_skordinal, name=name)
            for name in ("LogisticAT", "LogisticIT", "POM", "NNPOM", "NNOP", "KDLOR", "REDSVM",
                         "SVOR", "ORBoost", "ELMOP")
        },
    ),
    "OGBoost": (
        "ogboost",
        {
            f"{link}, rate {rate}": partial(_ogboost, link_function=link, learning_rate=rate)
            for link, rate in product(("probit", "logit"), (0.1, 0.03))
        },
    ),
    "statsmodels": (
        "statsmodels",
        {
            f"OrderedModel, {link}": lambda seed, link=link: OrderedModel(link)
            for link in ("probit", "logit")
        },
    ),
}  # fmt: skip


def version_of(distribution: str) -> str:
    """Of another library; refused where it isn't installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        raise StudyError(f'{distribution} isn\'t installed: pip install ".[rivals]"') from None


def data_of(dataset: str, split: int) -> Prepared:
    """A set's arrays on a split of `hundred_sets`."""
    return run_of(dataset, "CE", split, {}).data


def decided(candidate: str, library: str) -> tuple[str, ...]:
    """Decisions measured of a candidate; these of skordinal give no probabilities."""
    bare = library == "skordinal" and candidate in ("REDSVM", "SVOR", "ORBoost")
    return DECISIONS[:1] if bare else DECISIONS


def keys_of(dataset: str, library: str, split: int) -> dict[tuple, str]:
    """By label, the key of the data and of what trains."""
    needs, candidates = LIBRARIES[library]
    trainer = engine.engine_digest() if library == OURS else version_of(needs)
    key = joint_key([data_of(dataset, split).digest, trainer])[:8]
    return {
        (dataset, library, split, candidate, decision): key
        for candidate in candidates
        for decision in decided(candidate, library)
    }


def _answers(model, decision: str, held: tuple, *parts: np.ndarray) -> list[np.ndarray]:
    """Labels (n,) of each part by a decision, whose thresholds come from ``held`` X and y."""
    if decision == "own":
        return [np.asarray(model.predict(X)).astype(np.int64) for X in parts]
    X, y = held
    mean_of = [decisions.mean_class(np.asarray(model.predict_proba(Z))) for Z in (X, *parts)]
    classes = model.predict_proba(X[:1]).shape[1]
    cuts = decisions.kappa_thresholds(mean_of[0], y, classes)
    return [decisions.by_thresholds(mean, cuts) for mean in mean_of[1:]]


def fitted(make: Callable, arrays: engine.Arrays, seed: int):
    """A candidate on the training part; ours watches the validation part."""
    model, X = make(seed), arrays.X_train.astype(np.float64)
    if not isinstance(model, OrdinalClassifier):
        return model.fit(X, arrays.y_train)
    model.set_params(classes=range(arrays.num_classes))
    parts = {"X_val": arrays.X_validation.astype(np.float64), "y_val": arrays.y_validation}
    return model.fit(X, arrays.y_train, **parts)


def rows_of(dataset: str, library: str, split: int, stop: Callable | None) -> list[dict]:
    """Fit a library's candidates on a split: a row per candidate and decision."""
    data, rows = data_of(dataset, split), []
    arrays, K = data.arrays, data.arrays.num_classes
    held, test = (X.astype(np.float64) for X in (arrays.X_validation, arrays.X_test))
    for candidate, make in LIBRARIES[library][1].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of optimizers that reach their limit
            try:
                model, failure = fitted(make, arrays, split), ""
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                model, failure = None, type(error).__name__
        for decision in decided(candidate, library):
            row = dict(zip(LABEL, (dataset, library, split, candidate, decision), strict=True))
            scores = dict.fromkeys(("validation_QWK", *MEASURED))
            if model is not None:
                found = _answers(model, decision, (held, arrays.y_validation), held, test)
                scores = {"validation_QWK": METRICS["QWK"](arrays.y_validation, found[0], K)}
                scores |= {m: METRICS[m](data.y_test, found[1], K) for m in MEASURED}
                scores = {name: round(float(value), DECIMALS) for name, value in scores.items()}
            weights = model.fits_[0].network.digest[:8] if library == OURS else None
            rows.append(row | scores | {"failure": failure or None, "weights": weights})
    return rows


STUDY = TaskStudy(
    NAME,
    task=LABEL[:3],
    label=LABEL,
    tasks=tuple(product(SETS, LIBRARIES, range(SPLITS))),
    keys=keys_of,
    measure=rows_of,
    trainings=lambda dataset, library, split: len(LIBRARIES[library][1]),
    facts=lambda: {
        "versions": {
            name: version_of(needs) for name, (needs, _) in LIBRARIES.items() if name != OURS
        }
    },
)


def verify(count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """`TaskStudy.verify` on our rows of the sets that are read from this project's own files."""
    own = {name for name in SETS if not collection.descriptions()[name].package}
    tasks = tuple(task for task in STUDY.tasks if task[0] in own and task[1] == OURS)
    return replace(STUDY, tasks=tasks).verify(count, sample_seed)


def chosen(rows: pd.DataFrame) -> pd.DataFrame:
    """Per decision, set, library and split the row of the highest validation kappa."""
    done = rows.dropna(subset="validation_QWK")
    by = ["decision", "dataset", "library", "split_seed"]
    return done.loc[done.groupby(by, sort=False)["validation_QWK"].idxmax()]
