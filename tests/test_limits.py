"""AMOL's limits in α and σ, the paper's properties of it, and the cost of steps inward."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from mpmath import iv, mp

from amol.losses import LOSSES, center_weight, minimize_risk, risk
from companion.studies.decisions import inward_costs, least_inward_cost
from companion.theory import exact, limits
from companion.theory.beliefs import belief, dominating, lattice
from companion.theory.intervals import digits

TENTH = Fraction(1, 10)


def sure(K, y):
    return belief(*(int(k == y) for k in range(K)))


def amol(K, **own):
    return LOSSES["AMOL"](num_classes=K, **own)


# Sure beliefs


@pytest.mark.parametrize(
    ("K", "sigma", "alpha"),
    [(4, 1, 2.77), (5, 1, 2.25), (6, 1, 2.30), (7, 1, 2.47), (10, 1, 3.17), (5, 2, 0.51),
     (7, 2, 0.55)],
)  # fmt: skip
def test_a_sure_label_is_answered_otherwise_from_here(K, sigma, alpha):
    found = limits.answers_sure_wrongly(K, sigma)
    assert found == pytest.approx(alpha, abs=0.006)
    below, above = (Fraction(round(1000 * found) + s, 1000) for s in (-2, 2))
    labels = [[exact.label("AMOL", sure(K, y), alpha=a, sigma=Fraction(sigma)) for y in range(K)]
              for a in (below, above)]  # fmt: skip
    assert labels[0] == list(range(K)) and labels[1] != list(range(K))


def test_three_classes_are_never_mislabelled_when_sure():
    assert np.isnan(limits.answers_sure_wrongly(3, 1.0))
    assert exact.label("AMOL", sure(3, 0), alpha=Fraction(50)) == 0


def test_the_target_is_not_what_is_asked_for():
    # K = 7, α = 1: the least loss of a sure label is below that of its own target, which is 0
    loss = amol(7)
    least = minimize_risk(loss, torch.eye(7))
    values = risk(loss, least.logits, torch.eye(7))
    assert values[:4].tolist() == pytest.approx([-0.0172, -0.0141, -0.0037, 0], abs=5e-5)
    targets = loss.table("log_target", least.logits)
    assert risk(loss, targets, torch.eye(7)).abs().max() < 1e-15


# Stochastic dominance


@pytest.mark.parametrize(
    ("upper", "lower", "labels"),
    [([0, 1, 0, 0, 0, 2], [1, 0, 0, 0, 0, 2], [4, 5]),
     ([0, 1, 0, 0, 0, 0, 2], [1, 0, 0, 0, 0, 0, 2], [5, 6])],
)  # fmt: skip
def test_the_paper_s_setting_is_not_monotone(upper, lower, labels):
    assert [exact.label("AMOL", belief(*counts)) for counts in (upper, lower)] == labels
    assert dominating(np.array([upper, lower]))[0, 1]


def test_where_dominance_is_violated_first():
    assert limits.first_violation(4, 12) == pytest.approx(0.95)
    assert limits.first_violation(5, 8) == pytest.approx(0.65)
    assert not limits.violates_dominance(3, 24, 1.0)


# Large α


def test_ends_hold_what_one_minus_1_over_e_says():
    """For every belief that isn't sure of the center, as α grows."""
    drawn = np.random.default_rng(0).dirichlet(np.ones(7), 300)
    p = minimize_risk(amol(7, alpha=1e6), drawn).probabilities
    assert (p[:, 0] + p[:, -1]).min() > 1 - np.exp(-1) - 1e-3
    assert (np.isin(p.argmax(1), [0, 6])).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0, 30.0])
def test_odds_of_the_ends_know_the_mean_alone(alpha):
    drawn = np.random.default_rng(1).dirichlet(np.ones(6), 50)
    for sigma in (0.5, 1.0, 2.0):
        log_p = minimize_risk(amol(6, alpha=alpha, sigma=sigma), drawn).logits
        odds = 5 * (2.5 - drawn @ np.arange(6)) / sigma**2
        np.testing.assert_allclose(log_p[:, 0] - log_p[:, -1], odds, atol=1e-10)


@pytest.mark.parametrize(
    ("alpha", "even", "one_side"), [(1, 0.477, None), (2, 0.739, None), (4, 0.869, 0.901)]
)
def test_how_sure_of_the_center_a_belief_must_be(alpha, even, one_side):
    def answered(share, split):
        rest = 1 - Fraction(round(1000 * share), 1000)
        low = rest / 2 if split else rest
        eta = (low, 1 - rest, rest - low)
        low_end, center, high_end = exact.probabilities("AMOL", eta, alpha=Fraction(alpha))
        others = max(low_end.b, high_end.b)
        assert center.a > others or others > center.b  # for sure
        return center.a > others

    assert answered(even + 0.001, True) and not answered(even - 0.002, True)
    if one_side:
        assert answered(one_side + 0.001, False) and not answered(one_side - 0.002, False)
    assert exact.label("AMOL", (TENTH, 9 * TENTH, 0 * TENTH), alpha=Fraction(4)) == 0


# Width


