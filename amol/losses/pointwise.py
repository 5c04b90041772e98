"""Losses on K logits that weigh log probabilities by a fixed table."""

from functools import partialmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, not_negative
from .registry import register_loss
from .tables import center_class, closeness, distances, gaussian_log_target, listed


def log_softmax(logits: Tensor) -> Tensor:
    """log p over the last axis, (..., K) -> (..., K).

    In float64 exact to rounding even where p is next to 1, which `torch.log_softmax` turns into
    0: log p of the largest logit is −log(1 + x), x the other classes' odds, and x is summed
    without the 1.

    >>> log_softmax(torch.tensor([50.0, 0.0], dtype=torch.float64))[0].item()
    -1.9287498479639178e-22
    """
    if logits.dtype != torch.float64:
        return torch.log_softmax(logits, -1)
    top = logits.argmax(-1, keepdim=True)
    shifted = logits - logits.gather(-1, top)
    odds = shifted.exp().scatter(-1, top, 0).sum(-1, keepdim=True)  # of all other classes
    return shifted - torch.log1p(odds)


def _others(shifted: Tensor, chosen: Tensor) -> Tensor:
    """Log of the sum of exp over all classes but one, (..., K), (..., 1) -> (..., 1).

    Below any number where there is none: −∞ would have no gradient.
    """
    least = torch.finfo(shifted.dtype).min
    return shifted.scatter(-1, chosen, least).clamp(min=least).logsumexp(-1, keepdim=True)


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """−log p_y: logits (..., K), target (...) -> (...).

    >>> cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))  # log 4
    tensor([1.3863, 1.3863])
    """
    return -log_softmax(logits).gather(-1, target.unsqueeze(-1)).squeeze(-1)


def weighted_log_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """−Σ_k weight[y, k] log p_k: logits (..., K), target (...), weight (K, K) -> (...).

    >>> weighted_log_loss(torch.zeros(1, 4), torch.tensor([0]), torch.full((4, 4), 0.5))
    tensor([2.7726])
    """
    weight = F.embedding(target, weight)
    return -(weight * log_softmax(logits).masked_fill(weight == 0, 0)).sum(-1)


def distance_log_loss(logits: Tensor, target: Tensor, cost: Tensor) -> Tensor:
    """−Σ_k cost[y, k] log(1 − p_k): logits (..., K), target (...), cost (K, K) -> (...).

    Exact to rounding at both ends of p. Only the most probable class t can have p > ½; its
    log(1 − p_t) comes from the log odds of all others against it. Any other class has p_k ≤ ½,
    where log(1 − p_k) loses no digits.

    >>> distance_log_loss(torch.zeros(1, 2), torch.tensor([0]), torch.tensor([[0.0, 1], [1, 0]]))
    tensor([0.6931])
    """
    top = logits.argmax(-1, keepdim=True)
    shifted = logits - logits.gather(-1, top)
    log_odds = _others(shifted, top)  # (1 − p_t)/p_t
    p = (shifted + F.logsigmoid(-log_odds)).exp().scatter(-1, top, 0)  # p_t left out
    weight = F.embedding(target, cost)
    of_top = weight.gather(-1, top) * F.logsigmoid(log_odds)
    return -(weight * torch.log1p(-p)).sum(-1) - of_top.squeeze(-1)


@register_loss("CE")
class CrossEntropyLoss(OrdinalLoss):
    """Cross-entropy, −log p_y: the nominal baseline (`CE`).

    >>> CrossEntropyLoss(num_classes=4)(torch.zeros(1, 4), torch.tensor([3]))
    tensor(1.3863)
    """

    kind = "weighted_log"

    def kind_tables(self):
        return [torch.eye(self.num_classes)]

    def values(self, logits, target):
        return cross_entropy(logits, target)


@register_loss("CE-masked")
class MaskedCenterLoss(CrossEntropyLoss):
    """Cross-entropy whose prediction never is the center class (`CE-masked`).

    A control: trained as `CE`, but probabilities and predictions leave `center_class` out,
    so its center-hedging rate is 0 by construction. At K = 2 it always predicts class 1.

    >>> MaskedCenterLoss(num_classes=3).predict(torch.tensor([1.0, 9.0, 2.0]))
    tensor(2)
    """

    @property
    def without(self):
        return center_class(self.num_classes)

    def probabilities(self, logits):
        return torch.softmax(self._masked(logits), -1)

    def predict(self, logits):
        return self._masked(logits).argmax(-1)

    def _masked(self, logits):
        center = torch.arange(self.num_classes, device=logits.device) == self.without
        return logits.masked_fill(center, -torch.inf)


