"""The one list of methods: a loss registered here is known to study, tests and book."""

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
        class FunctionLoss(OrdinalLoss):
            __doc__ = function.__doc__

            def values(self, logits, target):
                flat = self.function(logits.flatten(0, -2), target.flatten(), self.num_classes)
                return flat.view(target.shape)

        FunctionLoss.function = staticmethod(function)
        FunctionLoss.__name__ = FunctionLoss.__qualname__ = function.__name__
        LOSSES[name] = FunctionLoss
        return function

    return register
