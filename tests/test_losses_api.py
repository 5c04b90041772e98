"""What a training loop relies on: reductions, weights, dtypes, errors, compilation, registry."""

import copy
import doctest
import functools
import importlib
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT

from amol import losses, metrics
from amol.losses import LOSSES, PAPER_METHODS, BatchLoss, OrdinalLoss, register_loss

ALL = tuple(LOSSES)
BY_SAMPLE = [name for name in ALL if not issubclass(LOSSES[name], BatchLoss)]
LIBRARY = [
    "amol.losses",
    *(f"amol.losses.{module.name}" for module in pkgutil.iter_modules(losses.__path__)),
    "amol.metrics",
    *(f"amol.metrics.{module.name}" for module in pkgutil.iter_modules(metrics.__path__)),
]
WEIGHT = torch.tensor([0.5, 2.0, 1.0, 0.0, 3.0])
CORN_TASKS = torch.tensor([1, 2, 3, 4, 4])  # tasks that a label of 0 … 4 enters


def make(name, num_classes=5, **own):
    return LOSSES[name](num_classes=num_classes, **own)


def batch(loss, shape=(30,), dtype=torch.float32, scale=1.0):
    generator = torch.Generator().manual_seed(3)
    z = scale * torch.randn(*shape, loss.num_logits, generator=generator)
    return z.to(dtype), torch.randint(loss.num_classes, shape, generator=generator)


@pytest.mark.parametrize("name", ALL)
def test_reductions_agree(name):
    each, total, mean = (make(name, reduction=r) for r in ("none", "sum", "mean"))
    z, y = batch(each)
    assert each(z, y).shape == (30,)
    torch.testing.assert_close(total(z, y), each(z, y).sum())
    entries = CORN_TASKS[y].sum() if name == "CORN" else 30
    torch.testing.assert_close(mean(z, y), each(z, y).sum() / entries)


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_class_weights_follow_pytorch(name):
    plain, weighted = make(name, reduction="none"), make(name, reduction="none", weight=WEIGHT)
    z, y = batch(plain)
    torch.testing.assert_close(weighted(z, y), WEIGHT[y] * plain(z, y))
    share = WEIGHT[y] * (CORN_TASKS[y] if name == "CORN" else 1)
    expected = weighted(z, y).sum() / share.sum()
    torch.testing.assert_close(make(name, weight=WEIGHT)(z, y), expected)
    torch.testing.assert_close(make(name, weight=[10 * w for w in WEIGHT])(z, y), expected)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_cross_entropy_is_pytorchs(weight, reduction):
    common = {"weight": weight, "reduction": reduction, "ignore_index": 2}
    loss = make("CE", **common)
    z, y = batch(loss)
    torch.testing.assert_close(loss(z, y), F.cross_entropy(z, y, **common))


@pytest.mark.parametrize("ignore_index", [-100, 1])
@pytest.mark.parametrize("name", ALL)
def test_ignored_targets_are_as_good_as_absent(name, ignore_index):
    loss = make(name, ignore_index=ignore_index, weight=WEIGHT)
    z, y = batch(loss)
    y = y.masked_fill(torch.arange(30) % 3 == 0, ignore_index)
    kept = y != ignore_index
    for at, broken in enumerate((torch.nan, torch.inf, -torch.inf)):
        z[(~kept).nonzero()[at]] = broken
    z.requires_grad_()
    value = loss(z, y)
    torch.testing.assert_close(value, loss(z[kept], y[kept]))
    (gradient,) = torch.autograd.grad(value, z)
    assert (gradient[~kept] == 0).all() and (gradient[kept] != 0).any()
    each = make(name, ignore_index=ignore_index, reduction="none")(z, y)
    assert (each[~kept] == 0).all()


def test_a_label_of_weight_0_adds_0_even_where_its_loss_is_infinite():
    z = torch.tensor([[0.0, 0, 0, -torch.inf, 0]]).repeat(2, 1).requires_grad_()
    value = make("CE", weight=WEIGHT)(z, torch.tensor([3, 0]))  # weights 0 and ½
    assert value.item() == pytest.approx(np.log(4))
    assert (torch.autograd.grad(value, z)[0][0] == 0).all()


