"""Settings of a study, checked on construction and before any work."""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from amol.engine import MONITORS, Protocol
from amol.losses import LOSSES, PAPER_METHODS
from amol.losses.registry import own_parameters
from companion.data import collection
from companion.data.csv_dataset import is_file
from companion.data.csv_table import Format
from companion.data.dataset import FRACTIONS, SPLIT_ORDERS, Dataset
from companion.data.datasets import ABALONE_VARIANTS, DATASETS, MORE_DATASETS, load_dataset
from companion.errors import did_you_mean

LIMIT = 2**32  # of every number
SEEDS = range(LIMIT)
SEVERAL = "a number of seeds (at least 1) or a list of different whole numbers from 0 to 2³²−1"


def _checked(default, allowed: str, holds: Callable[[object], bool]):
    """A field with a default, what may stand there in words, and whether a value may."""
    return field(default=default, metadata={"allowed": allowed, "holds": holds})


def _number(default: float, least: float, included: bool = True):
    start = f"a number {'of at least' if included else 'above'} {least}"
    return _checked(default, f"{start}, below 2³²", lambda x: x >= least if included else x > least)


def _whole(default: int):
    return _checked(default, "a whole number of at least 1, below 2³²", lambda n: n >= 1)


def _one_of(default, choices: tuple):
    return _checked(default, ", ".join(map(str, choices)), choices.__contains__)


def _are_shares(values: tuple) -> bool:
    right = len(values) == 3 and all(type(share) is float and share > 0 for share in values)
    return right and abs(sum(values) - 1) < 1e-9


@dataclass(frozen=True)
class StudySettings:
    """What to run. Everything is checked on construction, before any work.

    Values may be of Python's, NumPy's or pandas' kind: a list, an index or an array of names, a
    path, a NumPy number.

    Parameters
    ----------
    datasets : sequence of str, or one comma-separated str
        Names, or paths of CSV files. A file is read here, once, and goes by its name without
        ending.
    methods : sequence of str, or one comma-separated str
        Names of losses, keys of `amol.losses.LOSSES`.
    seeds : int or sequence of int
        How many, n standing for 0 … n−1, or which. A seed sets initial weights and batch order.
    alpha : float
        Strength α ≥ 0 of m(k,y), for each loss that has it.
    sigma : float
        Width σ > 0 of the Gaussian target, for each loss that has it.
    split_seed : int
        Seed of the one 60/20/20 split that all runs of a data set share.
    split_order : {"test first", "halves"}
        How that split is drawn: test part first, or validation and test halved.
    fractions : tuple of float
        Shares of training, validation and test part.
    stratify : bool
        Whether each part holds every class in proportion.
    standardize_on : {"training", "all"}
        Rows whose mean and standard deviation scale the features.
    epochs : int
        Most epochs a run may take.
    batch_size : int
        Samples per step.
    patience : int
        Epochs without improvement before the stop.
    hidden : int
        Units of a hidden layer.
    layers : int
        Hidden layers.
    lr : float
        Adam's learning rate.
    monitor : {"loss", "QWK"}
        Validation quantity that early stopping watches.
    restore : bool
        Whether the weights of the best epoch are taken back.
    weight_decay : float
        Factor of the weights in Adam's gradient.
    dropout : float
        Share of each hidden layer's values that a training step leaves out.
    loss_parameters : mapping of str to mapping
        Further parameters by method, such as ``{"OLL-Castagnos": {"power": 2.0}}``.
    target : str
        Label column of the CSV files.
    order : sequence of str, or one comma-separated str
        Their labels from lowest to highest, where these aren't whole numbers without a gap.
    csv_options : mapping
        How the CSV files are read, such as ``{"sep": ";"}``: further arguments of
        `companion.data.csv_dataset.read_csv`.
    own : mapping of str to Dataset
        The CSV files as read, by name; filled in from ``datasets``.
    """

    datasets: tuple[str, ...] = DATASETS
    methods: tuple[str, ...] = PAPER_METHODS
    seeds: tuple[int, ...] | int = 5
    alpha: float = _number(1.0, 0)
    sigma: float = _number(1.0, 0, included=False)
    split_seed: int = _checked(42, "a whole number from 0 to 2³²−1", SEEDS.__contains__)
    split_order: str = _one_of(SPLIT_ORDERS[0], SPLIT_ORDERS)
    fractions: tuple[float, ...] = _checked(FRACTIONS, "three shares whose sum is 1", _are_shares)
    stratify: bool = _one_of(True, (True, False))
    standardize_on: str = _one_of("training", ("training", "all"))
    epochs: int = _whole(Protocol.epochs)
    batch_size: int = _whole(Protocol.batch_size)
    patience: int = _whole(Protocol.patience)
    hidden: int = _whole(Protocol.hidden)
    layers: int = _whole(Protocol.layers)
    lr: float = _number(Protocol.lr, 0, included=False)
    monitor: str = _one_of(Protocol.monitor, MONITORS)
    restore: bool = _one_of(Protocol.restore, (True, False))
    weight_decay: float = _number(Protocol.weight_decay, 0)
    dropout: float = _checked(Protocol.dropout, "from 0 to below 1", lambda x: 0 <= x < 1)
    loss_parameters: Mapping[str, Mapping] = field(default_factory=dict)
    target: str = _checked("", "the name of a column", lambda name: True)
    order: tuple[str, ...] = ()
    csv_options: Mapping[str, object] = field(default_factory=dict)
    own: Mapping[str, Dataset] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        values = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        for checked in fields(self):
            if checked.metadata:
                _refuse_other(checked, values[checked.name])
        values["methods"] = _names("methods", values["methods"], tuple(LOSSES))
        values["seeds"] = _seeds(values["seeds"])
        values["order"] = _labels(values["order"])
        for method, own in values["loss_parameters"].items():
            _names("loss_parameters", [method], tuple(LOSSES))
            _names(f"loss_parameters of {method}", list(own), own_parameters(LOSSES[method]))
        if values["csv_options"]:
            _names("csv_options", list(values["csv_options"]), csv_options())
        values["datasets"], values["own"] = _read_datasets(values)
        for name, value in values.items():
            object.__setattr__(self, name, value)  # the class is frozen for all others

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
        known = own_parameters(LOSSES[method])
        own = dict(self.loss_parameters.get(method, {}))
        return {name: value for name, value in shared.items() if name in known} | own


