"""What `OrdinalClassifier` is given, checked before any work; each error names the bad value."""

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from amol.engine import MONITORS
from amol.losses import BatchLoss, OrdinalLoss
from amol.losses.registry import loss_class, make_loss, own_parameters

DECISIONS = ("argmax", "median", "mean", "cost", "qwk")
LARGEST = 1e15  # of a scaled feature: 10⁸ squares of it have a finite sum in float32


def _whole(least: int) -> tuple[str, Callable]:
    allowed = f"a whole number from {least} on"
    return allowed, lambda n: isinstance(n, Integral) and n >= least and not isinstance(n, bool)


def _number(allowed: str, holds: Callable[[float], bool]) -> tuple[str, Callable]:
    def right(x):
        return isinstance(x, Real) and not isinstance(x, bool) and math.isfinite(x) and holds(x)

    return allowed, right


def _one_of(*choices) -> tuple[str, Callable]:
    return ", ".join(map(repr, choices)), lambda value: any(
        value is c or value == c for c in choices
    )


def _are_widths(value) -> bool:
    right = _whole(1)[1]
    return isinstance(value, tuple | list) and all(map(right, value))


# What a parameter may be, in words, and whether a value may.
ALLOWED = {
    "decision": _one_of(*DECISIONS),
    "n_networks": _whole(1),
    "hidden_layer_sizes": ("units of the hidden layers, whole numbers from 1 on", _are_widths),
    "learning_rate_init": _number("a number above 0", lambda x: x > 0),
    "batch_size": _whole(1),
    "max_iter": _whole(1),
    "n_iter_no_change": _whole(1),
    "monitor": _one_of(*MONITORS),
    "restore_best": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "weight_decay": _number("a number from 0 on", lambda x: x >= 0),
    "dropout": _number("a number from 0 to below 1", lambda x: 0 <= x < 1),
    "standardize": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    "validation_fraction": (
        "None, or a number between 0 and 1",
        lambda x: x is None or _number("", lambda x: 0 < x < 1)[1](x),
    ),
    "loss_params": ("None or a dict", lambda value: value is None or isinstance(value, Mapping)),
}


def check_parameters(model) -> None:
    """Refuse parameters that no training can have."""
    for name, (allowed, holds) in ALLOWED.items():
        value = getattr(model, name)
        if not holds(value):
            raise ValueError(f"{name} is {value!r}; allowed: {allowed}")
    if (model.decision == "cost") != (model.cost is not None):
        raise ValueError('decision="cost" takes a matrix as cost, and no other decision does')


def check_cost(cost, num_classes: int) -> np.ndarray:
    """Costs (K, K) float64, row y, column k."""
    try:
        matrix = np.asarray(cost, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"cost holds numbers, got {cost!r}") from None
    if matrix.shape != (num_classes, num_classes):
        raise ValueError(
            f"cost has shape {matrix.shape}; allowed: ({num_classes}, {num_classes}), "
            "a row for each label, a column for each class predicted"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("cost holds values that are not finite")
    return matrix


def _named(model, column: int) -> str:
    names = getattr(model, "feature_names_in_", None)
    return f"column {column}" if names is None else f"column {names[column]!r}"


def _words_in(X) -> str | None:
    """The first column that holds no numbers, and what it holds."""
    cells = X.to_numpy(dtype=object) if hasattr(X, "columns") else np.array(X, dtype=object)
    names = getattr(X, "columns", range(cells.shape[1]))
    for name, values in zip(names, cells.T, strict=True):
        for value in values:
            try:
                float(value)
            except (TypeError, ValueError):
                return f"column {name!r} holds {value!r}" if isinstance(value, str) else None
    return None


def check_features(model, X, y="no_validation", reset: bool = False, name: str = "X"):
    """X (n, d) float32 or float64, and y where it is given, as scikit-learn checks them.

    Beyond that, words and missing values are told with their column; ``name`` is X's in messages.
    """
    try:
        checked = validate_data(
            model, X, y, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    except ValueError as error:
        if "could not convert" in str(error) and (found := _words_in(X)):
            raise ValueError(
                f"{found}; features are numbers, so encode it, with OneHotEncoder say"
            ) from None
        raise
    values = checked if isinstance(y, str) else checked[0]
    with np.errstate(all="ignore"):
        if not np.isfinite(values.sum(dtype=np.float64)):
            _refuse_missing(model, values, name)
    return checked


def _refuse_missing(model, X: np.ndarray, name: str) -> None:
    for column in range(X.shape[1]):
        finite = np.isfinite(X[:, column])
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0])
            what = "NaN" if np.isnan(X[row, column]) else "inf"
            where = f"{_named(model, column)}, row {row}"
            raise ValueError(
                f"Input {name} contains {what}: {where}; fill it, with SimpleImputer say"
            )


def refuse_far(model, X: np.ndarray, scale: np.ndarray) -> None:
    """Refuse scaled features (n, d) that float32 sums of squares can't hold, and their scale."""
    worst = np.maximum(X.max(axis=0), -X.min(axis=0))
    for column in np.flatnonzero(~(worst <= LARGEST) | ~np.isfinite(scale)):
        raise ValueError(
            f"{_named(model, column)}: its values are too large or too far apart for float32; "
            "change its unit, or correct the value that stands out"
        )


