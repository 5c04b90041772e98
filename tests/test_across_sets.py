"""Statements about many sets: intervals over surveys, kinds, held-out choices, reversals."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from companion.studies import across_sets
from companion.studies.across_sets import clustered_interval, kind_of

SURVEYS = pd.Series({name: f"s{i // 2}" for i, name in enumerate("abcdefgh")})


def rows(gaps: dict[str, float], splits: int = 3, noise: float = 0.0) -> pd.DataFrame:
    """QWK of CE, 0.5, and of A, which differs by ``gaps`` on each set."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"dataset": name, "method": method, "split_seed": s,
             "QWK": 0.5 + (gap if method == "A" else 0) + noise * rng.standard_normal()}
            for name, gap in gaps.items() for method in ("CE", "A") for s in range(splits)
        ]
    )  # fmt: skip


def test_where_each_set_is_a_survey_the_interval_is_students():
    values = np.array([0.1, 0.3, 0.2, -0.1, 0.05])
    mean, low, high = clustered_interval(values, range(5))
    expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert mean == pytest.approx(values.mean()) and (low, high) == pytest.approx(expected)


def test_twins_of_one_survey_add_no_evidence():
    once = clustered_interval(np.array([0.1, 0.3, 0.2]), list("abc"))
    twice = clustered_interval(np.repeat([0.1, 0.3, 0.2], 2), list("aabbcc"))
    assert twice == pytest.approx(once)
    assert np.isnan(clustered_interval(np.array([0.1, 0.2]), list("aa"))[1])


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([10, 80, 10], ("K = 3", "mode at the center", "ends 20–40 %")),
        ([50, 40, 10], ("K = 3", "mode at an end", "ends > 40 %")),
        ([5, 20, 60, 15], ("K = 4 or 5", "mode at the center", "ends 20–40 %")),  # both middles
        ([5, 60, 20, 15], ("K = 4 or 5", "mode at the center", "ends 20–40 %")),
        ([5, 60, 20, 10, 5], ("K = 4 or 5", "mode between", "ends < 20 %")),
        ([20, 10, 10, 10, 10, 10, 20], ("K ≥ 6", "mode at an end", "ends > 40 %")),
    ],
)
def test_kinds_by_hand(counts, expected):
    kind = kind_of(np.array(counts))
    assert tuple(kind[name] for name in across_sets.KINDS) == expected
    assert kind["K"] == len(counts) and kind["rows"] == sum(counts)


def test_kinds_are_those_of_the_descriptions():
    about = across_sets.kinds(["cleveland", "gss_vocab"])
    assert about.loc["cleveland", "K"] == 4 and about.loc["gss_vocab", "classes"] == "K ≥ 6"
    assert list(about["classes"].cat.categories) == list(across_sets.CLASSES)


def test_a_summary_counts_gains_with_the_metrics_sign():
    frame = rows(dict(zip("abcd", (0.1, 0.2, 0.15, -0.01), strict=True)))
    frame["MAE"] = -frame["QWK"]
    about = pd.DataFrame({"survey": list("abcd")}, index=list("abcd"))
    found = across_sets.summarized(
        across_sets.contrast(frame, [("A", "CE")], ["QWK", "MAE"], about), ["metric"]
    ).set_index("metric")
    assert found["gain"].tolist() == [3, 3] and found["sets"].tolist() == [4, 4]
    assert found.loc["QWK", "mean"] == pytest.approx(-found.loc["MAE", "mean"])
    assert found.loc["QWK", "verdict"] == found.loc["MAE", "verdict"] == "not shown"
    sure = across_sets.contrast(rows(dict.fromkeys("abcd", 0.1), noise=1e-3), [("A", "CE")],
                                ["QWK"], about)  # fmt: skip
    assert across_sets.summarized(sure, ["metric"])["verdict"].item() == "better"


def table(**columns: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"CE": [0.5] * 8} | columns, index=list("abcdefgh"))


def test_a_choice_that_is_better_everywhere_keeps_what_it_promises():
    means = table(A=[0.6] * 8, B=[0.55] * 8)
    found = across_sets.held_out_choice(means, "QWK", SURVEYS, "CE", draws=20)
    assert set(found["chosen"]) == {"A"}
    assert found["kept"].to_numpy() == pytest.approx(0.1)
    assert found["promised"].to_numpy() == pytest.approx(0.1)
    lower = across_sets.held_out_choice(means, "MAE", SURVEYS, "CE", draws=20)
    assert set(lower["chosen"]) == {"CE"} and (lower["kept"] == 0).all()


def test_noise_promises_more_than_it_keeps():
    rng = np.random.default_rng(0)
    noise = {f"m{i}": 0.5 + 0.1 * rng.standard_normal(8) for i in range(12)}
    found = across_sets.held_out_choice(table(**noise), "QWK", SURVEYS, "CE", draws=200)
    assert found["promised"].mean() > found["kept"].mean() + 0.03


def test_a_choice_by_kind_names_one_for_each():
    kind = pd.Series(pd.Categorical(list("xyxyxyxy"), list("xy")), list("abcdefgh"))
    means = table(A=[0.6, 0.4] * 4, B=[0.4, 0.6] * 4)
    found = across_sets.held_out_choice(means, "QWK", SURVEYS, "CE", kind, draws=20)
    assert set(found["chosen"]) == {"A, B"} and found["kept"].to_numpy() == pytest.approx(0.1)


def test_spread_parts_sets_from_splits():
    rng = np.random.default_rng(1)
    gaps = {f"d{i}": 0.02 + 0.03 * rng.standard_normal() for i in range(400)}
    frame = rows(gaps, splits=5, noise=0.05 / np.sqrt(2))  # of a difference of two: 0.05
    delta, tau, omega = across_sets.spread(frame, "A", "CE", "QWK")
    assert (delta, tau, omega) == pytest.approx((0.02, 0.03, 0.05), abs=0.004)


def test_sets_needed_is_where_the_risk_is_reached():
    needed = across_sets.sets_needed(0.01, 0.03, 0.02, splits=5)
    assert across_sets.reversal(0.01, 0.03, 0.02, needed, 5) == pytest.approx(0.05)
    assert across_sets.reversal(-0.01, 0.03, 0.02, needed, 5) == pytest.approx(0.05)


def test_drawn_reversals_against_all_subsets():
    gaps = dict(zip("abcdef", (0.3, 0.2, 0.1, -0.1, -0.15, -0.2), strict=True))
    found = across_sets.drawn_reversals(rows(gaps), ("A", "CE"), "QWK", [1, 3], [1], draws=4000)
    for m, share in found[["sets", "share"]].to_numpy():
        wrong = sum(sum(part) < -1e-9 for part in combinations(gaps.values(), int(m)))
        ties = sum(abs(sum(part)) < 1e-9 for part in combinations(gaps.values(), int(m)))
        total = comb(6, int(m))
        assert wrong / total - 0.03 < share < (wrong + ties) / total + 0.03


def test_another_leader_is_found_as_often_as_subsets_have_one():
    means = table(A=[0.6, 0.6, 0.6, 0.6, 0.6, 0.4, 0.4, 0.4])
    found = across_sets.other_leader(means, "QWK", [1, 8], draws=2000).set_index("sets")
    assert found.loc[1, "other"] == pytest.approx(3 / 8, abs=0.04)
    assert found.loc[8, "other"] == 0 and found.loc[8, "place"] == 1