def _read_datasets(values: Mapping) -> tuple[tuple[str, ...], dict[str, Dataset]]:
    """Names of the data sets, and the CSV files among them as read."""
    target, order, options = values["target"], values["order"], values["csv_options"]
    names, own = [], dict(values["own"])
    for name in _listed("datasets", values["datasets"], DATASETS):
        if isinstance(name, str) and is_file(name):
            data = load_dataset(name, target, order, **options)
            own[data.name], name = data, data.name
        names.append(name)
    others = (*MORE_DATASETS, *ABALONE_VARIANTS, *collection.descriptions(), *own)
    names = _names("datasets", names, DATASETS, others)
    for_files = {"target": target, "order": ", ".join(order), "csv_options": options}
    for name, value in for_files.items():
        if value and not own:
            others = ", ".join(names)
            raise ValueError(f"{name} is {value!r}, but datasets names no .csv file: {others}")
    return names, own


def _plain(value):
    """Python's kind of a value: a path's text, the items of an array, index or categorical."""
    if isinstance(value, os.PathLike):
        return (os.fspath(value),)  # a comma in it separates nothing
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, str | set | frozenset) or not hasattr(value, "__iter__"):
        return value  # a set has no order
    items = (os.fspath(item) if isinstance(item, os.PathLike) else item for item in value)
    return tuple(item.tolist() if hasattr(item, "tolist") else item for item in items)


def _refuse_other(setting, value) -> None:
    """Refuse a value of another type than the default's, or one that isn't allowed."""
    kind = type(setting.default)
    right = type(value) is kind or (kind is float and type(value) is int)
    if right and isinstance(value, float | int):
        right = math.isfinite(value) and abs(value) < LIMIT
    if not right or not setting.metadata["holds"](value):
        allowed = setting.metadata["allowed"]
        raise ValueError(f"{setting.name} is {value!r}; allowed: {allowed}")


def _listed(what: str, value, allowed: tuple[str, ...]) -> tuple:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, list | tuple):
        raise ValueError(f"{what} is {value!r}; expected names of {', '.join(allowed)}")
    return tuple(value)


def _names(what: str, value, allowed: tuple[str, ...], unlisted=()) -> tuple[str, ...]:
    names = _listed(what, value, allowed)
    for name in names:
        if name not in allowed and name not in unlisted:
            hint = did_you_mean(name, (*unlisted, *allowed))
            listed = ", ".join(allowed) or "none"
            files = ", or the path of a table" if what == "datasets" else ""
            raise ValueError(f"{what} holds {name!r}; {hint}allowed: {listed}{files}")
    if not names or len(set(names)) < len(names):
        problem = "is empty" if not names else f"names one twice: {', '.join(names)}"
        raise ValueError(f"{what} {problem}; allowed: {', '.join(allowed)}")
    return names


def _labels(value) -> tuple[str, ...]:
    labels = (value.split(",") if value else ()) if isinstance(value, str) else value
    right = isinstance(labels, list | tuple)
    if not right or not all(type(label) in (str, int, float) for label in labels):
        raise ValueError(f"order is {value!r}; allowed: labels from lowest to highest")
    whole = [int(i) if type(i) is float and i.is_integer() else i for i in labels]  # 3.0 is 3
    return tuple(str(label).strip() for label in whole)


def _seeds(value) -> tuple[int, ...]:
    seeds = range(value) if type(value) is int else value
    right = isinstance(seeds, range | tuple) and all(type(s) is int and s in SEEDS for s in seeds)
    if not right or not len(seeds) or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds is {value!r}; allowed: {SEVERAL}")
    return tuple(seeds)


def csv_options() -> tuple[str, ...]:
    """Names of the options that a CSV file may be read with."""
    return tuple(option.name for option in fields(Format))
