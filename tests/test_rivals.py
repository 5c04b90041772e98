"""What one would take instead: answers of classifiers, the ensemble, and a missing library."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from amol import engine
from companion.errors import StudyError
from companion.studies import hundred_sets, rivals


def test_each_method_has_a_fit_and_up_to_four_candidates():
    assert set(rivals.CANDIDATES) == set(rivals.FITS)
    assert all(1 <= len(found) <= 4 for found in rivals.CANDIDATES.values())
    assert rivals.SPLITS <= hundred_sets.SPLITS


def test_a_class_that_training_lacked_has_probability_zero():
    X = np.arange(6, dtype=np.float32)[:, None]
    arrays = engine.Arrays(X, np.array([0, 0, 2, 2, 3, 3]), X, np.array([0, 1, 2, 3, 3, 1]), X, 4)
    model = DecisionTreeClassifier(random_state=0).fit(arrays.X_train, arrays.y_train)
    found = rivals._of_classifier(model, arrays)
    assert found.probabilities[1].shape == (6, 4) and (found.probabilities[1][:, 1] == 0).all()
    assert found.labels[1].tolist() == [0, 0, 2, 2, 3, 3]


def test_the_ensemble_is_the_mean_of_five_networks():
    candidate = {"monitor": "loss"}
    run = rivals._run("cleveland", rivals.OURS, 1, candidate)
    a, protocol = run.data.arrays, run.settings.protocol
    found = rivals._ensemble(run, 1, candidate, None)
    seeds = (1, 101, 201, 301, 401)
    p = [engine.train(run.loss, seed, a, protocol, None).probabilities for seed in seeds]
    assert found.probabilities[1] == pytest.approx(np.mean(p, axis=0, dtype=float))
    assert found.labels[1].tolist() == found.probabilities[1].argmax(axis=1).tolist()


@pytest.mark.parametrize("method", ["forest", rivals.OURS])
def test_rows_are_those_planned_and_bounded(method, monkeypatch):
    monkeypatch.setattr(rivals, "TREES", 5)
    monkeypatch.setitem(rivals.CANDIDATES, method, rivals.CANDIDATES[method][:1])
    rows = rivals.STUDY.rows_of("cleveland", method, 0)
    assert list(rows["decision"]) == [*rivals.decisions_of(method)] * 2
    assert rows["QWK"].between(-1, 1).all() and rows["key"].nunique() == 1
    own = rows[rows["decision"] == "own"]
    assert own["RPS"].notna().all() and rows[rows["decision"] != "own"]["RPS"].isna().all()


@pytest.mark.parametrize(("method", "package"), [("LogAT", "mord"), ("LightGBM", "lightgbm")])
def test_a_missing_library_is_named_with_what_installs_it(method, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(StudyError, match=rf"{package} isn't installed: pip install"):
        rivals.rows_of("cleveland", method, 0, None)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["LogAT", "LightGBM", "LightGBM regression"])
def test_libraries_answer_where_they_are_installed(method):
    if not all(importlib.util.find_spec(name) for name in ("mord", "lightgbm")):
        pytest.skip('needs pip install ".[rivals]"')
    rows = rivals.STUDY.rows_of("cleveland", method, 0)
    assert rows["QWK"].between(0.2, 1).all() and len(rows) == 2 * len(rivals.decisions_of(method))
