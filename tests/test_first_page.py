"""First page: where samples of the ends go."""

import numpy as np
import pytest

from amol.metrics import center_hedging_rate
from companion.page.first_page import PLACES, destinations


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
