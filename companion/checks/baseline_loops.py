"""Rivals of the engine: what a user would write or take instead, for the bench to time.

They start from the engine's first weights and take its batches in its order, so that they end with
the same networks but for rounding; skorch and scikit-learn draw their own. All evaluate the
validation loss after each epoch (but scikit-learn), and none keeps the best epoch.
"""

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from amol.engine import Arrays, Protocol
from amol.losses import OrdinalLoss
from companion.errors import StudyError

if sys.flags.optimize > 1:
    raise StudyError("skorch, a rival, reads its own docstrings; leave out PYTHONOPTIMIZE=2")


@dataclass(frozen=True)
class Rival:
    """A way to train networks: ``train(loss, seeds, data, protocol)`` returns probabilities.

    These are the test part's, one array (n, K) per seed. ``seeds`` says how many it takes at once;
    ``own_start``, that it draws weights or orders by itself; ``needs`` names a library.
    """

    train: Callable
    seeds: int = 1
    only_cross_entropy: bool = False
    own_start: bool = False
    needs: str = "torch"

    @property
    def available(self) -> bool:
        return find_spec(self.needs) is not None


def layers(data: Arrays, protocol: Protocol) -> list[tuple[int, int]]:
    """Inputs and outputs of each layer of a network."""
    widths = [data.X_train.shape[1], *[protocol.hidden] * protocol.layers, data.num_classes]
    return list(pairwise(widths))


def start(seed: int, data: Arrays, protocol: Protocol) -> tuple[list[np.ndarray], np.ndarray]:
    """First weights [(inputs, outputs), (outputs,), …] and the orders (epochs, n) of training."""
    random, weights = np.random.RandomState(seed), []
    for inputs, outputs in layers(data, protocol):
        for shape in ((inputs, outputs), (outputs,)):
            drawn = (2 * random.random_sample(shape) - 1) / np.sqrt(inputs)
            weights.append(drawn.astype(np.float32))
    n = len(data.X_train)
    return weights, np.stack([random.permutation(n) for _ in range(protocol.epochs)])


