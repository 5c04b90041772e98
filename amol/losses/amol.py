"""AMOL and its variants: a divergence from a Gaussian target that penalizes hedging."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import OrdinalLoss, not_negative, positive
from .pointwise import TableLoss, log_softmax
from .registry import register_loss
from .tables import center_weight, closeness, gaussian_log_target, listed


def weighted_divergence(
    logits: Tensor, target: Tensor, log_target: Tensor, weight: Tensor
) -> Tensor:
    """Σ_k weight[y, k] p_k (log p_k − log_target[y, k]): p against a soft target.

    logits (..., K), target (...), log_target and weight (K, K) -> (...). With weight 1 it is
    the divergence D_KL(p ‖ q). With others a term may be negative, and so may the sum. It is
    bounded: its gradient fades as p nears one class, even a wrong one, with the odds of the
    others. That is the formula's, not the arithmetic's.

    >>> log_target, weight = torch.full((4, 4), 0.25).log(), torch.ones(4, 4)
    >>> weighted_divergence(torch.tensor([[99.0, 0, 0, 0]]), torch.tensor([0]), log_target, weight)
    tensor([1.3863])
    """
    log_p = log_softmax(logits)
    p = torch.exp(log_p)
    surprise = (log_p - F.embedding(target, log_target)).masked_fill(p == 0, 0)  # 0 of ∞ is 0
    return (F.embedding(target, weight) * p * surprise).sum(-1)


@register_loss("KL")
class KLLoss(OrdinalLoss):
    """D_KL(p ‖ q) to the Gaussian q: AMOL at α = 0, the control for m (`KL`).

    >>> KLLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(0.2897)

    Parameters
    ----------
    sigma : float
        Width of q in classes, above 0.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    kind = "weighted_divergence"

    def __init__(self, num_classes, *, sigma=1.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.sigma = positive("sigma", sigma)
        self.distance = listed(distance)
        self.add_table("log_target", gaussian_log_target(num_classes, sigma, distance))
        self.add_table("m", center_weight(num_classes, alpha=0))

    def kind_tables(self):
        return [self._exact["m"], -self._exact["m"] * self._exact["log_target"]]

    def values(self, logits, target):
        log_target, m = self.table("log_target", logits), self.table("m", logits)
        return weighted_divergence(logits, target, log_target, m)


@register_loss("AMOL")
class AMOLLoss(KLLoss):
    """Σ_k m(k, y) p_k log(p_k / q_k) with Gaussian q and `center_weight` m (`AMOL`).

    >>> AMOLLoss(num_classes=3, alpha=2.0)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(0.2606)

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is D_KL(p ‖ q).
    sigma : float
        Width of q in classes, above 0.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    form, direction = "linear", "both"  # of `center_weight`

    def __init__(self, num_classes, *, alpha=1.0, sigma=1.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        common = dict(reduction=reduction, weight=weight, ignore_index=ignore_index)
        super().__init__(num_classes, sigma=sigma, distance=distance, **common)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("m", center_weight(num_classes, alpha, self.form, self.direction))


@register_loss("AMOL-asym")
class AMOLAsymLoss(AMOLLoss):
    """`AMOLLoss` with weight only from the label inward to the center (`AMOL-asym`).

    >>> AMOLAsymLoss(num_classes=5)(torch.zeros(1, 5), torch.tensor([0]))
    tensor(2.0877)
    """

    direction = "inward"


@register_loss("AMOL-exp")
class AMOLExpLoss(AMOLLoss):
    """`AMOLLoss` with m = exp(α (1 − |k − c|/c) (|y − c|/c)) (`AMOL-exp`).

    >>> AMOLExpLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(0.2647)
    """

    form = "exponential"


@register_loss("AMOL-OLL")
class AMOLOLLLoss(TableLoss):
    """−Σ_k m(k, y) (1 − |k − y|/(K − 1)) log p_k (`AMOL-OLL`).

    The paper's ablation that collapses: m multiplies a reward, so it draws mass to the center.

    >>> AMOLOLLLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(2.1972)

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is `OLL`.
    """

    def __init__(self, num_classes, *, alpha=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("soft_target", center_weight(num_classes, alpha) * closeness(num_classes))


@register_loss("AMOL-CE")
class AMOLCELoss(TableLoss):
    """−m(y, y) log p_y: m on cross-entropy with the hard label (`AMOL-CE`).

    >>> AMOLCELoss(num_classes=5)(torch.zeros(1, 5), torch.tensor([1]))
    tensor(2.0118)

    Parameters
    ----------
    alpha : float
        Strength of m, at least 0; 0 is `CE`.
    """

    def __init__(self, num_classes, *, alpha=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.alpha = not_negative("alpha", alpha)
        self.add_table("soft_target", center_weight(num_classes, alpha).diagonal().diag())
