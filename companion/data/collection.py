"""The collection: more than a hundred data sets with a natural order, described as data.

``files/collection.toml`` says of each set where it is read, what is predicted, why its labels have
an order, which columns are left out and why, what may not cross a split, its licence and where that
was read. Files that may be passed on lie beside it, packed; the others are read from a pinned
package, an extra of its own: ``pip install ".[sets]"``. A file is read only if it has
the recorded SHA-256 (a pickle is loaded from no other), and so is the table prepared from it.

Preparation has the same few steps for all, in this order, and computes nothing but cuts by rank, so
that a table has the same bytes on every processor:

1. codes that mean "missing" become missing (``missing``);
2. rows are chosen by the values of a column (``where``, ``without``), and of rows equal in some
   columns the first (``first_of``);
3. labels become ranks by ``order``, other labels' rows are left out; or ranks cut the target into
   classes of given shares (``cut``);
4. columns are chosen (``columns``) or left out (``drop``), then rows with a missing feature;
5. of more than `MOST` rows, whole groups drawn at random stay;
6. classes found in fewer than `RARE` groups join a neighbor;
7. words, and codes listed in ``words``, become one column of 0 and 1 each; constant columns go.
"""

import hashlib
import importlib.util
import io
import lzma
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from companion.data.dataset import RARE, DataError, Dataset, merge_rare_classes

FILES = Path(__file__).parent / "files"
MOST = 5000  # rows of a set
CLASSES = range(3, 21)
FEWEST = 250  # rows of a set
EXTRA = "sets"


@dataclass(frozen=True)
class Description:
    """What ``collection.toml`` says of a set: its table's entries and its own.

    Attributes
    ----------
    name, survey : str
        Of the set, and of what it was asked or measured in.
    family : str
        Sets of one family aren't independent: of one survey or, where this is said, of several that
        asked some of the same people.
    kind : {"natural", "control", "cut"}
        Controls have no noise or no signal, cut sets are regressions; both stay out of means.
    kind_reason : str
        Why it is no natural set; empty for one.
    file, package : str
        File, within a package or, where that is empty, among this project's own.
    sha256 : str
        Of the file.
    read : dict
        Arguments of `pandas.read_csv`; none for a pickle.
    licence, licence_read, citation : str
        Its terms, where they were read, and whom they ask to be named.
    target, order_reason : str
        Column of the labels, and why they have an order.
    order : tuple
        Labels, lowest first; several labels of one class are a tuple. Empty for a cut set.
    class_names : tuple of str
        Names of the classes, where the labels don't say them.
    cut : tuple of int
        Percent of the rows in each class of a cut set.
    group : tuple of str
        Columns whose values together name what no split may part; empty: each row stands alone.
    group_reason, notes : str
        What a group is; what else a user should know.
    where, without, missing : dict
        By column: the values kept, left out, or that mean "missing".
    first_of, columns, words : tuple of str
        See the steps of this module.
    drop : dict
        Columns left out, each with the reason.
    counts : tuple of int
        Rows of each class of the prepared table, lowest class first.
    repeats : int
        How many of its rows repeat an earlier one.
    table_sha256 : str
        `table_digest` of the prepared table.
    """

    name: str
    survey: str
    file: str
    sha256: str
    licence: str
    licence_read: str
    target: str
    order_reason: str
    counts: tuple[int, ...]
    repeats: int
    table_sha256: str
    family: str = ""
    kind: str = "natural"
    kind_reason: str = ""
    package: str = ""
    read: dict = field(default_factory=dict)
    order: tuple = ()
    class_names: tuple[str, ...] = ()
    cut: tuple[int, ...] = ()
    group: tuple[str, ...] = ()
    group_reason: str = ""
    citation: str = ""
    notes: str = ""
    where: dict = field(default_factory=dict)
    without: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)
    first_of: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    drop: dict[str, str] = field(default_factory=dict)


@cache
def descriptions() -> dict[str, Description]:
    """The description of each set, by name."""
    book = tomllib.loads((FILES / "collection.toml").read_text(encoding="utf-8"))
    found = {}
    for name, own in book["sets"].items():
        table = book["tables"][own.pop("table")]
        merged = table | own | {"drop": table.get("drop", {}) | own.get("drop", {})}
        merged |= book["licences"][merged["licence"]]
        merged.setdefault("family", merged["survey"])
        found[name] = Description(name, **{key: _frozen(value) for key, value in merged.items()})
    return found


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def names(*kinds: str) -> tuple[str, ...]:
    """Names of the sets of some kinds, by default the natural ones."""
    wanted = kinds or ("natural",)
    return tuple(name for name, about in descriptions().items() if about.kind in wanted)


def load(name: str) -> Dataset:
    """Read and prepare a set.

    Raises
    ------
    DataError
        Names the set and what is wrong: the extra isn't installed, or the file or the table is not
        the recorded one.
    """
    about = descriptions()[name]
    data = prepare(_read(about), about)
    if (found := table_digest(data)) != about.table_sha256:
        raise DataError(
            f"{name}: the prepared table isn't the recorded one: SHA-256 is {found[:12]}…, "
            f"expected {about.table_sha256[:12]}…"
        )
    return data


def table_digest(data: Dataset) -> str:
    """SHA-256, in hex, of features, labels and groups and of the names of columns and classes."""
    sha = hashlib.sha256(data.digest.encode())
    sha.update(np.asarray(data.groups, dtype="<i8").tobytes())
    sha.update("\n".join((*data.feature_names, "", *data.class_names)).encode())
    return sha.hexdigest()


