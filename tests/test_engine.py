"""The compiled engine against a plain PyTorch loop, and its promise of equal bits."""

import threading
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from amol.engine import Arrays, Protocol, Stopped, fit, read, train
from amol.losses import LOSSES, CrossEntropyLoss
from amol.metrics import METRICS


def some_data(K=5, n=330, features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features)).astype(np.float32)
    score = X[:, 0] + 0.5 * X[:, -1] * X[:, -1] + 0.3 * rng.standard_normal(n)
    y = np.searchsorted(np.quantile(score, np.arange(1, K) / K), score).astype(np.int64)
    a, b = n * 2 // 3, n * 5 // 6
    return Arrays(X[:a], y[:a], X[a:b], y[a:b], X[b:], K)


@pytest.fixture(scope="module")
def data():
    return some_data()


def mixed(x):
    """Murmur3's last step on Python's integers."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B % 2**32
    x = (x ^ (x >> 13)) * 0xC2B2AE35 % 2**32
    return x ^ (x >> 16)


def kept(seed, step, layer, rows, units, rate):
    """Dropout's mask as `amol.engine.arithmetic` words it."""
    key = mixed(mixed(seed ^ step) ^ layer)
    return torch.tensor([
        [mixed((mixed(key ^ row) + 0x9E3779B9 * unit) % 2**32) >= int(rate * 2**32)
         for unit in range(units)]
        for row in range(rows)
    ])  # fmt: skip


