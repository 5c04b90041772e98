"""The study of a hundred sets: budgets, tuned decisions by brute force, resumability, sampling."""

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amol.losses import LOSSES
from amol.metrics import mean_absolute_error, quadratic_weighted_kappa
from companion.data.collection import names
from companion.studies import fair_fight, hundred_sets, recordings, task_study
from companion.studies.decisions import DECISIONS, inward_costs, least_inward_cost
from companion.studies.tuned_decisions import (
    BETAS,
    cut,
    inward_beta,
    means,
    thresholds,
)


def test_twenty_losses_those_of_the_fair_fight_among_them():
    assert len(hundred_sets.METHODS) == len(set(hundred_sets.METHODS)) == 20
    assert set(fair_fight.METHODS) < set(hundred_sets.METHODS)
    assert {"OLL-Castagnos", "CDW-CE"} < set(hundred_sets.METHODS)


@pytest.mark.parametrize("method", hundred_sets.METHODS)
def test_each_method_has_four_different_candidates_and_starts_untuned(method):
    found = hundred_sets.candidates(method)
    assert len(found) == 4 and len({str(c) for c in found}) == 4
    assert sum(c["monitor"] == "QWK" for c in found) == 2
    run = hundred_sets.run_of("cleveland", method, 0, found[0])
    assert run.key == hundred_sets.run_of("cleveland", method, 0, {}).key and not run.unsure
    assert type(run.loss) is LOSSES[method]


def beliefs(n: int, K: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) and probabilities (n, K) that lean to them, some rows alike."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    p = rng.dirichlet(np.ones(K), n) + np.eye(K)[y] * rng.random((n, 1))
    p[1::4] = p[0::4][: len(p[1::4])]
    return y, (p / p.sum(axis=1, keepdims=True)).astype(np.float32)


def test_means_are_those_of_the_classes():
    p = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75], [1, 0, 0, 0]])
    assert means(p).tolist() == [0.5, 2.75, 0]


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 4), st.integers(0, 10**6))
def test_no_single_move_of_a_threshold_helps(K, seed):
    y, p = beliefs(14, K, seed)
    found = thresholds(y, p, rounds=100)
    assert (np.diff(found) >= 0).all()
    reached = quadratic_weighted_kappa(y, cut(p, found), K)
    start = quadratic_weighted_kappa(y, cut(p, np.arange(K - 1) + 0.5), K)
    assert reached >= start - 1e-12
    places = np.unique(means(p))
    midways = [-1.0, *((places[1:] + places[:-1]) / 2), float(K)]
    for j, place in product(range(K - 1), midways):
        moved = found.copy()
        moved[j] = place
        if (np.diff(moved) >= 0).all():
            assert quadratic_weighted_kappa(y, cut(p, moved), K) <= reached + 1e-12


def test_two_thresholds_find_the_best_of_all_where_classes_part():
    mean = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
    p = np.column_stack([1 - mean, mean, np.zeros(6)])
    y = np.array([0, 0, 1, 1, 2, 2])
    found = thresholds(y, p)
    assert cut(p, found).tolist() == y.tolist()
    assert found == pytest.approx([0.25, 0.65])
    best = max(
        quadratic_weighted_kappa(y, cut(p, np.array(pair)), 3)
        for pair in combinations_with_replacement([-1, 0.15, 0.25, 0.45, 0.65, 0.75, 3], 2)
    )
    assert best == 1


def test_costs_by_hand():
    # From truth 0 of five classes: inward to the center (2), then outward.
    assert inward_costs(5, 1.0).tolist() == [
        [0, 2, 4, 5, 6],
        [1, 0, 2, 3, 4],
        [2, 1, 0, 1, 2],
        [4, 3, 2, 0, 1],
        [6, 5, 4, 2, 0],
    ]
    # Between the two middle classes of four no step comes nearer to the center.
    assert inward_costs(4, 0.5)[0].tolist() == [0, 1.5, 2.5, 3.5]


