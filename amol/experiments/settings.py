"""What a study is asked to run, checked on construction and before any work."""

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from amol.experiments.datasets import (
    ABALONE_VARIANTS,
    DATASETS,
    SPLIT_ORDERS,
    Dataset,
    is_file,
    load_dataset,
)
from amol.experiments.engine import MONITORS, Protocol
from amol.losses import LOSSES, PAPER_METHODS


@dataclass(frozen=True)
class StudySettings:
    """What to run. Everything is checked on construction, before any work.

    Parameters
    ----------
    datasets, methods : sequence of str, or one comma-separated str
        Keys of `datasets.DATASETS` and `amol.losses.LOSSES`. A data set may also be the path of
        a CSV file; it is read here, once, and goes by the file's name without its ending.
    target : str
        Label column of the CSV files.
    order : sequence of str, or one comma-separated str
        Their labels from lowest to highest, where these aren't whole numbers without a gap.
    seeds : int or sequence of int
        A number n stands for seeds 0 … n−1. A seed sets initial weights and batch order alone.
    alpha, sigma : float
        Strength α ≥ 0 of m(k,y) and width σ > 0 of the Gaussian target, given to each loss that
        has such a parameter.
    split_seed : int
        Seed of the one 60/20/20 split that all runs of a data set share.
    split_order : {"test first", "halves"}
        How that split is drawn; see `amol.experiments.datasets.split`.
    epochs, batch_size, patience, hidden, layers : int
    lr : float
    monitor : {"loss", "QWK"}
    restore : bool
        See `amol.experiments.engine.Protocol`.
    loss_parameters : mapping of str to mapping
        Further parameters by method, such as ``{"OLL-Castagnos": {"power": 2.0}}``.
    own : mapping of str to Dataset
        The CSV files as read, by name; filled in from ``datasets``.
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
    weight_decay: float = Protocol.weight_decay
    dropout: float = Protocol.dropout
    loss_parameters: Mapping[str, Mapping] = field(default_factory=dict)
    target: str = ""
    order: tuple[str, ...] = ()
    own: Mapping[str, Dataset] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        self._read_datasets()
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

    def _read_datasets(self) -> None:
        """Check the names; read CSV files into ``own``, each path giving way to a name."""
        if not isinstance(self.target, str):
            raise ValueError(f"target is {self.target!r}; allowed: the name of a column")
        order = _labels(self.order)
        given = _listed("datasets", self.datasets, DATASETS)
        files = [name for name in given if isinstance(name, str) and is_file(name)]
        read = {path: load_dataset(path, self.target, order) for path in files}
        own = {**self.own, **{data.name: data for data in read.values()}}
        names = [read[name].name if name in files else name for name in given]
        names = _names("datasets", names, DATASETS, (*ABALONE_VARIANTS, *own))
        if (self.target or order) and not own:
            told = f"target is {self.target!r}" if self.target else f"order is {', '.join(order)}"
            raise ValueError(f"{told}, but datasets names no .csv file: {', '.join(names)}")
        for name, value in {"order": order, "own": own, "datasets": names}.items():
            object.__setattr__(self, name, value)

    def load(self, name: str) -> Dataset:
        """One of the data sets."""
        return self.own[name] if name in self.own else load_dataset(name)

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


def _listed(what: str, value, allowed: tuple[str, ...]) -> tuple:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    try:
        return tuple(value)
    except TypeError:
        raise ValueError(f"{what} is {value!r}; expected names of {', '.join(allowed)}") from None


def _names(what: str, value, allowed: tuple[str, ...], unlisted=()) -> tuple[str, ...]:
    names = _listed(what, value, allowed)
    for name in names:
        if name not in allowed and name not in unlisted:
            lower = {known.lower(): known for known in (*unlisted, *allowed)}
            near = [lower[n] for n in difflib.get_close_matches(str(name).lower(), lower)]
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            listed = ", ".join(allowed) or "none"
            files = ", or a path to a .csv file" if what == "datasets" else ""
            raise ValueError(f"{what} holds {name!r}; {hint}allowed: {listed}{files}")
    if not names or len(set(names)) < len(names):
        problem = "is empty" if not names else f"names one twice: {', '.join(names)}"
        raise ValueError(f"{what} {problem}; allowed: {', '.join(allowed)}")
    return names


def _labels(value) -> tuple[str, ...]:
    labels = value.split(",") if isinstance(value, str) and value else value or ()
    if not isinstance(labels, list | tuple) or not all(type(i) in (str, int) for i in labels):
        raise ValueError(f"order is {value!r}; allowed: labels from lowest to highest")
    return tuple(str(label).strip() for label in labels)


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
