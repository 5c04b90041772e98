"""Frames and figures of the two pages beyond the paper, from recorded rows.

The distance to the paper is always the mean over several cells of |our mean − printed mean|.
"""

import textwrap
from collections.abc import Mapping

import matplotlib as mpl
import matplotlib.lines
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol.metrics import center_hedging_rate
from companion.page.style import (
    BAND,
    FAINT,
    INK,
    STYLE,
    is_wide,
    panels,
    row_names,
    starts_row,
    two_widths,
)
from companion.page.tables import HEADINGS, summarize
from companion.paper.open_choices import CHOSEN
from companion.paper.published import published
from companion.train.settings import StudySettings
from companion.train.study import predictions

HEADLINE = ("QWK", "CHR_ext")
BLUE, RED = "#0072B2", "#D55E00"
Look = tuple[str, str, bool]  # color, marker, whether full
OUTCOMES = {
    "better": (BLUE, "D", True),
    "worse": (RED, "v", True),
    "no difference shown": (INK, "o", False),
}
DISTANCES = {"as chosen": (BLUE, "o", True), "the other answer": (RED, "o", False)}
SPREADS = {
    "published ±": (INK, "|", True),
    "ours, five seeds on split 42": (BLUE, "o", True),
    "ours, a new split for each run": (RED, "s", False),
}
READINGS = {
    "paper": (INK, "|", True),
    "closeness form": (BLUE, "o", True),
    "Castagnos, power 1": (RED, "o", False),
    "Castagnos, power 1.5": (RED, "s", False),
    "Castagnos, power 2": (RED, "^", False),
}


def standing(distances: pd.DataFrame) -> dict[str, str]:
    """By question, where the choice ranks among all answers tried, as text.

    ``distances`` comes from `companion.paper.open_choices.distances_to_paper`.
    """
    found = {}
    for question, part in distances.groupby("question", sort=False):
        nearer = {m: (part[f"{m}, alternative"] < part[f"{m}, chosen"]).sum() for m in HEADLINE}
        ranks = [f"{m} {count + 1} of {len(part) + 1}" for m, count in nearer.items()]
        found[question] = "place: " + ", ".join(ranks)
    return found


def distances_table(distances: pd.DataFrame, topics: Mapping[str, str]) -> pd.DataFrame:
    """Both distances of each answer that was tried, as text, the nearer in bold.

    ``distances`` comes from `companion.paper.open_choices.distances_to_paper`, ``topics`` says each
    question in a word.
    """
    cells = distances[["question", "alternative", "cells"]].set_axis(
        ["Question", "Other answer", "Cells"], axis=1
    )
    for metric in HEADLINE:
        pair = distances[[f"{metric}, alternative", f"{metric}, chosen"]]
        shown = pair.map("{:.4f}".format)
        shown = shown.mask(pair.eq(pair.min(axis=1), axis=0), "**" + shown + "**")
        cells[[f"{metric}, other", f"{metric}, chosen"]] = shown.to_numpy()
    return cells.assign(Question=cells["Question"].map(topics)).set_index("Question")


def rank_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """How far the published cells of each split lie from the paper.

    ``rows`` is the recording "hundred_splits". One row per metric and split, nearest first: metric,
    split_seed, distance, rank.
    """
    found = []
    for split_seed, part in rows.groupby("split_seed"):
        cells = summarize(part, HEADLINE)
        gaps = (cells["mean"] - cells["paper_mean"]).abs().groupby(cells["metric"]).mean()
        found += [(metric, split_seed, gaps[metric]) for metric in HEADLINE]
    frame = pd.DataFrame(found, columns=["metric", "split_seed", "distance"])
    frame["rank"] = frame.groupby("metric")["distance"].rank(method="min").astype(int)
    return frame.sort_values(["metric", "rank"], ascending=[False, True], ignore_index=True)


def spreads(fixed: pd.DataFrame, moving: pd.DataFrame) -> pd.DataFrame:
    """Standard deviations of every published cell, a column for each key of `SPREADS`.

    ``fixed`` holds runs of several seeds on one split, ``moving`` runs on many splits; of each
    split the first seed counts, so that one number is one run.
    """
    first = moving[moving["seed"] == moving["seed"].min()]
    keys = ["dataset", "method", "metric"]
    one, many = (summarize(frame, HEADLINE).set_index(keys) for frame in (fixed, first))
    columns = (one["paper_std"], one["std"], many["std"])
    return pd.concat(dict(zip(SPREADS, columns, strict=True)), axis=1).dropna().reset_index()