def test_nothing_to_average_is_an_error_and_an_empty_sum_is_zero():
    y = torch.full((3,), -100)
    with pytest.raises(ValueError, match="the mean is undefined: every target is ignored"):
        make("CE")(torch.zeros(3, 5), y)
    with pytest.raises(ValueError, match="or has weight 0"):
        make("CE", weight=WEIGHT)(torch.zeros(3, 5), torch.full((3,), 3))
    assert make("CE", reduction="sum")(torch.zeros(3, 5), y) == 0


@pytest.mark.parametrize("name", BY_SAMPLE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_slice_of_a_stack_has_the_same_bits(name, dtype):
    for K, *shape in ((7, 5, 128), (7, 3, 37), (7, 6, 1), (4, 2, 2, 5), (5, 33), (6, 33)):
        loss = make(name, K, weight=torch.linspace(1, 2, K))
        z, y = batch(loss, shape, dtype, scale=2)
        z.requires_grad_()
        values, weights = loss.terms(z, y)
        (gradient,) = torch.autograd.grad(values.sum(), z)
        for i in range(shape[0]):
            alone = z[i].detach().requires_grad_()
            one, share = loss.terms(alone, y[i])
            assert torch.equal(one, values[i]) and torch.equal(share, weights[i])
            assert torch.equal(torch.autograd.grad(one.sum(), alone)[0], gradient[i])


@pytest.mark.parametrize("name", ALL)
def test_logits_that_lie_class_by_class_give_the_same_loss(name):
    loss = make(name, 7, weight=torch.linspace(1, 2, 7))
    z, y = batch(loss, (96,), scale=5)
    turned = z.T.contiguous().T
    results = []
    for logits in (z, turned):
        logits.requires_grad_()
        value = loss(logits, y)
        results.append((value.detach(), *torch.autograd.grad(value, logits)))
    torch.testing.assert_close(*results, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_part_of_a_large_batch_has_the_same_bits(name):
    loss = make(name, 101, reduction="none")
    z, y = batch(loss, (1500,))
    assert torch.equal(loss(z, y)[700:], loss(z[700:], y[700:]))


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_nan_stays_with_its_sample(name):
    loss = make(name, reduction="none")
    z, y = batch(loss)
    expected = loss(z, y)
    z[4] = torch.nan
    values = loss(z, y)
    assert values[4].isnan()
    others = torch.arange(30) != 4
    assert torch.equal(values[others], expected[others])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", ALL)
def test_dtype_comes_back(name, dtype):
    loss = make(name)
    z, y = batch(loss, dtype=torch.float64)
    value = loss(z.to(dtype), y)
    assert value.dtype == dtype
    torch.testing.assert_close(value.double(), loss(z, y), rtol=4 * torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ALL)
def test_autocast_holds_the_largest_logits(name, dtype):
    loss = make(name, 7)
    z, y = batch(loss)
    z = (1e4 * z.sign()).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=dtype):
        value = loss(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    assert value.dtype == torch.float32 and value.isfinite() and gradient.isfinite().all()
    assert gradient.dtype == dtype


@pytest.mark.parametrize("name", ALL)
def test_buffers_follow_and_lose_nothing(name):
    loss = make(name, weight=WEIGHT)
    z, y = batch(loss, dtype=torch.float64)
    exact = copy.deepcopy(loss).double()
    assert all(b.dtype != torch.float32 for b in exact.buffers())
    back = copy.deepcopy(loss).half().double()
    assert loss(z, y) == exact(z, y) == back(z, y)
    assert loss.to("meta").weight.is_meta and all(b.is_meta for b in loss.buffers())


@pytest.mark.parametrize("name", ALL)
def test_state_and_pickle_round_trip(name):
    loss = make(name, weight=WEIGHT)
    z, y = batch(loss)
    other = make(name, weight=torch.ones(5))
    other.load_state_dict(loss.state_dict())
    assert list(loss.state_dict()) == ["weight"] and not make(name).state_dict()
    assert other(z, y) == pickle.loads(pickle.dumps(loss))(z, y) == loss(z, y)


def test_a_loss_of_a_batch():
    """What holds by sample for the others: weights, NaN, vmap and a single sample."""
    plain = make("WK")
    z, y = batch(plain, (30,), torch.float64)
    weight = torch.tensor([3.0, 1, 2, 0, 1], dtype=torch.float64)
    repeated = torch.arange(30).repeat_interleave(weight[y].long())  # a weight is a count
    torch.testing.assert_close(make("WK", weight=weight)(z, y), plain(z[repeated], y[repeated]))
    heavier = make("WK", weight=10 * weight)(z, y)
    torch.testing.assert_close(heavier, make("WK", weight=weight)(z, y))
    for rows in ((5, 6), (2, 15)):  # the batch is all axes together, vmap's one model apart
        torch.testing.assert_close(plain(z.view(*rows, 5), y.view(rows)), plain(z, y))
    both = torch.func.vmap(torch.func.grad(plain), in_dims=(0, None))(torch.stack([z, 2 * z]), y)
    torch.testing.assert_close(both[1], torch.func.grad(plain)(2 * z, y))
    assert plain(z.index_fill(0, torch.tensor(4), torch.nan), y).isnan()
    assert plain(z[0], y[0]) == 1 and plain(z[0] * torch.nan, y[0]).isnan()
    with pytest.raises(NotImplementedError):
        BatchLoss(5)(z, y)


def test_repr_tells_the_parameters():
    shown = repr(make("AMOL", alpha=2, sigma=0.5, weight=WEIGHT))
    assert shown == (
        "AMOLLoss(num_classes=5, reduction='mean', ignore_index=-100, sigma=0.5, "
        "distance=None, alpha=2.0, "
        "weight=[0.5, 2.0, 1.0, 0.0, 3.0])"
    )
    assert "power=2.0, margin=0.0" in repr(make("CDW-CE"))
    assert "class_counts=[5, 4, 3, 2, 1]" in repr(make("SLACE-prox", class_counts=[5, 4, 3, 2, 1]))


@pytest.mark.parametrize("name", ALL)
def test_a_parameter_takes_effect_when_set_or_cannot_be_set(name):
    parameters = inspect.signature(LOSSES[name]).parameters
    assert parameters.keys() >= {"num_classes", "reduction", "weight", "ignore_index"}
    for parameter in parameters.keys() - {"reduction", "weight", "ignore_index"}:
        loss = make(name)
        before = repr(loss)
        with pytest.raises(AttributeError, match=rf"{parameter} is fixed .* {parameter}=3\.0\)"):
            setattr(loss, parameter, 3.0)
        assert repr(loss) == before == repr(pickle.loads(pickle.dumps(copy.deepcopy(loss))))
    loss, free = make(name), {"reduction": "sum", "weight": WEIGHT, "ignore_index": 1}
    for parameter, value in free.items():
        setattr(loss, parameter, value)
    z, y = batch(loss)
    own = {} if name != "CE-balanced" else {"class_counts": [1] * 5}
    assert torch.equal(loss(z, y), make(name, **own, **free)(z, y))
    with pytest.raises(ValueError, match="one of mean, sum, none, got 'avg'"):
        loss.reduction = "avg"


def test_attributes_of_a_users_own_class_are_free():
    class Scaled(LOSSES["AMOL"]):
        scale = 1.0

        def __init__(self, num_classes, tau=1.0, **common):
            super().__init__(num_classes, **common)
            self.tau = tau

        def values(self, logits, target):
            self.scale = 2.0
            return self.scale * super().values(logits / self.tau, target)

    own, plain = Scaled(5), make("AMOL")
    z, y = batch(plain)
    assert own(z, y) == 2 * plain(z, y)
    own.tau = 2.0
    assert own(z, y) == 2 * plain(z / 2, y)
    with pytest.raises(AttributeError, match="alpha is fixed"):
        own.alpha = 2.0


# By sample, by batch and by tasks; the others take a while.
GRAPHS = ("AMOL", "WK", "CORN")


@pytest.mark.parametrize(
    "name", [n if n in GRAPHS else pytest.param(n, marks=pytest.mark.slow) for n in ALL]
)
def test_compiles_as_one_graph_with_its_gradient(name):
    loss = make(name, weight=WEIGHT)
    z, y = batch(loss)
    z.requires_grad_()
    torch.compiler.reset()
    ours, value = torch.compile(loss, fullgraph=True, backend="aot_eager")(z, y), loss(z, y)
    torch.testing.assert_close(ours, value)
    (gradient,) = torch.autograd.grad(ours, z)
    torch.testing.assert_close(gradient, torch.autograd.grad(value, z)[0])


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_torch_func_differentiates_sample_by_sample(name):
    loss, mean = make(name, weight=WEIGHT, reduction="sum"), make(name, weight=WEIGHT)
    z, y = batch(loss, (6,), torch.float64)
    leaf = z.clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(leaf, y), leaf)
    torch.testing.assert_close(torch.func.grad(loss)(z, y), expected)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(z, y), expected)
    torch.testing.assert_close(torch.func.vmap(mean)(z[None], y[None])[0], mean(z, y))


