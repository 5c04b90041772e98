"""Compiled gradients against autograd in float64, for every registered loss."""

import numpy as np
import pytest
import torch

from amol.engine import is_compiled
from amol.engine.gradients import mean_slopes, mean_value
from amol.engine.kernels import aligned, stride
from amol.engine.pointers import KIND, address
from amol.engine.registry import rule
from amol.losses import LOSSES, PAPER_METHODS, CrossEntropyLoss, OrdinalLoss

COMPILED = [name for name, loss in LOSSES.items() if is_compiled(loss(num_classes=4))]


def compiled(loss, z, y):
    """Mean loss and slopes (n, outputs) by the compiled functions."""
    found, n = rule(loss), len(y)
    logits = aligned(n, stride(loss.num_logits))
    logits[:, : z.shape[1]] = z
    p, log_p, slopes = aligned(3, *logits.shape)
    values = aligned(n)
    kind, w = address(found.kind, KIND), np.ones(n)
    mean_slopes(kind, found.formula, logits, y, w, p, log_p, values, slopes)
    assert not slopes[:, z.shape[1] :].any(), "padding stays 0"
    mean = mean_value(kind, found.formula, logits, y, w, p, log_p, values, aligned(*logits.shape))
    return mean, slopes[:, : z.shape[1]]


def by_autograd(loss, z, y):
    z = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    values, weights = loss.terms(z, torch.from_numpy(y))
    mean = values.sum() / weights.sum()
    return mean.item(), torch.autograd.grad(mean, z)[0].numpy()


@pytest.mark.parametrize("K", [2, 3, 7, 20])
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_gradient_is_autograds(name, K):
    rng = np.random.default_rng(K)
    for scale in (0.1, 1, 5, 50, 1000):  # the last: classes thousands apart
        for weight in (None, rng.uniform(0.5, 3, K)):
            loss = LOSSES[name](num_classes=K, weight=weight)
            z = (scale * rng.normal(size=(60, loss.num_logits))).astype(np.float32)
            y = rng.integers(0, K, 60)
            mean, slopes = compiled(loss, z, y)
            expected_mean, expected = by_autograd(loss, z, y)
            # float32 sums over K classes; p is off by the rounding of z, 6e-8 · |z|, and log p near
            # p = 1 by 6e-8, where the divergences' whole gradient fades, hence the second term
            tolerance = 3e-6 + 6e-8 * float(np.abs(z).max())
            assert mean == pytest.approx(expected_mean, rel=tolerance, abs=1e-6)
            np.testing.assert_allclose(
                slopes, expected, atol=tolerance * np.abs(expected).max() + 1e-7
            )


@pytest.mark.parametrize("name", COMPILED)
def test_predictions_are_the_losses(name):
    for K in (2, 3, 7, 20):
        loss = LOSSES[name](num_classes=K)
        z = np.random.default_rng(K).normal(size=(200, loss.num_logits)).astype(np.float32) * 4
        z[0] = 0  # ties
        labels, probabilities = rule(loss).read(z)
        exact = torch.from_numpy(z)
        np.testing.assert_array_equal(labels, loss.predict(exact).numpy())
        np.testing.assert_allclose(probabilities, loss.probabilities(exact).numpy(), atol=1e-6)


def test_a_subclass_is_not_taken_for_its_parent():
    class Twice(CrossEntropyLoss):
        def values(self, logits, target):
            return 2 * super().values(logits, target)

    assert is_compiled(CrossEntropyLoss(3)) and not is_compiled(Twice(3))
    assert not is_compiled(OrdinalLoss(3))
    assert not is_compiled(LOSSES["CDW-CE"](num_classes=3, margin=0.1))


def test_a_loss_that_names_its_kind_is_compiled():
    named = [name for name, loss in LOSSES.items() if loss.kind is not None]
    assert named == COMPILED and set(PAPER_METHODS) < set(COMPILED)


def test_a_mean_over_logits_that_are_not_finite_is_not_a_number():
    z = np.zeros((3, 4), np.float32)
    z[1, 2] = np.inf
    assert np.isnan(compiled(LOSSES["CE"](num_classes=4), z, np.array([0, 1, 2]))[0])


@pytest.mark.parametrize("weight", [None, [2.0, 0.0, 0.0, 1.0]])
def test_a_batch_with_one_label_has_kappa_zero_and_no_slopes(weight):
    loss = LOSSES["WK"](num_classes=4, weight=weight)
    for y in ([3], [3, 3, 3], [0] * 64, [3, 3, 1] if weight else [1, 1]):  # 1 has weight 0
        z = np.random.default_rng(0).normal(size=(len(y), 4)).astype(np.float32) * 1e4
        mean, slopes = compiled(loss, z, np.array(y))
        assert mean == 1 and not slopes.any()
