"""Losses on K logits that weigh log probabilities by a fixed table."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import (
    OrdinalLoss,
    class_by_class,
    not_negative,
    rows_like,
    underflows,
    with_gradient,
)
from .tables import center_class, closeness, distances, gaussian_log_target


def log_softmax(logits: Tensor) -> Tensor:
    """log p over the last axis, (..., K) -> (..., K).

    In float64 exact to rounding even where p is next to 1, which `torch.log_softmax` turns into
    0: log p of the largest logit is −log(1 + x), x the other classes' odds, and x is summed
    without the 1.
    """
    if logits.dtype != torch.float64:
        by_class = class_by_class(logits)
        return torch.log_softmax(logits.T, 0).T if by_class else torch.log_softmax(logits, -1)
    shifted = logits - logits.detach().amax(-1, keepdim=True)
    odds = shifted.exp()
    ties = odds.detach().floor().sum(-1, keepdim=True)  # classes with the largest logit
    return shifted - torch.log1p(odds.frac().sum(-1, keepdim=True) + (ties - 1))


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """−log p_y: logits (..., K), target (...) -> (...)."""
    return -log_softmax(logits).gather(-1, target.unsqueeze(-1)).squeeze(-1)


def weighted_log_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """−Σ_k weight[y, k] log p_k: logits (..., K), target (...), weight (K, K) -> (...)."""
    return -(rows_like(logits, weight, target) * log_softmax(logits)).sum(-1)


def weighted_log_slopes(logits: Tensor, weight: Tensor) -> Tensor:
    """Gradient of −Σ_k weight_k log p_k: p_k Σ_j weight_j − weight_k; all (K, N)."""
    return torch.softmax(logits, 0).mul_(weight.sum(0)).sub_(weight)


def distance_log_loss(logits: Tensor, target: Tensor, cost: Tensor) -> Tensor:
    """−Σ_k cost[y, k] log(1 − p_k): logits (..., K), target (...), cost (K, K) -> (...)."""
    return with_gradient(_distance_log, logits, target, cost)


def _distance_log(gradient, logits, cost):
    """Value, and gradient written in place, exact to rounding at both ends of p.

    A class with p > ½, if there is one, is set apart: its 1 − p is summed from the others'. Any
    other has −log(1 − p_k) = log(1 + o_k) with odds o_k = p_k/(1 − p_k).
    """
    if torch.compiler.is_compiling():
        return _distance_log_apart(gradient, logits, cost)
    p = torch.softmax(logits, -1)
    top = F.threshold(p, 0.5, 0)  # p where it is above ½, else 0
    p_top = top.sum(-1, keepdim=True)
    others = p.sub_(top)
    rest = others.sum(-1, keepdim=True)
    pull_top = (top * cost).sum(-1, keepdim=True)
    cost_top = pull_top / p_top.clamp(min=0.5)
    odds = others / (1 - others)
    pull = odds * cost
    pulls = pull.sum(-1, keepdim=True)
    torch.addcmul(pull, others, pulls + pull_top / rest, value=-1, out=gradient)
    gradient.addcmul_(top, cost_top - pulls)
    value = odds.log1p_().mul_(cost).sum(-1) - (cost_top * rest.log()).squeeze(-1)
    far = underflows(rest[:, 0])  # one class leads so far that the sum of the others is lost
    if far is not None:
        apart = torch.empty_like(logits[far])
        value[far] = _distance_log_apart(apart, logits[far], cost[far])
        gradient[far] = apart
    return value


def _distance_log_apart(gradient, logits, cost):
    """The same in logarithms, whatever the lead of the first class t.

    With o its log odds against the others, 1 − p_t is σ(−o), which doesn't underflow as a
    logarithm. Any other p_k is the class's share of the rest times σ(−o).
    """
    limits = torch.finfo(logits.dtype)
    top = logits.argmax(-1, keepdim=True)
    others = logits.scatter(-1, top, limits.min)
    second = others.amax(-1, keepdim=True)
    nothing = 0.9 * math.log(limits.tiny)  # its exponential is still a normal number
    share = others.sub_(second).scatter_(-1, top, nothing).exp_()
    total = share.sum(-1, keepdim=True)
    log_odds = logits.gather(-1, top) - second - total.log()
    log_rest = F.logsigmoid(-log_odds)  # log(1 − p_t)
    p_top, rest = F.logsigmoid(log_odds).exp(), log_rest.exp()
    cost_top = cost.gather(-1, top)

    p = share * (rest / total)
    odds = p.div_(1 - p)
    value = odds.log1p().mul_(cost).sum(-1) - (cost_top * log_rest).squeeze(-1)
    pull = odds.mul_(cost)
    pulls = pull.sum(-1, keepdim=True)
    torch.sub(pull, share.mul_((pulls * rest + cost_top * p_top) / total), out=gradient)
    gradient.scatter_(-1, top, p_top * (cost_top - pulls))
    return value


class CrossEntropyLoss(OrdinalLoss):
    """Cross-entropy, −log p_y: the nominal baseline (`CE`)."""

    def values(self, logits, target):
        return cross_entropy(logits, target)

    def by_hand(self):
        return weighted_log_slopes, (torch.eye(self.num_classes),)


class MaskedCenterLoss(CrossEntropyLoss):
    """Cross-entropy whose prediction never is the center class (`CE-masked`).

    A control: trained as `CE`, but probabilities and predictions leave `center_class` out,
    so its center-hedging rate is 0 by construction. At K = 2 it always predicts class 1.
    """

    def probabilities(self, logits):
        return torch.softmax(self._masked(logits), -1)

    def predict(self, logits):
        return self._masked(logits).argmax(-1)

    def _masked(self, logits):
        center = torch.arange(self.num_classes, device=logits.device) == center_class(
            self.num_classes
        )
        return logits.masked_fill(center, -torch.inf)


class OLLLoss(OrdinalLoss):
    """Ordinal log loss in the closeness form, −Σ_k (1 − |k − y|/(K − 1)) log p_k (`OLL`).

    The form that the AMOL paper words in its Section 2.2 and that fits its tables. The loss of
    the same name by Castagnos et al. (2022) is `OLL-Castagnos`.
    """

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.add_table("closeness", closeness(num_classes))

    def values(self, logits, target):
        return weighted_log_loss(logits, target, self.table("closeness", logits))

    def by_hand(self):
        return weighted_log_slopes, (self.closeness,)


class SORDLoss(OrdinalLoss):
    """Cross-entropy to a soft target, −Σ_k q_k log p_k, q ∝ exp(−(k − y)²/(2σ²)) (`SORD`).

    Díaz and Marathe, CVPR 2019, with the Gaussian target of the AMOL paper.

    Parameters
    ----------
    sigma : float
        Width of the target in classes, above 0.
    """

    def __init__(self, num_classes, *, sigma=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.sigma = sigma
        self.add_table("soft_target", gaussian_log_target(num_classes, sigma).exp())

    def values(self, logits, target):
        return weighted_log_loss(logits, target, self.table("soft_target", logits))

    def by_hand(self):
        return weighted_log_slopes, (self.soft_target,)


class DistanceLogLoss(OrdinalLoss):
    """−Σ_k |k − y|^power log(1 − p_k): OLL of Castagnos et al. (COLING 2022, `OLL-Castagnos`)
    and CDW-CE of Polat et al. (2022, `CDW-CE`): one formula under two names.

    Parameters
    ----------
    power : float
        Exponent of the distance, at least 0. Castagnos tries 1, 1.5 and 2; CDW-CE's authors'
        code has 2.
    margin : float
        CDW-CE's margin: 1 − p_k is replaced by min(1, 1 − p_k + margin), so a wrong class
        costs nothing until its probability passes the margin.
    """

    def __init__(
        self,
        num_classes,
        *,
        power=1.0,
        margin=0.0,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.power = not_negative("power", power)
        self.margin = not_negative("margin", margin)
        cost = distances(num_classes) ** self.power
        self.add_table("cost", cost.fill_diagonal_(0))

    def values(self, logits, target):
        cost = self.table("cost", logits)
        if not self.margin:
            return distance_log_loss(logits, target, cost)
        beyond = (torch.softmax(logits, -1) - self.margin).relu()
        return -(F.embedding(target, cost) * torch.log1p(-beyond)).sum(-1)


class CDWCELoss(DistanceLogLoss):
    """`DistanceLogLoss` with the default power of CDW-CE's authors, 2 (`CDW-CE`)."""

    def __init__(
        self,
        num_classes,
        *,
        power=2.0,
        margin=0.0,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        super().__init__(
            num_classes,
            power=power,
            margin=margin,
            reduction=reduction,
            weight=weight,
            ignore_index=ignore_index,
        )


class FocalLoss(OrdinalLoss):
    """−(1 − p_y)^γ log p_y: focal loss of Lin et al. (ICCV 2017, `Focal`).

    Parameters
    ----------
    gamma : float
        Focus on hard samples, at least 0; 0 is cross-entropy.
    """

    def __init__(self, num_classes, *, gamma=2.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.gamma = not_negative("gamma", gamma)

    def values(self, logits, target):
        label = target.unsqueeze(-1)
        others = logits.scatter(-1, label, -torch.inf).logsumexp(-1)
        lead = logits.gather(-1, label).squeeze(-1) - others  # log odds of the label
        return -(self.gamma * F.logsigmoid(-lead)).exp() * F.logsigmoid(lead)
