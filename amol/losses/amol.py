"""AMOL and its variants: a divergence from a Gaussian target that charges hedging extra."""

import torch
from torch import Tensor

from .base import OrdinalLoss, not_negative, positive, with_gradient
from .pointwise import cross_entropy, log_softmax, weighted_log_loss, weighted_log_slopes
from .tables import center_weight, closeness, gaussian_log_target


def weighted_divergence(
    logits: Tensor, target: Tensor, log_target: Tensor, weight: Tensor
) -> Tensor:
    """Σ_k weight[y, k] p_k (log p_k − log_target[y, k]): p against a soft target.

    logits (..., K), target (...), log_target and weight (K, K) -> (...). With weight 1 it is
    the divergence D_KL(p ‖ q). With others a term may be negative, and so may the sum. It is
    bounded: its gradient fades as p nears one class, even a wrong one, with the odds of the
    others. That is the formula's, not the arithmetic's.
    """
    return with_gradient(_weighted_divergence, logits, target, log_target, weight)


def _weighted_divergence(gradient, logits, log_target, weight):
    log_p = log_softmax(logits)
    p = log_p.exp()
    weighted = weight.mul_(p)
    terms = log_p.sub_(log_target).mul_(weighted)
    value = terms.sum(-1)
    slope = terms.add_(weighted)  # at log p
    torch.sub(slope, p.mul_(slope.sum(-1, keepdim=True)), out=gradient)
    return value


def divergence_slopes(logits: Tensor, weight: Tensor, offset: Tensor) -> Tensor:
    """Gradient of Σ_k weight_k p_k (log p_k − log q_k): s_k − p_k Σ_j s_j; all (K, N).

    s_k = p_k (weight_k log p_k + offset_k) with offset_k = weight_k (1 − log q_k).
    """
    log_p = torch.log_softmax(logits, 0)
    slope = offset.addcmul_(weight, log_p)
    p = log_p.exp_()
    slope.mul_(p)
    return slope.addcmul_(p, slope.sum(0), value=-1)


class _Divergence(OrdinalLoss):
    """Weighted divergence from the Gaussian target; a subclass gives the weights."""

    def __init__(self, num_classes, sigma, reduction, weight, ignore_index):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.sigma = positive("sigma", sigma)
        self.add_table("log_target", gaussian_log_target(num_classes, sigma))

    def values(self, logits, target):
        log_target, m = self.table("log_target", logits), self.table("m", logits)
        return weighted_divergence(logits, target, log_target, m)

    def by_hand(self):
        return divergence_slopes, (self.m, self.m * (1 - self.log_target))


class AMOLLoss(_Divergence):
    """Σ_k m(k, y) p_k log(p_k / q_k) with Gaussian q and `center_weight` m (`AMOL`).

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is D_KL(p ‖ q).
    sigma : float
        Width of q in classes, above 0.
    """

    def __init__(
        self,
        num_classes,
        *,
        alpha=1.0,
        sigma=1.0,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        super().__init__(num_classes, sigma, reduction, weight, ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("m", center_weight(num_classes, alpha))


class AMOLAsymLoss(_Divergence):
    """AMOL with weight only from the label inward to the center (`AMOL-asym`).

    Parameters as in `AMOLLoss`.
    """

    def __init__(
        self,
        num_classes,
        *,
        alpha=1.0,
        sigma=1.0,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        super().__init__(num_classes, sigma, reduction, weight, ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("m", center_weight(num_classes, alpha, direction="inward"))


class AMOLExpLoss(_Divergence):
    """AMOL with m = exp(α (1 − |k − c|/c) (|y − c|/c)) (`AMOL-exp`).

    Parameters as in `AMOLLoss`.
    """

    def __init__(
        self,
        num_classes,
        *,
        alpha=1.0,
        sigma=1.0,
        reduction="mean",
        weight=None,
        ignore_index=-100,
    ):
        super().__init__(num_classes, sigma, reduction, weight, ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("m", center_weight(num_classes, alpha, form="exponential"))


class KLLoss(_Divergence):
    """D_KL(p ‖ q) to the Gaussian q: AMOL at α = 0, the control for m (`KL`).

    Parameters
    ----------
    sigma : float
        Width of q in classes, above 0.
    """

    def __init__(self, num_classes, *, sigma=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, sigma, reduction, weight, ignore_index)
        self.add_table("m", center_weight(num_classes, alpha=0))


class AMOLOLLLoss(OrdinalLoss):
    """−Σ_k m(k, y) (1 − |k − y|/(K − 1)) log p_k (`AMOL-OLL`).

    The paper's ablation that collapses: here m multiplies a reward, so it draws mass to the
    center.

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is `OLL`.
    """

    def __init__(self, num_classes, *, alpha=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("reward", center_weight(num_classes, alpha) * closeness(num_classes))

    def values(self, logits, target):
        return weighted_log_loss(logits, target, self.table("reward", logits))

    def by_hand(self):
        return weighted_log_slopes, (self.reward,)


class AMOLCELoss(OrdinalLoss):
    """−m(y, y) log p_y: m on cross-entropy with the hard label (`AMOL-CE`).

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is `CE`.
    """

    def __init__(self, num_classes, *, alpha=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("m", center_weight(num_classes, alpha).diagonal().clone())

    def values(self, logits, target):
        return self.table("m", logits)[target] * cross_entropy(logits, target)

    def by_hand(self):
        return weighted_log_slopes, (self.m.diag(),)
