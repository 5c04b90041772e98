"""Each loss against hand-computed values, 50 digits, its own identities and finite differences."""

import math
from math import exp, log

import mpmath
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from amol.losses import (
    LOSSES,
    BatchLoss,
    beta_labels,
    binomial_labels,
    exponential_labels,
    log_softmax,
    poisson_labels,
    proximity,
    triangular_labels,
)
from amol.metrics import METRICS
from companion.checks.loss_grid import exactness
from companion.checks.reference_losses import REFERENCES, oracle

ALL = tuple(LOSSES)
BY_SAMPLE = [name for name in ALL if not issubclass(LOSSES[name], BatchLoss)]
DIVERGENCES = ("AMOL", "AMOL-asym", "AMOL-exp", "KL")
K_LOGITS = tuple(name for name in ALL if LOSSES[name](num_classes=5).num_logits == 5)
PARAMETERS = {
    "alpha": {n: 2.5 for n in ALL if n.startswith("AMOL")},
    "sigma": dict.fromkeys(("SORD", "KL", "AMOL", "AMOL-asym", "AMOL-exp"), 0.7),
    "power": {"OLL-Castagnos": 1.5, "CDW-CE": 5.0, "Exponential": 1.5},
    "gamma": {"Focal": 1.3},
    "slope": {"SLACE": 0.3, "SLACE-prox": 3.0},
    "class_counts": {
        "SLACE-prox": [3, 9, 30, 8, 1],
        "LogitAdj": [3, 9, 30, 0, 1],
        "CE-balanced": [3, 9, 30, 8, 1],
    },
    "tau": {"Exponential": 0.6, "LogitAdj": 1.7},
    "neighbor": {"Triangular": 0.12},
    "eta": {"Triangular": 0.9, "Binomial": 0.8, "Poisson": 0.7, "Exponential": 0.6, "Beta": 0.5},
}


def make(name, num_classes, **common):
    return LOSSES[name](num_classes=num_classes, **common)


FLAT = {"Focal": [LOSSES["Focal"](3, gamma=0.0), LOSSES["Focal"](3, gamma=0.4)]}
# Far above the label's, equal logits share a slope by a log 2 that their size rounds away.
TIES_LOST = ("OLL-Castagnos", "CDW-CE", "SLACE", "SLACE-prox")


def with_own_parameters(name, num_classes=5, **common):
    own = {key: values[name] for key, values in PARAMETERS.items() if name in values}
    return make(name, num_classes, **own, **common)


def needs_reference(name):
    if name not in REFERENCES:
        pytest.skip(f"{name} has no definition at 50 digits in reference_losses")


