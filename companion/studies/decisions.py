"""What one trained network can still decide, and how far its probabilities can be trusted.

All values are rounded to `DECIMALS`, so that no last bit of a library's exp and log is seen.
"""

from collections.abc import Callable

import numpy as np

from amol.losses import center_class
from amol.metrics import METRICS, ranked_probability_score
from amol.metrics.probabilities import calibration_error

DECIMALS = 4
LABEL_METRICS = ("QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE", "center_recall",
                 "extreme_recall")  # fmt: skip
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
    """The class that gains most on its share of the training part (Menon et al. 2021)."""
    return (p / np.maximum(counts, 1)).argmax(axis=1)


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
    """`LABEL_METRICS`, and end_recall: the lower recall of the two outermost classes."""
    scores = {name: METRICS[name](y, y_pred, num_classes) for name in LABEL_METRICS}
    ends = [np.mean(y_pred[y == end] == end) for end in (0, num_classes - 1)]
    return {
        name: round(float(v), DECIMALS) for name, v in (scores | {"end_recall": min(ends)}).items()
    }


def tempered(p: np.ndarray, temperature: float | np.ndarray) -> np.ndarray:
    """Probabilities ∝ p^(1/T), no p below `LEAST`: (n, K) float64."""
    powers = np.log(np.maximum(p.astype(np.float64), LEAST)) / temperature
    powers = np.exp(powers - powers.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    """Mean of −log p_y (NLL), no p below `LEAST`."""
    return float(-np.log(np.maximum(p[np.arange(len(y)), y].astype(np.float64), LEAST)).mean())


def fit_temperature(y: np.ndarray, p: np.ndarray) -> float:
    """The one of `TEMPERATURES` with the least `log_loss`."""
    return float(min(TEMPERATURES, key=lambda T: log_loss(y, tempered(p, T))))


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
        scores[f"NLL{name}"] = log_loss(y, q)
        scores[f"RPS{name}"] = ranked_probability_score(y, q)
        scores[f"ECE{name}"] = calibration_error(y == top, q.max(axis=1))
        scores[f"ECE_class{name}"] = sum(by_class) / len(by_class)
    return {name: round(float(v), DECIMALS) for name, v in scores.items()}