class Head(nn.Module):
    """CORAL's: one weight vector, K − 1 biases."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.empty(1, inputs)),
            nn.Parameter(torch.empty(outputs)),
        )

    def forward(self, x):
        return x @ self.weight.T + self.bias


def plain_loop(loss, seed, data, protocol, dtype=torch.float64):
    """The loop that a user would write: nn.Linear, autograd and torch.optim.Adam."""
    random = np.random.RandomState(seed)
    widths = [data.X_train.shape[1], *[protocol.hidden] * protocol.layers]
    layers = [nn.Linear(i, o) for i, o in pairwise(widths)]
    layers.append((Head if loss.shared_head else nn.Linear)(widths[-1], loss.num_logits))
    layers = nn.ModuleList(layers).to(dtype)
    with torch.no_grad():
        for layer in layers:
            outputs, inputs = layer.weight.shape
            drawn = (2 * random.random_sample((inputs, outputs)) - 1) * inputs**-0.5
            layer.weight.copy_(torch.from_numpy(drawn.astype(np.float32).T))
            if isinstance(layer, Head):
                layer.bias.copy_(torch.arange(loss.num_logits, 0, -1) / loss.num_logits)
            else:
                drawn = (2 * random.random_sample(outputs) - 1) * inputs**-0.5
                layer.bias.copy_(torch.from_numpy(drawn.astype(np.float32)))
    steps = 0

    def model(x, train=False):
        for at, layer in enumerate(layers[:-1], 1):
            x = layer(x).relu()
            if train and protocol.dropout:
                x = x * kept(seed, steps, at, *x.shape, protocol.dropout) / (1 - protocol.dropout)
        return layers[-1](x)

    optimizer = torch.optim.Adam(
        layers.parameters(), lr=protocol.lr, weight_decay=protocol.weight_decay
    )
    X, X_val, X_test = (
        torch.from_numpy(part).to(dtype) for part in (data.X_train, data.X_validation, data.X_test)
    )
    y, y_val = torch.from_numpy(data.y_train), torch.from_numpy(data.y_validation)
    best, best_epoch, found = float("inf"), 0, None
    for epoch in range(1, protocol.epochs + 1):
        for rows in torch.from_numpy(random.permutation(len(X))).split(protocol.batch_size):
            steps += 1
            optimizer.zero_grad()
            loss(model(X[rows], train=True), y[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            value = loss(model(X_val), y_val).item()
            if value < best:
                best, best_epoch = value, epoch
                found = loss.probabilities(model(X_test)).numpy()
        if epoch - best_epoch >= protocol.patience:
            break
    return found, best_epoch, epoch


SHORT = Protocol(hidden=32, batch_size=64, epochs=8, patience=5)


def agrees(loss, data, protocol, seed=3):
    found, best_epoch, epochs = plain_loop(loss, seed, data, protocol)
    outcome = train(loss, seed, data, protocol)
    assert (outcome.best_epoch, outcome.epochs) == (best_epoch, epochs)
    # Adam divides by the gradient's size, so that a weight of hardly any gradient moves by its
    # rounding: after some dozens of steps float32 and float64 lie about 1e-5 apart
    np.testing.assert_allclose(outcome.probabilities, found, atol=2e-4)


WEIGHT = [1.0, 2.0, 1.0, 0.5, 3.0]


@pytest.mark.parametrize(
    "method, weight", [*((name, WEIGHT) for name in LOSSES), ("CE", None), ("WK", None)]
)
def test_agrees_with_a_plain_pytorch_loop(data, method, weight):
    agrees(LOSSES[method](num_classes=5, weight=weight), data, SHORT)


@pytest.mark.parametrize(
    "K, features, changes",
    [
        (5, 4, dict(layers=1, hidden=1)),
        (2, 1, dict(layers=3, hidden=17)),
        (3, 33, dict(layers=4, hidden=100, batch_size=1, epochs=2)),
        (250, 9, dict(hidden=60, batch_size=1000)),
        (7, 16, dict(hidden=130, batch_size=37, weight_decay=0.01)),
        (5, 4, dict(layers=2, dropout=0.3)),
        (5, 5, dict(layers=3, dropout=0.5, weight_decay=0.1, lr=1e-2)),
    ],
)
def test_agrees_at_any_shape_and_setting(K, features, changes):
    data = some_data(K, features=features)
    agrees(LOSSES["AMOL"](num_classes=K), data, replace(SHORT, **changes))
    if K == 5:
        agrees(LOSSES["CORAL"](num_classes=K), data, replace(SHORT, **changes))


@pytest.mark.parametrize("loss", [LOSSES["AMOL"], LOSSES["CORN"]])
def test_weights_of_samples_weigh_their_terms(data, loss):
    """One step of all samples: the gradient is that of Σ w l / Σ w, so repeating is the same."""
    loss, rng = loss(num_classes=5, weight=WEIGHT), np.random.default_rng(0)
    times = rng.integers(1, 4, len(data.X_train))
    repeated = np.repeat(np.arange(len(times)), times)
    v = rng.integers(1, 4, len(data.X_validation))
    weighted = replace(data, weights_train=times.astype(float), weights_validation=v.astype(float))
    again = replace(
        data,
        X_train=data.X_train[repeated],
        y_train=data.y_train[repeated],
        X_validation=np.repeat(data.X_validation, v, axis=0),
        y_validation=np.repeat(data.y_validation, v),
    )
    protocol = replace(SHORT, batch_size=10**4, epochs=4)
    one, other = (fit(loss, 0, part, protocol) for part in (weighted, again))
    np.testing.assert_allclose(one.training_loss, other.training_loss, rtol=1e-4)
    np.testing.assert_allclose(one.validation_loss, other.validation_loss, rtol=1e-4)
    plain = fit(loss, 0, data, protocol)
    assert abs(plain.training_loss[0] / one.training_loss[0] - 1) > 2e-4
    same = replace(data, weights_train=np.full(len(times), 0.25))
    assert fit(loss, 0, same, protocol).network.digest == plain.network.digest


def test_the_loss_of_an_epoch_is_that_of_its_samples_before_each_step(data):
    loss, protocol = CrossEntropyLoss(5), replace(SHORT, batch_size=10**4, epochs=3)
    found = fit(loss, 0, data, protocol)
    own = fit(Own(5), 0, data, protocol)
    np.testing.assert_allclose(found.training_loss, own.training_loss, rtol=1e-5)
    epochs = [fit(loss, 0, data, replace(protocol, epochs=k)).network for k in (1, 2)]
    after = [read(loss, network, data.X_train)[1] for network in epochs]
    values = [-np.log(p[np.arange(len(p)), data.y_train]).mean() for p in after]
    np.testing.assert_allclose(found.training_loss[1:], values, rtol=1e-5)
    p = read(loss, found.network, data.X_validation)[1]
    value = -np.log(p[np.arange(len(p)), data.y_validation]).mean()
    assert found.validation_loss[found.best_epoch - 1] == pytest.approx(value, rel=1e-5)


class Own(CrossEntropyLoss):
    """Cross-entropy that the engine takes for a user's loss."""