def draw(loss, shape=(40,), scale=1.0, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = scale * torch.randn(*shape, loss.num_logits, generator=generator, dtype=torch.float64)
    return z.to(dtype), torch.randint(loss.num_classes, shape, generator=generator)


# p = (1/2, 1/4, 1/4) and y = 0: everything comes out in log 2, log 3/4 and the target's weights
Z = 1 + exp(-0.5) + exp(-2)  # normalises the Gaussian target
KL = log(Z) - 1.5 * log(2) + 0.25 * (0.5 + 2)
CENTER = 0.25 * (log(0.25) + 0.5 + log(Z))  # the center's term of KL, which m weighs
SOFT = [1 / (1 + exp(-1) + exp(-2)) * exp(-k) for k in range(3)]
POISSON = [exp(exp(-1)), exp(exp(-1)), exp(exp(-1) / 2)]  # probabilities of 0, 1, 2 at rate 1
BY_HAND = {
    # a = 0.02 gives s = 0.2, c = 0.2 (1 − 0.2)(1 − 0.04) = 0.1536, t = 0.135321…
    "Triangular": log(2) + ((math.sqrt(1 + 4 * 0.1536) - 1) / 2) ** 2 * log(2),
    "Binomial": (0.81 + 2 * 0.19) * log(2),
    "Poisson": (POISSON[0] + 2 * POISSON[1] + 2 * POISSON[2]) / sum(POISSON) * log(2),
    "Exponential": (SOFT[0] + 2 * SOFT[1] + 2 * SOFT[2]) * log(2),
    "Beta": (65 + 2 * 16) / 81 * log(2),  # 1 − (2/3)⁴ of it at the label
    "EMD2": 0.5**2 + 0.25**2,
    "WK": 1,  # as of any batch with a single label
    "LogitAdj": log(2),
    "CE-balanced": log(2),
    "CE": log(2),
    "CE-masked": log(2),
    "OLL": log(2) + 0.5 * log(4),
    "SORD": (log(2) + (exp(-0.5) + exp(-2)) * log(4)) / Z,
    "KL": KL,
    "AMOL": KL + CENTER,
    "AMOL-asym": KL + CENTER,
    "AMOL-exp": KL + (math.e - 1) * CENTER,
    "AMOL-OLL": log(2) + 2 * 0.5 * log(4),
    "AMOL-CE": log(2),
    "OLL-Castagnos": -(1 + 2) * log(0.75),
    "CDW-CE": -(1 + 4) * log(0.75),
    "Focal": 0.25 * log(2),
    "SLACE": SOFT[0] * log(2) - SOFT[1] * log(0.75),
    "SLACE-prox": (6 * log(2) - 2 * log(0.75)) / (6 + 2 + 6 / 5),  # exp(prox) = 6, 2, 6/5
}


def test_each_loss_on_class_logits_has_a_value_by_hand():
    assert set(K_LOGITS) == set(BY_HAND)


@pytest.mark.parametrize("name", BY_HAND)
def test_value_by_hand(name):
    logits = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64).log() + 3
    own = {"neighbor": 0.02} if name == "Triangular" else {}
    assert make(name, 3, **own)(logits, torch.tensor(0)).item() == pytest.approx(
        BY_HAND[name], abs=1e-14
    )


@pytest.mark.parametrize(
    ("name", "y", "expected"),
    [("CORAL", 0, log(8)), ("CORAL", 1, log(8)), ("CORAL", 2, log(2) - log(0.75)),
     ("CORN", 0, log(2)), ("CORN", 1, log(2) + log(4)), ("CORN", 2, log(2) - log(0.75))],
)  # fmt: skip
def test_binary_tasks_by_hand(name, y, expected):
    logits = torch.tensor([0.0, log(3)], dtype=torch.float64)  # σ = 1/2, 3/4
    loss = make(name, 3, reduction="sum")
    assert loss(logits, torch.tensor(y)).item() == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("y", "p"), [(0, 1 / 5), (1, 4 / 5 - 4 / 9), (2, 4 / 9)])
def test_cumulative_links_by_hand(y, p):
    # t = log 4 and log 4 − log(1 + 4) = log 4/5, so P(y > k) is 4/5 and (4/5)/(9/5) = 4/9
    logits = torch.tensor([log(4), log(4) + log(4)], dtype=torch.float64)
    loss = make("CLM", 3)
    assert loss(logits, torch.tensor(y)).item() == pytest.approx(-log(p), abs=1e-14)
    assert loss.probabilities(logits)[y].item() == pytest.approx(p, abs=1e-14)
    assert loss.predict(logits) == 2


def test_weighted_kappa_by_hand():
    # observed: 1/4 · 1/4 + 1/4, and 1/2 · 1/4; expected of p = (1/2, 1/4, 1/4) at labels 0 and 1:
    # e = (1/8, 1/8, 5/8), so 1/16 + 1/32 + 5/32 = 1/4; of p = (1/2, 0, 1/2) it is 3/8
    z = torch.tensor([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5]], dtype=torch.float64).log()
    y = torch.tensor([0, 1])
    own, chance = [1 / 16 + 1 / 4, 1 / 4], (1 / 4 + 3 / 8) / 2
    assert make("WK", 3)(z, y).item() == pytest.approx(sum(own) / 2 / chance, abs=1e-14)
    parts = make("WK", 3, reduction="none")(z, y)
    assert parts.tolist() == pytest.approx([v / chance for v in own], abs=1e-14)


