"""Verdicts: the words for what became of a number or claim, and how comparisons decide them.

A claim that makes several comparisons is *reproduced* if all of them are clearly for it and *not
reproduced* only if one is clearly against it. In between it is *direction only* if all are for it,
and else *undecided*.
"""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What became of a number or claim, from the best to the worst, and the one that is none."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction only"
    UNDECIDED = "undecided"
    REFUTED = "not reproduced"
    UNTESTED = "cannot be tested"


VERDICTS = tuple(verdict.value for verdict in Verdict)
HOLDS = (Verdict.REPRODUCED, Verdict.DIRECTION)


def verdict(*, clear: bool, partly: bool = False) -> Verdict:
    """Verdict of a claim without noise, which holds, holds in part or doesn't."""
    if clear:
        return Verdict.REPRODUCED
    return Verdict.DIRECTION if partly else Verdict.REFUTED


def weigh(levels: Iterable[int]) -> Verdict:
    """Verdict of comparisons: 2 clearly for the claim, 1 for it, 0 a tie, −1 and −2 against it."""
    levels = list(levels)
    if not levels:
        return Verdict.UNTESTED
    if min(levels) == -2:
        return Verdict.REFUTED
    if min(levels) < 1:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if min(levels) == 2 else Verdict.DIRECTION
