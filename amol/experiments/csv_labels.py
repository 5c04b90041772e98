"""Ordered labels of a user's table: what rank each has, and what can't be a class."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np

from amol.experiments.csv_table import listing
from amol.experiments.dataset import merge_rare_classes

ENOUGH = 5  # rows of a class, so that training, validation and test part each get one
CLASSES = range(3, 257)  # a center has a class on either side


def _whole(number: str | None) -> int | None:
    """A number as text without a detour through float; None if it isn't whole."""
    try:
        value = Decimal(number or "nan")
        whole = value.is_finite() and value.adjusted() < 30 and value == value.to_integral_value()
    except ArithmeticError:
        return None
    return int(value) if whole else None


def label_ranks(table, order: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Ranks (N,) of a table's labels and the label of each rank.

    Without ``order`` the labels must be whole numbers without a gap.
    """
    codes, kinds = table.kinds(table.target)
    wholes = [_whole(table.written.number(kind)) for kind in kinds]
    if order:
        return _declared(table, order, wholes)
    odd = [kind for kind, whole in zip(kinds, wholes, strict=True) if whole is None]
    _refuse_number_of_classes(len(kinds) if odd else len(set(wholes)), kinds)
    if odd:
        numbers = [table.written.number(kind) for kind in kinds]
        if all(numbers):
            known = sorted(kinds, key=lambda kind: float(numbers[kinds.index(kind)]))
            hint = f"if they are ordered classes, set order to {listing(known)}"
        else:
            hint = f"set order to the labels, lowest first; found: {listing(sorted(kinds))}"
        place = table.place(table.target, odd[0])
        raise ValueError(f"label {place} is no whole number; {hint}")
    found = sorted(set(wholes))
    gaps = [b for a, b in pairwise(found) if b > a + 1]
    if gaps:
        raise ValueError(
            f"there is a gap below label {gaps[0]}, and losses count steps; where each label is "
            f"one step from the next, set order to {listing([str(label) for label in found])}"
        )
    rank = np.array([found.index(whole) for whole in wholes])
    return rank[codes], tuple(map(str, found))


def _declared(table, order: tuple[str, ...], wholes: list[int | None]):
    """Ranks in a declared order: by text or, as 1 and 1.0 are one label, by whole number."""
    codes, kinds = table.kinds(table.target)
    if len(set(order)) < len(order):
        raise ValueError(f"order names a label twice: {listing(order)}")
    rank = {label: k for k, label in enumerate(order)}
    if not set(kinds) <= set(order):
        known = [_whole(table.written.number(label)) for label in order]
        by_value = {whole: k for k, whole in enumerate(known) if whole is not None}
        if len(by_value) == len(order) - known.count(None):
            values = zip(kinds, wholes, strict=True)
            rank = {kind: by_value[whole] for kind, whole in values if whole in by_value} | rank
    unknown = [kind for kind in kinds if kind not in rank]
    if unknown:
        place = table.place(table.target, unknown[0])
        raise ValueError(f"label {place} is not in order: {listing(order)}")
    _refuse_number_of_classes(len(order), order)
    return np.array([rank[kind] for kind in kinds])[codes], order


def _refuse_number_of_classes(number: int, labels: Sequence[str]) -> None:
    if number not in CLASSES:
        found = f"only {labels[0]!r}" if len(labels) == 1 else f"{number} different ones"
        raise ValueError(f"the labels are {found}; allowed: {CLASSES[0]} to {CLASSES[-1]} classes")


def refuse_rare(y: np.ndarray, class_names: Sequence[str]) -> None:
    """Refuse classes of fewer than `ENOUGH` rows, with an offer to join them to neighbors."""
    counts = np.bincount(y, minlength=len(class_names))
    few = [f"{class_names[k]!r} has {counts[k]}" for k in np.flatnonzero(counts < ENOUGH)]
    if not few and len(class_names) in CLASSES:
        return
    if not few:
        raise ValueError(
            f"merging rare classes leaves {len(class_names)}: {listing(class_names)}; "
            f"allowed: at least {CLASSES[0]}, so set merge_rare to a smaller number"
        )
    _, merged = merge_rare_classes(y, class_names, ENOUGH)
    joined = [name for name in merged if name not in class_names]
    offer = (
        f" or set merge_rare to {ENOUGH}: it joins neighbors to {listing(joined)}, losses then "
        f"count steps on a scale of {len(merged)} instead of {len(class_names)} classes, "
        f"and its center is {_center(merged)} instead of {_center(class_names)}"
    )
    raise ValueError(
        f"too few rows of a class for the 60/20/20 split: {', '.join(few[:20])}; each needs "
        f"{ENOUGH}: add rows, leave the class out" + offer * (len(merged) in CLASSES)
    )


def _center(class_names: Sequence[str]) -> str:
    low, high = class_names[(len(class_names) - 1) // 2], class_names[len(class_names) // 2]
    return repr(low) if low == high else f"between {low!r} and {high!r}"
