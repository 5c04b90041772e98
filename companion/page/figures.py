"""Figures of the book: tidy frame in, Matplotlib figure out.

Drawn for the page's column and again for a phone, so that their text is always as large as the
page's; a method keeps its color and marker in every figure.
"""

import io
import warnings
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.font_manager
import matplotlib.lines
import matplotlib.patches
import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from amol.metrics import HIGHER_IS_BETTER
from companion.page.source import SOURCE, write_csv
from companion.page.style import (
    BAND,
    FAINT,
    INK,
    MOST_NUMBERED,
    PNG_SCALE,
    STYLE,
    book_style,
    class_ticks,
    escape_math,
    is_wide,
    method_style,
    name_panel,
    panels,
    row_names,
    starts_row,
    two_widths,
)
from companion.page.tables import HEADINGS
from companion.paths import results_dir

SIDES = ((8, 9, "left"), (8, -9, "left"), (-8, 9, "right"), (-8, -9, "right"))  # of a point


def _drawable(figure: Figure) -> bool:
    """Whether the fonts of the style have every letter of a figure."""
    families = [mpl.font_manager.FontProperties(family=[name]) for name in STYLE["font.family"]]
    fonts = [mpl.font_manager.get_font(mpl.font_manager.findfont(f)) for f in families]
    texts = "".join(text.get_text() for text in figure.findobj(Text))
    letters = {ord(letter) for letter in texts if letter.isprintable()}
    return all(any(font.get_char_index(letter) for font in fonts) for letter in letters)