def test_weighted_kappa_of_labels_is_one_minus_qwk():
    generator = torch.Generator().manual_seed(0)
    y, y_pred = torch.randint(5, (2, 60), generator=generator)
    weight = torch.tensor([0.5, 2, 1, 0, 3], dtype=torch.float64)
    z = 1e3 * F.one_hot(y_pred, 5).double()
    for own in (None, weight):
        share = None if own is None else own[y].numpy()
        kappa = METRICS["QWK"](y.numpy(), y_pred.numpy(), 5, sample_weight=share)
        assert make("WK", 5, weight=own)(z, y).item() == pytest.approx(1 - kappa, abs=1e-12)


@pytest.mark.parametrize("weight", [None, [1.0, 0.0, 0.0, 2.0, 1e-30]])
@pytest.mark.parametrize("scale", [1, 1e4])
def test_weighted_kappa_of_one_label_is_chance_and_teaches_nothing(scale, weight):
    loss = make("WK", 5, weight=weight)
    for n, label in ((1, 4), (2, 0), (64, 3)):
        z = draw(loss, (n,), scale, torch.float32)[0].requires_grad_()
        value = loss(z, torch.full((n,), label))
        assert value == 1 and not torch.autograd.grad(value, z)[0].any()


@pytest.mark.parametrize("scale", [1, 10, 1500])
def test_weighted_kappa_gradient_against_50_digits(scale):
    loss = make("WK", 4)
    z, y = draw(loss, (6,), scale, seed=1)
    z[0, 0] = z[0, 1] + 2  # two classes near each other
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z, y), z)
    point, h = [[mpmath.mpf(v.item()) for v in row] for row in z], mpmath.mpf(10) ** -15
    for i, k in [(0, 0), (0, 1), (1, 2), (5, 3)]:
        found = []
        for sign in (1, -1):
            with mpmath.workdps(50):
                moved = [list(row) for row in point]
                moved[i][k] += sign * h
                found.append(oracle("WK", loss, moved, y.tolist()))
        exact = float((found[0] - found[1]) / (2 * h))
        assert gradient[i, k].item() == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_class_counts_by_hand():
    z, y = torch.zeros(3, 3, dtype=torch.float64), torch.arange(3)
    adjusted = make("LogitAdj", 3, class_counts=[5, 0, 2], reduction="none")  # 0 counts as 1
    assert adjusted(z, y).tolist() == pytest.approx([log(8 / 5), log(8), log(4)], abs=1e-14)
    assert adjusted.predict(torch.tensor([0.1, 0.2, 0.0])) == 1
    weights = torch.tensor([7 / 10, 0, 7 / 4], dtype=torch.float64)  # 7 samples, 2 classes
    balanced = make("CE-balanced", 3, class_counts=[5, 0, 2], reduction="none")
    torch.testing.assert_close(balanced(z, y), weights * log(3))
    twice = make("CE-balanced", 3, class_counts=[5, 0, 2], reduction="none", weight=[2, 1, 2])
    torch.testing.assert_close(twice(z, y), 2 * weights * log(3))


@pytest.mark.parametrize("K", [2, 3, 4, 7, 10, 11, 40])
def test_soft_labels_are_distributions_around_the_label(K):
    for name in ("Triangular", "Binomial", "Exponential", "Beta"):
        rows = make(name, K)._exact["soft_target"]
        assert (rows >= 0).all()
        if name != "Binomial" or K < 10:
            assert (rows.argmax(-1) == torch.arange(K)).all()
        torch.testing.assert_close(rows.sum(-1), torch.ones(K, dtype=torch.float64))
        if name != "Triangular":  # its ends differ
            torch.testing.assert_close(rows.flip(0, 1), rows, rtol=1e-12, atol=1e-16)


