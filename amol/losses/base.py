"""What all losses share: checking of input, class weights, ignored targets, reduction, tables."""

import operator
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

REDUCTIONS = ("mean", "sum", "none")
BLOCK = 1 << 17  # logits at once: intermediates stay in the cache
HALF = (torch.float16, torch.bfloat16)


class OrdinalLoss(nn.Module):
    """Base of every loss: a subclass gives `values`, one number a sample.

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
    """

    shared_head = False

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        own = vars(cls)
        if "by_hand" not in own and ("values" in own or "terms" in own):
            cls.by_hand = OrdinalLoss.by_hand  # an inherited one is of other values

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__()
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction is one of {', '.join(REDUCTIONS)}, got {reduction!r}")
        self.num_classes = self.num_logits = at_least_two("num_classes", num_classes)
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.register_buffer("weight", _class_weight(weight, num_classes))
        self._exact = {}

    def add_table(self, name: str, table: Tensor) -> None:
        """Keep a float64 `table`, one row a label, as buffer `name` in the default dtype.

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

    def values(self, logits: Tensor, target: Tensor) -> Tensor:
        """Loss of each sample, (...), before class weights; logits may lie in any order."""
        raise NotImplementedError

    def by_hand(self) -> tuple[Callable[..., Tensor], tuple[Tensor, ...]] | None:
        """Gradient of `values` without autograd, whose bookkeeping is dear in small batches.

        Returns
        -------
        function, tables : callable and tuple of (K, K) tensors, or None
            ``function(logits, *rows)`` gives the gradients (K, N), class by class, from logits
            (K, N) and from each table's row y, (K, N), which it may overwrite. Losses with the
            same function are trained together. With None autograd is used.
        """
        return None

    def terms(self, logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Unchecked core: numerators and denominators whose sums' ratio is the mean.

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
        if self.weight is None:
            return values, torch.ones_like(values)
        weights = self.weight.to(values.dtype)[target]
        return values * weights, weights

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Checked and reduced loss.

        Parameters
        ----------
        logits : (..., num_logits) floating
            Unnormalised; probabilities are taken for logits too. NaN gives NaN. float16 and
            bfloat16 are computed in float32 and come back in their own dtype, under autocast
            as float32, which holds values that float16 can't.
        target : (...) integer
            Labels 0..K−1 or `ignore_index`.

        Raises
        ------
        TypeError
            Logits not floating, labels not integer.
        ValueError
            Shapes that disagree, an empty batch, a label outside 0..K−1 (the first one is
            named with its place), or a mean over samples of no weight at all. The checks that
            look at values are skipped inside `torch.compile`.
        """
        self._check_shapes(logits, target)
        ignored = target == self.ignore_index
        target = target.long().masked_fill(ignored, 0)
        if not torch.compiler.is_compiling():
            self._check_labels(target)
        given = logits.dtype
        if given in HALF:
            logits = logits.float()
        values, weights = self.terms(logits, target)
        values = values.masked_fill(ignored, 0)
        if self.reduction == "sum":
            values = values.sum()
        elif self.reduction == "mean":
            values = values.sum() / _total(weights.masked_fill(ignored, 0))
        if given in HALF and not torch.is_autocast_enabled(logits.device.type):
            values = values.to(given)
        return values

    def probabilities(self, logits: Tensor) -> Tensor:
        """Class probabilities (..., K): non-negative, summing to one."""
        return torch.softmax(logits, -1)

    def predict(self, logits: Tensor) -> Tensor:
        """Labels (...) int64: the most probable class, the first of ties."""
        return logits.argmax(-1)

    def extra_repr(self) -> str:
        shown = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        hidden = ("training", "num_logits")
        parts = [f"{name}={value!r}" for name, value in shown.items() if name not in hidden]
        if self.weight is not None:
            parts.append(f"weight={self.weight.tolist()}")
        return ", ".join(parts)

    def _check_shapes(self, logits, target):
        if not logits.is_floating_point():
            raise TypeError(f"logits are floating point, got {logits.dtype}")
        if target.is_floating_point() or target.is_complex() or target.dtype == torch.bool:
            raise TypeError(f"target holds integer labels, got {target.dtype}")
        if logits.ndim == 0 or logits.shape[-1] != self.num_logits:
            raise ValueError(
                f"logits have shape (..., {self.num_logits}) for num_classes={self.num_classes}, "
                f"got {tuple(logits.shape)}"
            )
        if target.shape != logits.shape[:-1]:
            raise ValueError(
                f"target has the logits' shape without the last axis, {tuple(logits.shape[:-1])}, "
                f"got {tuple(target.shape)}"
            )
        if target.numel() == 0:
            raise ValueError("the batch is empty")

    def _check_labels(self, target):
        low, high = target.aminmax()
        if low < 0 or high >= self.num_classes:
            place = tuple(((target < 0) | (target >= self.num_classes)).nonzero()[0].tolist())
            where = f"target[{', '.join(map(str, place))}]" if place else "target"
            raise ValueError(
                f"{where} is {target[place].item()}, "
                f"labels are 0..{self.num_classes - 1} or ignore_index={self.ignore_index}"
            )