def test_a_loss_without_compiled_gradient_trains_in_the_same_loop(data):
    own, known = Own(5), CrossEntropyLoss(5)
    agrees(own, data, replace(SHORT, dropout=0.2))
    one, other = train(own, 0, data, SHORT), train(known, 0, data, SHORT)
    assert not one.compiled and other.compiled
    assert one.best_epoch == other.best_epoch
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-4)


def test_the_best_epoch_is_kept_and_patience_counts_from_it(data):
    loss = CrossEntropyLoss(5)
    stopped = train(loss, 0, data, Protocol(epochs=200, patience=4, lr=1e-2))
    assert stopped.epochs == stopped.best_epoch + 4 < 200
    there = train(loss, 0, data, Protocol(epochs=stopped.best_epoch, lr=1e-2))
    assert there.weights_digest == stopped.weights_digest
    kept_on = train(loss, 0, data, Protocol(epochs=200, patience=4, lr=1e-2, restore=False))
    assert kept_on.best_epoch == stopped.best_epoch and kept_on.epochs == stopped.epochs
    assert kept_on.weights_digest != stopped.weights_digest


def test_the_monitor_may_be_kappa(data):
    loss = CrossEntropyLoss(5)
    protocol = Protocol(epochs=60, patience=60, lr=1e-2)
    by_kappa = train(loss, 0, data, replace(protocol, monitor="QWK"))
    by_loss = train(loss, 0, data, protocol)
    assert by_kappa.best_epoch > by_loss.best_epoch, "the loss grows where labels still improve"

    def kappa(outcome):
        return METRICS["QWK"](data.y_validation, outcome.y_pred_validation, 5)

    assert kappa(by_kappa) >= kappa(by_loss)


def test_a_run_that_stops_being_finite_fails_with_its_last_good_weights(data):
    class Breaks(CrossEntropyLoss):
        calls = 0

        def terms(self, logits, target):
            values, weights = super().terms(logits, target)
            Breaks.calls += logits.requires_grad
            return values * (float("nan") if Breaks.calls > 10 else 1.0), weights

    protocol = Protocol(epochs=8, batch_size=64)  # four steps an epoch: broken in the third
    for restore in (True, False):
        Breaks.calls = 0
        broken = train(Breaks(5), 1, data, replace(protocol, restore=restore))
        assert (broken.failed, broken.epochs, broken.best_epoch) == (3, 3, 2)
        assert np.isfinite(broken.probabilities).all()
    lost = train(CrossEntropyLoss(5), 1, data, replace(protocol, lr=1e38))
    assert lost.failed == lost.epochs == 1 and lost.best_epoch == 0
    assert np.isfinite(lost.probabilities).all()


def test_stop_ends_a_run_between_epochs(data):
    asked = []
    with pytest.raises(Stopped):
        train(CrossEntropyLoss(5), 0, data, SHORT, stop=lambda: asked.append(1) or len(asked) > 3)
    assert len(asked) == 4


def test_labels_outside_the_classes_are_refused(data):
    with pytest.raises(ValueError, match=r"label \d; allowed: 0 to 4"):
        train(CrossEntropyLoss(5), 0, replace(data, y_train=data.y_train + 3), SHORT)


def test_threads_train_side_by_side_to_the_same_bits(data):
    jobs = [(LOSSES[name](num_classes=5), seed) for name in ("AMOL", "CORN") for seed in (0, 1)]
    expected = [train(*job, data, SHORT).weights_digest for job in jobs]
    found = [None] * len(jobs)

    def work(at):
        found[at] = train(*jobs[at], data, SHORT).weights_digest

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected and len(set(found)) == len(jobs)
