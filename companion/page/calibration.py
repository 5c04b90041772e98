"""How far probabilities can be trusted: a table of scores, and reliability curves."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol import engine
from amol.metrics.probabilities import BINS
from companion.page.appendix import BLUE, RED
from companion.page.style import FAINT, escape_math, is_wide, panels, starts_row, two_widths
from companion.studies.decisions import SCORE_DECIMALS, fit_temperature, tempered
from companion.studies.fair_fight import run_of


def calibration_table(rows: pd.DataFrame, scores: Sequence[str]) -> pd.DataFrame:
    """Mean over data sets of each score, before → after a temperature, and the median T."""
    after = [f"{score}_T" for score in scores]
    cells = rows.groupby("method", sort=False)[[*scores, *after]].mean()
    text = {s: [f"{a:.3f} → {b:.3f}" for a, b in cells[[s, f"{s}_T"]].to_numpy()] for s in scores}
    found = pd.DataFrame(text, index=cells.index)
    found.insert(0, "T", rows.groupby("method", sort=False)["T"].median().map("{:.2f}".format))
    return found.rename_axis("Method")


def reliability(dataset: str, methods: Sequence[str], splits: Sequence[int]) -> pd.DataFrame:
    """What `reliability_figure` draws, from untuned networks trained here; bins of equal mass."""
    found = []
    for method in methods:
        hits, before, after = [], [], []
        for split in splits:
            run = run_of(dataset, method, split, {})
            outcome = engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol)
            held = run.data.arrays.y_validation, outcome.probabilities_validation
            hits.append(run.data.y_test == outcome.probabilities.argmax(axis=1))
            before.append(outcome.probabilities.max(axis=1))
            after.append(tempered(outcome.probabilities, fit_temperature(*held)).max(axis=1))
        hit = np.concatenate(hits)
        for when, p in (("before", np.concatenate(before)), ("after", np.concatenate(after))):
            found += [(method, when, *point) for point in binned(p, hit)]
    return pd.DataFrame(found, columns=["method", "when", "p", "hits"])


def binned(p: np.ndarray, hit: np.ndarray) -> list[tuple[float, float]]:
    """Mean probability and share of hits, both (n,), in each of the bins of equal mass."""
    parts = np.array_split(np.argsort(p.round(6), kind="stable"), BINS)
    means = [(float(p[rows].mean()), float(hit[rows].mean())) for rows in parts]
    return [tuple(np.round(pair, SCORE_DECIMALS)) for pair in means]


@two_widths
def reliability_figure(frame: pd.DataFrame) -> Figure:
    """Share of hits against probability, a panel per method: before and after the temperature.

    Columns: method, when ("before", "after"), p, hits.
    """
    groups = list(frame.groupby("method", sort=False))
    figure, axes = panels(len(groups), 2.6, 0.5, wide=4, narrow=2, sharex=True, sharey=True)
    for ax, (method, part) in zip(axes, groups, strict=True):
        ax.plot([0, 1], [0, 1], color=FAINT, lw=1)
        for (when, line), look in zip(part.groupby("when", sort=False), ("o", "s"), strict=True):
            full = when == "after"
            style = {"color": BLUE if full else RED, "mfc": BLUE if full else "white", "ms": 6}
            ax.plot(line["p"], line["hits"], f"{look}-", label=f"{when} the temperature", **style)
        ax.set(title=escape_math(method), xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1))
        ax.set_ylabel("share right" if starts_row(ax) else "")
    figure.supxlabel("probability of the answer")
    handles, labels = axes[0].get_legend_handles_labels()
    columns = 2 if is_wide() else 1
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, frameon=False)
    return figure
