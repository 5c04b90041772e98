"""Train a stack of independent multilayer perceptrons as one batched network.

Forty networks of 128 hidden units are too small to keep a processor busy one by one. Here all of
them take each step together through batched matrix products, while every run keeps its own loss,
random generator, batch order, early stop and best weights. A run's result is the same to the last
bit alone or in any stack: each product, sum and elementwise call treats its slice alike, and
lengths are padded to whole vector registers so that no slice falls into a remainder loop.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from amol.metrics import METRICS

LANES = 16  # floats in the widest vector register in use
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


class _Stack:
    """Parameters of S networks in one flat tensor (S, P), with named views into it."""

    def __init__(self, widths: Sequence[int], shared_head: bool, outputs: int):
        self.widths, self.shared_head, self.outputs = tuple(widths), shared_head, outputs
        rows = 1 if shared_head else outputs
        pairs = list(pairwise(widths))
        # hidden weights (in, out); the head is kept (rows, in): tall thin products are slow
        self.shapes = [s for i, o in pairs for s in ((i, o), (1, o))]
        self.shapes += [(rows, widths[-1]), (outputs, 1)]
        self.sizes = [a * b for a, b in self.shapes]
        self.length = -(-sum(self.sizes) // LANES) * LANES

    def initial(self, generator: torch.Generator) -> Tensor:
        """One network's parameters (P,), as ``nn.Linear`` draws them from this generator."""
        flat = torch.zeros(self.length)
        views = self.views(flat[None])
        for weight, bias in zip(views[::2], views[1::2], strict=True):
            head = weight is views[-2]
            fan_in = weight.shape[2] if head else weight.shape[1]
            shape = (weight.shape[1], fan_in) if head else (weight.shape[2], fan_in)
            bound = fan_in**-0.5
            drawn = torch.empty(shape).uniform_(-bound, bound, generator=generator)
            weight[0] = drawn if head else drawn.T
            if head and self.shared_head:  # CORAL's ordered start
                bias[0, :, 0] = torch.arange(self.outputs, 0, -1) / self.outputs
            else:
                drawn = torch.empty(bias[0].numel()).uniform_(-bound, bound, generator=generator)
                bias[0] = drawn.view_as(bias[0])
        return flat

    def views(self, flat: Tensor) -> list[Tensor]:
        """Weights and biases (S, rows, columns), in turn, of ``flat`` (S, P)."""
        parts = flat[:, : sum(self.sizes)].split(self.sizes, dim=1)
        return [p.view(len(flat), *s) for p, s in zip(parts, self.shapes, strict=True)]

    def buffers(self, runs: int, batch: int) -> list[Tensor]:
        """Memory for the hidden activations (runs, batch, width) and, as many, their gradients."""
        return [torch.empty(runs, batch, width) for width in self.widths[1:] * 2]

    def forward(self, views: list[Tensor], x: Tensor, buffers: list[Tensor]) -> Tensor:
        """Logits (S, B, outputs) of ``x`` (S, B, d); activations are left in ``buffers``."""
        for layer, out in enumerate(buffers[: len(self.widths) - 1]):
            x = torch.bmm(x, views[2 * layer], out=out).add_(views[2 * layer + 1]).relu_()
        head, bias = views[-2:]
        across = torch.bmm(head, x.transpose(1, 2))  # (S, rows, B)
        return (across + bias).transpose(1, 2).contiguous()

    def backward(
        self, views: list[Tensor], grads: list[Tensor], x: Tensor, buffers: list[Tensor], g: Tensor
    ) -> None:
        """Write into ``grads`` the gradients that follow from ``g`` (S, B, outputs)."""
        layers = len(self.widths) - 1
        activations, scratch = [x, *buffers[:layers]], buffers[layers:]
        grads[-1].copy_(g.sum(dim=1).unsqueeze(2))
        if self.shared_head:
            g = g.sum(dim=2, keepdim=True)
        torch.bmm(g.transpose(1, 2), activations[-1], out=grads[-2])
        weight = views[-2]
        for layer in range(layers - 1, -1, -1):
            g = torch.bmm(g, weight, out=scratch[layer])
            torch.ops.aten.threshold_backward.grad_input(g, activations[layer + 1], 0, grad_input=g)
            torch.bmm(activations[layer].transpose(1, 2), g, out=grads[2 * layer])
            torch.sum(g, dim=1, keepdim=True, out=grads[2 * layer + 1])
            weight = views[2 * layer].transpose(1, 2)


def _groups(losses: Sequence[nn.Module]) -> list[tuple[nn.Module, slice]]:
    """Neighbours that share a loss, as (loss, slice of the stack)."""
    groups, start = [], 0
    for i in range(1, len(losses) + 1):
        if i == len(losses) or losses[i] is not losses[start]:
            groups.append((losses[start], slice(start, i)))
            start = i
    return groups


