"""Space of protocols: every choice that the paper leaves open, with values that a reader tries.

What the paper states stays fixed: a stratified 60/20/20 split, hidden layers of 128 units, Adam
with 10⁻³, patience 20, α = σ = 1. Forms of single losses are no part of a protocol, since each
touches its own cells alone; nor is the center at even K, which is a matter of the metric.
"""

import math
from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from companion.train.settings import StudySettings

PER_RUN = -1  # a split of its own for each run, drawn with the run's seed
WHOLE = 4096  # more than any training part has: one step per epoch

SPACE: dict[str, tuple] = {
    "batch_size": (32, 64, 128, 256, WHOLE),
    "layers": (1, 2, 3),
    "monitor": ("loss", "QWK"),
    "restore": (True, False),
    "epochs": (50, 100, 200, 500),
    "split_order": ("test first", "halves"),
    "split_seed": (0, 1, 7, 42, 123, 2024, PER_RUN),
    "standardize_on": ("training", "all"),
    "weight_decay": (0.0, 1e-5, 1e-4, 1e-3),
    "dropout": (0.0, 0.1, 0.2, 0.5),
}
RANDOM = 420  # least common multiple of the numbers of values
CELLS = {  # data set -> methods whose cells the paper prints
    "Wine Red": ("CE", "OLL", "SORD", "AMOL"),
    "Wine White": ("CE", "OLL", "SORD", "AMOL", "AMOL-asym"),
    "Abalone": ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE"),
}


_DEFAULTS = [getattr(StudySettings, name) for name in SPACE]


class CandidateProtocol(namedtuple("_Answers", SPACE, defaults=_DEFAULTS)):
    """One answer to every open choice: a value of each field of `SPACE`, by default the book's."""

    def settings(self, dataset: str, methods: Sequence[str], seeds: int) -> list[StudySettings]:
        """What to run for some cells with seeds 0 … ``seeds`` − 1."""
        values = self._asdict()
        if self.split_seed != PER_RUN:
            return [StudySettings(dataset, tuple(methods), seeds, **values)]
        return [
            StudySettings(dataset, tuple(methods), (seed,), **values | {"split_seed": seed})
            for seed in range(seeds)
        ]

    def neighbors(self) -> list["CandidateProtocol"]:
        """All protocols that differ in one choice."""
        return [
            self._replace(**{name: value})
            for name, values in SPACE.items()
            for value in values
            if value != getattr(self, name)
        ]

    def __str__(self) -> str:
        return ", ".join(describe(*pair) for pair in self._asdict().items())


def describe(name: str, value) -> str:
    """One answer in a few words."""
    if name == "batch_size":
        return "whole batch" if value == WHOLE else f"batch {value}"
    if name == "layers":
        return f"{value} layer{'s' * (value > 1)}"
    if name == "restore":
        return "best weights" if value else "last weights"
    if name == "split_seed":
        return "a split per run" if value == PER_RUN else f"split {value}"
    form = {
        "monitor": "stops on {}",
        "epochs": "≤ {} epochs",
        "split_order": "{}",
        "standardize_on": "scaled on {}",
        "weight_decay": "decay {:g}",
        "dropout": "dropout {:g}",
    }[name]
    return form.format(value)


def space_size() -> int:
    """How many protocols the space has."""
    return math.prod(map(len, SPACE.values()))


def random_protocols(count: int = RANDOM, seed: int = 0) -> list[CandidateProtocol]:
    """Random protocols in which every value of a choice is equally frequent.

    Each choice's values are repeated to ``count`` and shuffled on their own (a Latin hypercube on
    the choices).
    """
    rng = np.random.default_rng(seed)
    columns = {
        name: [values[place % len(values)] for place in rng.permutation(count)]
        for name, values in SPACE.items()
    }
    return [CandidateProtocol(*row) for row in zip(*columns.values(), strict=True)]
