"""Ordinal losses on logits, under the names that the AMOL paper gives them.

>>> loss = LOSSES["AMOL"](num_classes=7, alpha=1.0, sigma=1.0)
>>> loss(logits, target)            # logits (..., 7), target (...) -> scalar
"""

from .amol import (
    AMOLAsymLoss,
    AMOLCELoss,
    AMOLExpLoss,
    AMOLLoss,
    AMOLOLLLoss,
    KLLoss,
    weighted_divergence,
)
from .base import OrdinalLoss
from .binary import CORALLoss, CORNLoss
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
from .slace import SLACELoss, SLACEProxLoss, accumulated_log_loss, proximity
from .tables import center_class, center_weight, closeness, distances, gaussian_log_target

__all__ = [
    "LOSSES",
    "PAPER_METHODS",
    "AMOLAsymLoss",
    "AMOLCELoss",
    "AMOLExpLoss",
    "AMOLLoss",
    "AMOLOLLLoss",
    "CDWCELoss",
    "CORALLoss",
    "CORNLoss",
    "CrossEntropyLoss",
    "DistanceLogLoss",
    "FocalLoss",
    "KLLoss",
    "MaskedCenterLoss",
    "OLLLoss",
    "OrdinalLoss",
    "SLACELoss",
    "SLACEProxLoss",
    "SORDLoss",
    "accumulated_log_loss",
    "center_class",
    "center_weight",
    "closeness",
    "cross_entropy",
    "distance_log_loss",
    "distances",
    "gaussian_log_target",
    "log_softmax",
    "proximity",
    "register_loss",
    "weighted_divergence",
    "weighted_log_loss",
]
