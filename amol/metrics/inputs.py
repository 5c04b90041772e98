"""What metrics are given, checked: labels, probabilities, sample weights, and the table of both."""

import math
import operator

import numpy as np

NAN = float("nan")
# How far the sum of a row of probabilities may be from 1. It is what rounding to bfloat16 takes,
# and holds for every type, since numbers that were rounded may be cast to any other.
TOLERANCE = 0.01


def _array(values, name: str) -> np.ndarray:
    """An array of NumPy's with the same values; one that would lose what is marked is refused."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; leave out these samples")
    if hasattr(values, "detach"):  # a torch tensor
        if hasattr(values, "get_mask") or getattr(values, "is_nested", False):
            raise ValueError(f"{name} must be an array, not a {type(values).__name__}")
        values = values.detach().cpu().to_dense()
        if values.is_floating_point() and values.element_size() < 4:  # NumPy lacks bfloat16
            values = values.float()
    return np.asarray(values)


def _refuse_other_order(one, other, names: str) -> None:
    """Refuse two pandas objects whose rows are the same, but not in the same order."""
    if not (hasattr(one, "iloc") and hasattr(other, "iloc") and len(one) == len(other)):
        return
    if not (one.index.equals(other.index) or len(one.index.difference(other.index))):
        raise ValueError(f"{names} have their index in different orders; allowed: one order")


def whole(name: str, value) -> int:
    """A whole number as Python's, which doesn't overflow as NumPy's may."""
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; allowed: a whole number") from None


def check_labels(values, num_classes: int, name: str) -> np.ndarray:
    """Labels (N,) as int64."""
    labels = _array(values, name)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"{name} must have shape (N,) with N > 0, not {labels.shape}")
    if labels.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integer labels, not {labels.dtype}")
    outside = (labels < 0) | (labels >= num_classes)
    if outside.any():
        raise ValueError(
            f"{name} holds label {labels[outside][0]}; allowed: 0 to {num_classes - 1}"
        )
    return labels.astype(np.int64, copy=False)


def check_probabilities(y_true, probabilities) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) and distributions (N, K) as float64."""
    _refuse_other_order(y_true, probabilities, "y_true and probabilities")
    columns = [*getattr(probabilities, "columns", ())]
    if set(columns) == {*range(len(columns))} and columns != sorted(columns):
        raise ValueError(f"probabilities have their classes in the order {columns}; sort them")
    probabilities = _array(probabilities, "probabilities")
    if probabilities.dtype.kind not in "biuf":
        raise ValueError(f"probabilities must hold numbers, not {probabilities.dtype}")
    probabilities = probabilities.astype(np.float64, copy=False)
    if probabilities.ndim != 2 or probabilities.shape[1] < 2:
        raise ValueError(f"probabilities must have shape (N, K >= 2), not {probabilities.shape}")
    y_true = check_labels(y_true, probabilities.shape[1], "y_true")
    if len(y_true) != len(probabilities):
        raise ValueError(f"y_true has {len(y_true)} labels, probabilities {len(probabilities)}")
    off = np.abs(probabilities.sum(axis=1) - 1).max(initial=0)
    if not (probabilities.min() >= 0 and off <= TOLERANCE):
        raise ValueError("probabilities must be non-negative rows that sum to 1, not logits")
    return y_true, probabilities


def check_weights(sample_weight, size: int) -> np.ndarray | None:
    """Weights (size,) as float64 up to 1, or None for none.

    Only their ratios count, so all are divided by a power of two: that changes no digit, and no
    product of weights overflows.
    """
    if sample_weight is None:
        return None
    weights = _array(sample_weight, "sample_weight")
    if weights.shape != (size,):
        raise ValueError(f"sample_weight must have shape ({size},), not {weights.shape}")
    if weights.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must hold numbers, not {weights.dtype}")
    weights = weights.astype(np.float64)
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        raise ValueError(f"sample_weight holds {weights[~good][0]}; allowed: 0 and above, finite")
    if not weights.any():
        raise ValueError("sample_weight holds 0 alone; its sum must be above 0")
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    if ((scaled == 0) & (weights > 0)).any():
        least, most = weights[weights > 0].min(), weights.max()
        raise ValueError(f"sample_weight reaches from {least} to {most}, too far for one number")
    return scaled


def confusion(y_true, y_pred, num_classes: int, sample_weight=None) -> np.ndarray:
    """M (K, K): number of the samples of class i predicted as j, or their weight in some unit.

    It holds Python's integers, which never overflow and lose no digit in sums and differences,
    however far weights are apart.
    """
    num_classes = whole("num_classes", num_classes)
    if num_classes < 2:
        raise ValueError(f"num_classes is {num_classes}; an ordinal task needs at least 2")
    _refuse_other_order(y_true, y_pred, "y_true and y_pred")
    y_true = check_labels(y_true, num_classes, "y_true")
    y_pred = check_labels(y_pred, num_classes, "y_pred")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} labels, y_pred {len(y_pred)}")
    weights = check_weights(sample_weight, len(y_true))
    cells = np.bincount(y_true * num_classes + y_pred, weights, num_classes**2)
    if weights is None:
        return cells.reshape(num_classes, num_classes).astype(object)
    ratios = [cell.as_integer_ratio() for cell in cells.tolist()]
    unit = max(denominator for _, denominator in ratios)  # each is a power of two
    whole_cells = [cell * (unit // denominator) for cell, denominator in ratios]
    return np.array(whole_cells, dtype=object).reshape(num_classes, num_classes)


def share(part, whole) -> float:
    """part / whole, nan where the whole is nothing."""
    return float(part / whole) if whole else NAN


def mean(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Mean of values (n,), nan where there are none or all weigh nothing."""
    if weights is None:
        return float(values.mean()) if values.size else NAN
    return share(math.fsum(weights * values), math.fsum(weights))
