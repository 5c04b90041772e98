"""Words for names and differences, as the pages' sentences use them."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from companion.page.tables import DASH, HEADINGS, literal, quote, value


def listed(names: Iterable[str]) -> str:
    """Names as a sentence has them, ``A, B and C``; "none" for none."""
    *first, last = [literal(name) for name in names] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def on(names: Sequence[str]) -> str:
    """Where something is so: ``on A and B``, or ``nowhere``."""
    return f"on {listed(names)}" if names else "nowhere"


def change(difference: float, digits: int = 3) -> str:
    """A difference without a sign: ``0.004 lower``; ``no higher`` where it rounds to zero."""
    size = f"{abs(difference):.{digits}f}"
    return f"{size} {'higher' if difference > 0 else 'lower'}" if float(size) else "no higher"


def changes(differences: pd.Series, digits: int = 3) -> str:
    """Range of differences: ``0.004 to 0.062 lower`` or ``from 0.004 lower to 0.062 higher``.

    Parameters
    ----------
    differences : Series of float
        At least one.
    digits : int
    """
    low, high = differences.min(), differences.max()
    if len(differences) == 1 or not round(max(-low, high), digits):
        return change(low, digits)
    if low > 0 or high < 0:
        near, far = sorted((abs(low), abs(high)))
        return f"{near:.{digits}f} to {change(far if low > 0 else -far, digits)}"
    return f"from {change(low, digits)} to {change(high, digits)}"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign, ``+0.012`` or ``−0.012``."""
    return f"{value + 0.0:+.{digits}f}".replace("-", "−")


def quoted(
    summary: pd.DataFrame, dataset: str, metric: str, methods: Sequence[str], least: int = 1
) -> str:
    """What a metric is with some methods on a data set, the paper's in parentheses: a sentence.

    Parameters
    ----------
    summary : DataFrame
        From `companion.page.tables.summarize`.
    dataset, metric : str
    methods : sequence of str
        Those without a number are left out.
    least : int
        With fewer methods the sentence is empty.
    """
    ran = [name for name in methods if not np.isnan(value(summary, dataset, name, metric))]
    cells = []
    for name in ran:
        ours, paper = (quote(summary, dataset, name, metric, paper=p) for p in (False, True))
        cells.append(f"{ours} with {name}" + (f" (paper: {paper})" if paper != DASH else ""))
    return f"{HEADINGS.get(metric, metric)} is {listed(cells)}." if len(cells) >= least else ""
