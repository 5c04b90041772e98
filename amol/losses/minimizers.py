"""What each loss asks for: the logits, probabilities and label of least risk under beliefs.

Closed forms where there are any, found by the function that defines a loss's values, so that a
subclass with values of its own isn't mistaken for its base; else `solver.solve`. A registered loss
needs nothing more. Notation: η the beliefs (class weights included), W a table of soft labels.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .amol import KLLoss
from .base import OrdinalLoss
from .binary import CORALLoss, CORNLoss
from .pointwise import CrossEntropyLoss, DistanceLogLoss, TableLoss
from .rivals import CLMLoss, EMD2Loss, LogitAdjustedLoss
from .solver import solve, weighted_beliefs

LEAST = 1e-300  # stands for a probability of 0, whose logit isn't finite


class RiskMinimizer(NamedTuple):
    """Where a risk is least, for each belief.

    >>> RiskMinimizer(*torch.eye(3))._fields
    ('logits', 'probabilities', 'labels')
    """

    logits: Tensor  # (..., num_logits) float64
    probabilities: Tensor  # (..., K) float64
    labels: Tensor  # (...) int64


def minimize_risk(loss: OrdinalLoss, beliefs) -> RiskMinimizer:
    """What a loss asks for under beliefs: the minimizer of Σ_y η_y w_y ℓ(z, y).

    =====================================  ==================================================
    `CE`, `EMD2`                           p = η
    soft labels, `OLL`, `AMOL-OLL/CE`      p ∝ W'η, W the rows of soft labels
    `LogitAdj`                             p ∝ η / prior^τ
    `CORAL`, `CLM`                         σ(z) or σ(t) = P(Y > k), all logits free
    `CORN`                                 σ(z_k) = P(Y > k | Y ≥ k)
    `KL`, `AMOL`, `AMOL-asym`, `AMOL-exp`  p_k = exp((B_k + λ)/M_k − 1), M_k = E m(k, Y),
                                           B_k = E[m(k, Y) log q_Y(k)]; λ from Σ p = 1
    `OLL-Castagnos`, `CDW-CE`              p_k = margin + max(0, 1 − C_k/λ), C_k = E|k − Y|^power
    others                                 by Newton's method, to an `optimality_gap` of 1e-10
    =====================================  ==================================================

    The formulas are stationary points of the risk under Σ p = 1. Each is the only minimizer, for
    the risks are strictly convex in p, but: where CORN's condition has probability 0; a margin
    that leaves some p free. Where the least risk isn't attained by finite logits (a class of
    probability 0), 1e-300 stands for 0. Classes that tie are told apart by rounding. Closed forms
    are exact to about 1e-12 of p.

    Parameters
    ----------
    loss : OrdinalLoss
    beliefs : (..., K) tensor or array
        Not negative, each summing to 1.

    Raises
    ------
    TypeError, ValueError
        A loss of a whole batch; beliefs that are none.
    ArithmeticError
        The solver found no minimizer.

    Examples
    --------
    >>> split = [0.5, 0.0, 0.0, 0.0, 0.5]  # either end
    >>> asked = minimize_risk(KLLoss(num_classes=5), split)
    >>> asked.probabilities
    tensor([0.0545, 0.2442, 0.4026, 0.2442, 0.0545], dtype=torch.float64)
    >>> asked.labels
    tensor(2)
    """
    eta = weighted_beliefs(loss, beliefs)
    form = CLOSED_FORMS.get(type(loss).values)
    with torch.no_grad():
        logits = (form or solve)(loss, eta)
        return RiskMinimizer(logits, loss.probabilities(logits), loss.predict(logits))


def mixing_table(loss: OrdinalLoss) -> Tensor | None:
    """W (K, K) float64 if a loss asks for p ∝ W'η, else None; class weights are in its rows.

    >>> mixing_table(CrossEntropyLoss(num_classes=2))
    tensor([[1., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    values = type(loss).values
    if type(loss).probabilities is not OrdinalLoss.probabilities:  # CE-masked leaves the center out
        return None
    if values is TableLoss.values:
        table = loss.table("soft_target", torch.empty(0, dtype=torch.float64))
    elif values in (CrossEntropyLoss.values, EMD2Loss.values):
        table = torch.eye(loss.num_classes, dtype=torch.float64)
    else:
        return None
    return table if loss.weight is None else loss.weight.to(table)[:, None] * table


def _log(p):
    return p.clamp(min=LEAST).log()


def _mixed(loss, eta):
    return _log(eta @ loss.table("soft_target", eta))


def _itself(loss, eta):
    return _log(eta)


def _adjusted(loss, eta):
    return _log(eta) - loss.table("shift", eta)


def _above(eta):
    """P(Y > k) and P(Y ≤ k), k = 0 … K − 2, each summed from its own end."""
    return eta.flip(-1).cumsum(-1).flip(-1)[..., 1:], eta.cumsum(-1)[..., :-1]


def _cumulative(loss, eta):
    above, upto = _above(eta)
    return _log(above) - _log(upto)


def _conditional(loss, eta):
    return _log(_above(eta)[0]) - _log(eta[..., :-1])


def _links(loss, eta):
    """Logits whose `cutpoints` are the log odds of Y > k: exp(t_{k−1} − t_k) − 1 is
    P(Y = k)/(P(Y < k) P(Y > k))."""
    eta = eta.clamp(min=LEAST)  # before summing: classes of probability 0 in a row stay in order
    above, upto = _above(eta)
    first = _log(above[..., :1]) - _log(upto[..., :1])
    steps = _log(eta[..., 1:-1]) - _log(upto[..., :-1]) - _log(above[..., 1:])
    return torch.cat([first, first + steps], -1)


def _weighted_divergence(loss, eta):
    m = loss.table("m", eta)
    M, B = eta @ m, eta @ (m * loss.table("log_target", eta))
    # f(λ) = log Σ p is convex and rises: Newton's method from f ≥ 0 falls to the root
    level = (M - B).amin(-1, keepdim=True)
    for _ in range(200):
        log_p = (B + level) / M - 1
        f = log_p.logsumexp(-1, keepdim=True)
        if (f.abs() < 1e-14).all():
            break
        slope = (torch.softmax(log_p, -1) / M).sum(-1, keepdim=True)
        level = level - f / slope
    return (B + level) / M - 1


def _least_cost(loss, eta):
    """p_k = margin + max(0, 1 − C_k/λ), Σ p = 1; where one class costs nothing, it takes all."""
    C, K = eta @ loss.table("cost", eta), loss.num_classes
    beyond = 1 - K * loss.margin
    if beyond <= 0:
        return torch.zeros_like(eta)
    ordered, count = C.sort(-1).values, torch.arange(1, K + 1, dtype=torch.float64)
    levels = ordered.cumsum(-1) / (count - beyond)  # λ if the `count` cheapest take part
    taking = (ordered < levels).sum(-1, keepdim=True).clamp(min=1)
    share = C / levels.gather(-1, taking - 1)
    share = torch.where(ordered[..., :1] > 0, share, (C > 0).double())
    others = loss.margin + (1 - share).clamp(min=0)
    # 1 − p of the cheapest class, from its own formula: the sum of the others has lost digits
    cheapest = C.argmin(-1, keepdim=True)
    others = others.scatter(-1, cheapest, 0)
    rest = (
        torch.where(ordered[..., :1] > 0, share.gather(-1, cheapest), K * loss.margin) - loss.margin
    )
    log_p = _log(others * rest / others.sum(-1, keepdim=True).clamp(min=LEAST))
    return log_p.scatter(-1, cheapest, torch.log1p(-rest))


CLOSED_FORMS: dict[Callable, Callable[[OrdinalLoss, Tensor], Tensor]] = {
    # from (loss, beliefs weighted by class (..., K)) to logits (..., num_logits)
    CrossEntropyLoss.values: _itself,
    EMD2Loss.values: _itself,
    TableLoss.values: _mixed,
    LogitAdjustedLoss.values: _adjusted,
    CORALLoss.values: _cumulative,
    CORNLoss.values: _conditional,
    CLMLoss.values: _links,
    KLLoss.values: _weighted_divergence,
    DistanceLogLoss.values: _least_cost,
}