def test_soft_labels_are_the_librarys():
    # of dlordinal 2.7.0; its beta and triangular intervals end 1e-9 off 0 and 1
    triangular = triangular_labels(5, neighbor=0.01)
    theirs = {
        binomial_labels: [0.2401, 0.4116, 0.2646, 0.0756, 0.0081],
        poisson_labels: [0.18896888, 0.21635436, 0.21635436, 0.19768881, 0.18063359],
        exponential_labels: [0.19151597, 0.52059439, 0.19151597, 0.07045479, 0.02591887],
        beta_labels: [0.16306231, 0.67401521, 0.15985465, 0.00306715, 0.00000068],
    }
    assert triangular[[0, 1, 4], [0, 0, 4]].tolist() == pytest.approx(
        [0.98845494, 0.01, 0.99494475]
    )
    for labels, row in theirs.items():
        assert labels(5)[1].tolist() == pytest.approx(row, abs=1e-8)


def test_amol_ce_weighs_labels_between_center_and_end():
    loss, plain = (make(name, 5, reduction="none") for name in ("AMOL-CE", "CE"))
    z, y = torch.zeros(5, 5), torch.arange(5)
    expected = torch.tensor([1, 1.25, 1, 1.25, 1])  # 1 + (1 − |y − 2|/2)(|y − 2|/2)
    torch.testing.assert_close(loss(z, y), expected * plain(z, y))


def test_proximity_by_hand():
    # n = 2, 1, 1: prox(0, 0) = −log(1/4), prox(1, 0) = −log(2.5/4), prox(2, 0) = −log(3.5/4) …
    shares = torch.tensor([[1, 2.5, 3.5], [2, 0.5, 1.5], [3, 1.5, 0.5]]) / 4
    torch.testing.assert_close(proximity(torch.tensor([2, 1, 1])), -shares.double().log())


