"""First page: where samples of the ends go, and the advice that follows from verdicts."""

import numpy as np
import pandas as pd
import pytest

from amol.metrics import center_hedging_rate
from companion.page.first_page import PLACES, advised, against_baseline, destinations, in_words


def test_each_place_by_hand():
    y_true = np.array([0, 0, 0, 0, 0, 1, 5, 6, 3, 2])  # the last two are no ends
    y_pred = np.array([0, 1, 2, 3, 4, 0, 2, 6, 0, 3])
    shares = destinations(y_true, y_pred[None], 7)
    assert dict(shares) == pytest.approx(
        {"own class": 2 / 8, "next to it": 2 / 8, "between": 1 / 8, "center": 1 / 8,
         "beyond": 2 / 8}
    )  # fmt: skip


@pytest.mark.parametrize("num_classes", [5, 6, 7, 9])
def test_shares_add_up_and_the_centers_is_chr_ext(num_classes):
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(num_classes, size=(2, 500))
    shares = destinations(y_true, y_pred[None], num_classes)
    assert list(shares.index) == list(PLACES) and shares.sum() == pytest.approx(1)
    rate = center_hedging_rate(y_true, y_pred, num_classes, extremes=2)
    assert shares["center"] == pytest.approx(rate)


def test_few_classes_pool_the_outermost_alone_and_none_is_nan():
    y_true = np.array([0, 1, 3])
    assert destinations(y_true, y_true[None], 4)["own class"] == 1
    assert destinations(np.array([3]), np.array([[3]]), 7).isna().all()


def rows(**verdicts: str) -> pd.DataFrame:
    """Verdicts in MAE by method, a letter for each data set: b(etter), w(orse), n(one shown)."""
    words = {"b": ("better", -0.02), "w": ("worse", 0.03), "n": ("no difference shown", -0.001)}
    return pd.DataFrame(
        [
            {"dataset": dataset, "method": method, "metric": "MAE",
             "verdict": words[letter][0], "difference": words[letter][1]}
            for method, letters in verdicts.items()
            for dataset, letter in enumerate(letters)
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "advice"),
    [
        ({"A": "bbn", "B": "bnn"}, "A"),
        ({"A": "bbw", "B": "bnn"}, "B"),  # worse on one
        ({"A": "nnn", "B": "nnw"}, "CE"),  # nothing shown
        ({"A": "bbw", "B": "nnn"}, "CE"),
    ],
)
def test_advice_is_shown_to_be_better_somewhere_and_worse_nowhere(verdicts, advice):
    assert advised(rows(**verdicts)) == advice


def test_among_several_the_best_mean_rank_decides():
    found = rows(A="bnn", B="bnn")
    found.loc[found["method"] == "B", "difference"] -= 0.01
    assert advised(found) == "B"


def test_a_method_that_misses_a_data_set_is_left_out():
    noise = np.random.default_rng(0).normal(0, 0.01, 90)
    runs = pd.DataFrame(
        [{"dataset": d, "method": m, "split_seed": s, "QWK": 0.5 + (m == "A") * 0.2}
         for d in "xy" for m in ("CE", "A", "B") for s in range(10) if (d, m) != ("y", "B")]
    )  # fmt: skip
    runs["QWK"] += noise[: len(runs)]
    found = against_baseline(runs, ["QWK"])
    assert set(found["method"]) == {"A"} and set(found["verdict"]) == {"better"}


def test_words_say_range_and_count():
    assert in_words(rows(A="bbw")) == "−0.020 to +0.030; better on 2 of 3, worse on 1 of 3"
    assert in_words(rows(A="nn").assign(difference=0.0001)) == (
        "0.000 to 0.000; no difference shown"
    )