@given(st.integers(3, 7), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_least_inward_cost_against_a_slow_sum(K, seed):
    _, p = beliefs(9, K, seed)
    for beta in BETAS:
        costs = inward_costs(K, beta)
        slow = [min(range(K), key=lambda k: round(float(row @ costs[:, k]), 9)) for row in p]
        found = least_inward_cost(p, beta)
        expected = (p.astype(float)[:, None] * costs.T).sum(axis=2)  # (n, K)
        chosen = expected[np.arange(len(p)), found]
        assert chosen == pytest.approx(expected[np.arange(len(p)), slow], abs=1e-9)
    assert least_inward_cost(p, 0.0).tolist() == DECISIONS["median"](p, None).tolist()


def test_sure_labels_stay_and_beta_is_chosen_on_the_labels_given():
    assert all(least_inward_cost(np.eye(6), beta).tolist() == list(range(6)) for beta in BETAS)
    p = np.array([[0.4, 0.2, 0.4, 0, 0]] * 4 + [[0, 0, 0.4, 0.2, 0.4]] * 4)
    y = np.array([0, 0, 0, 0, 4, 4, 4, 4])
    beta = inward_beta(y, p)
    assert beta > 0 and least_inward_cost(p, beta).tolist() == y.tolist()
    assert mean_absolute_error(y, least_inward_cost(p, 0.0), 5) == 1


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "folder", lambda: tmp_path)
    monkeypatch.setattr(task_study, "build_dir", lambda: tmp_path)
    return tmp_path


def small(methods=("CE", "CORN")):
    return replace(hundred_sets.STUDY, tasks=tuple(product(("cleveland",), methods, range(2))))


def test_rows_of_a_small_grid(home):
    rows = small().record(workers=1)
    assert not rows.duplicated(list(hundred_sets.LABEL)).any()
    assert len(rows) == 2 * ((5 + 1 + 5) + (6 + 1 + 6))
    assert set(rows["dataset"]) == {"cleveland"} and rows["QWK"].notna().all()
    assert rows["NLL"].notna().equals(rows["decision"] == "own")
    corn = rows[rows["method"].eq("CORN") & rows["decision"].isin(["own", "median"])]
    corn = corn[corn["rule"] != "MAE"]  # a rank is the median of its probabilities
    assert corn.groupby(["split_seed", "rule"])["QWK"].nunique().eq(1).all()
    assert set(rows.loc[rows["rule"] == "default", "candidate"]) == {0}


def test_a_sample_is_drawn_from_own_files_and_compared(home, monkeypatch):
    study = small(("CE",))
    rows = study.record(workers=1)
    monkeypatch.setattr(hundred_sets, "STUDY", study)
    sample, compared = hundred_sets.verify(1)
    assert len(sample) == 11 and compared.holds
    rows.loc[:, "MAE"] += 1e-4
    recordings.keep("hundred_sets", rows, {})
    _, compared = hundred_sets.verify(1)
    assert compared.different == 11 and "MAE" in compared.first and compared.keys_match
    assert not hundred_sets.STUDY.verify(1, among={"dataset": ("birads",)})[1].digest


def test_rules_look_at_the_validation_part(home):
    scores = pd.DataFrame({"QWK": [0.1, 0.3, 0.3], "MAE": [1.0, 2.0, 0.5]})
    assert [choose(scores) for choose in hundred_sets.RULES.values()] == [1, 2, 0]


def test_tuned_numbers_come_from_the_validation_part_alone():
    run = hundred_sets.run_of("cleveland", "CE", 0, {})
    outcome = hundred_sets.engine.train(run.loss, 0, run.data.arrays, run.settings.protocol)
    p, held = outcome.probabilities, outcome.probabilities_validation
    y = run.data.arrays.y_validation
    K = run.data.arrays.num_classes
    by_hand = {
        "argmax": outcome.y_pred,
        "median": [int((np.cumsum(row) < 0.5).sum()) for row in p.astype(float)],
        "rounded mean": np.floor(p.astype(float) @ np.arange(K) + 0.5),
        "thresholds": cut(p, thresholds(y, held)),
        "inward": least_inward_cost(p, inward_beta(y, held)),
    }
    assert set(by_hand) == set(hundred_sets.DECISIONS)
    for name, expected in by_hand.items():
        assert hundred_sets.DECISIONS[name](p, y, held).tolist() == list(expected)


def test_the_study_keeps_to_sets_that_the_collection_has():
    assert len(set(hundred_sets.SETS)) == len(hundred_sets.SETS)
    natural = set(names())
    assert len(natural & set(hundred_sets.SETS)) >= 100
    assert set(hundred_sets.SETS) <= set(names("natural", "control", "cut"))
