"""Losses and the engine: which are compiled and how, and how PyTorch serves the others."""

import hashlib
import time
from collections.abc import Callable

import numpy as np
import torch

from amol import losses
from amol.losses import OrdinalLoss, center_class

from . import network
from .gradients import (
    CONDITIONAL,
    CUMULATIVE,
    KINDS,
    SOFTMAX,
    Formula,
    accumulated_log,
    binary_tasks,
    distance_log,
    focal,
    weighted_divergence,
    weighted_log,
)
from .kernels import aligned, stride
from .training import Arrays, Compiled, Outcome, Protocol, run


def _rows(*names):
    def tables(loss):
        return [loss.table(name, torch.empty(0, dtype=torch.float64)) for name in names]

    return tables


def _divergence(loss):
    m, log_target = _rows("m", "log_target")(loss)
    return [m, -m * log_target]


def _one_hot(loss):
    return [torch.eye(loss.num_classes)]


def _distance(loss):
    return None if loss.margin else _rows("cost")(loss)


def _accumulated(loss):
    return [loss.order, *_rows("mass")(loss)]


def _entered_signs(loss):
    signs, entered = _rows("signs", "entered")(loss)
    return [signs * entered]


FORMULAS: dict[type, tuple[Callable, Callable, int]] = {
    # class of loss, exactly: its kind, its tables (None where they don't do), its outputs' meaning
    losses.AMOLLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.AMOLAsymLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.AMOLExpLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.KLLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.CrossEntropyLoss: (weighted_log, _one_hot, SOFTMAX),
    losses.MaskedCenterLoss: (weighted_log, _one_hot, SOFTMAX),
    losses.OLLLoss: (weighted_log, _rows("soft_target"), SOFTMAX),
    losses.SORDLoss: (weighted_log, _rows("soft_target"), SOFTMAX),
    losses.AMOLOLLLoss: (weighted_log, _rows("soft_target"), SOFTMAX),
    losses.AMOLCELoss: (weighted_log, _rows("soft_target"), SOFTMAX),
    losses.DistanceLogLoss: (distance_log, _distance, SOFTMAX),
    losses.CDWCELoss: (distance_log, _distance, SOFTMAX),
    losses.FocalLoss: (focal, lambda loss: [torch.full((1, 1), loss.gamma)], SOFTMAX),
    losses.SLACELoss: (accumulated_log, _accumulated, SOFTMAX),
    losses.SLACEProxLoss: (accumulated_log, _accumulated, SOFTMAX),
    losses.CORALLoss: (binary_tasks, _rows("signs"), CUMULATIVE),
    losses.CORNLoss: (binary_tasks, _entered_signs, CONDITIONAL),
}


def formula(loss: OrdinalLoss) -> Formula | None:
    """What the compiled functions need of a loss; None for one that they don't know.

    tables (count, K, outputs) float32; counted and terms (K,) float64: a label's weight before its
    value, and in the mean's denominator.
    """
    kind, tables, _ = FORMULAS.get(type(loss), (None, lambda loss: None, None))
    found = tables(loss)
    if found is None:
        return None
    labels = torch.arange(loss.num_classes)
    terms = loss.terms(torch.zeros(len(labels), loss.num_logits, dtype=torch.float64), labels)[1]
    counted = torch.ones(len(labels)) if loss.weight is None else loss.weight
    padded = aligned(len(found), *found[0].shape[:-1], stride(loss.num_logits))
    for table, exact in zip(padded, found, strict=True):
        table[..., : exact.shape[-1]] = exact.numpy()
    return Formula(
        KINDS.index(kind),
        padded,
        counted.numpy().astype(np.float64),
        terms.numpy().astype(np.float64),
        loss.num_logits,
    )


class Autograd:
    """A loss whose value, slopes and predictions PyTorch computes."""

    compiled = False

    def __init__(self, loss):
        self.loss, self.outputs, self.shared_head = loss, loss.num_logits, loss.shared_head

    def _tensor(self, logits):
        return torch.from_numpy(logits[:, : self.outputs].copy())

    def epoch(self, memory, X, y, order, settings):
        for start in range(0, len(order), settings.batch):
            chosen = order[start : start + settings.batch]
            network.begin_step(memory, X, chosen, settings)
            z = self._tensor(memory.logits[: len(chosen)]).requires_grad_()
            values, weights = self.loss.terms(
                z, torch.from_numpy(y[start : start + settings.batch])
            )
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


def _rule(loss: OrdinalLoss) -> Compiled | Autograd:
    found = formula(loss)
    if found is None:
        return Autograd(loss)
    masked = type(loss) is losses.MaskedCenterLoss
    without = center_class(loss.num_classes) if masked else None
    return Compiled(found, loss.num_classes, FORMULAS[type(loss)][2], without, loss.shared_head)


def is_compiled(loss: OrdinalLoss) -> bool:
    """Whether a loss trains to the same bits on every processor."""
    return formula(loss) is not None


def identity(loss: OrdinalLoss) -> str | None:
    """SHA-256 of all that a compiled loss computes with; None where it isn't compiled."""
    rule = _rule(loss)
    if not rule.compiled:
        return None
    kind, tables, counted, terms, outputs = rule.formula
    facts = [outputs, rule.num_classes, rule.shared_head, rule.meaning, rule.without]
    sha = hashlib.sha256(f"{KINDS[kind].__name__} {facts}".encode())
    for values in (tables[..., :outputs], counted, terms):
        sha.update(f"{values.dtype} {values.shape}".encode())
        sha.update(values.tobytes())
    return sha.hexdigest()


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
        One that isn't in `FORMULAS` trains through autograd, and `Outcome.compiled` is false.
    seed : int
        From 0 to 2³² − 1: of the first weights, then of every epoch's order, and of dropout.
    data : Arrays
    protocol : Protocol
    stop : callable, optional
        Asked before every epoch; where it is true, the run ends with `Stopped`.

    Threads may train side by side: compiled functions hold no interpreter lock.
    """
    return run(_rule(loss), seed, data, protocol, stop)


def compile_engine() -> float:
    """Compile what a training calls, or load it from the cache; seconds that it took."""
    started = time.perf_counter()
    X, y = np.zeros((2, 1), np.float32), np.arange(2)
    train(losses.CrossEntropyLoss(2), 0, Arrays(X, y, X, y, X, 2), Protocol(hidden=1, epochs=1))
    return time.perf_counter() - started
