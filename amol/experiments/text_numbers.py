"""Numbers as people write them: decimal commas, thousands separators, Unicode minus and spaces."""

import re
from collections.abc import Iterable
from functools import cache

DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", "'", "space")
MINUS = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
SPACES = "\u00a0\u2007\u2009\u202f"  # no-break, figure, thin, narrow no-break
PLAIN = str.maketrans(dict.fromkeys(MINUS, "-") | dict.fromkeys(SPACES, " ") | {"’": "'"})
UNIT = "[%€$£¥°]"
NEARLY_NUMBER = re.compile(rf"{UNIT}? ?[+-]? ?[.,]?\d[\d.,' ]*{UNIT}?")
DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}([T ].*)?|\d{1,2}([-/.])\d{1,2}\3(\d{2}|\d{4})( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[ap]m)?|\d{1,2}[. -]+[a-z]{3,9}\.?[ ,-]+\d{2,4}"
    r"|[a-z]{3,9}\.? \d{1,2}, ?\d{4}",
    re.IGNORECASE,
)


@cache
def _grammar(decimal: str, thousands: str) -> re.Pattern:
    point, mark = re.escape(decimal), re.escape(" " if thousands == "space" else thousands)
    whole = rf"(?:\d{{1,3}}(?:{mark}\d{{3}})+|\d+)" if thousands else r"\d+"
    return re.compile(
        rf"([+-]?) ?((?:{whole}(?:{point}\d*)?|{point}\d+)(?:e[+-]?\d+)?|inf(?:inity)?)", re.I
    )


def plain_number(text: str, decimal: str = ".", thousands: str = "") -> str | None:
    """A number as `float` and `Decimal` read it, or None for a word.

    Parameters
    ----------
    text : str
    decimal : {".", ","}
    thousands : {"", ",", ".", "'", "space"}
        Stands between groups of three digits, or nowhere; "space" is any kind of space.

    Examples
    --------
    >>> plain_number("−1.234,5", ",", ".")
    '-1234.5'
    >>> plain_number("12,34", ".", ",")
    """
    found = _grammar(decimal, thousands).fullmatch(text.translate(PLAIN).strip())
    if not found:
        return None
    digits = (
        found[2].replace(" " if thousands == "space" else thousands, "") if thousands else found[2]
    )
    return found[1] + digits.replace(decimal, ".")


def nearly_number(text: str) -> bool:
    """Whether a cell is a number in some notation, with or without a unit's sign."""
    return bool(NEARLY_NUMBER.fullmatch(text.translate(PLAIN).strip()))


def is_date(text: str) -> bool:
    """Whether a cell is a date or a time of day."""
    return bool(DATE.fullmatch(text.strip()))


def notations(columns: Iterable[Iterable[str]]) -> list[tuple[str, str]]:
    """Pairs (decimal, thousands) in which every number of every column can be read.

    Parameters
    ----------
    columns : iterable of iterable of str
        The different cells of each column; those that are no number in any notation don't count.

    Returns
    -------
    list of tuple
        None of them with a thousands separator that another one does without.
    """
    texts = [
        text for column in columns for text in column if nearly_number(text) or plain_number(text)
    ]
    readable = []
    for thousands in THOUSANDS:
        for decimal in DECIMALS:
            if decimal == thousands or (decimal, "") in readable:
                continue
            if all(plain_number(text, decimal, thousands) for text in texts):
                readable.append((decimal, thousands))
    return readable
