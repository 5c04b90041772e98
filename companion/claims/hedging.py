"""Hedging: more center answers to extreme samples than the classifier's own belief asks for.

A rate of center answers alone is no fault. Where features tell little apart, the most probable
class of a sample is often the center though the sample is extreme, and a perfectly calibrated
classifier answers so, too, as do absolute and squared error, which ask for the median and the
mean. No fixed rate, such as 1/K or the share of center answers among all samples, says how much of
that is right: it depends on how sure the samples let one be. The classifier's probabilities say
it. With e_i, the probability that they give the extreme classes together, and a_i, which is 1
where its answer is the center and else 0, a calibrated classifier has a rate of

    asked = Σ a_i e_i / Σ e_i

in expectation over labels, however it turns probabilities into answers, since its labels are
extreme with probability e_i. *Hedging* is the rate that is seen minus the one asked for,

    hedging = Σ_{y_i extreme} a_i / n_extreme − asked .

It is 0 in expectation for a calibrated classifier; above 0 the center is given to extreme samples
more often than the classifier's own probabilities say, below 0 less often. With the center's
probability p_i(c) in the place of a_i, the same says whether extreme samples get more of it.

Extreme are the two outermost classes on each side, as in CHR_ext; with fewer than five classes,
whose center would be among them, the outermost alone. A loss that isn't proper asks for
probabilities that are no belief; then this compares answers with what those probabilities say.
From labels without probabilities hedging can't be told.
"""

from typing import NamedTuple

import numpy as np


class Beyond(NamedTuple):
    """What is seen, what the belief asks for, and the sampling error of the difference."""

    seen: float
    asked: float
    error: float

    @property
    def excess(self) -> float:
        """Seen minus asked: 0 in expectation where the belief is calibrated."""
        return self.seen - self.asked


def extreme_classes(num_classes: int) -> np.ndarray:
    """Classes that count as extreme, lowest first: two on each side, one with K < 5.

    >>> extreme_classes(7).tolist(), extreme_classes(4).tolist()
    ([0, 1, 5, 6], [0, 3])
    """
    side = 2 if num_classes >= 5 else 1
    return np.r_[:side, num_classes - side : num_classes]


def beyond_belief(given: np.ndarray, extreme: np.ndarray, belief: np.ndarray) -> Beyond:
    """Mean of ``given`` over the extreme samples, against what the belief asks for.

    Parameters
    ----------
    given : ndarray of float, shape (N,)
        a_i: what each sample is given.
    extreme : ndarray of bool, shape (N,)
        z_i: whether its label is extreme.
    belief : ndarray of float, shape (N,)
        e_i: the probability that it is.

    Returns
    -------
    Beyond
        ``seen`` Σ a_i z_i / Σ z_i (NaN without an extreme sample), ``asked`` Σ a_i e_i / Σ e_i,
        and ``error``, the standard deviation of ``seen`` if each z_i is 1 with probability e_i:
        sqrt(Σ (a_i − asked)² e_i (1 − e_i)) / Σ e_i, to first order.

    >>> beyond_belief(np.array([1.0, 0.0]), np.array([True, False]), np.array([0.5, 0.5])).excess
    0.5
    """
    given, belief = np.asarray(given, dtype=float), np.asarray(belief, dtype=float)
    total = belief.sum()
    asked = float((given * belief).sum() / total) if total else np.nan
    variance = ((given - asked) ** 2 * belief * (1 - belief)).sum()
    error = float(np.sqrt(max(variance, 0.0)) / total) if total else np.nan
    return Beyond(float(given[extreme].mean()) if extreme.any() else np.nan, asked, error)


def hedging(y_true: np.ndarray, y_pred: np.ndarray, probabilities: np.ndarray) -> Beyond:
    """Rate of center answers to extreme samples, and what the probabilities ask for.

    Parameters
    ----------
    y_true, y_pred : ndarray of int, shape (N,)
    probabilities : ndarray, shape (N, K)
    """
    num_classes = probabilities.shape[1]
    ends = extreme_classes(num_classes)
    belief = probabilities[:, ends].sum(axis=1, dtype=float)
    return beyond_belief(y_pred == (num_classes - 1) // 2, np.isin(y_true, ends), belief)


def center_excess(y_true: np.ndarray, probabilities: np.ndarray) -> Beyond:
    """Mean probability of the center over extreme samples, and what the belief asks for."""
    num_classes = probabilities.shape[1]
    ends = extreme_classes(num_classes)
    belief = probabilities[:, ends].sum(axis=1, dtype=float)
    center = probabilities[:, (num_classes - 1) // 2]
    return beyond_belief(center, np.isin(y_true, ends), belief)


def tail_confidence(y_true: np.ndarray, probabilities: np.ndarray) -> Beyond:
    """Share of hits among the answers at the ends of the scale, and their mean probability.

    Above 0 the excess says that these answers are right more often than the classifier's
    confidence: it is underconfident there. The samples are those *answered* with an extreme class.
    Over those that *are* extreme, the calibrated would not be right as often as they say either.
    """
    answer = probabilities.argmax(axis=1)
    at_end = np.isin(answer, extreme_classes(probabilities.shape[1]))
    if not at_end.any():
        return Beyond(np.nan, np.nan, np.nan)
    sure = probabilities.max(axis=1)[at_end].astype(float)
    error = float(np.sqrt((sure * (1 - sure)).sum()) / at_end.sum())
    return Beyond(float((answer == y_true)[at_end].mean()), float(sure.mean()), error)
