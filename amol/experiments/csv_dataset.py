"""A user's own data set: a CSV file with a label column and features.

Numeric columns are taken as they are, columns of words become one column of 0 and 1 for each word.
What would spoil a study is refused here, with the file, the line, what is allowed and, where an
option reads it, that option.
"""

import difflib
from collections.abc import Sequence
from functools import cache
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from amol.experiments.csv_labels import label_ranks, refuse_rare
from amol.experiments.csv_table import (
    Format,
    count_lines,
    first_row,
    listing,
    read_cells,
    row_lines,
    when_read,
)
from amol.experiments.dataset import LARGEST, Dataset, merge_rare_classes
from amol.experiments.text_numbers import is_date, nearly_number, notations, plain_number
from amol.paths import ROOT

FILE_ENDINGS = (".csv", ".tsv", ".txt", ".data")
PACKED = (".gz", ".zip")
NOTHING = "''"  # no thousands separator, as a message writes it
MOST_WORDS = 100  # different words in one column
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "?"}


def is_file(name: str | PathLike) -> bool:
    """Whether a data set's name is the path of a table in a file."""
    return isinstance(name, str | PathLike) and str(name).lower().endswith(FILE_ENDINGS + PACKED)


def file_stem(name: str) -> str:
    """A file's name without its endings."""
    for endings in (PACKED, FILE_ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending):
                name = name[: -len(ending)]
                break
    return name


def read_csv(name: str | Path, target: str, order: Sequence = (), **options) -> Dataset:
    """Read a CSV file as a data set.

    Parameters
    ----------
    name : str or Path
        The file, as it is or packed as .gz or .zip; a relative path starts at the working
        directory or, failing that, at the folder of the book. The data set is called by the
        file's name without its endings.
    target : str
        Column of the labels.
    order : sequence of str or int
        Labels from lowest to highest. Without it they must be whole numbers without a gap.
    **options
        Fields of `Format`.

    Returns
    -------
    Dataset
        Classes by rank; features in the order of the file, the words of a column in that of their
        characters; the line in the file of each row.

    Raises
    ------
    ValueError
        Names the file, the line and what is allowed.
    FileNotFoundError
    """
    written = Format(**options)
    path = _found(Path(name).expanduser())
    order = tuple(str(label).strip() for label in order)
    try:
        table = _Table(path, str(target), written)
        table.refuse_missing(order)
        ranks, labels = label_ranks(table, order)
        y, class_names = merge_rare_classes(ranks, labels, written.merge_rare)
        refuse_rare(y, class_names)
        features = [table.feature(name) for name in table.features]
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    merged = [name for name in class_names if name not in labels]
    return Dataset(
        name=file_stem(path.name),
        X=np.hstack([values for _, values in features]),
        y=y,
        num_classes=len(class_names),
        feature_names=tuple(name for names, _ in features for name in names),
        class_names=class_names,
        source=path.name + (f"; rare classes merged: {', '.join(merged)}" if merged else ""),
        lines=table.lines,
    )


def _found(path: Path) -> Path:
    for folder in (Path.cwd(), ROOT):
        if (folder / path).is_file():
            return folder / path
    folder = path.parent if path.parent.is_dir() else Path.cwd()
    there = ", ".join(sorted(p.name for p in folder.iterdir() if is_file(p.name))) or "none"
    raise FileNotFoundError(f"no file {path}; data files in its folder: {there}")


