"""Hedging is what exceeds the belief: by hand, and none where labels follow the probabilities."""

import numpy as np
import pytest

from companion.claims.hedging import center_excess, hedging, tail_confidence


def test_hedging_by_hand():
    # five classes; classes 0, 1, 3, 4 are extreme: e = .9, .4, .5, and 1
    p = np.array([[0.9, 0, 0.1, 0, 0], [0.2, 0.1, 0.6, 0.1, 0], [0.3, 0.1, 0.5, 0, 0.1],
                  [0, 0, 0, 0.2, 0.8]])  # fmt: skip
    y = np.array([0, 1, 2, 4])
    found = hedging(y, np.array([0, 2, 2, 4]), p)
    assert found.seen == pytest.approx(1 / 3)  # of the samples of class 0, 1 and 4, one
    assert found.asked == pytest.approx((0.4 + 0.5) / (0.9 + 0.4 + 0.5 + 1))
    assert found.excess == pytest.approx(1 / 3 - 0.9 / 2.8)
    mass = center_excess(y, p)
    assert mass.seen == pytest.approx((0.1 + 0.6 + 0) / 3)
    assert mass.asked == pytest.approx((0.09 + 0.24 + 0.25) / 2.8)
    sure = tail_confidence(y, p)
    assert sure.seen == 1 and sure.asked == pytest.approx((0.9 + 0.8) / 2)


@pytest.mark.parametrize("k", [3, 4, 6, 7])
def test_a_calibrated_classifier_does_not_hedge_however_it_answers(k):
    random = np.random.default_rng(k)
    p = random.dirichlet(np.full(k, 0.7), 400)
    median = (p.cumsum(1) < 0.5).sum(1)
    for answer in (p.argmax(1), median, np.full(400, (k - 1) // 2)):
        found = []
        for _ in range(600):
            y = (p.cumsum(1) < random.random((400, 1))).sum(1)
            found.append(hedging(y, answer, p))
        excess = np.array([each.excess for each in found])
        error = found[0].error
        assert abs(excess.mean()) < 4 * max(error, 1e-12) / np.sqrt(600) + 1e-3
        assert excess.std() == pytest.approx(error, rel=0.12, abs=1e-12)


def test_center_answers_that_the_probabilities_deny_are_hedging():
    p = np.tile([0.4, 0.1, 0.0, 0.1, 0.4], (100, 1))
    y = np.repeat([0, 4], 50)
    assert hedging(y, np.full(100, 2), p).excess == 0  # asked to answer so always
    one = np.where(np.arange(100) % 2, 2, 0)
    p[1::2] = [0.1, 0, 0.9, 0, 0]  # sure of the center where it answers so, and wrong
    assert hedging(y, one, p).excess == pytest.approx(0.5 - 5 / 55)


def test_without_extreme_samples_there_is_no_rate():
    p = np.full((2, 5), 0.2)
    assert np.isnan(hedging(np.array([2, 2]), np.array([2, 2]), p).excess)
