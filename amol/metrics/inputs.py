"""What metrics are given, checked: labels, probabilities, sample weights, and the table of both."""

import math

import numpy as np

NAN = float("nan")


def _array(values) -> np.ndarray:
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    return np.asarray(values)


def check_labels(values, num_classes: int, name: str) -> np.ndarray:
    """Labels (N,) as int64."""
    labels = _array(values)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"{name} must have shape (N,) with N > 0, not {labels.shape}")
    if labels.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integer labels, not {labels.dtype}")
    labels = labels.astype(np.int64, copy=False)
    if labels.min() < 0 or labels.max() >= num_classes:
        bad = labels[(labels < 0) | (labels >= num_classes)][0]
        raise ValueError(f"{name} holds label {bad}; allowed: 0 to {num_classes - 1}")
    return labels


def check_probabilities(y_true, probabilities) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) and distributions (N, K) as float64."""
    dtype = str(getattr(probabilities, "dtype", ""))
    # a row's sum is as rounded as its type: half an epsilon, doubled
    tolerance = 8e-3 if "bfloat16" in dtype else 1e-3 if "float16" in dtype else 1e-4
    probabilities = _array(probabilities).astype(np.float64, copy=False)
    if probabilities.ndim != 2 or probabilities.shape[1] < 2:
        raise ValueError(f"probabilities must have shape (N, K >= 2), not {probabilities.shape}")
    y_true = check_labels(y_true, probabilities.shape[1], "y_true")
    if len(y_true) != len(probabilities):
        raise ValueError(f"y_true has {len(y_true)} labels, probabilities {len(probabilities)}")
    off = np.abs(probabilities.sum(axis=1) - 1).max(initial=0)
    if not (probabilities.min() >= 0 and off <= tolerance):
        raise ValueError("probabilities must be non-negative rows that sum to 1, not logits")
    return y_true, probabilities


def check_weights(sample_weight, size: int) -> np.ndarray | None:
    """Weights (size,) as float64 up to 1, or None for none.

    Only their ratios count, so all are divided by a power of two: that changes no digit, and no
    product of weights overflows.
    """
    if sample_weight is None:
        return None
    weights = _array(sample_weight)
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
    return np.ldexp(weights, -np.frexp(weights.max())[1])


def confusion(y_true, y_pred, num_classes: int, sample_weight=None) -> np.ndarray:
    """M (K, K): weight of the samples of class i predicted as j, their number without weights.

    It holds Python's numbers: integers never overflow, floats are added one by one.
    """
    if num_classes < 2:
        raise ValueError(f"num_classes is {num_classes}; an ordinal task needs at least 2")
    y_true = check_labels(y_true, num_classes, "y_true")
    y_pred = check_labels(y_pred, num_classes, "y_pred")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} labels, y_pred {len(y_pred)}")
    weights = check_weights(sample_weight, len(y_true))
    cells = np.bincount(y_true * num_classes + y_pred, weights, num_classes**2)
    return cells.reshape(num_classes, num_classes).astype(object)


def share(part, whole) -> float:
    """part / whole, nan where the whole is nothing."""
    return float(part / whole) if whole else NAN


def mean(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Mean of values (n,), nan where there are none or all weigh nothing."""
    if weights is None:
        return float(values.mean()) if values.size else NAN
    return share(math.fsum(weights * values), math.fsum(weights))
