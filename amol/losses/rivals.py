"""Rivals of other kinds: cumulative link, squared distance, kappa, answers to rare classes."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .base import BatchLoss, OrdinalLoss, not_negative, unmasked
from .pointwise import CrossEntropyLoss, cross_entropy
from .registry import register_loss
from .tables import distances, listed


def counted(num_classes: int, class_counts) -> Tensor:
    """Samples per class (K,) float64, ones where None; ValueError if negative or all zero.

    >>> counted(3, [2, 0, 1])
    tensor([2., 0., 1.], dtype=torch.float64)
    """
    counts = torch.ones(num_classes)
    if class_counts is not None:
        counts = unmasked("class_counts", class_counts)
    if counts.shape != (num_classes,) or not (counts >= 0).all() or not counts.any():
        raise ValueError(
            f"class_counts holds {num_classes} numbers, none negative, not all zero, "
            f"got {counts.tolist()}"
        )
    return counts.double()


def cutpoints(logits: Tensor) -> Tensor:
    """t_0 = z_0, t_k = t_{k−1} − log(1 + exp(z_k − z_0)): falling in k, (..., K − 1) both.

    >>> cutpoints(torch.zeros(3))  # steps of log 2
    tensor([ 0.0000, -0.6931, -1.3863])
    """
    first = logits[..., :1]
    steps = F.logsigmoid(first - logits[..., 1:])  # `softplus` has a threshold
    return first + F.pad(steps.cumsum(-1), (1, 0))


@register_loss("CLM")
class CLMLoss(OrdinalLoss):
    """−log(σ(t_{y−1}) − σ(t_y)), t_{−1} = ∞, t_{K−1} = −∞: a cumulative-link model (`CLM`).

    McCullagh's proportional odds (Regression Models for Ordinal Data, 1980) on K − 1 logits
    z_k = wᵀx + b_k that share one weight vector (`shared_head`): σ(t_k) is P(y > k). `cutpoints`
    keeps the t_k in order whatever the biases are, where McCullagh estimates them freely; Vargas,
    Gutiérrez and Hervás-Martínez (Neurocomputing 401, 2020, doi 10.1016/j.neucom.2020.03.034)
    square a parameter instead. Where CORAL sums K − 1 binary losses, this is the likelihood of the
    label. The label predicted is the most probable class: call `predict`.

    >>> loss = CLMLoss(num_classes=3)
    >>> loss(torch.zeros(1, 2), torch.tensor([1]))  # σ(0) − σ(−log 2) = 1/2 − 1/3
    tensor(1.7918)
    >>> loss.predict(torch.tensor([3.0, 9.0]))
    tensor(1)
    """

    shared_head, kind, meaning = True, "ordered_cuts", "ordered_labels"

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.num_logits = self.num_classes - 1

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """log P(y = k), (..., K − 1) -> (..., K).

        σ(a) − σ(a − d) = σ(a) σ(d − a) (1 − e^−d), and with d = log(1 + e^u) the last is σ(u).
        """
        t = cutpoints(logits)
        steps = F.logsigmoid(logits[..., 1:] - logits[..., :1])
        ends = F.pad(F.logsigmoid(t), (1, 0)) + F.pad(F.logsigmoid(-t), (0, 1))
        return ends + F.pad(steps, (1, 1))

    def values(self, logits, target):
        return -self.log_probabilities(logits).gather(-1, target.unsqueeze(-1)).squeeze(-1)

    def probabilities(self, logits):
        return self.log_probabilities(logits).exp()

    def predict(self, logits):
        return self.log_probabilities(logits).argmax(-1)


@register_loss("EMD2")
class EMD2Loss(OrdinalLoss):
    """Σ_k (P(k) − 1[y ≤ k])², P the cumulative distribution: squared earth mover's (`EMD2`).

    Hou, Yu and Samaras, arXiv 1611.05916, for classes in order; K − 1 times the ranked probability
    score. Bounded, so its gradient fades as p nears one class, even a wrong one.

    >>> EMD2Loss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))  # (2/3)² + (1/3)²
    tensor(0.5556)
    """

    kind = "squared_cumulative"

    def values(self, logits, target):
        p = torch.softmax(logits, -1)
        upto = p.cumsum(-1)[..., :-1]
        beyond = p.flip(-1).cumsum(-1).flip(-1)[..., 1:]
        passed = target.unsqueeze(-1) > torch.arange(self.num_classes - 1, device=target.device)
        return (torch.where(passed, upto, beyond) ** 2).sum(-1)


@register_loss("WK")
class WKLoss(BatchLoss):
    """Σ_ij c_ij O_ij / Σ_ij c_ij E_ij, c_ij = (i − j)²/(K − 1)²: weighted kappa loss (`WK`).

    For a batch, O_ij sums the probabilities of class i over the samples with label j, and E_ij is
    what O_ij would be if probabilities and labels were independent. So it is 1 − κ, κ the quadratic
    weighted kappa with probabilities for predictions: 0 for a perfect batch, 1 for chance, at
    most 2. A sample's part is its own Σ_i c_iy p_i over the batch's mean of what is in the
    denominator.

    De la Torre, Puig and Valls (Pattern Recognition Letters 105, 2018, doi
    10.1016/j.patrec.2017.05.018) minimise its logarithm, which has no least value. Without, as
    here, it is the form of Vargas, Gutiérrez and Hervás-Martínez (Neurocomputing 401, 2020, doi
    10.1016/j.neucom.2020.03.034) and of dlordinal 2.7, whose documentation has both formulas.
    Instead of dlordinal's small number in the denominator, a batch with a single label has the
    value that its ratio has for any probabilities: 1, with gradient 0. It teaches nothing, so
    batches are best large. Class weights weigh the samples in O and E.

    >>> loss = WKLoss(num_classes=3)
    >>> loss(torch.zeros(2, 3), torch.tensor([0, 2]))  # chance
    tensor(1.)
    >>> loss(torch.tensor([[0.0, -99, -99], [-99, 0.0, -99]]), torch.tensor([0, 2]))
    tensor(0.3333)

    Parameters
    ----------
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    kind = "weighted_kappa"

    def __init__(self, num_classes, *, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.distance, table = listed(distance), distances(num_classes, distance)
        self.add_table("cost", (table / table.max()) ** 2)

    def kind_tables(self):
        cost, weight = self._exact["cost"], self.weight
        weight = torch.ones(self.num_classes) if weight is None else weight
        return [cost, weight[:, None].expand_as(cost)]

    def batch_values(self, logits, target, weights):
        p, cost = torch.softmax(logits, -1), F.embedding(target, self.table("cost", logits))
        total = weights.sum()
        shares = (weights / torch.where(total > 0, total, 1)).unsqueeze(-1)
        # mean over the batch's labels, 0 at a class if and only if that is the only label
        expected = (shares * cost).flatten(0, -2).sum(0) if target.ndim else cost
        alone = (expected == 0).any()
        chance = torch.where(alone, 1, (shares * p * expected).sum())
        own = (p * cost).sum(-1)
        return torch.where(alone, own * 0 + 1, own / chance)


@register_loss("LogitAdj")
class LogitAdjustedLoss(OrdinalLoss):
    """Cross-entropy of z + τ log prior; probabilities and labels are those of z (`LogitAdj`).

    Menon et al., Long-tail Learning via Logit Adjustment, arXiv 2007.07314: with τ = 1 it aims
    at the least balanced error.

    >>> loss = LogitAdjustedLoss(num_classes=2, class_counts=[3, 1])
    >>> loss(torch.zeros(1, 2), torch.tensor([1]))  # −log 1/4
    tensor(1.3863)

    Parameters
    ----------
    tau : float
        Strength, at least 0; 0 is cross-entropy.
    class_counts : (K,) not negative, optional
        Samples of each class in the training set, of which the prior is made; a class without
        any counts as one sample. Equal counts without.
    """

    kind = "adjusted_log"

    def __init__(self, num_classes, *, tau=1.0, class_counts=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.tau = not_negative("tau", tau)
        counts = counted(self.num_classes, class_counts).clamp(min=1)
        self.add_table("shift", self.tau * (counts / counts.sum()).log())
        self.class_counts = None if class_counts is None else counts.tolist()

    def kind_tables(self):
        return [self._exact["shift"][None]]

    def values(self, logits, target):
        top = logits.detach().amax(-1, keepdim=True)  # so that the shift keeps its digits
        return cross_entropy(logits - top + self.table("shift", logits), target)


@register_loss("CE-balanced")
class BalancedCrossEntropyLoss(CrossEntropyLoss):
    """Cross-entropy with class weights n/(K n_y), "balanced" in scikit-learn (`CE-balanced`).

    n_y counts the training samples of class y, K the classes that have any; a class without has
    weight 0. As with all class weights, the mean divides by their sum.

    >>> loss = BalancedCrossEntropyLoss(num_classes=2, class_counts=[3, 1], reduction="none")
    >>> loss(torch.zeros(2, 2), torch.tensor([0, 1]))  # 2/3 log 2, 2 log 2
    tensor([0.4621, 1.3863])

    Parameters
    ----------
    class_counts : (K,) not negative, optional
        Samples of each class in the training set; equal counts without.
    weight : (K,) floats, optional
        Multiplied with these weights.
    """

    def __init__(
        self, num_classes, *, class_counts=None, reduction="mean", weight=None, ignore_index=-100
    ):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        counts = None if class_counts is None else counted(self.num_classes, class_counts)
        self.class_counts = None if counts is None else counts.tolist()
        if counts is not None:
            present = counts > 0
            rarity = torch.where(present, counts.sum() / (present.sum() * counts.clamp(min=1)), 0)
            self.weight = rarity if self.weight is None else rarity * self.weight
