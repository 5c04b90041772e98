"""Pictures of the argument: where the ends go, who confuses what, strength, all losses at once.

Drawn for the page's whole width and yet for a phone, so with few panels across and large type.
"""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.patches
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol.losses import center_class
from amol.report.style import BAND, FAINT, INK, STYLE, literal, row_names
from amol.report.tables import HEADINGS

PAGE, TYPE = 7.0, 14  # inches and points: 25 % smaller than the page's text at 400 CSS px
FATES = {  # of a sample of an outermost class, from its own class inwards
    "own class": "#0072B2",
    "next": "#56B4E9",
    "between": "#BFD9E6",
    "center": "#D55E00",
    "beyond": "#6B6B6B",
}
DATASET_STYLE = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#7A5195", "D"))


def _style() -> dict:
    sizes = ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
    return STYLE | dict.fromkeys(sizes, TYPE) | {"figure.labelsize": TYPE}


def _grid(panels: int, across: int, height: float, **kwargs) -> tuple[Figure, np.ndarray]:
    """Figure with ``panels`` axes, ``across`` in a row of ``height`` inches; the rest hidden."""
    across = min(across, panels)
    rows = -(-panels // across)
    figure = Figure(figsize=(PAGE, rows * height + 0.6))
    axes = figure.subplots(rows, across, squeeze=False, **kwargs).ravel()
    for ax in axes[panels:]:
        ax.set_visible(False)
    return figure, axes[:panels]


def fates(y_true: np.ndarray, y_pred: np.ndarray, num_classes: int) -> dict[str, float]:
    """Where the samples of the two outermost classes are put, as shares.

    Parameters
    ----------
    y_true : ndarray of int, shape (N,)
    y_pred : ndarray of int, shape (..., N)
        One or more networks' answers.
    num_classes : int

    Returns
    -------
    dict
        A share for each of `FATES`, 1 in sum; NaN without such a sample. "next" is the neighbor of
        the own class, "between" lies before the center, "beyond" after it.
    """
    last, center = num_classes - 1, center_class(num_classes)
    at_end = (y_true == 0) | (y_true == last)
    y, answers = y_true[at_end], np.atleast_2d(y_pred)[:, at_end]
    if not y.size:
        return dict.fromkeys(FATES, np.nan)
    away, to_center = np.abs(answers - y), np.abs(center - y)  # (M, n) and (n,)
    of_each = [answers == y, answers == center, away > to_center, away == 1]
    names = ["own class", "center", "beyond", "next"]
    found = np.select(of_each, names, "between")
    return {name: float(np.mean(found == name)) for name in FATES}


def ends(frame: pd.DataFrame) -> Figure:
    """Stacked bars of `fates`: one panel per data set, one bar per loss.

    Columns: panel, method and the keys of `FATES`.
    """
    with mpl.rc_context(_style()):
        panels = list(frame.groupby("panel", sort=False))
        names = list(frame["method"].unique())
        figure, axes = _grid(len(panels), 2, 0.8 + 0.36 * len(names), sharey=True, sharex=True)
        for ax, (title, part) in zip(axes, panels, strict=True):
            row_names(ax, names)
            at, left = [names.index(name) for name in part["method"]], np.zeros(len(part))
            for fate, color in FATES.items():
                share = 100 * part[fate].to_numpy()
                ax.barh(at, share, 0.78, left, color=color, edgecolor="white", lw=0.8)
                for y, x, width in zip(at, left, share, strict=True):
                    if width >= 14:
                        dark = fate in ("own class", "center", "beyond")
                        style = {"ha": "center", "va": "center", "fontsize": TYPE - 2}
                        shade = "white" if dark else INK
                        ax.text(x + width / 2, y, f"{width:.0f}", color=shade, **style)
                left = left + share
            ax.set(title=literal(title), xlim=(0, 100), xticks=(0, 50, 100))
            ax.tick_params(labelbottom=True)
        key = [mpl.patches.Patch(color=color, label=name) for name, color in FATES.items()]
        style = {"ncols": 5, "frameon": False, "handlelength": 1, "columnspacing": 1}
        figure.legend(handles=key, loc="outside upper center", **style)
        figure.supxlabel("% of the samples of the two outermost classes")
    return figure


def confusions(counts: Mapping[str, np.ndarray], center: int) -> Figure:
    """Row shares in percent, true class down, answer across, one panel per loss, two in a row.

    Parameters
    ----------
    counts : mapping of str to ndarray, shape (K, K)
        For each loss how many samples of a class (row) were called which (column), over all
        networks. A row is drawn as shares; its class is named with its samples, of the first loss.
    center : int
        Its column is framed.
    """
    with mpl.rc_context(_style()):
        figure, axes = _grid(len(counts), 2, 3.7, sharex=True, sharey=True)
        for ax, (name, table) in zip(axes, counts.items(), strict=True):
            shares = 100 * table / np.maximum(table.sum(axis=1, keepdims=True), 1)
            ax.imshow(shares, cmap="Blues", vmin=0, vmax=100, aspect="auto")
            for (row, column), share in np.ndenumerate(shares):
                style = {"ha": "center", "va": "center", "fontsize": TYPE - 3}
                shade = "white" if share > 55 else INK
                ax.text(column, row, f"{share:.0f}" if share >= 0.5 else "·", color=shade, **style)
            frame = {"fill": False, "edgecolor": "#D55E00", "lw": 2.5, "clip_on": False}
            ax.add_patch(mpl.patches.Rectangle((center - 0.5, -0.5), 1, len(table), **frame))
            ax.set(title=literal(name), xticks=range(len(table)))
            ax.tick_params(length=0, labelbottom=True)
            ax.spines[:].set_visible(False)
        rows = next(iter(counts.values())).sum(axis=1)
        named = [f"{k}  (n = {n:.0f})" for k, n in enumerate(rows)]
        axes[0].set_yticks(range(len(rows)), named)
        figure.supxlabel("answer (center framed)")
        figure.supylabel("true class")
    return figure


def strengths(frame: pd.DataFrame) -> Figure:
    """Metrics against the weight's strength, evenly spaced; one panel per metric, lines for sets.

    Columns: metric, dataset, strength, mean, std. The paper's strength, 1, is shaded.
    """
    with mpl.rc_context(_style()):
        panels = list(frame.groupby("metric", sort=False))
        values = sorted(frame["strength"].unique())
        figure, axes = _grid(len(panels), 2, 2.9, sharex=True)
        for ax, (metric, part) in zip(axes, panels, strict=True):
            if 1 in values:
                ax.axvspan(values.index(1) - 0.3, values.index(1) + 0.3, color=BAND, zorder=0)
            lines = part.groupby("dataset", sort=False)
            for (dataset, line), (color, marker) in zip(lines, DATASET_STYLE, strict=False):
                at = [values.index(value) for value in line["strength"]]
                style = {"color": color, "marker": marker, "capsize": 3, "label": literal(dataset)}
                ax.errorbar(at, line["mean"], line["std"], **style)
            ax.set_title(HEADINGS.get(metric, metric))
            ax.set_xticks(range(len(values)), [f"{v:g}".lstrip("0") or "0" for v in values])
            ax.tick_params(labelbottom=True)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center",
                      ncols=4, frameon=False)  # fmt: skip
        figure.supxlabel("strength $\\alpha$ (0: no weight; the paper's in gray)")
    return figure