def oll_readings(rows: pd.DataFrame) -> pd.DataFrame:
    """OLL and AMOL-OLL under every reading of `READINGS`, beside the published cells.

    ``rows`` is the recording "choices". One row per cell and reading: the columns of
    `tables.summarize`, series (the reading) and within (whether the means differ by at most two
    combined standard deviations).
    """
    found = []
    for base, question in {
        "OLL": "Which loss is OLL?",
        "AMOL-OLL": "Which loss does AMOL-OLL weight?",
    }.items():
        chosen = rows[(rows["alternative"] == CHOSEN.label) & (rows["method"] == base)]
        tried = {"closeness form": chosen}
        tried |= dict(list(rows[rows["question"] == question].groupby("alternative")))
        for reading, runs in tried.items():
            cells = summarize(runs.assign(method=base), (*HEADLINE, "CHR", "accuracy"))
            found.append(cells.assign(series=reading))
    frame = pd.concat(found, ignore_index=True).dropna(subset="paper_mean")
    gap = (frame["mean"] - frame["paper_mean"]).abs()
    return frame.assign(within=gap <= 2 * np.hypot(frame["std"], frame["paper_std"].fillna(0)))


def middle_readings(settings: StudySettings, dataset: str) -> pd.DataFrame:
    """CHR_ext of every method with the lower and with the upper middle class as the center.

    The upper middle is the lower one of the reversed scale; the extreme classes are the same both
    ways. Columns of `companion.page.tables.summarize`, with the reading in place of the data set.
    """
    found = []
    for method in settings.methods:
        y_true, y_pred, probabilities = predictions(settings, dataset, method)
        last = probabilities.shape[-1] - 1
        printed = published(dataset, method, "CHR_ext") or (np.nan, np.nan)
        for middle, flip in ((last // 2, False), (last - last // 2, True)):
            labels, answers = (last - y if flip else y for y in (y_true, y_pred))
            rates = [center_hedging_rate(labels, seed, last + 1, extremes=2) for seed in answers]
            statistics = pd.Series(rates).agg(["mean", "std"])
            found.append((f"center: class {middle}", method, "CHR_ext", *statistics, *printed))
    columns = ["dataset", "method", "metric", "mean", "std", "paper_mean", "paper_std"]
    return pd.DataFrame(found, columns=columns).sort_values("dataset", kind="stable")


def count_ties(settings: StudySettings) -> tuple[int, int]:
    """Test predictions whose highest probability two classes share, and all test predictions."""
    ties = total = 0
    for dataset in settings.datasets:
        for method in settings.methods:
            ranked = np.sort(predictions(settings, dataset, method)[2])  # (seeds, N, K)
            ties += int((ranked[..., -1] == ranked[..., -2]).sum())
            total += ranked[..., 0].size
    return ties, total


def verified(checks: pd.DataFrame) -> pd.DataFrame:
    """What `verify` of a study found of recorded runs and the same trained again, as text."""
    exact = ["QWK recorded", "QWK retrained", "largest difference"]
    names = {"dataset": "Data set", "method": "Method", "seed": "Seed", "split_seed": "Split"}
    return checks.assign(**checks[exact].map("{:.6f}".format)).rename(columns=names)


def _style(look: Look) -> dict:
    color, marker, full = look
    face = color if full else "white"
    size = 16 if marker == "|" else 8
    return {"marker": marker, "color": color, "mfc": face, "mec": color, "mew": 1.8, "ms": size}


def _key(figure: Figure, looks: Mapping[str, Look]) -> None:
    handles = [
        mpl.lines.Line2D([], [], ls="", label=name, **_style(look)) for name, look in looks.items()
    ]
    columns = len(handles) if is_wide() and len(handles) <= 3 else 1
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False)


@two_widths
def marks(
    frame: pd.DataFrame, looks: Mapping[str, Look], xlabel: str, log: bool = False, across: int = 1
) -> Figure:
    """Several values per row on a gray band from least to greatest; one panel per metric.

    Parameters
    ----------
    frame : DataFrame
        Columns: metric, name (of the row), series (a key of ``looks``) and value.
    looks : mapping
    xlabel : str
    log : bool
        Whether the x scale is logarithmic.
    across : int
        Panels side by side on a phone.
    """
    groups = list(frame.groupby("metric", sort=False))
    lines = sum(name.count("\n") + 1.6 for name in frame["name"].unique())
    extra = 0.5 + 0.25 * len(looks)
    figure, axes = panels(len(groups), 0.7 + 0.2 * lines, extra, narrow=across)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        names = list(part["name"].unique())
        row_names(ax, names)
        band = part.groupby("name", sort=False)["value"].agg(["min", "max"])
        ax.hlines(range(len(names)), band["min"], band["max"], color=BAND, lw=5, zorder=1)
        for series, look in looks.items():
            own = part[part["series"] == series]
            at = [names.index(name) for name in own["name"]]
            ax.plot(own["value"], at, ls="", zorder=3 if look[2] else 2, **_style(look))
        ax.set_title(HEADINGS.get(metric, metric))
        ax.tick_params(labelleft=starts_row(ax) or names != list(groups[0][1]["name"].unique()))
        if log:
            ax.set_xscale("log")
            steps = (1, 3) if band["max"].max() < 30 * band["min"].min() else (1,)
            ax.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=steps))
            ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}".lstrip("0"))
            ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    figure.supxlabel(xlabel, fontsize=STYLE["axes.labelsize"])
    _key(figure, looks)
    return figure


