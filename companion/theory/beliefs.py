"""Beliefs about K classes: all of one denominator, draws, dominance, and labels read from them."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import torch

from amol.losses import LOSSES, minimize_risk

TIE = 1e-9  # labels whose lead is smaller count as undecided
Belief = tuple[Fraction, ...]


def belief(*counts: int) -> Belief:
    """Counts as shares of their sum.

    >>> belief(1, 2, 1)
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    return tuple(Fraction(count, sum(counts)) for count in counts)


@cache
def lattice(num_classes: int, n: int) -> np.ndarray:
    """All counts of K classes that sum to n, (number, K) int64, the most of the first class first.

    >>> lattice(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    bars = np.array(list(combinations(range(n + num_classes - 1), num_classes - 1)), dtype=int)
    bars = bars.reshape(-1, num_classes - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + num_classes - 1)))
    return (np.diff(edges, axis=1) - 1)[::-1]


def ends_lead(num_classes: int, n: int, seed: int = 0) -> np.ndarray:
    """Beliefs drawn evenly from all whose most probable class is an end, (n, K).

    A draw from all beliefs, its largest entry swapped to an end: which place it has doesn't
    depend on the other values.
    """
    drawn = np.random.default_rng(seed).dirichlet(np.ones(num_classes), n)
    rows, top = np.arange(n), drawn.argmax(1)
    end = np.where(rows % 2 == 0, 0, num_classes - 1)
    drawn[rows, top], drawn[rows, end] = drawn[rows, end], drawn[rows, top]
    return drawn


def dominating(counts: np.ndarray) -> np.ndarray:
    """[i, j] whether belief i lies at or above belief j: P_i(Y ≤ k) ≤ P_j(Y ≤ k) for every k.

    First-order stochastic dominance.
    """
    upto = counts.cumsum(1)[:, :-1]
    return (upto[:, None] <= upto[None]).all(2)


def labels(name: str, beliefs: np.ndarray, **own) -> np.ndarray:
    """What the loss of this name answers, (n,); −1 where two classes are nearer than `TIE`.

    Read from what `amol.losses.minimize_risk` returns, whose error is far below `TIE`.
    """
    loss = LOSSES[name](num_classes=beliefs.shape[1], **own)
    asked = minimize_risk(loss, beliefs / beliefs.sum(1, keepdims=True))
    if name in ("CORAL", "CORN"):  # the label counts thresholds passed with more than 1/2
        above = asked.probabilities.flip(-1).cumsum(-1).flip(-1)[:, 1:]
        close = ((above - 0.5).abs() < TIE).any(-1)
    else:
        first, second = torch.topk(asked.probabilities, 2).values.T
        close = first - second < TIE
    return torch.where(close, -1, asked.labels).numpy()


def _unique_argmin(costs: np.ndarray) -> np.ndarray:
    """The class of least cost, −1 where two share it; costs are whole numbers."""
    least = costs == costs.min(1, keepdims=True)
    return np.where(least.sum(1) == 1, least.argmax(1), -1)


def _least_cost(counts: np.ndarray, power: int) -> np.ndarray:
    k = np.arange(counts.shape[1])
    return _unique_argmin(counts @ np.abs(k[:, None] - k) ** power)


READINGS = {
    # from whole counts (n, K) to the label that has least expected error, −1 where two have
    "mode": lambda counts: _unique_argmin(-counts),
    "median": lambda counts: _least_cost(counts, 1),
    "rounded mean": lambda counts: _least_cost(counts, 2),
}
