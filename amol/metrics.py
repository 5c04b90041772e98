"""Metrics of ordinal predictions: label arrays in, floats out.

Labels are integers 0..K-1, as anything that NumPy reads or as torch tensors (any device, this
module does not import torch). c denotes the center class ⌊(K−1)/2⌋: the lower middle at even K,
where the paper's c = (K−1)/2 is no class.

Call ``METRICS[name](y_true, y_pred, num_classes)`` and
``PROBABILITY_METRICS[name](y_true, probabilities)``. Empty input, labels outside 0..K-1 and labels
that aren't integers raise ValueError. The scale has K classes, whichever of them occur; only AMAE
averages over those that do. A metric over samples that are not there (no extreme sample, say) is
nan; a constant prediction has QWK 0.
"""

from collections.abc import Callable
from functools import partial

import numpy as np


def _array(values) -> np.ndarray:
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    return np.asarray(values)


def _labels(values, num_classes: int, name: str) -> np.ndarray:
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


def _pair(y_true, y_pred, num_classes: int) -> tuple[np.ndarray, np.ndarray]:
    if num_classes < 2:
        raise ValueError(f"num_classes is {num_classes}; an ordinal task needs at least 2")
    y_true = _labels(y_true, num_classes, "y_true")
    y_pred = _labels(y_pred, num_classes, "y_pred")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} labels, y_pred {len(y_pred)}")
    return y_true, y_pred


def _share(hits: np.ndarray) -> float:
    return float(hits.mean()) if hits.size else float("nan")


def _is_extreme(y_true: np.ndarray, num_classes: int, extremes: int) -> np.ndarray:
    return (y_true < extremes) | (y_true >= num_classes - extremes)