def overview(frame: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Every loss in a row, a dot per data set; one panel per metric, two in a row.

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
    with mpl.rc_context(_style()):
        panels = list(frame.groupby("metric", sort=False))
        figure, axes = _grid(len(panels), 2, 0.7 + 0.29 * len(order), sharey=True)
        for ax, (metric, part) in zip(axes, panels, strict=True):
            row_names(ax, order)
            ax.axvline(0, color=FAINT, lw=1)
            low, high = part["difference"].quantile([0.04, 0.96])
            reach = 0.15 * (high - low)
            sets = part.groupby("dataset", sort=False)
            for (dataset, dots), (color, marker) in zip(sets, DATASET_STYLE, strict=False):
                at = np.array([order.index(name) for name in dots["method"]])
                x = dots["difference"].clip(low - reach, high + reach).to_numpy()
                inside = x == dots["difference"].to_numpy()
                style = {"color": color, "marker": marker, "ls": "", "ms": 7}
                ax.plot(x[inside], at[inside], label=literal(dataset), alpha=0.85, **style)
                ax.plot(x[~inside], at[~inside], mfc="white", mew=1.5, **style)
            ax.set_title(HEADINGS.get(metric, metric))
            ax.locator_params(axis="x", nbins=4)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center",
                      ncols=4, frameon=False, handletextpad=0.2)  # fmt: skip
        figure.supxlabel("difference from CE on the same data set")
    return figure
