"""Train a stack of independent multilayer perceptrons as one batched network.

Networks of 128 hidden units are too small to keep a processor busy one by one. Here several take
each step together, while every run keeps its own loss, random generator, batch order, early stop
and best weights. A run's result is the same to the last bit alone or in any stack: each call
treats its slice alike, and batches are padded to whole vector registers so that no slice falls
into a remainder loop.

Training runs in inference mode, which spares every call autograd's bookkeeping. Formulas of one's
own are left out of it: they may take gradients.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from amol.losses import OrdinalLoss
from amol.metrics import METRICS
from amol.network import LANES, Pass, Stack

SCORED = 128  # validation samples of a stack at a time
TESTED = 1024  # test samples of one network at a time
MONITORS = ("loss", "QWK")


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
    """

    hidden: int = 128
    layers: int = 2
    lr: float = 1e-3
    batch_size: int = 256
    patience: int = 20
    epochs: int = 200
    monitor: str = "loss"
    restore: bool = True


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

    ``y_pred`` (n_test,) int64 and ``probabilities`` (n_test, K) float32 on the test part, and
    ``y_pred_validation`` (n_validation,), come from the weights of ``best_epoch``; ``epochs``
    counts the epochs trained. A run whose validation loss stops being a finite number has
    ``failed`` set to that epoch; its predictions are those of its last good weights.
    """

    y_pred: np.ndarray
    probabilities: np.ndarray
    y_pred_validation: np.ndarray
    best_epoch: int
    epochs: int
    failed: int | None = None


class _Losses:
    """The losses of a stack: neighbours whose gradients one function gives are taken together.

    A label stands for a row of the tables of its whole group, one loss's below another's.
    """

    def __init__(self, losses: Sequence[OrdinalLoss]):
        self.offsets = torch.zeros(len(losses), 1, dtype=torch.int64)
        self.groups = []  # slice of the runs; one loss, or a function and its tables (K, rows)
        for kind, members in groupby(range(len(losses)), lambda run: _kind(losses[run])):
            runs = list(members)
            part = slice(runs[0], runs[-1] + 1)
            if isinstance(kind, OrdinalLoss):
                self.groups.append((part, kind, None))
                continue
            different = list(dict.fromkeys(losses[run] for run in runs))
            for run in runs:
                self.offsets[run] = different.index(losses[run]) * losses[run].num_classes
            tables = zip(*(loss.by_hand()[1] for loss in different), strict=True)
            self.groups.append((part, kind, [torch.cat(t).T.contiguous() for t in tables]))

    def parts(self, batch: Pass) -> list[tuple]:
        """Each group's loss and tables, its logits and slopes in ``batch``, and their columns."""
        n = batch.logits.shape[2]
        return [
            (kind, tables, batch.logits[:, part], batch.slopes[:, part],
             slice(part.start * n, part.stop * n))
            for part, kind, tables in self.groups
        ]  # fmt: skip


def _slopes(parts: Sequence[tuple], labels: Tensor, share: Tensor) -> None:
    """Write the gradient of each run's mean loss from its logits.

    ``labels`` (S · n,) count from the group's first table row; ``share`` (n,) is a sample's in
    the mean, 0 where it repeats another.
    """
    for kind, tables, logits, slopes, columns in parts:  # (outputs, runs, n) both
        y = labels[columns]
        if tables is None:
            slopes.copy_(_by_autograd(kind, logits, y.view(slopes.shape[1:]), share))
            continue
        rows = [table.index_select(1, y) for table in tables]
        torch.mul(kind(logits.flatten(1), *rows).view(slopes.shape), share, out=slopes)


@torch.inference_mode(False)
def _by_autograd(loss: OrdinalLoss, logits: Tensor, y: Tensor, share: Tensor) -> Tensor:
    """Gradient of each run's mean loss, (outputs, runs, n)."""
    z = logits.permute(1, 2, 0).clone(memory_format=torch.contiguous_format).requires_grad_()
    values, weights = loss.terms(z, y.clone())
    shares = share / (weights.detach() * share).sum(-1, keepdim=True)
    return torch.autograd.grad(values, z, shares)[0].permute(2, 0, 1)


