"""Metrics against hand-computed values, a slow oracle and the properties that define them."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import KFold, cross_validate

from amol import metrics
from amol.metrics import (
    HIGHER_IS_BETTER,
    METRICS,
    MORE_METRICS,
    MORE_PROBABILITY_METRICS,
    PROBABILITY_METRICS,
    center_hedging_rate,
    scorers,
)

TABLES = METRICS, PROBABILITY_METRICS, MORE_METRICS, MORE_PROBABILITY_METRICS


@st.composite
def label_pairs(draw, *choices):
    num_classes = draw(st.sampled_from(choices))
    size = draw(st.integers(1, 30))
    labels = st.lists(st.integers(0, num_classes - 1), min_size=size, max_size=size)
    return np.array(draw(labels)), np.array(draw(labels)), num_classes


def slow_kappa(y_true, y_pred, num_classes):
    size = len(y_true)
    observed = sum((a - b) ** 2 for a, b in zip(y_true, y_pred, strict=True)) / size
    expected = sum((a - b) ** 2 for a in y_true for b in y_pred) / size**2
    return 1 - observed / expected if expected else 0.0


@settings(max_examples=50, deadline=None)
@given(label_pairs(2, 3, 4, 7, 8))
def test_kappa_is_its_definition(case):
    assert METRICS["QWK"](*case) == pytest.approx(slow_kappa(*case), abs=1e-12)


def test_kappa_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 7, (2, 5000))
    theirs = cohen_kappa_score(y_true, y_pred, labels=range(7), weights="quadratic")
    assert METRICS["QWK"](y_true, y_pred, 7) == pytest.approx(theirs, abs=1e-13)


def test_kappa_counts_absent_classes():
    # observed (0 + 1 + 0 + 9)/4 = 2.5, over all pairs 50/16 = 3.125; were the classes 0, 1, 4
    # ranked 0, 1, 2, it would be 1 − .5/.875 = .43
    assert METRICS["QWK"]([0, 0, 1, 4], [0, 1, 1, 1], 5) == pytest.approx(0.2)


def test_kappa_of_constants():
    assert METRICS["QWK"]([2, 2, 2], [2, 2, 2], 5) == 0
    assert METRICS["QWK"]([2, 2, 2], [3, 3, 3], 5) == 0
    assert METRICS["QWK"]([0, 1, 4], [3, 3, 3], 5) == 0


def test_hedging_rates_by_hand():
    y_true = [0, 0, 6, 6, 1, 5, 3, 2]
    y_pred = [3, 0, 3, 5, 3, 5, 3, 3]
    assert METRICS["CHR"](y_true, y_pred, 7) == 2 / 4
    assert METRICS["CHR_ext"](y_true, y_pred, 7) == 3 / 6
    assert METRICS["center_rate"](y_true, y_pred, 7) == 5 / 8
    assert METRICS["center_recall"](y_true, y_pred, 7) == 1
    assert METRICS["extreme_recall"](y_true, y_pred, 7) == 1 / 4
    assert METRICS["J_c"](y_true, y_pred, 7) == 1 / 2


def test_center_at_even_number_of_classes_is_the_lower_middle():
    assert center_hedging_rate([0, 5], [2, 3], 6) == 0.5
    assert METRICS["center_rate"]([0, 5], [3, 3], 6) == 0


def test_undefined_is_nan():
    assert math.isnan(METRICS["CHR"]([2, 3], [3, 3], 7))
    assert math.isnan(METRICS["center_recall"]([0, 6], [3, 3], 7))
    assert math.isnan(METRICS["extreme_recall"]([3], [3], 7))
    assert math.isnan(METRICS["CHR_ext"]([0, 1, 2, 3], [1, 1, 1, 1], 4))  # center is class 1
    assert METRICS["CHR_ext"]([0, 1, 3, 4], [2, 2, 3, 4], 5) == 0.5


def test_errors_in_classes():
    assert METRICS["accuracy"]([0, 1, 2, 2], [0, 1, 1, 0], 3) == 0.5
    assert METRICS["MAE"]([0, 1, 2, 2], [0, 1, 1, 0], 3) == 0.75
    # class 0: (0 + 4)/2, class 4: 0; the three absent classes don't count
    assert METRICS["AMAE"]([0, 0, 4, 4], [0, 4, 4, 4], 5) == 1


@settings(max_examples=30, deadline=None)
@given(label_pairs(5, 7, 9))
def test_reversing_the_scale_changes_nothing(case):
    y_true, y_pred, num_classes = case
    for name, metric in METRICS.items():
        turned = metric(num_classes - 1 - y_true, num_classes - 1 - y_pred, num_classes)
        assert turned == pytest.approx(metric(*case), abs=1e-12, nan_ok=True), name


@settings(max_examples=50, deadline=None)
@given(label_pairs(5, 6, 7, 8, 9), st.integers(0, 8))
def test_constant_predictor_wins_no_discrimination(case, answer):
    y_true, _, num_classes = case
    constant = np.full(len(y_true), answer % num_classes)
    value = METRICS["J_c"](y_true, constant, num_classes)
    assert math.isnan(value) or value == 0


def test_ranked_probability_score_by_hand():
    score = PROBABILITY_METRICS["RPS"]
    assert score([0], [[1, 0, 0]]) == 0
    assert score([0], [[0, 0, 1]]) == 1
    # cumulative (.5, .8, 1) against (0, 1, 1): (.25 + .04)/2
    assert score([1], [[0.5, 0.3, 0.2]]) == pytest.approx(0.145)
    assert score([0, 1], [[1, 0, 0], [0.5, 0.3, 0.2]]) == pytest.approx(0.0725)


def test_center_mass_by_hand():
    mass = PROBABILITY_METRICS["center_mass"]
    probabilities = [[0.5, 0, 0.5, 0, 0], [0, 0, 0.1, 0, 0.9], [0, 0, 1, 0, 0]]
    assert mass([0, 3, 2], probabilities) == pytest.approx(0.3)
    assert math.isnan(mass([2], [[0, 0, 1, 0, 0]]))
    assert math.isnan(mass([0], [[1, 0, 0, 0]]))


def test_torch_and_numpy_agree():
    y_true, y_pred = np.array([0, 3, 6, 2]), np.array([3, 3, 5, 2])
    for name, metric in METRICS.items():
        same = metric(torch.tensor(y_true), torch.tensor(y_pred), 7)
        assert same == metric(y_true, y_pred, 7), name
        assert type(same) is float
    probabilities = torch.full((4, 7), 1 / 7, requires_grad=True)
    for metric in PROBABILITY_METRICS.values():
        value = metric(torch.tensor(y_true), probabilities)
        assert value == metric(y_true, probabilities.detach().numpy())


def test_source_leaves_torch_alone():
    for file in Path(metrics.__file__).parent.glob("*.py"):
        assert not re.search(r"^\s*(import|from) torch", file.read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "num_classes", "message"),
    [
        ([0, 7], [0, 1], 7, r"y_true holds label 7; allowed: 0 to 6"),
        ([0, 1], [0, -1], 7, r"y_pred holds label -1; allowed: 0 to 6"),
        ([0.0, 1.0], [0, 1], 7, r"y_true must hold integer labels, not float64"),
        ([True, False], [0, 1], 7, r"integer labels, not bool"),
        ([[0], [1]], [0, 1], 7, r"shape \(N,\) with N > 0, not \(2, 1\)"),
        (np.zeros(0, int), np.zeros(0, int), 7, r"N > 0, not \(0,\)"),
        ([0, 1, 2], [0, 1], 7, r"y_true has 3 labels, y_pred 2"),
        ([0], [0], 1, r"num_classes is 1"),
    ],
)
def test_bad_labels(name, y_true, y_pred, num_classes, message):
    with pytest.raises(ValueError, match=message):
        METRICS[name](y_true, y_pred, num_classes)


@pytest.mark.parametrize("name", PROBABILITY_METRICS)
@pytest.mark.parametrize(
    ("y_true", "probabilities", "message"),
    [
        ([0], [[2.0, -1.0]], "not logits"),
        ([0], [[0.2, 0.2]], "sum to 1"),
        ([0], [[np.nan, 1.0]], "non-negative"),
        ([0, 1], [[0.5, 0.5]], "y_true has 2 labels, probabilities 1"),
        ([2], [[0.5, 0.5]], "label 2; allowed: 0 to 1"),
        ([0], [0.5, 0.5], "shape"),
    ],
)
def test_bad_probabilities(name, y_true, probabilities, message):
    with pytest.raises(ValueError, match=message):
        PROBABILITY_METRICS[name](y_true, probabilities)


def test_extremes_must_be_positive():
    with pytest.raises(ValueError, match="extremes is 0"):
        center_hedging_rate([0], [0], 7, extremes=0)


def test_which_way_is_better_is_known_of_every_metric():
    known = [name for table in TABLES for name in table]
    assert len(set(known)) == len(known) >= 24
    assert {*known} - {"center_rate"} == HIGHER_IS_BETTER.keys()
    y = np.array([0, 0, 1, 2, 3, 3, 4, 4, 4, 4])
    sure, off = (0.01 + 0.95 * np.eye(5)[labels] for labels in (y, (y + 2) % 5))
    for name, higher in HIGHER_IS_BETTER.items():
        metric = next(table[name] for table in TABLES if name in table)
        of_labels = name in METRICS | MORE_METRICS
        right, wrong = (
            metric(y, p.argmax(axis=1), 5) if of_labels else metric(y, p) for p in (sure, off)
        )
        assert right > wrong if higher else right < wrong, name


def test_scorers_have_the_right_sign():
    X, y = np.zeros((8, 1)), np.array([0, 1, 2, 2, 2, 2, 3, 4])
    model = DummyClassifier(strategy="most_frequent").fit(X, y)  # answers 2, the center
    found = {name: scorer(model, X, y) for name, scorer in scorers(5).items()}
    assert found.keys() == HIGHER_IS_BETTER.keys()
    assert found["accuracy"] == 0.5
    assert found["MAE"] == -6 / 8
    assert found["AMAE"] == -6 / 5
    assert found["CHR"] == found["CHR_ext"] == found["center_mass"] == -1
    assert found["center_recall"] == 1
    # cumulative (0, 0, 1, 1) against the label's: off by |y − 2| places of 4
    assert found["RPS"] == pytest.approx(-6 / 8 / 4)


@pytest.mark.parametrize("seen", [[0, 1, 2, 4], [1, 2, 3], [2, 4]])
def test_scorers_know_which_classes_a_model_has_seen(seen):
    X, y = np.zeros((10, 1)), np.array([0, 1, 2, 3, 4] * 2)
    rows = np.isin(y, seen)
    model = DummyClassifier(strategy="prior").fit(X[rows], y[rows])
    probabilities = np.zeros((10, 5))
    probabilities[:, seen] = 1 / len(seen)
    found = {name: scorer(model, X, y) for name, scorer in scorers(5).items()}
    assert found["RPS"] == -PROBABILITY_METRICS["RPS"](y, probabilities)
    assert found["center_mass"] == -PROBABILITY_METRICS["center_mass"](y, probabilities)
    undefined = {name for name, value in found.items() if math.isnan(value)}
    assert undefined == {"tau_b", "rho"}  # of a constant answer
    # nor is a class missed that the part to be scored lacks
    part = y != 3
    scored = scorers(5)["RPS"](model, X[part], y[part])
    assert scored == -PROBABILITY_METRICS["RPS"](y[part], probabilities[part])


def test_scorers_work_in_cross_validation():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1, 2, 3, 4], 8)  # each fold lacks a class
    result = cross_validate(DummyClassifier(), X, y, cv=KFold(5), scoring=scorers(5), n_jobs=2)
    assert all(np.isfinite(result[f"test_{name}"]).all() for name in ("RPS", "QWK", "MAE"))


def test_scorers_refuse_classes_that_are_no_labels():
    model = DummyClassifier(strategy="prior").fit(np.zeros((2, 1)), [0, 7])
    with pytest.raises(ValueError, match="classes_ holds label 7; allowed: 0 to 4"):
        scorers(5)["RPS"](model, np.zeros((2, 1)), [0, 1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("num_classes", [7, 300])
def test_probabilities_of_any_precision(dtype, num_classes):
    generator = torch.Generator().manual_seed(0)
    p = torch.randn(200, num_classes, generator=generator, dtype=torch.float64).softmax(-1)
    y = np.arange(200) % num_classes
    for metric in PROBABILITY_METRICS.values():
        exact = metric(y, p)
        assert metric(y, p.to(dtype)) == pytest.approx(exact, rel=4 * torch.finfo(dtype).eps)
        if dtype != torch.bfloat16:
            assert metric(y, p.to(dtype).numpy()) == metric(y, p.to(dtype))
        with pytest.raises(ValueError, match="sum to 1"):
            metric(y, 1.02 * p.to(dtype))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64])
def test_labels_of_any_integer_type(dtype):
    y_true, y_pred = np.array([0, 6, 3, 1]), np.array([6, 0, 3, 3])
    for name, metric in METRICS.items():
        assert metric(y_true.astype(dtype), y_pred.astype(dtype), 7) == metric(y_true, y_pred, 7), (
            name
        )


@pytest.mark.parametrize(("y_true", "y_pred"), [([2, 3], [0, 6]), ([0, 6], [2, 3]), ([1], [1])])
def test_absent_classes_are_no_error(y_true, y_pred):
    for metric in METRICS.values():
        value = metric(y_true, y_pred, 7)
        assert type(value) is float and (math.isnan(value) or abs(value) <= 6)


def test_skordinal_agrees_where_it_answers():
    theirs = pytest.importorskip("skordinal.metrics")
    generator = np.random.default_rng(0)
    y_true, y_pred = generator.integers(1, 5, (2, 60))  # of six classes the outer two are absent
    probabilities = generator.dirichlet(np.ones(6), 60)
    classes = np.arange(6)
    amae = theirs.average_mean_absolute_error(y_true, y_pred, labels=classes)
    assert METRICS["AMAE"](y_true, y_pred, 6) == pytest.approx(amae, abs=1e-12)
    assert METRICS["MAE"](y_true, y_pred, 6) == theirs.mean_absolute_error(y_true, y_pred)
    assert METRICS["accuracy"](y_true, y_pred, 6) == theirs.accuracy_score(y_true, y_pred)
    # theirs is not divided by K − 1
    rps = theirs.ranked_probability_score(y_true, probabilities) / 5
    assert PROBABILITY_METRICS["RPS"](y_true, probabilities) == pytest.approx(rps, abs=1e-12)
    # their kappa weighs |i − j|, and is nan where ours is 0
    with np.errstate(invalid="ignore"):
        assert math.isnan(theirs.weighted_kappa([2, 2], [2, 2], labels=classes))
    # unless it is told the classes, theirs closes the gap that an absent one leaves
    assert theirs.average_mean_absolute_error([0, 0, 4], [0, 4, 4]) == 0.25
    assert METRICS["AMAE"]([0, 0, 4], [0, 4, 4], 5) == 1