def distances_figure(distances: pd.DataFrame, topics: Mapping[str, str]) -> Figure:
    """What `distances_table` has, as `marks`."""
    names = distances["question"].map(topics) + ": " + distances["alternative"]
    names = names.map(lambda name: textwrap.fill(name, 18))
    points = pd.concat(
        pd.DataFrame({"metric": metric, "name": names, "series": series,
                      "value": distances[f"{metric}, {column}"]})
        for metric in HEADLINE
        for series, column in zip(DISTANCES, ("chosen", "alternative"), strict=True)
    )  # fmt: skip
    return marks(points, DISTANCES, "mean distance to the printed cells", log=True, across=2)


@two_widths
def ranked_splits(frame: pd.DataFrame, split_seed: int) -> Figure:
    """The splits of `rank_splits` in their order, one panel per metric; ``split_seed`` is named."""
    groups = list(frame.groupby("metric", sort=False))
    figure, axes = panels(len(groups), 2.8)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        points = list(zip(range(1, len(part) + 1), part["distance"], strict=True))
        ax.plot(*zip(*points, strict=True), "o", color=FAINT, ms=4)
        point = points[list(part["split_seed"]).index(split_seed)]
        ax.plot(*point, "D", color=BLUE, ms=9)
        below = {"xytext": (8, -20), "textcoords": "offset points", "color": BLUE}
        ax.annotate(f"split {split_seed}", point, **below)
        ax.set(title=HEADINGS.get(metric, metric), ylim=(0, None))
        ax.set_ylabel("distance" if starts_row(ax) else "")
        ax.set_xlabel("splits, nearest to the paper first")
    return figure


@two_widths
def forest(frame: pd.DataFrame) -> Figure:
    """`paired_differences` of one metric, with intervals; one panel per data set."""
    frame = frame.assign(name=frame["method"] + " − " + frame["baseline"])
    names, groups = list(frame["name"].unique()), list(frame.groupby("dataset", sort=False))
    figure, axes = panels(len(groups), 0.8 + 0.34 * len(names), 0.9, narrow=2, sharey=True)
    for ax, (dataset, part) in zip(axes, groups, strict=True):
        row_names(ax, names)
        ax.axvline(0, color=FAINT, lw=1)
        for row in part.itertuples():
            reach = [[row.difference - row.low], [row.high - row.difference]]
            look = _style(OUTCOMES[row.verdict])
            ax.errorbar(row.difference, names.index(row.name), xerr=reach, capsize=3, **look)
        ax.set_title(dataset)
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5 if is_wide() else 2))
        ax.xaxis.set_major_formatter("{x:g}")
    _key(figure, OUTCOMES)
    return figure
