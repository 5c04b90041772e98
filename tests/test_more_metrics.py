"""More metrics against hand-computed values, other libraries and their definition by repetition."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, log_loss

from amol.metrics import METRICS, MORE_METRICS, MORE_PROBABILITY_METRICS, accuracy_within
from amol.metrics.probabilities import calibration_error

TRUE = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 4])
PRED = np.array([0, 0, 0, 1, 1, 3, 2, 0, 2, 3])
# recalls 3/4, 1/2, 2/3 and 0; errors of the classes 1/4, 1, 2/3 and 1
BY_HAND = {
    "accuracy_1off": 0.8,
    "balanced_accuracy": (3 / 4 + 1 / 2 + 2 / 3) / 4,
    "MMAE": 1,
    "MS": 0,
    "GM": 0,
    "MES": 3 / 8,
    "GMES": 0,
}


def cases(num_classes=5, size=60):
    rng = np.random.default_rng(0)
    for _ in range(20):
        y_true, y_pred = rng.integers(0, num_classes, (2, size))
        yield y_true, np.where(rng.random(size) < 0.5, y_true, y_pred), rng.integers(0, 4, size)


@pytest.mark.parametrize("name", BY_HAND)
def test_values_by_hand(name):
    assert MORE_METRICS[name](TRUE, PRED, 5) == pytest.approx(BY_HAND[name], abs=1e-15)


@pytest.mark.parametrize("k", range(5))
def test_accuracy_within_counts_the_samples_so_near(k):
    y, p, _ = next(cases())
    near = [abs(int(a) - int(b)) <= k for a, b in zip(y, p, strict=True)]
    assert accuracy_within(y, p, 5, k) == sum(near) / len(near)
    weights = np.arange(1, len(y) + 1)
    expected = (weights * near).sum() / weights.sum()
    assert accuracy_within(y, p, 5, k=k, sample_weight=weights) == pytest.approx(expected)
    known = {0: "accuracy", 1: "accuracy_1off"}
    if k in known:
        assert accuracy_within(y, p, 5, k) == (METRICS | MORE_METRICS)[known[k]](y, p, 5)


def test_accuracy_within_is_refused_below_0():
    with pytest.raises(ValueError, match="k is -1; allowed: 0 or more"):
        accuracy_within([0, 1], [1, 0], 2, k=-1)


def test_geometric_means_by_hand():
    y_true, y_pred = [0, 1, 1, 2, 2, 2, 2], [0, 1, 0, 2, 1, 1, 1]
    assert MORE_METRICS["GM"](y_true, y_pred, 3) == pytest.approx((1 / 8) ** (1 / 3))
    assert MORE_METRICS["GMES"](y_true, y_pred, 3) == 0.5
    assert MORE_METRICS["MES"](y_true, y_pred, 3) == 0.625


def test_correlations_by_hand():
    # pairs in order (1,2)(1,3)(1,4)(2,4)(3,4); opposite (2,3); no ties: (5 − 1)/6
    assert MORE_METRICS["tau_b"]([0, 1, 2, 3], [0, 2, 1, 3], 4) == pytest.approx(4 / 6)
    assert MORE_METRICS["rho"]([0, 1, 2, 3], [0, 2, 1, 3], 4) == 1 - 6 * 2 / (4 * 15)
    # one pair is tied on each side, (0,1) and (1,2): C = 1 of 3, √(2 · 2) below
    assert MORE_METRICS["tau_b"]([0, 0, 1], [0, 1, 1], 2) == 0.5


@pytest.mark.parametrize("num_classes", [2, 5, 12])
def test_other_libraries_agree(num_classes):
    for y_true, y_pred, weights in cases(num_classes, 40 * num_classes):
        found = {name: f(y_true, y_pred, num_classes) for name, f in MORE_METRICS.items()}
        assert found["tau_b"] == pytest.approx(stats.kendalltau(y_true, y_pred)[0], abs=1e-12)
        assert found["rho"] == pytest.approx(stats.spearmanr(y_true, y_pred)[0], abs=1e-12)
        balanced = balanced_accuracy_score(y_true, y_pred)
        assert found["balanced_accuracy"] == pytest.approx(balanced, abs=1e-12)
        metric = MORE_METRICS["balanced_accuracy"]
        ours = metric(y_true, y_pred, num_classes, sample_weight=weights)
        theirs = balanced_accuracy_score(y_true, y_pred, sample_weight=weights)
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_skordinal_agrees():
    theirs = pytest.importorskip("skordinal.metrics")
    names = {
        "MMAE": "maximum_mean_absolute_error",
        "MS": "minimum_sensitivity",
        "GM": "geometric_mean",
        "MES": "mean_extreme_sensitivity",
        "GMES": "gmsec",
    }
    for y_true, y_pred, weights in cases():
        weights = weights + 0.25
        for name, theirs_is in names.items():
            ours = MORE_METRICS[name](y_true, y_pred, 5, sample_weight=weights)
            other = getattr(theirs, theirs_is)(y_true, y_pred, sample_weight=weights)
            assert ours == pytest.approx(other, abs=1e-12), name
    # theirs are the ends present
    assert theirs.gmsec([1, 2], [1, 2]) == 1 and math.isnan(MORE_METRICS["GMES"]([1, 2], [1, 2], 5))


@pytest.mark.parametrize("name", MORE_METRICS)
def test_perfect_and_constant_predictions(name):
    metric, weights = MORE_METRICS[name], np.random.default_rng(0).random(len(TRUE))
    for sample_weight in (None, weights):
        best = 0 if name == "MMAE" else 1
        assert metric(TRUE, TRUE, 5, sample_weight=sample_weight) == best
        value = metric(TRUE, np.full(len(TRUE), 1), 5, sample_weight=sample_weight)
        expected = {"MMAE": 3, "balanced_accuracy": 0.25}
        if name in ("tau_b", "rho"):
            assert math.isnan(value)
            assert math.isnan(metric(np.full(3, 2), [0, 1, 2], 5))
        elif name != "accuracy_1off":
            assert value == expected.get(name, 0)


def test_absent_classes():
    y_true, y_pred = [1, 1, 3], [1, 0, 3]
    found = {name: metric(y_true, y_pred, 6) for name, metric in MORE_METRICS.items()}
    assert found["balanced_accuracy"] == 0.75 and found["MS"] == found["MMAE"] == 0.5
    assert found["GM"] == pytest.approx(0.5**0.5)
    assert math.isnan(found["MES"]) and math.isnan(found["GMES"])
    # as if it were absent: all of class 0 weighs nothing
    weighted = MORE_METRICS["balanced_accuracy"]([0, *y_true], [5, *y_pred], 6,
                                                 sample_weight=[0, 1, 1, 1])  # fmt: skip
    assert weighted == 0.75


def test_many_samples_do_not_overflow():
    y = np.repeat([0, 1, 2], 1_000_000)
    assert MORE_METRICS["rho"](y, y, 3) == MORE_METRICS["tau_b"](y, y, 3) == 1
    assert MORE_METRICS["rho"](y, 2 - y, 3) == MORE_METRICS["tau_b"](y, 2 - y, 3) == -1


def test_likelihood():
    rng = np.random.default_rng(0)
    p, y, weights = rng.dirichlet(np.ones(4), 50), rng.integers(0, 4, 50), rng.random(50)
    score = MORE_PROBABILITY_METRICS["NLL"]
    for w in (None, weights):
        theirs = log_loss(y, p, labels=range(4), sample_weight=w)
        assert score(y, p, sample_weight=w) == pytest.approx(theirs, abs=1e-12)
    assert score([1], [[1.0, 0.0]]) == pytest.approx(1022 * math.log(2))


def test_calibration_error_by_hand():
    p = np.repeat([0.2, 0.9], 50)
    hit = np.r_[np.tile([True, False, False, False, False], 10), np.ones(50, bool)]
    assert calibration_error(hit, p) == pytest.approx(0.05)
    # a weight of 3 on the upper half makes its share 3/4
    assert calibration_error(hit, p, np.repeat([1, 3], 50)) == pytest.approx(0.075)


def test_calibration_of_the_top_and_of_each_class():
    p = np.tile([0.5, 0.3, 0.2], (20, 1))
    y = np.tile([0, 1], 10)
    assert MORE_PROBABILITY_METRICS["ECE"](y, p) == pytest.approx(0)
    assert MORE_PROBABILITY_METRICS["ECE_class"](y, p) == pytest.approx((0 + 0.2 + 0.2) / 3)
