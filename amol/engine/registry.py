"""Losses and the engine: which are compiled, and with which formula."""

import hashlib
import time
from collections.abc import Callable

import numpy as np
import torch

from amol import losses
from amol.losses import OrdinalLoss, center_class

from .autograd import Autograd
from .code import digest_of
from .gradients import Formula
from .kernels import aligned, stride
from .kinds import (
    KINDS,
    accumulated_log,
    adjusted_log,
    binary_tasks,
    distance_log,
    focal,
    ordered_cuts,
    squared_cumulative,
    weighted_divergence,
    weighted_kappa,
    weighted_log,
)
from .meanings import (
    MEANINGS,
    conditional_labels,
    cumulative_labels,
    ordered_labels,
    softmax_labels,
)
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


def _shift(loss):
    return [_rows("shift")(loss)[0][None]]


def _cost_and_weight(loss):
    K = loss.num_classes
    weight = torch.ones(K) if loss.weight is None else loss.weight
    return [*_rows("cost")(loss), weight[:, None].expand(K, K)]


def _none(loss):
    return [torch.zeros(1, 1)]


FORMULAS: dict[type, tuple[Callable, Callable, Callable]] = {
    # class of loss, exactly: its kind, its tables (None where they don't do), and what
    # reads its outputs
    losses.AMOLLoss: (weighted_divergence, _divergence, softmax_labels),
    losses.AMOLAsymLoss: (weighted_divergence, _divergence, softmax_labels),
    losses.AMOLExpLoss: (weighted_divergence, _divergence, softmax_labels),
    losses.KLLoss: (weighted_divergence, _divergence, softmax_labels),
    losses.CrossEntropyLoss: (weighted_log, _one_hot, softmax_labels),
    losses.MaskedCenterLoss: (weighted_log, _one_hot, softmax_labels),
    losses.OLLLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.SORDLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.AMOLOLLLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.AMOLCELoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.TriangularLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.BinomialLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.PoissonLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.ExponentialLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.BetaLoss: (weighted_log, _rows("soft_target"), softmax_labels),
    losses.DistanceLogLoss: (distance_log, _distance, softmax_labels),
    losses.CDWCELoss: (distance_log, _distance, softmax_labels),
    losses.FocalLoss: (focal, lambda loss: [torch.full((1, 1), loss.gamma)], softmax_labels),
    losses.SLACELoss: (accumulated_log, _accumulated, softmax_labels),
    losses.SLACEProxLoss: (accumulated_log, _accumulated, softmax_labels),
    losses.CORALLoss: (binary_tasks, _rows("signs"), cumulative_labels),
    losses.CORNLoss: (binary_tasks, _entered_signs, conditional_labels),
    losses.CLMLoss: (ordered_cuts, _none, ordered_labels),
    losses.EMD2Loss: (squared_cumulative, _none, softmax_labels),
    losses.WKLoss: (weighted_kappa, _cost_and_weight, softmax_labels),
    losses.LogitAdjustedLoss: (adjusted_log, _shift, softmax_labels),
    losses.BalancedCrossEntropyLoss: (weighted_log, _one_hot, softmax_labels),
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


def _rule(loss: OrdinalLoss) -> Compiled | Autograd:
    found = formula(loss)
    if found is None:
        return Autograd(loss)
    masked = type(loss) is losses.MaskedCenterLoss
    without = center_class(loss.num_classes) if masked else None
    meaning = MEANINGS.index(FORMULAS[type(loss)][2])
    return Compiled(found, loss.num_classes, meaning, without, loss.shared_head)


def is_compiled(loss: OrdinalLoss) -> bool:
    """Whether a loss trains to the same bits on every processor."""
    return formula(loss) is not None


def identity(loss: OrdinalLoss) -> str | None:
    """SHA-256 of all that a compiled loss computes with; None where it isn't compiled."""
    rule = _rule(loss)
    if not rule.compiled:
        return None
    kind, tables, counted, terms, outputs = rule.formula
    facts = [outputs, rule.num_classes, rule.shared_head, rule.without]
    code = digest_of(KINDS[kind].__name__, MEANINGS[rule.meaning].__name__)
    sha = hashlib.sha256(f"{code} {facts}".encode())
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
