"""A classifier's answers in a CSV file: true and predicted labels, and probabilities if there are.

What would spoil an audit is refused with the file, the line, the column and what is allowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from amol.metrics.inputs import TOLERANCE
from companion.data.csv_table import CLASSES, Format, plain_number, read_columns
from companion.data.csv_text import SEPARATORS, Text
from companion.errors import did_you_mean, listing

ROUNDED = 0.005  # half of the last digit of a probability of two
MOST_ROWS = 2**21 - 1  # the audit's random numbers are then the same in a browser


@dataclass
class Predictions:
    """What a classifier answered.

    Attributes
    ----------
    y_true, y_pred : ndarray of int, shape (N,)
        Ranks on the scale of ``labels``.
    labels : tuple of str
        From lowest to highest.
    probabilities : ndarray, shape (N, K), optional
    assumed : bool
        Whether ``labels`` are the whole numbers of the file rather than what its reader said.
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    labels: tuple[str, ...]
    probabilities: np.ndarray | None
    assumed: bool


def read_predictions(
    path: Path,
    true: str = "true",
    predicted: str = "predicted",
    labels: Sequence[str] = (),
    prefix: str = "p_",
) -> Predictions:
    """Read a file of predictions; what separates its cells is found out.

    Parameters
    ----------
    path : Path
    true, predicted : str
        Columns of the labels.
    labels : sequence of str
        From lowest to highest. Without them the labels must be whole numbers without a gap.
    prefix : str
        A probability's column is called by it and the label. There is one per label, or none.

    Returns
    -------
    Predictions

    Raises
    ------
    ValueError
        Names the file, the line, the column and what is allowed.
    OSError
    """
    try:
        return _read(path, true, predicted, tuple(str(label).strip() for label in labels), prefix)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _read(
    path: Path, true: str, predicted: str, order: tuple[str, ...], prefix: str
) -> Predictions:
    text = Text(path)
    sep = next((sep for sep in SEPARATORS if true in text.first_row(sep)), ",")
    names = text.first_row(sep)
    for name in (true, predicted):
        if names.count(name) != 1:
            hint = did_you_mean(name, names)
            times = f"{names.count(name)} columns" if name in names else "no column"
            raise ValueError(f"line 1: {times} {name!r}; {hint}allowed: {', '.join(names)}")
    answers = true, predicted
    shares = [name for name in names if name.startswith(prefix) and name not in answers]
    columns = read_columns(text, Format(sep=sep), names, True, names)
    lines = text.lines(sep, len(columns[true]))
    cells = {name: [cell.strip() for cell in columns[name]] for name in (*answers, *shares)}
    if not 0 < len(cells[true]) <= MOST_ROWS:
        raise ValueError(f"it has {len(cells[true])} rows; allowed: 1 to {MOST_ROWS}")
    known = _scale(cells, answers, order, lines)
    y_true, y_pred = (_ranks(cells[name], name, known, lines) for name in answers)
    shown = order or tuple(map(str, known))
    wanted = [prefix + label for label in shown]
    probabilities = _probabilities(cells, wanted, shares, lines)
    return Predictions(y_true, y_pred, shown, probabilities, not order)


def _scale(
    cells: dict, names: Sequence[str], order: tuple[str, ...], lines: Sequence[int]
) -> list[int | str]:
    """Labels from lowest to highest, as `Format.label` reads them."""
    label = Format().label
    known = [label(text) for text in order]
    if not order:
        texts = {text: name for name in names for text in cells[name]}
        for text, name in texts.items():
            if isinstance(label(text), str):
                raise ValueError(
                    f"line {lines[cells[name].index(text)]}, column {name!r}: {text!r} is no whole "
                    "number; allowed: whole numbers, or what --labels names, lowest first "
                    f"(the file has {listing(sorted(texts)[:20])})"
                )
        known = sorted({label(text) for text in texts})
        for low, high in pairwise(known):
            if high > low + 1:
                raise ValueError(
                    f"no label lies between {low} and {high}, and errors count steps; "
                    "name all labels of the scale, lowest first, with --labels"
                )
    if len(set(known)) < len(known) or len(known) not in CLASSES:
        raise ValueError(
            f"the labels are {listing(tuple(map(str, known)))}; allowed: {CLASSES[0]} to "
            f"{CLASSES[-1]} different ones; --labels names those that the file lacks"
        )
    return known


def _ranks(cells: Sequence[str], name: str, known: list, lines: Sequence[int]) -> np.ndarray:
    label = Format().label
    ranks = {text: known.index(label(text)) for text in set(cells) if label(text) in known}
    for line, text in zip(lines, cells, strict=True):
        if text not in ranks:
            allowed = listing(tuple(map(str, known)))
            raise ValueError(
                f"line {line}, column {name!r}: {text!r} is no label; allowed: {allowed}"
            )
    return np.array([ranks[text] for text in cells])


def _probabilities(
    cells: dict, wanted: list[str], there: list[str], lines: Sequence[int]
) -> np.ndarray | None:
    """Probabilities (N, K), whose rows sum to 1; in the file they may be rounded to two digits."""
    if not there:
        return None
    if set(wanted) != set(there):
        odd = sorted(set(wanted) ^ set(there))[0]
        what = "no column" if odd in wanted else "there is a column"
        raise ValueError(f"line 1: {what} {odd!r}; allowed: none of these or {', '.join(wanted)}")
    table = np.empty((len(cells[wanted[0]]), len(wanted)))
    for column, name in enumerate(wanted):
        for row, text in enumerate(cells[name]):
            number = float(plain_number(text) or plain_number(text, ",") or "nan")
            if not 0 <= number <= 1:
                raise ValueError(
                    f"line {lines[row]}, column {name!r}: {text!r} is no probability; "
                    "allowed: numbers from 0 to 1"
                )
            table[row, column] = number
    sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    for row in np.flatnonzero(off > max(TOLERANCE, ROUNDED * len(wanted)) + 1e-9)[:1]:
        raise ValueError(
            f"line {lines[row]}, columns {wanted[0]!r} to {wanted[-1]!r}: they sum to "
            f"{sums[row]:.3f}; allowed: 1, rounded to two digits or more"
        )
    return table / sums[:, None]
