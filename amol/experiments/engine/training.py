"""One training run from its settings to its outcome: early stopping around the compiled epochs."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from amol.losses import CrossEntropyLoss, MaskedCenterLoss, OrdinalLoss, center_class
from amol.metrics import METRICS

from . import network
from .gradients import FORMULAS, formula, mean_value, read
from .network import PADDED, STRIDE, Settings, aligned, allocate, layers_of

MONITORS = ("loss", "QWK")


class Stopped(Exception):
    """A run was ended between two epochs by its ``stop``."""


@dataclass(frozen=True)
class Protocol:
    """Settings of one training run, the paper's Section 4.1 where it states them.

    Parameters
    ----------
    hidden : int
        Units in each hidden layer (paper: 128).
    layers : int
        Hidden layers (paper: "2-layer MLP").
    lr : float
        Adam's learning rate (paper: 1e-3).
    batch_size : int
        Samples a step; the paper doesn't say.
    patience : int
        Epochs without improvement before the stop (paper: 20).
    epochs : int
        Most epochs a run may take; the paper doesn't say.
    monitor : {"loss", "QWK"}
        Validation quantity that early stopping watches; the paper doesn't say.
    restore : bool
        Whether the weights of the best epoch are taken back; the paper doesn't say.
    weight_decay : float
        Factor of the weights in Adam's gradient, as in `torch.optim.Adam`.
    dropout : float
        Share of each hidden layer's values that a step leaves out, from 0 to below 1.
    """

    hidden: int = 128
    layers: int = 2
    lr: float = 1e-3
    batch_size: int = 256
    patience: int = 20
    epochs: int = 200
    monitor: str = "loss"
    restore: bool = True
    weight_decay: float = 0.0
    dropout: float = 0.0


@dataclass(frozen=True)
class Arrays:
    """One data set, split and standardised: features (n, d) float32, labels (n,) int64."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_validation: np.ndarray
    y_validation: np.ndarray
    X_test: np.ndarray
    num_classes: int


@dataclass(frozen=True)
class Outcome:
    """What one run leaves.

    Labels (n,) int64 and ``probabilities`` (n, K) float32 on the test part, the same on the
    validation part, from the weights of ``best_epoch``, or the last ones without ``restore``.
    ``epochs`` counts the epochs trained. A run whose validation loss stops being a finite number
    has ``failed`` set to that epoch; its predictions are those of its last good weights.
    ``weights_digest`` is the SHA-256 of these weights, little-endian float32: layer by layer the
    matrix (inputs, outputs) row by row, then the bias. ``compiled`` says whether the loss has a
    compiled gradient; without, the bits are those of this machine's PyTorch.
    """

    y_pred: np.ndarray
    probabilities: np.ndarray
    y_pred_validation: np.ndarray
    probabilities_validation: np.ndarray
    best_epoch: int
    epochs: int
    failed: int | None
    weights_digest: str
    compiled: bool


class _Compiled:
    """A loss all of whose arithmetic is compiled."""

    def __init__(self, loss, found):
        self.loss, self.formula = loss, found
        self.meaning = FORMULAS[type(loss)][2]
        masked = isinstance(loss, MaskedCenterLoss)
        self.without = center_class(loss.num_classes) if masked else -1
        self.memory = None

    def epoch(self, memory, X, y, order, settings):
        network.epoch(memory, self.formula, X, y, order, settings)

    def mean(self, logits, y):
        if self.memory is None:
            self.memory = aligned(3, *logits.shape)
        return mean_value(self.formula, logits, y, *self.memory)

    def read(self, logits):
        """Labels and probabilities."""
        labels = np.empty(len(logits), np.int64)
        probabilities = np.empty((len(logits), self.loss.num_classes), np.float32)
        read(self.meaning, logits, self.without, probabilities, labels)
        return labels, probabilities


class _Autograd:
    """A loss whose value, slopes and predictions PyTorch computes."""

    def __init__(self, loss):
        self.loss = loss

    def _tensor(self, logits):
        return torch.from_numpy(logits[:, : self.loss.num_logits].copy())

    def epoch(self, memory, X, y, order, settings):
        for start in range(0, len(order), settings.batch):
            chosen = order[start : start + settings.batch]
            network.begin_step(memory, X, chosen, settings)
            z = self._tensor(memory.logits[: len(chosen)]).requires_grad_()
            values, weights = self.loss.terms(z, torch.from_numpy(y[chosen]))
            (slopes,) = torch.autograd.grad(values.sum() / weights.detach().sum(), z)
            memory.logit_slopes[: len(chosen), : z.shape[1]] = slopes.numpy()
            network.end_step(memory, len(chosen), settings)

    @torch.no_grad()
    def mean(self, logits, y):
        values, weights = self.loss.terms(self._tensor(logits), torch.from_numpy(y))
        return float(values.double().sum() / weights.double().sum())

    @torch.no_grad()
    def read(self, logits):
        z = self._tensor(logits)
        return self.loss.predict(z).numpy(), self.loss.probabilities(z).numpy()


