"""The one list of methods: a loss registered here is known to study, tests and book."""

import inspect

from .amol import AMOLAsymLoss, AMOLCELoss, AMOLExpLoss, AMOLLoss, AMOLOLLLoss, KLLoss
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
)
from .slace import SLACELoss, SLACEProxLoss

PAPER_METHODS = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")

LOSSES: dict[str, type[OrdinalLoss]] = {
    "CE": CrossEntropyLoss,
    "OLL": OLLLoss,
    "SORD": SORDLoss,
    "AMOL": AMOLLoss,
    "AMOL-asym": AMOLAsymLoss,
    "AMOL-exp": AMOLExpLoss,
    "AMOL-OLL": AMOLOLLLoss,
    "AMOL-CE": AMOLCELoss,
    "KL": KLLoss,
    "CE-masked": MaskedCenterLoss,
    "OLL-Castagnos": DistanceLogLoss,
    "CDW-CE": CDWCELoss,
    "Focal": FocalLoss,
    "CORAL": CORALLoss,
    "CORN": CORNLoss,
    "SLACE": SLACELoss,
    "SLACE-prox": SLACEProxLoss,
}
_BUILT_IN = frozenset(LOSSES)


class FunctionLoss(OrdinalLoss):
    """Loss made of a plain `function` by `register_loss`."""

    def values(self, logits, target):
        flat = logits.reshape(-1, self.num_classes).contiguous()  # a function may take views
        return self.function(flat, target.flatten(), self.num_classes).view(target.shape)


def register_loss(name: str):
    """Make a function an entry of `LOSSES`.

    The function takes `(logits (N, K), target (N,), num_classes)` and returns one value a
    sample, (N,), that depends on that sample alone. Class weights, `ignore_index`, reduction
    and stacks of models are dealt with around it. Registering a name again replaces it; the
    names that come with the package are refused.

    >>> @register_loss("my loss")
    ... def my_loss(logits, target, num_classes):
    ...     return torch.nn.functional.cross_entropy(logits, target, reduction="none")
    """
    if name in _BUILT_IN:
        raise ValueError(f"{name!r} comes with the package; choose another name")

    def register(function):
        LOSSES[name] = type(
            function.__name__,
            (FunctionLoss,),
            {
                "__doc__": function.__doc__,
                "__module__": function.__module__,
                "__signature__": inspect.signature(OrdinalLoss),
                "__wrapped__": function,  # whoever asks for the source gets the function's
                "function": staticmethod(function),
            },
        )
        return function

    return register