class _Table:
    """Columns of a file, with what a message needs to name a cell."""

    def __init__(self, path: Path, target: str, written: Format):
        self.path, self.target, self.written = path, target, written
        count = count_lines(path)
        first = first_row(path, written.sep)
        self._refuse_separator(first)
        self.header = self._has_header(first)
        self.names = first if self.header else [str(i) for i in range(1, len(first) + 1)]
        self._check_names()
        self.columns = read_cells(path, written, self.names, self.header, {target, *written.words})
        if not len(self.columns[target]):
            raise ValueError("there is no row under the header")
        self.lines = row_lines(path, written.sep, self.header, len(self.columns[target]), count)
        self.features = [name for name in self.names if name != target]

    def _refuse_separator(self, first: list[str]) -> None:
        if len(first) > 1 and (not self.target or self.target in first):
            return
        named = self.written.header is not False and self.target

        def wanted(cells):
            return not named or self.target in cells or any(map(self.written.number, cells))

        others = when_read(self.path, wanted, self.written.sep)
        if others and (len(first) == 1 or self.target in first_row(self.path, others[0])):
            raise ValueError(
                f"its first row isn't separated by {self.written.sep!r}; set sep to {others[0]}"
            )

    def _has_header(self, first: list[str]) -> bool:
        number = next((cell for cell in first if self.written.number(cell)), None)
        if self.written.header is None and number is not None:
            raise ValueError(
                f"the first row holds a number, {number!r}, where the columns should be named: "
                f"set header to false if it is data (columns are then called 1 to {len(first)}), "
                "or set header to true if it holds names"
            )
        return self.written.header is not False

    def _check_names(self) -> None:
        names, target = self.names, self.target
        listed = ", ".join(names)
        for position, name in enumerate(names, start=1):
            if not name:
                raise ValueError(f"column {position} has no name; name it or leave it out")
            if names.count(name) > 1:
                times = names.count(name)
                raise ValueError(f"column {name!r} is named {times} times; allowed: once")
        if not target:
            raise ValueError(f"target is missing, the column of the labels; columns: {listed}")
        for name, what in {target: "", **dict.fromkeys(self.written.words, "words: ")}.items():
            if name not in names:
                lower = {name.lower(): name for name in names}
                near = [lower[n] for n in difflib.get_close_matches(name.lower(), lower)]
                hint = f"did you mean {' or '.join(near)}? " if near else ""
                raise ValueError(f"{what}no column {name!r}; {hint}columns: {listed}")
        if len(names) == 1:
            raise ValueError(f"{target!r} is the only column; wanted: at least one feature")

    @cache  # noqa: B019, a table lives as long as one call
    def kinds(self, name: str) -> tuple[np.ndarray, list[str]]:
        """Codes (N,) of a column's cells and what each code stands for, without blanks around."""
        codes, texts = pd.factorize(self.columns[name])
        merged, kinds = pd.factorize(np.array([text.strip() for text in texts], dtype=object))
        return merged[codes], list(kinds)

    def place(self, name: str, kind: str) -> str:
        """The first cell of a column that holds ``kind``, in words."""
        codes, kinds = self.kinds(name)
        row = np.flatnonzero(codes == kinds.index(kind))[0]
        return f"{kind!r} in line {self.lines[row]}"

    def set_words(self, name: str) -> str:
        return f"set words to {listing([*self.written.words, name])}"

    def refuse_missing(self, labels: Sequence[str]) -> None:
        """Refuse cells that hold nothing, or a mark for it; ``labels`` are none of these."""
        holes, total, hints = [], 0, ""
        for name in (self.target, *self.features):
            if self.columns[name].dtype != object:
                continue
            codes, kinds = self.kinds(name)
            words = (*kinds,) if name in self.written.words else labels * (name == self.target)
            marks = [k for k in kinds if k.casefold() in MISSING and not (k and k in words)]
            rows = np.flatnonzero(np.isin(codes, [kinds.index(mark) for mark in marks]))
            holes += [(self.lines[row], name) for row in rows[:5]]
            total += len(rows)
            said = [mark for mark in marks if mark]
            if said and not any(map(self.looks_numeric, kinds)):
                hints += f"; where {said[0]!r} is a word, {self.set_words(name)}"
        if holes:
            shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(holes)[:5])
            more = f" and {total - 5} more" if total > 5 else ""
            raise ValueError(
                f"missing values: {shown}{more}; fill them or leave the rows out{hints}"
            )

    def looks_numeric(self, kind: str) -> bool:
        return bool(self.written.number(kind)) or nearly_number(kind) or is_date(kind)

    def feature(self, name: str) -> tuple[list[str], np.ndarray]:
        """Names and values (N, columns) that a column of the file becomes."""
        if self.columns[name].dtype != object:
            return [name], self.columns[name][:, None]
        codes, kinds = self.kinds(name)
        as_words = name in self.written.words
        if not as_words and all(numbers := [self.written.number(kind) for kind in kinds]):
            values = np.array([float(number) for number in numbers])
            for kind, value in zip(kinds, values, strict=True):
                if not abs(value) <= LARGEST:
                    place = self.place(name, kind)
                    raise ValueError(f"column {name!r}: {place} is no finite number")
            return [name], values[codes][:, None]
        if not as_words and any(map(self.looks_numeric, kinds)):
            self._refuse_mixture(name, kinds)
        if len(kinds) > MOST_WORDS:
            raise ValueError(
                f"column {name!r} has {len(kinds)} different words; allowed: up to {MOST_WORDS}, "
                "so leave it out or group them"
            )
        words = sorted(kinds)
        ranks = np.array([words.index(kind) for kind in kinds])[codes]
        return [f"{name}={word}" for word in words], np.eye(len(words))[ranks]

    def _refuse_mixture(self, name: str, kinds: list[str]) -> None:
        """Refuse a column that is neither all numbers nor all words, with what would read it."""
        odd = [kind for kind in kinds if not self.written.number(kind)]
        dates = [kind for kind in odd if is_date(kind)]
        nearly = [kind for kind in odd if nearly_number(kind)]
        words = [kind for kind in odd if kind not in dates and kind not in nearly]
        ways = self._other_notations(nearly[0]) if nearly and set(odd) == set(nearly) else []
        if ways:
            problem = f"{self.place(name, nearly[0])} is no number as read now"
        elif dates:
            problem = f"{self.place(name, dates[0])} is a date or a time"
            ways = ["write it as a number, such as days since some day", "leave the column out"]
        elif nearly:
            problem = f"{self.place(name, nearly[0])} is no number; allowed: 1234.5"
        else:
            problem = f"it holds numbers and words: {self.place(name, words[0])}"
            ways = ["fill it or leave the row out if it marks a missing value"]
        if words and nearly:
            problem += f", and {self.place(name, words[0])} is a word"
        if len(kinds) <= MOST_WORDS:
            ways.append(f"{self.set_words(name)} if all of the column are words")
        advice = "; " * bool(ways) + ", or ".join(ways)
        raise ValueError(f"column {name!r}: {problem}{advice}")

    def _other_notations(self, example: str) -> list[str]:
        """Options under which every number of the file can be read."""
        columns = read_cells(self.path, self.written, self.names, self.header, self.names)
        numbers = [name for name in self.features if name not in self.written.words]
        ways = []
        for decimal, thousands in notations(pd.unique(columns[name]) for name in numbers):
            new = {"decimal": decimal, "thousands": thousands}
            changed = [key for key in new if new[key] != getattr(self.written, key)]
            way = " and ".join(f"set {key} to {new[key] or NOTHING}" for key in changed)
            ways.append(f"{way} (it is then {plain_number(example, decimal, thousands)})")
        return ways
