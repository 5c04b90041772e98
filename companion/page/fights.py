"""Tables and figures of the fair fight and of how much α, from recorded rows."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.lines
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol.losses import center_class
from companion.data.datasets import load_dataset
from companion.page.appendix import BLUE, RED
from companion.page.style import (
    BAND,
    FAINT,
    INK,
    escape_math,
    is_wide,
    method_style,
    panels,
    row_names,
    starts_row,
    two_widths,
)
from companion.page.tables import HEADINGS, Table
from companion.page.words import change, signed
from companion.studies.across_sets import set_means
from companion.studies.decisions import HIGHER_IS_BETTER
from companion.studies.rank_tests import cliques, mean_ranks, signed_rank

REGIONS = {"QWK": 0.01, "MAE": 0.02, "end_recall": 0.02, "CHR": 0.02}  # of practical equivalence


def sets_table(names: Sequence[str]) -> pd.DataFrame:
    """Rows, features, classes, the center and the two ends of data sets, as text."""
    found = []
    for data in map(load_dataset, names):
        shares = np.bincount(data.y) / len(data.y)
        c = center_class(data.num_classes)
        found.append(
            {
                "Data set": data.name,
                "Rows": f"{len(data.y)}",
                "Features": f"{data.X.shape[1]}",
                "K": f"{data.num_classes}",
                "Center (share)": f"{data.class_names[c]} ({shares[c]:.0%})",
                "Ends (shares)": f"{data.class_names[0]} ({shares[0]:.1%}), "
                f"{data.class_names[-1]} ({shares[-1]:.1%})",
            }
        )
    return pd.DataFrame(found).set_index("Data set")


def means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over splits, data sets down and methods across, both in the order of the rows."""
    return set_means(rows, metric).reindex(columns=list(rows["method"].unique()))


