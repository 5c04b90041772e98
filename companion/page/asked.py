"""What each loss asks for: triangles of beliefs, the table of properties and its proofs."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from amol.losses import LOSSES, minimize_risk
from companion.page.style import BAND, INK, escape_math, is_wide, method_style, panels, two_widths
from companion.theory.beliefs import Belief
from companion.theory.properties import COLUMNS, Cell, properties

NAMES, COLORS = ("low", "center", "high"), ("#0072B2", "#E69F00", "#009E73")
DECISIONS = {"fewest errors": 0, "least |error|": 1, "least error²": 2}  # powers of |k − y|
FINE = 60  # triangles along a side


def three_class_beliefs(fine: int = FINE) -> np.ndarray:
    """Centers of the fine² equal triangles into which the triangle of beliefs is cut, (n, 3)."""
    low, high = np.divmod(np.arange(fine**2), fine)
    up = np.stack([low + 1 / 3, fine - low - high - 2 / 3, high + 1 / 3], 1)
    down = np.stack([low + 2 / 3, fine - low - high - 4 / 3, high + 2 / 3], 1)
    both = np.concatenate([up, down])
    return both[both[:, 1] > 0] / fine


def answers(beliefs: np.ndarray, losses: Sequence[str]) -> dict[str, np.ndarray]:
    """Labels (n,) of each decision, which knows the belief, and of each loss."""
    K = beliefs.shape[1]
    k = np.arange(K)
    costs = {name: beliefs @ np.abs(k[:, None] - k) ** float(power) if power else -beliefs
             for name, power in DECISIONS.items()}  # fmt: skip
    found = {name: cost.argmin(1) for name, cost in costs.items()}
    for name in losses:
        found[name] = minimize_risk(LOSSES[name](num_classes=K), beliefs).labels.numpy()
    return found


def shares(found: Mapping[str, np.ndarray], num_classes: int) -> pd.DataFrame:
    """Shares of the lower middle class and of both ends among answers, by name."""
    rows = {
        name: {
            "center": np.mean(labels == (num_classes - 1) // 2),
            "ends": np.mean(np.isin(labels, [0, num_classes - 1])),
        }
        for name, labels in found.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")


def _corner(beliefs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of beliefs in a triangle with base 1: low left, high right, center on top."""
    return beliefs[:, 2] + beliefs[:, 1] / 2, beliefs[:, 1] * np.sqrt(0.75)


def _cut(ax, beliefs: np.ndarray, labels: np.ndarray, fine: int = FINE) -> None:
    x, y = _corner(beliefs)
    inches = ax.figure.get_figwidth() / ax.get_subplotspec().get_gridspec().ncols
    size = (72 * 1.3 * inches / fine) ** 2  # they overlap, so that nothing shines through
    outline = Polygon([(0, 0), (0.5, np.sqrt(0.75)), (1, 0)], transform=ax.transData)
    for k, color in enumerate(COLORS):
        at = labels == k
        dots = ax.scatter(x[at], y[at], s=size, marker="s", color=color, lw=0, rasterized=True)
        dots.set_clip_path(outline)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 0.9), aspect="equal")
    ax.set_axis_off()


@two_widths
def triangles(found: Mapping[str, np.ndarray], beliefs: np.ndarray) -> Figure:
    """A small triangle of beliefs for each decision and loss, cut into what it answers."""
    figure, axes = panels(len(found), 1.75 if is_wide() else 1.7, 0.4, wide=6, narrow=3)
    for ax, (name, labels) in zip(axes, found.items(), strict=True):
        _cut(ax, beliefs, labels)
        share = f"{100 * np.mean(labels == 1):.0f} %"
        ax.set_title(f"{escape_math(name)}\n{share}", fontsize=11, loc="center")
    marks = [ax.plot([], [], "s", color=color, ms=10)[0] for color in COLORS]
    words = ["low (left corner)", "center (top)", "high (right corner)"]
    style = {"ncols": 3 if is_wide() else 1, "frameon": False}
    figure.legend(marks, words, loc="outside upper center", **style)
    return figure