def test_narrow_and_wide_targets():
    drawn = np.random.default_rng(2).dirichlet(np.ones(5), 200)
    k = np.arange(5)
    m = center_weight(5).numpy()
    costs = drawn @ (m * (k[:, None] - k) ** 2)
    near = limits.labels("AMOL", drawn, sigma=0.03)
    assert (near == costs.argmin(1)).mean() > 0.99  # least E m(k, Y)(k − Y)²
    wide = limits.labels("AMOL", drawn, sigma=50.0)
    assert np.isin(wide[wide >= 0], [0, 4]).all()


# The paper's two senses of monotone, and its properties


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [(1.0, [1.422, 1.464, 1.383, 1.314, 1.263, 1.226, 1.197, 1.175]),
     (2.0, [0.362, 0.463, 0.382, 0.388, 0.415, 0.451, 0.491, 0.532])],
)  # fmt: skip
def test_farther_answers_cost_more_up_to_here(sigma, expected):
    for K, alpha in zip(range(3, 11), expected, strict=True):
        assert limits.costs_less_farther(K, sigma) == pytest.approx(alpha, abs=6e-4)
        for step, rises in ((-0.002, True), (0.002, False)):
            loss = amol(K, alpha=alpha + step, sigma=sigma, reduction="none")
            logits = 3000.0 * torch.eye(K).double()
            falls = False
            for y in range(K):
                cost = loss(logits, torch.full((K,), y))
                sides = [cost[: y + 1].flip(0), cost[y:]]
                falls |= any(a > b + 1e-9 for side in sides for a, b in pairwise(side.tolist()))
            assert falls != rises


def test_nearer_mass_can_cost_more():
    """SLACE's sense of monotone fails already without the weight: K = 3, y = 0."""
    loss = LOSSES["KL"](num_classes=3)
    sure_and_right = torch.tensor([900.0, 0, 0]).double()
    target = loss.table("log_target", sure_and_right)[0]
    with digits():
        cost = iv.log(1 + iv.exp(iv.mpf("-0.5")) + iv.exp(-2))
    y = torch.tensor(0)
    assert loss(sure_and_right, y).item() == pytest.approx(float(mp.mpf(cost.mid)), abs=1e-14)
    assert loss(target, y).abs() < 1e-15


def test_properties_of_the_weight():
    for K in range(2, 11):
        m = center_weight(K, alpha=1.0)
        assert (center_weight(K, alpha=0.0) == 1).all()
        assert (m[:, 0] == 1).all() and (m[:, -1] == 1).all()  # the opposite end isn't taxed
        largest = 2.0 if K % 2 else 1 + (K - 2) / (K - 1)
        assert m.max().item() == pytest.approx(largest)
        if K % 2:
            assert (m[K // 2] == 1).all()
    assert center_weight(6)[2].max() == pytest.approx(1.16)  # of the lower middle class


def test_balance():
    drawn = np.random.default_rng(0).dirichlet(np.ones(5), 4000)
    found = limits.balance(drawn)
    assert found == pytest.approx(0.79, abs=0.03)
    share = np.isin(drawn.argmax(1), [2]).mean()
    assert limits.middle_share(found, drawn) == pytest.approx(share, abs=2e-3)


# A local minimum where weights are shared


@pytest.mark.parametrize(("name", "expected"), [("KL", (0.98, 2.70)), ("AMOL", (0.87, 2.48))])
def test_one_shared_weight_has_two_minima(name, expected):
    x, y = torch.tensor([-0.5, 0.6, 7.93, 0.21]).double(), torch.tensor([2, 0, 2, 0])
    loss, k = LOSSES[name](num_classes=3), torch.tensor([-1.0, 0, 1]).double()
    w = torch.linspace(-6, 6, 24001).double()
    logits = (w[:, None] * x)[..., None] * k
    values = loss.values(logits, y.expand(len(w), 4)).sum(1)
    inner = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    assert sorted(values[1:-1][inner].tolist()) == pytest.approx(expected, abs=0.006)


# Steps inward


def test_inward_costs_by_hand():
    assert inward_costs(4, 1.0).tolist() == [
        [0, 2, 3, 4], [1, 0, 1, 2], [2, 1, 0, 1], [4, 3, 2, 0]]  # fmt: skip
    k = np.arange(6)
    assert (inward_costs(6, 0.0) == np.abs(k - k[:, None])).all()


@pytest.mark.parametrize("beta", [0.0, 0.5, 2.0])
def test_least_inward_cost_is_monotone_and_right_when_sure(beta):
    for K, n in ((3, 12), (4, 8), (5, 6), (6, 5)):
        rise = np.diff(inward_costs(K, beta), axis=1)
        assert (np.diff(rise, axis=0) <= 0).all()  # c(k + 1, y) − c(k, y) never rises in y
        counts = lattice(K, n)
        labels = least_inward_cost(counts / n, beta)
        costs = counts @ inward_costs(K, beta)
        unique = (np.isclose(costs, costs.min(1, keepdims=True))).sum(1) == 1
        both = dominating(counts) & unique[:, None] & unique
        assert not (both & (labels[:, None] < labels)).any()
        assert least_inward_cost(np.eye(K), beta).tolist() == list(range(K))
