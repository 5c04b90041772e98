"""Multilayer perceptrons as a stack: forward and backward through batched matrix products.

Gradients are written out by hand, and memory and views are made once, since a call of PyTorch
takes as long as the arithmetic of a small batch. Each product, sum and elementwise call treats
its slice alike, so a network's bits don't depend on the others.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from amol.losses import OrdinalLoss

LANES = 64  # floats that a sum down columns takes at once: four of the widest vector registers


class Stack:
    """S networks whose parameters lie in flat memory layer by layer, within a layer run by run.

    The bias of the first layer is the weight of a feature that is always 1.
    """

    def __init__(self, features: int, width: int, layers: int, loss: OrdinalLoss):
        self.features, self.width, self.layers = features + 1, width, layers
        self.outputs, self.shared_head = loss.num_logits, loss.shared_head
        self.head_rows = 1 if self.shared_head else self.outputs
        shapes = [(self.features, width)]  # hidden weights are (in, out)
        shapes += [(width, width), (1, width)] * (layers - 1)
        self.shapes = [*shapes, (self.head_rows, width), (self.outputs, 1)]
        self.sizes = [-(-math.prod(shape) // LANES) * LANES for shape in self.shapes]

    def layered(self, flat: Tensor) -> list[Tensor]:
        """Each layer's part of ``flat``, (S, padded size)."""
        runs = len(flat) // sum(self.sizes)
        return [p.view(runs, -1) for p in flat.split([runs * size for size in self.sizes])]

    def pick(self, flat: Tensor, runs: Tensor | slice) -> Tensor:
        """The same for these runs alone, a mask or a slice."""
        return torch.cat([part[runs].flatten() for part in self.layered(flat)])

    def views(self, flat: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Weights and biases (S, rows, columns), first layer to head; the first has no bias."""
        pairs = zip(self.layered(flat), self.shapes, strict=True)
        first, *rest = [p[:, : math.prod(shape)].view(-1, *shape) for p, shape in pairs]
        return [first, *rest[::2]], rest[1::2]

    def initial(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Parameters as ``nn.Linear`` draws them from each run's generator."""
        flat = torch.zeros(len(generators) * sum(self.sizes))
        (first, *hidden, head), (*biases, last) = self.views(flat)
        weights = [first[:, :-1], *hidden]
        biases = [first[:, -1], *(bias[:, 0] for bias in biases), last[:, :, 0]]
        layers = [*(weight.transpose(1, 2) for weight in weights), head]
        for run, generator in enumerate(generators):
            for weight, bias in zip(layers, biases, strict=True):  # (S, out, in) and (S, out)
                bound = weight.shape[2] ** -0.5
                for part in (weight[run], bias[run]):
                    drawn = torch.empty(part.shape)
                    part.copy_(drawn.uniform_(-bound, bound, generator=generator))
        if self.shared_head:  # CORAL's ordered start
            last[:, :, 0] = torch.arange(self.outputs, 0, -1) / self.outputs
        return flat


class Pass:
    """A stack's forward and backward passes for n samples a run, in training a multiple of `LANES`.

    `forward` reads ``x`` (S, n, features) and fills ``logits``; `backward` reads ``slopes``.
    """

    def __init__(self, net: Stack, flat: Tensor, gradient: Tensor, n: int):
        runs = len(flat) // sum(net.sizes)
        self.shared_head = net.shared_head
        (*self.weights, self.head), (*self.biases, bias) = net.views(flat)
        (*self.d_weights, self.d_head), (*self.d_biases, d_bias) = net.views(gradient)
        self.x = torch.empty(runs, n, net.features)
        *self.hidden, self.spare = torch.empty(net.layers + 1, runs, n, net.width)
        # class by class: sums over a few classes are quick down the columns
        self.logits, self.slopes = torch.empty(2, net.outputs, runs, n)
        self.across = torch.empty(runs, net.head_rows, n)
        self.across_T, self.bias_T = self.across.transpose(0, 1), bias.transpose(0, 1)
        self.d_bias_T, self.slopes_T = d_bias[:, :, 0].T, self.slopes.transpose(0, 1)
        self.weights_T = [weight.mT for weight in self.weights]
        self.inputs_T = [part.mT for part in (self.x, *self.hidden)]

    def forward(self, shared: Tensor | None = None) -> Tensor:
        """Logits (outputs, S, n) of ``x``, or of the same samples (n, features) for all runs."""
        x = self.x if shared is None else shared.expand_as(self.x)
        h = torch.bmm(x, self.weights[0], out=self.hidden[0]).relu_()
        for weight, bias, out in zip(self.weights[1:], self.biases, self.hidden[1:], strict=True):
            h = torch.baddbmm(bias, h, weight, out=out).relu_()
        torch.bmm(self.head, self.inputs_T[-1], out=self.across)
        return torch.add(self.across_T, self.bias_T, out=self.logits)

    def backward(self) -> None:
        """Write the gradient that follows from ``slopes``, the loss's; activations are spent."""
        torch.sum(self.slopes, 2, out=self.d_bias_T)
        g = self.slopes_T  # (S, head's rows, n)
        if self.shared_head:
            g = g.sum(1, keepdim=True)
        torch.bmm(g, self.hidden[-1], out=self.d_head)
        g = torch.bmm(g.mT, self.head, out=self.spare)
        for layer in range(len(self.hidden) - 1, -1, -1):
            torch.ops.aten.threshold_backward.grad_input(g, self.hidden[layer], 0, grad_input=g)
            torch.bmm(self.inputs_T[layer], g, out=self.d_weights[layer])
            if layer:
                torch.sum(g, 1, keepdim=True, out=self.d_biases[layer - 1])
                g = torch.bmm(g, self.weights_T[layer], out=self.hidden[layer])  # which has served