def is_compiled(loss: OrdinalLoss) -> bool:
    """Whether a loss trains to the same bits on every processor."""
    return formula(loss) is not None


def _started(parameters, layout, loss, random):
    """Fill in the first weights as ``nn.Linear`` scales them; see `arithmetic`."""
    layers = list(layers_of(parameters, layout))
    for weights, bias in layers:
        inputs, outputs = weights.shape
        shared = loss.shared_head and weights is layers[-1][0]
        bound = 1 / np.sqrt(float(inputs))
        weights[:] = (2 * random.random_sample((inputs, 1 if shared else outputs)) - 1) * bound
        if shared:
            bias[:] = np.arange(outputs, 0, -1) / outputs
        else:
            bias[:] = (2 * random.random_sample(outputs) - 1) * bound


def _padded(X, width):
    padded = aligned(len(X), width)
    padded[:, : X.shape[1]] = X
    return padded


def _digest(parameters, layout) -> str:
    digest = hashlib.sha256()
    for layer in layers_of(parameters, layout):
        for part in layer:
            digest.update(part.astype("<f4").tobytes())
    return digest.hexdigest()


def train(
    loss: OrdinalLoss,
    seed: int,
    data: Arrays,
    protocol: Protocol,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Train one network.

    Parameters
    ----------
    loss : OrdinalLoss
    seed : int
        From 0 to 2³² − 1: of the first weights, then of every epoch's order, and of dropout.
    data : Arrays
    protocol : Protocol
    stop : callable, optional
        Asked before every epoch; where it is true, the run ends with `Stopped`.

    Threads may train side by side: compiled functions hold no interpreter lock.
    """
    found = formula(loss)
    rule = _Autograd(loss) if found is None else _Compiled(loss, found)
    n, features = data.X_train.shape
    batch = min(protocol.batch_size, n)
    units = [features, *[protocol.hidden] * protocol.layers, loss.num_logits]
    memory = allocate(units, batch)
    layout, (weights, *_) = memory.layout, memory.parameters
    settings = Settings(
        batch, protocol.lr, protocol.weight_decay, protocol.dropout, seed, loss.shared_head
    )
    quiet = settings._replace(dropout=0.0)
    random = np.random.RandomState(seed)
    _started(weights, layout, loss, random)
    network.prepare(memory)
    parts = (data.X_train, data.X_validation, data.X_test)
    X, X_validation, X_test = (_padded(part, layout[PADDED, 0]) for part in parts)
    y, y_validation = (part.astype(np.int64) for part in (data.y_train, data.y_validation))
    logits, test = (aligned(len(part), layout[STRIDE, -2]) for part in (X_validation, X_test))

    best, best_score, best_epoch, failed = weights.copy(), np.inf, 0, None
    for epoch in range(1, protocol.epochs + 1):
        if stop is not None and stop():
            raise Stopped
        rule.epoch(memory, X, y, random.permutation(n).astype(np.int64, copy=False), settings)
        network.evaluate(memory, X_validation, logits, quiet)
        score = rule.mean(logits, y_validation)
        if not np.isfinite(score):
            failed = epoch
            break
        if protocol.monitor == "QWK":
            score = -METRICS["QWK"](y_validation, rule.read(logits)[0], data.num_classes)
        if score < best_score:
            best_score, best_epoch = score, epoch
        if epoch == best_epoch or not protocol.restore:
            best[:] = weights
        if epoch - best_epoch >= protocol.patience:
            break

    weights[:] = best
    network.evaluate(memory, X_validation, logits, quiet)
    network.evaluate(memory, X_test, test, quiet)
    return Outcome(
        *rule.read(test),
        *rule.read(logits),
        best_epoch,
        epoch,
        failed,
        _digest(best, layout),
        found is not None,
    )


def compile_engine() -> float:
    """Compile what a training calls, or load it from the cache; seconds that it took."""
    started = time.perf_counter()
    X, y = np.zeros((2, 1), np.float32), np.arange(2)
    train(CrossEntropyLoss(2), 0, Arrays(X, y, X, y, X, 2), Protocol(hidden=1, epochs=1))
    return time.perf_counter() - started
