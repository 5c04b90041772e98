"""Kinds of arrays that carry more than their numbers: what they say counts, or they are refused.

Kinds 7, 9 and 16 of `tests/README.md`.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import settings as checks
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier

from amol.losses import LOSSES
from amol.metrics import METRICS, MORE_METRICS, PROBABILITY_METRICS, scorers
from amol.metrics.inputs import TOLERANCE

OF_LABELS = METRICS | MORE_METRICS
TRUE, PRED = [0, 0, 1, 4, 3, 2], [0, 1, 1, 1, 3, 4]
SHARES = np.eye(5)[PRED] * 0.6 + 0.08


def masked(values):
    return np.ma.masked_array(values, [1, *[0] * (len(values) - 1)])


MARKED = {
    "masked labels": (lambda: METRICS["QWK"](masked(TRUE), PRED, 5), "y_true has masked entries"),
    "masked answers": (lambda: METRICS["QWK"](TRUE, masked(PRED), 5), "y_pred has masked"),
    "masked weights": (
        lambda: METRICS["QWK"](TRUE, PRED, 5, sample_weight=masked([1.0] * 6)),
        "sample_weight has masked"),
    "masked shares": (
        lambda: PROBABILITY_METRICS["RPS"](
            TRUE, np.ma.masked_array(SHARES, mask=np.eye(6, 5))), "probabilities has masked"),
    "masked class weights": (
        lambda: LOSSES["CE"](5, weight=masked([1.0] * 5)), "weight has masked"),
    "masked class counts": (
        lambda: LOSSES["LogitAdj"](5, class_counts=masked([1.0] * 5)), "class_counts has masked"),
    "masked tensor": (
        lambda: METRICS["QWK"](
            torch.masked.masked_tensor(torch.tensor(TRUE), torch.tensor(TRUE) > 0), PRED, 5),
        "y_true must be an array, not a MaskedTensor"),
    "nested tensor": (
        lambda: METRICS["QWK"](torch.nested.nested_tensor([torch.tensor(TRUE)]), PRED, 5),
        "y_true must be an array"),
    "missing label": (
        lambda: METRICS["QWK"](pd.Series([0, pd.NA, 1, 1, 1, 1], dtype="Int64"), PRED, 5),
        "y_true must hold integer labels"),
    "rows in another order": (
        lambda: METRICS["QWK"](pd.Series(TRUE), pd.Series(PRED, index=range(5, -1, -1)), 5),
        "y_true and y_pred have their index in different orders"),
    "shares in another order": (
        lambda: PROBABILITY_METRICS["RPS"](
            pd.Series(TRUE), pd.DataFrame(SHARES, index=range(5, -1, -1))),
        "y_true and probabilities have their index in different orders"),
    "classes in another order": (
        lambda: PROBABILITY_METRICS["RPS"](TRUE, pd.DataFrame(SHARES)[[4, 0, 1, 2, 3]]),
        r"classes in the order \[4, 0, 1, 2, 3\]"),
    "sparse matrix": (
        lambda: PROBABILITY_METRICS["RPS"](
            TRUE, csr_array(SHARES)), "probabilities must hold numbers, not object"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MARKED)
def test_what_an_array_says_beyond_its_numbers_is_never_dropped(kind):
    call, message = MARKED[kind]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


SAME = {
    "nothing masked": lambda values: np.ma.masked_array(values, [0] * len(values)),
    "pandas": pd.Series,
    "pandas, with room for missing values": lambda values: pd.Series(values, dtype="Int64"),
    "another index": lambda values: pd.Series(values, index=list("uvwxyz")),
    "category": lambda values: pd.Categorical(values),
    "sparse tensor": lambda values: torch.tensor(values).to_sparse(),
    "tuple": tuple,
    "read backwards": lambda values: np.array(values[::-1])[::-1],
}


@pytest.mark.parametrize("kind", SAME)
def test_kinds_of_the_same_labels(kind):
    for name, metric in OF_LABELS.items():
        assert metric(SAME[kind](TRUE), PRED, 5) == pytest.approx(metric(TRUE, PRED, 5)), name


@pytest.mark.parametrize("kind", ["float16", "float8_e4m3fn", "bfloat16", "float32", "float64"])
def test_weights_and_shares_of_any_precision(kind):
    weights = torch.tensor([1.0, 2.0, 0.5, 1.0, 0.25, 4.0])
    given_ = METRICS["QWK"](TRUE, PRED, 5, sample_weight=weights.to(getattr(torch, kind)))
    assert given_ == METRICS["QWK"](TRUE, PRED, 5, sample_weight=weights)
    assert PROBABILITY_METRICS["RPS"](PRED, torch.eye(5)[PRED].to(getattr(torch, kind))) == 0


# 16² > 255, 12² > 127, 2 · 64 > 127
@pytest.mark.parametrize("number", [np.uint8(16), np.int8(12), np.int8(64)])
def test_a_number_of_classes_of_any_integer_type(number):
    draw, k = np.random.default_rng(0), int(number)
    y_true, y_pred = draw.integers(0, k, (2, 300))
    for name, metric in OF_LABELS.items():
        found = metric(y_true, y_pred, number)  # first, since Python takes it for equal to `k`
        assert found == pytest.approx(metric(y_true, y_pred, k), nan_ok=True), name
        assert type(found) is float
    ends = METRICS["CHR"](y_true, y_pred, number, extremes=np.uint8(2))
    assert ends == METRICS["CHR_ext"](y_true, y_pred, k)
    assert scorers(number).keys() == scorers(k).keys()
    for name, made in LOSSES.items():
        loss, same = made(num_classes=number), made(num_classes=k)
        logits = torch.linspace(-2, 2, 40 * loss.num_logits).view(40, -1)
        target = torch.arange(40) % k
        torch.testing.assert_close(loss(logits, target), same(logits, target), msg=name)


def test_a_number_of_classes_that_is_none():
    for number in (2.0, "5", None):
        with pytest.raises(ValueError, match=r"num_classes is .*allowed: a whole number"):
            METRICS["QWK"](TRUE, PRED, number)


# Weights over many orders of size, against the definitions in exact fractions.


def pairs(y_true, y_pred, weights):
    for i, (a, b, w) in enumerate(zip(y_true, y_pred, weights, strict=True)):
        for j, (c, d, v) in enumerate(zip(y_true, y_pred, weights, strict=True)):
            if i != j:
                yield Fraction(w) * Fraction(v), int(np.sign(a - c)), int(np.sign(b - d))


def tau(y_true, y_pred, weights) -> float:
    """Kendall's τ_b by its definition over pairs of samples."""
    listed = [*pairs(y_true, y_pred, weights)]
    together = sum(w * s * t for w, s, t in listed)
    true, pred = (sum(w for w, *signs in listed if signs[k]) for k in (0, 1))
    if not (true and pred):
        return math.nan
    squared = together**2 / (true * pred)
    root = mpmath.sqrt(mpmath.mpf(squared.numerator) / squared.denominator)
    return math.copysign(float(root), together)


