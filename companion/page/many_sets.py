"""Tables and pictures of many data sets: forests, ranks, and a picture to filter."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.data import collection
from companion.page.style import FAINT, is_wide, panels, row_names, two_widths
from companion.page.tables import DASH, HEADINGS
from companion.page.words import signed
from companion.studies import across_sets, fair_fight, hundred_sets, recordings
from companion.studies.across_sets import KINDS

GOOD, BAD, OPEN = "#0072B2", "#D55E00", "#6B6B6B"  # shown better, shown worse, not shown
COLORS = {"better": GOOD, "worse": BAD, "not shown": OPEN}
PAPER, EARLIER, NEW = "the paper's four sets", "six more small tables", "the collection"
OWN = "own"  # a loss's own decision


def natural(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the sets with a natural order, on the splits that are recorded of all of them."""
    rows = rows[rows["dataset"].isin(collection.names())]
    sets = rows.groupby("split_seed")["dataset"].nunique()
    return rows[rows["split_seed"].isin(sets.index[sets == rows["dataset"].nunique()])]


def chosen(rows: pd.DataFrame, rule: str = "QWK", decision: str = OWN) -> pd.DataFrame:
    """Rows of one rule and one decision."""
    return rows[(rows["rule"] == rule) & (rows["decision"] == decision)]


def ten_sets() -> pd.DataFrame:
    """Tuned rows of the fair fight's ten sets, with what `across_sets.kinds` says of a set."""
    rows = recordings.load("fair_fight")
    rows = rows[rows["rule"].eq("QWK") & rows["method"].isin(hundred_sets.METHODS)]
    group = {name: PAPER for name in fair_fight.PAPER_SETS}
    return rows.assign(survey=rows["dataset"], group=rows["dataset"].map(group).fillna(EARLIER))


def decided(rows: pd.DataFrame, rule: str = "QWK") -> pd.DataFrame:
    """All pairs of loss and decision under one rule; the method is ``loss, decision``.

    A loss's own decision goes by the loss's name.
    """
    part = rows[rows["rule"] == rule]
    named = part["method"].where(part["decision"] == OWN, part["method"] + ", " + part["decision"])
    return part.assign(loss=part["method"], method=named)


def interval(row, digits: int = 3) -> str:
    """``+0.022 [+0.011, +0.033]`` of a row of `across_sets.summarized`."""
    ends = ", ".join(signed(end, digits) for end in (row.low, row.high))
    return f"{signed(row.mean, digits)} [{ends}]"


def counted(row) -> str:
    """An interval, and on how many sets the method is better."""
    return f"{interval(row)}; better on {row.gain} of {row.sets}"


def summary_table(summary: pd.DataFrame, down: str, across: str) -> pd.DataFrame:
    """`counted` cells of a summary, bold where the interval excludes zero."""
    cells = [f"**{counted(r)}**" if r.verdict != "not shown" else counted(r)
             for r in summary.itertuples()]  # fmt: skip
    wide = summary.assign(cell=cells).pivot(index=down, columns=across, values="cell")
    wide = wide.reindex(index=summary[down].unique(), columns=summary[across].unique())
    return wide.fillna(DASH).rename(columns=HEADINGS, index=HEADINGS)


def by_group(
    tuned: pd.DataFrame, about: pd.DataFrame, rivals: Sequence[str], metric: str = "QWK"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """AMOL against rivals on the earlier studies' sets, the collection, and its kinds.

    Parameters
    ----------
    tuned : DataFrame
        Rows of the collection's natural sets.
    about : DataFrame
        From `across_sets.kinds`.
    rivals : sequence of str
    metric : str

    Returns
    -------
    summary, dots : DataFrame
        As `forest` takes them, with a column baseline.
    """
    pairs, ten = [("AMOL", name) for name in rivals], ten_sets()
    gaps = across_sets.contrast(tuned, pairs, [metric], about)
    small = ten.drop_duplicates("dataset").set_index("dataset")[["survey", "group"]]
    before = across_sets.contrast(ten, pairs, [metric], small)
    parts = [(name, before[before["group"] == name]) for name in (PAPER, EARLIER)]
    parts.append((NEW, gaps))
    parts += [(g, gaps[gaps[column] == g]) for column in KINDS for g in KINDS[column]]
    parts = [(name, part) for name, part in parts if len(part)]
    by = ["baseline", "metric"]
    summary = pd.concat(across_sets.summarized(p, by).assign(group=name) for name, p in parts)
    dots = pd.concat(part.assign(group=name) for name, part in parts)
    return tuple(f.assign(panel="AMOL − " + f["baseline"]) for f in (summary, dots))


@two_widths
def forest(
    summary: pd.DataFrame, dots: pd.DataFrame, xlabel: str, wide: int = 2, narrow: int = 1
) -> Figure:
    """Mean differences with intervals, a row per group and a panel per comparison.

    A group is named with its number of sets, if that is the same in all panels.

    Parameters
    ----------
    summary : DataFrame
        Columns panel, group, mean, low, high, sets, verdict; NaN for no interval.
    dots : DataFrame
        Columns panel, group, difference: one faint dot per data set. What lies beyond the 2nd to
        98th percentile of a panel stands hollow at its edge.
        May have no rows.
    xlabel : str
    wide, narrow : int
        Panels in a row, on the page and on a phone.
    """
    groups = list(summary["group"].unique())
    counts = summary.groupby("group")["sets"].agg(["min", "max"])
    names = [f"{g} ({counts['min'][g]})" if (counts["min"] == counts["max"]).all() else g
             for g in groups]  # fmt: skip
    height = 0.8 + 0.36 * len(groups)
    figure, axes = panels(summary["panel"].nunique(), height, 0.4, wide, narrow, sharey=True)
    for ax, (panel, part) in zip(axes, summary.groupby("panel", sort=False), strict=True):
        row_names(ax, names)
        ax.axvline(0, color=FAINT, lw=1)
        own = dots[dots["panel"] == panel]
        low, high = own["difference"].quantile([0.02, 0.98])
        edges = np.fmin(low, part["mean"].min()), np.fmax(high, part["mean"].max())
        x = own["difference"].clip(*edges).to_numpy()
        at = own["group"].map(groups.index).to_numpy()
        inside = x == own["difference"].to_numpy()
        # as an image: thousands of marks would weigh more than the page
        style = {"marker": "o", "ls": "", "ms": 4, "color": FAINT, "rasterized": True}
        ax.plot(x[inside], at[inside], alpha=0.35, mew=0, **style)
        ax.plot(x[~inside], at[~inside], mfc="white", mew=0.8, **style)
        for row in part.itertuples():
            color = COLORS[row.verdict]
            where = groups.index(row.group)
            ax.plot([row.low, row.high], [where, where], color=color, lw=3, solid_capstyle="butt")
            ax.plot(row.mean, where, "D", color=color, ms=8, mec="white", mew=0.8)
        ax.set_title(HEADINGS.get(panel, panel))
        ax.locator_params(axis="x", nbins=5 if is_wide() and wide < 3 else 3)
        ax.xaxis.set_major_formatter("{x:g}")  # short: 0, not 0.000
        ax.margins(x=0.03)
    figure.supxlabel(xlabel)
    return figure


def rank_table(rows: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean rank of each method over the sets that have a metric, metrics across."""
    found = {m: across_sets.ranks(across_sets.set_means(rows, m).dropna(), m).mean()
             for m in metrics}  # fmt: skip
    return pd.DataFrame(found)
