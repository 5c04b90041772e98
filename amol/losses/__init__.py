"""Ordinal losses on logits, under the names that the AMOL paper uses.

>>> import torch
>>> loss = LOSSES["AMOL"](num_classes=7, alpha=1.0, sigma=1.0)
>>> loss(torch.zeros(2, 7), torch.tensor([0, 6]))  # logits (..., 7), target (...) -> scalar
tensor(6.7366)
>>> loss.predict(torch.eye(7)).tolist()
[0, 1, 2, 3, 4, 5, 6]
"""
# ruff: noqa: F401, F403

from .amol import *
from .base import BatchLoss, OrdinalLoss
from .binary import *
from .minimizers import RiskMinimizer, minimize_risk, mixing_table
from .mixtures import Unmixed, unmix
from .pointwise import *
from .registry import LOSSES, PAPER_METHODS, register_loss
from .rivals import *
from .slace import *
from .soft_labels import *
from .solver import optimality_gap, risk
from .tables import *

_homes = {name: getattr(found, "__module__", "") for name, found in list(globals().items())}
__all__ = ["LOSSES", "PAPER_METHODS", "BatchLoss", "OrdinalLoss", "register_loss"]
__all__ += [  # and what the other modules define
    name
    for name, home in _homes.items()
    if home.startswith(f"{__name__}.") and not home.endswith((".base", ".registry"))
]


def __dir__():
    return __all__