@pytest.mark.parametrize("name", ALL)
def test_second_derivatives(name):
    loss = make(name, weight=WEIGHT, reduction="sum")
    z, y = batch(loss, (4,), torch.float64, scale=2)
    assert torch.autograd.gradgradcheck(lambda v: loss(v, y), z.clone().requires_grad_())
    far = (1e4 * z.sign()).float()
    assert torch.func.hessian(loss)(z, y).isfinite().all()
    assert torch.func.hessian(loss)(far, y).isfinite().all()


BAD_INPUT = [
    (torch.zeros(3, 5), torch.tensor([0, 5, 9]), r"target\[1\] is 5, labels are 0..4"),
    (torch.zeros(3, 5), torch.tensor([0, 1, -1]), r"target\[2\] is -1, .* ignore_index=-100"),
    (torch.zeros(2, 2, 5), torch.tensor([[0, 1], [7, 0]]), r"target\[1, 0\] is 7"),
    (torch.zeros(5), torch.tensor(5), "target is 5, labels are 0..4"),
    (torch.zeros(5), torch.tensor([3]), r"without the last axis, \(\), got \(1,\)"),
    (torch.zeros(5), torch.tensor(-100), "the mean is undefined"),
    (torch.zeros(3, 5), torch.tensor([[0], [1], [2]]), r"\(3,\), got \(3, 1\)"),
    (torch.zeros(3, 4), torch.tensor([0, 1, 2]), r"\(\.\.\., 5\) for num_classes=5, got \(3, 4\)"),
    (torch.tensor(1.0), torch.tensor(0), r"logits have shape .* got \(\)"),
    (torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64), "the batch is empty"),
]


