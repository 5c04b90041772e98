"""SLACE: soft labels on accumulated probabilities."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, positive
from .registry import register_loss
from .tables import distances, listed


def proximity(class_counts: Tensor) -> Tensor:
    """prox(c, y) = −log[(n_c/2 + Σ n over classes from c, exclusive, to y)/n], (K, K), row y.

    Amigó et al.'s closeness of ordinal classes: two labels are near if few samples lie
    between them.

    >>> proximity(torch.tensor([2, 1, 1]))[0]  # −log of 1/4, 2.5/4, 3.5/4
    tensor([1.3863, 0.4700, 0.1335], dtype=torch.float64)
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

    −log P_i is summed from the steps log(P_j+1 / P_j), so it is exact to rounding however near
    P_i is to 1, and however far the label's own logit lies below the others, up to the largest
    number.

    >>> order, mass = torch.tensor([[0, 1], [1, 0]]), torch.tensor([[0.75, 0.25], [0.75, 0.25]])
    >>> accumulated_log_loss(torch.zeros(1, 2), torch.tensor([0]), order, mass)  # .75 log 2
    tensor([0.5199])
    """
    least = torch.finfo(logits.dtype).min
    z = logits.gather(-1, F.embedding(target, order)).clamp(min=least)
    half = z / 2 - z[..., :1] / 2  # from the label's, so that small sums keep their digits
    half = half + (half.clamp(least / 2, -least / 2) - half).detach()  # with the slope of all
    z = (2 * half).unbind(-1)
    charge = F.embedding(target, mass).cumsum(-1).unbind(-1)  # of a step: the mass before it
    total, value = z[0], torch.zeros_like(z[0])  # log of the sum of the first exponentials
    for nearer, z_k in zip(charge, z[1:], strict=False):
        step = F.logsigmoid(total - z_k)  # log(P_j / P_j+1)
        value = value - nearer * step
        total = total - step
    return value


class _Accumulated(OrdinalLoss):
    """SLACE on a (K, K) table of dissimilarities, row y; equal ones enter together."""

    kind = "accumulated_log"

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

    def kind_tables(self):
        return [self.order, self._exact["mass"]]

    def values(self, logits, target):
        return accumulated_log_loss(logits, target, self.order, self.table("mass", logits))


@register_loss("SLACE")
class SLACELoss(_Accumulated):
    """−Σ_i q_i log Σ_{j: |j−y| ≤ |i−y|} p_j, q ∝ exp(−slope |i − y|) (`SLACE`).

    Nachmani et al. (AAAI 2025), plain form. Their code has `reduction` "sum".

    >>> SLACELoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(0.8301)

    Parameters
    ----------
    slope : float
        Sharpness of the soft label, above 0; the authors tune it from 0.3 to 25.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    def __init__(self, num_classes, *, slope=1.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        table = distances(num_classes, distance)
        super().__init__(num_classes, table, slope, reduction, weight, ignore_index)
        self.distance = listed(distance)


@register_loss("SLACE-prox")
class SLACEProxLoss(_Accumulated):
    """SLACE with proximity for distance: sensitive to class balance (`SLACE-prox`).

    Dissimilarity of i to y is max prox − prox(i, y).

    >>> SLACEProxLoss(num_classes=3, class_counts=[2, 1, 1])(torch.zeros(1, 3), torch.tensor([0]))
    tensor(0.7479)

    Parameters
    ----------
    slope : float
        Sharpness of the soft label, above 0.
    class_counts : (K,) positive, optional
        Samples of each class in the training set; equal counts without.
    """

    def __init__(self, num_classes, *, slope=1.0, class_counts=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        counts = torch.ones(num_classes) if class_counts is None else torch.as_tensor(class_counts)
        if counts.shape != (num_classes,) or not (counts > 0).all():
            raise ValueError(
                f"class_counts holds {num_classes} positive numbers, got {counts.tolist()}"
            )
        prox = proximity(counts)
        super().__init__(num_classes, prox.max() - prox, slope, reduction, weight, ignore_index)
        self.class_counts = None if class_counts is None else counts.tolist()