class TableLoss(OrdinalLoss):
    """`weighted_log_loss` with a table `soft_target`, which a subclass adds.

    >>> class Smoothed(TableLoss):
    ...     def __init__(self, num_classes, **common):
    ...         super().__init__(num_classes, **common)
    ...         self.add_table("soft_target", 0.9 * torch.eye(num_classes).double() + 0.05)
    >>> Smoothed(2)(torch.tensor([[0.0, 9.0]]), torch.tensor([0]))
    tensor(8.5501)
    """

    kind = "weighted_log"

    def kind_tables(self):
        return [self._exact["soft_target"]]

    def values(self, logits, target):
        return weighted_log_loss(logits, target, self.table("soft_target", logits))


@register_loss("OLL")
class OLLLoss(TableLoss):
    """Ordinal log loss in the closeness form, −Σ_k (1 − |k − y|/(K − 1)) log p_k (`OLL`).

    The form that the AMOL paper words in its Section 2.2 and that fits its tables. The loss of
    the same name by Castagnos et al. (2022) is `OLL-Castagnos`.

    >>> OLLLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.6479)

    Parameters
    ----------
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    def __init__(self, num_classes, *, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.distance = listed(distance)
        self.add_table("soft_target", closeness(num_classes, distance))


@register_loss("SORD")
class SORDLoss(TableLoss):
    """Cross-entropy to a soft target, −Σ_k q_k log p_k, q ∝ exp(−(k − y)²/(2σ²)) (`SORD`).

    Díaz and Marathe, CVPR 2019, with the Gaussian target of the AMOL paper.

    >>> SORDLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.0986)

    Parameters
    ----------
    sigma : float
        Width of the target in classes, above 0.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    def __init__(self, num_classes, *, sigma=1.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.sigma = sigma
        self.distance = listed(distance)
        self.add_table("soft_target", gaussian_log_target(num_classes, sigma, distance).exp())


@register_loss("OLL-Castagnos")
class DistanceLogLoss(OrdinalLoss):
    """−Σ_k |k − y|^power log(1 − p_k): OLL of Castagnos et al. (COLING 2022, `OLL-Castagnos`)
    and CDW-CE of Polat et al. (2022, `CDW-CE`): one formula under two names.

    >>> DistanceLogLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.2164)

    Parameters
    ----------
    power : float
        Exponent of the distance, at least 0. Castagnos tries 1, 1.5 and 2; CDW-CE's authors'
        code has 2.
    margin : float
        CDW-CE's margin: 1 − p_k is replaced by min(1, 1 − p_k + margin), so a wrong class
        costs nothing until its probability passes the margin.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    kind = "distance_log"

    def __init__(self, num_classes, *, power=1.0, margin=0.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.power = not_negative("power", power)
        self.margin = not_negative("margin", margin)
        self.distance = listed(distance)
        cost = distances(num_classes, distance) ** self.power
        self.add_table("cost", cost.fill_diagonal_(0))

    def kind_tables(self):
        return None if self.margin else [self._exact["cost"]]

    def values(self, logits, target):
        cost = self.table("cost", logits)
        if not self.margin:
            return distance_log_loss(logits, target, cost)
        beyond = (torch.softmax(logits, -1) - self.margin).relu()
        return -(F.embedding(target, cost) * torch.log1p(-beyond)).sum(-1)


@register_loss("CDW-CE")
class CDWCELoss(DistanceLogLoss):
    """`DistanceLogLoss` with the default power of CDW-CE's authors, 2 (`CDW-CE`).

    >>> CDWCELoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(2.0273)
    """

    __init__ = partialmethod(DistanceLogLoss.__init__, power=2.0)


@register_loss("Focal")
class FocalLoss(OrdinalLoss):
    """−(1 − p_y)^γ log p_y: focal loss of Lin et al. (ICCV 2017, `Focal`).

    >>> FocalLoss(num_classes=2)(torch.zeros(1, 2), torch.tensor([0]))
    tensor(0.1733)

    Parameters
    ----------
    gamma : float
        Focus on hard samples, at least 0; 0 is cross-entropy.
    """

    kind = "focal"

    def __init__(self, num_classes, *, gamma=2.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.gamma = not_negative("gamma", gamma)

    def kind_tables(self):
        return [torch.full((1, 1), self.gamma)]

    def values(self, logits, target):
        label = target.unsqueeze(-1)
        shifted = logits - logits.detach().amax(-1, keepdim=True)
        lead = (shifted.gather(-1, label) - _others(shifted, label)).squeeze(-1)  # log odds
        rest = F.logsigmoid(-lead).clamp(min=torch.finfo(lead.dtype).min)  # log(1 − p_y)
        factor = (self.gamma * rest).exp().masked_fill(rest == 0, 1)  # no slope: 0 of ∞ is 0
        return -factor * F.logsigmoid(lead)