def _kind(loss: OrdinalLoss) -> OrdinalLoss | Callable:
    """The loss itself: autograd takes its gradient."""
    return loss


@torch.inference_mode(False)
@torch.no_grad()
def _scores(losses, logits: Tensor, y: Tensor, count: int, monitor: str) -> Tensor:
    """Validation score of each run (S,) on the first ``count`` samples; smaller is better."""
    scores = torch.empty(len(losses))
    for loss, members in groupby(range(len(losses)), losses.__getitem__):
        runs = list(members)
        z = logits[:, runs].flatten(1).T
        if _kind(loss) is loss:  # a formula of one's own may take views
            z = z.contiguous()
        terms = loss.terms(z, y.repeat(len(runs)))
        values, weights = (t.view(-1, len(y))[:, :count].numpy().sum(-1) for t in terms)
        scores[runs] = torch.from_numpy(values / weights)
        if monitor == "QWK":
            y_pred = loss.predict(z).view(-1, len(y))[:, :count].numpy()
            for run, labels in zip(runs, y_pred, strict=True):
                if scores[run].isfinite():
                    scores[run] = -METRICS["QWK"](y[:count].numpy(), labels, loss.num_classes)
    return scores


@torch.inference_mode(False)
@torch.no_grad()
def _read(rule: Callable[[Tensor], Tensor], logits: Tensor) -> np.ndarray:
    """A loss's labels or probabilities for one network's logits (outputs, N)."""
    return rule(logits.T.clone(memory_format=torch.contiguous_format)).numpy()


