"""SLACE: soft labels on accumulated probabilities."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, positive, underflows, with_gradient
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


def accumulated_log_loss(logits: Tensor, target: Tensor, order: Tensor, mass: Tensor) -> Tensor:
    """−Σ_i mass[y, i] log P_i, P_i the probability of the i + 1 classes first in order[y].

    logits (..., K), target (...) -> (...). Two tables (K, K): the classes from the nearest on,
    and the soft label at each place.
    """
    return with_gradient(_accumulated_log, logits, target, order, mass)


def _accumulated_log(gradient, logits, order, mass):
    """Value, and gradient written in place: p_j − p_j Σ_{i≥j} mass_i / P_i, j a place in order."""
    if torch.compiler.is_compiling():
        value, ordered = _scan_logs(logits.gather(-1, order), mass)
    else:
        p = torch.softmax(logits.gather(-1, order), -1)
        value, ordered = _scan(p, mass)
        far = underflows(p[:, 0])  # the label lies so far down that plain sums lose it
        if far is not None:
            value[far], ordered[far] = _scan_logs(logits[far].gather(-1, order[far]), mass[far])
    gradient.scatter_(-1, order, ordered)
    return value


def _scan(p, mass):
    total = p.cumsum(-1)
    pull = _reversed(torch.div(mass, total))
    pull = _reversed(torch.cumsum(pull, -1, out=pull))
    if p.dtype == torch.float64:  # −log P is summed from its steps: exact, however near P is to 1
        steps = torch.log1p(p[:, 1:] / total[:, :-1])
        value = steps.mul_(mass.cumsum(-1)[:, :-1]).sum(-1)
    else:  # as rounded as `torch.log_softmax`
        value = total.log_().mul_(mass).sum(-1).neg_().clamp_(min=0)
    return value, torch.addcmul(p, p, pull, value=-1, out=pull)


def _reversed(rows):
    return rows.reshape(-1).flip(0).view(rows.shape)  # one long row is faster than many


def _scan_logs(z, mass):
    z = z - z[:, :1]  # so that the first, smallest sums keep their digits
    total = z.logcumsumexp(-1)
    steps = F.logsigmoid(total[:, :-1] - z[:, 1:]) * mass.cumsum(-1)[:, :-1]
    pull = (mass.log() - total).flip(-1).logcumsumexp(-1).flip(-1)
    return -steps.sum(-1), (z - total[:, -1:]).exp() - (z + pull).exp()


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
        return accumulated_log_loss(logits, target, self.order, self.table("mass", logits))


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
