"""What losses ask for: optimal to 50 digits, by hand, for a loss just registered; un-mixing."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from test_losses_values import ALL, BY_SAMPLE, make, needs_reference, with_own_parameters

from amol.losses import (
    LOSSES,
    CrossEntropyLoss,
    minimize_risk,
    mixing_table,
    optimality_gap,
    register_loss,
    risk,
    unmix,
)
from companion.checks.reference_losses import REFERENCES, oracle

SOFT = [n for n in BY_SAMPLE if mixing_table(make(n, 4)) is not None]
MARGIN = ("CDW-CE", {"margin": 0.06})


def beliefs(num_classes, n, seed=0, spread=1.0):
    """Draws from a Dirichlet distribution, after a sure one, an even split of both ends and one
    without the lowest classes."""
    generator = np.random.default_rng(seed)
    drawn = generator.dirichlet(np.full(num_classes, spread), n)
    drawn[0] = np.eye(num_classes)[num_classes // 3]
    drawn[1] = (np.eye(num_classes)[0] + np.eye(num_classes)[-1]) / 2
    drawn[2, : max(1, num_classes // 2 - 1)] = 0
    return torch.from_numpy(drawn / drawn.sum(1, keepdims=True))


def exact_gap(name, loss, logits, belief):
    """`optimality_gap` from central differences of the definitions, at 50 digits."""
    h, weight = mpf(10) ** -16, loss.weight
    with mpmath.workdps(50):
        z = [mpf(v) for v in logits.tolist()]
        share = [mpf(v) for v in belief.tolist()]
        if weight is not None and name != "CE-balanced":  # its definition has them
            share = [v * mpf(w) for v, w in zip(share, weight.tolist(), strict=True)]
        labels = [y for y, v in enumerate(share) if v]

        def value(point):
            total = mpmath.fsum(share[y] * oracle(name, loss, point, y) for y in labels)
            return total / mpmath.fsum(share)

        slopes = []
        for k in range(len(z)):
            up, down = ([v + s * h * (i == k) for i, v in enumerate(z)] for s in (1, -1))
            slopes.append((value(up) - value(down)) / (2 * h))
        if loss.num_logits < loss.num_classes:
            return float(max(abs(g) for g in slopes))
        odds = [mpmath.exp(v - max(z)) for v in z]
        kept = [(g, v / mpmath.fsum(odds)) for g, v in zip(slopes, odds, strict=True) if v > 1e-25]
        return float(max(-g / p for g, p in kept))


@pytest.mark.parametrize("case", [2, 3, 6, "own parameters"])
@pytest.mark.parametrize("name", BY_SAMPLE)
def test_optimal_to_50_digits(name, case):
    needs_reference(name)
    loss = with_own_parameters(name) if case == "own parameters" else make(name, case)
    given_ = beliefs(loss.num_classes, 4)
    for belief, logits in zip(given_, minimize_risk(loss, given_).logits, strict=True):
        assert exact_gap(name, loss, logits, belief) < 1e-10


@pytest.mark.parametrize(
    ("num_classes", "n"), [(3, 40), (10, 20), pytest.param(50, 3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("spread", [1.0, 0.1])
@pytest.mark.parametrize("name", BY_SAMPLE)
def test_optimal_up_to_fifty_classes(name, spread, num_classes, n):
    loss, given_ = make(name, num_classes), beliefs(num_classes, n, spread=spread)
    asked = minimize_risk(loss, given_)
    assert optimality_gap(loss, asked.logits, given_).max() <= 1e-10
    assert asked.logits.dtype == asked.probabilities.dtype == torch.float64
    torch.testing.assert_close(asked.probabilities, loss.probabilities(asked.logits))
    assert torch.equal(asked.labels, loss.predict(asked.logits))


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_no_other_answer_is_better(name):
    loss, given_ = with_own_parameters(name), beliefs(5, 30)[3:]
    asked = minimize_risk(loss, given_)
    bound = 1e-13 if name in REFERENCES else 1e-10  # of a loss that joined: the gap it is solved to
    least = risk(loss, asked.logits, given_) - bound
    generator = torch.Generator().manual_seed(1)
    for scale in (1e-3, 0.1, 1, 10):
        step = scale * torch.randn(asked.logits.shape, generator=generator, dtype=torch.float64)
        assert (risk(loss, asked.logits + step, given_) >= least).all()


def test_a_margin_leaves_what_costs_nothing():
    # C = (.5, .5, .5, .5): p_k = .06 + (1 − .5/λ) on all, 1/4; then one class far cheaper
    loss = make("CDW-CE", 4, power=0.0, margin=0.06)
    uniform = minimize_risk(loss, torch.full((4,), 0.25))
    assert uniform.probabilities.tolist() == pytest.approx([0.25] * 4, abs=1e-15)
    sure = minimize_risk(loss, [0.0, 1, 0, 0]).probabilities
    assert sure.tolist() == pytest.approx([0.06, 0.82, 0.06, 0.06], abs=1e-15)
    loss, given_ = make("CDW-CE", 5, **MARGIN[1]), beliefs(5, 40, seed=3)
    best = risk(loss, minimize_risk(loss, given_).logits, given_)
    p = np.random.default_rng(0).dirichlet(np.full(5, 0.7), 4000)  # no gradient at the kinks
    for belief, value in zip(given_, best, strict=True):
        others = risk(loss, torch.from_numpy(p).log(), belief.expand(4000, 5))
        assert value <= others.min() + 1e-12
    free = minimize_risk(make("CDW-CE", 5, margin=0.2), given_).probabilities
    torch.testing.assert_close(free, torch.full_like(free, 0.2))


def test_by_hand():
    third = [1 / 3, 1 / 3, 1 / 3]
    # regression: mean 1/2, so classes 0 and 1 at the same distance; σ² = 1
    p = minimize_risk(make("KL", 3), [0.5, 0.5, 0.0]).probabilities
    e = np.exp([-1 / 8, -1 / 8, -9 / 8])
    assert p.tolist() == pytest.approx(e / e.sum(), abs=1e-14)
    # C = (1, 2/3, 1): 1/λ = (3 − 1)/(8/3), so p = 1 − 3C/4
    p = minimize_risk(make("OLL-Castagnos", 3), third).probabilities
    assert p.tolist() == pytest.approx([0.25, 0.5, 0.25], abs=1e-15)
    # C = (.9, .9, 1.1) of (.5, .1, .4) at power 1, and (2.1, ., .): 1 − C/1.45
    p = minimize_risk(make("OLL-Castagnos", 3), [0.5, 0.1, 0.4]).probabilities
    assert p.tolist() == pytest.approx([1 - v / 1.45 for v in (0.9, 0.9, 1.1)], abs=1e-14)
    # closeness rows (1, ½, 0), (½, 1, ½), (0, ½, 1), mixed evenly: (1.5, 2, 1.5)/5
    p = minimize_risk(make("OLL", 3), third).probabilities
    assert p.tolist() == pytest.approx([0.3, 0.4, 0.3], abs=1e-15)
    p = minimize_risk(make("LogitAdj", 2, class_counts=[3, 1]), [0.6, 0.4]).probabilities
    assert p.tolist() == pytest.approx([1 / 3, 2 / 3], abs=1e-15)  # .6/3 : .4/1
    p = minimize_risk(make("CE", 2, weight=[1.0, 3.0]), [0.6, 0.4]).probabilities
    assert p.tolist() == pytest.approx([1 / 3, 2 / 3], abs=1e-15)
    p = minimize_risk(make("CE-masked", 3), [0.2, 0.5, 0.3]).probabilities
    assert p.tolist() == pytest.approx([0.4, 0, 0.6], abs=1e-15)
    for name in ("CE", "EMD2", "CORAL", "CORN", "CLM"):
        asked = minimize_risk(make(name, 4), [0.1, 0.2, 0.3, 0.4])
        assert asked.probabilities.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-15)
        assert asked.labels == (2 if name in ("CORAL", "CORN") else 3)  # the median, the mode


@pytest.mark.parametrize("name", ["KL", "AMOL", "AMOL-asym", "AMOL-exp"])
def test_weighted_divergence_against_50_digits(name):
    loss, given_ = with_own_parameters(name), beliefs(5, 12)
    ours = minimize_risk(loss, given_).probabilities
    m, log_q = loss._exact["m"].tolist(), loss._exact["log_target"].tolist()
    for belief, p in zip(given_.tolist(), ours.tolist(), strict=True):
        with mpmath.workdps(50):
            M, B = [], []
            for k in range(5):
                M.append(mpmath.fsum(mpf(v) * m[y][k] for y, v in enumerate(belief)))
                B.append(mpmath.fsum(mpf(v) * m[y][k] * log_q[y][k] for y, v in enumerate(belief)))

            def asked(level, M=M, B=B):
                return [mpmath.exp((B[k] + level) / M[k] - 1) for k in range(5)]

            def excess(level, asked=asked):
                return mpmath.log(mpmath.fsum(asked(level)))

            exact = asked(mpmath.findroot(excess, (mpf(-9), mpf(40)), solver="anderson"))
        assert p == pytest.approx([float(v) for v in exact], rel=1e-12, abs=1e-15)


def test_a_registered_loss_has_a_minimizer():
    try:

        @register_loss("mine")
        def brier(logits, target, num_classes):
            """Σ_k (p_k − 1[k = y])²."""
            hard = torch.nn.functional.one_hot(target, num_classes)
            return ((logits.softmax(-1) - hard) ** 2).sum(-1)

        given_ = beliefs(7, 20)
        p = minimize_risk(make("mine", 7), given_).probabilities
        torch.testing.assert_close(p, given_, atol=1e-5, rtol=0)  # gap 1e-10: its square root

        @register_loss("mine")
        def no_least(logits, target, num_classes):
            return logits[:, 0] * (target + 1.0)

        with pytest.raises(ArithmeticError, match=r"no_least: no minimizer found for the belief"):
            minimize_risk(make("mine", 3), [0.2, 0.3, 0.5])
    finally:
        del LOSSES["mine"]


def test_a_subclass_with_values_of_its_own_isnt_its_base():
    class Smooth(CrossEntropyLoss):
        def values(self, logits, target):
            return super().values(logits, target) - 0.2 * torch.log_softmax(logits, -1).mean(-1)

    p = minimize_risk(Smooth(2), [0.0, 1.0]).probabilities  # ∝ η + .2/2
    assert p.tolist() == pytest.approx([0.1 / 1.2, 1.1 / 1.2], abs=1e-9)
    with pytest.raises(TypeError, match="Smooth doesn't ask for a mixture"):
        unmix(Smooth(2), [0.5, 0.5])


def test_own_logits_with_an_origin():
    class Threshold(CrossEntropyLoss):  # K logits, each a task of its own
        def values(self, logits, target):
            hard = torch.nn.functional.one_hot(target, self.num_classes).to(logits)
            task = torch.nn.functional.binary_cross_entropy_with_logits
            return task(logits, hard, reduction="none").sum(-1)

    asked = minimize_risk(Threshold(3), [0.2, 0.3, 0.5])
    assert torch.sigmoid(asked.logits).tolist() == pytest.approx([0.2, 0.3, 0.5], abs=1e-9)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ([0.5, 0.5], r"beliefs have shape \(..., 3\), got \(2,\)"),
        ([0.5, 0.6, -0.1], r"beliefs are distributions over 3 classes, got \[0.5, 0.6, -0.1\]"),
        ([0.5, 0.6, 0.1], "beliefs are distributions"),
        ([0.5, float("nan"), 0.5], "beliefs are distributions"),
    ],
)
def test_beliefs_that_are_none(given_, message):
    with pytest.raises(ValueError, match=message):
        minimize_risk(make("CE", 3), given_)


def test_no_risk_at_one_x():
    assert set(ALL) - set(BY_SAMPLE) == {"WK"}
    with pytest.raises(TypeError, match="WKLoss has no risk at one x: its value depends on the b"):
        minimize_risk(make("WK", 3), [0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match=r"classes of weight 0 alone: \[1.0, 0.0, 1.0\]"):
        minimize_risk(make("CE", 3, weight=[1.0, 0.0, 1.0]), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("num_classes", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("name", SOFT)
def test_unmixing_undoes_what_a_loss_asks_for(name, num_classes):
    loss = make(name, num_classes, weight=torch.linspace(1, 3, num_classes))
    given_ = beliefs(num_classes, 30, seed=2)
    asked = minimize_risk(loss, given_).probabilities
    if name == "AMOL-OLL" and num_classes in (3, 7):
        with pytest.raises(ValueError, match=r"are linearly dependent .*: no belief can be read"):
            unmix(loss, asked)
        return
    read, condition = unmix(loss, asked)
    torch.testing.assert_close(read, given_, atol=1e-15 * max(10, condition) ** 1.25, rtol=0)


def test_unmixing_against_50_digits():
    loss, given_ = make("SORD", 5), beliefs(5, 8)[3:]
    asked = minimize_risk(loss, given_).probabilities
    read, condition = unmix(loss, asked)
    with mpmath.workdps(50):
        kernel = mpmath.matrix(5, 5)
        for y in range(5):
            row = [mpmath.exp(-(mpf(k - y) ** 2) / 2) for k in range(5)]
            for k in range(5):
                kernel[k, y] = row[k] / mpmath.fsum(row)
        for p, ours in zip(asked, read, strict=True):
            exact = mpmath.lu_solve(kernel, mpmath.matrix([mpf(v) for v in p.tolist()]))
            assert ours.tolist() == pytest.approx([float(v) for v in exact], abs=1e-13)
        singular = mpmath.svd_r(kernel, compute_uv=False)
        assert condition == pytest.approx(float(singular[0] / singular[4]), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(SOFT), num_classes=st.integers(3, 10), seed=st.integers(0, 999))
def test_unmixed_noise_is_the_likeliest_belief(name, num_classes, seed):
    loss = make(name, num_classes, **({"alpha": 0.3} if name == "AMOL-OLL" else {}))
    p = beliefs(num_classes, 10, seed)[3:]  # as good as any network's
    read = unmix(loss, p).beliefs
    assert (read >= 0).all()
    table = mixing_table(loss)
    mixture = table / table.sum(-1, keepdim=True)
    h = read * table.sum(-1)
    h = h / h.sum(-1, keepdim=True)
    # the log likelihood is concave in h: where no class's slope exceeds 1, its maximum
    assert (((p / (h @ mixture)) @ mixture.T).amax(-1) <= 1 + 1e-7).all()
    better = h.clone()
    for _ in range(50):  # steps of EM, which never lower it
        better = better * ((p / (better @ mixture)) @ mixture.T)
    gain = (p * ((better @ mixture).log() - (h @ mixture).log())).sum(-1)
    assert gain.max() <= 1e-10


def test_unmixing_keeps_shape_and_names_what_it_cannot_read():
    loss = make("SORD", 4)
    assert unmix(loss, np.full((2, 3, 4), 0.25)).beliefs.shape == (2, 3, 4)
    with pytest.raises(ValueError, match="probabilities are distributions over 4 classes"):
        unmix(loss, [1.0, 1, 1, 1])
    with pytest.raises(TypeError, match="AMOLLoss doesn't ask for a mixture"):
        unmix(make("AMOL", 4), [0.25] * 4)
    with pytest.raises(ValueError, match="linearly dependent"):  # a class never trained
        unmix(make("SORD", 3, weight=[1.0, 0.0, 1.0]), [0.2, 0.3, 0.5])