def _batch_gradient(groups, logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Gradient (S, B, outputs) of each run's mean loss over the samples that ``mask`` keeps."""
    logits.requires_grad_()
    total = 0.0
    for loss, part in groups:
        values, weights = loss.terms(logits[part], target[part])
        total = total + ((values * mask).sum(-1) / (weights * mask).sum(-1)).sum()
    return torch.autograd.grad(total, logits)[0]


def _scores(groups, logits: Tensor, y: Tensor, monitor: str, num_classes: int) -> Tensor:
    """Validation score of each run (S,); smaller is better."""
    scores = torch.empty(len(logits))
    for loss, part in groups:
        for i in range(part.start, part.stop):
            values, weights = loss.terms(logits[i], y)
            scores[i] = values.sum() / weights.sum()
            if monitor == "QWK" and scores[i].isfinite():
                y_pred = loss.predict(logits[i]).numpy()
                scores[i] = -METRICS["QWK"](y.numpy(), y_pred, num_classes)
    return scores


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
    losses: Sequence[nn.Module], seeds: Sequence[int], data: Arrays, protocol: Protocol
) -> Iterator[tuple[int, Outcome]]:
    """Train one network per (loss, seed) pair and yield each the moment it stops.

    Parameters
    ----------
    losses : sequence of nn.Module, length S
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


def _train(losses, seeds, data: Arrays, protocol: Protocol) -> Iterator[tuple[int, Outcome]]:
    first = losses[0]
    X, y = torch.from_numpy(data.X_train), torch.from_numpy(data.y_train)
    X_val, y_val = torch.from_numpy(data.X_validation), torch.from_numpy(data.y_validation)
    X_test = torch.from_numpy(data.X_test)
    widths = [X.shape[1], *[protocol.hidden] * protocol.layers]
    net = _Stack(widths, first.shared_head, first.num_logits)

    memory = lru_cache(maxsize=3)(net.buffers)  # full batch, last batch, validation

    generators = [torch.Generator().manual_seed(s) for s in seeds]
    flat = torch.stack([net.initial(g) for g in generators])
    means, squares, step = torch.zeros_like(flat), torch.zeros_like(flat), torch.tensor(0.0)
    best = flat.clone()
    best_score = torch.full((len(losses),), float("inf"))
    best_epoch = torch.zeros(len(losses), dtype=torch.int64)
    alive = list(range(len(losses)))

    def outcome(row: int, epoch: int, failed: int | None) -> Outcome:
        run = alive[row]
        with torch.no_grad():
            kept = best if protocol.restore else flat
            views = net.views(kept[row : row + 1])
            test, validation = (
                net.forward(views, part[None], net.buffers(1, len(part)))[0]
                for part in (X_test, X_val)
            )
            return Outcome(
                losses[run].predict(test).numpy(),
                losses[run].probabilities(test).numpy(),
                losses[run].predict(validation).numpy(),
                int(best_epoch[row]),
                epoch,
                failed,
            )

    size = min(protocol.batch_size, len(X))
    for epoch in range(1, protocol.epochs + 1):
        groups = _groups([losses[i] for i in alive])
        grad = torch.zeros_like(flat)
        views, grads = net.views(flat), net.views(grad)
        order = torch.stack([torch.randperm(len(X), generator=generators[i]) for i in alive])
        for start in range(0, len(X), size):
            rows = order[:, start : start + size]  # (S, B)
            spare = -rows.shape[1] % LANES
            mask = torch.ones(rows.shape[1] + spare)
            if spare:  # repeated samples that the mask takes out again
                mask[rows.shape[1] :] = 0
                rows = torch.cat([rows, rows[:, :1].expand(-1, spare)], dim=1)
            buffers = memory(len(alive), rows.shape[1])
            x = X.index_select(0, rows.flatten()).view(*rows.shape, -1)  # (S, B, d)
            with torch.no_grad():
                logits = net.forward(views, x, buffers)
            g = _batch_gradient(groups, logits, y[rows], mask)
            with torch.no_grad():
                net.backward(views, grads, x, buffers, g)
            adam(
                [flat], [grad], [means], [squares], [], [step],
                fused=True, amsgrad=False, beta1=0.9, beta2=0.999,
                lr=protocol.lr, weight_decay=0.0, eps=1e-8, maximize=False,
            )  # fmt: skip

        with torch.no_grad():
            x = X_val.expand(len(alive), *X_val.shape)
            logits = net.forward(views, x, memory(len(alive), len(X_val)))
            scores = _scores(groups, logits, y_val, protocol.monitor, data.num_classes)
        better = scores < best_score
        best[better], best_score[better], best_epoch[better] = flat[better], scores[better], epoch
        failed = ~scores.isfinite()
        last = epoch == protocol.epochs
        done = failed | (epoch - best_epoch >= protocol.patience) | last
        for row in done.nonzero()[:, 0].tolist():
            yield alive[row], outcome(row, epoch, epoch if failed[row] else None)
        if done.any():
            keep = ~done
            alive = [run for run, stay in zip(alive, keep.tolist(), strict=True) if stay]
            flat, means, squares, best = flat[keep], means[keep], squares[keep], best[keep]
            best_score, best_epoch = best_score[keep], best_epoch[keep]
            if not alive:
                return