@pytest.mark.parametrize(("logits", "target", "message"), BAD_INPUT)
def test_bad_values_and_shapes_are_refused(logits, target, message):
    with pytest.raises(ValueError, match=message):
        make("AMOL")(logits, target)


@pytest.mark.parametrize(
    ("logits", "target", "message"),
    [
        (
            torch.zeros(2, 5),
            torch.tensor([0.0, 1.0]),
            "target holds integer labels, .*, got .*float32",
        ),
        (
            torch.zeros(2, 5),
            torch.tensor([True, False]),
            "target holds integer labels, .*, got .*bool",
        ),
        (torch.zeros(2, 5).long(), torch.tensor([0, 1]), "logits are floating point, got .*int64"),
    ],
)
def test_bad_types_are_refused(logits, target, message):
    with pytest.raises(TypeError, match=message):
        make("AMOL")(logits, target)


@pytest.mark.parametrize("name", BY_SAMPLE)
def test_a_single_sample_needs_no_batch(name):
    loss = make(name, weight=WEIGHT)
    z, y = batch(loss, ())
    one = z.clone().requires_grad_()
    value = loss(one, y)
    assert value.shape == () and torch.equal(value, loss(z[None], y[None]))
    value.backward()
    assert one.grad.isfinite().all() and (one.grad != 0).any()
    assert loss.probabilities(z).shape == (5,) and loss.predict(z).shape == ()


