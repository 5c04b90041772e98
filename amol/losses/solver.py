"""Risk of a loss under beliefs about the label, and a solver that checks what it finds.

A belief η is the distribution of the label at one x. The risk of logits z is Σ_y η_y w_y ℓ(z, y),
w the loss's class weights. A network that has learned all there is to learn minimizes it at
every x, so the minimizer is what a loss asks for.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from .base import BatchLoss, OrdinalLoss

TOLERANCE = 1e-10  # of `optimality_gap`
STEPS = 400


def as_distributions(name: str, values, num_classes: int) -> Tensor:
    """`values` (..., K), a tensor or an array, as float64 distributions.

    Raises
    ------
    ValueError
        Another last axis than K, a negative or infinite entry, a sum further from 1 than 1e-5:
        names the first row at fault.
    """
    values = torch.as_tensor(values, dtype=torch.float64).detach()
    if values.ndim == 0 or values.shape[-1] != num_classes:
        raise ValueError(f"{name} have shape (..., {num_classes}), got {tuple(values.shape)}")
    total = values.sum(-1, keepdim=True)
    good = (values >= 0).all(-1) & ((total - 1).abs() < 1e-5).squeeze(-1)
    if not good.all():
        row = values[~good][0].tolist()
        raise ValueError(f"{name} are distributions over {num_classes} classes, got {row}")
    return values / total


def weighted_beliefs(loss: OrdinalLoss, beliefs) -> Tensor:
    """w_y η_y / Σ w η, (..., K): the beliefs as a loss with class weights w sees them.

    Raises
    ------
    TypeError
        The loss has no value per sample (`BatchLoss`).
    ValueError
        No beliefs, or all of a belief's weight lies on classes of weight 0.
    """
    if isinstance(loss, BatchLoss):
        raise TypeError(
            f"{type(loss).__name__} has no risk at one x: its value depends on the batch"
        )
    beliefs = as_distributions("beliefs", beliefs, loss.num_classes)
    if loss.weight is None:
        return beliefs
    weighted = beliefs * loss.weight.to(beliefs)
    total = weighted.sum(-1, keepdim=True)
    if (total == 0).any():
        raise ValueError(f"a belief lies on classes of weight 0 alone: {loss.weight.tolist()}")
    return weighted / total


def risk(loss: OrdinalLoss, logits: Tensor, beliefs) -> Tensor:
    """Σ_y η_y ℓ(z, y), the beliefs weighted by class: (..., num_logits), (..., K) -> (...).

    >>> from .pointwise import CrossEntropyLoss
    >>> risk(CrossEntropyLoss(2), torch.zeros(2), [0.25, 0.75])  # log 2
    tensor(0.6931, dtype=torch.float64)
    """
    beliefs = weighted_beliefs(loss, beliefs)
    logits = logits.double()[..., None, :].expand(*beliefs.shape, loss.num_logits)
    labels = torch.arange(loss.num_classes).expand(beliefs.shape)
    return (beliefs * loss.values(logits, labels)).sum(-1)


def optimality_gap(loss: OrdinalLoss, logits: Tensor, beliefs) -> Tensor:
    """How far logits are from minimizing the risk, (..., num_logits), (..., K) -> (...).

    With g the gradient at z. If a constant added to all logits changes nothing, the loss is a
    function of p = softmax(z), and the gap is max_k −g_k/p_k = Σ p ∂R/∂p − min ∂R/∂p. Where the
    risk is convex in p, as with all losses here, it bounds the excess risk (Jaggi, ICML 2013).
    For other losses it is max_k |g_k|.

    >>> from .pointwise import CrossEntropyLoss
    >>> optimality_gap(CrossEntropyLoss(2), torch.zeros(2), [0.25, 0.75])
    tensor(0.5000, dtype=torch.float64)
    """
    z = logits.detach().double().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(risk(loss, z, beliefs).sum(), z)
    return _gap(z.detach(), slope, _shift_free(loss))


def solve(loss: OrdinalLoss, beliefs: Tensor) -> Tensor:
    """Logits (..., num_logits) with `optimality_gap` at most 1e-10, by Newton's method.

    Takes beliefs (..., K) as `weighted_beliefs` returns them.

    Raises
    ------
    ArithmeticError
        The gap stays larger: the risk has no least value, or a kink at it. Names the belief.
    """
    flat = beliefs.reshape(-1, loss.num_classes)
    start = torch.zeros(len(flat), loss.num_logits, dtype=torch.float64)
    labels = torch.arange(loss.num_classes).expand(flat.shape)

    def risks(z, rows):
        each = z[:, None, :].expand(-1, loss.num_classes, -1)
        return (flat[rows] * loss.values(each, labels[rows])).sum(-1)

    z, gap = newton(risks, start, _shift_free(loss))
    if not (gap <= TOLERANCE).all():
        worst = gap.nan_to_num(torch.inf).argmax()
        raise ArithmeticError(
            f"{type(loss).__name__}: no minimizer found for the belief {flat[worst].tolist()}, "
            f"optimality gap {gap[worst]:.1e}"
        )
    return z.reshape(*beliefs.shape[:-1], loss.num_logits)


@torch.enable_grad()
def newton(
    function: Callable[[Tensor, Tensor], Tensor], start: Tensor, shift_free: bool
) -> tuple[Tensor, Tensor]:
    """Minimize row by row: saddle-free Newton steps, halved until the value falls.

    With `shift_free`, coordinates are scaled by p^(1/2): there the Hessian of a risk that is
    strictly convex in p is well conditioned however small a probability is.

    Parameters
    ----------
    function : callable
        (n, L) points and (n,) numbers of their rows -> (n,) values.
    start : (N, L) float64
    shift_free : bool
        Whether a constant added to a row changes nothing.

    Returns
    -------
    points (N, L), gaps (N,)
        The gap is that of `optimality_gap`; a row stops at a tenth of `TOLERANCE`.
    """
    z, gap = start.clone(), torch.full(start.shape[:1], torch.inf, dtype=torch.float64)
    rows = torch.arange(len(z))
    for _ in range(STEPS):
        point = z[rows].requires_grad_()
        value, slope, curve = _derivatives(lambda v, rows=rows: function(v, rows), point)
        point = point.detach()
        gap[rows] = _gap(point, slope, shift_free)
        going = gap[rows] > TOLERANCE / 10
        if not going.any():
            break
        rows, point, value = rows[going], point[going], value[going]
        step = _step(point, slope[going], curve[going], shift_free)
        z[rows] = _descend(function, rows, point, value, slope[going], step)
    return z, gap


def _descend(function, rows, point, value, slope, step):
    """The points at the first of the steps 1, 1/2, 1/4 … where the value falls as it should."""
    expected, size = (slope * step).sum(-1), torch.ones_like(value)
    noise = 1e-14 * (1 + value.abs())
    for _ in range(40):
        with torch.no_grad():
            moved = function(point + size[:, None] * step, rows)
        short = ~(moved <= value + 1e-4 * size * expected + noise)
        if not short.any():
            break
        size[short] /= 2
    return point + size[:, None] * step


def _step(point, slope, curve, shift_free):
    root = _weights(point, shift_free).clamp(min=1e-200).sqrt()
    sizes, axes = torch.linalg.eigh(curve / root[:, :, None] / root[:, None, :])
    sizes = sizes.abs()
    sizes = sizes.clamp(min=1e-12).maximum(1e-12 * sizes.amax(-1, keepdim=True))
    along = (axes * (slope / root)[:, :, None]).sum(-2) / sizes
    step = -(axes * along[:, None, :]).sum(-1) / root
    if shift_free:
        step = step - (step * root**2).sum(-1, keepdim=True)
    return step * (3 / step.abs().amax(-1, keepdim=True)).clamp(max=1)


def _derivatives(function, point):
    """Values (N,), gradients (N, L) and Hessians (N, L, L) of a function of rows."""
    value = function(point)
    (slope,) = torch.autograd.grad(value.sum(), point, create_graph=True)
    curve = torch.zeros(*point.shape, point.shape[-1], dtype=torch.float64)
    for k in range(point.shape[-1]):
        if slope.requires_grad:
            (row,) = torch.autograd.grad(
                slope[:, k].sum(), point, retain_graph=True, allow_unused=True
            )
            curve[:, k] = 0 if row is None else row
    return value.detach(), slope.detach(), (curve + curve.mT) / 2


def _weights(point, shift_free):
    return torch.softmax(point, -1) if shift_free else torch.ones_like(point)


def _gap(point, slope, shift_free):
    if shift_free:
        return (-slope / _weights(point, True).clamp(min=1e-300)).amax(-1)
    return slope.abs().amax(-1)


def _shift_free(loss) -> bool:
    z = torch.linspace(-1, 1, loss.num_logits, dtype=torch.float64)
    z = z.expand(loss.num_classes, -1)
    labels = torch.arange(loss.num_classes)
    with torch.no_grad():
        change = loss.values(z + 1, labels) - loss.values(z, labels)
    return bool((change.abs() < 1e-9).all())