def class_order(y, classes: Sequence | None, rows: np.ndarray) -> np.ndarray:
    """Classes (K,) from lowest to highest: ``classes``, or the numbers in these rows by value.

    Without ``classes``, an ordered categorical of pandas says the order too.
    """
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    if classes is None and categories is not None and y.dtype.ordered:
        classes = categories
    labels = column_or_1d(y)
    if classes is None:
        labels = np.array(labels.tolist()) if labels.dtype == object else labels
        check_classification_targets(labels)
        found = np.unique(labels[rows])
        if found.dtype.kind not in "biuf":
            raise ValueError(
                f"classes is missing: the labels {', '.join(map(repr, found.tolist()))} are words, "
                "whose order only you know; give classes=[…], lowest first"
            )
        return _refuse_one_class(found)
    order = np.array(list(classes))
    if order.ndim != 1 or len(order) < 2 or len(set(order.tolist())) < len(order):
        raise ValueError(f"classes is {classes!r}; allowed: at least two different labels")
    return order


def _refuse_one_class(found: np.ndarray) -> np.ndarray:
    if len(found) < 2:
        raise ValueError(
            f"y holds 1 class, {found.tolist()}; a classifier needs at least 2 classes"
        )
    return found


def validation_part(model, X_val, y_val, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A validation part of its own: X_val (m, d) and ranks (m,)."""
    X_val = check_features(model, X_val, name="X_val")
    y_val = ranks(y_val, classes, "y_val")
    check_consistent_length(X_val, y_val)
    return X_val, y_val


def ranks(y, classes: np.ndarray, name: str = "y") -> np.ndarray:
    """Places (n,) int64 of labels in ``classes``."""
    labels = column_or_1d(y)
    found, at = np.unique(
        np.array(labels.tolist()) if labels.dtype == object else labels, return_inverse=True
    )
    places = {label: place for place, label in enumerate(classes.tolist())}
    for label in found.tolist():
        if label not in places:
            allowed = ", ".join(map(repr, places))
            raise ValueError(f"{name} holds label {label!r}; classes: {allowed}")
    return np.array([places[label] for label in found.tolist()], np.int64)[at]


def with_unseen(classes: np.ndarray, y) -> np.ndarray:
    """Classes, and the numbers among y that are none of them, by value."""
    labels = column_or_1d(y)
    if classes.dtype.kind not in "biuf" or labels.dtype.kind not in "biuf":
        return classes
    new = np.setdiff1d(labels, classes)
    return np.sort(np.r_[classes, new]) if len(new) else classes


def check_weights(sample_weight, X) -> np.ndarray | None:
    """Weights (n,) float64 of the samples; None for none."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def class_weights(class_weight, classes: np.ndarray, y: np.ndarray) -> list[float] | None:
    """Weights (K,) from None, "balanced", or a dict from label to weight; y are ranks."""
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        labels = classes.tolist()
        for label, weight in class_weight.items():
            if label not in labels:
                raise ValueError(f"class_weight holds label {label!r}; classes: {labels}")
            if not _number("", lambda x: x >= 0)[1](weight):
                raise ValueError(
                    f"class_weight of {label!r} is {weight!r}; allowed: a number from 0 on"
                )
        return [float(class_weight.get(label, 1.0)) for label in labels]
    if not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(f"class_weight is {class_weight!r}; allowed: None, 'balanced' or a dict")
    present = np.unique(y)
    weights = np.zeros(len(classes))
    weights[present] = compute_class_weight("balanced", classes=present, y=y)
    return weights.tolist()


def loss_of(model, num_classes: int, class_counts: list[int], weight) -> OrdinalLoss:
    """The loss that the parameters ``loss`` and ``loss_params`` stand for."""
    loss, own = model.loss, dict(model.loss_params or {})
    if isinstance(loss, OrdinalLoss):
        if own or weight is not None:
            raise ValueError("a loss object has its own parameters: leave out loss_params and "
                             "class_weight")  # fmt: skip
        if loss.num_classes != num_classes:
            raise ValueError(f"the loss has {loss.num_classes} classes, y has {num_classes}")
        found = loss
    else:
        made = loss_class(loss)
        known = own_parameters(made)
        for name in own:
            if name not in known:
                raise ValueError(
                    f"loss_params holds {name!r}; {loss} takes {', '.join(known) or 'none'}"
                )
        found = make_loss(made, num_classes, class_counts, weight=weight, **own)
    if num_classes == 2 and found.without is not None:
        raise ValueError(f"{loss} leaves one class out, so it needs at least 3 classes")
    return found


def refuse_weighted_batch(loss: OrdinalLoss) -> None:
    """Refuse weights of samples for a loss that compares the samples of a batch."""
    if isinstance(loss, BatchLoss):
        raise ValueError(
            f"sample_weight: {type(loss).__name__} compares the samples of a batch and takes "
            "class_weight alone"
        )


def divide(
    y: np.ndarray, rows: np.ndarray, fraction: float | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the training and of the validation part; the same ones where fraction is None.

    The parts hold each class in proportion where their sizes allow it; the row of a class that has
    only one is for training.
    """
    counts = np.bincount(y[rows])
    alone = counts[y[rows]] == 1
    shared = rows[~alone]
    size = round(fraction * len(rows)) if fraction else 0
    if not 0 < size < len(shared):
        return rows, rows
    kinds = len(np.unique(y[shared]))
    stratify = y[shared] if kinds <= size <= len(shared) - kinds else None
    train, validation = train_test_split(
        shared, test_size=size, stratify=stratify, random_state=seed
    )
    return np.sort(np.r_[train, rows[alone]]), np.sort(validation)
