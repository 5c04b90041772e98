"""Decisions whose free numbers come from the validation part: thresholds, and dear inward steps.

Both turn probabilities (n, K) into labels (n,) and know no more of the network. What is tuned is
the validation QWK; of equals the first stands.
"""

import numpy as np

from amol.decisions import by_thresholds, mean_class
from amol.metrics import quadratic_weighted_kappa
from companion.studies.decisions import least_inward_cost

BETAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


def means(p: np.ndarray) -> np.ndarray:
    """`mean_class` (n,) of probabilities (n, K) in float64."""
    return mean_class(p.astype(np.float64))


def thresholds(y: np.ndarray, p: np.ndarray, rounds: int = 10) -> np.ndarray:
    """Thresholds (K−1,) on `means` with the highest QWK that single moves reach.

    They start at k + ½. In each round every threshold, the lowest first, moves to its best place
    between its neighbors; rounds end when none moves. A place lies midway between two samples.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Labels 0..K−1 of the validation part.
    p : ndarray, shape (n, K)
    rounds : int
    """
    K, mean = p.shape[1], means(p)
    order = np.argsort(mean, kind="stable")
    mean, y = mean[order], y[order]
    distinct = np.flatnonzero(np.diff(mean) > 0) + 1  # a cut before this sample parts none alike
    places = np.concatenate([[0], distinct, [len(y)]])
    cuts = np.searchsorted(mean, np.arange(K - 1) + 0.5, side="right")
    for _ in range(rounds):
        before = cuts.copy()
        for j in range(K - 1):
            low = cuts[j - 1] if j else 0
            high = cuts[j + 1] if j < K - 2 else len(y)
            tried = places[(places >= low) & (places <= high)]
            scores = _scores(y, cuts, j, tried, K)
            stay = scores[np.searchsorted(tried, cuts[j])]
            if scores.max() > stay:
                cuts[j] = tried[scores.argmax()]
        if np.array_equal(cuts, before):
            break
    padded = np.concatenate([[-np.inf], mean, [np.inf]])
    ends = np.clip((padded[cuts] + padded[cuts + 1]) / 2, -1.0, float(K))
    return ends


def _scores(y: np.ndarray, cuts: np.ndarray, j: int, tried: np.ndarray, K: int) -> np.ndarray:
    """QWK with cut ``j`` at each of the places ``tried``, for samples in order of their mean.

    QWK is 1 − n Σ (y − ŷ)² / Σ_ab n_a m_b (a − b)², n_a of the labels and m_b of the decisions; a
    cut's move changes ŷ between j and j + 1 alone, so that both sums are whole numbers at every
    place.
    """
    n, labels = len(y), np.arange(K)
    moved = np.cumsum(np.concatenate([[0], (y - j) ** 2 - (y - j - 1) ** 2]))
    fixed = np.searchsorted(cuts, np.arange(n), side="right")
    fixed[cuts[j - 1] if j else 0 : cuts[j + 1] if j < K - 2 else n] = j + 1
    # Samples from the lower neighbor up to the place are called j, those after it j + 1.
    start = cuts[j - 1] if j else 0
    error = ((y - fixed) ** 2).sum() + moved[tried] - moved[start]
    spread = ((labels[:, None] - labels) ** 2 * np.bincount(y, minlength=K)).sum(axis=1)  # (K,)
    expected = (np.bincount(fixed, minlength=K) * spread).sum()
    expected = expected + (tried - start) * (spread[j] - spread[j + 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - n * error / expected, np.where(error > 0, 0.0, 1.0))


def cut(p: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many thresholds the mean class of each sample exceeds: labels (n,)."""
    return by_thresholds(means(p), thresholds)


def inward_beta(y: np.ndarray, p: np.ndarray) -> float:
    """The one of `BETAS` under which `least_inward_cost` has the highest QWK."""
    K = p.shape[1]
    scores = [quadratic_weighted_kappa(y, least_inward_cost(p, beta), K) for beta in BETAS]
    return BETAS[int(np.argmax(scores))]
