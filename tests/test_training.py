"""The stack trainer against a plain PyTorch loop, and its promise of equal bits in any stack."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from amol.experiments.training import Arrays, Protocol, train_stack
from amol.losses import LOSSES, PAPER_METHODS, OrdinalLoss

K = 5


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((330, 4)).astype(np.float32)
    score = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(330)
    y = np.searchsorted(np.quantile(score, [0.1, 0.3, 0.7, 0.9]), score).astype(np.int64)
    return Arrays(X[:210], y[:210], X[210:270], y[210:270], X[270:], K)


def train(jobs, data, protocol):
    losses = [loss for loss, _ in jobs]
    seeds = [seed for _, seed in jobs]
    return dict(train_stack(losses, seeds, data, protocol))


def plain_loop(loss, seed, data, protocol):
    """One model with nn.Linear, autograd and torch.optim.Adam: the loop that a user would write."""
    torch.manual_seed(seed)
    widths = [data.X_train.shape[1], *[protocol.hidden] * protocol.layers]
    layers = []
    for i, o in pairwise(widths):
        layers += [nn.Linear(i, o), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(widths[-1], K))
    optimizer = torch.optim.Adam(model.parameters(), lr=protocol.lr)
    X, y = torch.from_numpy(data.X_train), torch.from_numpy(data.y_train)
    X_val, y_val = torch.from_numpy(data.X_validation), torch.from_numpy(data.y_validation)
    best, best_epoch, kept = float("inf"), 0, None
    for epoch in range(1, protocol.epochs + 1):
        for rows in torch.randperm(len(X)).split(protocol.batch_size):
            optimizer.zero_grad()
            loss(model(X[rows]), y[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            value = loss(model(X_val), y_val).item()
            if value < best:
                best, best_epoch = value, epoch
                kept = model(torch.from_numpy(data.X_test)).softmax(-1).numpy()
        if epoch - best_epoch >= protocol.patience:
            break
    return kept, best_epoch, epoch


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 0.5, 3.0]])
@pytest.mark.parametrize("method", [*PAPER_METHODS, "KL", "Focal", "SLACE"])
def test_agrees_with_a_plain_pytorch_loop(data, method, weight, layers):
    loss = LOSSES[method](num_classes=K, weight=weight)
    protocol = Protocol(hidden=32, layers=layers, batch_size=64, epochs=12, patience=5)
    kept, best_epoch, epochs = plain_loop(loss, 3, data, protocol)
    outcome = train([(loss, 3)], data, protocol)[0]
    assert (outcome.best_epoch, outcome.epochs) == (best_epoch, epochs)
    np.testing.assert_allclose(outcome.probabilities, kept, atol=2e-4)


def test_a_run_has_the_same_bits_alone_and_in_any_stack(data):
    losses = [LOSSES[m](num_classes=K) for m in (*PAPER_METHODS, "Focal", "SLACE")]
    jobs = [(loss, seed) for loss in losses for seed in range(3)]
    protocol = Protocol(hidden=40, batch_size=50, epochs=40, patience=3, lr=5e-3)
    whole = train(jobs, data, protocol)
    assert len({outcome.epochs for outcome in whole.values()}) > 3, "all stop alike: a weak test"
    rng = np.random.default_rng(1)
    parts = [[i] for i in range(0, len(jobs), 7)]
    parts += [sorted(rng.choice(len(jobs), size, replace=False)) for size in (2, 5, 16)]
    for part in parts:
        for position, outcome in train([jobs[i] for i in part], data, protocol).items():
            expected = whole[part[position]]
            assert outcome.epochs == expected.epochs
            assert outcome.best_epoch == expected.best_epoch
            assert outcome.probabilities.tobytes() == expected.probabilities.tobytes()


@pytest.mark.parametrize("method", ["CORAL", "CORN"])
def test_heads_with_one_logit_fewer_learn(data, method):
    loss = LOSSES[method](num_classes=K)
    outcome = train([(loss, 0), (loss, 1)], data, Protocol(epochs=60))[1]
    assert outcome.probabilities.shape == (60, K)
    np.testing.assert_allclose(outcome.probabilities.sum(-1), 1, atol=1e-5)
    assert len(set(outcome.y_pred.tolist())) >= 4


def test_a_run_that_stops_being_finite_fails_alone(data):
    class Breaks(LOSSES["CE"]):
        calls = 0

        def terms(self, logits, target):
            values, weights = super().terms(logits, target)
            if logits.requires_grad:
                Breaks.calls += 1
            return values * (float("nan") if Breaks.calls > 10 else 1.0), weights

    good = LOSSES["CE"](num_classes=K)
    protocol = Protocol(epochs=8, batch_size=64)  # four steps an epoch: broken in the third
    mixed = train([(good, 0), (Breaks(num_classes=K), 1), (good, 2)], data, protocol)
    alone = train([(good, 0), (good, 2)], data, protocol)
    assert mixed[1].failed == 3 and mixed[1].epochs == 3
    assert mixed[0].failed is None and mixed[2].failed is None
    assert mixed[0].probabilities.tobytes() == alone[0].probabilities.tobytes()
    assert mixed[2].probabilities.tobytes() == alone[1].probabilities.tobytes()


def test_the_best_epoch_is_kept_and_patience_counts_from_it(data):
    loss = LOSSES["CE"](num_classes=K)
    stopped = train([(loss, 0)], data, Protocol(epochs=200, patience=4))[0]
    assert stopped.epochs == stopped.best_epoch + 4 < 200
    again = train([(loss, 0)], data, Protocol(epochs=stopped.best_epoch, patience=4))[0]
    assert again.probabilities.tobytes() == stopped.probabilities.tobytes()


@pytest.mark.parametrize("restore", [True, False])
@pytest.mark.parametrize("method", ["AMOL", "CORN"])
def test_validation_and_test_are_predicted_by_the_same_weights(data, method, restore):
    same = replace(data, X_test=data.X_validation)
    protocol = Protocol(epochs=60, batch_size=64, lr=5e-3, patience=9, restore=restore)
    loss = LOSSES[method](num_classes=K)
    for outcome in train([(loss, seed) for seed in range(3)], same, protocol).values():
        assert outcome.epochs > outcome.best_epoch
        assert outcome.y_pred.tolist() == outcome.y_pred_validation.tolist()


def test_a_run_that_fails_at_once_is_predicted_by_its_first_weights(data):
    class Fails(LOSSES["CE"]):
        def terms(self, logits, target):
            values, weights = super().terms(logits, target)
            return values * float("nan"), weights

    same = replace(data, X_test=data.X_validation)
    outcome = train([(Fails(num_classes=K), 0)], same, Protocol())[0]
    assert (outcome.failed, outcome.best_epoch) == (1, 0)
    assert np.isfinite(outcome.probabilities).all()
    assert outcome.y_pred.tolist() == outcome.y_pred_validation.tolist()


def test_a_formula_of_ones_own_may_take_views(data):
    class Own(OrdinalLoss):
        def values(self, logits, target):
            log_p = logits.view(-1, K).log_softmax(-1)
            return -log_p[torch.arange(len(log_p)), target.view(-1)].view(target.shape)

    protocol = Protocol(epochs=5)
    own, known = (train([(loss(K), 0)], data, protocol)[0] for loss in (Own, LOSSES["CE"]))
    np.testing.assert_allclose(own.probabilities, known.probabilities, atol=1e-4)


def test_a_formula_of_ones_own_may_take_gradients_inside(data):
    class Own(OrdinalLoss):
        def values(self, logits, target):
            with torch.enable_grad():
                z = logits.detach().requires_grad_()
                (p,) = torch.autograd.grad(z.logsumexp(-1).sum(), z)
            log_p_y = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)
            return p.sum(-1) - 1 - log_p_y

    protocol = Protocol(epochs=5)
    own, known = (train([(loss(K), 0)], data, protocol)[0] for loss in (Own, LOSSES["CE"]))
    np.testing.assert_allclose(own.probabilities, known.probabilities, atol=1e-4)


def test_mixed_heads_are_refused(data):
    jobs = [(LOSSES["CE"](num_classes=K), 0), (LOSSES["CORN"](num_classes=K), 0)]
    with pytest.raises(ValueError, match="same kind of head"):
        train(jobs, data, Protocol())
