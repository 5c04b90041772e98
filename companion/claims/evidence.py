"""Evidence that rules weigh: means and spreads of runs, or of the paper, and one yardstick.

Two means are *clearly* apart if they differ by more than two standard errors of their difference,
2·sqrt(s₁²/n₁ + s₂²/n₂), after what rounding in print may account for. The same yardstick serves
numbers and claims. One comparison in twenty or so is clear by chance where nothing differs (with
five seeds nearer to one in twelve), and rules with many comparisons make many.
"""

from functools import cache
from math import hypot, isnan, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from amol.metrics import HIGHER_IS_BETTER, METRICS, PROBABILITY_METRICS
from companion.data.dataset import divide
from companion.paper.published import PAPER_SEEDS
from companion.train.runs import named_dataset

# of `companion.claims.tails`: what is seen, what a calibrated belief asks for, and the difference
BEYOND = ("hedging", "center", "tail")
TAIL_METRICS = (
    "entropy", "near_center", "center_lead",
    *(f"{what}_{part}" for what in BEYOND for part in ("seen", "asked", "error", "excess")),
)  # fmt: skip


class CannotTest(Exception):
    """A cell or a split that the rule needs is missing."""


class Cell(NamedTuple):
    """Mean and std (NaN for a single run) of one metric over n seeds; n = 0 for a constant.

    ``rounding`` is half a unit of the last printed decimal, 0 for runs.
    """

    mean: float
    std: float = 0.0
    n: int = 0
    rounding: float = 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.std / sqrt(self.n) if self.n else 0.0


ZERO = Cell(0.0)


def apart(a: Cell, b: Cell) -> float:
    """|a − b| beyond rounding, in standard errors of the difference; NaN where one is unknown."""
    error = hypot(a.error, b.error)
    gap = max(0.0, abs(a.mean - b.mean) - a.rounding - b.rounding)
    if isnan(error):
        return error
    return gap / error if error else (np.inf if gap else 0.0)


def level(a: Cell, b: Cell = ZERO) -> int:
    """2 where a's mean is clearly above b's, 1 above, 0 equal, −1 below, −2 clearly below."""
    sign = int(np.sign(a.mean - b.mean))
    return sign * (2 if apart(a, b) > 2 else 1)


def near(a: Cell, b: Cell) -> bool:
    """Whether two means are not clearly apart."""
    distance = apart(a, b)
    if isnan(distance):
        raise CannotTest("single runs tell no spread, and so nothing of nearness")
    return distance <= 2


@cache
def _test_counts(dataset: str, split_seed: int) -> np.ndarray:
    data = named_dataset(dataset)
    test = divide(data, split_seed)[2]
    return np.bincount(data.y[test], minlength=data.num_classes)


class Evidence:
    """Cells by (dataset, method, metric), and split seeds by data set (none for the paper)."""

    def __init__(self, cells: dict, split_seeds: dict | None = None, least_seeds: int = 2):
        self.cells = cells
        self.split_seeds = split_seeds or {}
        self.least_seeds = least_seeds

    def cell(self, dataset: str, method: str, metric: str) -> Cell:
        """One cell; `CannotTest` where it is missing or has too few seeds."""
        cell = self.cells.get((dataset, method, metric))
        if cell is None or isnan(cell.mean):
            raise CannotTest(f"no {metric} of {method} on {dataset}")
        if cell.n < self.least_seeds:
            raise CannotTest(f"{metric} of {method} on {dataset} has no std: it takes two seeds")
        return cell

    def gain(self, dataset: str, metric: str, method: str, base: str) -> tuple[int, float]:
        """`level` of ``method``'s improvement over ``base``, and the difference of the means."""
        a, b = self.cell(dataset, method, metric), self.cell(dataset, base, metric)
        sign = 1 if HIGHER_IS_BETTER[metric] else -1
        return sign * level(a, b), a.mean - b.mean

    def test_counts(self, dataset: str) -> np.ndarray:
        """Samples of each class in the test part that the runs share, shape (K,)."""
        if dataset not in self.split_seeds:
            raise CannotTest(f"no run on {dataset}")
        return _test_counts(dataset, self.split_seeds[dataset])

    def center_share(self, dataset: str) -> float:
        """The center class's share of the test part."""
        counts = self.test_counts(dataset)
        return float(counts[(len(counts) - 1) // 2] / counts.sum())


def evidence_of_runs(runs: pd.DataFrame, least_seeds: int = 2) -> Evidence:
    """Mean, std (ddof 1) and number of seeds of each cell; a failed run (NaN) counts for none."""
    known = [*METRICS, *PROBABILITY_METRICS, *TAIL_METRICS]
    metrics = [name for name in known if name in runs]
    long = runs.melt(["dataset", "method"], metrics, "metric")
    found = long.groupby(["dataset", "method", "metric"])["value"].agg(["mean", "std", "count"])
    cells = {key: Cell(*row) for key, row in zip(found.index, found.to_numpy(), strict=True)}
    return Evidence(cells, runs.groupby("dataset")["split_seed"].first().to_dict(), least_seeds)


def printed_cell(mean: float, std: float, digits: int) -> Cell:
    """A printed number; its std counts for at least half a unit of the last decimal."""
    floor = 0.5 * 10.0**-digits
    return Cell(mean, floor if isnan(std) else max(std, floor), PAPER_SEEDS, floor)


def evidence_of_paper(numbers: pd.DataFrame) -> Evidence:
    """The printed numbers."""
    keys = zip(numbers["dataset"], numbers["method"], numbers["metric"], strict=True)
    values = zip(numbers["mean"], numbers["std"], numbers["digits"], strict=True)
    return Evidence({k: printed_cell(*v) for k, v in zip(keys, values, strict=True)})
