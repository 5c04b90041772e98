"""Cross-entropy to soft labels from unimodal distributions: the rivals of a Gaussian target.

Each class is a fixed row of probabilities (K, K), made from integers where the formula allows it.
The formulas are those of the papers named, as the library dlordinal 2.7 carries them out.
"""

from functools import partial
from math import comb

import numpy as np
import torch
from torch import Tensor

from .base import at_most, positive
from .pointwise import TableLoss
from .registry import register_loss
from .tables import distances, listed


def triangular_labels(num_classes: int, neighbor: float = 0.05) -> Tensor:
    """Shares of the classes' intervals under triangles around the label's, (K, K).

    An inner label gives ``neighbor`` = a to either side. The first one gives t² with
    t (1 + t) = s (1 − s)(1 − s²), s = sqrt(2a); for the last one the right side is multiplied by
    ((K − 1)/K)², so that the authors' formula treats the two ends differently.

    >>> triangular_labels(4, neighbor=0.08)[:2]
    tensor([[0.9704, 0.0296, 0.0000, 0.0000],
            [0.0800, 0.8400, 0.0800, 0.0000]], dtype=torch.float64)
    """
    s = (2 * neighbor) ** 0.5
    first = s * (1 - s) * (1 - s * s)
    last = first * ((num_classes - 1) / num_classes) ** 2
    ends = [(2 * c / (1 + (1 + 4 * c) ** 0.5)) ** 2 for c in (first, last)]
    inner = [neighbor] * (num_classes - 2)
    above, below = (torch.tensor(row, dtype=torch.float64) for row in
                    ([ends[0], *inner], [*inner, ends[1]]))  # fmt: skip
    beside = above.diag(1) + below.diag(-1)
    return beside + (1 - beside.sum(1)).diag()


def binomial_labels(num_classes: int) -> Tensor:
    """Binomial distribution of K − 1 trials, p from 0.1 for the first class to 0.9, (K, K).

    From ten classes on, the classes beside the ends are at least as likely as the ends.

    >>> binomial_labels(3)[0]
    tensor([0.8100, 0.1800, 0.0100], dtype=torch.float64)
    """
    n = num_classes - 1
    rows = [
        [comb(n, k) * p**k * (10 * n - p) ** (n - k) / (10 * n) ** n for k in range(num_classes)]
        for p in range(n, 9 * n + 1, 8)  # of 10 n
    ]
    return torch.tensor(rows, dtype=torch.float64)


def poisson_labels(num_classes: int) -> Tensor:
    """Softmax of the Poisson probabilities of 0 … K − 1 at rate y + 1, (K, K).

    So it stands in the library: a softmax of probabilities is nearly flat, and at this rate y and
    y + 1 are equally likely, so that a network that learns it can't tell the two.

    >>> poisson_labels(3)[0]
    tensor([0.3531, 0.3531, 0.2938], dtype=torch.float64)
    """
    k = torch.arange(num_classes, dtype=torch.float64)
    rate = k[:, None] + 1
    return torch.softmax((k * rate.log() - rate - torch.lgamma(k + 1)).exp(), -1)


def exponential_labels(
    num_classes: int, power: float = 1.0, tau: float = 1.0, distance=None
) -> Tensor:
    """exp(−|k − y|^power / τ), normalised, (K, K); see `distances`.

    >>> exponential_labels(3)[0]
    tensor([0.6652, 0.2447, 0.0900], dtype=torch.float64)
    """
    return torch.softmax(-(distances(num_classes, distance) ** power) / tau, -1)


# Parameters for the lower half of K classes, as published; the upper half is their mirror image.
_BETA_SHAPES = {
    3: [(1, 4), (4, 4)],
    4: [(1, 6), (6, 10)],
    5: [(1, 8), (6, 14), (12, 12)],
    6: [(1, 10), (7, 20), (15, 20)],
    7: [(1, 12), (7, 26), (16, 28), (24, 24)],
    8: [(1, 14), (7, 31), (17, 37), (27, 35)],
    9: [(1, 16), (8, 40), (18, 47), (30, 47), (40, 40)],
    10: [(1, 18), (8, 45), (19, 57), (32, 59), (45, 55)],
}


