"""Registry of the methods: what is registered here is known to studies, tests and book."""

import inspect
from types import FunctionType

import torch
from torch import Tensor

from .base import OrdinalLoss, of_package

PAPER_METHODS = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")

LOSSES: dict[str, type[OrdinalLoss]] = {}


COMMON = ("self", "num_classes", "reduction", "weight", "ignore_index")


def own_parameters(loss: type[OrdinalLoss]) -> tuple[str, ...]:
    """Names of a loss's own parameters, without those that every loss has."""
    return tuple(name for name in inspect.signature(loss).parameters if name not in COMMON)


def loss_class(loss) -> type[OrdinalLoss]:
    """Of the loss that a name of `LOSSES` or a function stands for."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss is {loss!r}; allowed: {', '.join(LOSSES)}")
        return LOSSES[loss]
    if not callable(loss) or isinstance(loss, type):
        raise ValueError(f"loss is {loss!r}; allowed: a name, a loss object or a function")
    return from_function(loss)  # a TypeError says what a function must be


def make_loss(
    loss: type[OrdinalLoss], num_classes: int, class_counts: list[int], **parameters
) -> OrdinalLoss:
    """A loss that is given the counts of the training labels (K,) where it asks for them."""
    if "class_counts" in own_parameters(loss):
        parameters = {"class_counts": class_counts} | parameters
    return loss(num_classes=num_classes, **parameters)


def register_loss(name: str):
    """Make a function, or a subclass of `OrdinalLoss`, an entry of `LOSSES`.

    A function takes `(logits (N, K), target (N,), num_classes)` and returns one value per
    sample, (N,), that depends on that sample alone. Class weights, `ignore_index`, reduction
    and stacks of models are dealt with around it. Registering a name again replaces it; the
    names that come with the package are refused.

    A lambda, a `functools.partial` or a module raises TypeError: a result couldn't be traced to
    its code. A function that doesn't return one value per sample, or can't be differentiated,
    raises ValueError as soon as its loss is made: it is tried on a small batch.

    >>> @register_loss("squared distance")
    ... def squared_distance(logits, target, num_classes):
    ...     expected = logits.softmax(-1) @ torch.arange(num_classes).to(logits)
    ...     return (expected - target) ** 2
    >>> LOSSES["squared distance"](num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.)
    >>> del LOSSES["squared distance"]
    """
    if not isinstance(name, str):
        raise TypeError(f'register_loss takes a name first: @register_loss("my loss"), got {name}')

    def register(loss):
        if name in LOSSES and of_package(LOSSES[name]) and not of_package(loss):
            raise ValueError(f"{name!r} comes with the package; choose another name")
        is_class = isinstance(loss, type) and issubclass(loss, OrdinalLoss)
        LOSSES[name] = loss if is_class else from_function(loss)
        return loss

    return register


class FunctionLoss(OrdinalLoss):
    """Loss made of a plain `function` by `register_loss`."""

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        _require_values(self.function, self.num_classes)

    def __reduce__(self):  # the class is made when it is asked for, so that no name leads to it
        return _restored, (self.function, self.num_classes, self.__dict__)

    def values(self, logits, target):
        flat = logits.reshape(-1, self.num_classes).contiguous()  # a function may take views
        return self.function(flat, target.flatten(), self.num_classes).view(target.shape)


def _restored(function, num_classes: int, state: dict) -> FunctionLoss:
    loss = from_function(function)(num_classes)
    loss.__dict__.update(state)
    return loss


def from_function(function) -> type[FunctionLoss]:
    """Class of the loss that a function computes; see `register_loss`."""
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        kind = "lambda" if isinstance(function, FunctionType) else type(function).__name__
        raise TypeError(
            f"register_loss takes a function written with def, got a {kind}: call it in one, "
            "def my_loss(logits, target, num_classes): return ..."
        )
    try:
        inspect.signature(function).bind("logits", "target", "num_classes")
    except TypeError as error:
        raise TypeError(
            f"{function.__name__} takes (logits, target, num_classes): {error}"
        ) from None
    attributes = {
        "__doc__": function.__doc__,
        "__module__": function.__module__,
        "__signature__": inspect.signature(OrdinalLoss),
        "__wrapped__": function,  # whoever asks for the source gets the function's
        "function": staticmethod(function),
    }
    return type(function.__name__, (FunctionLoss,), attributes)


@torch.inference_mode(False)
@torch.enable_grad()
def _require_values(function, num_classes: int) -> None:
    """Try the function on a small batch and name what training would stumble over."""
    n = 2 * num_classes
    logits = torch.linspace(-1, 1, n * num_classes).view(n, num_classes).requires_grad_()
    values = function(logits, torch.arange(n) % num_classes, num_classes)
    if not isinstance(values, Tensor):
        found = f"a {type(values).__name__}"
    elif values.ndim == 0:
        found = "one value for the whole batch, as .mean(), .sum() and reduction='mean' do,"
    else:
        found = f"shape {tuple(values.shape)}"
    if getattr(values, "shape", None) != (n,) or not isinstance(values, Tensor):
        raise ValueError(
            f"{function.__name__} returned {found} for logits of shape {tuple(logits.shape)}; "
            f"return one value per sample, a tensor of shape ({n},)"
        )
    slope = None
    if values.requires_grad:
        (slope,) = torch.autograd.grad(values.sum(), logits, allow_unused=True)
    if slope is None:
        raise ValueError(
            f"{function.__name__} can't be differentiated: no gradient comes back to the logits "
            "(argmax, rounding, comparisons, .item(), .detach() and NumPy stop it)"
        )
