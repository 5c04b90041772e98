"""Base class of the losses: checked input, class weights, ignored targets, reduction, tables."""

import inspect
import operator
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

REDUCTIONS = ("mean", "sum", "none")
HALF = (torch.float16, torch.bfloat16)


class OrdinalLoss(nn.Module):
    """Base of every loss: a subclass defines `values`, one number per sample.

    Works under autograd as often as differentiated, `torch.func.grad` and `vmap`, `torch.compile`
    and autocast. `reduction`, `weight` and `ignore_index` may be set later; tables are made of the
    other parameters, so setting one of them raises AttributeError.

    Parameters
    ----------
    num_classes : int
        K, at least 2; labels are 0, …, K − 1 in their order.
    reduction : {"mean", "sum", "none"}
        With `weight` w the mean is Σ w_y l / Σ w_y, as in `torch.nn.CrossEntropyLoss`, so a
        constant factor on w changes nothing; "sum" and "none" carry w_y l.
    weight : (K,) floats, optional
        Class weights, none negative, not all zero.
    ignore_index : int
        Targets with this value add nothing to the loss, to its mean or to the gradient.

    Examples
    --------
    >>> class Squared(OrdinalLoss):
    ...     def values(self, logits, target):
    ...         expected = logits.softmax(-1) @ torch.arange(self.num_classes).to(logits)
    ...         return (expected - target) ** 2
    >>> Squared(num_classes=5)(torch.zeros(2, 5), torch.tensor([0, 2]))  # (4 + 0)/2
    tensor(2.)
    """

    shared_head = False  # whether all logits share one weight vector, as in CORAL
    without = None  # a class that is never predicted
    # Functions of `amol.engine`: value and slopes, where they are compiled; and what logits mean.
    kind, meaning = None, "softmax_labels"

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__()
        self.num_classes = self.num_logits = integer("num_classes", num_classes, least=2)
        self.reduction = reduction
        self.ignore_index = integer("ignore_index", ignore_index)
        self.register_buffer("weight", _class_weight(weight, num_classes))
        self._exact = {}

    def __setattr__(self, name, value):
        if name in self.__dict__ and name in _fixed(type(self)):
            made = f"{type(self).__name__}(..., {name}={value!r})"
            raise AttributeError(f"{name} is fixed once a loss is made; make another one: {made}")
        if name == "reduction" and value not in REDUCTIONS:
            raise ValueError(f"reduction is one of {', '.join(REDUCTIONS)}, got {value!r}")
        super().__setattr__(name, value)

    def add_table(self, name: str, table: Tensor) -> None:
        """Keep a float64 `table`, one row per label, as buffer `name` in the default dtype.

        The float64 original stays beside the buffer, so that neither `.half().double()` nor
        float64 logits met by a float32 module lose digits.
        """
        self._exact[name] = table
        self.register_buffer(name, table.to(torch.get_default_dtype()), persistent=False)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        for name, table in self._exact.items():
            setattr(self, name, table.to(getattr(self, name)))
        return self

    def table(self, name: str, logits: Tensor) -> Tensor:
        """Table `name` in the dtype of the logits."""
        table = getattr(self, name)
        return table if table.dtype == logits.dtype else self._exact[name].to(logits)

    def kind_tables(self) -> list[Tensor] | None:
        """What `kind` takes, tables of one shape; None for parameters that it doesn't know."""
        return [torch.zeros(1, 1)]

    def values(self, logits: Tensor, target: Tensor) -> Tensor:
        """Loss of each sample before class weights: (..., num_logits), (...) -> (...)."""
        raise NotImplementedError

    def terms(self, logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Weighted loss and weight of each sample, unchecked; the mean is Σ values / Σ weights.

        Parameters
        ----------
        logits : (..., num_logits) float32 or float64
        target : (...) int64, every label in 0..K−1

        Returns
        -------
        values, weights : (...) each
            w_y l and w_y; a sample's pair is the same whatever stands beside it.
        """
        values = self.values(logits, target)
        weights = self._weights(target, values)
        if self.weight is None:
            return values, weights
        return values.masked_fill(weights == 0, 0) * weights, weights  # 0 of ∞ is 0

    def _weights(self, target, like):
        if self.weight is None:
            return torch.ones_like(like)
        return F.embedding(target, self.weight[:, None].to(like.dtype)).squeeze(-1)

    def _terms(self, logits, target, ignored):
        return self.terms(logits, target)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Checked and reduced loss.

        Parameters
        ----------
        logits : (..., num_logits) floating
            Unnormalised; probabilities are taken for logits too. NaN stays NaN. −∞ gives a class
            probability 0; it adds 0, or ∞ in a cross-entropy to a label, hard or soft, that has
            a part in it. float16 and bfloat16 are computed in float32 and come back in their
            own dtype, under autocast as float32, which holds values that float16 can't.
        target : (...) integer of any width, or (..., K) floating
            Labels 0..K−1 or `ignore_index`; or distributions t of the label, whose loss is the
            mean Σ_y t_y l_y, in cross-entropy that to a soft label. A loss of a batch takes labels.

        Raises
        ------
        TypeError, ValueError
            Wrong dtypes; shapes that disagree, an empty batch, a label outside 0..K−1, a mean
            over no weight at all. Values aren't looked at inside `torch.compile` and `vmap`.
        """
        soft = target.is_floating_point() and target.ndim == logits.ndim > 0
        self._check_shapes(logits, target, soft)
        dtype = logits.dtype
        if dtype in HALF:
            logits = logits.float()
        if soft:
            ignored = torch.zeros_like(logits[..., 0], dtype=torch.bool)
            values, weights = self._expected_terms(logits, target)
        else:
            labels, ignored = self._labels(target)
            logits = logits.masked_fill(ignored.unsqueeze(-1), 0)  # no NaN comes back from it
            values, weights = self._terms(logits, labels, ignored)
            values = values.masked_fill(ignored, 0)
        if self.reduction == "sum":
            values = values.sum()
        elif self.reduction == "mean":
            total = weights.masked_fill(ignored, 0).sum()
            if _known(total == 0):
                raise ValueError("the mean is undefined: every target is ignored or has weight 0")
            values = values.sum() / total
        if dtype in HALF and not torch.is_autocast_enabled(logits.device.type):
            values = values.to(dtype)
        return values

    def probabilities(self, logits: Tensor) -> Tensor:
        """Class probabilities (..., K): non-negative, summing to one."""
        return torch.softmax(logits, -1)

    def predict(self, logits: Tensor) -> Tensor:
        """Labels (...) int64: the most probable class, the first of ties.

        Use this rather than the argmax that skorch and others take of a network's outputs: it
        is also right for CORAL and CORN, whose K − 1 outputs aren't classes.
        """
        return logits.argmax(-1)

    def extra_repr(self) -> str:
        shown = [n for n in vars(self) if n[0] != "_" and n not in ("training", "num_logits")]
        parts = [f"{name}={getattr(self, name)!r}" for name in shown]
        if self.weight is not None:
            parts.append(f"weight={self.weight.tolist()}")
        return ", ".join(parts)

    def _expected_terms(self, logits, shares):
        """Means of the terms over labels with these distributions (..., K)."""
        off = (shares.sum(-1) - 1).abs() > (1e-2 if shares.dtype in HALF else 1e-4)
        if _known(off.any() | ~(shares >= 0).all()):
            raise ValueError("target holds distributions: none negative, the sum of each 1")
        labels = torch.arange(self.num_classes, device=shares.device).expand(shares.shape)
        each = logits.unsqueeze(-2).expand(*shares.shape, self.num_logits)
        values, weights = self.terms(each, labels)
        shares = shares.to(values.dtype)
        values = (shares * values.masked_fill(shares == 0, 0)).sum(-1)  # 0 of ∞ is 0
        return values, (shares * weights).sum(-1)

    def _check_shapes(self, logits, target, soft):
        if not logits.is_floating_point():
            raise TypeError(f"logits are floating point, got {logits.dtype}")
        numbers = target.is_floating_point() or target.is_complex() or target.dtype == torch.bool
        if numbers and not soft:
            kinds = f"integer labels, or distributions (..., {self.num_classes})"
            raise TypeError(f"target holds {kinds}, got {target.dtype} of {tuple(target.shape)}")
        if logits.ndim == 0 or logits.shape[-1] != self.num_logits:
            wanted = f"(..., {self.num_logits}) for num_classes={self.num_classes}"
            raise ValueError(f"logits have shape {wanted}, got {tuple(logits.shape)}")
        wanted = (*logits.shape[:-1], self.num_classes) if soft else tuple(logits.shape[:-1])
        if target.shape != wanted:
            form = "with a share of each class" if soft else "without the last axis"
            got = tuple(target.shape)
            raise ValueError(f"target has the logits' shape {form}, {wanted}, got {got}")
        if target.numel() == 0:
            raise ValueError("the batch is empty")

    def _labels(self, target):
        """Labels as int64, 0 where ignored, and which are ignored; checked."""
        labels = target.long()  # before comparing: in uint8 −100 would be 156
        range_ = torch.iinfo(target.dtype)
        if range_.min <= self.ignore_index <= range_.max:
            ignored = labels == self.ignore_index
        else:
            ignored = torch.zeros_like(labels, dtype=torch.bool)
        labels = labels.masked_fill(ignored, 0)
        outside = (labels < 0) | (labels >= self.num_classes)
        if _known(outside.any()):
            place = tuple(outside.nonzero()[0].tolist())
            where = f"target[{', '.join(map(str, place))}]" if place else "target"
            known = f"labels are 0..{self.num_classes - 1} or ignore_index={self.ignore_index}"
            raise ValueError(f"{where} is {target[place].item()}, {known}")
        return labels, ignored


class BatchLoss(OrdinalLoss):
    """Base of losses of a whole batch: a subclass defines `batch_values` in place of `values`.

    The loss is the mean. A sample's value is its part of that mean; it depends on the samples
    beside it, on all axes but the last, and so do its gradients. Class weights are weights of
    samples within the batch; an ignored sample is as good as absent.

    Examples
    --------
    >>> class Share(BatchLoss):
    ...     def batch_values(self, logits, target, weights):
    ...         miss = 1 - logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    ...         return miss / (weights * miss).sum() * weights.sum()
    >>> Share(num_classes=4, reduction="none")(torch.zeros(2, 4), torch.tensor([0, -100]))
    tensor([1., 0.])
    """

    def batch_values(self, logits: Tensor, target: Tensor, weights: Tensor) -> Tensor:
        """Part of each sample, before its weight: (..., num_logits), (...), (...) -> (...)."""
        raise NotImplementedError

    def values(self, logits, target):
        return self.batch_values(logits, target, torch.ones_like(logits[..., 0]))

    def terms(self, logits, target):
        return self._terms(logits, target, torch.zeros_like(target, dtype=torch.bool))

    def _expected_terms(self, logits, shares):
        raise TypeError(f"{type(self).__name__} compares the samples of a batch: it takes labels")

    def _terms(self, logits, target, ignored):
        weights = self._weights(target, logits[..., 0]).masked_fill(ignored, 0)
        return self.batch_values(logits, target, weights) * weights, weights


def of_package(loss) -> bool:
    """Whether a loss came with the package, and no user of it wrote it."""
    return getattr(loss, "__module__", "").startswith(f"{__package__}.")


@cache
def _fixed(loss: type) -> frozenset[str]:
    """Parameters of the package's classes that a loss is made of."""
    made = filter(of_package, loss.__mro__)
    names = {name for cls in made for name in inspect.signature(cls).parameters}
    return frozenset(names - {"reduction", "weight", "ignore_index"})


def _known(condition: Tensor) -> bool:
    """Whether a condition on values holds; False where values can't be looked at."""
    if torch.compiler.is_compiling():
        return False
    try:
        return bool(condition)
    except RuntimeError:  # inside torch.func.vmap, or on the meta device
        return False


def _class_weight(weight, num_classes):
    if weight is None:
        return None
    weight = unmasked("weight", weight).detach().clone()
    if not weight.is_floating_point():
        weight = weight.to(torch.get_default_dtype())
    if weight.shape != (num_classes,):
        raise ValueError(f"weight has shape ({num_classes},), got {tuple(weight.shape)}")
    if not (weight.isfinite().all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError(f"weight is finite, not negative, not all zero, got {weight.tolist()}")
    return weight


def unmasked(name: str, values) -> Tensor:
    """`values` as a tensor, else ValueError where some of them are masked."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; give each a value")
    return torch.as_tensor(values)


def integer(name: str, value: int, least: int | None = None) -> int:
    """`value` as an int, Python's or NumPy's, else TypeError or ValueError naming it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, got {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} is at least {least}, got {value}")
    return number


def not_negative(name: str, value: float) -> float:
    """`value` as a float if finite and at least 0, else TypeError or ValueError naming it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a number, got {value!r}") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} is finite and not negative, got {value}")
    return number


def positive(name: str, value: float) -> float:
    """`value` as a float if finite and above 0, else TypeError or ValueError naming it."""
    if not_negative(name, value) == 0:
        raise ValueError(f"{name} is above 0, got {value}")
    return float(value)


def at_most(name: str, value: float, most: float) -> float:
    """`value` as a float from 0 to `most`, else TypeError or ValueError naming it."""
    if not_negative(name, value) > most:
        raise ValueError(f"{name} is at most {most}, got {value}")
    return float(value)
