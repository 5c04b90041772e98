"""What the paper leaves unsaid: each choice, its alternatives, and how well each fits the paper.

An alternative is judged by its distance to the published table cells that it touches, never cell
by cell: one setting holds for a whole table.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import torch

from amol.experiments.settings import StudySettings
from amol.losses import LOSSES, center_weight, distances, gaussian_log_target, register_loss
from amol.paper.published import PUBLISHED

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
    datasets: tuple[str, ...] = REAL
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


CHOICES = (
    Choice(
        "Split",
        "Does the split change with the seed?",
        "five seeds, a stratified split",
        "no: one split for all seeds, random_state 42",
        "the published ± is far smaller than the spread over splits, and of 100 splits 42 is "
        "among the nearest to the published tables",
        (Alternative("a new split for each seed", split_per_seed=True),),
    ),
    Choice(
        "Seed",
        "What does a seed change?",
        "nothing",
        "initial weights and batch order",
        "follows from the one split",
    ),
    Choice(
        "Order",
        "In which order are the parts drawn?",
        "60/20/20",
        "test first: 80/20, then 75/25 of the rest",
        "nearer to the published tables",
        (Alternative("60/40, then halves", {"split_order": "halves"}),),
    ),
    Choice(
        "Batch",
        "How many samples a step?",
        "nothing",
        "256",
        "of the sizes tried, nearest to the published tables as a whole",
        tuple(Alternative(f"{size}", {"batch_size": size}) for size in (64, 128, 512)),
    ),
    Choice(
        "Network",
        "Is a 2-layer MLP one with two hidden layers?",
        "a 2-layer MLP of hidden dimension 128",
        "yes, two hidden layers of 128",
        "the common reading of hidden dim 128 with two layers",
        (
            Alternative("one hidden layer", {"layers": 1}),
            Alternative("three hidden layers", {"layers": 3}),
        ),
    ),
    Choice(
        "Stopping",
        "What does early stopping watch?",
        "patience 20",
        "each method's own loss on the validation part",
        "the usual default, and close to the published tables",
        (Alternative("validation QWK", {"monitor": "QWK"}),),
    ),
    Choice(
        "Weights",
        "Which weights are kept?",
        "nothing",
        "those of the best epoch",
        "usual with early stopping",
        (Alternative("those of the last epoch", {"restore": False}),),
    ),
    Choice(
        "Epochs",
        "How many epochs at most?",
        "nothing",
        "200",
        "with patience 20 nearly every run stops before",
        (Alternative("100", {"epochs": 100}),),
    ),
    Choice(
        "OLL",
        "Which loss is OLL?",
        "cites Castagnos et al.; in words, log terms weighted by closeness to the label",
        "closeness form, −Σ (1 − d/(K−1)) log ŷ, d the distance to the label",
        "the loss of Castagnos et al. (2022), −Σ dᵃ log(1 − ŷ), is another one and lies "
        "farther from the published row",
        tuple(
            Alternative(
                f"Castagnos, power {power:g}",
                {"loss_parameters": {"OLL-Castagnos": {"power": power}}},
                {"OLL": "OLL-Castagnos"},
            )
            for power in (1.0, 1.5, 2.0)
        ),
    ),
    Choice(
        "SORD",
        "How wide is SORD's Gaussian?",
        "a Gaussian around the label",
        "σ = 1, as for AMOL",
        "the paper gives σ for AMOL alone",
        tuple(
            Alternative(
                f"σ = {sigma:g}", {"loss_parameters": {"SORD": {"sigma": sigma}}}, {"SORD": "SORD"}
            )
            for sigma in (0.5, 0.75, 1.5)
        ),
    ),
    Choice(
        "AMOL-exp",
        "What is exponential in AMOL-exp?",
        "an exponential weight",
        "m = exp(α · near · extreme)",
        "the same product in the exponent, the plainest reading",
        (
            Alternative(
                "both factors bent",
                instead={"AMOL-exp": "AMOL-exp, separate factors"},
                datasets=("Abalone",),
            ),
        ),
    ),
    Choice(
        "AMOL-OLL",
        "Which loss does AMOL-OLL weight?",
        "OLL",
        "the closeness form of OLL",
        "only this one collapses as published: its terms reward mass near the label, so a larger "
        "weight on the center draws mass there",
        (
            Alternative(
                "Castagnos, power 1",
                instead={"AMOL-OLL": "AMOL-OLL on Castagnos"},
                datasets=("Abalone",),
            ),
        ),
    ),
    Choice(
        "AMOL-CE",
        "What is the target in AMOL-CE?",
        "CE as the base loss",
        "the hard label: m(y,y) · CE",
        "the plainest reading, and nearer to the published CHR_ext",
        (
            Alternative(
                "the Gaussian target",
                instead={"AMOL-CE": "AMOL-CE on the Gaussian target"},
                datasets=("Abalone",),
            ),
        ),
    ),
    Choice(
        "Abalone",
        "How is Abalone's sex encoded?",
        "nothing",
        "one-hot",
        "the usual encoding of a nominal feature",
        tuple(
            Alternative(label, datasets=(f"Abalone ({label})",))
            for label in ("sex as a number", "no sex")
        ),
    ),
    Choice(
        "Center",
        "Which class is the center at even K?",
        "c = (K−1)/2, no class at K = 6",
        "the lower of the two middle ones",
        "fits Wine Red, the upper one doesn't",
    ),
    Choice(
        "Synthetic",
        "How is Synthetic made?",
        "5,000 samples, 7 classes, class 3 about 34 %",
        "ten Gaussian features, a nonlinear score plus noise",
        "noise set so that CE's QWK is about as published",
    ),
    Choice(
        "Spread",
        "Which standard deviation?",
        "mean ± std over five seeds",
        "divisor n − 1",
        "usual for a sample",
    ),
    Choice(
        "Ties",
        "Which class wins a tie?",
        "arg max",
        "the first",
        "hardly ever happens",
    ),
)
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
        One row an alternative: question, chosen, alternative, cells (table cells compared, each
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
