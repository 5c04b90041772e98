"""From class probabilities p (n, K) to labels (n,): what a trained network can still decide."""

import numpy as np


def most_probable(p: np.ndarray) -> np.ndarray:
    """The most probable class, the first of ties.

    >>> most_probable(np.array([[0.4, 0.25, 0.35]]))
    array([0])
    """
    return p.argmax(axis=1)


def median(p: np.ndarray) -> np.ndarray:
    """The first class that half of the probability reaches: least expected absolute error.

    >>> median(np.array([[0.4, 0.25, 0.35]]))
    array([1])
    """
    return (p.cumsum(axis=1)[:, :-1] < 0.5).sum(axis=1)


def least_cost(p: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The class of least expected cost, the first of ties; cost[y, k] of class k for label y.

    >>> least_cost(np.array([[0.4, 0.25, 0.35]]), np.array([[0, 1, 9], [1, 0, 1], [4, 1, 0]]))
    array([1])
    """
    return sum(p[:, [y]] * row for y, row in enumerate(cost)).argmin(axis=1)


def nearest_mean(p: np.ndarray) -> np.ndarray:
    """The class nearest to the mean of p, the lower of two: least expected squared error.

    >>> nearest_mean(np.array([[0.4, 0.0, 0.6]]))
    array([1])
    """
    k = np.arange(p.shape[1])
    return least_cost(p, (k - k[:, None]) ** 2.0)


def mean_class(p: np.ndarray) -> np.ndarray:
    """Mean of p (n,), from 0 to K − 1.

    >>> mean_class(np.array([[0.5, 0.0, 0.5]]))
    array([1.])
    """
    return sum(p[:, k] * k for k in range(p.shape[1]))


def by_thresholds(score: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many of the thresholds (K − 1,), in order, lie below each score (n,).

    >>> by_thresholds(np.array([0.2, 1.7]), np.array([0.5, 1.5]))
    array([0, 2])
    """
    return np.searchsorted(thresholds, score)


def kappa_thresholds(
    score: np.ndarray, y: np.ndarray, num_classes: int, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Thresholds on scores that give a high quadratic weighted kappa.

    From half-way between the classes on, each threshold in turn takes the best place between its
    neighbors, until none moves: a local maximum.

    Parameters
    ----------
    score : ndarray, shape (n,)
        Such as `mean_class`.
    y : ndarray, shape (n,)
        Labels 0..K−1.
    num_classes : int
    sample_weight : ndarray, shape (n,), optional

    Returns
    -------
    ndarray, shape (K − 1,), in order; ±inf where no sample is to lie beyond

    Examples
    --------
    >>> kappa_thresholds(np.array([0.1, 0.2, 0.3, 1.9]), np.array([0, 0, 1, 2]), 3)
    array([0.25, 1.1 ])
    """
    w = np.ones(len(y)) if sample_weight is None else sample_weight
    places, at = np.unique(score, return_inverse=True)
    K, m = num_classes, len(places)
    counts = np.zeros((m + 1, K))  # weight of each label among the scores below each cut
    np.add.at(counts, (at + 1, y), w)
    counts = counts.cumsum(axis=0)
    k = np.arange(K)
    cost = (k[:, None] - k) ** 2.0
    of_label = cost @ counts[-1]  # cost by chance of each class predicted

    def sums(part, k):
        """Cost of samples (…, K labels) predicted as class k, and by chance."""
        return part @ cost[k], part.sum(axis=-1) * of_label[k]

    cuts, best, moved = np.r_[0, np.searchsorted(places, k[1:] - 0.5), m], np.inf, True
    while moved:
        moved = False
        for i in range(1, K):
            tried = np.arange(cuts[i - 1], cuts[i + 1] + 1)
            others = [j for j in range(K) if j not in (i - 1, i)]
            fixed = [sums(counts[cuts[j + 1]] - counts[cuts[j]], j) for j in others]
            below = sums(counts[tried] - counts[cuts[i - 1]], i - 1)
            above = sums(counts[cuts[i + 1]] - counts[tried], i)
            apart, chance = (sum(parts) for parts in zip(*fixed, below, above, strict=True))
            errors = apart / np.maximum(chance, np.finfo(float).tiny)  # 1 − κ, but for a factor
            if errors.min() < best:
                best, cuts[i], moved = errors.min(), tried[errors.argmin()], True
    ends = np.r_[-np.inf, places, np.inf]
    low, high = ends[cuts[1:-1]], ends[cuts[1:-1] + 1]
    between = np.isfinite(low) & np.isfinite(high)
    return np.where(between, (low + high) / 2, np.where(np.isfinite(low), np.inf, -np.inf))