INTEGERS = [getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_any_integer_type_is_a_label(dtype):
    loss = make("AMOL", ignore_index=2)
    z, y = batch(loss)
    assert loss(z, y.to(dtype)) == loss(z, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_no_label_wraps_around_to_the_ignored_one(dtype):
    # −100 is 156 in uint8, 65436 in uint16; in unsigned types nothing equals it
    plain, y = make("CE", 200, reduction="none"), torch.tensor([127, 100, 28])
    z = torch.randn(3, 200, generator=torch.Generator().manual_seed(0))
    assert torch.equal(plain(z, y.to(dtype)), F.cross_entropy(z, y, reduction="none"))
    if dtype == torch.uint8:
        assert plain(z[:1], torch.tensor([156], dtype=dtype)) > 0
    if dtype == torch.uint64:
        wrapped = torch.tensor([0, -100, 2]).to(dtype)
        with pytest.raises(ValueError, match=r"target\[1\] is 18446744073709551516, labels"):
            plain(z, wrapped)
    ignored = make("CE", 200, reduction="none", ignore_index=np.int64(100))
    assert ignored(z, y.to(dtype)).tolist()[1] == 0


@pytest.mark.parametrize(
    ("name", "own", "error", "message"),
    [
        ("CE", {"num_classes": 1}, ValueError, "num_classes is at least 2, got 1"),
        ("CE", {"num_classes": 3.0}, TypeError, "num_classes is an int, got 3.0"),
        ("CE", {"ignore_index": None}, TypeError, "ignore_index is an int, got None"),
        ("CE", {"reduction": "avg"}, ValueError, "one of mean, sum, none, got 'avg'"),
        ("CE", {"weight": [1.0] * 4}, ValueError, r"weight has shape \(5,\), got \(4,\)"),
        ("CE", {"weight": [1.0, -1, 1, 1, 1]}, ValueError, "weight is finite, not negative"),
        ("CE", {"weight": [0.0] * 5}, ValueError, "not all zero"),
        ("AMOL", {"alpha": -1}, ValueError, "alpha is finite and not negative, got -1"),
        ("AMOL", {"alpha": "1,5"}, TypeError, "alpha is a number, got '1,5'"),
        ("AMOL", {"sigma": 0}, ValueError, "sigma is above 0, got 0"),
        ("SORD", {"sigma": float("inf")}, ValueError, "sigma is finite"),
        ("CDW-CE", {"power": -1}, ValueError, "power is finite and not negative"),
        ("CDW-CE", {"margin": -1}, ValueError, "margin is finite and not negative"),
        ("Focal", {"gamma": -1}, ValueError, "gamma is finite and not negative"),
        ("SLACE", {"slope": 0}, ValueError, "slope is above 0"),
        ("Triangular", {"neighbor": 0.3}, ValueError, "neighbor is at most 0.2, got 0.3"),
        ("Beta", {"eta": 1.5}, ValueError, "eta is at most 1"),
        ("Exponential", {"tau": 0}, ValueError, "tau is above 0"),
        ("Binomial", {"num_classes": 1}, ValueError, "num_classes is at least 2"),
        ("LogitAdj", {"class_counts": [1, 2]}, ValueError, r"5 numbers, none negative"),
        ("CE-balanced", {"class_counts": [0] * 5}, ValueError, "not all zero"),
        ("SLACE-prox", {"class_counts": [1, 2]}, ValueError, r"5 positive numbers, got \[1, 2\]"),
        ("SLACE-prox", {"class_counts": [1, 2, 0, 1, 1]}, ValueError, "5 positive numbers"),
    ],
)
def test_bad_parameters_are_refused(name, own, error, message):
    with pytest.raises(error, match=message):
        LOSSES[name](**{"num_classes": 5, **own})


def test_classes_may_be_counted_by_numpy():
    assert make("CE", np.int64(5)).num_classes == 5


@pytest.mark.parametrize("name", ALL)
def test_probabilities_and_labels(name):
    loss = make(name)
    z, _ = batch(loss, (4, 50), scale=5)  # CORAL's logits in no order
    p = loss.probabilities(z)
    assert p.shape == (4, 50, 5) and (p >= 0).all()
    torch.testing.assert_close(p.sum(-1), torch.ones(4, 50))
    labels = loss.predict(z)
    assert labels.dtype == torch.int64 and labels.shape == (4, 50)
    if loss.num_logits == 5:
        assert torch.equal(labels, p.argmax(-1))
        assert loss.predict(torch.tensor([1.0, 2, 0, 2, 2])) == 1  # the first of ties
    if name == "CE-masked":
        assert (labels != 2).all() and (p[..., 2] == 0).all() and labels.unique().numel() == 4


def test_binary_tasks_by_hand():
    z = torch.tensor([2.0, 0.0, -1.0, 1.0], dtype=torch.float64)  # σ = .88, .5, .27, .73
    above = torch.sigmoid(z)
    coral, corn = make("CORAL"), make("CORN")
    assert coral.predict(z) == 2  # two tasks above a half, in whatever place
    falling = torch.tensor([1, above[0], above[1], above[2], above[2], 0], dtype=torch.float64)
    torch.testing.assert_close(coral.probabilities(z), -falling.diff())
    assert corn.predict(z) == 1  # .88, then .44
    passed = torch.cat([torch.ones(1, dtype=torch.float64), above.cumprod(0)])
    failed = torch.cat([1 - above, torch.ones(1, dtype=torch.float64)])
    torch.testing.assert_close(corn.probabilities(z), passed * failed)


def test_registry_names_all_methods():
    assert set(PAPER_METHODS) <= set(LOSSES) and len(PAPER_METHODS) == 8
    assert LOSSES["CORAL"].shared_head and LOSSES["CLM"].shared_head
    assert [make(n).num_logits for n in ("CORAL", "CORN", "CLM", "AMOL")] == [4, 4, 4, 5]


@pytest.mark.parametrize("name", ALL)
def test_the_package_exports_each_registered_loss(name):
    assert getattr(losses, LOSSES[name].__name__) is LOSSES[name]
    assert LOSSES[name].__name__ in losses.__all__ and LOSSES[name].__name__ in dir(losses)


def test_the_package_exports_no_helpers():
    assert {"AMOLLoss", "center_weight", "register_loss"} < set(losses.__all__) == set(dir(losses))
    assert not {"torch", "Tensor", "positive", "FunctionLoss"} & set(losses.__all__)


def test_a_function_becomes_a_method():
    try:

        @register_loss("absolute")
        def absolute(logits, target, num_classes):
            """Expected distance from the label."""
            classes = torch.arange(num_classes)
            return (logits.view(-1, 3).softmax(-1) * (classes - target[:, None]).abs()).sum(-1)

        loss = LOSSES["absolute"](num_classes=3, weight=[1.0, 2.0, 3.0])
        assert isinstance(loss, OrdinalLoss) and loss.__doc__ == "Expected distance from the label."
        y = torch.tensor([[0, 1], [2, -100]])
        assert loss(torch.zeros(2, 2, 3), y).item() == pytest.approx((1 + 2 * 2 / 3 + 3) / 6)
        values, _ = loss.terms(torch.zeros(2, 2, 3), y.clamp(min=0))
        assert values.shape == (2, 2)
        assert loss(torch.zeros(3, 2).T, torch.tensor([0, 1])).item() == pytest.approx(7 / 9)
    finally:
        LOSSES.pop("absolute", None)


@pytest.fixture
def registered():
    """Names registered by a test, taken back after it."""
    before = dict(LOSSES)
    yield LOSSES
    LOSSES.clear()
    LOSSES.update(before)


def test_a_subclass_becomes_a_method(registered):
    @register_loss("twice")
    class Twice(LOSSES["AMOL"]):
        def values(self, logits, target):
            return 2 * super().values(logits, target)

    z, y = batch(make("AMOL"))
    assert registered["twice"] is Twice and make("twice")(z, y) == 2 * make("AMOL")(z, y)


def test_names_of_the_package_are_kept(registered):
    def cheap(logits, target, num_classes):
        return logits.sum(-1)

    with pytest.raises(ValueError, match="'AMOL' comes with the package"):
        register_loss("AMOL")(cheap)
    with pytest.raises(TypeError, match="takes a name first"):
        register_loss(cheap)
    register_loss("mine")(cheap)
    register_loss("mine")(cheap)  # a cell executed again


class Mean(torch.nn.Module):
    def forward(self, logits, target, num_classes):
        return F.cross_entropy(logits, target, reduction="none")


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (lambda logits, target, num_classes: logits.sum(-1), "lambda"),
        (functools.partial(F.cross_entropy, reduction="none"), "partial"),
        (Mean(), "Mean"),
        (torch.nn.CrossEntropyLoss, "type"),
        ("cross_entropy", "str"),
    ],
)
def test_what_is_no_function_is_named(loss, kind, registered):
    with pytest.raises(TypeError, match=f"a function written with def, got a {kind}"):
        register_loss("mine")(loss)
    assert "mine" not in registered