@two_widths
def one_belief(name: str, shown: Belief, beliefs: np.ndarray, labels: np.ndarray) -> Figure:
    """The triangle of one loss with a belief in it; beside it the belief and what is asked for."""
    figure, (left, right) = panels(2, 3.4, wide=2, narrow=1)
    _cut(left, beliefs, labels)
    at = np.array([[float(v) for v in shown]])
    left.plot(*_corner(at), "o", ms=12, mfc="white", mec=INK, mew=3)
    corners = (0, -0.08, "left"), (0.5, 0.89, "center"), (1, -0.08, "right")
    for name_there, (x, y, side) in zip(NAMES, corners, strict=True):
        left.text(x, y, name_there, ha=side)
    left.set_ylim(-0.1, 0.95)
    asked = minimize_risk(LOSSES[name](num_classes=3), at).probabilities[0].numpy()
    groups = [("belief", at[0]), (f"{name} asks for", asked)]
    for row, (title, values) in enumerate(groups):
        for k, value in enumerate(values):
            place = 4.5 * row + k
            right.barh(place, 1, color=BAND, height=0.8)
            right.barh(place, value, color=COLORS[k], height=0.8)
            right.text(1.02, place, f"{100 * value:.0f} %", va="center")
        right.text(0, 4.5 * row - 0.75, title, weight="bold")
    ticks = [4.5 * row + k for row in range(2) for k in range(3)]
    right.set_yticks(ticks, NAMES * 2)
    right.set(xlim=(0, 1.25), ylim=(7.2, -1.3), xticks=[])
    right.spines[:].set_visible(False)
    right.tick_params(length=0)
    return figure


@two_widths
def approach(frame: pd.DataFrame, titles: Mapping[str, str], methods: Sequence[str]) -> Figure:
    """One panel per measure, a line per loss, against the number of training rows.

    Columns: method, rows, and the measures that ``titles`` names; means over seeds.
    """
    rows = sorted(frame["rows"].unique())
    figure, axes = panels(len(titles), 3.4, 0.9, wide=2, narrow=1)
    for ax, (measure, title) in zip(axes, titles.items(), strict=True):
        for method in methods:
            line = frame[frame["method"] == method].set_index("rows")[measure].reindex(rows)
            color, marker = method_style(method)
            ax.plot(range(len(rows)), line, color=color, marker=marker, label=escape_math(method))
        ax.set_title(title)
        ax.set_xticks(range(len(rows)), [f"{n:,}" for n in rows])
    handles = axes[0].get_legend_handles_labels()
    style = {"ncols": 6 if is_wide() else 3, "frameon": False, "handletextpad": 0.3}
    figure.legend(*handles, loc="outside upper center", columnspacing=0.9, **style)
    figure.supxlabel("training rows")
    return figure


def cells() -> pd.DataFrame:
    """The words of the table, a row per loss."""
    table = {name: {head: row[column].word for column, head in COLUMNS.items()}
             for name, row in properties().items()}  # fmt: skip
    return pd.DataFrame.from_dict(table, orient="index").rename_axis("loss")


def _counts(counts: Sequence[int]) -> str:
    """A belief as counts over their sum."""
    return f"({', '.join(map(str, counts))})/{sum(counts)}"


def _evidence(column: str, cell: Cell) -> str:
    """What backs a word: the beliefs that the tests compute with."""
    found = cell.evidence
    if column == "proper" and "witness" in found:
        return f"Not asked for: {_counts(found['witness'])}."
    if "twins" in found:
        return "Alike: " + " and ".join(map(_counts, found["twins"])) + "."
    if "not" in found:
        return "Differs from " + ", ".join(
            f"the {reading} at {_counts(counts)}" for reading, counts in found["not"].items()
        ) + "."  # fmt: skip
    if column == "monotone" and found:
        shown = found["witness"]
        upper, lower = shown["labels"]
        return (
            f"{_counts(shown['lower'])} is answered {lower}, "
            f"{_counts(shown['upper'])}, which lies above it, {upper}."
        )
    return ""


def proofs() -> str:
    """Why each word stands where it does, a fold per loss, as Markdown."""
    folds = []
    for name, row in properties().items():
        lines = [
            f"- *{COLUMNS[column].partition(',')[0]}*: **{cell.word}**. {cell.why} "
            f"{_evidence(column, cell)}".rstrip()
            for column, cell in row.items()
        ]
        body = "\n".join(lines)
        folds.append(f"<details><summary>{name}</summary>\n\n{body}\n\n</details>")
    return "\n\n".join(folds)
