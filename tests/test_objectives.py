"""Losses for boosted trees: derivatives against autograd and hand, and real trees."""

import pickle
import re

import jupytext
import numpy as np
import pytest
import torch

from amol import objective
from amol.losses import LOSSES, BatchLoss, CrossEntropyLoss
from amol.metrics import METRICS
from companion.paths import ROOT

BY_SAMPLE = [name for name, loss in LOSSES.items() if not issubclass(loss, BatchLoss)]


def drawn(loss, n=30, scale=2.0):
    rng = np.random.default_rng(3)
    return scale * rng.normal(size=(n, loss.num_logits)), rng.integers(0, loss.num_classes, n)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")  # PyTorch's
@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("name", BY_SAMPLE)
def test_gradient_is_autograd_s_and_the_bound_is_above_the_hessian(name, K):
    loss = LOSSES[name](num_classes=K, weight=torch.linspace(0.5, 2, K, dtype=torch.float64))
    z, y = drawn(loss)
    gradient, bound = objective(loss, K)(y, z)  # (n, outputs)

    def value(row, label):
        return loss.terms(row[None], label[None])[0].sum()

    slopes, hessians = (
        torch.func.vmap(of(value))(torch.tensor(z), torch.tensor(y)).numpy()
        for of in (torch.func.grad, torch.func.hessian)
    )
    np.testing.assert_allclose(gradient, slopes, atol=1e-12)
    assert (bound > 0).all()
    room = bound[:, None] * np.eye(loss.num_logits) - hessians  # (n, outputs, outputs)
    assert np.linalg.eigvalsh(room).min() > -1e-10
    np.testing.assert_allclose(bound, np.abs(hessians).sum(axis=1).clip(1e-6), rtol=1e-9)


def test_cross_entropy_by_hand():
    z, y = np.log([[1.0, 2, 1], [3, 1, 4]]), np.array([1, 2])
    p = np.array([[0.25, 0.5, 0.25], [0.375, 0.125, 0.5]])
    gradient, bound = objective("CE", 3)(y, z, np.array([1.0, 2.0]))
    w = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(gradient, w * (p - np.eye(3)[y]))
    np.testing.assert_allclose(bound, w * 2 * p * (1 - p))


def test_two_classes_may_have_one_score():
    f, y = np.array([-1.0, 0.5, 2.0]), np.array([0, 1, 0])
    p = 1 / (1 + np.exp(-f))
    for name, factor in (("CE", 2), ("CORAL", 1), ("CLM", 1)):
        of = objective(name, 2)
        gradient, bound = of(y, f)
        np.testing.assert_allclose(gradient, p - y)
        np.testing.assert_allclose(bound, factor * p * (1 - p))
        np.testing.assert_allclose(of.probabilities(f)[:, 1], p)
        assert of.predict(f).tolist() == [0, 1, 1]


def test_a_large_set_comes_in_parts(monkeypatch):
    z, y = drawn(LOSSES["AMOL"](5), n=101)
    whole = objective("AMOL", 5)(y, z)
    monkeypatch.setattr("amol.objectives.NUMBERS", 25 * 7)
    np.testing.assert_allclose(objective("AMOL", 5)(y, z), whole, rtol=1e-12)


class Data:
    """As LightGBM's Dataset and XGBoost's DMatrix."""

    def __init__(self, y, weight):
        self.get_label, self.get_weight = (lambda: y), (lambda: weight)


def test_scores_and_a_data_set_are_labels_and_scores():
    of, (z, y) = objective("AMOL", 4, alpha=2.0), drawn(LOSSES["AMOL"](4))
    w = np.linspace(0, 2, len(y))
    for weight in (None, np.empty(0), w):
        given = None if weight is None or not len(weight) else w
        np.testing.assert_array_equal(of(z, Data(y.astype(np.float32), weight)), of(y, z, given))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(of))(y, z), of(y, z))


def table(n=900, K=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, K) / K), score)


@pytest.mark.parametrize("name", ["CE", "AMOL", "CORAL", "EMD2", "OLL-Castagnos"])
def test_lightgbm_learns(name):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = table()
    of = objective(name, 5)
    settings = {"num_class": of.outputs, "learning_rate": 0.2, "verbose": -1, "objective": of}
    settings |= {"num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(X[:600], y[:600]), 60)
    found = of.predict(booster.predict(X[600:], raw_score=True))
    assert METRICS["QWK"](y[600:], found, 5) > 0.85
    if of.outputs == 5:
        given = dict(n_estimators=60, learning_rate=0.2, verbose=-1, n_jobs=1)
        model = lightgbm.LGBMClassifier(objective=of, **given).fit(X[:600], y[:600])
        np.testing.assert_array_equal(of.predict(model.predict(X[600:], raw_score=True)), found)


@pytest.mark.parametrize("name", ["CE", "AMOL", "CORN"])
def test_xgboost_learns(name):
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    of = objective(name, 5)
    settings = {"num_class": of.outputs, "learning_rate": 0.3, "base_score": 0, "nthread": 1}
    settings |= {"disable_default_eval_metric": True}
    booster = xgboost.train(settings, xgboost.DMatrix(X[:600], y[:600]), 60, obj=of)
    raw = booster.predict(xgboost.DMatrix(X[600:]), output_margin=True)
    assert METRICS["QWK"](y[600:], of.predict(raw), 5) > 0.85
    if name == "AMOL":
        model = xgboost.XGBClassifier(objective=of, n_estimators=60, learning_rate=0.3, n_jobs=1)
        model.set_params(base_score=0).fit(X[:600], y[:600], sample_weight=np.ones(600))
        raw = model.predict(X[600:], output_margin=True)
        assert METRICS["QWK"](y[600:], of.predict(raw), 5) > 0.85


def test_the_page_s_code_for_trees_runs():
    pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    cells = jupytext.read(ROOT / "notebooks" / "use_it.ipynb").cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    X, y = table()
    given = {"X": X, "y": y}
    for block in blocks:
        exec(block, given)
        assert METRICS["QWK"](y, given["labels"], 5) > 0.9
    assert len(blocks) == 2 and given["probabilities"].shape == (900, 5)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: objective("AMOI", 5), "loss is 'AMOI'; allowed: CE"),
        (lambda: objective("CE", 5, alpha=1), "alpha"),
        (lambda: objective("WK", 5), "WKLoss compares the samples of a batch"),
        (lambda: objective(CrossEntropyLoss(4), 5), "num_classes is 5"),
        (lambda: objective(CrossEntropyLoss, 5), "a name, a loss object or a function"),
        (
            lambda: objective("CE", 5)(np.array([0]), np.zeros((1, 4))),
            r"\(n, 5\), got \(1, 4\); set",
        ),
        (lambda: objective("CE", 5)(np.array([0]), np.zeros(5)), r"\(n, 5\), got \(5,\)"),
        (lambda: objective("CORAL", 5)(np.array([0]), np.zeros((1, 5))), "num_class to 4"),
        (
            lambda: objective("CE", 5)(np.array([5.0]), np.zeros((1, 5))),
            "labels are 0 to 4, got .5.",
        ),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
