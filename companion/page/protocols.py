"""Tables, picture and numbers of the search for the paper's protocol."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import expit

from companion.page.appendix import BLUE
from companion.page.style import INK, book_style, canvas, row_names, two_widths
from companion.studies import protocol_fit as fits
from companion.studies.protocol_search import protocol_of
from companion.studies.protocol_space import SPACE, CandidateProtocol, describe

PANELS = {
    "Training": ("batch_size", "layers", "monitor", "restore", "epochs"),
    "Data and regularization": (
        "split_order", "split_seed", "standardize_on", "weight_decay", "dropout",
    ),
}  # fmt: skip
TOPICS = {
    "batch_size": "the batch size", "layers": "the number of layers",
    "monitor": "what stopping watches", "restore": "which weights are kept",
    "epochs": "the limit of epochs", "split_order": "the order of the split",
    "split_seed": "the split's seed", "standardize_on": "the rows that scale the features",
    "weight_decay": "weight decay", "dropout": "dropout",
}  # fmt: skip


def named(row: pd.Series) -> str:
    """A protocol by what it has other than the default."""
    protocol, default = protocol_of(row), CandidateProtocol()
    other = [name for name in SPACE if getattr(protocol, name) != getattr(default, name)]
    return ", ".join(describe(n, getattr(protocol, n)) for n in other) or "the default"


def ranked(cells: pd.DataFrame, tried: pd.DataFrame, stage: str) -> pd.DataFrame:
    """Protocols of a stage, best first: fit (log-likelihood over the default's), QWK, CHR_ext."""
    cells = cells[cells["stage"] == stage]
    total = fits.log_likelihood(cells, tried).sum(axis=1)
    frame = fits.distances(cells).assign(fit=total - total[0])
    return frame.sort_values("fit", ascending=False, kind="stable")


def ten_best(cells: pd.DataFrame, tried: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The ten best by three seeds, and what one seed said of them; as text, and as numbers."""
    stages = {"3 seeds": "three", "1 seed": "whole"}
    found = {name: ranked(cells, tried, stage) for name, stage in stages.items()}
    data = pd.concat(found, axis=1).loc[found["3 seeds"].index]
    first = data.iloc[:10].index
    data = data.loc[[*first, *({0} - set(first))]]
    data.columns = [f"{what}, {name}" for name, what in data.columns]
    data.insert(0, "Protocol", [named(tried.loc[number]) for number in data.index])
    shown = pd.DataFrame({"Protocol": data["Protocol"]})
    for name in stages:
        shown[f"Fit, {name}"] = [_text(x, "{:+.1f}") for x in data[f"fit, {name}"]]
        pairs = zip(data[f"QWK, {name}"], data[f"CHR_ext, {name}"], strict=True)
        shown[f"ΔQWK / ΔCHR_ext, {name}"] = [
            "" if np.isnan(a) else f"{a:.4f} / {b:.4f}" for a, b in pairs
        ]
    return shown.set_index("Protocol"), data


def _text(value: float, form: str) -> str:
    return "" if np.isnan(value) else form.format(value)


def judged_table(judged: dict[str, pd.DataFrame], tried: pd.DataFrame) -> pd.DataFrame:
    """`protocol_fit.held_out` among several sets of protocols, by the sets' names, as text."""
    judged = pd.concat(judged, names=["among"]).reset_index("among")
    shown = pd.DataFrame({"Chosen on": judged["chosen_on"], "Among": judged["among"]})
    shown["Protocol"] = [named(tried.loc[number]) for number in judged["protocol"]]
    shown["Judged by"] = judged["judged"].map("{} numbers".format)
    shown["Fit over the default"] = judged["gain"].map("{:+.1f}".format)
    for metric in ("QWK", "CHR_ext"):
        pairs = zip(judged[metric], judged[f"{metric}, default"], strict=True)
        shown[f"Δ{metric} / the default's"] = [
            "" if np.isnan(a) else f"{a:.4f} / {b:.4f}" for a, b in pairs
        ]
    return shown.set_index("Chosen on")


def chances(fit: pd.DataFrame, tried: pd.DataFrame) -> pd.DataFrame:
    """`protocol_fit.marginals`, and how far each value's best protocol is below the best of all.

    Columns choice, value, tried, probability, behind (NaN where no protocol has the value).
    """
    total = fit.sum(axis=1)
    table = fits.marginals(fits.weights(total), tried)
    own = tried.loc[total.index]
    behind = [total.max() - total[own[c] == v].max() for c, v in table[["choice", "value"]].values]
    return table.assign(behind=behind)


def undecided(*stages: pd.DataFrame) -> list[str]:
    """Choices that the tables don't settle; ``stages`` are `chances`.

    Two values have a protocol that fits as well as the best, or the stages' most probable values
    differ.
    """
    values = {}
    for table in stages:
        for row in table[table["behind"] <= fits.MARGIN].itertuples():
            values.setdefault(row.choice, set()).add(row.value)
    return [TOPICS[choice] for choice in SPACE if len(values[choice]) > 1]


def likely(table: pd.DataFrame) -> str:
    """The most probable value of each choice, as one sentence's list."""
    top = table.loc[table.groupby("choice", sort=False)["probability"].idxmax()]
    return ", ".join(
        f"{describe(r.choice, r.value)} ({r.probability:.0%})" for r in top.itertuples()
    )


@two_widths
def picture(early: pd.DataFrame, late: pd.DataFrame) -> Figure:
    """Probability of each value: bars for `chances` late, rings for early, ticks for the prior."""
    with book_style():
        sizes = [sum(len(SPACE[name]) for name in names) for names in PANELS.values()]
        figure, axes = canvas(2, 1, 0.27 * sum(sizes) + 1.6, height_ratios=sizes, sharex=True)
        for ax, (title, names) in zip(axes, PANELS.items(), strict=True):
            a, b = (
                t[t["choice"].isin(names)].set_index(["choice", "value"]) for t in (early, late)
            )
            order = [(name, value) for name in names for value in SPACE[name]]
            a, b = a.loc[order], b.loc[order]
            row_names(ax, [describe(*pair) for pair in order])
            at = range(len(order))
            ax.barh(at, b["probability"], 0.62, color=BLUE, label="three seeds")
            ax.plot(a["probability"], at, "o", mfc="white", mec=INK, ms=6, label="one seed")
            ax.plot(b["tried"], at, "|", color=INK, ms=13, mew=1.8, label="share of those tried")
            edges = np.cumsum([len(SPACE[name]) for name in names])[:-1] - 0.5
            ax.hlines(edges, 0, 1, color=INK, lw=0.5)
            ax.set(title=title, xlim=(-0.02, 1.02))
        axes[-1].set_xlabel("probability")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", frameon=False)
    return figure


def form_table(cells: pd.DataFrame, tried: pd.DataFrame) -> pd.DataFrame:
    """Other forms of single losses, and other centers, against those of the protocol itself.

    Each form counts by the numbers of its own cells alone: form, numbers, fit (log-likelihood
    over the usual form's, with equally many seeds) and probability of the form against the usual
    one.
    """
    forms = cells[cells["stage"] == "forms"]
    found = []
    for (form, methods), part in _grouped(forms):
        same = cells["protocol"] == part["protocol"].iloc[0]
        usual = cells[same & (cells["stage"] == "three")]
        keys = part[fits.CELL].apply(tuple, axis=1)
        usual = usual[usual[fits.CELL].apply(tuple, axis=1).isin(set(keys))]
        sums = [fits.log_likelihood(rows, tried) for rows in (part, usual)]
        both = (sums[0].notna() & sums[1].notna()).to_numpy()[0]
        gain = sums[0].loc[:, both].sum(axis=1).iloc[0] - sums[1].loc[:, both].sum(axis=1).iloc[0]
        found.append((methods, form, int(both.sum()), gain, float(expit(gain))))
    return pd.DataFrame(found, columns=["methods", "form", "numbers", "fit", "probability"])


def _grouped(forms: pd.DataFrame):
    """Forms with the methods that they concern; one label may serve two methods."""
    for form, part in forms.groupby("form", sort=False):
        if form.startswith("center"):
            yield (form, "all"), part
            continue
        for method, own in part.groupby("method", sort=False):
            yield (form, method), own