def beta_shapes(num_classes: int) -> list[tuple[int, int]]:
    """Both parameters of each class's beta distribution, whole numbers.

    From 3 to 10 classes as published: rounded from a mean at the middle of the class's interval
    and a standard deviation of half its width, with 1 and 2K − 2 at the ends. Other numbers of
    classes get them by this rule.

    >>> beta_shapes(5)
    [(1, 8), (6, 14), (12, 12), (14, 6), (8, 1)]
    """
    width = 2 * num_classes
    half = _BETA_SHAPES.get(num_classes) or [
        (1, width - 2),
        *(
            tuple(round((m * (width - m) - 1) * side / width) for side in (m, width - m))
            for m in range(3, num_classes + 1, 2)
        ),
    ]
    return [*half, *((b, a) for a, b in reversed(half[: num_classes // 2]))]


def _beta_tails(a: int, b: int, k: int, num_classes: int) -> tuple[float, float]:
    """P(X ≤ x) and P(X > x) at x = k/K: a binomial sum, its terms outward from the largest."""
    if k in (0, num_classes):
        return float(k > 0), float(k == 0)
    n, odds = a + b - 1, k / (num_classes - k)
    top = (n + 1) * k // num_classes
    down, up = np.arange(top, 0, -1), np.arange(top, n)
    falling = np.cumprod(down / ((n - down + 1) * odds))
    terms = np.concatenate([falling[::-1], [1.0], np.cumprod((n - up) * odds / (up + 1))])
    return terms[a:].sum() / terms.sum(), terms[:a].sum() / terms.sum()


def beta_labels(num_classes: int) -> Tensor:
    """Shares of the classes' intervals under the beta distributions of `beta_shapes`, (K, K).

    >>> beta_labels(3)[0]
    tensor([0.8025, 0.1852, 0.0123], dtype=torch.float64)
    """
    rows = []
    for a, b in beta_shapes(num_classes):
        tails = [_beta_tails(a, b, k, num_classes) for k in range(num_classes + 1)]
        below, above = np.array(tails).T
        rows.append(np.where(below[1:] < above[1:], np.diff(below), -np.diff(above)))
    return torch.from_numpy(np.array(rows))


class SoftLabelLoss(TableLoss):
    """−Σ_k r_k log p_k, r = (1 − η) e_y + η q: from the hard label e_y to the soft label q.

    >>> SoftLabelLoss(3, binomial_labels, eta=0.0)(torch.zeros(1, 3), torch.tensor([0]))  # log 3
    tensor(1.0986)

    Parameters
    ----------
    labels : callable
        From the number of classes to the soft labels (K, K), a row for each label.
    eta : float
        Share of the soft label, from 0 to 1.
    """

    def __init__(
        self, num_classes, labels, eta=1.0, reduction="mean", weight=None, ignore_index=-100
    ):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.eta = at_most("eta", eta, 1)
        hard = torch.eye(self.num_classes, dtype=torch.float64)
        self.add_table("soft_target", (1 - self.eta) * hard + self.eta * labels(self.num_classes))


@register_loss("Triangular")
class TriangularLoss(SoftLabelLoss):
    """Cross-entropy to `triangular_labels` (`Triangular`).

    Vargas, Gutiérrez, Barbero-Gómez and Hervás-Martínez, Information Fusion 93 (2023),
    doi 10.1016/j.inffus.2023.01.003.

    >>> TriangularLoss(num_classes=3)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([1]))
    tensor(1.4076)

    Parameters
    ----------
    neighbor : float
        What an inner label gives to the class on either side, from 0 to 0.2: the paper's α₂.
    eta : float
        Share of the soft label, from 0 to 1; the rest is the hard label.
    """

    def __init__(self, num_classes, *, neighbor=0.05, eta=1.0,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        labels = partial(triangular_labels, neighbor=at_most("neighbor", neighbor, 0.2))
        super().__init__(num_classes, labels, eta, reduction, weight, ignore_index)
        self.neighbor = float(neighbor)


@register_loss("Binomial")
class BinomialLoss(SoftLabelLoss):
    """Cross-entropy to `binomial_labels` (`Binomial`).

    Liu, Fan, Kong, Diao, Xie, Lu and You, Neurocomputing 388 (2020),
    doi 10.1016/j.neucom.2020.01.025.

    >>> BinomialLoss(num_classes=3)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
    tensor(0.6076)

    Parameters
    ----------
    eta : float
        Share of the soft label, from 0 to 1; the rest is the hard label.
    """

    def __init__(self, num_classes, *, eta=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, binomial_labels, eta, reduction, weight, ignore_index)


@register_loss("Poisson")
class PoissonLoss(SoftLabelLoss):
    """Cross-entropy to `poisson_labels` (`Poisson`); source as of `BinomialLoss`.

    >>> PoissonLoss(num_classes=3)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
    tensor(1.3483)

    Parameters
    ----------
    eta : float
        Share of the soft label, from 0 to 1; the rest is the hard label.
    """

    def __init__(self, num_classes, *, eta=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, poisson_labels, eta, reduction, weight, ignore_index)


@register_loss("Exponential")
class ExponentialLoss(SoftLabelLoss):
    """Cross-entropy to `exponential_labels` (`Exponential`).

    Liu et al. as of `BinomialLoss`; with a power, Vargas, Gutiérrez, Rosati, Romeo, Frontoni and
    Hervás-Martínez, Applied Soft Computing 138 (2023), doi 10.1016/j.asoc.2023.110191. Power 2
    is `SORD`.

    >>> ExponentialLoss(num_classes=3)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
    tensor(0.8324)

    Parameters
    ----------
    power : float
        Of the distance, above 0.
    tau : float
        Width of the soft label, above 0.
    eta : float
        Share of the soft label, from 0 to 1; the rest is the hard label.
    distance : (K, K), optional
        In place of |k − y|, see `distances`.
    """

    def __init__(self, num_classes, *, power=1.0, tau=1.0, eta=1.0, distance=None,
                 reduction="mean", weight=None, ignore_index=-100):  # fmt: skip
        own = {"power": positive("power", power), "tau": positive("tau", tau)}
        labels = partial(exponential_labels, **own, distance=distance)
        super().__init__(num_classes, labels, eta, reduction, weight, ignore_index)
        self.power, self.tau, self.distance = *own.values(), listed(distance)


@register_loss("Beta")
class BetaLoss(SoftLabelLoss):
    """Cross-entropy to `beta_labels` (`Beta`).

    Vargas, Gutiérrez and Hervás-Martínez, Pattern Recognition 122 (2022),
    doi 10.1016/j.patcog.2021.108310. Their later labels for the first and the last class, from a
    generalised beta distribution (arXiv 2407.12417), are missing: its parameters are in no source
    that could be read, dlordinal 2.7 included, whose sets leave its third parameter at 1.

    >>> BetaLoss(num_classes=3)(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0]))
    tensor(0.6175)

    Parameters
    ----------
    eta : float
        Share of the soft label, from 0 to 1; the rest is the hard label.
    """

    def __init__(self, num_classes, *, eta=1.0, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, beta_labels, eta, reduction, weight, ignore_index)
