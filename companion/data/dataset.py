"""One data set, how it is split, and the arrays that a network reads: the paper's Section 4.1."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from sklearn.model_selection import train_test_split

from amol.scaling import center_and_scale
from companion.errors import StudyError

SPLIT_ORDERS = ("test first", "halves")
FRACTIONS = (0.6, 0.2, 0.2)  # training, validation, test
# Standard deviations from the mean: 10⁸ squares of it have a finite sum in float32.
LARGEST_FEATURE = 1e15
LARGEST = 1e100  # beyond, the square of a number may not be finite
SMALLEST_SPREAD = 1e-140  # its square keeps all digits in float64
RARE = 15  # rows of a class, below which it joins a neighbor: 15 leave three for a part of a fifth


class DataError(StudyError, ValueError):
    """A data file can't be used, or isn't the one that the package came with."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One ordinal benchmark.

    Attributes
    ----------
    name : str
    X : ndarray, shape (N, d), float64
        Features as read, not standardized.
    y : ndarray, shape (N,), int64
        Labels 0..K-1.
    feature_names : tuple of str, length d
    class_names : tuple of str, length K
        The labels as their source writes them: wine quality, or a range of ring counts.
    source : str
        Origin and licence in one line.
    lines : sequence of int, length N or 0
        Line of each row in the user's file, counted from 1; empty for the package's own sets.
    groups : sequence of int, length N or 0
        Number of each row's group, 0..G-1, which no split parts, such as the rows of one person;
        empty where each row stands alone.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    source: str
    lines: Sequence[int] = ()
    groups: Sequence[int] = ()

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.class_names)

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of X's bytes (float64, C order) followed by y's (int64)."""
        sha = hashlib.sha256(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
        sha.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        return sha.hexdigest()


def merge_rare_classes(
    y: np.ndarray, class_names: Sequence[str], least: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Join classes of fewer than ``least`` rows with a neighbor.

    The rarest class, of several the lowest, joins the neighbor with fewer rows, of two the lower,
    and so on until no class has fewer than ``least`` rows. Steps between classes are then counted
    on the shorter scale, and its center may be another class.

    Parameters
    ----------
    y : ndarray, shape (N,)
        Labels 0..K-1.
    class_names : sequence of str, length K
    least : int

    Returns
    -------
    y : ndarray, shape (N,), int64
    class_names : tuple of str
        A joined class is called by its lowest and highest name.

    Examples
    --------
    >>> merge_rare_classes(np.array([0, 1, 1, 2, 2, 2]), ("a", "b", "c"), 2)
    (array([0, 0, 0, 1, 1, 1]), ('a–b', 'c'))
    """
    counts = np.bincount(y, minlength=len(class_names)).tolist()
    groups = [[k] for k in range(len(counts))]
    while len(counts) > 1 and min(counts) < least:
        rare = counts.index(min(counts))
        sides = [k for k in (rare - 1, rare + 1) if 0 <= k < len(counts)]
        low, high = sorted((rare, min(sides, key=counts.__getitem__)))
        groups[low] += groups.pop(high)
        counts[low] += counts.pop(high)
    rank = {k: new for new, group in enumerate(groups) for k in group}
    names = (dict.fromkeys((class_names[group[0]], class_names[group[-1]])) for group in groups)
    merged = np.array([rank[k] for k in range(len(rank))], dtype=np.int64)[y]
    return merged, tuple("–".join(ends) for ends in names)