def kappa(y_true, y_pred, weights) -> float:
    weights = [*map(Fraction, weights)]
    rows = [*zip(y_true, y_pred, weights, strict=True)]
    apart = sum(w * (a - b) ** 2 for a, b, w in rows)
    chance = sum(w * v * (a - d) ** 2 for a, _, w in rows for _, d, v in rows)
    return float(1 - sum(weights) * apart / chance) if chance else 0.0


def test_tau_of_a_sample_that_outweighs_the_others():
    case = [0, 1, 2, 1], [0, 1, 2, 0], [1e17, 3, 2, 1]
    assert tau(*case) == pytest.approx((5 / 6) ** 0.5, rel=1e-15)  # pairs with the heavy one alone
    found = MORE_METRICS["tau_b"](case[0], case[1], 3, sample_weight=case[2])
    assert found == pytest.approx(tau(*case), rel=1e-15)


ROWS = st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(1e-150, 1e150))


@checks(deadline=None, max_examples=200)
@given(st.lists(ROWS, min_size=2, max_size=7, unique_by=lambda row: row[:2]))
def test_weights_over_many_orders_of_size(rows):
    y_true, y_pred, weights = zip(*rows, strict=True)
    for name, exact in (("tau_b", tau), ("QWK", kappa)):
        found = OF_LABELS[name](y_true, y_pred, 5, sample_weight=weights)
        assert found == pytest.approx(exact(*zip(*rows, strict=True)), rel=1e-14, abs=1e-300,
                                      nan_ok=True), name  # fmt: skip
    for metric in OF_LABELS.values():
        value = metric(y_true, y_pred, 5, sample_weight=weights)
        assert math.isnan(value) or -1 <= value <= 4


def test_weights_too_far_apart_for_one_unit_are_refused():
    with pytest.raises(ValueError, match=r"reaches from 1e-300 to 1e\+300"):
        METRICS["QWK"]([0, 1], [0, 1], 2, sample_weight=[1e300, 1e-300])


# One tolerance for the sum of probabilities.


class Rounded(DummyClassifier):
    """A classifier whose probabilities were computed in another precision than they come in."""

    through, to = np.float16, np.float64

    def predict_proba(self, X):
        return super().predict_proba(X).astype(self.through).astype(self.to)


@pytest.mark.parametrize("through", ["float16", "float32", "two digits", "bfloat16"])
@pytest.mark.parametrize("to", [np.float16, np.float32, np.float64])
def test_probabilities_count_whatever_they_were_cast_through(through, to):
    p = np.random.default_rng(0).dirichlet(np.ones(7), 400)
    y = np.arange(400) % 7
    if through == "two digits":
        coarse = (p * 50).round() / 100
        coarse[:, 0] += 1 - coarse.sum(axis=1)
        p = coarse.clip(0) / coarse.clip(0).sum(axis=1, keepdims=True)
    else:
        p = torch.tensor(p).to(getattr(torch, through)).double().numpy()
    for metric in PROBABILITY_METRICS.values():
        exact = metric(y, p)
        assert metric(y, p.astype(to)) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("to", [np.float16, np.float32, np.float64])
def test_scorers_of_a_classifier_in_half_precision(to):
    X, y = np.zeros((21, 1)), np.arange(21) % 7
    model = Rounded(strategy="prior").fit(X, y)
    model.to = to
    for name, scorer in scorers(7).items():
        constant = name in ("tau_b", "rho")  # of an answer that is always the same
        assert math.isnan(scorer(model, X, y)) == constant, name


@pytest.mark.parametrize("to", [np.float16, np.float32, np.float64, torch.bfloat16])
def test_more_than_rounding_is_refused_in_every_type(to):
    p = np.full((4, 4), 0.25) * (1 + 2 * TOLERANCE)
    p = torch.tensor(p).to(to) if isinstance(to, torch.dtype) else p.astype(to)
    with pytest.raises(ValueError, match="sum to 1"):
        PROBABILITY_METRICS["RPS"]([0, 1, 2, 3], p)