def network(weights: list[np.ndarray]) -> nn.Sequential:
    """The network with these weights."""
    modules = []
    for matrix, bias in zip(weights[::2], weights[1::2], strict=True):
        linear = nn.Linear(*matrix.shape)
        linear.weight.data, linear.bias.data = (
            torch.from_numpy(v.copy()) for v in (matrix.T, bias)
        )
        modules += [linear, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def _tensors(data: Arrays) -> list[torch.Tensor]:
    parts = (data.X_train, data.y_train, data.X_validation, data.y_validation, data.X_test)
    return [torch.from_numpy(part) for part in parts]


def _loop(batches: Callable, loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol):
    """The usual loop; ``batches(X, y, size, order)`` yields an epoch's parts of X and y."""
    X, y, X_validation, y_validation, X_test = _tensors(data)
    found = []
    for seed in seeds:
        weights, orders = start(seed, data, protocol)
        model = network(weights)
        optimizer = torch.optim.Adam(model.parameters(), lr=protocol.lr)
        for order in orders:
            for X_batch, y_batch in batches(X, y, protocol.batch_size, order):
                optimizer.zero_grad()
                loss(model(X_batch), y_batch).backward()
                optimizer.step()
            with torch.no_grad():
                loss(model(X_validation), y_validation).item()
        with torch.no_grad():
            found.append(model(X_test).softmax(-1).numpy())
    return found


def _loaded(X, y, size: int, order: np.ndarray):
    return DataLoader(TensorDataset(X, y), batch_size=size, sampler=order.tolist())


def _indexed(X, y, size: int, order: np.ndarray):
    return ((X[rows], y[rows]) for rows in torch.from_numpy(order).split(size))


def _skorch(loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol):
    from skorch import NeuralNet
    from skorch.dataset import Dataset
    from skorch.helper import predefined_split

    found = []
    for seed in seeds:
        net = NeuralNet(
            network(start(seed, data, protocol)[0]),
            criterion=loss,
            optimizer=torch.optim.Adam,
            lr=protocol.lr,
            max_epochs=protocol.epochs,
            batch_size=protocol.batch_size,
            iterator_train__shuffle=True,
            train_split=predefined_split(Dataset(data.X_validation, data.y_validation)),
            verbose=0,
        )
        net.fit(data.X_train, data.y_train)
        found.append(net.forward(data.X_test).softmax(-1).numpy())
    return found


def _sklearn(loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    net = MLPClassifier(
        [protocol.hidden] * protocol.layers,
        batch_size=protocol.batch_size,
        learning_rate_init=protocol.lr,
        max_iter=protocol.epochs,
        n_iter_no_change=protocol.epochs,
        alpha=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [net.fit(data.X_train, data.y_train).predict_proba(data.X_test) for _ in seeds]


def _vmap(loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol):
    """The networks of all S seeds in each step, with one fused call of Adam."""
    X, y, X_validation, y_validation, X_test = _tensors(data)
    starts = [start(seed, data, protocol) for seed in seeds]
    models = [network(weights) for weights, _ in starts]
    orders = torch.from_numpy(np.stack([orders for _, orders in starts], axis=1))  # (epochs, S, n)
    parameters, _ = torch.func.stack_module_state(models)
    optimizer = torch.optim.Adam(parameters.values(), lr=protocol.lr, fused=True)

    def logits(own, X):
        return torch.func.functional_call(models[0], own, X)

    def mean_loss(own, X, y):
        values, weights = loss.terms(logits(own, X), y)
        return values.sum() / weights.sum()

    slopes = torch.func.vmap(torch.func.grad(mean_loss))
    validate = torch.func.vmap(mean_loss, in_dims=(0, None, None))
    for order in orders:
        for rows in order.split(protocol.batch_size, dim=1):  # (S, batch)
            for name, slope in slopes(parameters, X[rows], y[rows]).items():
                parameters[name].grad = slope
            optimizer.step()
        with torch.no_grad():
            validate(parameters, X_validation, y_validation)
    with torch.no_grad():
        found = torch.func.vmap(logits, in_dims=(0, None))(parameters, X_test)
        return list(found.softmax(-1).numpy())


@cache
def _compiled_by_jax(batch: int, lr: float):
    """A whole training as one compiled function of weights, data and orders (epochs, n)."""
    one_thread = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", one_thread)
    import jax
    import jax.numpy as jnp

    def logits(weights, X):
        for at in range(0, len(weights) - 2, 2):
            X = jax.nn.relu(X @ weights[at] + weights[at + 1])
        return X @ weights[-2] + weights[-1]

    def mean_loss(weights, X, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits(weights, X)), y[:, None], 1).mean()

    def adam(state, X, y):
        weights, first, second, step = state
        slopes, step = jax.grad(mean_loss)(weights, X, y), step + 1
        first = [0.9 * m + 0.1 * g for m, g in zip(first, slopes, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, slopes, strict=True)]
        rate, share = lr / (1 - 0.9**step), 1 - 0.999**step
        parts = zip(weights, first, second, strict=True)
        weights = [w - rate * m / (jnp.sqrt(v / share) + 1e-8) for w, m, v in parts]
        return weights, first, second, step

    @jax.jit
    def train(weights, X, y, X_validation, y_validation, X_test, orders):
        def epoch(state, order):
            whole = len(order) // batch * batch
            steps = order[:whole].reshape(-1, batch)
            state, _ = jax.lax.scan(lambda s, rows: (adam(s, X[rows], y[rows]), None), state, steps)
            if whole < len(order):
                state = adam(state, X[order[whole:]], y[order[whole:]])
            return state, mean_loss(state[0], X_validation, y_validation)

        zeros = [jnp.zeros_like(w) for w in weights]
        (weights, *_), scores = jax.lax.scan(epoch, (weights, zeros, zeros, jnp.float32(0)), orders)
        return jax.nn.softmax(logits(weights, X_test)), scores

    return train


def _jax(loss: OrdinalLoss, seeds: range, data: Arrays, protocol: Protocol):
    train = _compiled_by_jax(min(protocol.batch_size, len(data.X_train)), protocol.lr)
    parts, found = [part.numpy() for part in _tensors(data)], []
    for seed in seeds:
        weights, orders = start(seed, data, protocol)
        found.append(np.asarray(train(weights, *parts, orders)[0]))
    return found


RIVALS = {
    "DataLoader loop": Rival(partial(_loop, _loaded)),
    "index loop": Rival(partial(_loop, _indexed)),
    "skorch": Rival(_skorch, own_start=True, needs="skorch"),
    "scikit-learn": Rival(_sklearn, only_cross_entropy=True, own_start=True, needs="sklearn"),
    "torch.func.vmap": Rival(_vmap, seeds=10, only_cross_entropy=True),
    "JAX": Rival(_jax, only_cross_entropy=True, needs="jax"),
}
