"""Interval arithmetic (`mpmath.iv`): numbers held for sure, and roots enclosed in a box."""

from collections.abc import Callable
from contextlib import contextmanager
from fractions import Fraction

from mpmath import iv, mp

DIGITS = 40


class Undecided(ArithmeticError):
    """Intervals overlap, or no root could be enclosed."""


@contextmanager
def digits(number: int = DIGITS):
    """Intervals and numbers of so many digits."""
    before = iv.dps, mp.dps
    iv.dps = mp.dps = number
    try:
        yield
    finally:
        iv.dps, mp.dps = before


def interval(x):
    """A fraction as an interval; an interval as it is."""
    return iv.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else iv.mpf(x)


def enclosed(F: Callable, J: Callable, start: list) -> list:
    """An interval around each entry of a root of F near `start`, which has no other there.

    F takes n numbers or intervals and returns n; J the (n, n) derivatives. Newton's method finds
    the root; then the box X about it is mapped into itself by m − Y F(m) + (1 − Y J(X)) (X − m).

    Raises
    ------
    Undecided
        The box isn't mapped into itself.
    """
    point = mp.matrix(start)
    for _ in range(60):
        point = point - mp.lu_solve(mp.matrix(J(list(point))), mp.matrix(F(list(point))))
    n, radius = len(start), mp.mpf(10) ** (10 - DIGITS)
    inverse = mp.matrix(J(list(point))) ** -1
    box = [iv.mpf([v - radius, v + radius]) for v in point]
    values, slopes = F([iv.mpf(v) for v in point]), J(box)
    found = []
    for i in range(n):
        moved = iv.mpf(point[i]) - sum(iv.mpf(inverse[i, j]) * values[j] for j in range(n))
        for j in range(n):
            entry = (i == j) - sum(iv.mpf(inverse[i, k]) * slopes[k][j] for k in range(n))
            moved += entry * (box[j] - point[j])
        if not (moved.a > box[i].a and moved.b < box[i].b):
            raise Undecided(f"no root enclosed about {point.T}")
        found.append(moved)
    return found


def nonsingular(table: list[list]) -> bool:
    """Whether a matrix of intervals is invertible for sure: I − Y A has all row sums below 1."""
    n = len(table)
    try:
        inverse = mp.matrix([[mp.mpf(v.mid) for v in row] for row in table]) ** -1
    except ZeroDivisionError:
        return False
    for i in range(n):
        row = [(i == j) - sum(iv.mpf(inverse[i, k]) * table[k][j] for k in range(n))
               for j in range(n)]  # fmt: skip
        if not sum(abs(v) for v in row).b < 1:
            return False
    return True
