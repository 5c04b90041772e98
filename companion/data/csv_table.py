"""How a CSV file is written, its columns, and numbers as people write them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from companion.data.csv_text import SEPARATORS, Text
from companion.data.dataset import LARGEST
from companion.errors import option

DECIMAL_MARKS = (".", ",")
CLASSES = range(3, 257)  # a center has a class on either side
THOUSANDS = ("", ",", ".", "'", "space")
MINUS = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
SPACES = "\u00a0\u2007\u2009\u202f"  # no-break, figure, thin, narrow no-break
PLAIN = str.maketrans(dict.fromkeys(MINUS, "-") | dict.fromkeys(SPACES, " ") | {"’": "'"})
DATE = re.compile(r"\d+([-/.])\d+\1\d.*|\d+:\d\d.*")
MONTH = re.compile(r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)


@dataclass
class Format:
    """How a file is written, and which of its columns hold words.

    Parameters
    ----------
    sep : {",", ";", "tab", "|", "space"}
        What separates cells; "space" stands for any number of blanks and tabs.
    decimal : {".", ","}
    thousands : {"", ",", ".", "'", "space"}
        What stands between groups of three digits.
    words : str or sequence of str
        Columns whose cells are words even where they look like numbers or like "NA".
    header : bool, optional
        Whether the first row holds the names of the columns. Without it they are called 1, 2, …
        Where this isn't said, the first row must hold no number, and is the header.
    merge_rare : int
        Classes of fewer rows join a neighbor; see `companion.data.dataset.merge_rare_classes`.
    """

    sep: str = ","
    decimal: str = "."
    thousands: str = ""
    words: Sequence[str] = ()
    header: bool | None = None
    merge_rare: int = 0

    def __post_init__(self):
        choices = {
            "sep": tuple(SEPARATORS),
            "decimal": DECIMAL_MARKS,
            "thousands": tuple(mark for mark in THOUSANDS if mark != self.decimal),
            "header": (True, False, None),
        }
        for name, allowed in choices.items():
            value, shown = getattr(self, name), [repr(choice) for choice in allowed]
            if repr(value) not in shown:  # as text, since 1 equals True
                raise ValueError(f"{name} is {value!r}; allowed: {', '.join(shown)}")
        if type(self.merge_rare) is not int or self.merge_rare < 0:
            raise ValueError(f"merge_rare is {self.merge_rare!r}; allowed: a number of rows, or 0")
        words = [self.words] if isinstance(self.words, str) else self.words
        if not isinstance(words, list | tuple):
            raise ValueError(f"words is {words!r}; allowed: names of columns")
        self.words = tuple(map(str, words))

    def advice(self, **new) -> str:
        """How the command at hand is told these options besides those that are set."""
        told = {f.name: getattr(self, f.name) for f in fields(self)} | new
        told |= {"words": list(told["words"])}
        defaults = {f.name: f.default for f in fields(self)} | {"words": []}
        differing = {name: v for name, v in told.items() if name in new or v != defaults[name]}
        return option("csv_options", differing)

    def number(self, text: str) -> str | None:
        """A cell as Python writes numbers, or None."""
        return plain_number(text, self.decimal, self.thousands)

    def label(self, text: str) -> int | str:
        """A whole number, without a detour through float, so that 1.0 is 1; or the text."""
        whole = re.fullmatch(r"([+-]?\d{1,30})(\.0*)?", self.number(text) or "")
        return int(whole[1]) if whole else text


def plain_number(text: str, decimal: str = ".", thousands: str = "") -> str | None:
    """A number as `float` reads it, or None for a word; parameters as in `Format`.

    Examples
    --------
    >>> plain_number("−1.234,5", ",", ".")
    '-1234.5'
    >>> plain_number("12,34", ".", ",")
    """
    mark = thousands.replace("space", " ")
    whole = rf"(?:\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+|\d+)"
    point = re.escape(decimal)
    number = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:e[+-]?\d+)?|inf(?:inity)?"
    found = re.fullmatch(rf"([+-]?) ?({number})", text.translate(PLAIN).strip(), re.IGNORECASE)
    return found and found[1] + found[2].replace(mark, "").replace(decimal, ".")


def nearly_number(text: str) -> bool:
    """Whether a cell is made of digits and signs: a number in some notation, a range, a date.

    >>> [nearly_number(text) for text in ("1,5E+03", "$6.13", "(5)", "2021-02-07", "5 km")]
    [True, True, True, True, False]
    """
    return bool(re.fullmatch(r"[\W\d_]*\d(e[+-]?\d+)?[\W\d_]*", text, re.IGNORECASE))


def without_signs(text: str) -> str:
    """A cell without the signs before its first digit and after its last one.

    >>> without_signs("$ 6.13")
    '6.13'
    """
    return re.sub(r"^[^\d.,]+|[^\d.,]+$", "", text)


def is_date(text: str) -> bool:
    """Whether a cell is a date or a time of day, in digits or with an English month."""
    worded = MONTH.search(text) and re.search(r"\d", text)
    return bool(DATE.fullmatch(text)) or (
        bool(worded) and not pd.isna(pd.to_datetime(text, errors="coerce"))
    )


def read_columns(
    text: Text, written: Format, names: Sequence[str], header: bool, texts: Iterable[str]
) -> dict[str, np.ndarray]:
    """Columns by name, each (N,): float64 where all cells are finite numbers, else texts.

    The columns ``texts`` are left as they are written; with a ``header`` the first row is no data.
    """
    options = {"decimal": written.decimal, "header": 0 if header else None}
    options["names"] = range(len(names))
    kept = {names.index(name): object for name in texts}
    table = text.frame(written.sep, dtype=kept, **options)
    mixed = [i for i in table if i not in kept and not _all_finite(table[i])]
    if mixed:  # once more as written, since pandas may have taken some of their cells for numbers
        table[mixed] = text.frame(written.sep, dtype=object, usecols=mixed, **options)
    columns = {name: table.pop(i).to_numpy() for i, name in enumerate(names)}
    return {
        name: column if column.dtype == object else column.astype(np.float64, copy=False)
        for name, column in columns.items()
    }


def _all_finite(column: pd.Series) -> bool:
    values = column.to_numpy()
    return values.dtype.kind in "iuf" and bool((np.abs(values) <= LARGEST).all())
