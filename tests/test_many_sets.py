"""Pages about many sets: words, advice, the picture to filter, the calculator."""

import re

import numpy as np
import pandas as pd
import pytest
import vl_convert
from scipy import stats

from companion.page import aims, live_forest, many_sets, reversals
from companion.page.live_charts import VERSION
from companion.studies import across_sets

SETS = {"cleveland": 0.02, "birads": -0.05, "gss_vocab": 0.1, "skillcraft": 0.06}
ABOUT = across_sets.kinds(list(SETS))
METRICS = ("QWK", "MAE", "AMAE", "end_recall", "CHR_ext", "accuracy", "RPS")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """CE and A with two decisions; A's own is better by `SETS` in QWK and worse by it in MAE."""
    made = []
    for (name, gap), method, split in (
        (item, m, s) for item in SETS.items() for m in ("CE", "A") for s in range(2)
    ):
        for decision in ("own", "median"):
            value = 0.5 + (gap if method == "A" else 0) - (0.01 if decision == "median" else 0)
            numbers = dict.fromkeys(METRICS, value) | {"RPS": value if decision == "own" else None}
            labels = {"dataset": name, "method": method, "split_seed": split, "rule": "QWK"}
            made.append(labels | {"decision": decision} | numbers)
    return pd.DataFrame(made)


def test_only_splits_that_all_natural_sets_have_are_taken(rows):
    more = rows[rows["dataset"] == "birads"].assign(split_seed=7)
    control = rows[rows["dataset"] == "birads"].assign(dataset="car")
    kept = many_sets.natural(pd.concat([rows, more, control]))
    assert set(kept["split_seed"]) == {0, 1} and set(kept["dataset"]) == set(SETS)


def test_words_of_a_summary():
    row = next(pd.DataFrame([{"mean": 0.0213, "low": -0.001, "high": 0.04, "gain": 3,
                              "sets": 4}]).itertuples())  # fmt: skip
    assert many_sets.counted(row) == "+0.021 [−0.001, +0.040]; better on 3 of 4"


def test_advice_names_the_best_by_rank_and_its_gain(rows):
    found = aims.advice(rows, ABOUT, "losses", ["QWK", "MAE"]).set_index("metric")
    assert found["method"].to_dict() == {"QWK": "A", "MAE": "CE"}
    assert found.loc["QWK", "mean"] == pytest.approx(np.mean(list(SETS.values())))
    assert found.loc["QWK", "gain"] == 3 and found.loc["MAE", "mean"] == 0
    assert aims.against(rows, ABOUT, "CE", METRICS) == []


def test_gains_are_turned_so_that_right_is_better(rows):
    summary, dots = aims.gains(rows, ABOUT, ["A", "CE, median"], ["QWK", "MAE"])
    mean = summary.set_index(["panel", "group"])["mean"]
    assert mean["QWK", "A"] == pytest.approx(-mean["MAE", "A"])
    assert mean["MAE", "CE, median"] == pytest.approx(0.01)
    assert (summary["low"] <= summary["high"]).all() and len(dots) == 16


def test_a_forest_has_a_row_per_group_and_says_how_many_sets(rows):
    summary, dots = aims.gains(rows, ABOUT, ["A", "CE, median"], ["QWK", "MAE"])
    figure = many_sets.forest(summary, dots, "gain")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["A (4)", "CE, median (4)"] and figure.narrow is not None


def test_the_picture_counts_as_the_package_does(rows):
    data = live_forest.live_data(rows, ABOUT)
    spec = live_forest.live_forest(data.replace({"method": {"A": "AMOL"}})).to_dict()
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VERSION)
    mean, better, sets = re.search(
        r"mean ([+−-][\d.]+), better on (\d+) of (\d+) sets", svg
    ).groups()
    assert float(mean.replace("−", "-")) == pytest.approx(np.mean(list(SETS.values())), abs=6e-4)
    assert (int(better), int(sets)) == (3, 4)


def test_the_calculator_draws_what_reversal_says():
    state = (0.024, 0.034, 0.046, 5)
    data = reversals.calculator_data(*state).set_index("sets")["risk"]
    assert data[4] == pytest.approx(stats.norm.cdf(-0.024 / ((0.034**2 + 0.046**2 / 5) / 4) ** 0.5))
    svg = vl_convert.vegalite_to_svg(reversals.calculator(*state).to_dict(), vl_version=VERSION)
    needed = int(re.search(r"at most 5 % from (\d+) sets on", svg)[1])
    assert needed == np.ceil(across_sets.sets_needed(*state))
    assert data[needed] <= 0.05 < data[needed - 1]
