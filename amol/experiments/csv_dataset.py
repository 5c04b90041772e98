"""A data set of one's own: a CSV file with a header, a label column and features.

Numeric columns are taken as they are, columns of words become one column of 0 and 1 for each word.
Everything that would spoil a study is refused here, with the file, the line and what is allowed.
"""

import csv
import difflib
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from amol.experiments.datasets import ABALONE_VARIANTS, DATASETS, Dataset
from amol.paths import ROOT

ENOUGH = 5  # rows of a class, so that training, validation and test part each get one
CLASSES = range(3, 257)  # a center has a class on either side
MOST_WORDS = 100  # different words in one column
LARGEST = 1e100  # beyond, the square of a number may not be finite
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "?"}
NEARLY_NUMBER = re.compile(r"[+-]?\d[\d.,' ]*%?")  # 3,5 or 1 000 or 7 %
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.I | re.ASCII)

Cells = list[tuple[int, str]]  # of a column: line in the file, counted from 1, and text


def read_csv(name: str | Path, target: str, order: Sequence[str] = ()) -> Dataset:
    """Read a CSV file as a data set.

    Parameters
    ----------
    name : str or Path
        The file; a relative path starts at the working directory or, failing that, at the folder
        of the book. The data set is called by the file's name without its ending.
    target : str
        Column of the labels.
    order : sequence of str
        Labels from lowest to highest. Without it they must be whole numbers without a gap.

    Returns
    -------
    Dataset
        Classes by rank; features in the order of the file, the words of a column in that of their
        characters.

    Raises
    ------
    ValueError
        Names the file, the line (the header is line 1) and what is allowed.
    FileNotFoundError
    """
    path = _found(Path(name).expanduser())
    if path.stem in (*DATASETS, *ABALONE_VARIANTS):
        raise ValueError(f"{path.name}: {path.stem} is a data set of the paper; rename the file")
    try:
        columns = _columns(_decoded(path.read_bytes()))
        labels = _label_column(columns, target)
        _refuse_missing({target: labels, **columns})
        y, class_names = _classes(labels, order)
        features = [_feature(column, cells) for column, cells in columns.items()]
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return Dataset(
        name=path.stem,
        X=np.hstack([values for _, values in features]),
        y=y,
        num_classes=len(class_names),
        feature_names=tuple(name for names, _ in features for name in names),
        class_names=class_names,
        source=path.name,
    )


def _found(path: Path) -> Path:
    for folder in (Path.cwd(), ROOT):
        if (folder / path).is_file():
            return folder / path
    folder = path.parent if path.parent.is_dir() else Path.cwd()
    there = ", ".join(sorted(p.name for p in folder.glob("*.csv"))) or "none"
    raise FileNotFoundError(f"no file {path}; CSV files in its folder: {there}")


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"byte 0x{content[error.start]:02x} in line {line} is not UTF-8; save the file as UTF-8"
        ) from None
    if not text.strip():
        raise ValueError("the file is empty; wanted: a header and rows, separated by commas")
    return text


