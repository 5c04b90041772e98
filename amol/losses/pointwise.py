"""Losses on K logits that weigh log probabilities by a fixed table."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, not_negative
from .tables import center_class, closeness, distances, gaussian_log_target


def cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """−log p_y: logits (..., K), target (...) -> (...)."""
    flat = F.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="none")
    return flat.view(target.shape)


def weighted_log_loss(logits: Tensor, weight: Tensor) -> Tensor:
    """−Σ_k weight_k log p_k: logits and weight (..., K) -> (...)."""
    return -(weight * torch.log_softmax(logits, -1)).sum(-1)


def log_complement(logits: Tensor) -> Tensor:
    """log(1 − p_k) for every class, (..., K), exact to rounding at both ends of p.

    Below one half log1p(−p) is exact. At most one class lies above; for it 1 − p is the sum
    of the others' probabilities, taken in log space so that it never underflows.
    """
    log_p = torch.log_softmax(logits, -1)
    top = log_p > -0.6
    rest = log_p.masked_fill(top, -torch.inf).logsumexp(-1, keepdim=True)
    return torch.where(top, rest, torch.log1p(-log_p.masked_fill(top, -1.0).exp()))


class CrossEntropyLoss(OrdinalLoss):
    """Cross-entropy, −log p_y: the nominal baseline (`CE`)."""

    def values(self, logits, target):
        return cross_entropy(logits, target)


class MaskedCenterLoss(OrdinalLoss):
    """Cross-entropy whose prediction never is the center class (`CE-masked`).

    A control: trained as `CE`, but probabilities and predictions leave `center_class` out,
    so its center-hedging rate is 0 by construction. At K = 2 it always predicts class 1.
    """

    def values(self, logits, target):
        return cross_entropy(logits, target)

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
        return weighted_log_loss(logits, self.rows("closeness", logits, target))


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
        return weighted_log_loss(logits, self.rows("soft_target", logits, target))


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
        log_rest = log_complement(logits)
        if self.margin:
            log_rest = (log_rest.exp() + self.margin).clamp(max=1).log()
        return -(self.rows("cost", logits, target) * log_rest).sum(-1)


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
