"""What every figure shares: sizes, type, colors, a method's look, panels and rows of names.

A figure is drawn twice: as wide as the page's column, and for a phone.
"""

import functools
import textwrap
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar

import matplotlib as mpl
import matplotlib.font_manager
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from amol.losses import LOSSES

WIDE, NARROW = 8.86, 4.5  # inches: 850 CSS px, the column's width; on a phone about 400
PNG_SCALE = 1.25  # pixels of an image in a notebook to a CSS px
MOST_NUMBERED = 10  # classes of a confusion matrix that has its numbers in it
SIZE = 13  # points: on both, text is as large as the page's 16 px
INK, FAINT, BAND = "#222222", "#8A8A8A", "#E9E9E9"
LETTERS = (  # for names in letters that DejaVu Sans lacks; where one is installed
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "PingFang SC", "Yu Gothic",
    "Microsoft YaHei", "Malgun Gothic", "WenQuanYi Micro Hei", "Droid Sans Fallback",
)  # fmt: skip
INSTALLED = [name for name in LETTERS if name in set(mpl.font_manager.get_font_names())]
STYLE = {
    "font.family": ["DejaVu Sans", *INSTALLED, "sans-serif"],
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "text.color": INK,
    "figure.labelsize": SIZE,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "amol",
}
# Okabe and Ito's palette, the yellow darkened so that it shows on white
METHOD_STYLE = {
    "CE": ("#000000", "o"),
    "OLL": ("#E69F00", "s"),
    "SORD": ("#56B4E9", "^"),
    "AMOL": ("#0072B2", "D"),
    "AMOL-asym": ("#D55E00", "v"),
    "AMOL-exp": ("#009E73", "P"),
    "AMOL-OLL": ("#CC79A7", "X"),
    "AMOL-CE": ("#9C8500", "<"),
    "KL": ("#7A5195", ">"),
    "CE-masked": ("#6B6B6B", "h"),
}
SPARE_STYLE = [
    ("#882255", "*"), ("#117733", "p"), ("#332288", "d"), ("#AA4499", "8"),
    ("#999933", "H"), ("#44AA99", "^"), ("#CC6677", "s"), ("#6699CC", "D"),
]  # fmt: skip


def method_style(method: str) -> tuple[str, str]:
    """Color and marker of a method; other losses take the spare ones, in order of registration."""
    others = [name for name in LOSSES if name not in METHOD_STYLE]
    at = others.index(method) if method in others else zlib.crc32(method.encode())
    return METHOD_STYLE.get(method, SPARE_STYLE[at % len(SPARE_STYLE)])


def escape_math(text: str) -> str:
    """Text that isn't ours, with no part of it read as a formula."""
    return text.replace("$", r"\$")


class BookFigure(Figure):
    """A figure for the page's column, and the same for a phone where that was drawn too."""

    narrow: Figure | None = None


def book_style(**further):
    """Context in which figures have the book's style, whatever a matplotlibrc says."""
    return mpl.style.context(["default", STYLE | further])


_width = ContextVar("width", default=NARROW)


def two_widths(draw: Callable[..., BookFigure]) -> Callable[..., BookFigure]:
    """Let a function draw in the book's style, and twice: for the column and for a phone."""

    @functools.wraps(draw)
    def drawn(*args, **kwargs) -> BookFigure:
        figures = []
        for width in (WIDE, NARROW):
            token = _width.set(width)
            try:
                with book_style():
                    figures.append(draw(*args, **kwargs))
            finally:
                _width.reset(token)
        figures[0].narrow = figures[1]
        return figures[0]

    return drawn


def is_wide() -> bool:
    """Whether the figure that is being drawn is the one for the page's column."""
    return _width.get() == WIDE


def canvas(rows: int, columns: int, height: float, **kwargs) -> tuple[BookFigure, np.ndarray]:
    """Figure of ``rows`` × ``columns`` panels, kept out of pyplot; axes as a flat array."""
    figure = BookFigure(figsize=(_width.get(), height))
    return figure, figure.subplots(rows, columns, squeeze=False, **kwargs).ravel()


def panels(
    count: int, height: float, extra: float = 0, wide: int = 2, narrow: int = 1, **kwargs
) -> tuple[BookFigure, np.ndarray]:
    """Figure of ``count`` panels, at most ``wide`` or ``narrow`` of them in a row.

    A row is ``height`` inches high, and high enough for a title of two lines; what stands beside
    the rows ``extra``.
    """
    across = min(count, wide if is_wide() else narrow)
    rows = -(-count // across)
    figure, axes = canvas(rows, across, rows * max(height, 1.6) + extra, **kwargs)
    for ax in axes[count:]:
        ax.set_visible(False)
    return figure, axes[:count]


def room(ax: Axes) -> float:
    """Width of a panel in inches, about."""
    return _width.get() / ax.get_subplotspec().get_gridspec().ncols - 0.8


def name_panel(ax: Axes, name: str, mark: str = "") -> None:
    """Title a panel with a name that isn't ours, in at most two lines no wider than the panel."""
    wide = any(unicodedata.east_asian_width(letter) in "WF" for letter in name)
    letters = int(room(ax) * (5.5 if wide else 11))
    lines = textwrap.wrap(name + mark, letters, max_lines=2, placeholder=" …")
    ax.set_title(escape_math("\n".join(lines)))


def class_ticks(ax: Axes, count: int) -> range:
    """Classes with a tick label across a panel: all, or every n-th where there is no room."""
    needed = count * (0.08 + 0.11 * len(str(count - 1)))
    return range(0, count, int(-(-needed // room(ax))))


def starts_row(ax: Axes) -> bool:
    """Whether a panel is the first of its row."""
    return ax.get_subplotspec().is_first_col()


def row_names(ax: Axes, names: Sequence[str]) -> None:
    """One row per name, the first on top."""
    ax.set_yticks(range(len(names)), map(escape_math, names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(axis="x", color=BAND)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
