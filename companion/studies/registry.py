"""All recorded studies by name: each can be recorded, and a sample of it made again.

A new one is a function that returns its grid in `grids.GRIDS`, or a module with a `TaskStudy`, and
an entry here. It names its own data sets and methods, so nothing that joins a registry later
changes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from companion.studies import (
    classifiers,
    fair_fight,
    grids,
    grouped_splits,
    hundred_sets,
    known_beliefs,
    protocol_search,
    remedies,
    rivals,
)
from companion.studies.recording_checks import Comparison
from companion.studies.task_study import TaskStudy


@dataclass(frozen=True)
class Study:
    """How a study is recorded, ``record(workers=…, address=…)``, and how `amol check` checks it."""

    record: Callable[..., pd.DataFrame]
    check: Callable[[], Comparison]


def _grid(name: str) -> Study:
    whole = name in grids.TRAINED_BY_BUILD
    check = partial(grids.compare_whole, name) if whole else lambda: grids.verify(name, 2)[1]
    return Study(partial(grids.record, name, progress=True), check)


def _by_task(study: TaskStudy, tasks: int) -> Study:
    return Study(study.record, lambda: study.verify(tasks)[1])


STUDIES: dict[str, Study] = {
    **{name: _grid(name) for name in grids.GRIDS},
    protocol_search.NAME: Study(protocol_search.record, lambda: protocol_search.verify(2)[1]),
    classifiers.NAME: Study(classifiers.STUDY.record, lambda: classifiers.verify(1)[1]),
    fair_fight.STUDY.name: _by_task(fair_fight.STUDY, 1),
    grouped_splits.STUDY.name: _by_task(grouped_splits.STUDY, 2),
    hundred_sets.STUDY.name: Study(hundred_sets.STUDY.record, lambda: hundred_sets.verify(2)[1]),
    known_beliefs.STUDY.name: _by_task(known_beliefs.STUDY, 2),
    remedies.STUDY.name: _by_task(remedies.STUDY, 2),
    rivals.STUDY.name: Study(rivals.STUDY.record, lambda: rivals.verify(1)[1]),
}


def study_of(name: str) -> Study:
    """A study by its name."""
    if name not in STUDIES:
        raise ValueError(f"unknown recording {name!r}; allowed: {', '.join(STUDIES)}")
    return STUDIES[name]


def differences() -> list[Comparison]:
    """Comparisons of all recordings with runs of this machine that have something to report.

    What every build trains is compared whole, of each long study a sample.
    """
    return [found for each in STUDIES.values() if not (found := each.check()).holds]
