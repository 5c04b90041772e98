"""Metrics of predicted labels, all from the table M of `amol.metrics.inputs.confusion`.

M_ij is the number, or the weight, of the samples of class i predicted as j, and n their total; the
recall of class i is M_ii / Σ_j M_ij. All is in whole numbers up to the last division.
"""

import math
from functools import cache

import numpy as np

from amol.metrics.inputs import NAN, confusion, share, whole


@cache
def _distances(num_classes: int) -> np.ndarray:
    """|i − j|, shape (K, K), as Python's integers."""
    classes = np.arange(num_classes)
    return np.abs(classes - classes[:, None]).astype(object)


def _center(M: np.ndarray) -> int:
    return (len(M) - 1) // 2


def _recalls(M: np.ndarray) -> list[float]:
    return [share(hits, n) for hits, n in zip(M.diagonal(), M.sum(axis=1), strict=True)]


def _recalls_present(M: np.ndarray) -> list[float]:
    return [recall for recall in _recalls(M) if not math.isnan(recall)]


def _errors_present(M: np.ndarray) -> list[float]:
    """MAE of each class that is present."""
    errors = (M * _distances(len(M))).sum(axis=1)
    return [float(error / n) for error, n in zip(errors, M.sum(axis=1), strict=True) if n]


def quadratic_weighted_kappa(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Cohen's kappa with weights (i − j)² over all K classes, present or not (QWK).

    1 − n Σ_i (y_i − ŷ_i)² / Σ_ij (y_i − ŷ_j)². A constant prediction scores 0; so does a constant
    one that equals constant true labels, where kappa is 0/0: there is nothing to agree on beyond
    chance.

    >>> quadratic_weighted_kappa([0, 0, 1, 4], [0, 1, 1, 1], num_classes=5)
    0.2
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    squares = _distances(len(M)) ** 2
    apart = M.sum() * (M * squares).sum()
    by_chance = M.sum(axis=1) @ squares @ M.sum(axis=0)
    return float((by_chance - apart) / by_chance) if by_chance else 0.0


def center_hedging_rate(
    y_true, y_pred, num_classes: int, extremes: int = 1, *, sample_weight=None
) -> float:
    """Share of extreme samples that are predicted as the center class.

    CHR = P(ŷ = c | y ∈ {0, K−1}) of the paper's Section 3.1; ``extremes=2`` is CHR_ext, which pools
    the two outermost classes of each side.

    It is nan without any extreme sample in `y_true`, and where K is so small that the center would
    itself be counted as extreme. ``extremes`` counts the extreme classes of each side.

    >>> center_hedging_rate([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    0.3333333333333333
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    extremes = whole("extremes", extremes)
    if extremes < 1:
        raise ValueError(f"extremes is {extremes}; allowed: 1 or more")
    center = _center(M)
    if extremes > center:
        return NAN
    ends = np.concatenate([M[:extremes], M[-extremes:]])
    return share(ends[:, center].sum(), ends.sum())


def extended_center_hedging_rate(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """CHR_ext: `center_hedging_rate` over the two outermost classes of each side.

    >>> extended_center_hedging_rate([0, 1, 5, 6], [0, 3, 3, 6], num_classes=7)
    0.5
    """
    return center_hedging_rate(y_true, y_pred, num_classes, 2, sample_weight=sample_weight)


def accuracy(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share of samples predicted exactly.

    >>> accuracy([0, 1, 2, 2], [0, 1, 1, 0], num_classes=3)
    0.5
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return share(M.trace(), M.sum())


def accuracy_within(y_true, y_pred, num_classes: int, k: int, *, sample_weight=None) -> float:
    """Share of samples predicted at most k classes away; `accuracy` where k is 0.

    >>> accuracy_within([0, 1, 2, 3], [0, 3, 2, 0], num_classes=4, k=2)
    0.75
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    if k < 0:
        raise ValueError(f"k is {k}; allowed: 0 or more")
    return share(M[_distances(len(M)) <= k].sum(), M.sum())


def off_by_one_accuracy(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share of samples predicted at most one class away, `accuracy_within` 1.

    >>> off_by_one_accuracy([0, 1, 2, 2], [0, 2, 2, 0], num_classes=3)
    0.75
    """
    return accuracy_within(y_true, y_pred, num_classes, 1, sample_weight=sample_weight)


def mean_absolute_error(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Mean of |ŷ − y|, in classes (MAE).

    >>> mean_absolute_error([0, 1, 2, 2], [0, 1, 1, 0], num_classes=3)
    0.75
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return share((M * _distances(len(M))).sum(), M.sum())


def macro_mean_absolute_error(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Mean over the classes present in `y_true` of that class's MAE (AMAE).

    >>> macro_mean_absolute_error([0, 0, 4, 4], [0, 4, 4, 4], num_classes=5)
    1.0
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return float(np.mean(_errors_present(M)))


def maximum_mean_absolute_error(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Largest MAE of a class present in `y_true` (MMAE).

    Cruz-Ramírez et al., Neurocomputing 135 (2014), doi:10.1016/j.neucom.2013.05.058.

    >>> maximum_mean_absolute_error([0, 0, 4, 4], [0, 4, 4, 4], num_classes=5)
    2.0
    """
    return max(_errors_present(confusion(y_true, y_pred, num_classes, sample_weight)))


def center_rate(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share of all samples predicted as the center class.

    >>> center_rate([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    0.5
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return share(M[:, _center(M)].sum(), M.sum())


def center_recall(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share of center-class samples predicted as such; nan without any.

    >>> center_recall([0, 0, 6, 3], [3, 0, 6, 3], num_classes=7)
    1.0
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return _recalls(M)[_center(M)]


def extreme_recall(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Share of the samples of classes 0 and K−1, pooled, predicted exactly; nan without any.

    >>> extreme_recall([0, 0, 6, 6], [3, 0, 6, 6], num_classes=7)
    0.75
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    return share(M[0, 0] + M[-1, -1], M[0].sum() + M[-1].sum())


def center_discrimination(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """J_c = center recall − CHR_ext: does "center" go to center samples rather than extreme ones?

    Youden's J of the decision "predict the center" between true-center and pooled extreme samples.
    It is 0 for a model that always or never predicts the center, and 1 at best, so a hedging rate
    of 0 bought by avoiding the center wins nothing. This companion's measure, not the paper's.

    >>> center_discrimination([0, 1, 5, 6, 3], [0, 3, 3, 6, 3], num_classes=7)
    0.5
    """
    case = y_true, y_pred, num_classes
    hedging = extended_center_hedging_rate(*case, sample_weight=sample_weight)
    return center_recall(*case, sample_weight=sample_weight) - hedging


def balanced_accuracy(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Mean of the recalls of the classes present in `y_true`.

    Brodersen, Ong, Stephan and Buhmann, ICPR 2010, doi:10.1109/ICPR.2010.764, for two classes.

    >>> balanced_accuracy([0, 0, 0, 2], [0, 0, 0, 1], num_classes=3)
    0.5
    """
    recalls = _recalls_present(confusion(y_true, y_pred, num_classes, sample_weight))
    return math.fsum(recalls) / len(recalls)


def minimum_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Least recall of the classes present in `y_true` (MS).

    Fernández Caballero et al., IEEE Transactions on Neural Networks 21 (2010),
    doi:10.1109/TNN.2010.2041468.

    >>> minimum_sensitivity([0, 0, 2, 2], [0, 0, 2, 1], num_classes=3)
    0.5
    """
    return min(_recalls_present(confusion(y_true, y_pred, num_classes, sample_weight)))


def geometric_mean(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Geometric mean of the recalls of the classes present in `y_true` (GM).

    >>> round(geometric_mean([0, 2, 2, 2, 2], [0, 2, 1, 1, 1], num_classes=3), 12)
    0.5
    """
    recalls = _recalls_present(confusion(y_true, y_pred, num_classes, sample_weight))
    return math.exp(math.fsum(map(math.log, recalls)) / len(recalls)) if all(recalls) else 0.0


def mean_extreme_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Mean of the recalls of classes 0 and K−1, nan where one of them is absent (MES).

    As in dlordinal 2.7 and skordinal 0.2, but with the ends of the scale, not of the classes that
    occur. The end recall of the companion's pages is the lower of the two recalls.

    >>> mean_extreme_sensitivity([0, 2, 2], [0, 2, 1], num_classes=3)
    0.75
    """
    recalls = _recalls(confusion(y_true, y_pred, num_classes, sample_weight))
    return (recalls[0] + recalls[-1]) / 2


def geometric_extreme_sensitivity(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """√(recall of class 0 · recall of class K−1), nan where one of them is absent (GMES).

    The GMSEC of Vargas et al. (2024, arXiv 2407.12417), dlordinal 2.7 and skordinal 0.2, but with
    the ends of the scale, not of the classes that occur.

    >>> geometric_extreme_sensitivity([0, 2, 2, 2, 2], [0, 2, 1, 1, 1], num_classes=3)
    0.5
    """
    recalls = _recalls(confusion(y_true, y_pred, num_classes, sample_weight))
    return math.sqrt(recalls[0] * recalls[-1])


def _correlation(together: int, true: int, pred: int) -> float:
    """together / √(true · pred), nan where that is 0/0."""
    if not (true and pred):
        return NAN
    shift = max(0, (true * pred).bit_length() - 1000) // 2  # the root of more is no float
    root = math.sqrt(true * pred >> 2 * shift)
    return max(-1.0, min(1.0, together / (1 << shift) / root))


def kendall_tau(y_true, y_pred, num_classes: int, *, sample_weight=None) -> float:
    """Kendall's τ_b, 2(C − D) / √((n² − Σ_i M_i.²)(n² − Σ_j M_.j²)), nan if one side is constant.

    C and D count the pairs of samples in the same and in opposite order (Kendall, Biometrika 33,
    1945).

    >>> kendall_tau([0, 0, 1, 1], [0, 1, 1, 1], num_classes=3) == 1 / 3**0.5
    True
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
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
    (Spearman, American Journal of Psychology 15, 1904).

    >>> spearman_rho([0, 1, 2, 3], [0, 1, 3, 2], num_classes=4)
    0.8
    """
    M = confusion(y_true, y_pred, num_classes, sample_weight)
    true, pred = M.sum(axis=1), M.sum(axis=0)
    r, s = (2 * m.cumsum() - m - m.sum() for m in (true, pred))
    return _correlation((M * np.outer(r, s)).sum(), (true * r**2).sum(), (pred * s**2).sum())
