"""Mean slopes and value of a batch by a compiled loss, and its predictions."""

from collections import namedtuple

import numpy as np

from .arithmetic import TINY, compiled, entry, f4
from .pointers import call_kind, call_meaning

# tables (count, K, ·) float32, padded as logits are; counted and terms (K,) float64: a label's
# weight before its value, and in the mean's denominator; outputs: int
Formula = namedtuple("Formula", "tables counted terms outputs")


@compiled
def mean_slopes(kind, formula, z, y, w, p, log_p, values, slopes):
    """Slopes of the mean loss of a batch with logits z (rows, ·), labels y and weights w (n,).

    ``kind`` is an address (`pointers`). Gives that mean's numerator and denominator.
    """
    call_kind(kind, z, y, formula.tables, formula.outputs, p, log_p, values, slopes)
    value, total = 0.0, 0.0
    for i in range(len(y)):
        value += w[i] * formula.counted[y[i]] * values[i]
        total += w[i] * formula.terms[y[i]]
    for i in range(len(y)):
        share = f4(w[i] * formula.counted[y[i]] / total)
        for k in range(slopes.shape[1]):  # padding too, since vectors are quick
            slope = slopes[i, k] * share
            slopes[i, k] = f4(0) if k >= formula.outputs or abs(slope) < TINY else slope
    return value, total


@entry
def mean_value(kind, formula, z, y, w, p, log_p, values, slopes):
    """Mean loss of samples with logits z (n, ·), labels y and weights w (n,)."""
    call_kind(kind, z, y, formula.tables, formula.outputs, p, log_p, values, slopes)
    value, total = 0.0, 0.0
    for i in range(len(y)):
        for k in range(formula.outputs):
            if not np.isfinite(z[i, k]):
                return np.nan
        value += w[i] * formula.counted[y[i]] * values[i]
        total += w[i] * formula.terms[y[i]]
    return value / total


@entry
def read(meaning, z, without, probabilities, labels):
    """Probabilities (n, K) and labels (n,) from logits z (n, ·); class ``without`` never occurs."""
    call_meaning(meaning, z, without, probabilities, labels)