def _columns(text: str) -> dict[str, Cells]:
    """Columns by name, in the order of the file."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    (_, header), *rows = rows
    if len(header) == 1:
        for mark, told in {";": "semicolons", "\t": "tabs", "|": "bars"}.items():
            if mark in header[0]:
                raise ValueError(f"its columns are separated by {told}; allowed: commas")
    for position, name in enumerate(header, start=1):
        if not name:
            raise ValueError(f"column {position} has no name in line 1; name it or leave it out")
        if header.count(name) > 1:
            raise ValueError(f"column {name!r} is named {header.count(name)} times; allowed: once")
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} cells; the header names {len(header)}")
    if not rows:
        raise ValueError("there is no row under the header")
    return {name: [(line, row[i]) for line, row in rows] for i, name in enumerate(header)}


def _label_column(columns: dict[str, Cells], target: str) -> Cells:
    """Take the labels out of ``columns``."""
    names = ", ".join(columns)
    if not target:
        raise ValueError(f"target is missing, the column of the labels; columns: {names}")
    if target not in columns:
        lower = {name.lower(): name for name in columns}
        near = [lower[name] for name in difflib.get_close_matches(target.lower(), lower)]
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(f"no column {target!r}; {hint}columns: {names}")
    labels = columns.pop(target)
    if not columns:
        raise ValueError(f"{target!r} is the only column; wanted: at least one feature beside it")
    return labels


def _refuse_missing(columns: dict[str, Cells]) -> None:
    holes = [
        (line, name)
        for name, cells in columns.items()
        for line, cell in cells
        if cell.lower() in MISSING
    ]
    if holes:
        shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(holes)[:5])
        more = f" and {len(holes) - 5} more" if len(holes) > 5 else ""
        raise ValueError(f"missing values: {shown}{more}; fill them or leave the rows out")


def _classes(labels: Cells, order: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Ranks (N,) and the label of each rank."""
    if order:
        return _ranked(labels, tuple(order))
    for line, label in labels:
        if not NUMBER.fullmatch(label) or not float(label).is_integer():
            found = ", ".join(sorted({label for _, label in labels})[:20])
            raise ValueError(
                f"label {label!r} in line {line} is no whole number; "
                f"set order to the labels, lowest first; found: {found}"
            )
    numbers = [(line, int(float(label))) for line, label in labels]
    found = sorted({number for _, number in numbers})
    gaps = [b for a, b in pairwise(found) if b > a + 1]
    if gaps:
        shown = ",".join(map(str, found[:20])) + (",…" if len(found) > 20 else "")
        raise ValueError(
            f"there is a gap below label {gaps[0]}, and losses count steps; where each label is "
            f"one step from the next, set order to {shown}"
        )
    return _ranked([(line, str(number)) for line, number in numbers], tuple(map(str, found)))


def _ranked(labels: Cells, order: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    rank = {label: k for k, label in enumerate(order)}
    allowed = ", ".join(order[:20])
    if len(rank) < len(order):
        raise ValueError(f"order names a label twice: {allowed}")
    for line, label in labels:
        if label not in rank:
            raise ValueError(f"label {label!r} in line {line} is not in order: {allowed}")
    if len(order) not in CLASSES:
        told = f"only {order[0]!r}" if len(order) == 1 else f"{len(order)} different ones"
        raise ValueError(f"the labels are {told}; allowed: {CLASSES[0]} to {CLASSES[-1]} classes")
    counts = Counter(label for _, label in labels)
    few = [f"{label!r} has {counts[label]}" for label in order if counts[label] < ENOUGH]
    if few:
        raise ValueError(
            f"too few rows of a class for the 60/20/20 split: {', '.join(few[:20])}; each needs "
            f"{ENOUGH}: add rows, merge labels or leave the class out"
        )
    return np.array([rank[label] for _, label in labels], dtype=np.int64), order


def _feature(name: str, cells: Cells) -> tuple[list[str], np.ndarray]:
    """Names and values (N, columns) that a column of the file becomes."""
    words = [(line, cell) for line, cell in cells if not NUMBER.fullmatch(cell)]
    if not words:
        values = np.array([float(cell) for _, cell in cells])
        for (line, cell), value in zip(cells, values, strict=True):
            if not (math.isfinite(value) and abs(value) <= LARGEST):
                raise ValueError(f"line {line}, column {name!r}: {cell} is no finite number")
        return [name], values[:, None]
    if len(words) < len(cells):
        line, cell = words[0]
        raise ValueError(
            f"column {name!r} holds numbers and words: {cell!r} in line {line}; allowed: either"
        )
    line, cell = words[0]
    if NEARLY_NUMBER.fullmatch(cell):
        raise ValueError(f"line {line}, column {name!r}: {cell!r} is no number; allowed: 1234.5")
    kinds = sorted({cell for _, cell in cells})
    if len(kinds) > MOST_WORDS:
        raise ValueError(
            f"column {name!r} has {len(kinds)} different words; allowed: up to {MOST_WORDS}, so "
            "leave it out or group them"
        )
    values = np.array([[cell == kind for kind in kinds] for _, cell in cells], dtype=np.float64)
    return [f"{name}={kind}" for kind in kinds], values