@contextmanager
def one_thread():
    """Hold torch at one thread, which keeps every bit and lets processes train side by side."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def train_stack(
    losses: Sequence[OrdinalLoss], seeds: Sequence[int], data: Arrays, protocol: Protocol
) -> Iterator[tuple[int, Outcome]]:
    """Train one network per (loss, seed) pair and yield each the moment it stops.

    Parameters
    ----------
    losses : sequence of OrdinalLoss, length S
        From `amol.losses`; all with the same kind of head. Neighbours that are the same object
        are evaluated together.
    seeds : sequence of int, length S
        Seed of each run's own generator: first the initial weights, then every epoch's order.
    data : Arrays
    protocol : Protocol

    Yields
    ------
    (int, Outcome)
        Position in ``losses`` and what that run left, in the order in which runs stop.
    """
    first = losses[0]
    if any((m.num_logits, m.shared_head) != (first.num_logits, first.shared_head) for m in losses):
        raise ValueError("the losses of one stack need the same kind of head")
    with one_thread():
        yield from _train(losses, seeds, data, protocol)


def _with_one(X: np.ndarray) -> Tensor:
    """Features (N, d) and one that is always 1."""
    return torch.from_numpy(np.column_stack([X, np.ones(len(X), X.dtype)]))


def _filled(n: int) -> np.ndarray:
    """Indices of n samples, and of the first one again until vector registers are full."""
    return np.concatenate([np.arange(n), np.zeros(-n % LANES, int)])


def _evaluate(passes: Callable[[int], Pass], X: Tensor, size: int) -> Tensor:
    """Logits (outputs, S, N) of ``X`` (N, features), ``size`` samples at a time."""
    parts = [passes(len(part)).forward(part).clone() for part in X.split(size)]
    return torch.cat(parts, dim=2)


@torch.inference_mode()
def _train(losses, seeds, data: Arrays, protocol: Protocol) -> Iterator[tuple[int, Outcome]]:
    X, y = _with_one(data.X_train), torch.from_numpy(data.y_train)
    count = len(data.y_validation)
    X_val = _with_one(data.X_validation[_filled(count)])
    y_val = torch.from_numpy(data.y_validation[_filled(count)])
    X_test = _with_one(data.X_test)
    net = Stack(data.X_train.shape[1], protocol.hidden, protocol.layers, losses[0])

    generators = [torch.Generator().manual_seed(s) for s in seeds]
    flat = net.initial(generators)
    gradient, means, squares = (torch.zeros_like(flat) for _ in range(3))
    step = torch.tensor(0.0)
    best, single = flat.clone(), torch.empty(sum(net.sizes))
    best_logits = torch.empty(net.outputs, len(losses), len(X_val))
    for_one = cache(partial(Pass, net, single, single))
    best_score = torch.full((len(losses),), float("inf"))
    best_epoch = torch.zeros(len(losses), dtype=torch.int64)
    alive = list(range(len(losses)))

    def outcome(row: int, epoch: int, failed: int | None) -> Outcome:
        run = alive[row]
        single.copy_(net.pick(best, slice(row, row + 1)))
        validation = best_logits[:, row]
        if not best_epoch[row]:  # it failed at once, and these are its first weights
            validation = _evaluate(for_one, X_val, TESTED)[:, 0]
        test = _evaluate(for_one, X_test, TESTED)[:, 0]
        return Outcome(
            _read(losses[run].predict, test),
            _read(losses[run].probabilities, test),
            _read(losses[run].predict, validation[:, :count]),
            int(best_epoch[row]),
            epoch,
            failed,
        )

    size = min(protocol.batch_size, len(X))
    batches = []  # columns of an epoch's order, repeated ones at the end; each one's share
    for start in range(0, len(X), size):
        n = min(size, len(X) - start)
        columns = torch.from_numpy(_filled(n))
        batches.append((start + columns, torch.arange(len(columns)).lt(n) / n))

    passes = None
    for epoch in range(1, protocol.epochs + 1):
        if passes is None:  # at the start, and when runs have left
            passes = cache(partial(Pass, net, flat, gradient))
            current = _Losses([losses[i] for i in alive])
            parts = cache(current.parts)
            first = len(X) * torch.arange(len(alive))[:, None]
            places = [(first + columns).flatten() for columns, _ in batches]
            sizes, places = [len(p) for p in places], torch.cat(places)
        order = torch.stack([torch.randperm(len(X), generator=generators[i]) for i in alive])
        labels = (y[order] + current.offsets).take(places).split(sizes)
        rows = order.take(places).split(sizes)
        for (columns, share), chosen, y_batch in zip(batches, rows, labels, strict=True):
            batch = passes(len(columns))
            torch.index_select(X, 0, chosen, out=batch.x.view(-1, net.features))
            batch.forward()
            _slopes(parts(batch), y_batch, share)
            batch.backward()
            torch._fused_adam_(  # the inner step of torch.optim.Adam, without its checks
                [flat], [gradient], [means], [squares], [], [step.add_(1)],
                lr=protocol.lr, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip

        logits = _evaluate(passes, X_val, SCORED)
        scores = _scores([losses[i] for i in alive], logits, y_val, count, protocol.monitor)
        better = scores < best_score
        best_score[better], best_epoch[better] = scores[better], epoch
        taken = better if protocol.restore else torch.ones_like(better)
        best_logits[:, taken] = logits[:, taken]
        for kept, now in zip(net.layered(best), net.layered(flat), strict=True):
            kept[taken] = now[taken]
        failed = ~scores.isfinite()
        last = epoch == protocol.epochs
        done = failed | (epoch - best_epoch >= protocol.patience) | last
        for row in done.nonzero()[:, 0].tolist():
            yield alive[row], outcome(row, epoch, epoch if failed[row] else None)
        if done.all():
            return
        if done.any():
            keep = ~done
            alive = [run for run, stay in zip(alive, keep.tolist(), strict=True) if stay]
            flat, gradient, means, squares, best = (
                net.pick(whole, keep) for whole in (flat, gradient, means, squares, best)
            )
            best_score, best_epoch = best_score[keep], best_epoch[keep]
            best_logits = best_logits[:, keep]
            passes = None