def mean_of_batch(logits, target, num_classes):
    return F.cross_entropy(logits, target)


def value_per_logit(logits, target, num_classes):
    return logits.exp()


def detached(logits, target, num_classes):
    return F.cross_entropy(logits.detach(), target, reduction="none")


def of_labels(logits, target, num_classes):
    return (logits.argmax(-1) - target).abs().double()


def in_numpy(logits, target, num_classes):
    return np.abs(logits.detach().numpy()).sum(-1)


def two_arguments(logits, target):
    return F.cross_entropy(logits, target, reduction="none")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            mean_of_batch,
            ValueError,
            "one value for the whole batch, .* return one value per sample",
        ),
        (value_per_logit, ValueError, r"shape \(10, 5\) for .*; return one value per sample, "),
        (detached, ValueError, "detached can't be differentiated: no gradient comes back"),
        (of_labels, ValueError, "can't be differentiated"),
        (in_numpy, ValueError, "returned a ndarray for .*; return one value per sample, a tensor"),
        (two_arguments, TypeError, r"two_arguments takes \(logits, target, num_classes\)"),
    ],
)
def test_a_mistaken_function_is_named_before_training(function, error, message, registered):
    with pytest.raises(error, match=message):
        register_loss("mine")(function)
        make("mine")


@pytest.mark.parametrize("module", LIBRARY)
def test_examples_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_everything_public_has_an_example():
    public = [getattr(losses, n) for n in losses.__all__ if n not in ("LOSSES", "PAPER_METHODS")]
    tables = [table for name, table in vars(metrics).items() if name.endswith("METRICS")]
    known = [*(metric for table in tables for metric in table.values()), metrics.scorers]
    assert [x.__name__ for x in [*public, *known] if ">>> " not in (x.__doc__ or "")] == []


ALONE = """
import importlib.abc, sys, time
import torch

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        allowed = sys.stdlib_module_names | {"amol", "torch", "numpy"}
        if name.partition(".")[0] not in allowed:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocked())
before, start = set(sys.modules), time.process_time()
import amol.losses
print(time.process_time() - start, *sorted(set(sys.modules) - before))
loss = amol.losses.AMOLLoss(7)
loss(torch.zeros(2, 7, requires_grad=True), torch.tensor([0, 6])).backward()
"""


def test_import_needs_torch_and_numpy_only():
    base = tomllib.loads((ROOT / "amol" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.match("[a-z]+", need)[0] for need in base["dependencies"]] == ["numpy", "torch"]
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seconds, *modules = done.stdout.split()
    assert float(seconds) < 0.1  # on top of torch's own
    assert all(name.partition(".")[0] == "amol" for name in modules), modules
