"""What one trained network can still decide, and how far its probabilities can be trusted.

All values are rounded to `SCORE_DECIMALS`, so that no last bit of a library's exp and log is seen.
"""

from collections.abc import Callable

import numpy as np

from amol import metrics
from amol.losses import center_class
from amol.metrics import METRICS, ranked_probability_score
from amol.metrics.probabilities import calibration_error

SCORE_DECIMALS = 4
LABEL_METRICS = ("QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE", "center_recall",
                 "extreme_recall")  # fmt: skip
HIGHER_IS_BETTER = metrics.HIGHER_IS_BETTER | {"end_recall": True}
LEAST = 2.0**-23  # probabilities below float32's precision count as this much
TEMPERATURES = 2.0 ** (np.arange(-16, 33) / 8)  # from 1/4 to 16


def _median(p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The first class that half of the probability reaches: least expected absolute error."""
    return (p.cumsum(axis=1)[:, :-1] < 0.5).sum(axis=1)


def _least_squares(p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The class with the least expected squared error."""
    k = np.arange(p.shape[1])
    cost = sum(p[:, [j]] * (k - j) ** 2.0 for j in k)
    return cost.argmin(axis=1)


def _center_masked(p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The most probable class but the center."""
    others = p.copy()
    others[:, center_class(p.shape[1])] = -1
    return others.argmax(axis=1)


def _prior_adjusted(p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The class most raised above its training frequency (Menon et al. 2021)."""
    return (p / np.maximum(counts, 1)).argmax(axis=1)


def inward_costs(num_classes: int, beta: float) -> np.ndarray:
    """Cost of answering k under label y, (K, K), row y: steps between them, each 1.

    A step from the label that comes nearer to the middle of the scale costs 1 + β. The label of
    least expected cost is the median at β = 0, right for a belief that is sure, and monotone under
    stochastic dominance at every β: from k to k + 1 the cost rises by the same amount for all
    labels up to k, and falls by the same amount for all others (Topkis).

    >>> inward_costs(3, beta=1.0).tolist()
    [[0.0, 2.0, 3.0], [1.0, 0.0, 1.0], [3.0, 2.0, 0.0]]
    """
    k = np.arange(num_classes)
    far = np.abs(k - (num_classes - 1) / 2)
    up = np.concatenate([[0], np.cumsum(1 + beta * (far[1:] < far[:-1]))])
    down = np.concatenate([[0], np.cumsum(1 + beta * (far[:-1] < far[1:]))])
    return np.where(k > k[:, None], up - up[:, None], down[:, None] - down)


def least_inward_cost(p: np.ndarray, beta: float) -> np.ndarray:
    """Labels (n,) of the least expected `inward_costs` under probabilities (n, K)."""
    costs = inward_costs(p.shape[1], beta)
    return sum(p[:, [y]].astype(np.float64) * row for y, row in enumerate(costs)).argmin(axis=1)


DECISIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    # from probabilities (n, K) and counts of training labels (K,) to labels (n,)
    name: lambda p, counts, decide=decide: decide(p.astype(np.float64), counts)
    for name, decide in {
        "median": _median,
        "least squares": _least_squares,
        "center masked": _center_masked,
        "prior adjusted": _prior_adjusted,
    }.items()
}


def label_scores(y: np.ndarray, y_pred: np.ndarray, num_classes: int) -> dict[str, float]:
    """`LABEL_METRICS` and `end_recall`."""
    scores = {name: METRICS[name](y, y_pred, num_classes) for name in LABEL_METRICS}
    scores["end_recall"] = end_recall(y, y_pred, num_classes)
    return {name: round(float(value), SCORE_DECIMALS) for name, value in scores.items()}


def end_recall(y: np.ndarray, y_pred: np.ndarray, num_classes: int) -> float:
    """The lower one of the recalls of class 0 and class K−1, which `extreme_recall` pools."""
    return min(float(np.mean(y_pred[y == end] == end)) for end in (0, num_classes - 1))


def tempered(p: np.ndarray, temperature: float | np.ndarray) -> np.ndarray:
    """Probabilities ∝ p^(1/T), no p below `LEAST`: (n, K) float64."""
    powers = np.log(np.maximum(p.astype(np.float64), LEAST)) / temperature
    powers = np.exp(powers - powers.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def clipped_nll(y: np.ndarray, p: np.ndarray) -> float:
    """`amol.metrics.negative_log_likelihood` with no p below `LEAST`, as those of the engine."""
    return float(-np.log(np.maximum(p[np.arange(len(y)), y].astype(np.float64), LEAST)).mean())


def nll_and_rps(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """`clipped_nll` and the ranked probability score, under NLL and RPS."""
    scores = {"NLL": clipped_nll(y, p), "RPS": ranked_probability_score(y, p)}
    return {name: round(float(value), SCORE_DECIMALS) for name, value in scores.items()}


def fit_temperature(y: np.ndarray, p: np.ndarray) -> float:
    """The one of `TEMPERATURES` with the least `clipped_nll`."""
    return float(min(TEMPERATURES, key=lambda T: clipped_nll(y, tempered(p, T))))


def probability_scores(
    y: np.ndarray, p: np.ndarray, y_validation: np.ndarray, p_validation: np.ndarray
) -> dict[str, float]:
    """NLL, RPS, ECE (of the most probable class) and ECE_class (mean over classes).

    The same with a temperature fitted on the validation part, under names with "_T", and that
    temperature, "T".
    """
    T = fit_temperature(y_validation, p_validation)
    scores, top = {"T": T}, p.argmax(axis=1)
    for name, q in (("", p), ("_T", tempered(p, T))):
        by_class = [calibration_error(y == k, q[:, k]) for k in range(q.shape[1])]
        scores[f"NLL{name}"] = clipped_nll(y, q)
        scores[f"RPS{name}"] = ranked_probability_score(y, q)
        scores[f"ECE{name}"] = calibration_error(y == top, q.max(axis=1))
        scores[f"ECE_class{name}"] = sum(by_class) / len(by_class)
    return {name: round(float(v), SCORE_DECIMALS) for name, v in scores.items()}
