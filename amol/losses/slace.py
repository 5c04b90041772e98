"""SLACE: soft labels on accumulated probabilities."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, positive, with_gradient
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


def accumulated_log_loss(
    logits: Tensor, target: Tensor, order: Tensor, mass: Tensor, cost: Tensor
) -> Tensor:
    """−Σ_i mass[y, i] log P_i, P_i the probability of the i + 1 classes first in order[y].

    logits (..., K), target (...) -> (...). Three tables (K, K): the classes from the nearest on,
    the soft label at each place, and the mass before each place (its exclusive running sum).
    """
    return with_gradient(_accumulated_log, logits, target, order, mass, cost)


def _accumulated_log(gradient, logits, order, mass, cost):
    """Value, and gradient written in place. Let z be the logits in order, A_j = log Σ_{i≤j} e^z_i.

    The value is Σ_j cost_j log(1 + exp(z_j − A_{j−1})): nothing cancels, however near P is to 1.
    The gradient at z_j is p_j − Σ_{i≥j} mass_i exp(z_j − A_i).
    """
    z = logits.gather(-1, order)
    if torch.compiler.is_compiling():
        value, ordered = _scan_logs(z, mass, cost)
    else:
        odds = z.sub_(z.amax(-1, keepdim=True)).exp_()
        # plain sums underflow where the label lies too far below the largest logit
        far = (odds[:, 0] < (1e-260 if odds.dtype == torch.float64 else 1e-26)).nonzero()[:, 0]
        apart = _scan_logs(logits[far].gather(-1, order[far]), mass[far], cost[far])
        value, ordered = _scan(odds, mass, cost)
        value[far], ordered[far] = apart
    gradient.scatter_(-1, order, ordered)
    return value


def _scan(odds, mass, cost):
    total = odds.cumsum(-1)
    terms = torch.empty_like(odds)
    # each place over the sum before it, as one long row: slices of rows take twice the time
    torch.div(odds.view(-1)[1:], total.view(-1)[:-1], out=terms.view(-1)[1:])
    terms[:, 0] = 0
    value = terms.log1p_().mul_(cost).sum(-1)
    pull = mass.div_(total).flip(-1)
    pull = torch.cumsum(pull, -1, out=pull).flip(-1)
    return value, torch.sub(1 / total[:, -1:], pull, out=pull).mul_(odds)


def _scan_logs(z, mass, cost):
    z = z - z[:, :1]  # so that the first, smallest sums keep their digits
    total = z.logcumsumexp(-1)
    terms = cost[:, 1:] * F.logsigmoid(total[:, :-1] - z[:, 1:])
    pull = (mass.log() - total).flip(-1).logcumsumexp(-1).flip(-1)
    return -terms.sum(-1), (z - total[:, -1:]).exp() - (z + pull).exp()


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
        self.add_table(
            "cost", torch.cat([torch.zeros_like(mass[:, :1]), mass.cumsum(-1)[:, :-1]], -1)
        )
        self.register_buffer("order", order, persistent=False)

    def values(self, logits, target):
        mass, cost = self.table("mass", logits), self.table("cost", logits)
        return accumulated_log_loss(logits, target, self.order, mass, cost)


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
