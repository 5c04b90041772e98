"""CORAL and CORN: K − 1 binary tasks "is the label above k?" on K − 1 logits."""

import torch
import torch.nn.functional as F

from .base import OrdinalLoss
from .registry import register_loss


def _task_signs(num_classes):
    """+1 where y > k, else −1: (K, K − 1) float64, row y, column k."""
    k = torch.arange(num_classes - 1)
    return torch.where(torch.arange(num_classes)[:, None] > k, 1.0, -1.0).double()


@register_loss("CORAL")
class CORALLoss(OrdinalLoss):
    """−Σ_k log σ(±z_k), + where y > k: CORAL of Cao, Mirjalili and Raschka (2020).

    Works on z_k = wᵀx + b_k, K − 1 logits that share one weight vector (`shared_head`); the
    biases start at (K − 1, …, 1)/(K − 1) in the authors' layer. The label is the number of
    tasks with σ(z_k) > ½: call `predict`, since no argmax of the outputs finds it. skorch's own
    `predict` takes that argmax.

    >>> loss = CORALLoss(num_classes=4)
    >>> loss(torch.zeros(1, 3), torch.tensor([1]))  # 3 log 2
    tensor(2.0794)
    >>> loss.predict(torch.tensor([2.0, 0.5, -1.0]))
    tensor(2)
    """

    shared_head, kind, meaning = True, "binary_tasks", "cumulative_labels"

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.num_logits = self.num_classes - 1
        self.add_table("signs", _task_signs(num_classes))

    def kind_tables(self):
        return [self._exact["signs"]]

    def values(self, logits, target):
        return -F.logsigmoid(F.embedding(target, self.table("signs", logits)) * logits).sum(-1)

    def probabilities(self, logits):
        """P(y > k) = σ(z_k), made non-increasing in k by its running minimum."""
        above = torch.sigmoid(logits).cummin(-1).values
        return -torch.diff(F.pad(F.pad(above, (1, 0), value=1.0), (0, 1)), dim=-1)

    def predict(self, logits):
        return (logits > 0).sum(-1)


@register_loss("CORN")
class CORNLoss(OrdinalLoss):
    """CORN of Shi, Cao and Raschka (2023): task k judges y > k given y ≥ k.

    A sample enters tasks 0..min(y, K − 2) and no other; the mean is over entries, all tasks
    pooled, as in the authors' code. σ(z_k) are conditional, P(y > k) is their running product,
    and the label is the number of products above ½: call `predict` here too, with skorch as well.

    >>> loss = CORNLoss(num_classes=4)
    >>> loss(torch.zeros(1, 3), torch.tensor([1]))  # two tasks entered, their mean is log 2
    tensor(0.6931)
    >>> loss.predict(torch.tensor([2.0, 0.5, -1.0]))  # products .88, .55, .15
    tensor(2)
    """

    kind, meaning = "binary_tasks", "conditional_labels"

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.num_logits = self.num_classes - 1
        self.add_table("signs", _task_signs(num_classes))
        self.add_table("entered", torch.ones_like(self._exact["signs"]).tril())  # k ≤ y

    def kind_tables(self):
        return [self._exact["signs"] * self._exact["entered"]]

    def values(self, logits, target):
        signs, entered = self.table("signs", logits), self.table("entered", logits)
        log_p = F.logsigmoid(F.embedding(target, signs) * logits)
        return -log_p.masked_fill(F.embedding(target, entered) == 0, 0).sum(-1)

    def terms(self, logits, target):
        values, weights = super().terms(logits, target)
        return values, weights * (target + 1).clamp(max=self.num_logits)

    def probabilities(self, logits):
        """Product of the tasks passed, times the first one failed."""
        passed = F.pad(torch.sigmoid(logits).cumprod(-1), (1, 0), value=1.0)
        return passed * F.pad(torch.sigmoid(-logits), (0, 1), value=1.0)

    def predict(self, logits):
        return (torch.sigmoid(logits).cumprod(-1) > 0.5).sum(-1)