def save(label: str, figure: Figure, data: pd.DataFrame) -> dict[str, bytes]:
    """Write ``figures/<label>`` as .svg, .pdf and .csv to the results folder; return a PNG.

    What was drawn for a phone becomes ``<label>.narrow.svg``; the book shows it there. Where no
    font has a letter, the text of the .svg stays text: whoever looks at it may have one.
    """
    folder = results_dir() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    from_here = {"Title": label, "Source": f"{SOURCE}; data: {label}.csv", "Date": None}
    kept = {} if _drawable(figure) else {"svg.fonttype": "none"}
    with book_style(**kept), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(folder / f"{label}.svg", metadata=from_here)
        if narrow := getattr(figure, "narrow", None):
            narrow.savefig(folder / f"{label}.narrow.svg", metadata=from_here)
        with mpl.rc_context({"figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)  # it is laid out now, and so drawn once and not twice
        about = {"Title": label, "Subject": from_here["Source"], "CreationDate": None}
        figure.savefig(folder / f"{label}.pdf", metadata=about)
        figure.savefig(png := io.BytesIO(), format="png", dpi=96 * PNG_SCALE)
    write_csv(folder, label, data)
    return {"image/png": png.getvalue()}


def _place_names(ax: Axes, x: pd.Series, y: pd.Series) -> None:
    """Name each point on the first side of it where no other point or name lies."""
    size = 72 * 0.8 * ax.figure.get_size_inches()  # of the axes, about, in points
    ax.autoscale_view()
    dots = size * ax.transAxes.inverted().transform(ax.transData.transform(np.c_[x, y]))
    taken = [Bbox([dot - 6, dot + 6]) for dot in dots]
    for name, point, dot in zip(x.index, np.c_[x, y], dots, strict=True):
        for dx, dy, side in SIDES:
            left = dot[0] + dx - (7.5 * len(name) if side == "right" else 0)
            box = Bbox.from_bounds(left, dot[1] + dy - 7, 7.5 * len(name), 14)
            if not any(map(box.overlaps, taken)) and box.x0 >= 0 and box.x1 <= size[0]:
                break
        taken.append(box)
        style = {"ha": side, "va": "center", "textcoords": "offset points"}
        halo = {"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.5}
        ax.annotate(escape_math(name), point, (dx, dy), bbox=halo, **style)


@two_widths
def class_lines(frame: pd.DataFrame, ylabel: str = "", log: Sequence[str] = ()) -> Figure:
    """Values over candidate classes: one panel per group, one line per name.

    Columns: panel, name, k, value. The panels named in ``log`` have a logarithmic axis; with a
    ``ylabel`` all share one axis.
    """
    groups = list(frame.groupby("panel", sort=False))
    figure, axes = panels(len(groups), 2.9, wide=3, sharey=bool(ylabel))
    looks = (("#0072B2", "o-"), ("#D55E00", "s--"), (INK, "^:"))
    for ax, (title, part) in zip(axes, groups, strict=True):
        lines = part.groupby("name", sort=False)
        for (name, line), (color, mark) in zip(lines, looks, strict=False):
            ax.plot(line["k"], line["value"], mark, color=color, lw=2, label=name)
        ax.set(xticks=sorted(part["k"].unique()), xlabel="candidate class $k$")
        ax.set(ylabel=ylabel if starts_row(ax) else "", yscale="log" if title in log else "linear")
        key = {"title": title, "alignment": "left", "ncols": 3, "labelcolor": "linecolor"}
        key |= {"handlelength": 1.5, "handletextpad": 0.4, "columnspacing": 1, "frameon": False}
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderpad=0, **key)
    return figure


@two_widths
def average_distribution(frame: pd.DataFrame, truth: pd.Series, center: int) -> Figure:
    """Mean predicted probability of every class, one line per method, over bars of the truth.

    ``frame`` has columns method, k, mean, std; ``truth`` the share of each true class, by class;
    ``center`` is shaded.
    """
    figure, (ax,) = panels(1, 4.3)
    ax.axvspan(center - 0.5, center + 0.5, color=BAND, zorder=0)
    ax.bar(truth.index, truth, width=0.5, color="#CFCFCF", zorder=1)
    for method, line in frame.groupby("method", sort=False):
        color, marker = method_style(method)
        style = {"color": color, "marker": marker, "lw": 2, "capsize": 3}
        style["label"] = escape_math(method)
        ax.errorbar(line["k"], line["mean"], line["std"], **style)
    ax.set(xlabel="class $k$", ylabel="mean probability", ylim=(0, None))
    ax.set_xticks(class_ticks(ax, len(truth)))
    ax.text(center, ax.get_ylim()[1], "center", ha="center", va="bottom")
    figure.legend(loc="outside upper center", ncols=6 if is_wide() else 3, frameon=False)
    return figure


@two_widths
def bars(frame: pd.DataFrame, ylabel: str, xlabel: str = "class") -> Figure:
    """Share of every class, one panel per group, the center class dark.

    Columns: panel, label (of the class), share, center (bool); one row per bar.
    """
    groups = list(frame.groupby("panel", sort=False))
    figure, axes = panels(len(groups), 2.8, wide=4, narrow=2, sharey=True)
    for ax, (title, part) in zip(axes, groups, strict=True):
        colors = np.where(part["center"], "#D55E00", "#9BB7CC")
        ax.bar(part["label"].astype(str), part["share"], color=colors)
        ax.set(xlabel=xlabel, xticks=class_ticks(ax, len(part)))
        name_panel(ax, title)
        ax.set_ylabel(ylabel if starts_row(ax) else "")
    return figure


@two_widths
def confusion(frame: pd.DataFrame, center: int) -> Figure:
    """Row shares in percent, true class down, predicted class across; the center column framed.

    Many classes have a scale of shades in place of numbers. Columns: true, predicted, share (of the
    true class).
    """
    import seaborn  # slow to load, and for this alone

    grid = frame.pivot(index="true", columns="predicted", values="share")
    figure, (ax,) = panels(1, 5.2 if is_wide() else 4.6)
    few = len(grid) <= MOST_NUMBERED
    shades = {"cmap": "Blues", "vmin": 0, "vmax": 100, "cbar": not few, "square": True}
    seaborn.heatmap(100 * grid, annot=few, fmt=".0f", **shades, ax=ax)
    frame_style = {"fill": False, "edgecolor": "#D55E00", "lw": 2.5, "clip_on": False}
    ax.add_patch(mpl.patches.Rectangle((center, 0), 1, len(grid), **frame_style))
    ax.set(xlabel="predicted class (center framed)", ylabel="true class")
    ax.tick_params(length=0, rotation=0)
    return figure


@two_widths
def dots(summary: pd.DataFrame, panel: str = "dataset", flags: Mapping[str, str] = {}) -> Figure:
    """Mean with a bar of one standard deviation, one row per method; the paper's mean as a tick.

    Parameters
    ----------
    summary : DataFrame
        From `companion.page.tables.summarize`.
    panel : {"dataset", "metric"}
        What a panel shows; each has an axis of its own.
    flags : mapping
        Mark after a panel's title, such as ``{"Wine Red": "†"}``.
    """
    groups = list(summary.groupby(panel, sort=False))
    methods = list(summary["method"].unique())
    groups = [g for g in groups if g[1]["mean"].notna().any()] or groups  # CHR_ext of few classes
    figure, axes = panels(len(groups), 0.9 + 0.3 * len(methods), 0.4, narrow=2, sharey=True)
    for ax, (name, part) in zip(axes, groups, strict=True):
        row_names(ax, methods)
        for row in part.itertuples():
            color, marker = method_style(row.method)
            at = methods.index(row.method)
            ax.errorbar(row.mean, at, xerr=row.std, color=color, marker=marker, ms=7, capsize=3)
            ax.plot(row.paper_mean, at, "|", color=INK, ms=15, mew=1.8, zorder=3)
        name_panel(ax, HEADINGS.get(name, name), flags.get(name, ""))
        ax.margins(x=0.1)
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5 if is_wide() else 2))
    key = [mpl.lines.Line2D([], [], color=FAINT, marker="o", label="ours, mean ± std")]
    tick = {"color": INK, "marker": "|", "ms": 13, "mew": 1.8, "ls": "", "label": "paper"}
    key += [mpl.lines.Line2D([], [], **tick)] if summary["paper_mean"].notna().any() else []
    figure.legend(handles=key, loc="outside upper center", ncols=2, frameon=False)
    if panel == "dataset":
        figure.supxlabel(" and ".join(HEADINGS.get(m, m) for m in summary["metric"].unique()))
    return figure


