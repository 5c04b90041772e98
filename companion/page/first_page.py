"""First page: where the samples at the ends go under each loss, and which loss serves which aim."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from amol.losses import center_class
from amol.metrics import HIGHER_IS_BETTER
from companion.page.fights import ranks
from companion.page.style import book_style, canvas, name_panel, row_names, two_widths
from companion.page.words import listed
from companion.studies import fair_fight, recordings
from companion.studies.paired_intervals import paired_differences

BASELINE = "CE"
# from home to the far side, each with its color and that of text on it
PLACES = {
    "own class": ("#0072B2", "white"),
    "next to it": ("#8EC1E6", "black"),
    "between": ("#D9D9D9", "black"),
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


def against_baseline(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """`paired_differences` of every method from cross-entropy.

    A method that isn't there on every data set is left out.
    """
    counts = runs.groupby("method", sort=False)["dataset"].nunique()
    methods = counts.index[counts == runs["dataset"].nunique()].drop(BASELINE)
    return paired_differences(runs, [(method, BASELINE) for method in methods], metrics)


def advised(found: pd.DataFrame) -> str:
    """The loss for one metric: shown to be better somewhere, worse nowhere, best mean rank.

    Cross-entropy where no loss is shown to be better on any data set and worse on none.

    Parameters
    ----------
    found : DataFrame
        Rows of `against_baseline` with one metric.
    """
    sign = 1 if HIGHER_IS_BETTER[found["metric"].iloc[0]] else -1
    gain = (sign * found["difference"]).groupby(found["dataset"])
    methods = found.assign(rank=gain.rank(ascending=False)).groupby("method", sort=False)
    table = methods.agg(
        better=("verdict", lambda v: (v == "better").any()),
        worse=("verdict", lambda v: (v == "worse").any()),
        rank=("rank", "mean"),
    )
    table = table[table["better"] & ~table["worse"]]
    return table["rank"].idxmin() if len(table) else BASELINE


def in_words(found: pd.DataFrame) -> str:
    """Range of the differences of one method and metric, and on how many data sets each is shown.

    ``found`` holds rows of `against_baseline`; a difference is the method's minus cross-entropy's.
    """
    ends = found["difference"].agg(["min", "max"]).round(3) + 0.0
    low, high = (f"{d:+.3f}".replace("-", "−") if d else "0.000" for d in ends)
    counts = found["verdict"].value_counts()
    shown = [f"{v} on {counts[v]} of {len(found)}" for v in ("better", "worse") if v in counts]
    return f"{low} to {high}; {', '.join(shown) or 'no difference shown'}"


def tuned_alike() -> tuple[bool, str, str]:
    """AMOL's place in the fair fight, as a sentence for `companion.page.say`."""
    runs = recordings.load("fair_fight")
    runs = runs[runs["method"].isin(fair_fight.METHODS) & runs["rule"].eq("QWK")]
    rank = ranks(runs, ["QWK"])["QWK"].sort_values(kind="stable")
    ahead = list(rank.index[: rank.index.get_loc("AMOL")])
    no_weight = bool(ahead) and not any("AMOL" in name for name in ahead)
    where = (
        f"With every loss tuned alike on {runs['dataset'].nunique()} data sets, AMOL's mean rank"
    )
    figures = f"in QWK is {rank['AMOL']:.1f} of {len(rank)}, cross-entropy's {rank['CE']:.1f}"
    return (
        no_weight and rank["AMOL"] < rank["CE"],
        f"{where} {figures}; {listed(ahead)}, none of which has a weight on the center, rank "
        "before it.",
        f"{where} {figures}.",
    )
