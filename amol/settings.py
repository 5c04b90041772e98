"""What a study is asked to run, checked on construction and before any work."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from amol.datasets import ABALONE_VARIANTS, DATASETS, SPLIT_ORDERS
from amol.losses import LOSSES, PAPER_METHODS
from amol.training import MONITORS, Protocol


@dataclass(frozen=True)
class StudySettings:
    """What to run. Everything is checked on construction, before any work.

    Parameters
    ----------
    datasets, methods : sequence of str, or one comma-separated str
        Keys of `amol.datasets.DATASETS` and `amol.losses.LOSSES`.
    seeds : int or sequence of int
        A number n stands for seeds 0 … n−1. A seed sets initial weights and batch order alone.
    alpha, sigma : float
        Strength α ≥ 0 of m(k,y) and width σ > 0 of the Gaussian target, given to each loss that
        has such a parameter.
    split_seed : int
        Seed of the one 60/20/20 split that all runs of a data set share.
    split_order : {"test first", "halves"}
        How that split is drawn; see `amol.datasets.split`.
    epochs, batch_size, patience, hidden, layers : int
    lr : float
    monitor : {"loss", "QWK"}
    restore : bool
        See `amol.training.Protocol`.
    loss_parameters : mapping of str to mapping
        Further parameters by method, such as ``{"OLL-Castagnos": {"power": 2.0}}``.
    """

    datasets: tuple[str, ...] = DATASETS
    methods: tuple[str, ...] = PAPER_METHODS
    seeds: tuple[int, ...] | int = 5
    alpha: float = 1.0
    sigma: float = 1.0
    split_seed: int = 42
    split_order: str = SPLIT_ORDERS[0]
    epochs: int = Protocol.epochs
    batch_size: int = Protocol.batch_size
    patience: int = Protocol.patience
    hidden: int = Protocol.hidden
    layers: int = Protocol.layers
    lr: float = Protocol.lr
    monitor: str = Protocol.monitor
    restore: bool = Protocol.restore
    loss_parameters: Mapping[str, Mapping] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(
            self, "datasets", _names("datasets", self.datasets, DATASETS, ABALONE_VARIANTS)
        )
        object.__setattr__(self, "methods", _names("methods", self.methods, tuple(LOSSES)))
        object.__setattr__(self, "seeds", _seeds(self.seeds))
        _number("alpha", self.alpha, 0, "a number of at least 0")
        for name in ("sigma", "lr"):
            _number(name, getattr(self, name), 0, "a number above 0", exclusive=True)
        _number("split_seed", self.split_seed, 0, "a whole number from 0 to 2³²−1", whole=True)
        for name in ("epochs", "batch_size", "patience", "hidden", "layers"):
            _number(name, getattr(self, name), 1, "a whole number of at least 1", whole=True)
        for name, allowed in (("monitor", MONITORS), ("split_order", SPLIT_ORDERS)):
            if getattr(self, name) not in allowed:
                value = getattr(self, name)
                raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
        if not isinstance(self.restore, bool):
            raise ValueError(f"restore is {self.restore!r}; allowed: True, False")
        for method, own in self.loss_parameters.items():
            _names("loss_parameters", [method], tuple(LOSSES))
            _names(f"loss_parameters of {method}", list(own), own_parameters(method))

    @property
    def protocol(self) -> Protocol:
        """The training part of the settings."""
        return Protocol(**{name: getattr(self, name) for name in Protocol.__dataclass_fields__})

    def parameters(self, method: str) -> dict:
        """Keyword arguments of ``method``'s loss: those of these settings that it has."""
        shared = {"alpha": float(self.alpha), "sigma": float(self.sigma)}
        known = own_parameters(method)
        own = dict(self.loss_parameters.get(method, {}))
        return {name: value for name, value in shared.items() if name in known} | own


def _names(what: str, value, allowed: tuple[str, ...], unlisted=()) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    try:
        names = tuple(value)
    except TypeError:
        raise ValueError(f"{what} is {value!r}; expected names of {', '.join(allowed)}") from None
    for name in names:
        if name not in allowed and name not in unlisted:
            raise ValueError(f"{what} holds {name!r}; allowed: {', '.join(allowed) or 'none'}")
    if not names or len(set(names)) < len(names):
        problem = "is empty" if not names else f"names one twice: {', '.join(names)}"
        raise ValueError(f"{what} {problem}; allowed: {', '.join(allowed)}")
    return names


def _seeds(value) -> tuple[int, ...]:
    wanted = "a number of seeds (at least 1) or a list of different whole numbers from 0 to 2³²−1"
    try:
        seeds = range(value) if isinstance(value, int) else tuple(value)
        right = all(type(s) is int and 0 <= s < 2**32 for s in seeds)
    except TypeError:
        right = False
    if not right or isinstance(value, bool | str) or not len(seeds) or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds is {value!r}; allowed: {wanted}")
    return tuple(seeds)


def _number(name, value, least, wanted, *, exclusive=False, whole=False):
    kinds = (int,) if whole else (int, float)
    right = isinstance(value, kinds) and not isinstance(value, bool)
    right = right and least <= value < 2**32 and not (exclusive and value == least)
    if not right:
        raise ValueError(f"{name} is {value!r}; allowed: {wanted}")


def own_parameters(method: str) -> tuple[str, ...]:
    """A loss's own parameters, without those that every loss has."""
    common = {"self", "num_classes", "reduction", "weight", "ignore_index"}
    return tuple(p for p in inspect.signature(LOSSES[method]).parameters if p not in common)