@pytest.mark.parametrize("name", ALL)
def test_exact_in_float64_whatever_the_logits(name):
    needs_reference(name)
    assert exactness(name, samples=1, classes=(2, 7)) < 1e-12
    assert exactness(name, samples=1, classes=(101,), magnitudes=(100,)) < 1e-12


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_own_parameters_against_50_digits(name):
    needs_reference(name)
    loss = with_own_parameters(name, reduction="none")
    z, y = draw(loss, (8,), scale=3)
    for row, label, value in zip(z, y, loss(z, y), strict=True):
        exact = float(oracle(name, loss, row, int(label)))
        assert value.item() == pytest.approx(exact, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_sure_and_right_keeps_its_digits(name):
    needs_reference(name)
    # the smallest loss is that of a tiny rest, which 1 − p would round away
    loss = make(name, 5)
    y = 4
    z = torch.tensor([-21.0, -22, -20, -19, 20], dtype=torch.float64)
    if loss.num_logits == 4:
        z = torch.tensor([45.0, 42, 41, 40], dtype=torch.float64)
    exact = float(oracle(name, loss, z, y))
    value = loss(z, torch.tensor(y)).item() * (4 if name == "CORN" else 1)  # four tasks entered
    assert value == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", BY_SAMPLE)
@pytest.mark.parametrize("apart", [14.9, 20.1, 33, 41, -14.9, -20.1, -33, -41])
def test_no_threshold_of_a_function_reaches_a_value(name, apart):
    # libraries leave a term out of log(1 + exp(x)) from some x on, 20 for PyTorch's softplus
    needs_reference(name)
    loss = make(name, 4, reduction="sum")
    z = torch.linspace(0, apart, loss.num_logits, dtype=torch.float64)
    for y in range(4):
        value = loss(z, torch.tensor(y)).item()
        assert value == pytest.approx(float(oracle(name, loss, z, y)), rel=1e-12, abs=0)


@pytest.mark.parametrize("name", K_LOGITS)
def test_a_common_offset_costs_float32_no_digits(name):
    loss = make(name, 7, reduction="none")
    z, y = draw(loss, scale=5)
    low = (z + 1e4).float().requires_grad_()
    high = low.detach().double().requires_grad_()  # the same numbers
    value, exact = loss(low, y), loss(high, y)
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=1e-6)
    slopes, exact = (torch.autograd.grad(v.sum(), at)[0] for v, at in ((value, low), (exact, high)))
    torch.testing.assert_close(slopes.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", BY_SAMPLE)
def test_a_class_without_any_probability_is_the_limit(name, dtype):
    """A logit of −∞ against one of −10⁴: no number above 0 is left of exp(−10⁴)."""
    for num_classes in (2, 3, 5):
        loss = make(name, num_classes, reduction="none")
        for y in range(num_classes):
            for k in range(loss.num_logits):
                z = draw(loss, (1,), dtype=dtype)[0]
                found = []
                for logit in (-1e4, -1e30, -torch.inf):
                    z[0, k] = logit
                    leaf = z.clone().requires_grad_()
                    value = loss(leaf, torch.tensor([y]))
                    found.append((value.detach(), *torch.autograd.grad(value.sum(), leaf)))
                (near, slopes), (farther, _), (value, slopes_there) = found
                if farther < near + 1:
                    assert value == near
                    torch.testing.assert_close(slopes_there, slopes)
                else:  # the logarithm of its probability counts
                    assert value > 1e38 and slopes_there.isfinite().all()


@pytest.mark.parametrize("name", ALL)
def test_gradcheck(name):
    loss = with_own_parameters(name, weight=torch.linspace(0.5, 2, 5, dtype=torch.float64))
    z, y = draw(loss, (2, 5), scale=2)
    assert torch.autograd.gradcheck(lambda v: loss(v, y), z.requires_grad_())


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_gradient_at_large_logits_against_50_digits(name):
    needs_reference(name)
    loss = make(name, 4)
    z, y = draw(loss, (), scale=1500, seed=1)
    z[0] = z[1] + 2  # two classes near each other, the others far off
    z.requires_grad_()
    (gradient,) = torch.autograd.grad(loss.terms(z, y)[0], z)
    point, h = [mpmath.mpf(v.item()) for v in z], mpmath.mpf(10) ** -15
    for k, ours in enumerate(gradient.tolist()):
        with mpmath.workdps(50):
            steps = [[v + s * h * (i == k) for i, v in enumerate(point)] for s in (1, -1)]
            up, down = (oracle(name, loss, step, int(y)) for step in steps)
            assert ours == pytest.approx(float((up - down) / (2 * h)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_shift_changes_nothing(name):
    loss = make(name, 6, reduction="none")
    z, y = draw(loss)
    if loss.num_logits == 6:
        torch.testing.assert_close(loss(z + 1000, y), loss(z, y), rtol=1e-11, atol=1e-11)
    else:  # the binary tasks have an origin
        assert (loss(z + 1, y) - loss(z, y)).abs().min() > 1e-3


def reversed_order(loss, z, y):
    """The same sample read from the other end of the scale."""
    z = z.flip(-1) if loss.num_logits == loss.num_classes else -z.flip(-1)
    return z, loss.num_classes - 1 - y


@pytest.mark.parametrize("num_classes", [2, 5, 6])
@pytest.mark.parametrize(
    "name", [name for name in ALL if name not in ("CORN", "CLM", "Triangular", "Poisson")]
)
def test_neither_end_of_the_scale_is_preferred(name, num_classes):
    loss = make(name, num_classes, reduction="none")
    z, y = draw(loss)
    torch.testing.assert_close(loss(*reversed_order(loss, z, y)), loss(z, y))


@pytest.mark.parametrize("name", ["OLL", "SORD", "KL", "OLL-Castagnos", "CDW-CE", "SLACE", "CORAL"])
def test_farther_mistake_costs_more(name):
    loss = make(name, 7, reduction="none")
    z = 4.0 * torch.eye(7)
    if name == "CORAL":
        z = 4.0 * (torch.ones(7, 6).tril(-1) - 0.5)
    costs = loss(z, torch.zeros(7, dtype=torch.int64))
    assert (costs.diff() > 0).all()


SAME = [
    ("AMOL", {"alpha": 0.0}, "KL", {}),
    ("AMOL-asym", {"alpha": 0.0}, "KL", {}),
    ("AMOL-exp", {"alpha": 0.0}, "KL", {}),
    ("AMOL-OLL", {"alpha": 0.0}, "OLL", {}),
    ("AMOL-CE", {"alpha": 0.0}, "CE", {}),
    ("Focal", {"gamma": 0.0}, "CE", {}),
    ("SORD", {"sigma": 0.05}, "CE", {}),
    ("SLACE", {"slope": 800.0}, "CE", {}),
    ("OLL-Castagnos", {"power": 2.0}, "CDW-CE", {}),
    ("CDW-CE", {"margin": 1e-13}, "CDW-CE", {}),
    ("SLACE-prox", {"class_counts": [3] * 5}, "SLACE-prox", {}),
    ("CE-masked", {}, "CE", {}),
    ("Exponential", {"power": 2.0, "tau": 2.0}, "SORD", {}),
    ("Triangular", {"neighbor": 0.0}, "CE", {}),
    ("Beta", {"eta": 0.0}, "CE", {}),
    ("LogitAdj", {"tau": 0.0, "class_counts": [3, 9, 30, 8, 1]}, "CE", {}),
    ("CE-balanced", {"class_counts": [3] * 5}, "CE", {}),
]


@pytest.mark.parametrize(("name", "own", "other", "others"), SAME)
def test_special_case_is_another_loss(name, own, other, others):
    ours = LOSSES[name](num_classes=5, reduction="none", **own)
    theirs = LOSSES[other](num_classes=5, reduction="none", **others)
    z, y = draw(ours)
    torch.testing.assert_close(ours(z, y), theirs(z, y), rtol=1e-11, atol=1e-11)


def test_two_classes_leave_no_order():
    z, y = draw(make("CE", 2))
    expected = make("CE", 2)(z, y)
    for name in ("OLL", "OLL-Castagnos", "CDW-CE", "AMOL-OLL", "AMOL-CE"):
        torch.testing.assert_close(make(name, 2)(z, y), expected)


def test_margin_forgives_small_probabilities():
    z = torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.float64).log()
    loss = LOSSES["CDW-CE"](num_classes=3, margin=0.2)
    assert loss(z, torch.tensor([0])).item() == pytest.approx(-log(1 - 0.3 + 0.2))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("dtype", "largest"), [(torch.float32, 3e38), (torch.float64, 1e308)])
def test_the_largest_logits_are_no_other_than_large_ones(name, dtype, largest):
    """From 10⁴ on exp(−z) is 0: slopes stay as they are, and no value falls."""
    for loss in (make(name, 3), with_own_parameters(name), *FLAT.get(name, ())):
        loss.reduction = "none"
        signs = torch.cartesian_prod(*[torch.tensor([-1, 0, 1], dtype=dtype)] * loss.num_logits)
        y = torch.arange(len(signs)) % loss.num_classes
        found = []
        for scale in (1e4, largest):
            z = (scale * signs).requires_grad_()
            values = loss(z, y)
            found += [values.detach(), *torch.autograd.grad(values.sum(), z)]
        value, slopes, value_there, slopes_there = found
        assert value.isfinite().all() and slopes.isfinite().all()
        assert slopes_there.isfinite().all()
        if name not in TIES_LOST:
            torch.testing.assert_close(slopes_there, slopes)
        assert (value_there >= value - 1e-5 * value.abs()).all()


def plain_focal(loss, z, y):
    shifted, label = z - z.detach().amax(-1, keepdim=True), y[:, None]
    others = shifted.scatter(-1, label, -1e30).logsumexp(-1, keepdim=True)
    lead = (shifted.gather(-1, label) - others)[:, 0]
    return -(loss.gamma * F.logsigmoid(-lead)).exp() * F.logsigmoid(lead)


def plain_amol(loss, z, y):
    log_p, log_q, m = log_softmax(z), loss.table("log_target", z)[y], loss.table("m", z)[y]
    return (m * log_p.exp() * (log_p - log_q)).sum(-1)


def plain_slace(loss, z, y):
    z, charge = z.gather(-1, loss.order[y]), loss.table("mass", z)[y].cumsum(-1)
    z = z - z[:, :1]
    total, value = z[:, 0], torch.zeros_like(z[:, 0])
    for k in range(1, z.shape[1]):
        step = F.logsigmoid(total - z[:, k])
        value, total = value - charge[:, k - 1] * step, total - step
    return value


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("name", "plain"), [("Focal", plain_focal), ("AMOL", plain_amol), ("SLACE", plain_slace)]
)
def test_care_for_the_largest_logits_costs_the_others_no_bit(name, plain, dtype):
    loss = make(name, 5, reduction="none")
    for scale in (1e-3, 1, 30):
        z, y = draw(loss, (200,), scale, dtype)
        z.requires_grad_()
        values, others = loss(z, y), plain(loss, z, y)
        assert torch.equal(values, others)
        slopes = [torch.autograd.grad(v.sum(), z)[0] for v in (values, others)]
        assert torch.equal(*slopes)


