"""Mean ranks, critical difference and signed-rank test against published tables and libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from companion.page import fights
from companion.studies import fair_fight, rank_tests

# Demšar (JMLR 7, 2006), Table 5a: q at 0.05 for 2 to 10 classifiers
NEMENYI = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


@pytest.mark.parametrize("k, q", list(enumerate(NEMENYI, start=2)))
def test_critical_difference_has_the_published_quantiles(k, q):
    sets = 12
    found = rank_tests.critical_difference(k, sets)
    assert found / np.sqrt(k * (k + 1) / (6 * sets)) == pytest.approx(q, abs=1.1e-3)


def test_critical_difference_agrees_with_nemenyi_of_scikit_posthocs():
    # scikit-posthocs 0.17.1, posthoc_nemenyi_friedman: ranks 3.1429 and 1.9286 on 14 sets, four
    # methods, have p = 0.061683
    p = 0.061683
    assert rank_tests.critical_difference(4, 14, level=p) == pytest.approx(
        3.1429 - 1.9286, abs=1e-3
    )


def test_friedman_is_chi_squared_of_the_ranks():
    scores = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 5)))
    n, k = scores.shape
    ranks = rank_tests.mean_ranks(scores)
    wanted = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    statistic, p = rank_tests.friedman(scores)
    assert statistic == pytest.approx(wanted)
    assert p == pytest.approx(stats.chi2.sf(wanted, k - 1))


DIFFERENCES = np.array([0.035, -0.03, 0.013, 0.029, 0.016, -0.005, 0.024, 0.042, 0.1, 0.0, 0.022,
                        0.05, 0.003, 0.013])  # fmt: skip


@pytest.mark.parametrize(
    "region, wanted",  # baycomp 1.0.3: SignedRankTest(zeros, DIFFERENCES, region).probs()
    [(0.01, (0.00038, 0.03256, 0.96706)), (0.005, (0.0015, 0.00036, 0.99814))],
)
def test_signed_rank_agrees_with_baycomp(region, wanted):
    assert rank_tests.signed_rank(DIFFERENCES, region) == pytest.approx(wanted, abs=5e-3)
    assert rank_tests.signed_rank(-DIFFERENCES, region) == pytest.approx(wanted[::-1], abs=5e-3)


def test_the_rule_takes_the_largest_alpha_near_the_best():
    frame = pd.DataFrame(
        {
            "dataset": "a",
            "split_seed": 0,
            "alpha": [0.0, 1.0, 2.0, 4.0],
            "validation_QWK": [0.5, 0.6, 0.595, 0.4],
        }
    )
    assert fair_fight.largest_within(frame, 0.0)["alpha"].tolist() == [1.0]
    assert fair_fight.largest_within(frame, 0.01)["alpha"].tolist() == [2.0]
    assert fair_fight.largest_within(frame, 0.5)["alpha"].tolist() == [4.0]


def test_the_front_has_what_no_other_point_beats():
    points = pd.DataFrame(
        {"dataset": ["a"] * 4 + ["b"], "x": [1, 2, 2, 3, 9], "y": [1, 2, 1, 2, 0]}
    )
    assert fights.on_front(points, "x", "y").tolist() == [True, True, False, False, True]


def test_ranks_know_which_way_is_better_and_leave_sets_without_the_metric_out():
    rows = pd.DataFrame(
        {
            "dataset": list("aabb"),
            "method": ["p", "q"] * 2,
            "split_seed": 0,
            "QWK": [0.9, 0.8, 0.1, 0.2],
            "CHR": [0.1, 0.2, np.nan, np.nan],
        }
    )
    found = fights.ranks(rows, ["QWK", "CHR"])
    assert found["QWK"].tolist() == [1.5, 1.5] and found["CHR"].tolist() == [1, 2]