def ranks(rows: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean rank per method and metric over the data sets that have the metric, 1 the best."""
    signs = {metric: 1 if HIGHER_IS_BETTER[metric] else -1 for metric in metrics}
    return pd.DataFrame({m: mean_ranks(means(rows, m).dropna() * s) for m, s in signs.items()})


def scores_table(rows: pd.DataFrame, metric: str) -> Table:
    """Means of a metric, a method in each row, by mean rank; the best per data set is bold."""
    wide = means(rows, metric)
    rank = ranks(rows, [metric])[metric].sort_values(kind="stable")
    best = wide.max(axis=1) if HIGHER_IS_BETTER[metric] else wide.min(axis=1)
    best = wide.round(3).eq(best.round(3), axis=0)
    cells = wide.map("{:.3f}".format)
    cells = cells.mask(best, "**" + cells + "**").T.loc[rank.index]
    cells.insert(0, "Mean rank", rank.map("{:.1f}".format))
    over = f"Mean over {rows['split_seed'].nunique()} splits, the best in bold, by mean rank."
    return Table(cells.rename_axis(index="Method", columns=None), over, wide.T.reset_index())


def ranks_table(table: pd.DataFrame) -> pd.DataFrame:
    """`ranks` as text, by the first metric; the best of each in bold."""
    ordered = table.sort_values(table.columns[0], kind="stable")
    cells = ordered.map("{:.1f}".format)
    cells = cells.mask(ordered.eq(ordered.min()), "**" + cells + "**")
    return cells.rename(columns=HEADINGS).rename_axis("Method")


@two_widths
def rank_diagram(table: pd.DataFrame, difference: float) -> Figure:
    """Mean ranks, a panel per metric; a bar at the side joins what lies within ``difference``."""
    figure, axes = panels(len(table.columns), 0.7 + 0.29 * len(table), 0.2, wide=2)
    for ax, (metric, rank) in zip(axes, table.items(), strict=True):
        rank = rank.sort_values(kind="stable")
        row_names(ax, list(rank.index))
        for at, (method, value) in enumerate(rank.items()):
            color, marker = method_style(method)
            ax.plot(value, at, marker, color=color, ms=8)
        low, high = rank.iloc[0], rank.iloc[-1]
        step = 0.05 * (high - low)
        for number, (first, last) in enumerate(cliques(rank, difference)):
            within = np.flatnonzero(rank.between(first, last))
            ends = [within[0] - 0.25, within[-1] + 0.25]
            ax.plot([high + (2 + number) * step] * 2, ends, color=FAINT, lw=4)
        ax.set_title(f"{HEADINGS.get(metric, metric)}: mean rank")
    bar = mpl.lines.Line2D([], [], color=FAINT, lw=4, label="no difference of ranks is shown")
    figure.legend(handles=[bar], loc="outside upper left", frameon=False)
    return figure


def verdicts(differences: pd.DataFrame) -> pd.DataFrame:
    """How each pair of methods compares over all data sets, a row per pair and metric.

    ``differences`` is from `paired_differences`. Columns: method, baseline, metric, sets, better
    and worse (data sets whose interval excludes zero), difference (mean over sets, positive
    where higher), and the probabilities P(worse), P(equal) and P(better) of the signed-rank test
    with the metric's region of `REGIONS`.
    """
    found = []
    for pair, own in differences.groupby(["method", "baseline"], sort=False):
        for metric, part in own.groupby("metric", sort=False):
            gains = part["difference"] * (1 if HIGHER_IS_BETTER[metric] else -1)
            chances = signed_rank(gains.to_numpy(), REGIONS[metric])
            counts = [int((part["verdict"] == v).sum()) for v in ("better", "worse")]
            found.append((*pair, metric, len(part), *counts, part["difference"].mean(), *chances))
    columns = ["method", "baseline", "metric", "sets", "better", "worse", "difference",
               "P(worse)", "P(equal)", "P(better)"]  # fmt: skip
    return pd.DataFrame(found, columns=columns)


def verdicts_table(found: pd.DataFrame) -> pd.DataFrame:
    """`verdicts` as text."""
    cells = pd.DataFrame({"Pair": found["method"] + " − " + found["baseline"]})
    cells["Metric"] = found["metric"].replace(HEADINGS)
    cells["Mean difference"] = found["difference"].map(signed)
    cells["Better / worse"] = [
        f"{r.better} / {r.worse} of {r.sets}" for r in found.itertuples(index=False)
    ]
    for name in ("worse", "equal", "better"):
        cells[f"P({name})"] = found[f"P({name})"].map("{:.2f}".format)
    return cells.set_index("Pair")


def in_words(found: pd.DataFrame, method: str, baseline: str, metric: str) -> tuple[str, str]:
    """The likeliest of worse, equal and better for a row of `verdicts`, and it as a sentence."""
    own = found[["method", "baseline", "metric"]].eq([method, baseline, metric]).all(axis=1)
    (row,) = found[own].to_dict("records")
    chances = {word: row[f"P({word})"] for word in ("worse", "equal", "better")}
    text = (
        f"{method}'s {metric.replace('_', ' ')} is {change(row['difference'])} than that of "
        f"{baseline} in the mean, shown to be better on {row['better']} and worse on "
        f"{row['worse']} of {row['sets']} sets; the typical difference is worse with posterior "
        f"probability {chances['worse']:.2f}, practically equal with {chances['equal']:.2f}, "
        f"better with {chances['better']:.2f}."
    )
    return max(chances, key=chances.get), text


def steps(rows: pd.DataFrame, ways: Mapping[str, tuple], metrics: Sequence[str]) -> pd.DataFrame:
    """Differences of means by way, data set and metric.

    Parameters
    ----------
    rows : DataFrame
    ways : mapping
        From a way's name to two pairs of method and rule: where it starts, where it ends.
    metrics : sequence of str

    Returns
    -------
    DataFrame
        Columns metric, way, dataset and difference, NaN where a set doesn't have the metric.
    """
    means = {
        pair: part.groupby("dataset", sort=False)[list(metrics)].mean()
        for pair, part in rows.groupby(["method", "rule"], sort=False)
    }
    found = []
    for way, (start, end) in ways.items():
        gaps = (means[end] - means[start]).stack().rename("difference").reset_index()
        found.append(gaps.rename(columns={"level_1": "metric"}).assign(way=way))
    return pd.concat(found, ignore_index=True)


@two_widths
def steps_figure(frame: pd.DataFrame) -> Figure:
    """`steps`: a faint dot per data set, a diamond at their mean; a panel per metric.

    What lies well outside the 7th to 93rd percentile of a panel stands hollow at its edge.
    """
    ways = list(frame["way"].unique())
    groups = list(frame.groupby("metric", sort=False))
    figure, axes = panels(len(groups), 0.75 + 0.31 * len(ways), 0.8, sharey=True)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        row_names(ax, ways)
        ax.axvline(0, color=FAINT, lw=1)
        low, high = part["difference"].quantile([0.07, 0.93])
        low, high = low - 0.2 * (high - low), high + 0.2 * (high - low)
        means = part.groupby("way", sort=False)["difference"].mean().items()
        dots = [(way, x, "o", FAINT, 5) for way, x in part[["way", "difference"]].to_numpy()]
        for way, x in means:
            good = (x > 0) == HIGHER_IS_BETTER[metric]
            dots.append((way, x, "D", BLUE if good else RED, 9))
        for way, x, marker, color, size in dots:
            inside = low <= x <= high
            style = {"color": color, "mfc": color if inside else "white", "ms": size}
            style |= {"alpha": 0.6 if marker == "o" else 1, "clip_on": False}
            ax.plot(min(max(x, low), high), ways.index(way), marker, **style)
        ax.set_title(HEADINGS.get(metric, metric))
        ax.locator_params(axis="x", nbins=5 if is_wide() else 3)
    key = [("o", FAINT, "a data set"), ("D", BLUE, "mean, better"), ("D", RED, "mean, worse")]
    handles = [mpl.lines.Line2D([], [], ls="", marker=m, color=c, label=t) for m, c, t in key]
    columns = 3 if is_wide() else 1
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False)
    return figure


def on_front(frame: pd.DataFrame, lower: str, higher: str) -> pd.Series:
    """Whether no point of the same data set is better in one of two metrics and no worse in both.

    ``lower`` names the metric of which less is better, ``higher`` the other.
    """
    found = []
    for row in frame.itertuples():
        x, y = getattr(row, lower), getattr(row, higher)
        part = frame[frame["dataset"] == row.dataset]
        as_good = (part[lower] <= x) & (part[higher] >= y)
        found.append(not (as_good & ((part[lower] < x) | (part[higher] > y))).any())
    return pd.Series(found, index=frame.index)


@two_widths
def fronts(frame: pd.DataFrame, x: str, y: str) -> Figure:
    """Metric ``y`` against ``x``, a panel per data set, points joined in order.

    Columns: dataset, series (one line each), name (of the point), ``x``, ``y`` and front, whether
    no other point of the panel is as good in both; these are full. A line's ends are named.
    """
    groups = list(frame.groupby("dataset", sort=False))
    figure, axes = panels(len(groups), 3.4, 0.5, wide=3)
    for ax, (dataset, part) in zip(axes, groups, strict=True):
        looks = zip(part.groupby("series", sort=False), ((BLUE, "o"), (RED, "s")), strict=False)
        for (series, line), (color, marker) in looks:
            ax.plot(line[x], line[y], "-", color=color, lw=1, alpha=0.6)
            for point in line.itertuples():
                at = getattr(point, x), getattr(point, y)
                style = {"color": color, "mfc": color if point.front else "white", "ms": 7}
                ax.plot(*at, marker, label=series, **style)
                if point.Index in line.index[[0, -1]]:
                    near = {"xytext": (5, 5), "textcoords": "offset points", "fontsize": 10}
                    ax.annotate(point.name, at, color=INK, **near)
        ax.margins(0.15)
        ax.grid(color=BAND)
        ax.set(title=escape_math(dataset), xlabel=HEADINGS.get(x, x))
        ax.set_ylabel(HEADINGS.get(y, y) if starts_row(ax) else "")
        ax.locator_params(nbins=4)
    handles, labels = axes[0].get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named.keys(), loc="outside upper left", frameon=False)
    return figure
