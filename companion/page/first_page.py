"""First page: where the samples at the ends go under each loss."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol.losses import center_class
from companion.page.style import book_style, canvas, name_panel, row_names, two_widths

BASELINE = "CE"
# from home to the far side, each with its color and that of text on it
PLACES = {
    "own class": ("#0072B2", "white"),
    "next to it": ("#8EC1E6", "black"),
    "between": ("#A9A9A9", "black"),
    "center": ("#D55E00", "white"),
    "beyond": ("#555555", "white"),
}


def destinations(y_true: np.ndarray, y_pred: np.ndarray, num_classes: int) -> pd.Series:
    """Where the samples of the two outermost classes on each side are predicted.

    With fewer than five classes, whose center would be among them, the outermost class alone.

    Parameters
    ----------
    y_true : ndarray of int, shape (N,)
    y_pred : ndarray of int, shape (seeds, N)
    num_classes : int

    Returns
    -------
    Series
        Shares by `PLACES`, which add up to 1: the true class, one beside it, one between there and
        the center, the center (this share is CHR_ext), the other side. NaN without such a sample.
    """
    center = center_class(num_classes)
    to_end = np.minimum(y_true, num_classes - 1 - y_true)
    extreme = to_end < (2 if num_classes >= 5 else 1)
    truth = np.broadcast_to(y_true[extreme], (len(y_pred), extreme.sum()))
    answer = y_pred[:, extreme]
    low = truth < center
    cases = [answer == truth, answer == center, low != (answer < center)]
    names = ["own class", "center", "beyond"]
    place = np.select([*cases, abs(answer - truth) == 1], [*names, "next to it"], "between")
    return pd.Series({name: np.mean(place == name) if place.size else np.nan for name in PLACES})


@two_widths
def stacked_shares(frame: pd.DataFrame) -> Figure:
    """Shares of `PLACES` as stacked bars: one panel per data set, one row per method.

    Columns: dataset, method and `PLACES`.
    """
    with book_style():
        panels = list(frame.groupby("dataset", sort=False))
        methods = list(frame["method"].unique())
        rows, across = -(-len(panels) // 2), min(2, len(panels))
        height = rows * (0.6 + 0.33 * len(methods)) + 0.7
        figure, axes = canvas(rows, across, height, sharey=True, sharex=True)
        for ax, (dataset, part) in zip(axes, panels, strict=False):
            row_names(ax, methods)
            ax.grid(False)
            at, left = part["method"].map(methods.index), 0.0
            for place, (color, ink) in PLACES.items():
                bar = ax.barh(at, part[place], left=left, color=color, height=0.8, label=place)
                text = [f"{100 * s:.0f}" if s >= 0.13 else "" for s in part[place]]
                ax.bar_label(bar, text, label_type="center", color=ink, fontsize=11)
                left = left + part[place]
            ax.set(xlim=(0, 1), xticks=[])
            name_panel(ax, dataset)
            ax.spines[["bottom", "left"]].set_visible(False)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        handles, names = axes[0].get_legend_handles_labels()
        style = {"frameon": False, "handlelength": 1, "columnspacing": 1, "handletextpad": 0.4}
        figure.legend(handles, names, loc="outside upper center", ncols=3, **style)
    return figure