def class_by_class(logits: Tensor) -> bool:
    """Whether logits (N, K) lie in memory class by class, where sums over classes are quick."""
    return logits.ndim == 2 and logits.stride(0) == 1 < logits.stride(1)


def rows_like(logits: Tensor, table: Tensor, target: Tensor) -> Tensor:
    """Row y of a table (K, K) for each sample, (..., K), in memory as the logits are."""
    if class_by_class(logits):
        return table.T.index_select(1, target).T
    return F.embedding(target, table)


def _blockwise(work, logits, target, *tables):
    z, y = logits.reshape(-1, logits.shape[-1]), target.reshape(-1)
    values, gradient = z.new_empty(len(z)), torch.empty_like(z)
    step = len(z) if torch.compiler.is_compiling() else max(64, BLOCK // z.shape[1] // 64 * 64)
    for start in range(0, len(z), step):
        part = slice(start, start + step)
        rows = [rows_like(z, table, y[part]) for table in tables]
        values[part] = work(gradient[part], z[part], *rows)
    return values.view_as(target), gradient.view_as(logits)


class _GivenGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *arguments):
        values, gradient = _blockwise(*arguments)
        ctx.save_for_backward(gradient)
        return values

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream):
        rest = [None] * (len(ctx.needs_input_grad) - 2)
        return None, ctx.saved_tensors[0] * upstream.unsqueeze(-1), *rest


def with_gradient(work, logits: Tensor, target: Tensor, *tables: Tensor) -> Tensor:
    """Loss whose gradient is written by hand, a block of samples at a time.

    For formulas that autograd would make several times as dear as cross-entropy. At many classes
    the time goes into fresh memory for intermediates, hence the blocks.

    Parameters
    ----------
    work : callable
        From logits (n, K) and the labels' rows (n, K) of each table to values (n,). Its first
        argument takes the gradient, (n, K). It may overwrite the rows, not the logits.
    logits, target : (..., K) and (...)
    tables : (K, K) each, row y

    Returns
    -------
    (...) tensor, differentiable once.
    """
    if torch.is_grad_enabled() and logits.requires_grad:
        return _GivenGradient.apply(work, logits, target, *tables)
    return _blockwise(work, logits, target, *tables)[0]


def underflows(p: Tensor) -> Tensor | None:
    """Places where probabilities (n,) are too small to divide by; None if there are none."""
    limit = 1e-200 if p.dtype == torch.float64 else 1e-20
    if p.amin() >= limit:  # false with a NaN among them
        return None
    return (p < limit).nonzero()[:, 0]


def _class_weight(weight, num_classes):
    if weight is None:
        return None
    weight = torch.as_tensor(weight).detach().clone()
    if not weight.is_floating_point():
        weight = weight.to(torch.get_default_dtype())
    if weight.shape != (num_classes,):
        raise ValueError(f"weight has shape ({num_classes},), got {tuple(weight.shape)}")
    if not (weight.isfinite().all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError(f"weight is finite, not negative, not all zero, got {weight.tolist()}")
    return weight


def _total(weights):
    total = weights.sum()
    if not torch.compiler.is_compiling() and total == 0:
        raise ValueError("the mean is undefined: every target is ignored or has weight 0")
    return total


def at_least_two(name: str, value: int) -> int:
    """`value` as an int of at least 2, else ValueError or TypeError naming it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an int, got {value!r}") from None
    if number < 2:
        raise ValueError(f"{name} is at least 2, got {value}")
    return number


def positive(name: str, value: float) -> float:
    """`value` as a float if finite and above 0, else ValueError or TypeError naming it."""
    value = not_negative(name, value)
    if value == 0:
        raise ValueError(f"{name} is above 0, got {value}")
    return value


def not_negative(name: str, value: float) -> float:
    """`value` as a float if finite and at least 0, else ValueError or TypeError naming it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a number, got {value!r}") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} is finite and not negative, got {value}")
    return number
