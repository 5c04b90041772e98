"""Open choices, which the paper leaves unsaid: alternatives, and how well each fits the paper.

They are data in ``data/open_choices.toml``; the losses that an alternative needs are here. An
alternative is judged by its distance to the published table cells that it touches, never cell by
cell: one setting holds for a whole table.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from amol.losses import LOSSES, center_weight, distances, gaussian_log_target, register_loss
from companion.paper.published import PUBLISHED
from companion.train.settings import StudySettings

REAL = ("Wine Red", "Wine White", "Abalone")
BASELINES = ("CE", "OLL", "SORD", "AMOL")
SEEDS = 3
ABLATION = ("AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")


def _lookup(table: torch.Tensor, target: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    return table.to(logits)[target]  # (K, K), (N,) -> (N, K)


def amol_on_castagnos(logits, target, num_classes):
    """−Σ m(k,y) |k−y| log(1−ŷ_k): the weight on the loss of Castagnos et al. (2022)."""
    table = center_weight(num_classes) * distances(num_classes)
    return -(_lookup(table, target, logits) * torch.log1p(-logits.softmax(-1) * (1 - 1e-6))).sum(-1)


def amol_on_soft_target(logits, target, num_classes):
    """−Σ m(k,y) p_k log ŷ_k with the Gaussian target p."""
    table = center_weight(num_classes) * gaussian_log_target(num_classes, 1.0).exp()
    return -(_lookup(table, target, logits) * logits.log_softmax(-1)).sum(-1)


def amol_exponential_factors(logits, target, num_classes):
    """m = 1 + α (e^near − 1)(e^extreme − 1)/(e − 1)²: both factors bent, the same range."""
    c = (num_classes - 1) / 2
    spread = (torch.arange(num_classes, dtype=torch.float64) - c).abs() / c
    bend = lambda x: torch.expm1(x) / np.expm1(1)  # noqa: E731
    table = 1 + bend(spread)[:, None] * bend(1 - spread)[None, :]
    log_target = _lookup(gaussian_log_target(num_classes, 1.0), target, logits)
    log_p = logits.log_softmax(-1)
    return (_lookup(table, target, logits) * log_p.exp() * (log_p - log_target)).sum(-1)


OTHER_READINGS = {
    "AMOL-OLL on Castagnos": amol_on_castagnos,
    "AMOL-CE on the Gaussian target": amol_on_soft_target,
    "AMOL-exp, separate factors": amol_exponential_factors,
}


def register_readings() -> None:
    """Make the other readings of the paper's losses entries of `amol.losses.LOSSES`."""
    for name in OTHER_READINGS.keys() - LOSSES.keys():
        register_loss(name)(OTHER_READINGS[name])


@dataclass(frozen=True)
class Alternative:
    """One other answer to a question: settings that differ, or published methods replaced."""

    label: str
    settings: dict = field(default_factory=dict)
    instead: dict = field(default_factory=dict)  # published method -> method trained for it
    datasets: Sequence[str] = REAL
    split_per_seed: bool = False

    def grid(self) -> list[StudySettings]:
        """What to run: the table cells that this alternative touches, `SEEDS` each."""
        register_readings()
        if self.instead:
            methods = {d: tuple(self.instead.values()) for d in self.datasets}
        else:
            methods = {d: BASELINES + (ABLATION if "Abalone" in d else ()) for d in self.datasets}
        made = [StudySettings((d,), m, seeds=SEEDS, **self.settings) for d, m in methods.items()]
        if self.split_per_seed:
            made = [replace(s, seeds=(n,), split_seed=n) for s in made for n in s.seeds]
        return made


@dataclass(frozen=True)
class Choice:
    """A question that the paper leaves open, what this companion does, and what else was tried.

    ``topic`` is the question in a word, ``stated`` what the paper has on it. Without alternatives
    the evidence is no matter of training.
    """

    topic: str
    question: str
    stated: str
    chosen: str
    reason: str
    alternatives: tuple[Alternative, ...] = ()


def _choice(entry: dict) -> Choice:
    tried = entry.pop("alternative", ())
    return Choice(**entry, alternatives=tuple(Alternative(**other) for other in tried))


_DATA = Path(__file__).parent / "files" / "open_choices.toml"
CHOICES = tuple(map(_choice, tomllib.loads(_DATA.read_text(encoding="utf-8"))["choice"]))
CHOSEN = Alternative("as chosen")


def choice_grid() -> list[tuple[dict, StudySettings]]:
    """All alternatives' settings, labeled with question and alternative; first the chosen ones."""
    grid = [({"question": "", "alternative": CHOSEN.label}, s) for s in CHOSEN.grid()]
    for choice in CHOICES:
        for alternative in choice.alternatives:
            labels = {"question": choice.question, "alternative": alternative.label}
            grid += [(labels, settings) for settings in alternative.grid()]
    return grid


def _cells(rows: pd.DataFrame, instead: dict) -> pd.DataFrame:
    """Mean over seeds of each published cell that ``rows`` bear on."""
    published_name = {trained: name for name, trained in instead.items()}
    rows = rows.assign(
        method=rows["method"].replace(published_name),
        dataset=rows["dataset"].str.partition(" (")[0],
    )
    return rows.groupby(["dataset", "method"])[["QWK", "CHR", "CHR_ext"]].mean()


def distances_to_paper(rows: pd.DataFrame) -> pd.DataFrame:
    """How far each alternative, and the choice on the same cells, lie from the published tables.

    Parameters
    ----------
    rows : DataFrame
        The recording "choices": columns question, alternative and those of `run_study`.

    Returns
    -------
    DataFrame
        One row per alternative: question, chosen, alternative, cells (table cells compared, each
        with a QWK and a CHR_ext), then mean |ΔQWK| and mean |ΔCHR_ext| of the alternative and of
        the choice.
    """
    numbers = PUBLISHED.drop_duplicates(["dataset", "method", "metric"])
    paper = numbers.pivot(index=["dataset", "method"], columns="metric", values="mean")
    chosen = _cells(rows[rows["alternative"] == CHOSEN.label], {})
    found = []
    for choice in CHOICES:
        for alternative in choice.alternatives:
            mine = (rows["question"] == choice.question) & (
                rows["alternative"] == alternative.label
            )
            if not mine.any():
                continue
            cells = _cells(rows[mine], alternative.instead)
            cells = cells.loc[cells.index.intersection(paper.index)]
            entry = {
                "question": choice.question,
                "chosen": choice.chosen,
                "alternative": alternative.label,
                "cells": len(cells),
            }
            for who, table in (("alternative", cells), ("chosen", chosen.loc[cells.index])):
                gap = (table - paper.loc[cells.index, table.columns]).abs().mean()
                entry |= {f"{m}, {who}": gap[m] for m in ("QWK", "CHR_ext")}
            found.append(entry)
    return pd.DataFrame(found)
