"""One training run from its settings to its outcome: early stopping around the compiled epochs."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from amol.metrics import METRICS

from . import network
from .gradients import mean_value, read
from .kernels import aligned
from .network import Settings, allocate, layers_of
from .pointers import KIND, MEANING, address

MONITORS = ("loss", "QWK")


class Stopped(Exception):
    """A run was ended between two epochs by its ``stop``."""


@dataclass(frozen=True)
class Protocol:
    """Settings of one training run, the paper's Section 4.1 where it states them.

    Parameters
    ----------
    hidden : int or tuple of int
        Units in each hidden layer (paper: 128); a tuple has the units of the first, the second, ….
    layers : int
        Hidden layers (paper: "2-layer MLP"); a tuple's length stands in for it.
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

    hidden: int | tuple[int, ...] = 128
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
        if min(*self.widths, self.layers, self.batch_size, self.epochs) < 1:
            raise ValueError(f"hidden, layers, batch_size and epochs are at least 1: {self}")
        if not (self.lr > 0 and self.weight_decay >= 0 and 0 <= self.dropout < 1):
            raise ValueError(f"lr > 0, weight_decay ≥ 0 and 0 ≤ dropout < 1: {self}")
        if self.monitor not in MONITORS:
            raise ValueError(f"monitor is one of {', '.join(MONITORS)}, not {self.monitor!r}")

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of the hidden layers, from the input on."""
        return self.hidden if isinstance(self.hidden, tuple) else (self.hidden,) * self.layers


@dataclass(frozen=True)
class Arrays:
    """One data set, split and standardised: features (n, d) float32, labels (n,) int64.

    Weights (n,) float64 are of the samples, above 0; without, each is 1.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_validation: np.ndarray
    y_validation: np.ndarray
    X_test: np.ndarray
    num_classes: int
    weights_train: np.ndarray | None = None
    weights_validation: np.ndarray | None = None

    def __post_init__(self):
        """Compiled functions look at no bounds."""
        for labels in (self.y_train, self.y_validation):
            outside = labels[(labels < 0) | (labels >= self.num_classes)]
            if len(outside):
                raise ValueError(f"label {outside[0]}; allowed: 0 to {self.num_classes - 1}")


