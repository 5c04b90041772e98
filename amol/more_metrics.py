"""More metrics of ordinal predictions, with sample weights, as other libraries report them.

`MORE_METRICS` and `MORE_PROBABILITY_METRICS` are called as the tables of `amol.metrics` are, with
the same input and errors. ``sample_weight`` has shape (N,), is finite, not negative and not all 0,
or ValueError is raised. A weight of 2 counts as the sample twice, a class of weight 0 as absent.

M_ij is the weight of the samples of class i predicted as j, n their total, and the recall of class
i is M_ii / Σ_j M_ij. All label metrics come from M alone, in whole numbers up to the last division
where there are no weights. What is not defined is nan.
"""

import math
from collections.abc import Callable

import numpy as np

from amol.metrics import _array, _distributions, _pair

BINS = 10
NAN = float("nan")


def _weights(sample_weight, size: int) -> np.ndarray:
    weights = _array(sample_weight).astype(np.float64)
    if weights.shape != (size,):
        raise ValueError(f"sample_weight must have shape ({size},), not {weights.shape}")
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() > 0):
        raise ValueError("sample_weight must be finite, not negative and not all 0")
    return weights


def _confusion(y_true, y_pred, num_classes: int, sample_weight) -> np.ndarray:
    """M as (K, K) Python numbers: integers never overflow, floats are added one by one."""
    y_true, y_pred = _pair(y_true, y_pred, num_classes)
    weights = None if sample_weight is None else _weights(sample_weight, len(y_true))
    cells = np.bincount(y_true * num_classes + y_pred, weights, num_classes**2)
    return cells.reshape(num_classes, num_classes).astype(object)


def _recalls(*case) -> list[float]:
    M = _confusion(*case)
    return [hits / n if n else NAN for hits, n in zip(M.diagonal(), M.sum(axis=1), strict=True)]


def _present(*case) -> list[float]:
    return [recall for recall in _recalls(*case) if not math.isnan(recall)]


