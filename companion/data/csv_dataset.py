"""A user's own data set: a CSV file with a label column and features.

Numeric columns are taken as they are, columns of words become one column of 0 and 1 for each word.
What would spoil a study is refused here, with the file, the line, what is allowed and, where an
option reads it, that option as the command at hand takes it. Lines are those that an editor counts.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from companion.data.csv_table import (
    CLASSES,
    DECIMAL_MARKS,
    THOUSANDS,
    Format,
    is_date,
    nearly_number,
    plain_number,
    read_columns,
    without_signs,
)
from companion.data.csv_text import SEPARATORS, Text
from companion.data.dataset import LARGEST, Dataset, merge_rare_classes
from companion.errors import did_you_mean, listing, option
from companion.paths import ROOT

ENDINGS = re.compile(r"(\.(csv|tsv|txt|data)(\.gz|\.zip)?|\.gz|\.zip)$", re.IGNORECASE)
MOST_WORDS = 100  # different words in one column
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "?"}
ENOUGH = 5  # rows of a class, so that training, validation and test part each get one


def is_file(name: str | PathLike) -> bool:
    """Whether a data set's name is the path of a table in a file."""
    return isinstance(name, str | PathLike) and bool(ENDINGS.search(str(name)))


def file_stem(name: str) -> str:
    """A file's name without its endings."""
    return ENDINGS.sub("", name)


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
        characters; the line in the file of each row. Columns that are taken for words without
        being named as such are printed.

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
        ranks, labels = table.label_ranks(order)
        y, class_names = merge_rare_classes(ranks, labels, written.merge_rare)
        _refuse_rare(y, class_names, written)
        features = [table.feature(name) for name in table.features]
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    if words := table.taken_for_words:
        number = f"{len(words)} column{'s' * (len(words) > 1)} of words"
        print(f"{path.name}: {number}: {', '.join(words)}", flush=True)
    merged = [name for name in class_names if name not in labels]
    return Dataset(
        name=file_stem(path.name),
        X=np.hstack([values for _, values in features]),
        y=y,
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
    """Columns of a file, with what a message needs to name a cell.

    ``numbers`` holds float64 columns (N,) by name; ``texts`` the others, each as codes (N,) and
    the text that each code stands for, without blanks around it.
    """

    def __init__(self, path: Path, target: str, written: Format):
        self.text, self.target, self.written = Text(path), target, written
        first = self.text.first_row(written.sep)
        self._refuse_separator(first)
        self.header = written.header is not False
        self.names = first if self.header else [str(i) for i in range(1, len(first) + 1)]
        self._refuse_names(first)
        self.features = [name for name in self.names if name != target]
        self.numbers, self.texts, self.taken_for_words = {}, {}, []
        columns = read_columns(
            self.text, written, self.names, self.header, {target, *written.words}
        )
        for name, column in columns.items():
            if column.dtype == object:
                codes, cells = pd.factorize(column)
                stripped, kinds = pd.factorize(np.array([c.strip() for c in cells], dtype=object))
                self.texts[name] = stripped[codes], list(kinds)
            else:
                self.numbers[name] = column
        self.lines = self.text.lines(written.sep, len(columns[target]))
        if not self.lines:
            raise ValueError("there is no row under the header")

    def _refuse_separator(self, first: list[str]) -> None:
        """Refuse a first row that another separator splits better, and say which."""
        if self.target in first or (len(first) > 1 and not self.target):
            return
        if first[0].startswith("sep="):
            raise ValueError("line 1 is a mark of Excel's, no header; delete it")
        for sep in SEPARATORS:
            cells = self.text.first_row(sep)
            if self.target in cells or (len(cells) > len(first) == 1 and self.text.splits(sep)):
                raise ValueError(
                    f"its first row isn't separated by {self.written.sep!r}; "
                    f"use {self.written.advice(sep=sep)}"
                )

    def _refuse_names(self, first: list[str]) -> None:
        names, listed = self.names, ", ".join(self.names)
        number = next(filter(self.written.number, first), None)
        if self.written.header is None and number is not None:
            raise ValueError(
                f"the first row holds a number, {number!r}, where the columns should be named: "
                f"use {self.written.advice(header=False)} if it is data (columns are then called "
                f"1 to {len(first)}), or use {self.written.advice(header=True)} if it holds names"
            )
        for position, name in enumerate(names, start=1):
            if not name:
                raise ValueError(f"column {position} has no name; name it or leave it out")
            if (times := names.count(name)) > 1:
                raise ValueError(f"column {name!r} is named {times} times; allowed: once")
        if not self.target:
            example = option("target", names[-1])
            raise ValueError(f"no column of labels; name it, as by {example}; columns: {listed}")
        for name, what in {self.target: "", **dict.fromkeys(self.written.words, "words: ")}.items():
            if name not in names:
                hint = did_you_mean(name, names)
                raise ValueError(f"{what}no column {name!r}; {hint}columns: {listed}")
        if len(names) == 1:
            raise ValueError(f"{self.target!r} is the only column; wanted: at least one feature")

    def place(self, name: str, kind: str) -> str:
        """The first cell of a column that holds ``kind``, in words."""
        codes, kinds = self.texts[name]
        row = np.flatnonzero(codes == kinds.index(kind))[0]
        return f"{kind!r} in line {self.lines[row]}"

    def use_words(self, name: str) -> str:
        return f"use {self.written.advice(words=[*self.written.words, name])}"

    def looks_numeric(self, kind: str) -> bool:
        return bool(self.written.number(kind) or nearly_number(kind) or is_date(kind))

    def refuse_missing(self, labels: Sequence[str]) -> None:
        """Refuse cells that hold nothing, or a mark for it; ``labels`` are none of these."""
        holes, hints = [], ""
        for name, (codes, kinds) in self.texts.items():
            words = kinds if name in self.written.words else labels if name == self.target else ()
            marks = [k for k in kinds if k.casefold() in MISSING and not (k and k in words)]
            rows = np.flatnonzero(np.isin(codes, [kinds.index(mark) for mark in marks]))
            holes += [(self.lines[row], name) for row in rows[:6]]
            said = [mark for mark in marks if mark]
            if said and not any(map(self.looks_numeric, kinds)):
                hints += f"; where {said[0]!r} is a word, {self.use_words(name)}"
        if holes:
            shown = "; ".join(f"line {line}, column {name!r}" for line, name in sorted(holes)[:5])
            more = " and more" if len(holes) > 5 else ""
            raise ValueError(
                f"missing values: {shown}{more}; fill them or leave the rows out{hints}"
            )

    def label_ranks(self, order: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
        """Ranks (N,) of the labels and the label of each rank."""
        codes, kinds = self.texts[self.target]
        labels = [self.written.label(kind) for kind in kinds]
        known = [self.written.label(label) for label in order] or list(dict.fromkeys(labels))
        if len(set(known)) < len(known):
            raise ValueError(f"order names a label twice: {listing(order)}")
        if len(known) not in CLASSES:
            number = f"only {kinds[0]!r}" if len(known) == 1 else f"{len(known)} different ones"
            raise ValueError(
                f"the labels are {number}; allowed: {CLASSES[0]} to {CLASSES[-1]} classes"
            )
        if not order:
            self._refuse_no_scale(known)
            known.sort()
        unknown = [kind for kind, label in zip(kinds, labels, strict=True) if label not in known]
        if unknown:
            place = self.place(self.target, unknown[0])
            raise ValueError(f"label {place} is not in order: {listing(order)}")
        ranks = np.array([known.index(label) for label in labels])
        return ranks[codes], order or tuple(map(str, known))

    def _refuse_no_scale(self, labels: list[int | str]) -> None:
        """Refuse labels that are no whole numbers without a gap, and ask for their order."""
        odd = [label for label in labels if isinstance(label, str)]
        numbers = {str(label): self.written.number(str(label)) for label in labels}
        if odd:
            problem = f"label {self.place(self.target, odd[0])} is no whole number"
        elif gaps := [b for a, b in pairwise(sorted(labels)) if b > a + 1]:
            problem = f"there is a gap below label {gaps[0]}, and losses count steps"
        else:
            return
        if all(numbers.values()):
            ordered = sorted(numbers, key=lambda label: float(numbers[label]))
            hint = f"where each is one step above the last, use {option('order', ordered)}"
        else:
            found = option("order", sorted(numbers))
            hint = f"name them, lowest first, as in this order of their letters: use {found}"
        raise ValueError(f"{problem}; {hint}")

    def feature(self, name: str) -> tuple[list[str], np.ndarray]:
        """Names and values (N, columns) that a column of the file becomes."""
        if name in self.numbers:
            return [name], self.numbers[name][:, None]
        codes, kinds = self.texts[name]
        if name not in self.written.words:
            numbers = [self.written.number(kind) for kind in kinds]
            if all(numbers):
                values = np.array(numbers, dtype=np.float64)
                for row in np.flatnonzero(~(np.abs(values) <= LARGEST)):
                    place = self.place(name, kinds[row])
                    raise ValueError(f"column {name!r}: {place} is no finite number")
                return [name], values[codes][:, None]
            if any(map(self.looks_numeric, kinds)):
                self._refuse_mixture(name, kinds)
            self.taken_for_words.append(name)
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
        ways = self._other_notations(odd[0]) if all(map(nearly_number, odd)) else []
        problem = f"column {name!r}: {self.place(name, odd[0])} is no number"
        if ways:
            problem += " as read now"
        elif is_date(odd[0]):
            problem += "; write a date as the days since some day"
        elif all(nearly_number(k) and self.written.number(without_signs(k)) for k in odd):
            problem += f"; write it without signs, as {without_signs(odd[0])}"
        elif len(odd) < len(kinds):
            problem += ", as others are; allowed: 1234.5"
            ways = ["leave the row out if it marks a missing value"]
        if len(kinds) <= MOST_WORDS:
            ways.append(f"{self.use_words(name)} if all of the column are words")
        raise ValueError(f"{problem}; {', or '.join(ways)}" if ways else problem)

    def _other_notations(self, example: str) -> list[str]:
        """Options under which every number of the file can be read, the simplest alone."""
        columns = read_columns(self.text, self.written, self.names, self.header, self.names)
        numbers = [columns[name] for name in self.features if name not in self.written.words]
        texts = {text for column in numbers for text in pd.unique(column)}
        signs = [(m, d) for m, d in product(THOUSANDS, DECIMAL_MARKS) if m != d]
        texts = [t for t in texts if any(plain_number(t, d, m) for m, d in signs)]
        found = {}  # by decimal sign, since one without a thousands separator comes first
        for thousands, decimal in signs:
            readable = all(plain_number(text, decimal, thousands) for text in texts)
            if readable and plain_number(example, decimal, thousands):
                found.setdefault(decimal, thousands)
        ways = []
        for decimal, thousands in found.items():
            new = {"decimal": decimal, "thousands": thousands}
            told = {name: v for name, v in new.items() if v != vars(self.written)[name]}
            value = plain_number(example, decimal, thousands)
            ways.append(f"use {self.written.advice(**told)} (it is then {value})")
        return ways


def _refuse_rare(y: np.ndarray, class_names: Sequence[str], written: Format) -> None:
    """Refuse classes of fewer than `ENOUGH` rows, with an offer to join them to neighbors."""
    if len(class_names) not in CLASSES:
        raise ValueError(
            f"merging rare classes leaves {len(class_names)}: {listing(class_names)}; "
            f"allowed: at least {CLASSES[0]}, so give merge_rare a smaller number"
        )
    counts = np.bincount(y, minlength=len(class_names))
    few = [f"{name!r} has {n}" for name, n in zip(class_names, counts, strict=True) if n < ENOUGH]
    if not few:
        return
    _, merged = merge_rare_classes(y, class_names, ENOUGH)
    joined = [name for name in merged if name not in class_names]
    offer = (
        f" or use {written.advice(merge_rare=ENOUGH)}: it joins neighbors to "
        f"{listing(joined)}, losses then count steps on a scale of {len(merged)} instead of "
        f"{len(class_names)} classes, "
        f"and its center is {_center(merged)} instead of {_center(class_names)}"
    )
    raise ValueError(
        f"too few rows of a class for the 60/20/20 split: {', '.join(few[:20])}; each needs "
        f"{ENOUGH}: add rows, leave the class out" + offer * (len(merged) in CLASSES)
    )


def _center(class_names: Sequence[str]) -> str:
    low, high = class_names[(len(class_names) - 1) // 2], class_names[len(class_names) // 2]
    return repr(low) if low == high else f"between {low!r} and {high!r}"