@two_widths
def dumbbells(
    frame: pd.DataFrame, ends: Mapping[str, str], xlabel: str, scale: str = "linear"
) -> Figure:
    """Two values per row, joined: a hollow and a full dot, one panel per group.

    Parameters
    ----------
    frame : DataFrame
        Columns: panel, name (of the row) and the two that ``ends`` names.
    ends : mapping
        The hollow end's column and the full end's, each with its text in the key.
    xlabel : str
    scale : str
        Matplotlib's name of the x scale.
    """
    (hollow, full), names = ends, list(frame["name"].unique())
    groups = list(frame.groupby("panel", sort=False))
    figure, axes = panels(len(groups), 0.9 + 0.31 * len(names), 0.7, sharey=True)
    for ax, (title, part) in zip(axes, groups, strict=True):
        row_names(ax, names)
        at = [names.index(name) for name in part["name"]]
        ax.hlines(at, part[hollow], part[full], color=FAINT, lw=2, zorder=1)
        style = {"s": 60, "lw": 1.8, "zorder": 2}
        ax.scatter(part[hollow], at, color="white", edgecolor="#D55E00", **style)
        ax.scatter(part[full], at, color="#0072B2", edgecolor="#0072B2", **style)
        ax.set(xscale=scale, xlabel=xlabel)
        name_panel(ax, title)
        if scale == "log":
            ax.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    key = [
        mpl.lines.Line2D(
            [], [], ls="", marker="o", ms=8, mew=1.8, mec=edge, mfc=fill, label=ends[column]
        )
        for column, edge, fill in ((hollow, "#D55E00", "white"), (full, "#0072B2", "#0072B2"))
    ]
    columns = 2 if is_wide() else 1
    figure.legend(handles=key, loc="outside upper left", ncols=columns, frameon=False)
    return figure


@two_widths
def tradeoff(summary: pd.DataFrame, x: str, y: str) -> Figure:
    """Metric ``y`` against metric ``x``, one named point per method with bars of one std.

    ``summary`` comes from `tables.summarize`, of one data set. A method far below all others would
    squeeze them; it is named at the lower edge instead.
    """
    figure, (ax,) = panels(1, 4.3)
    wide = summary.pivot(index="method", columns="metric", values=["mean", "std"])
    points = wide["mean"].dropna()
    ranked = points[y].sort_values()
    gap, rest = ranked.iloc[:2].diff().max(), ranked.iloc[1:]
    inside = points.loc[rest.index] if gap > 2 * (rest.max() - rest.min()) > 0 else points
    for method, at in inside.iterrows():
        color, marker = method_style(method)
        spread = wide.loc[method, "std"]
        ax.errorbar(at[x], at[y], spread[y], spread[x], color=color, marker=marker, ms=9, capsize=3)
    ax.margins(0.15, 0.15)
    ax.locator_params(nbins=5)
    _place_names(ax, inside[x], inside[y])
    beyond = points.drop(inside.index)
    if len(beyond):
        text = "; ".join(f"{m} ({p[x]:.2f}, {p[y]:.2f})" for m, p in beyond.iterrows())
        ax.set_title(f"off the chart: {text}")
    better = {True: "higher is better", False: "lower is better"}
    label = {m: f"{HEADINGS.get(m, m)} ({better[HIGHER_IS_BETTER[m]]})" for m in (x, y)}
    ax.set(xlabel=label[x], ylabel=label[y])
    return figure