@pytest.mark.parametrize("name", K_LOGITS)
@pytest.mark.parametrize("lead", [20.0, 1e4])
def test_gradient_when_sure_and_wrong(name, lead):
    z = (lead * F.one_hot(torch.tensor(6), 7)).float().requires_grad_()
    loss = make(name, 7)
    value, surer = loss(z, torch.tensor(0)), loss(2 * z, torch.tensor(0))
    (gradient,) = torch.autograd.grad(value, z)
    bounded = surer < value + 1
    assert bounded or name not in (*DIVERGENCES, "EMD2", "WK")
    if bounded:  # so the pull must fade: a documented limit
        assert gradient.abs().max() <= 500 * exp(-lead)
    else:
        assert gradient[0] < -0.1 and gradient[6] > 0.1


def test_divergence_is_bounded():
    z = 1e4 * F.one_hot(torch.tensor(6), 7).double()
    value = make("KL", 7)(z, torch.tensor(0)).item()
    assert value == pytest.approx(18 + log(sum(exp(-(k**2) / 2) for k in range(7))))


def learned(loss):
    """Classes that a linear model ends up predicting for samples that tell their class."""
    torch.manual_seed(0)
    model = torch.nn.Linear(5, loss.num_logits)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    for _ in range(1000 if isinstance(loss, BatchLoss) else 60):  # its gradient fades
        optimizer.zero_grad()
        loss(model(torch.eye(5)), torch.arange(5)).backward()
        optimizer.step()
    return loss.predict(model(torch.eye(5))).tolist()