def off_by_one_accuracy(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share predicted at most one class away, Σ_{|i−j| ≤ 1} M_ij / n (Eidinger et al. 2014).

    >>> off_by_one_accuracy([0, 1, 2, 2], [0, 2, 2, 0], num_classes=3)
    0.75
    """
    M = _confusion(y_true, y_pred, num_classes, sample_weight)
    return float(sum(M.trace(offset) for offset in (-1, 0, 1)) / M.sum())


def balanced_accuracy(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Mean of the recalls of the classes present in `y_true` (Brodersen et al. 2010).

    >>> balanced_accuracy([0, 0, 0, 2], [0, 0, 0, 1], num_classes=3)
    0.5
    """
    recalls = _present(y_true, y_pred, num_classes, sample_weight)
    return math.fsum(recalls) / len(recalls)


def maximum_mean_absolute_error(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """MMAE: largest Σ_j M_ij |i − j| / Σ_j M_ij of a class present (Cruz-Ramírez et al. 2014).

    >>> maximum_mean_absolute_error([0, 0, 4, 4], [0, 4, 4, 4], num_classes=5)
    2.0
    """
    M = _confusion(y_true, y_pred, num_classes, sample_weight)
    classes = np.arange(num_classes)
    errors = (M * np.abs(classes - classes[:, None])).sum(axis=1)
    return float(max(error / n for error, n in zip(errors, M.sum(axis=1), strict=True) if n))


def minimum_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """MS: least recall of the classes present in `y_true` (Fernández Caballero et al. 2010).

    >>> minimum_sensitivity([0, 0, 2, 2], [0, 0, 2, 1], num_classes=3)
    0.5
    """
    return min(_present(y_true, y_pred, num_classes, sample_weight))


def geometric_mean(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """GM: geometric mean of the recalls of the classes present in `y_true` (Sun et al. 2006).

    >>> round(geometric_mean([0, 2, 2, 2, 2], [0, 2, 1, 1, 1], num_classes=3), 12)
    0.5
    """
    recalls = _present(y_true, y_pred, num_classes, sample_weight)
    return math.exp(math.fsum(map(math.log, recalls)) / len(recalls)) if all(recalls) else 0.0


def mean_extreme_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """MES: mean of the recalls of classes 0 and K−1, nan where one of them is absent.

    As in dlordinal 2.7 and skordinal 0.2, but with the ends of the scale, not of the classes that
    occur. The end recall of the companion's pages is the lower of the two recalls.

    >>> mean_extreme_sensitivity([0, 2, 2], [0, 2, 1], num_classes=3)
    0.75
    """
    recalls = _recalls(y_true, y_pred, num_classes, sample_weight)
    return (recalls[0] + recalls[-1]) / 2


def geometric_extreme_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """GMES: √(recall of class 0 · recall of class K−1), nan where one of them is absent.

    The GMSEC of Vargas et al. (arXiv 2407.12417), dlordinal 2.7 and skordinal 0.2, but with the
    ends of the scale, not of the classes that occur.

    >>> geometric_extreme_sensitivity([0, 2, 2, 2, 2], [0, 2, 1, 1, 1], num_classes=3)
    0.5
    """
    recalls = _recalls(y_true, y_pred, num_classes, sample_weight)
    return math.sqrt(recalls[0] * recalls[-1])


def _correlation(together, true, pred) -> float:
    if not (true and pred):
        return NAN
    return max(-1.0, min(1.0, float(together / math.sqrt(true * pred))))


def kendall_tau(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Kendall's τ_b, 2(C − D) / √((n² − Σ_i M_i.²)(n² − Σ_j M_.j²)), nan if one side is constant.

    C and D count the pairs of samples in the same and in opposite order (Kendall 1945).

    >>> kendall_tau([0, 0, 1, 1], [0, 1, 1, 1], num_classes=3) == 1 / 3**0.5
    True
    """
    M = _confusion(y_true, y_pred, num_classes, sample_weight)
    higher = M[::-1].cumsum(axis=0)[::-1][1:]  # samples of higher classes, by their prediction
    up_to = higher.cumsum(axis=1)
    # of those, the ones predicted higher as well less those predicted lower
    ordered = (M[:-1] * (up_to[:, -1:] - 2 * up_to + higher)).sum()
    ties = (m * (m.sum() - m) for m in (M.sum(axis=1), M.sum(axis=0)))
    return _correlation(2 * ordered, *(tie.sum() for tie in ties))


def spearman_rho(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Spearman's ρ: Pearson's correlation of the mid-ranks, nan if one side is constant.

    Σ_ij M_ij r_i s_j / √(Σ_i M_i. r_i² · Σ_j M_.j s_j²), with r_i the number of samples in classes
    below i less that above, twice the centered mid-rank, and s_j the same of the predictions
    (Spearman 1904).

    >>> spearman_rho([0, 1, 2, 3], [0, 1, 3, 2], num_classes=4)
    0.8
    """
    M = _confusion(y_true, y_pred, num_classes, sample_weight)
    true, pred = M.sum(axis=1), M.sum(axis=0)
    r, s = (2 * m.cumsum() - m - m.sum() for m in (true, pred))
    return _correlation((M * np.outer(r, s)).sum(), (true * r**2).sum(), (pred * s**2).sum())


def negative_log_likelihood(y_true, probabilities, *, sample_weight=None) -> float:
    """NLL: mean of −ln p_y, with no p_y below 2^−1022, so that a label ruled out costs 708.4.

    >>> round(negative_log_likelihood([0, 1], [[0.5, 0.5], [0.75, 0.25]]), 6)
    1.039721
    """
    y_true, p = _distributions(y_true, probabilities)
    costs = -np.log(np.maximum(p[np.arange(len(p)), y_true], np.finfo(np.float64).tiny))
    weights = np.ones(len(p)) if sample_weight is None else _weights(sample_weight, len(p))
    return math.fsum(weights * costs) / math.fsum(weights)


def calibration_error(hit: np.ndarray, p: np.ndarray, sample_weight=None) -> float:
    """Expected calibration error over `BINS` bins of equal mass, in order of the probability.

    Σ_b n_b/n |mean of hit − mean of p in bin b| (Naeini et al. 2015, here with quantiles as edges).
    ``hit`` (N,) says whether what has probability ``p`` (N,) happened. With weights all bins are of
    the same weight, and a sample on an edge belongs to both in part.

    >>> calibration_error(np.array([True] * 10 + [False] * 10), np.full(20, 0.5))
    0.5
    """
    order = np.argsort(p.round(6), kind="stable")  # so that no last bit moves a sample
    gaps = (hit - p.astype(np.float64))[order]
    if sample_weight is None:
        return sum(abs(float(gap.sum())) for gap in np.array_split(gaps, BINS)) / len(p)
    weights = _weights(sample_weight, len(p))[order]
    mass, total = (np.r_[0, np.cumsum(each)] for each in (weights, weights * gaps))
    edges = np.interp(np.linspace(0, mass[-1], BINS + 1), mass, total)
    return math.fsum(np.abs(np.diff(edges))) / float(mass[-1])


def top_calibration_error(y_true, probabilities, *, sample_weight=None) -> float:
    """ECE: `calibration_error` of the most probable class, the first of equals.

    >>> top_calibration_error([0, 1], [[0.75, 0.25], [0.75, 0.25]])
    0.5
    """
    y_true, p = _distributions(y_true, probabilities)
    return calibration_error(y_true == p.argmax(axis=1), p.max(axis=1), sample_weight)


def classwise_calibration_error(y_true, probabilities, *, sample_weight=None) -> float:
    """ECE_class: mean of `calibration_error` over the K classes (Kull et al. 2019).

    >>> classwise_calibration_error([0, 1], [[1, 0], [0.5, 0.5]])
    0.25
    """
    y_true, p = _distributions(y_true, probabilities)
    errors = [calibration_error(y_true == k, q, sample_weight) for k, q in enumerate(p.T)]
    return sum(errors) / len(errors)


MORE_METRICS: dict[str, Callable] = {
    "accuracy_1off": off_by_one_accuracy, "balanced_accuracy": balanced_accuracy,
    "MMAE": maximum_mean_absolute_error, "MS": minimum_sensitivity, "GM": geometric_mean,
    "MES": mean_extreme_sensitivity, "GMES": geometric_extreme_sensitivity,
    "tau_b": kendall_tau, "rho": spearman_rho,
}  # fmt: skip
MORE_PROBABILITY_METRICS: dict[str, Callable] = {
    "NLL": negative_log_likelihood, "ECE": top_calibration_error,
    "ECE_class": classwise_calibration_error,
}  # fmt: skip
