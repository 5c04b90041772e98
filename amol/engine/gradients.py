"""Mean slopes and value of a batch by a compiled loss, and its predictions."""

from collections import namedtuple

import numpy as np

from .arithmetic import TINY, entry, f4
from .kinds import apply_kind
from .meanings import apply_meaning

# kind: its place in `kinds.KINDS`; tables (count, K, ·) float32, padded as logits are; counted and
# terms (K,) float64: a label's weight before its value, and in the mean's denominator; outputs: int
Formula = namedtuple("Formula", "kind tables counted terms outputs")


@entry
def mean_slopes(formula, z, y, p, log_p, values, slopes):
    """Slopes of the mean loss of a batch with logits z (rows, ·) and labels y (n,), n ≤ rows."""
    apply_kind(formula, z, y, p, log_p, values, slopes)
    total = 0.0
    for i in range(len(y)):
        total += formula.terms[y[i]]
    for i in range(len(y)):
        share = f4(formula.counted[y[i]] / total)
        for k in range(slopes.shape[1]):  # padding too, since vectors are quick
            slope = slopes[i, k] * share
            slopes[i, k] = f4(0) if k >= formula.outputs or abs(slope) < TINY else slope


@entry
def mean_value(formula, z, y, p, log_p, values, slopes):
    """Mean loss of samples with logits z (n, ·) and labels y (n,); the rest is memory."""
    apply_kind(formula, z, y, p, log_p, values, slopes)
    value, total = 0.0, 0.0
    for i in range(len(y)):
        for k in range(formula.outputs):
            if not np.isfinite(z[i, k]):
                return np.nan
        value += formula.counted[y[i]] * values[i]
        total += formula.terms[y[i]]
    return value / total


@entry
def read(meaning, z, without, probabilities, labels):
    """Probabilities (n, K) and labels (n,) from logits z (n, ·); class ``without`` never occurs."""
    apply_meaning(meaning, z, without, probabilities, labels)
