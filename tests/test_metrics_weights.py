"""Sample weights in every metric: repetitions, hand-computed values, scikit-learn, errors."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs
from sklearn.dummy import DummyClassifier

from amol.metrics import (
    METRICS,
    MORE_METRICS,
    MORE_PROBABILITY_METRICS,
    PROBABILITY_METRICS,
    center_hedging_rate,
    scorers,
)

OF_LABELS = METRICS | MORE_METRICS
OF_PROBABILITIES = PROBABILITY_METRICS | MORE_PROBABILITY_METRICS
CALIBRATION = ("ECE", "ECE_class")  # bins: equal to a repetition where they divide the samples


@st.composite
def weighted_labels(draw, weight):
    num_classes = draw(st.integers(2, 8))
    label = st.integers(0, num_classes - 1)
    rows = draw(st.lists(st.tuples(label, label, weight), min_size=1, max_size=30))
    y_true, y_pred, weights = map(np.array, zip(*rows, strict=True))
    return y_true, y_pred, num_classes, np.append(weights[:-1], weights[-1] or 1)


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def distributions(size, num_classes=5):
    rng = np.random.default_rng(size)
    y = rng.integers(0, num_classes, size)
    return y, rng.dirichlet(np.ones(num_classes), size), rng.integers(0, 4, size)


@settings(max_examples=100, deadline=None)
@given(weighted_labels(st.integers(0, 5)))
def test_an_integer_weight_is_a_repetition(case):
    y_true, y_pred, num_classes, weights = case
    for name, metric in OF_LABELS.items():
        repeated = metric(y_true.repeat(weights), y_pred.repeat(weights), num_classes)
        weighted = metric(y_true, y_pred, num_classes, sample_weight=weights)
        assert same(weighted, repeated), name  # whole numbers below 2^53 are exact as floats
        assert type(weighted) is float


@settings(max_examples=100, deadline=None)
@given(weighted_labels(st.integers(0, 5)), st.sampled_from([1.0, 0.3, 1e-300, 1e300]))
def test_only_ratios_of_weights_count(case, unit):
    y_true, y_pred, num_classes, weights = case
    for name, metric in OF_LABELS.items():
        found, scaled = (
            metric(y_true, y_pred, num_classes, sample_weight=w) for w in (weights, unit * weights)
        )
        assert scaled == pytest.approx(found, abs=1e-12, nan_ok=True), name


@settings(max_examples=100, deadline=None)
@given(weighted_labels(st.just(1)))
def test_equal_weights_are_none(case):
    y_true, y_pred, num_classes, weights = case
    for name, metric in OF_LABELS.items():
        plain = metric(y_true, y_pred, num_classes)
        assert same(metric(y_true, y_pred, num_classes, sample_weight=weights), plain), name


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_weights_of_probabilities(name):
    metric = OF_PROBABILITIES[name]
    for size in (10, 40, 70) if name in CALIBRATION else (1, 7, 40, 133):
        y, p, weights = distributions(size)
        weights[0] += 1 + -(weights.sum() + 1) % 10  # a multiple of ten in all
        repeated = metric(y.repeat(weights), p.repeat(weights, axis=0))
        weighted = metric(y, p, sample_weight=weights)
        assert weighted == pytest.approx(repeated, abs=1e-12, nan_ok=True)
        scaled = metric(y, p, sample_weight=1e300 * weights)
        assert scaled == pytest.approx(weighted, abs=1e-12, nan_ok=True)
        alike = metric(torch.tensor(y), torch.tensor(p), sample_weight=torch.full((size,), 0.7))
        assert alike == pytest.approx(metric(y, p), abs=1e-12, nan_ok=True)


def test_hedging_by_hand():
    y_true, y_pred = [0, 0, 6, 6, 1, 5, 3, 2], [3, 0, 3, 5, 3, 5, 3, 3]
    weights = [3, 1, 0.5, 1.5, 2, 2, 1, 9]
    found = {name: f(y_true, y_pred, 7, sample_weight=weights) for name, f in METRICS.items()}
    assert found["CHR"] == 3.5 / 6
    assert found["CHR_ext"] == 5.5 / 10
    assert found["center_rate"] == 15.5 / 20
    assert found["center_recall"] == 1
    assert found["extreme_recall"] == 1 / 6
    assert found["J_c"] == 1 - 5.5 / 10
    assert found["accuracy"] == 4 / 20
    # |ŷ − y| is 3, 0, 3, 1, 2, 0, 0, 1
    assert found["MAE"] == (9 + 1.5 + 1.5 + 4 + 9) / 20
    # classes 0, 1, 2, 3, 5, 6: 9/4, 2, 1, 0, 0, 3/2
    assert found["AMAE"] == 6.75 / 6
    # squares 27 + 4.5 + 1.5 + 8 + 9 = 50, times the total 20
    answers = {0: 1, 3: 3 + 0.5 + 2 + 1 + 9, 5: 1.5 + 2}
    truths = {0: 4, 1: 2, 2: 9, 3: 1, 5: 2, 6: 2}
    chance = sum(v * w * (i - j) ** 2 for i, v in truths.items() for j, w in answers.items())
    assert found["QWK"] == pytest.approx(1 - 50 * 20 / chance, abs=1e-15)


def test_probabilities_by_hand():
    y, p = [0, 3, 2], [[0.5, 0, 0.5, 0, 0], [0, 0, 0.1, 0, 0.9], [0, 0, 1, 0, 0]]
    assert OF_PROBABILITIES["center_mass"](y, p, sample_weight=[3, 1, 5]) == pytest.approx(0.4)
    # (.25 + .25)/4, (.1² + .9²)/4 and 0, weighted 3, 1 and 4
    found = OF_PROBABILITIES["RPS"](y, p, sample_weight=[3, 1, 4])
    assert found == pytest.approx((3 * 0.5 + 0.82) / 4 / 8)
    found = OF_PROBABILITIES["NLL"](y[:1], p[:1], sample_weight=[0.1])
    assert found == pytest.approx(math.log(2))


def test_a_rate_whose_samples_weigh_nothing_is_nan():
    y_true, y_pred = [0, 6, 3, 2], [3, 6, 3, 1]
    without_ends = {n: f(y_true, y_pred, 7, sample_weight=[0, 0, 1, 1]) for n, f in METRICS.items()}
    assert {n for n, value in without_ends.items() if math.isnan(value)} == {
        "CHR", "CHR_ext", "extreme_recall", "J_c"
    }  # fmt: skip
    assert math.isnan(METRICS["center_recall"](y_true, y_pred, 7, sample_weight=[1, 1, 0, 1]))
    assert METRICS["AMAE"](y_true, y_pred, 7, sample_weight=[1, 0, 1, 0]) == 3 / 2
    p = np.full((4, 7), 1 / 7)
    assert math.isnan(PROBABILITY_METRICS["center_mass"](y_true, p, sample_weight=[0, 0, 1, 1]))


@pytest.mark.parametrize("num_classes", [2, 5, 12])
def test_scikit_learn_agrees(num_classes):
    rng = np.random.default_rng(num_classes)
    y_true, y_pred = rng.integers(0, num_classes, (2, 200))
    for weights in (None, rng.random(200), rng.integers(0, 3, 200)):
        case = {"y_true": y_true, "y_pred": y_pred, "sample_weight": weights}
        kappa = theirs.cohen_kappa_score(
            y_true, y_pred, labels=range(num_classes), weights="quadratic", sample_weight=weights
        )
        expected = {
            "QWK": kappa,
            "MAE": theirs.mean_absolute_error(**case),
            "accuracy": theirs.accuracy_score(**case),
            "balanced_accuracy": theirs.balanced_accuracy_score(**case),
            "center_recall": theirs.recall_score(
                **case, labels=[(num_classes - 1) // 2], average="macro"
            ),
        }
        for name, value in expected.items():
            found = OF_LABELS[name](num_classes=num_classes, **case)
            assert found == pytest.approx(value, abs=1e-12), name


def test_scorers_take_weights():
    X, y = np.zeros((8, 1)), np.array([0, 1, 2, 2, 2, 2, 3, 4])
    model = DummyClassifier(strategy="prior").fit(X, y)  # answers 2, the center
    weights = np.arange(1, 9)
    found = {n: f(model, X, y, sample_weight=weights) for n, f in scorers(5).items()}
    assert found["accuracy"] == 18 / 36 and found["MAE"] == -(2 + 2 + 7 + 16) / 36
    p = model.predict_proba(X)
    for name in OF_PROBABILITIES:
        assert found[name] == -OF_PROBABILITIES[name](y, p, sample_weight=weights)


@pytest.mark.parametrize("name", [*OF_LABELS, *OF_PROBABILITIES])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"sample_weight must have shape \(2,\), not \(1,\)"),
        ([[1], [1]], r"shape \(2,\), not \(2, 1\)"),
        ([1, -0.5], "sample_weight holds -0.5; allowed: 0 and above, finite"),
        ([1, np.nan], "holds nan"),
        ([np.inf, 1], "holds inf"),
        ([0, 0], "sample_weight holds 0 alone; its sum must be above 0"),
        (["1", "2"], "must hold numbers, not <U1"),
    ],
)
def test_bad_weights(name, weights, message):
    with pytest.raises(ValueError, match=message):
        if name in OF_LABELS:
            OF_LABELS[name]([0, 1], [0, 1], 2, sample_weight=weights)
        else:
            OF_PROBABILITIES[name]([0, 1], [[1, 0], [0, 1]], sample_weight=weights)


def test_weights_of_any_type():
    y_true, y_pred = [0, 6, 3], [3, 6, 3]
    for weights in ([True, False, True], np.float32([1, 0, 1]), torch.tensor([2, 0, 2])):
        assert center_hedging_rate(y_true, y_pred, 7, sample_weight=weights) == 1
