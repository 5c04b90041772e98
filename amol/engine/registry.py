"""Losses and the engine: which are compiled, and with which formula."""

import hashlib
import time
from collections.abc import Callable

import numpy as np
import torch

from amol.losses import CrossEntropyLoss, OrdinalLoss
from amol.losses.base import of_package

from . import kinds, meanings, training
from .autograd import Autograd
from .code import digest_of
from .gradients import Formula
from .kernels import aligned, stride
from .training import Arrays, Compiled, Fit, Network, Outcome, Protocol


def formula(loss: OrdinalLoss) -> Formula | None:
    """What the compiled functions need of a loss; None for one that they don't know.

    tables (count, K, outputs) float32; counted and terms (K,) float64: a label's weight before its
    value, and in the mean's denominator. A user's class may have changed what it inherits, so the
    package's alone are known.
    """
    known = loss.kind is not None and of_package(type(loss))
    found = loss.kind_tables() if known else None
    if found is None:
        return None
    labels = torch.arange(loss.num_classes)
    terms = loss.terms(torch.zeros(len(labels), loss.num_logits, dtype=torch.float64), labels)[1]
    counted = torch.ones(len(labels)) if loss.weight is None else loss.weight
    padded = aligned(len(found), *found[0].shape[:-1], stride(loss.num_logits))
    for table, exact in zip(padded, found, strict=True):
        table[..., : exact.shape[-1]] = exact.numpy()
    return Formula(
        padded,
        counted.numpy().astype(np.float64),
        terms.numpy().astype(np.float64),
        loss.num_logits,
    )


def rule(loss: OrdinalLoss) -> Compiled | Autograd:
    """What computes a loss in a training."""
    found = formula(loss)
    if found is None:
        return Autograd(loss)
    functions = getattr(kinds, loss.kind), getattr(meanings, loss.meaning)
    return Compiled(*functions, found, loss.num_classes, loss.without, loss.shared_head)


def is_compiled(loss: OrdinalLoss) -> bool:
    """Whether a loss trains to the same bits on every processor."""
    return formula(loss) is not None


def identity(loss: OrdinalLoss) -> str | None:
    """SHA-256 of all that a compiled loss computes with; None where it isn't compiled."""
    found = rule(loss)
    if not found.compiled:
        return None
    tables, counted, terms, outputs = found.formula
    facts = [outputs, found.num_classes, found.shared_head, found.without]
    code = digest_of(loss.kind, loss.meaning)
    sha = hashlib.sha256(f"{code} {facts}".encode())
    for values in (tables[..., :outputs], counted, terms):
        sha.update(f"{values.dtype} {values.shape}".encode())
        sha.update(values.tobytes())
    return sha.hexdigest()


def fit(
    loss: OrdinalLoss,
    seed: int,
    data: Arrays,
    protocol: Protocol,
    stop: Callable[[], bool] | None = None,
) -> Fit:
    """Train one network and keep it.

    Parameters
    ----------
    loss : OrdinalLoss
        One without a compiled `kind` trains through autograd, to bits of this machine's PyTorch.
    seed : int
        From 0 to 2³² − 1: of the first weights, then of every epoch's order, and of dropout.
    data : Arrays
    protocol : Protocol
    stop : callable, optional
        Asked before every epoch; where it is true, the run ends with `Stopped`.

    Threads may train side by side: compiled functions hold no interpreter lock. Ctrl-C ends a
    training after the epoch in hand.
    """
    return training.fit(rule(loss), seed, data, protocol, stop)


def read(loss: OrdinalLoss, network: Network, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) int64 and probabilities (n, K) float32 of X (n, d), by a network of that loss."""
    return rule(loss).read(network.logits(X))


def train(
    loss: OrdinalLoss,
    seed: int,
    data: Arrays,
    protocol: Protocol,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """`fit`, and what the network predicts for the test and the validation part."""
    return training.run(rule(loss), seed, data, protocol, stop)


def compile_engine() -> float:
    """Compile what a training calls, or load it from the cache; seconds that it took."""
    started = time.perf_counter()
    X, y = np.zeros((2, 1), np.float32), np.arange(2)
    train(CrossEntropyLoss(2), 0, Arrays(X, y, X, y, X, 2), Protocol(hidden=1, epochs=1))
    return time.perf_counter() - started