@pytest.mark.parametrize("name", ALL)
def test_fits_separable_classes(name):
    expected = [0, 1, 2, 3, 4]
    if name == "AMOL-OLL":  # the collapse: (1 − d/4) m is largest one step inward of the label
        expected = [1, 1, 2, 3, 3]
    if name == "CE-masked":
        expected = [0, 1, pytest.approx(2, abs=2), 3, 4]
    if name == "Poisson":  # y and y + 1 are equally likely
        expected = [pytest.approx(y + 0.5, abs=0.5) for y in range(4)] + [4]
    assert learned(make(name, 5)) == expected


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(BY_SAMPLE),
    num_classes=st.integers(2, 12),
    leading=st.lists(st.integers(1, 4), max_size=3),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    scale=st.floats(0.1, 1e4),
    seed=st.integers(0, 99),
)
def test_any_shape_gives_each_sample_its_own_loss(name, num_classes, leading, dtype, scale, seed):
    loss = make(name, num_classes, reduction="none")
    z, y = draw(loss, tuple(leading), scale, dtype, seed)
    values = loss(z, y)
    assert values.shape == y.shape and values.dtype == dtype and values.isfinite().all()
    flat = zip(z.view(-1, loss.num_logits), y.flatten(), strict=True)
    assert torch.equal(values.flatten(), torch.stack([loss(row, label) for row, label in flat]))
