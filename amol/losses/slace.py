"""SLACE: soft labels on accumulated probabilities."""

import torch
from torch import Tensor

from .base import GivenGradient, OrdinalLoss, positive
from .tables import distances


def proximity(class_counts: Tensor) -> Tensor:
    """prox(c, y) = −log[(n_c/2 + Σ n over classes from c, exclusive, to y)/n], (K, K), row y.

    Amigó et al.'s closeness of ordinal classes: two labels are near if few samples lie
    between them.
    """
    counts = class_counts.double()
    upto = counts.cumsum(0)
    c, y = upto, upto[:, None]
    between = torch.where(y >= c, y - c, c - counts - (y - counts[:, None]))
    return -torch.log((counts / 2 + between) / counts.sum())


def accumulated_log_loss(logits: Tensor, order: Tensor, mass: Tensor) -> Tensor:
    """−Σ_i mass_i log P_i, P_i the probability of the i + 1 classes first in `order`.

    logits, order (class indices, nearest first) and mass (summing to one): (..., K) -> (...).
    Not twice differentiable.
    """
    return _Accumulate.apply(logits.gather(-1, order), mass)


class _Accumulate(GivenGradient):
    """The sum on logits z in order, with its gradient by hand: a scan costs too much twice.

    With A_j = log Σ_{i ≤ j} exp z_i the sum is Σ_j cost_j log(1 + exp(z_j − A_{j−1})), cost_j the
    mass before j: nothing cancels, however near P is to 1. The gradient at z_j is
    p_j − Σ_{i ≥ j} mass_i exp(z_j − A_i).
    """

    @staticmethod
    def forward(ctx, z, mass):
        if torch.compiler.is_compiling():
            value, gradient = _scan_logs(z, mass)
        else:
            value, gradient = _scan(z, mass)
            # sums of exponentials underflow where the label lies too far below the largest logit
            far = z[..., 0] < z.amax(-1) - (600 if z.dtype == torch.float64 else 60)
            if far.any():
                value[far], gradient[far] = _scan_logs(z[far], mass[far])
        ctx.save_for_backward(gradient)
        return value


def _scan(z, mass):
    odds = (z - z.amax(-1, keepdim=True)).exp()
    total = odds.cumsum(-1)
    cost = mass.cumsum(-1)[..., :-1]
    value = (cost * torch.log1p(odds[..., 1:] / total[..., :-1])).sum(-1)
    pull = (mass / total).flip(-1).cumsum(-1).flip(-1)
    return value, odds * (1 / total[..., -1:] - pull)


def _scan_logs(z, mass):
    total = z.logcumsumexp(-1)
    cost = mass.cumsum(-1)[..., :-1]
    value = -(cost * torch.nn.functional.logsigmoid(total[..., :-1] - z[..., 1:])).sum(-1)
    pull = (mass.log() - total).flip(-1).logcumsumexp(-1).flip(-1)
    return value, (z - total[..., -1:]).exp() - (z + pull).exp()


class _Accumulated(OrdinalLoss):
    """SLACE on a (K, K) table of dissimilarities, row y; equal ones enter together."""

    def __init__(self, num_classes, dissimilarity, slope, reduction, weight, ignore_index):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.slope = positive("slope", slope)
        soft = torch.softmax(-self.slope * dissimilarity, -1)
        ranked, order = dissimilarity.sort(dim=-1, stable=True)
        # the soft label of a group of ties is charged where the group is complete
        last = (ranked[:, None, :] <= ranked[:, :, None]).sum(-1) - 1
        mass = torch.zeros_like(soft).scatter_add(-1, last, soft.gather(-1, order))
        self.add_table("mass", mass)
        self.register_buffer("order", order, persistent=False)

    def values(self, logits, target):
        order = torch.nn.functional.embedding(target, self.order)
        return accumulated_log_loss(logits, order, self.rows("mass", logits, target))


class SLACELoss(_Accumulated):
    """−Σ_i q_i log Σ_{j: |j−y| ≤ |i−y|} p_j, q ∝ exp(−slope |i − y|) (`SLACE`).

    Nachmani et al. (AAAI 2025), plain form. Their code sums over the batch; here `reduction`
    says.

    Parameters
    ----------
    slope : float
        Sharpness of the soft label, above 0; the authors tune it from 0.3 to 25.
    """

    def __init__(self, num_classes, *, slope=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(
            num_classes, distances(num_classes), slope, reduction, weight, ignore_index
        )


class SLACEProxLoss(_Accumulated):
    """SLACE with proximity for distance: sensitive to class balance (`SLACE-prox`).

    Dissimilarity of i to y is max prox − prox(i, y).

    Parameters
    ----------
    slope : float
        Sharpness of the soft label, above 0.
    class_counts : (K,) positive, optional
        Samples of each class in the training set; equal counts without.
    """

    def __init__(
        self,
        num_classes,
        *,
        slope=1.0,
        class_counts=None,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        counts = torch.ones(num_classes) if class_counts is None else torch.as_tensor(class_counts)
        if counts.shape != (num_classes,) or not (counts > 0).all():
            raise ValueError(
                f"class_counts holds {num_classes} positive numbers, got {counts.tolist()}"
            )
        prox = proximity(counts)
        super().__init__(num_classes, prox.max() - prox, slope, reduction, weight, ignore_index)
        self.class_counts = None if class_counts is None else counts.tolist()
