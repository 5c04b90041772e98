"""Columns of a CSV file: how it is opened, split into cells, and where each row stands.

pandas reads the cells. Python's own `csv` reads the header and, where something is wrong or lines
and rows don't run in step, the whole file again to find the line.
"""

import codecs
import csv
import gzip
import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from amol.experiments.dataset import LARGEST
from amol.experiments.text_numbers import DECIMALS, THOUSANDS, plain_number

SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|", "space": r"\s+"}


@dataclass(frozen=True)
class Format:
    """How a file is written, and which of its columns hold words.

    Parameters
    ----------
    sep : {",", ";", "tab", "|", "space"}
        What separates cells; "space" stands for any number of blanks and tabs.
    decimal : {".", ","}
    thousands : {"", ",", ".", "'", "space"}
        What stands between groups of three digits.
    words : sequence of str
        Columns whose cells are words even where they look like numbers or like "NA".
    header : bool, optional
        Whether the first row holds the names of the columns. Without it they are called 1, 2, …
        Where this isn't said, the first row must hold no number, and is the header.
    merge_rare : int
        Classes of fewer rows join a neighbor; see `amol.experiments.datasets.merge_rare_classes`.
    """

    sep: str = ","
    decimal: str = "."
    thousands: str = ""
    words: Sequence[str] = ()
    header: bool | None = None
    merge_rare: int = 0

    def __post_init__(self):
        alias = {"\t": "tab", "\\t": "tab", " ": "space"}
        words = [self.words] if isinstance(self.words, str) else self.words
        try:
            words = tuple(str(name) for name in words)
        except TypeError:
            raise ValueError(f"words is {words!r}; allowed: names of columns") from None
        checked = {
            "sep": alias.get(self.sep, self.sep),
            "thousands": alias.get(self.thousands, self.thousands),
            "words": words,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        thousands = [mark for mark in THOUSANDS if mark != self.decimal]
        for name, allowed in {
            "sep": tuple(SEPARATORS),
            "decimal": DECIMALS,
            "thousands": thousands,
            "header": (True, False, None),
        }.items():
            value = getattr(self, name)
            if value not in allowed or isinstance(value, int) != (value in (True, False)):
                raise ValueError(f"{name} is {value!r}; allowed: {', '.join(map(repr, allowed))}")
        rare = self.merge_rare
        if isinstance(rare, bool) or not isinstance(rare, int | np.integer) or rare < 0:
            raise ValueError(f"merge_rare is {rare!r}; allowed: a number of rows, or 0")

    def number(self, text: str) -> str | None:
        """A cell as Python writes numbers, or None."""
        return plain_number(text, self.decimal, self.thousands)


def listing(labels: Sequence[str]) -> str:
    """Labels as an option takes them: between commas, or as a list where that isn't clear."""
    plain = all(label and not set(label) & set(" ,;:[]\"'") for label in labels)
    return ",".join(labels) if plain else json.dumps(list(labels), ensure_ascii=False)


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """The file's bytes, unpacked if they begin as those of gzip or zip do."""
    with path.open("rb") as file:
        mark = file.read(4)
    try:
        if mark.startswith(b"\x1f\x8b"):
            with gzip.open(path) as file:
                yield file
        elif mark == b"PK\3\4":
            with zipfile.ZipFile(path) as archive:
                names = [name for name in archive.namelist() if not name.endswith("/")]
                if len(names) != 1:
                    raise ValueError(f"the archive holds {len(names)} files; allowed: one")
                with archive.open(names[0]) as file:
                    yield file
        else:
            with path.open("rb") as file:
                yield file
    except (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, RuntimeError) as error:
        raise ValueError(f"the file can't be unpacked: {error}") from None


@contextmanager
def _text(path: Path) -> Iterator[io.TextIOWrapper]:
    with _opened(path) as file:
        yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def count_lines(path: Path) -> int:
    """Number of lines that end in a line feed or at the file's end.

    Raises
    ------
    ValueError
        If the file is empty, no UTF-8, or holds a zero byte, at which other readers stop.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines, last, blank = 0, b"\n", True
    with _opened(path) as file:
        while chunk := file.read(1 << 20):
            try:
                text = decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line = lines + error.object.count(b"\n", 0, error.start) + 1
                byte = error.object[error.start]
                raise ValueError(
                    f"byte 0x{byte:02x} in line {line} is not UTF-8; save the file as UTF-8"
                ) from None
            if "\0" in text:
                line = lines + text[: text.index("\0")].count("\n") + 1
                raise ValueError(f"line {line} holds a zero byte, so this is no text file")
            blank = blank and not text.strip()
            lines, last = lines + chunk.count(b"\n"), chunk
    if blank:
        raise ValueError("the file is empty; wanted: a header and rows, separated by commas")
    return lines + (not last.endswith(b"\n"))


def _records(
    file: io.TextIOBase, sep: str, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Line (counted from 1) and stripped cells of each row that isn't blank."""
    # The format "space" lets any blanks separate; csv knows a single one.
    lines = (" ".join(line.split()) + "\n" for line in file) if sep == "space" else file
    mark = " " if sep == "space" else SEPARATORS[sep]
    reader = csv.reader(lines, delimiter=mark, strict=strict, skipinitialspace=True)
    before = 0
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if len(cells) > 1 or any(cells):
                yield before + 1, cells
            before = reader.line_num
    except csv.Error as error:
        raise ValueError(f"line {before + 1}: {error}") from None


def first_row(path: Path, sep: str) -> list[str]:
    """Cells of the first row."""
    with _text(path) as file:
        return next(_records(file, sep))[1]


def _refuse_ragged(path: Path, sep: str, width: int) -> None:
    with _text(path) as file:
        for line, cells in _records(file, sep, strict=True):
            if len(cells) != width:
                raise ValueError(f"line {line} has {len(cells)} cells; the first row has {width}")


def row_lines(path: Path, sep: str, header: bool, rows: int, lines: int) -> Sequence[int]:
    """Line in the file of each of ``rows`` rows; costs nothing unless cells hold line breaks."""
    first = 1 + header
    if lines == rows + header:
        return range(first, first + rows)
    with _text(path) as file:
        found = [line for line, _ in _records(file, sep)][header:]
    # A row that only one of the two readers takes for blank: lines are then near the right ones.
    return np.array(found) if len(found) == rows else range(first, first + rows)


def read_cells(
    path: Path, written: Format, names: Sequence[str], header: bool, texts: Collection[str]
) -> dict[str, np.ndarray]:
    """Columns by name: float64 where every cell is a finite number, else texts as written.

    Parameters
    ----------
    path : Path
    written : Format
    names : sequence of str
        One for each column.
    header : bool
        Whether the first row isn't data.
    texts : collection of str
        Columns to leave as they are written.

    Returns
    -------
    dict of str to ndarray, shape (N,), float64 or object

    Raises
    ------
    ValueError
        If rows have unequal numbers of cells; names the line.
    """

    def read(**options):
        with _text(path) as file:
            if header:
                next(_records(file, written.sep))
            return _pandas(file, written, len(names), **options)

    try:
        table = read(dtype={i: object for i, name in enumerate(names) if name in texts})
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        _refuse_ragged(path, written.sep, len(names))
        raise ValueError("the file can't be read as a table") from None
    columns = {name: _finite(table.pop(i)) for i, name in enumerate(names) if name not in texts}
    columns |= {names[i]: table[i].to_numpy() for i in table}
    again = [i for i, name in enumerate(names) if columns[name] is None]
    if again:
        table = read(usecols=again, dtype=object)
        columns |= {names[i]: table[i].to_numpy() for i in again}
    if any((columns[name] == "").any() for name in names if columns[name].dtype == object):
        _refuse_ragged(path, written.sep, len(names))  # pandas fills a short row with empty cells
    return {name: columns[name] for name in names}


def _pandas(file: io.TextIOBase, written: Format, width: int, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a longer row would lose cells
        return pd.read_csv(
            file,
            sep=SEPARATORS[written.sep],
            decimal=written.decimal,
            header=None,
            names=range(width),
            index_col=False,
            na_filter=False,
            skipinitialspace=True,
            **options,
        )


def _finite(column: pd.Series) -> np.ndarray | None:
    """The column as float64, or None if pandas found something else in it."""
    if column.dtype.kind not in "iuf":
        return None
    values = column.to_numpy(dtype=np.float64)
    return values if len(values) == 0 or np.abs(values).max() <= LARGEST else None


def when_read(path: Path, allowed: Callable[[list[str]], bool], sep: str) -> list[str]:
    """Other separators that split the first row into cells of which ``allowed`` holds."""
    found = {}
    for other in SEPARATORS:
        try:
            cells = first_row(path, other)
        except ValueError:
            continue
        if other != sep and len(cells) > 1 and allowed(cells):
            found[other] = len(cells)
    return sorted(found, key=found.get, reverse=True)