def _read(about: Description) -> pd.DataFrame:
    folder, where = FILES, "this project's files"
    if about.package:
        found = importlib.util.find_spec(about.package)
        if not found or not found.submodule_search_locations:
            raise DataError(
                f"{about.name} is read from the package {about.package}, which isn't installed: "
                f'pip install ".[{EXTRA}]"'
            )
        folder, where = Path(found.submodule_search_locations[0]), f"package {about.package}"
    path = folder / about.file
    if not path.is_file():
        raise DataError(f"{about.name}: {about.file} is missing from {where}")
    packed = path.read_bytes()
    if (sha256 := hashlib.sha256(packed).hexdigest()) != about.sha256:
        raise DataError(
            f"{about.name}: {about.file} of {where} isn't the recorded one: SHA-256 is "
            f"{sha256[:12]}…, expected {about.sha256[:12]}…"
        )
    raw = io.BytesIO(packed if path.suffix == ".csv" else lzma.decompress(packed))
    if about.read:
        return pd.read_csv(raw, skipinitialspace=True, **about.read)
    return pd.read_pickle(raw)


def prepare(table: pd.DataFrame, about: Description) -> Dataset:
    """The steps of this module's docstring."""
    table = table.copy()
    for column, codes in about.missing.items():
        table[column] = table[column].where(~table[column].isin(codes))
    for column, values in about.where.items():
        table = table[table[column].isin(values)]
    for column, values in about.without.items():
        table = table[~table[column].isin(values)]
    if about.first_of:
        table = table.drop_duplicates(list(about.first_of))
    table = table[table[about.target].notna()]
    y, class_names = _cut(table, about) if about.cut else _ranks(table, about)
    features = [
        column
        for column in about.columns or table.columns
        if column != about.target and column not in (*about.drop, "rownames")
    ]
    whole = (y >= 0) & table[features].notna().all(axis=1).to_numpy()
    table, y = table[whole], y[whole]
    groups = _groups(table, about.group)
    kept = _drawn(groups)
    table, y, groups = table.iloc[kept], y[kept], np.unique(groups[kept], return_inverse=True)[1]
    y, class_names = _merged(y, groups, class_names)
    columns = [_columns(table[column], column in about.words) for column in features]
    X = np.hstack([values for _, values in columns])
    varying = np.ptp(X, axis=0) > 0
    labels = np.array([label for labels, _ in columns for label in labels])
    return Dataset(
        name=about.name,
        X=X[:, varying],
        y=y,
        feature_names=tuple(labels[varying].tolist()),
        class_names=class_names,
        source=f"{about.survey}; {about.licence}",
        groups=groups if about.group else (),
    )


def _ranks(table: pd.DataFrame, about: Description) -> tuple[np.ndarray, tuple[str, ...]]:
    """Ranks (N,) of the labels, −1 for one that isn't in the order, and the classes' names."""
    levels = [level if isinstance(level, tuple) else (level,) for level in about.order]
    rank = {label: k for k, level in enumerate(levels) for label in level}
    labels = table[about.target]
    labels = labels if is_numeric_dtype(labels) else labels.astype(str).str.strip()
    said = tuple(str(level[0]) for level in levels)
    return labels.map(rank).fillna(-1).to_numpy(np.int64), about.class_names or said


def _cut(table: pd.DataFrame, about: Description) -> tuple[np.ndarray, tuple[str, ...]]:
    """Classes (N,) of a number by its rank, equal ones by their place; whole numbers throughout."""
    rank = table[about.target].rank(method="first").to_numpy(np.int64)  # 1..N
    bounds = np.cumsum(about.cut)[:-1] * 2 * len(rank)  # of 100 (2 rank − 1)
    y = np.searchsorted(bounds, 100 * (2 * rank - 1))
    return y, tuple(f"class {k}" for k in range(1, len(about.cut) + 1))


def _groups(table: pd.DataFrame, columns: tuple[str, ...]) -> np.ndarray:
    """Number (N,) of each row's group, by first occurrence."""
    if not columns:
        return np.arange(len(table))
    keys = table[list(columns)].astype(str).agg("\t".join, axis=1)
    return pd.factorize(keys)[0].astype(np.int64)


def _drawn(groups: np.ndarray) -> np.ndarray:
    """Rows of whole groups, drawn at random until the next would exceed `MOST` rows."""
    sizes = np.bincount(groups)
    order = np.random.RandomState(0).permutation(len(sizes))
    return np.flatnonzero(np.isin(groups, order[np.cumsum(sizes[order]) <= MOST]))


def _merged(y: np.ndarray, groups: np.ndarray, class_names) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels and names after classes of fewer than `RARE` groups have joined a neighbor."""
    pairs = np.unique(np.column_stack([y, groups]), axis=0)[:, 0]
    merged, names = merge_rare_classes(pairs, class_names, RARE)
    rank = dict(zip(pairs.tolist(), merged.tolist(), strict=True))
    return np.array([rank[k] for k in y.tolist()], dtype=np.int64), names


def _columns(values: pd.Series, are_words: bool) -> tuple[list[str], np.ndarray]:
    """Names and values (N, columns) that a column of the table becomes."""
    if is_numeric_dtype(values) and not are_words:
        return [str(values.name)], values.to_numpy(np.float64)[:, None]
    words = values.map(lambda v: f"{v:g}") if is_numeric_dtype(values) else values.astype(str)
    codes, kinds = pd.factorize(words.str.strip(), sort=True)
    return [f"{values.name}={kind}" for kind in kinds], np.eye(len(kinds))[codes]
