"""What counts as reproduced, for claims that compare means over seeds.

One function a claim; the same one judges our runs and, where the paper prints enough, the paper's
own numbers. The rules in words are in ``data/claims.toml``. `ranking` serves claims with pairs.
"""

from collections.abc import Callable, Iterable
from math import hypot, isnan, sqrt
from typing import NamedTuple

import numpy as np

from amol.experiments.datasets import load_dataset, split
from amol.metrics import HIGHER_IS_BETTER
from amol.paper.published import Claim, published

REPRODUCED = "reproduced"
DIRECTION = "direction only"
REFUTED = "not reproduced"
UNTESTED = "cannot be tested"
VERDICTS = (REPRODUCED, DIRECTION, REFUTED, UNTESTED)
PRINTED_ZERO = 0.0005  # below it three decimals show 0.000


class CannotTest(Exception):
    """A cell or a split that the rule needs is missing."""


class Cell(NamedTuple):
    """Mean and std of one metric over n seeds; n = 1 and std 0 for a known constant."""

    mean: float
    std: float = 0.0
    n: int = 1


class Evidence:
    """Cells by (dataset, method, metric), and split seeds by data set (none for the paper)."""

    def __init__(self, cells: dict, split_seeds: dict | None = None):
        self.cells = cells
        self.split_seeds = split_seeds or {}

    def cell(self, dataset: str, method: str, metric: str) -> Cell:
        cell = self.cells.get((dataset, method, metric))
        if cell is None or isnan(cell.mean):
            raise CannotTest(f"no {metric} of {method} on {dataset}")
        if cell.n < 2:
            raise CannotTest(f"{metric} of {method} on {dataset} has no std: it takes two seeds")
        return cell

    def test_counts(self, dataset: str) -> np.ndarray:
        """Samples of each class in the test part that the runs share."""
        if dataset not in self.split_seeds:
            raise CannotTest(f"no run on {dataset}")
        data = load_dataset(dataset)
        test = split(data.y, self.split_seeds[dataset])[2]
        return np.bincount(data.y[test], minlength=data.num_classes)

    def center_share(self, dataset: str) -> float:
        counts = self.test_counts(dataset)
        return counts[(len(counts) - 1) // 2] / counts.sum()

    def gain(self, dataset: str, metric: str, method: str, base: str) -> Cell:
        """Improvement of ``method`` over ``base``; its std is that of a difference."""
        a, b = self.cell(dataset, method, metric), self.cell(dataset, base, metric)
        sign = 1 if HIGHER_IS_BETTER[metric] else -1
        return Cell(sign * (a.mean - b.mean), hypot(a.std, b.std), min(a.n, b.n))


ZERO = Cell(0.0)


def above(a: Cell, b: Cell = ZERO) -> int:
    """2 where a's mean is above b's by more than two standard errors, 1 where above, else 0."""
    difference = a.mean - b.mean
    clear = difference > 2 * sqrt(a.std**2 / a.n + b.std**2 / b.n)
    return 2 if clear else int(difference > 0)


def near(a: Cell, b: Cell) -> bool:
    """Means no further apart than two combined standard deviations."""
    return abs(a.mean - b.mean) <= 2 * hypot(a.std, b.std)


def grade(*levels: int) -> str:
    """Verdict where everything has to hold: the weakest level, 2 to 0, decides."""
    return (REFUTED, DIRECTION, REPRODUCED)[min(levels)]


def share(flags: Iterable[bool], partly: Callable = any) -> str:
    """Verdict where a claim holds everywhere, in enough places (``partly``), or in too few."""
    flags = list(flags)
    return REPRODUCED if all(flags) else DIRECTION if partly(flags) else REFUTED


def most(flags: list[bool]) -> bool:
    return 2 * sum(flags) > len(flags)


def all_but_one(flags: list[bool]) -> bool:
    return sum(flags) == len(flags) - 1


def listed(values: dict[str, float], form: str = "+.3f") -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def ranking(evidence: Evidence, claim: Claim) -> tuple[str, str]:
    """Judge ``claim.pairs`` on each data set and metric; one counter-example refutes."""
    found, missing = [], []
    comparisons = [
        (dataset, metric, better, worse)
        for dataset in claim.datasets
        for metric in claim.metrics
        for better, worse in claim.pairs
    ]
    for dataset, metric, better, worse in comparisons:
        try:
            gain = evidence.gain(dataset, metric, better, worse)
        except CannotTest as error:
            missing.append(str(error))
            continue
        text = f"{better} against {worse}, {metric} on {dataset}, by {gain.mean:+.3f}"
        found.append((above(gain), gain.mean / (gain.std or PRINTED_ZERO), text))
    verdict = grade(*(level for level, *_ in found)) if found else UNTESTED
    if missing and verdict != REFUTED:
        return UNTESTED, missing[0]
    clear = sum(level == 2 for level, *_ in found)
    return verdict, f"{clear} of {len(found)} comparisons clear; weakest: {min(found)[2]}"


RULES: dict[str, Callable[[Evidence, Claim], tuple[str, str]]] = {}


def rule(function: Callable) -> Callable:
    """Enter a function under the claim's id: its name, with hyphens."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


@rule
def ce_hedges(evidence, claim):
    rates = {name: evidence.cell(name, "CE", "CHR_ext") for name in claim.datasets}
    means = {name: rate.mean for name, rate in rates.items()}
    return grade(*map(above, rates.values())), f"CHR_ext: {listed(means, '.3f')}"


@rule
def excess_at_center(evidence, claim):
    levels, texts = [], []
    for name in claim.datasets:
        rate, true = evidence.cell(name, "CE", "center_rate"), evidence.center_share(name)
        levels.append(above(rate, Cell(true)))
        texts.append(f"{name} {rate.mean:.3f} of answers, {true:.3f} of labels")
    return grade(*levels), "; ".join(texts)


@rule
def low_chr_less_biased(evidence, claim):
    flags, texts = [], []
    for name in claim.datasets:
        true = evidence.center_share(name)
        lowest = min(claim.methods, key=lambda m: evidence.cell(name, m, "CHR_ext").mean)
        rate, base = (evidence.cell(name, m, "center_rate").mean for m in (lowest, "CE"))
        flags.append(abs(rate - true) <= abs(base - true))
        texts.append(f"{name}: {lowest} {rate:.3f}, CE {base:.3f}, labels {true:.3f}")
    return share(flags, most), f"center rate on {'; '.join(texts)}"


@rule
def best_or_tied_qwk(evidence, claim):
    bases = [name for name in claim.methods if name != "AMOL"]
    ahead = {
        (name, base): evidence.gain(name, "QWK", base, "AMOL")
        for name in claim.datasets
        for base in bases
    }
    flags = [all(above(ahead[name, base]) < 2 for base in bases) for name in claim.datasets]
    (name, base), lead = max(ahead.items(), key=lambda item: item[1].mean)
    text = f"closest: {base} on {name}, {lead.mean:+.3f} over AMOL"
    return share(flags, all_but_one), text


def _vanishes(evidence, claim):
    (dataset,), (base, method) = claim.datasets, claim.methods
    cell = evidence.cell(dataset, method, "CHR")
    zero = cell.mean + cell.std < PRINTED_ZERO
    text = f"CHR {cell.mean:.4f} ± {cell.std:.4f}"
    try:
        baseline = evidence.cell(dataset, base, "CHR")
    except CannotTest:
        if zero:  # the baseline only tells the direction
            return REPRODUCED, text
        raise
    level = 2 if zero else int(cell.mean < baseline.mean)
    return grade(level), f"{text}; {base} {baseline.mean:.4f} ± {baseline.std:.4f}"


RULES["synthetic-chr-zero"] = RULES["asym-eliminates"] = _vanishes


@rule
def oll_inconsistent(evidence, claim):
    excess = {name: evidence.gain(name, "CHR_ext", "CE", "OLL") for name in claim.datasets}
    level = max(above(cell) for cell in excess.values())
    return grade(level), f"OLL − CE: {listed({name: c.mean for name, c in excess.items()})}"


@rule
def orthogonal(evidence, claim):
    gains = {name: evidence.gain(name, "CHR_ext", "CE", "OLL") for name in claim.datasets}
    flags = [above(gain._replace(mean=abs(gain.mean))) < 2 for gain in gains.values()]
    text = f"OLL − CE: {listed({name: gain.mean for name, gain in gains.items()})}"
    return share(flags, all_but_one), text


@rule
def wine_white_reduction(evidence, claim):
    def reduction(method: Cell, base: Cell) -> Cell:
        std = hypot(method.std / base.mean, method.mean * base.std / base.mean**2)
        return Cell(1 - method.mean / base.mean, std)

    keys = [("Wine White", method, "CHR_ext") for method in ("AMOL-asym", "CE")]
    cells = [evidence.cell(*key) for key in keys]
    if cells[1].mean == 0:
        raise CannotTest("CE's CHR_ext is 0: there is nothing to reduce")
    ours, paper = reduction(*cells), reduction(*(Cell(*published(*key)) for key in keys))
    level = 2 if near(ours, paper) else int(ours.mean > 0)
    return grade(level), f"{ours.mean:.0%} ± {ours.std:.0%}; paper {paper.mean:.0%}"


@rule
def direction_critical(evidence, claim):
    rates = {name: evidence.cell("Abalone", name, "CHR") for name in claim.methods}
    asym = rates["AMOL-asym"]
    others = [rate for name, rate in rates.items() if name != "AMOL-asym"]
    alone = asym.mean + asym.std < PRINTED_ZERO and all(above(rate) == 2 for rate in others)
    level = 2 if alone else int(all(asym.mean < rate.mean for rate in others))
    return grade(level), f"CHR: {listed({name: rate.mean for name, rate in rates.items()}, '.4f')}"


def _nearness(evidence, claim):
    base, method = claim.methods
    pairs = {
        m: [evidence.cell("Abalone", name, m) for name in claim.methods] for m in claim.metrics
    }
    flags = [near(*pair) for pair in pairs.values()]
    texts = [f"{m} {a.mean:.3f} and {b.mean:.3f}" for m, (a, b) in pairs.items()]
    return flags, f"{base} and {method}: {', '.join(texts)}"


@rule
def form_does_not_matter(evidence, claim):
    flags, text = _nearness(evidence, claim)
    return share(flags), text


@rule
def amol_ce_near_baseline(evidence, claim):
    flags, text = _nearness(evidence, claim)
    return grade(min(sum(flags), 2)), text


@rule
def clearest_effects(evidence, claim):
    gains = {name: evidence.gain(name, "QWK", "AMOL", "CE").mean for name in claim.datasets}
    rest = max(gains["Synthetic"], gains["Wine Red"])
    return share(gains[name] > rest for name in ("Wine White", "Abalone")), listed(gains)