def quadratic_weighted_kappa(y_true, y_pred, num_classes: int) -> float:
    """Cohen's kappa with weights (i − j)² over all K classes, present or not (QWK).

    1 − n Σ_i (y_i − ŷ_i)² / Σ_ij (y_i − ŷ_j)², in whole numbers up to the last division. A constant
    prediction scores 0; so does a constant one that equals constant true labels, where kappa is
    0/0: there is nothing to agree on beyond chance.

    >>> quadratic_weighted_kappa([0, 0, 1, 4], [0, 1, 1, 1], num_classes=5)
    0.2
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    n = len(y_true)
    apart = n * int(((y_true - y_pred) ** 2).sum())
    squares = int((y_true**2 + y_pred**2).sum())
    by_chance = n * squares - 2 * int(y_true.sum()) * int(y_pred.sum())
    return (by_chance - apart) / by_chance if by_chance else 0.0


def center_hedging_rate(y_true, y_pred, num_classes: int, extremes: int = 1) -> float:
    """Share of extreme samples that are predicted as the center class.

    CHR = P(ŷ = c | y ∈ {0, K−1}) of the paper's Section 3.1; ``extremes=2`` is CHR_ext, which pools
    the two outermost classes of each side.

    It is nan without any extreme sample in `y_true`, and where K is so small that the center would
    itself be counted as extreme. ``extremes`` counts the extreme classes of each side.

    >>> center_hedging_rate([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    0.3333333333333333
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    if extremes < 1:
        raise ValueError(f"extremes is {extremes}; allowed: 1 or more")
    center = (num_classes - 1) // 2
    if extremes > center:
        return float("nan")
    return _share(y_pred[_is_extreme(y_true, num_classes, extremes)] == center)


def extended_center_hedging_rate(y_true, y_pred, num_classes: int) -> float:
    """CHR_ext: `center_hedging_rate` over the two outermost classes of each side.

    >>> extended_center_hedging_rate([0, 1, 5, 6], [0, 3, 3, 6], num_classes=7)
    0.5
    """
    return center_hedging_rate(y_true, y_pred, num_classes, extremes=2)


def accuracy(y_true, y_pred, num_classes: int) -> float:
    """Share of samples predicted exactly.

    >>> accuracy([0, 1, 2, 2], [0, 1, 1, 0], num_classes=3)
    0.5
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    return _share(y_true == y_pred)


def mean_absolute_error(y_true, y_pred, num_classes: int) -> float:
    """Mean of |ŷ − y|, in classes (MAE).

    >>> mean_absolute_error([0, 1, 2, 2], [0, 1, 1, 0], num_classes=3)
    0.75
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    return float(np.abs(y_true - y_pred).mean())


def macro_mean_absolute_error(y_true, y_pred, num_classes: int) -> float:
    """Mean over the classes present in `y_true` of that class's MAE (AMAE).

    >>> macro_mean_absolute_error([0, 0, 4, 4], [0, 4, 4, 4], num_classes=5)
    1.0
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    counts = np.bincount(y_true)
    sums = np.bincount(y_true, weights=np.abs(y_true - y_pred))
    present = counts > 0
    return float((sums[present] / counts[present]).mean())


def center_rate(y_true, y_pred, num_classes: int) -> float:
    """Share of all samples predicted as the center class.

    >>> center_rate([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    0.5
    """
    _, y_pred = _pair(y_true, y_pred, num_classes)
    return _share(y_pred == (num_classes - 1) // 2)


def center_recall(y_true, y_pred, num_classes: int) -> float:
    """Share of center-class samples predicted as such; nan without any.

    >>> center_recall([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    1.0
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    center = (num_classes - 1) // 2
    return _share(y_pred[y_true == center] == center)


def extreme_recall(y_true, y_pred, num_classes: int) -> float:
    """Share of the samples of classes 0 and K−1, pooled, predicted exactly; nan without any.

    >>> extreme_recall([0, 0, 6, 6], [3, 0, 6, 6], num_classes=7)
    0.75
    """
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    extreme = _is_extreme(y_true, num_classes, 1)
    return _share(y_true[extreme] == y_pred[extreme])


def center_discrimination(y_true, y_pred, num_classes: int) -> float:
    """J_c = center recall − CHR_ext: does "center" go to center samples rather than extreme ones?

    Youden's J of the decision "predict the center" between true-center and pooled extreme samples.
    It is 0 for a model that always or never predicts the center, and 1 at best, so a hedging rate
    of 0 bought by avoiding the center wins nothing. This companion's measure, not the paper's.

    >>> center_discrimination([0, 1, 5, 6, 3], [0, 3, 3, 6, 3], num_classes=7)
    0.5
    """
    hedging = extended_center_hedging_rate(y_true, y_pred, num_classes)
    return center_recall(y_true, y_pred, num_classes) - hedging


def _distributions(y_true, probabilities) -> tuple[np.ndarray, np.ndarray]:
    dtype = str(getattr(probabilities, "dtype", ""))
    # a row's sum is as rounded as its type: half an epsilon, doubled
    tolerance = 8e-3 if "bfloat16" in dtype else 1e-3 if "float16" in dtype else 1e-4
    probabilities = _array(probabilities).astype(np.float64, copy=False)
    if probabilities.ndim != 2 or probabilities.shape[1] < 2:
        raise ValueError(f"probabilities must have shape (N, K >= 2), not {probabilities.shape}")
    y_true = _labels(y_true, probabilities.shape[1], "y_true")
    if len(y_true) != len(probabilities):
        raise ValueError(f"y_true has {len(y_true)} labels, probabilities {len(probabilities)}")
    off = np.abs(probabilities.sum(axis=1) - 1).max(initial=0)
    if not (probabilities.min() >= 0 and off <= tolerance):
        raise ValueError("probabilities must be non-negative rows that sum to 1, not logits")
    return y_true, probabilities


def center_mass(y_true, probabilities) -> float:
    """Mean probability given to the center class over the samples that CHR_ext counts.

    The soft companion of CHR_ext and the center bar of the paper's Figure 2; nan where CHR_ext is.

    >>> center_mass([0, 3], [[0.5, 0, 0.5, 0, 0], [0, 0, 0.1, 0, 0.9]])
    0.3
    """
    y_true, probabilities = _distributions(y_true, probabilities)
    num_classes = probabilities.shape[1]
    center = (num_classes - 1) // 2
    if center < 2:
        return float("nan")
    return _share(probabilities[_is_extreme(y_true, num_classes, 2), center])


def ranked_probability_score(y_true, probabilities) -> float:
    """Mean of Σ_k (F̂(k) − 1[y ≤ k])² / (K−1), with F̂ the predicted cumulative distribution (RPS).

    Divided by K−1, so that 0 is a sure hit and 1 all mass at the opposite end of the scale.

    >>> ranked_probability_score([1], [[0.5, 0.25, 0.25]])
    0.15625
    """
    y_true, probabilities = _distributions(y_true, probabilities)
    num_classes = probabilities.shape[1]
    reached = y_true[:, None] <= np.arange(num_classes)  # (N, K)
    squares = (probabilities.cumsum(axis=1) - reached)[:, :-1] ** 2
    return float(squares.mean(axis=1).mean())


METRICS: dict[str, Callable] = {
    "QWK": quadratic_weighted_kappa,
    "CHR": center_hedging_rate,
    "CHR_ext": extended_center_hedging_rate,
    "accuracy": accuracy,
    "MAE": mean_absolute_error,
    "AMAE": macro_mean_absolute_error,
    "center_rate": center_rate,
    "center_recall": center_recall,
    "extreme_recall": extreme_recall,
    "J_c": center_discrimination,
}
PROBABILITY_METRICS: dict[str, Callable] = {
    "RPS": ranked_probability_score,
    "center_mass": center_mass,
}

# The center rate is absent: it should match the data, neither high nor low is better.
HIGHER_IS_BETTER = {
    "QWK": True, "CHR": False, "CHR_ext": False, "accuracy": True, "MAE": False, "AMAE": False,
    "center_recall": True, "extreme_recall": True, "J_c": True, "RPS": False,
    "center_mass": False,
}  # fmt: skip


def scorers(num_classes: int) -> dict[str, Callable]:
    """scikit-learn scorers for the metrics of `HIGHER_IS_BETTER`, errors with negated sign.

    A classifier that never saw some of the classes has fewer columns in `predict_proba`: they
    are put in their places by its `classes_`, and the absent classes get probability 0.

    >>> sorted(scorers(num_classes=7))[:3]
    ['AMAE', 'CHR', 'CHR_ext']
    """
    from sklearn.metrics import make_scorer  # as slow to load as PyTorch, and for this alone

    return {
        name: make_scorer(METRICS[name], greater_is_better=higher, num_classes=num_classes)
        if name in METRICS
        else partial(_score, PROBABILITY_METRICS[name], 1 if higher else -1, num_classes)
        for name, higher in HIGHER_IS_BETTER.items()
    }


def _score(metric, sign, num_classes, model, X, y) -> float:
    found = model.predict_proba(X)
    probabilities = np.zeros((len(found), num_classes))
    probabilities[:, _labels(model.classes_, num_classes, "classes_")] = found
    return sign * metric(y, probabilities)
