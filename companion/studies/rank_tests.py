"""Methods over several data sets: mean ranks with a critical difference, and a Bayesian test.

Scores are given as a frame of data sets × methods, one mean per cell; higher is better.
"""

import math

import numpy as np
import pandas as pd
from scipy import stats


def mean_ranks(scores: pd.DataFrame) -> pd.Series:
    """Mean rank per method, 1 the best, equal scores sharing the mean of their places.

    >>> mean_ranks(pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})).tolist()
    [1.25, 1.75]
    """
    return scores.rank(axis=1, ascending=False).mean()


def friedman(scores: pd.DataFrame) -> tuple[float, float]:
    """Friedman's statistic and p value of "all methods rank alike", at least three methods."""
    found = stats.friedmanchisquare(*scores.to_numpy().T)
    return float(found.statistic), float(found.pvalue)


def critical_difference(methods: int, sets: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of two mean ranks, q √(k (k + 1)/(6 N)).

    q is the studentized range's quantile divided by √2 (Demšar, JMLR 7, 2006).

    >>> round(critical_difference(4, 14), 2)  # Demšar's example: 2.569 √(20/84)
    1.25
    """
    q = stats.studentized_range.ppf(1 - level, methods, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(methods * (methods + 1) / (6 * sets)))


def cliques(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Ranges of mean ranks within ``difference``, each as wide as it goes; none inside another.

    >>> cliques(pd.Series([1.0, 1.5, 2.4, 4.0]), 1.0)
    [(1.0, 1.5), (1.5, 2.4)]
    """
    values, found = sorted(ranks), []
    for low in values:
        high = max(v for v in values if v - low <= difference)
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found


def signed_rank(
    differences: np.ndarray, region: float, samples: int = 20_000, seed: int = 0
) -> tuple[float, float, float]:
    """Probability that a method is worse than, practically equal to, or better than another.

    Bayesian signed-rank test (Benavoli, Corani, Demšar, Zaffalon, JMLR 18(77), 2017), as baycomp
    1.0.3 has it: data sets get weights from a Dirichlet distribution, all 1, and a pseudo-set
    without a difference ½. A draw of weights w votes for the largest of Σ w_i w_j over the pairs
    whose mean difference is below −region, within it, or above; the shares of votes are returned.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        One per data set, positive where the method is better.
    region : float
        Differences up to this size are equal for any practical end; above 0.
    samples, seed : int
    """
    z = np.concatenate([[0.0], np.asarray(differences, dtype=float)])
    sums = z[:, None] + z
    weights = np.random.default_rng(seed).dirichlet(np.r_[0.5, np.ones(len(z) - 1)], samples)
    worse, better = (
        np.einsum("si,ij,sj->s", weights, np.where(s == 2 * region, 0.5, s > 2 * region), weights,
                  optimize=True)
        for s in (-sums, sums)
    )  # fmt: skip
    votes = np.argmax(np.stack([worse, 1 - worse - better, better]), axis=0)
    worse, equal, better = np.bincount(votes, minlength=3) / samples
    return float(worse), float(equal), float(better)
