"""From probabilities learned with soft labels back to the beliefs behind them."""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from .base import OrdinalLoss
from .minimizers import mixing_table
from .solver import TOLERANCE, as_distributions, newton

BARRIERS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)


class Unmixed(NamedTuple):
    """Beliefs read from probabilities, and how much worse their error may be.

    >>> Unmixed(torch.ones(1), 1.0).condition
    1.0
    """

    beliefs: Tensor  # (..., K) float64
    condition: float  # of the table, in the 2-norm


def unmix(loss: OrdinalLoss, probabilities) -> Unmixed:
    """The beliefs under which a soft-label loss asks for these probabilities.

    Such a loss asks for p ∝ W'η (`minimize_risk`). With W's rows scaled to sum to 1, p = Q'h and
    η ∝ h/(row sums of W). h is the solution of Q'h = p where that has no negative entry, else the
    distribution with the greatest Σ_k p_k log (Q'h)_k: the likelihood of p under mixtures of Q's
    rows, within 1e-10 of its maximum. This is the forward correction for noisy labels (Patrini et
    al., CVPR 2017, arXiv 1609.03683) with Q for the noise.

    An error of p may grow by the factor `condition`, the ratio of Q's largest to smallest
    singular value, relative to p. The larger it is, the more beliefs get classes of probability
    0, on which a log loss is merciless.

    Parameters
    ----------
    loss : OrdinalLoss
        One with a table of soft labels, as `SORD`, or cross-entropy; also class weights are
        undone.
    probabilities : (..., K) tensor or array
        Not negative, each summing to 1.

    Raises
    ------
    TypeError
        The loss asks for no mixture.
    ValueError
        Its table is singular, so that beliefs can't be told apart (`AMOL-OLL` at odd K and α = 1).

    Examples
    --------
    >>> from .pointwise import SORDLoss
    >>> beliefs, condition = unmix(SORDLoss(num_classes=3), [0.40, 0.40, 0.20])
    >>> beliefs
    tensor([0.4516, 0.4997, 0.0487], dtype=torch.float64)
    >>> round(condition, 1)
    9.8
    """
    table = mixing_table(loss)
    if table is None:
        raise TypeError(f"{type(loss).__name__} doesn't ask for a mixture of soft labels")
    p = as_distributions("probabilities", probabilities, loss.num_classes)
    rows = table.sum(-1)
    mixture = table / rows.clamp(min=1e-300)[:, None]
    condition = torch.linalg.cond(mixture).item()
    if not condition < 0.01 / torch.finfo(torch.float64).eps:
        raise ValueError(
            f"the soft labels of {type(loss).__name__} at K = {loss.num_classes} are linearly "
            f"dependent (condition number {condition:.0e}): no belief can be read"
        )
    flat = p.reshape(-1, loss.num_classes)
    h = torch.linalg.solve(mixture.T, flat.T).T
    outside = (h < -1e-15 * condition).any(-1)  # beyond what rounding p does
    if outside.any():
        h[outside] = _most_likely(mixture, flat[outside])
    beliefs = h.clamp(min=0) / rows
    beliefs = beliefs / beliefs.sum(-1, keepdim=True)
    return Unmixed(beliefs.reshape(p.shape), condition)


def _most_likely(mixture, p):
    """The distributions h with the greatest Σ_k p_k log (Q'h)_k.

    By a barrier −b Σ log h that shrinks: each step is smooth, and the last is optimal to K b.
    """

    def values(z, rows, barrier):
        log_h = torch.log_softmax(z, -1)
        likelihood = (p[rows] * (log_h.exp() @ mixture).log()).sum(-1)
        return -likelihood - barrier * log_h.sum(-1)

    z = torch.zeros_like(p)
    for barrier in BARRIERS:
        z, _ = newton(partial(values, barrier=barrier), z, shift_free=True)
    h = torch.softmax(z, -1)
    gap = ((p / (h @ mixture)) @ mixture.T).amax(-1) - 1  # of the likelihood from its maximum
    if not (gap <= TOLERANCE).all():
        worst = gap.argmax()
        raise ArithmeticError(f"no belief found for {p[worst].tolist()}, gap {gap[worst]:.1e}")
    return h
