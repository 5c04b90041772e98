"""How far AMOL's answers hold: in its strength α, its width σ and the number of classes.

By search, on beliefs and steps of α that are named; `exact` proves single cases.
"""

import numpy as np

from companion.theory.beliefs import dominating, labels, lattice

STRONGEST = 100.0  # no threshold is looked for above


def _least(holds, low: float = 0.0, high: float = STRONGEST, digits: int = 3) -> float:
    """The least number from which `holds`, by bisection; NaN where it doesn't at `high`."""
    if not holds(high):
        return np.nan
    if holds(low):
        return low
    while high - low > 10.0**-digits / 2:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def answers_sure_wrongly(num_classes: int, sigma: float = 1.0) -> float:
    """α from which AMOL answers a belief that is sure of one class with another; NaN if never."""

    def wrong(alpha):
        found = labels("AMOL", np.eye(num_classes), alpha=alpha, sigma=sigma)
        return ((found != np.arange(num_classes)) & (found >= 0)).any()

    steps = np.arange(0.05, 20, 0.05)
    first = next((a for a in steps if wrong(a)), None)
    return np.nan if first is None else _least(wrong, first - 0.05, first)


def violates_dominance(num_classes: int, n: int, alpha: float, sigma: float = 1.0) -> bool:
    """Whether any two beliefs with counts that sum to n are answered against their order."""
    counts = lattice(num_classes, n)
    found = labels("AMOL", counts, alpha=alpha, sigma=sigma)
    sure = (found[:, None] >= 0) & (found[None] >= 0)
    return bool((dominating(counts) & sure & (found[:, None] < found[None])).any())


def first_violation(num_classes: int, n: int, sigma: float = 1.0, step: float = 0.05) -> float:
    """The least of α = step, 2 step, … up to 3 at which `violates_dominance`; NaN if at none."""
    alphas = step * np.arange(1, round(3 / step) + 1)
    found = (a for a in alphas if violates_dominance(num_classes, n, a, sigma))
    return float(next(found, np.nan))


def costs_less_farther(num_classes: int, sigma: float = 1.0) -> float:
    """α up to which a sure wrong answer costs more the farther it is off, for every label.

    The loss of an answer sure of k under label y is m(k, y) ((k − y)²/2σ² + log Z_y). Both factors
    are linear in α, so the least α at which a farther class ties is a quotient; NaN if there is
    none.
    """
    K, c = num_classes, (num_classes - 1) / 2
    k = np.arange(K)
    least = np.inf
    for y in range(K):
        far = np.abs(k - y)
        cost = (k - y) ** 2 / (2 * sigma**2)
        cost = cost + np.log(np.exp(-cost).sum())
        rise = (1 - np.abs(k - c) / c) * (abs(y - c) / c) * cost  # by α
        for near in range(K):
            for farther in np.flatnonzero(far > far[near]):
                if (near - y) * (farther - y) < 0 and far[near]:
                    continue  # on the other side of the label
                if rise[near] > rise[farther]:
                    least = min(least, (cost[farther] - cost[near]) / (rise[near] - rise[farther]))
    return float(least) if np.isfinite(least) else np.nan


def middle_share(alpha: float, beliefs: np.ndarray, sigma: float = 1.0) -> float:
    """Share of beliefs (n, K) that AMOL answers with a middle class, of which even K has two."""
    K = beliefs.shape[1]
    found = labels("AMOL", beliefs, alpha=alpha, sigma=sigma)
    return float(np.isin(found, [(K - 1) // 2, K // 2]).mean())


def balance(beliefs: np.ndarray, sigma: float = 1.0) -> float:
    """α at which AMOL answers with a middle class as often as the most probable class is one."""
    K = beliefs.shape[1]
    wanted = np.isin(beliefs.argmax(1), [(K - 1) // 2, K // 2]).mean()
    return _least(lambda a: middle_share(a, beliefs, sigma) <= wanted, 0.0, 20.0, digits=2)
