"""Ordinal losses on logits, under the names that the AMOL paper uses.

>>> import torch
>>> loss = LOSSES["AMOL"](num_classes=7, alpha=1.0, sigma=1.0)
>>> loss(torch.zeros(2, 7), torch.tensor([0, 6]))  # logits (..., 7), target (...) -> scalar
tensor(6.7366)
>>> loss.predict(torch.eye(7)).tolist()
[0, 1, 2, 3, 4, 5, 6]
"""
# ruff: noqa: F401

from .amol import (
    AMOLAsymLoss,
    AMOLCELoss,
    AMOLExpLoss,
    AMOLLoss,
    AMOLOLLLoss,
    KLLoss,
    weighted_divergence,
)
from .base import BatchLoss, OrdinalLoss
from .binary import CORALLoss, CORNLoss
from .minimizers import RiskMinimizer, minimize_risk, mixing_table
from .mixtures import Unmixed, unmix
from .pointwise import (
    CDWCELoss,
    CrossEntropyLoss,
    DistanceLogLoss,
    FocalLoss,
    MaskedCenterLoss,
    OLLLoss,
    SORDLoss,
    cross_entropy,
    distance_log_loss,
    log_softmax,
    weighted_log_loss,
)
from .registry import LOSSES, PAPER_METHODS, register_loss
from .rivals import (
    BalancedCrossEntropyLoss,
    CLMLoss,
    EMD2Loss,
    LogitAdjustedLoss,
    WKLoss,
    counted,
    cutpoints,
)
from .slace import SLACELoss, SLACEProxLoss, accumulated_log_loss, proximity
from .soft_labels import (
    BetaLoss,
    BinomialLoss,
    ExponentialLoss,
    PoissonLoss,
    SoftLabelLoss,
    TriangularLoss,
    beta_labels,
    beta_shapes,
    binomial_labels,
    exponential_labels,
    poisson_labels,
    triangular_labels,
)
from .solver import optimality_gap, risk
from .tables import center_class, center_weight, closeness, distances, gaussian_log_target

__all__ = [
    "LOSSES",
    "PAPER_METHODS",
    *(n for n, x in globals().items() if getattr(x, "__module__", "").startswith(f"{__name__}.")),
]
