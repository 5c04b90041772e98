"""Fixed (K, K) tables, float64, row = true label y, column = class k."""

import torch
from torch import Tensor

from .base import integer, not_negative, positive

FORMS = ("linear", "exponential")
DIRECTIONS = ("both", "inward")


def center_class(num_classes: int) -> int:
    """Class taken as the center: (K − 1)/2, at even K the lower of the two middle classes.

    >>> center_class(7), center_class(6)
    (3, 2)
    """
    return (num_classes - 1) // 2


def distances(num_classes: int, own=None) -> Tensor:
    """|k − y|, (K, K), or your own table, checked.

    >>> distances(3)[0].tolist()
    [0.0, 1.0, 2.0]

    Parameters
    ----------
    num_classes : int
    own : (K, K), optional
        Distance of class k, the column, from label y, the row: finite, none negative, 0 on the
        diagonal, not 0 everywhere. It need not be symmetric.
    """
    if own is None:
        index = torch.arange(num_classes, dtype=torch.float64)
        return (index - index[:, None]).abs()
    table = torch.as_tensor(own).detach().double()
    if table.shape != (num_classes, num_classes):
        shape = (num_classes, num_classes)
        raise ValueError(f"distance has shape {shape}, got {tuple(table.shape)}")
    if not (table.isfinite().all() and (table >= 0).all() and table.any()) or table.diag().any():
        rule = "finite, not negative, 0 on the diagonal and not everywhere"
        raise ValueError(f"distance is {rule}, got {table.tolist()}")
    return table


def listed(table) -> list | None:
    """A table as lists, for a loss to keep among its parameters.

    >>> listed(torch.eye(2))
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return None if table is None else torch.as_tensor(table).tolist()


def gaussian_log_target(num_classes: int, sigma: float, distance=None) -> Tensor:
    """log p_k with p_k ∝ exp(−(k − y)² / (2σ²)), (K, K), rows normalised; see `distances`.

    >>> gaussian_log_target(3, sigma=1.0)[1].exp()
    tensor([0.2741, 0.4519, 0.2741], dtype=torch.float64)
    """
    sigma = positive("sigma", sigma)
    return torch.log_softmax(-0.5 * (distances(num_classes, distance) / sigma) ** 2, -1)


def closeness(num_classes: int, distance=None) -> Tensor:
    """1 − |k − y|/(K − 1), (K, K): 1 at the label, 0 at the far end; see `distances`.

    >>> closeness(3)[0].tolist()
    [1.0, 0.5, 0.0]
    """
    table = distances(num_classes, distance)
    return 1 - table / table.max()


def center_weight(
    num_classes: int, alpha: float = 1.0, form: str = "linear", direction: str = "both"
) -> Tensor:
    """Weight m(k, y) of class k under true label y (AMOL, Eq. for m and its variants).

    m = 1 + α (1 − |k − c|/c) (|y − c|/c) with the real center c = (K − 1)/2: large only where
    k is near the center and y far from it. The same c holds at even K, where it is no class,
    and at K = 2, where m is 1 throughout.

    >>> center_weight(5)[0].tolist()
    [1.0, 1.5, 2.0, 1.5, 1.0]

    Parameters
    ----------
    num_classes : int
        K, at least 2.
    alpha : float
        Strength, at least 0; at 0 every weight is 1.
    form : {"linear", "exponential"}
        1 + α·product, or exp(α·product).
    direction : {"both", "inward"}
        "inward" keeps the weight only for classes from y (exclusive) to the center
        (inclusive), elsewhere 1.

    Returns
    -------
    (K, K) float64 tensor, row y, column k.
    """
    alpha = not_negative("alpha", alpha)
    if form not in FORMS:
        raise ValueError(f"form is one of {', '.join(FORMS)}, got {form!r}")
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is one of {', '.join(DIRECTIONS)}, got {direction!r}")
    center = (integer("num_classes", num_classes, least=2) - 1) / 2
    k = torch.arange(num_classes, dtype=torch.float64)
    y = k[:, None]
    product = alpha * (1 - (k - center).abs() / center) * ((y - center).abs() / center)
    weight = 1 + product if form == "linear" else product.exp()
    if direction == "both":
        return weight
    inward = ((y < k) & (k <= center)) | ((center <= k) & (k < y))
    return torch.where(inward, weight, 1.0)