@dataclass(frozen=True)
class Network:
    """A network: weights (inputs, outputs) and bias (outputs,) float32 of each layer in order."""

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]

    def logits(self, X: np.ndarray) -> np.ndarray:
        """Outputs (n, ·) float32 for X (n, d), the rows padded."""
        memory = allocate([len(weights) for weights, _ in self.layers] + [len(self.layers[-1][1])])
        places = layers_of(memory.parameters[0], memory.layout)
        for place, layer in zip(places, self.layers, strict=True):
            for part, values in zip(place, layer, strict=True):
                part[:] = values
        return network.evaluate(memory, _plain(X))

    @property
    def digest(self) -> str:
        """SHA-256 of the weights, little-endian: layer by layer the matrix by rows, the bias."""
        digest = hashlib.sha256()
        for layer in self.layers:
            for part in layer:
                digest.update(part.astype("<f4").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Fit:
    """A trained network and how its training went.

    The network has the weights of ``best_epoch``, or the last ones without ``restore``; 0 stands
    for those that it started with. A training whose validation loss stops being a finite number
    has ``failed`` set to that epoch, and the last good weights. ``training_loss`` (of the samples
    of an epoch, each before its step) and ``validation_loss`` (after it) have a value for each
    epoch trained. ``interrupted`` says that Ctrl-C ended it.
    """

    network: Network
    best_epoch: int
    failed: int | None
    training_loss: tuple[float, ...]
    validation_loss: tuple[float, ...]
    interrupted: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one run of a study leaves.

    Labels (n,) int64 and ``probabilities`` (n, K) float32 on the test part, the same on the
    validation part; ``best_epoch`` and ``failed`` as in `Fit`. ``epochs`` counts the epochs
    trained. ``weights_digest`` is that of `Network`. ``compiled`` says whether the loss has a
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
    """A loss all of whose arithmetic is compiled: functions of `kinds` and `meanings`, tables."""

    compiled = True

    def __init__(self, kind, meaning, formula, num_classes, without, shared_head):
        self.kind, self.meaning, self.formula = kind, meaning, formula
        self.outputs, self.shared_head, self.num_classes = formula.outputs, shared_head, num_classes
        self.without = -1 if without is None else without
        self.memory = None

    def epoch(self, memory, X, y, w, order, settings):
        """Train on all samples in the given order; their mean loss, each before its step."""
        kind = address(self.kind, KIND)
        return network.epoch(memory, kind, self.formula, X, y, w, order, settings)

    def mean(self, logits, y, w):
        """Mean loss; always of the same samples."""
        if self.memory is None:
            p, log_p, slopes = aligned(3, *logits.shape)
            self.memory = p, log_p, aligned(len(y)), slopes
        return mean_value(address(self.kind, KIND), self.formula, logits, y, w, *self.memory)

    def read(self, logits):
        """Labels (n,) and probabilities (n, K)."""
        labels = np.empty(len(logits), np.int64)
        probabilities = np.empty((len(logits), self.num_classes), np.float32)
        read(address(self.meaning, MEANING), logits, self.without, probabilities, labels)
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


def _plain(X):
    return np.ascontiguousarray(X, np.float32)


def _kept(parameters, layout):
    return Network(tuple((W.copy(), b.copy()) for W, b in layers_of(parameters, layout)))


def fit(
    rule, seed: int, data: Arrays, protocol: Protocol, stop: Callable[[], bool] | None = None
) -> Fit:
    """Train one network by the loss that ``rule`` stands for, `Compiled` or one like it.

    Ctrl-C ends it between two epochs, if there was a whole one.
    """
    n, features = data.X_train.shape
    batch = min(protocol.batch_size, n)
    memory = allocate([features, *protocol.widths, rule.outputs], batch)
    layout, (weights, *_) = memory.layout, memory.parameters
    settings = Settings(
        batch, protocol.lr, protocol.weight_decay, protocol.dropout, seed, rule.shared_head
    )
    random = np.random.RandomState(seed)
    _started(weights, layout, rule.shared_head, random)
    network.prepare(memory)
    X, X_validation = _plain(data.X_train), _plain(data.X_validation)
    y, y_validation = (part.astype(np.int64) for part in (data.y_train, data.y_validation))
    given = data.weights_validation
    w, w_validation = (
        np.ones(len(part)) if own is None else own.astype(np.float64)
        for part, own in ((y, data.weights_train), (y_validation, given))
    )

    best, best_score, best_epoch, failed, interrupted = weights.copy(), np.inf, 0, None, False
    training, validation = [], []
    try:
        for epoch in range(1, protocol.epochs + 1):
            if stop is not None and stop():
                raise Stopped
            loss = rule.epoch(memory, X, y, w, random.permutation(n), settings)
            logits = network.evaluate(memory, X_validation)
            score = rule.mean(logits, y_validation, w_validation)
            training.append(loss)
            validation.append(score)
            if not np.isfinite(score):
                failed = epoch
                break
            if protocol.monitor == "QWK":
                labels = rule.read(logits)[0]
                score = -METRICS["QWK"](y_validation, labels, data.num_classes, sample_weight=given)
            if score < best_score:
                best_score, best_epoch = score, epoch
            if epoch == best_epoch or not protocol.restore:
                best[:] = weights
            if epoch - best_epoch >= protocol.patience:
                break
    except KeyboardInterrupt:
        if not validation:
            raise
        interrupted = True
    return Fit(
        _kept(best, layout), best_epoch, failed, tuple(training), tuple(validation), interrupted
    )


def run(
    rule, seed: int, data: Arrays, protocol: Protocol, stop: Callable[[], bool] | None = None
) -> Outcome:
    """`fit`, and what the network predicts for the test and the validation part."""
    found = fit(rule, seed, data, protocol, stop)
    if found.interrupted:
        raise KeyboardInterrupt
    return Outcome(
        *rule.read(found.network.logits(data.X_test)),
        *rule.read(found.network.logits(data.X_validation)),
        found.best_epoch,
        len(found.validation_loss),
        found.failed,
        found.network.digest,
        rule.compiled,
    )
