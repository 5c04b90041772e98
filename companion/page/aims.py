"""Which loss, or which decision, for which aim: named on a hundred sets, tried on held-out surveys.

The rule: of the candidates, the one with the best mean rank over the data sets. What it promises on
the sets that name it is more than it keeps on others; both are told.
"""

from collections.abc import Sequence

import pandas as pd

from amol.metrics import HIGHER_IS_BETTER
from companion.page.many_sets import chosen, decided
from companion.studies import across_sets

BASELINE = "CE"
AIMS = {  # a metric, in a reader's words
    "QWK": "large mistakes rare",
    "MAE": "a small average error",
    "AMAE": "rare classes count as much as common ones",
    "accuracy": "labels exactly right",
    "end_recall": "both ends of the scale found",
    "CHR_ext": "an extreme sample never called the center",
    "RPS": "probabilities to rely on",
}
DRAWS = 200  # of halves of the surveys


def candidates(rows: pd.DataFrame, which: str) -> pd.DataFrame:
    """Rows of the candidates, all chosen by validation QWK.

    "losses" each have their own decision, "decisions" are those of cross-entropy's networks, and
    "pairs" all losses with all decisions.
    """
    if which == "losses":
        return chosen(rows)
    pairs = decided(rows)
    return pairs if which == "pairs" else pairs[pairs["loss"] == BASELINE]


def advice(rows: pd.DataFrame, about: pd.DataFrame, which: str, metrics: Sequence[str]):
    """For each metric the candidate that the rule names, and what it gains on cross-entropy.

    Parameters
    ----------
    rows : DataFrame
        Of natural sets, all rules and decisions.
    about : DataFrame
        From `across_sets.kinds`.
    which : str
        As in `candidates`.
    metrics : sequence of str

    Returns
    -------
    DataFrame
        One row per metric: metric, method, those of `across_sets.summarized` (against
        cross-entropy with its most probable class), kept (the mean gain on held-out surveys,
        positive where it is better) and same (share of draws that name this candidate).
    """
    part, found = candidates(rows, which), []
    for metric in metrics:
        means = across_sets.set_means(part, metric)
        means = means.dropna(how="all").dropna(axis=1)  # RPS is measured with own decisions alone
        name = across_sets.ranks(means, metric).mean().idxmin()
        out = across_sets.held_out_choice(means, metric, about["survey"], BASELINE, draws=DRAWS)
        if name == BASELINE:
            row = {"mean": 0.0, "low": 0.0, "high": 0.0, "gain": 0, "sets": len(means),
                   "verdict": "not shown"}  # fmt: skip
        else:
            gaps = across_sets.contrast(part, [(name, BASELINE)], [metric], about)
            row = across_sets.summarized(gaps, ["metric"]).iloc[0].to_dict()
        kept = {"kept": out["kept"].mean(), "same": (out["chosen"] == name).mean()}
        found.append({"metric": metric, "method": name} | row | kept)
    return pd.DataFrame(found)


def against(rows: pd.DataFrame, about: pd.DataFrame, name: str, metrics: Sequence[str]) -> list:
    """Metrics in which a candidate is shown to be worse than cross-entropy."""
    pairs = decided(rows)
    if name == BASELINE:
        return []
    measured = [m for m in metrics if pairs.loc[pairs["method"] == name, m].notna().any()]
    gaps = across_sets.contrast(pairs, [(name, BASELINE)], measured, about)
    found = across_sets.summarized(gaps, ["metric"])
    return list(found.loc[found["verdict"] == "worse", "metric"])


def gains(rows: pd.DataFrame, about: pd.DataFrame, names: Sequence[str], metrics: Sequence[str]):
    """Gains of some candidates on cross-entropy, positive where better: a summary and its dots.

    Both are as `many_sets.forest` takes them, a panel per metric and a row per candidate.
    """
    pairs = decided(rows)
    gaps = across_sets.contrast(pairs, [(name, BASELINE) for name in names], metrics, about)
    summary = across_sets.summarized(gaps, ["metric", "method"])
    worse = ~summary["metric"].map(lambda m: HIGHER_IS_BETTER.get(m, True))
    low, high = summary["low"].copy(), summary["high"].copy()
    summary.loc[worse, "mean"] *= -1
    summary.loc[worse, "low"], summary.loc[worse, "high"] = -high[worse], -low[worse]
    turned = gaps["metric"].map(lambda m: 1 if HIGHER_IS_BETTER.get(m, True) else -1)
    gaps = gaps.assign(difference=turned * gaps["difference"])
    columns = {"method": "group", "metric": "panel"}
    return summary.rename(columns=columns), gaps.rename(columns=columns)


def by_kind(rows: pd.DataFrame, about: pd.DataFrame, which: str, metric: str) -> pd.DataFrame:
    """Whether naming a candidate for each kind of data keeps more than naming one for all.

    Returns
    -------
    DataFrame
        One row per kind of `across_sets.KINDS` and "one for all": kind, named (on all sets, by
        kind), promised and kept.
    """
    means = across_sets.set_means(candidates(rows, which), metric)
    means = means.dropna(how="all").dropna(axis=1)
    place, found = across_sets.ranks(means, metric), []
    for kind in (None, *across_sets.KINDS):
        group = None if kind is None else about[kind]
        out = across_sets.held_out_choice(
            means, metric, about["survey"], BASELINE, group, draws=DRAWS
        )
        whole = pd.Series("all", means.index) if kind is None else group.reindex(means.index)
        named = place.groupby(whole.astype(str)).mean().idxmin(axis=1)
        order = ["all"] if kind is None else [k for k in across_sets.KINDS[kind] if k in named]
        said = "; ".join(named[k] if k == "all" else f"{k}: {named[k]}" for k in order)
        sides = {"promised": out["promised"].mean(), "kept": out["kept"].mean()}
        found.append({"kind": kind or "one for all", "named": said} | sides)
    return pd.DataFrame(found)
