"""One training run from its settings to its outcome: early stopping around the compiled epochs."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from amol.metrics import METRICS

from . import network
from .gradients import mean_value, read
from .kernels import aligned
from .network import PADDED, STRIDE, Settings, allocate, layers_of

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

    def __post_init__(self):
        if min(self.hidden, self.layers, self.batch_size, self.epochs) < 1:
            raise ValueError(f"hidden, layers, batch_size and epochs are at least 1: {self}")
        if not (self.lr > 0 and self.weight_decay >= 0 and 0 <= self.dropout < 1):
            raise ValueError(f"lr > 0, weight_decay ≥ 0 and 0 ≤ dropout < 1: {self}")
        if self.monitor not in MONITORS:
            raise ValueError(f"monitor is one of {', '.join(MONITORS)}, not {self.monitor!r}")


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


class Compiled:
    """A loss all of whose arithmetic is compiled."""

    compiled = True

    def __init__(self, formula, num_classes, meaning, without, shared_head):
        self.formula, self.outputs, self.shared_head = formula, formula.outputs, shared_head
        self.num_classes, self.meaning = num_classes, meaning
        self.without = -1 if without is None else without
        self.memory = None

    def epoch(self, memory, X, y, settings):
        network.epoch(memory, self.formula, X, y, settings)

    def mean(self, logits, y):
        """Mean loss; always of the same samples."""
        if self.memory is None:
            p, log_p, slopes = aligned(3, *logits.shape)
            self.memory = p, log_p, aligned(len(y)), slopes
        return mean_value(self.formula, logits, y, *self.memory)

    def read(self, logits):
        """Labels (n,) and probabilities (n, K)."""
        labels = np.empty(len(logits), np.int64)
        probabilities = np.empty((len(logits), self.num_classes), np.float32)
        read(self.meaning, logits, self.without, probabilities, labels)
        return labels, probabilities


def _started(parameters, layout, shared_head, random):
    """Fill in the first weights as ``nn.Linear`` scales them; see `arithmetic`."""
    layers = list(layers_of(parameters, layout))
    for weights, bias in layers:
        inputs, outputs = weights.shape
        shared = shared_head and weights is layers[-1][0]
        bound = 1 / np.sqrt(float(inputs))
        weights[:] = (2 * random.random_sample((inputs, 1 if shared else outputs)) - 1) * bound
        if shared:
            bias[:] = np.arange(outputs, 0, -1) / outputs
        else:
            bias[:] = (2 * random.random_sample(outputs) - 1) * bound


def _check(data):
    """Compiled functions look at no bounds."""
    for labels in (data.y_train, data.y_validation):
        outside = labels[(labels < 0) | (labels >= data.num_classes)]
        if len(outside):
            raise ValueError(f"label {outside[0]}; allowed: 0 to {data.num_classes - 1}")


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


def run(
    rule, seed: int, data: Arrays, protocol: Protocol, stop: Callable[[], bool] | None = None
) -> Outcome:
    """Train one network by the loss that ``rule`` stands for, `Compiled` or one like it."""
    _check(data)
    n, features = data.X_train.shape
    batch = min(protocol.batch_size, n)
    units = [features, *[protocol.hidden] * protocol.layers, rule.outputs]
    memory = allocate(units, batch)
    layout, (weights, *_) = memory.layout, memory.parameters
    settings = Settings(
        batch, protocol.lr, protocol.weight_decay, protocol.dropout, seed, rule.shared_head
    )
    quiet = settings._replace(dropout=0.0)
    random = np.random.RandomState(seed)
    _started(weights, layout, rule.shared_head, random)
    network.prepare(memory)
    parts = (data.X_train, data.X_validation, data.X_test)
    X, X_validation, X_test = (_padded(part, layout[PADDED, 0]) for part in parts)
    y, y_validation = (part.astype(np.int64) for part in (data.y_train, data.y_validation))
    logits, test = (aligned(len(part), layout[STRIDE, -2]) for part in (X_validation, X_test))

    best, best_score, best_epoch, failed = weights.copy(), np.inf, 0, None
    for epoch in range(1, protocol.epochs + 1):
        if stop is not None and stop():
            raise Stopped
        order = random.permutation(n)
        rule.epoch(memory, X[order], y[order], settings)
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
        rule.compiled,
    )
