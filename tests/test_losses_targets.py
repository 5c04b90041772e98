"""Distributions as targets, and distances of one's own."""

import pytest
import torch
import torch.nn.functional as F

from amol.losses import LOSSES, BatchLoss, distances
from amol.losses.registry import own_parameters

BY_SAMPLE = [name for name, loss in LOSSES.items() if not issubclass(loss, BatchLoss)]
BY_DISTANCE = [name for name, loss in LOSSES.items() if "distance" in own_parameters(loss)]
SYMMETRIC = torch.tensor([[0, 1, 1.5, 5], [1, 0, 0.5, 4], [1.5, 0.5, 0, 3.5], [5, 4, 3.5, 0]])


def drawn(loss, shape=(3, 6), seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = 2 * torch.randn(*shape, loss.num_logits, generator=generator, dtype=torch.float64)
    t = torch.rand(*shape, loss.num_classes, generator=generator, dtype=torch.float64) ** 3
    return z, t / t.sum(-1, keepdim=True)


@pytest.mark.parametrize("weight", [None, [1.0, 0.5, 2.0, 1.0]])
@pytest.mark.parametrize("name", BY_SAMPLE)
def test_a_distribution_costs_what_its_labels_cost_on_average(name, weight):
    loss = LOSSES[name](num_classes=4, weight=weight)
    z, t = drawn(loss)
    values, weights = torch.zeros(3, 6).double(), torch.zeros(3, 6).double()
    for y in range(4):
        value, terms = loss.terms(z, torch.full((3, 6), y))
        values, weights = values + t[..., y] * value, weights + t[..., y] * terms
    expected = {"none": values, "sum": values.sum(), "mean": values.sum() / weights.sum()}
    labels = t.argmax(-1)
    for reduction, value in expected.items():
        loss.reduction = reduction
        torch.testing.assert_close(loss(z, t), value)
        torch.testing.assert_close(loss(z, F.one_hot(labels, 4).double()), loss(z, labels))
    loss.reduction = "mean"
    assert torch.autograd.gradcheck(lambda v: loss(v, t[:, :2]), z[:, :2].requires_grad_())


def test_a_distribution_in_cross_entropy_is_pytorch_s():
    loss = LOSSES["CE"](num_classes=4)
    z, t = drawn(loss)
    own = F.cross_entropy(z.flatten(0, 1), t.flatten(0, 1))
    torch.testing.assert_close(loss(z, t), own)
    assert loss(z.half(), t.half()).dtype == torch.float16
    torch.testing.assert_close(loss(z.half(), t.half()).double(), own, rtol=5e-3, atol=0)
    impossible = torch.tensor([0.0, 0.0, -torch.inf])
    share = torch.tensor([0.25, 0.75, 0.0])
    assert LOSSES["CE"](3)(impossible, share).item() == pytest.approx(0.6931472)


@pytest.mark.parametrize(
    "target, error, message",
    [
        (torch.ones(2, 4), ValueError, "none negative, the sum of each 1"),
        (torch.tensor([[1.5, -0.5, 0, 0]] * 2), ValueError, "none negative, the sum of each 1"),
        (torch.full((2, 4), torch.nan), ValueError, "none negative"),
        (torch.full((2, 3), 1 / 3), ValueError, r"share of each class, \(2, 4\), got \(2, 3\)"),
        (torch.ones(2), TypeError, r"or distributions \(..., 4\), got torch.float32 of \(2,\)"),
    ],
)
def test_what_is_no_distribution_is_refused(target, error, message):
    with pytest.raises(error, match=message):
        LOSSES["AMOL"](num_classes=4)(torch.zeros(2, 4), target)


def test_a_loss_of_a_batch_takes_labels():
    with pytest.raises(TypeError, match="WKLoss compares the samples of a batch: it takes labels"):
        LOSSES["WK"](num_classes=4)(torch.zeros(2, 4), torch.full((2, 4), 0.25))


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_a_distance_of_one_s_own_stands_for_that_of_ranks(name):
    of = LOSSES[name]
    plain = of(num_classes=4)
    z, t = drawn(plain)
    y = t.argmax(-1)
    torch.testing.assert_close(of(4, distance=distances(4))(z, y), plain(z, y), rtol=0, atol=0)
    own, order = of(4, distance=SYMMETRIC.tolist()), [2, 0, 3, 1]
    assert own.distance == SYMMETRIC.tolist() and "distance=[[0.0, 1.0" in repr(own)
    assert own(z, y) != plain(z, y)
    if name not in ("AMOL", "AMOL-asym", "AMOL-exp"):  # whose m knows the center of the ranks
        # classes renamed, with their distances: the same loss
        place = torch.tensor(order).argsort()
        renamed = of(4, distance=SYMMETRIC[order][:, order])
        torch.testing.assert_close(renamed(z[..., order], place[y]), own(z, y))


def test_distances_by_hand():
    half = torch.zeros(1, 3)
    table = [[0, 2.0, 3.0], [2.0, 0, 1.0], [3.0, 1.0, 0]]
    first = torch.tensor([0])
    third = torch.tensor(3.0).log()
    oll = LOSSES["OLL"](3, distance=table)(half, first)  # weights 1, 1/3, 0
    torch.testing.assert_close(oll, third * 4 / 3)
    castagnos = LOSSES["OLL-Castagnos"](3, distance=table)(half, first)  # 5 log 3/2
    torch.testing.assert_close(castagnos, 5 * torch.tensor(1.5).log())
    sord = LOSSES["SORD"](3, distance=table)(torch.tensor([[0.0, -2.0, -4.5]]), first)
    q = torch.softmax(torch.tensor([0.0, -2.0, -4.5]), 0)
    torch.testing.assert_close(sord, -(q * q.log()).sum())


@pytest.mark.parametrize(
    "table, message",
    [
        (torch.eye(3), r"distance has shape \(4, 4\), got \(3, 3\)"),
        (torch.eye(4), "0 on the diagonal"),
        (torch.zeros(4, 4), "not everywhere"),
        (-SYMMETRIC, "not negative"),
        (SYMMETRIC * torch.inf, "finite"),
    ],
)
def test_what_is_no_distance_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        LOSSES["SORD"](num_classes=4, distance=table)