def split(
    y: np.ndarray,
    split_seed: int,
    order: str = SPLIT_ORDERS[0],
    fractions: tuple[float, float, float] = FRACTIONS,
    stratify: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of a split into three parts, stratified 60/20/20 unless said otherwise.

    ``"test first"`` draws the test part, then that for validation from the rest; ``"halves"``
    draws the training part and divides the rest. Both draws use the same seed. The paper states
    the shares alone; drawing the test part first is this companion's choice.

    Parameters
    ----------
    y : ndarray, shape (N,)
    split_seed : int
    order : {"test first", "halves"}
    fractions : tuple of float
        Shares of training, validation and test part, with the sum 1.
    stratify : bool
        Whether each part holds every class in proportion. A class is only sure to be in every part
        if each share of its rows is at least one.

    Returns
    -------
    train, validation, test : ndarray of int64

    Raises
    ------
    ValueError
        For shares that aren't three positive numbers with the sum 1.
    """
    if len(fractions) != 3 or min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-9:
        raise ValueError(f"fractions are {fractions}; allowed: three above 0 whose sum is 1")

    def draw(rows, share):
        labels = y[rows] if stratify else None
        return train_test_split(rows, test_size=share, stratify=labels, random_state=split_seed)

    train_share, validation_share, test_share = fractions
    rows = np.arange(len(y))
    if order == "halves":
        train, rest = draw(rows, validation_share + test_share)
        validation, test = draw(rest, test_share / (validation_share + test_share))
    else:
        rest, test = draw(rows, test_share)
        train, validation = draw(rest, validation_share / (train_share + validation_share))
    return train, validation, test


def divide(
    dataset: Dataset,
    split_seed: int,
    order: str = SPLIT_ORDERS[0],
    fractions: tuple[float, float, float] = FRACTIONS,
    stratify: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of a data set's training, validation and test part; its groups stay whole.

    Without groups this is `split`. Groups are dealt in a random order, larger ones first, each to
    the part that lacks most of what the group holds: the sum, over the group's rows, of the share
    of their class that the part still lacks (of several parts the first). ``order`` means nothing
    then.

    Parameters
    ----------
    dataset : Dataset
    split_seed, order, fractions, stratify
        As in `split`.

    Returns
    -------
    train, validation, test : ndarray of int

    Raises
    ------
    DataError
        For groups that shouldn't be stratified.
    """
    if not len(dataset.groups):
        return split(dataset.y, split_seed, order, fractions, stratify)
    if not stratify:
        raise DataError(
            f"{dataset.name} has groups that stay whole (rows of one person, say); they are only "
            "dealt by class: set stratify to true"
        )
    groups = np.asarray(dataset.groups)
    counts = np.zeros((groups.max() + 1, dataset.num_classes), dtype=np.int64)  # (G, K)
    np.add.at(counts, (groups, dataset.y), 1)
    dealt = np.random.RandomState(split_seed).permutation(len(counts))
    dealt = dealt[np.argsort(-counts.sum(axis=1)[dealt], kind="stable")]
    wanted = np.outer(fractions, counts.sum(axis=0))  # (3, K)
    lacking = wanted.copy()
    part_of = np.empty(len(counts), dtype=np.int64)
    for group in dealt.tolist():
        held = counts[group].nonzero()[0]
        # fsum rounds once, whatever the order, so that a tie is one on every processor.
        gains = [fsum(row) for row in (counts[group] * lacking / wanted)[:, held].tolist()]
        part_of[group] = chosen = gains.index(max(gains))
        lacking[chosen] -= counts[group]
    parts = part_of[groups]
    return tuple(np.flatnonzero(parts == part) for part in range(3))


def standardize(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Center and scale each column by the mean and standard deviation over ``rows``.

    Parameters
    ----------
    X : ndarray, shape (N, d)
    rows : ndarray of int
        The training part, as the paper's protocol has it, or all rows. A column constant over them
        is centered and not scaled.

    Returns
    -------
    ndarray, shape (N, d), float64
    """
    center, scale = center_and_scale(X, rows)
    return (X - center) / scale


def network_features(dataset: Dataset, rows: np.ndarray) -> np.ndarray:
    """Features in float32 as a network reads them: `standardize`, with its result checked.

    Parameters
    ----------
    dataset : Dataset
    rows : ndarray of int
        As in `standardize`.

    Returns
    -------
    ndarray, shape (N, d), float32

    Raises
    ------
    DataError
        Names the line (or row) and column of a value that float32 can't hold beside the others:
        further than `LARGEST_FEATURE` standard deviations from the mean, or so far that all other
        values, though different, become one number. Also for a column whose values differ too
        little to be scaled at all.
    """
    with np.errstate(all="ignore"):  # what overflows is refused below
        X = standardize(dataset.X, rows)
        scaled = X.astype(np.float32)
    for column, name in enumerate(dataset.feature_names):
        raw, values = dataset.X[:, column], X[:, column]
        tiny = 0 < np.ptp(raw[rows]) < SMALLEST_SPREAD
        if tiny or not np.abs(raw).max() <= LARGEST:
            side = "too close to each other" if tiny else "too large"
            raise DataError(
                f"{dataset.name}: column {name!r} can't be standardized, its values are {side}; "
                "change its unit, so that they are neither huge nor tiny"
            )
        far = int(np.abs(values).argmax())
        # A mark for "no data", such as -3.4e38, may lie within the rows and so widen the scale.
        others = raw != raw[far]
        lost = (
            others.any()
            and np.ptp(raw[others]) > 1e-6 * np.abs(raw[others]).max()
            and np.ptp(scaled[others, column]) == 0
        )
        if abs(values[far]) > LARGEST_FEATURE or lost:
            where = f"line {dataset.lines[far]}" if len(dataset.lines) else f"row {far}"
            raise DataError(
                f"{dataset.name}: {where}, column {name!r}: {float(raw[far])!r} is so far from the "
                "other values that float32 can't hold both; correct it or leave the row out"
            )
    return scaled


def duplicate_rows(dataset: Dataset) -> int:
    """Number of rows that repeat an earlier one in all features and the label."""
    rows = np.column_stack([dataset.X, dataset.y])
    return len(rows) - len(np.unique(rows, axis=0))


def twin_share(dataset: Dataset, split_seed: int) -> float:
    """Share of test rows whose features and label also occur among training or validation rows."""
    rows = [row.tobytes() for row in np.column_stack([dataset.X, dataset.y])]
    train, validation, test = divide(dataset, split_seed)
    seen = {rows[i] for i in np.concatenate([train, validation])}
    return float(np.mean([rows[i] in seen for i in test]))
