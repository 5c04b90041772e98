"""Pictures of the argument: who confuses what, what strength does, all losses at once."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.patches
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.page.style import (
    BAND,
    FAINT,
    INK,
    MOST_NUMBERED,
    class_ticks,
    escape_math,
    is_wide,
    panels,
    row_names,
    starts_row,
    two_widths,
)
from companion.page.tables import HEADINGS

LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#7A5195", "D"))  # of data sets


def counts(y_true: np.ndarray, y_pred: np.ndarray, num_classes: int) -> np.ndarray:
    """Confusion counts, mean over networks, shape (K, K): true class down, answer across.

    Parameters
    ----------
    y_true : ndarray of int, shape (N,)
    y_pred : ndarray of int, shape (seeds, N)
    num_classes : int
    """
    table = np.zeros((num_classes, num_classes))
    np.add.at(table, (np.broadcast_to(y_true, y_pred.shape), y_pred), 1 / len(y_pred))
    return table


@two_widths
def confusions(tables: Mapping[str, np.ndarray], center: int) -> Figure:
    """Row shares in percent, true class down, answer across, one panel per loss.

    Parameters
    ----------
    tables : mapping of str to ndarray, shape (K, K)
        `counts` by loss. Each class is named with its number of samples. Many classes have a
        scale of shades in place of numbers.
    center : int
        Its column is framed.
    """
    count = len(next(iter(tables.values())))
    few, height = count <= MOST_NUMBERED, min(max(3.3, 0.25 * count), 8)
    figure, axes = panels(len(tables), height, 0.3, wide=2, narrow=2, sharey=True)
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        shares = 100 * table / np.maximum(table.sum(axis=1, keepdims=True), 1e-9)
        shade = ax.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
        style = {"ha": "center", "va": "center", "fontsize": 12 if is_wide() else 10}
        for (row, column), share in np.ndenumerate(shares) if few else ():
            text = f"{share:.0f}" if share >= 0.5 else "·"
            ax.text(column, row, text, color="white" if share > 55 else INK, **style)
        frame = {"fill": False, "edgecolor": "#D55E00", "lw": 2.5, "clip_on": False}
        ax.add_patch(mpl.patches.Rectangle((center - 0.5, -0.5), 1, len(table), **frame))
        ax.set(title=escape_math(name), xticks=class_ticks(ax, count))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    samples = next(iter(tables.values())).sum(axis=1)
    named = [f"{k}  (n = {n:.0f})" if is_wide() else f"{k} ({n:.0f})"
             for k, n in enumerate(samples)]  # fmt: skip
    step = -(-count // 32)
    axes[0].set_yticks(range(0, count, step), named[::step])
    if not few:
        figure.colorbar(shade, ax=axes, label="percent")
    figure.supxlabel("answer (center framed)")
    figure.supylabel("true class (samples)")
    return figure


def _key(figure: Figure, ax) -> None:
    style = {"ncols": 4 if is_wide() else 2, "frameon": False, "handletextpad": 0.3}
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", **style)


@two_widths
def strengths(
    frame: pd.DataFrame, moved: str = "strength", label: str = "strength $\\alpha$"
) -> Figure:
    """Metrics against the weight's strength or what else is moved, evenly spaced.

    Columns: metric (a panel), dataset (a line), ``moved``, mean, std. The paper's value, 1, is
    shaded; ``label`` names the axis.
    """
    groups = list(frame.groupby("metric", sort=False))
    values = sorted(frame[moved].unique())
    figure, axes = panels(len(groups), 2.6, 0.7, wide=2, narrow=1)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        if 1 in values:
            ax.axvspan(values.index(1) - 0.3, values.index(1) + 0.3, color=BAND, zorder=0)
        lines = part.groupby("dataset", sort=False)
        for (dataset, line), (color, marker) in zip(lines, LOOKS, strict=False):
            at = [values.index(value) for value in line[moved]]
            style = {"color": color, "marker": marker, "capsize": 3, "label": escape_math(dataset)}
            ax.errorbar(at, line["mean"], line["std"], **style)
        ax.set_title(HEADINGS.get(metric, metric))
        ax.set_xticks(range(len(values)), [f"{v:g}".lstrip("0") or "0" for v in values])
    _key(figure, axes[0])
    figure.supxlabel(f"{label} (the paper's shaded)")
    return figure


@two_widths
def overview(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Every loss in a row, a dot per data set; one panel per metric.

    Parameters
    ----------
    frame : DataFrame
        Columns: metric, dataset, method and difference, from a baseline on the same data set.
    order : sequence of str
        The losses from the top.

    Notes
    -----
    A few far values would squeeze all others, so what lies well outside the 4th to 96th
    percentile of a panel stands hollow at its edge.
    """
    groups = list(frame.groupby("metric", sort=False))
    figure, axes = panels(len(groups), 0.7 + 0.29 * len(order), 0.7, wide=3, sharey=True)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        row_names(ax, order)
        ax.tick_params(labelleft=starts_row(ax))
        ax.axvline(0, color=FAINT, lw=1)
        low, high = part["difference"].quantile([0.04, 0.96])
        reach = 0.15 * (high - low)
        sets = part.groupby("dataset", sort=False)
        for (dataset, dots), (color, marker) in zip(sets, LOOKS, strict=False):
            at = np.array([order.index(name) for name in dots["method"]])
            x = dots["difference"].clip(low - reach, high + reach).to_numpy()
            inside = x == dots["difference"].to_numpy()
            style = {"color": color, "marker": marker, "ls": "", "ms": 7}
            ax.plot(x[inside], at[inside], label=escape_math(dataset), alpha=0.85, **style)
            ax.plot(x[~inside], at[~inside], mfc="white", mew=1.5, **style)
        ax.set_title(HEADINGS.get(metric, metric))
        ax.locator_params(axis="x", nbins=4)
    _key(figure, axes[0])
    figure.supxlabel("difference from CE on the same data set")
    return figure
