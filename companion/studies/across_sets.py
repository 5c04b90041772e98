"""From rows of many data sets to statements about sets: means, intervals, kinds, reversals.

A data set counts once, with the mean over its splits. Sets of one survey resemble each other, so
intervals take the survey as the unit that was drawn.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from amol.losses import center_class
from companion.data import collection
from companion.studies.decisions import HIGHER_IS_BETTER

CLASSES = ("K = 3", "K = 4 or 5", "K ≥ 6")
MODES = ("mode at the center", "mode between", "mode at an end")
ENDS = ("ends < 20 %", "ends 20–40 %", "ends > 40 %")
KINDS = {"classes": CLASSES, "mode": MODES, "ends": ENDS}


def kinds(names: Sequence[str]) -> pd.DataFrame:
    """What kind of data each set of the collection is.

    Returns
    -------
    DataFrame
        Indexed by set: survey (the family of surveys), rows, K, then `KINDS`, each an ordered
        category: ``classes`` by K; ``mode``, where the most common class lies (of an even K both
        middle classes are center);
        ``ends``, the share of the two outermost classes.
    """
    found = []
    for name in names:
        about = collection.descriptions()[name]
        found.append({"dataset": name, "survey": about.family} | kind_of(np.array(about.counts)))
    frame = pd.DataFrame(found).set_index("dataset")
    for column, order in KINDS.items():
        frame[column] = pd.Categorical(frame[column], order, ordered=True)
    return frame


def kind_of(counts: np.ndarray) -> dict:
    """Rows, K and `KINDS` of a set with these counts of its classes, lowest class first."""
    K, rows, mode = len(counts), int(counts.sum()), int(counts.argmax())
    middle = {center_class(K), K - 1 - center_class(K)}
    place = 0 if mode in middle else 2 if mode in (0, K - 1) else 1
    share = (counts[0] + counts[-1]) / rows
    return {
        "rows": rows,
        "K": K,
        "classes": CLASSES[0 if K == 3 else 1 if K <= 5 else 2],
        "mode": MODES[place],
        "ends": ENDS[0 if share < 0.2 else 1 if share <= 0.4 else 2],
    }


def set_means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over splits: a row per data set, a column per method; NaN where there is none."""
    return rows.pivot_table(index="dataset", columns="method", values=metric, sort=False)


def clustered_interval(
    values: np.ndarray, clusters: Sequence, level: float = 0.95
) -> tuple[float, float, float]:
    """Mean over sets with an interval whose unit is the cluster, here the survey.

    The variance of the mean is C/(C − 1) Σ_c (Σ_{i ∈ c} (d_i − d̄))² / n², with n values in C
    clusters, and the interval is Student's with C − 1 degrees of freedom (Liang and Zeger 1986,
    doi:10.1093/biomet/73.1.13).

    Parameters
    ----------
    values : ndarray, shape (n,)
    clusters : sequence, length n
    level : float

    Returns
    -------
    mean, low, high : float
        The ends are NaN for one cluster.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    sums = pd.Series(values - mean).groupby(np.asarray(clusters)).sum().to_numpy()
    if len(sums) < 2:
        return mean, np.nan, np.nan
    error = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / len(values)
    reach = float(stats.t.ppf((1 + level) / 2, len(sums) - 1) * error)
    return mean, mean - reach, mean + reach


def contrast(
    rows: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    about: pd.DataFrame,
) -> pd.DataFrame:
    """Differences of set means, one row per pair, metric and data set that has both.

    Parameters
    ----------
    rows : DataFrame
        Columns dataset, method, split_seed and ``metrics``.
    pairs : sequence of tuple
        Method and baseline.
    metrics : sequence of str
    about : DataFrame
        From `kinds`.

    Returns
    -------
    DataFrame
        Columns dataset, method, baseline, metric, difference (method − baseline) and those of
        ``about``.
    """
    found = []
    for metric in metrics:
        means = set_means(rows, metric)
        for method, baseline in pairs:
            gaps = (means[method] - means[baseline]).dropna().rename("difference").reset_index()
            found.append(gaps.assign(method=method, baseline=baseline, metric=metric))
    columns = ["dataset", "method", "baseline", "metric", "difference"]
    return pd.concat(found, ignore_index=True)[columns].join(about, on="dataset")


def summarized(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean difference of each group with `clustered_interval`, and how many sets gain.

    Parameters
    ----------
    differences : DataFrame
        From `contrast`; ``metric`` is one of ``by`` or the same in all rows.
    by : sequence of str

    Returns
    -------
    DataFrame
        Columns ``by``, sets, surveys, mean, low, high, gain (sets where the method is better) and
        verdict: "better" or "worse" where the interval excludes zero, else "not shown".
    """
    found = []
    for key, part in differences.groupby(list(by), sort=False, observed=True):
        sign = 1 if HIGHER_IS_BETTER[part["metric"].iloc[0]] else -1
        mean, low, high = clustered_interval(part["difference"].to_numpy(), part["survey"])
        shown = low > 0 or high < 0
        found.append(
            dict(zip(by, key, strict=True))
            | {"sets": len(part), "surveys": part["survey"].nunique()}
            | {"mean": mean, "low": low, "high": high}
            | {"gain": int((sign * part["difference"] > 0).sum())}
            | {"verdict": ("better" if sign * mean > 0 else "worse") if shown else "not shown"}
        )
    return pd.DataFrame(found)


def ranks(means: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Rank of each method on each data set, 1 the best, equals sharing the mean of their places."""
    sign = -1 if HIGHER_IS_BETTER[metric] else 1
    return (sign * means).rank(axis=1)


def held_out_choice(
    means: pd.DataFrame,
    metric: str,
    surveys: pd.Series,
    baseline: str,
    kind: pd.Series | None = None,
    draws: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """What a rule that names the best method promises, and what it keeps on other surveys.

    In each draw half of the surveys name the method with the best mean rank, one for all sets or
    one for each kind of data; it is then compared with ``baseline`` on the other half.

    Parameters
    ----------
    means : DataFrame
        From `set_means`: data sets × methods.
    metric : str
    surveys, kind : Series
        By data set; without ``kind`` one method is named for all.
    baseline : str
        A column of ``means``.
    draws, seed : int

    Returns
    -------
    DataFrame
        One row per draw: chosen (names, by kind, joined by ", "), promised and kept: the mean
        difference from the baseline on either half, positive where it is better.
    """
    sign = 1 if HIGHER_IS_BETTER[metric] else -1
    means = means.dropna(axis=1)
    gain = (sign * means.sub(means[baseline], axis=0)).to_numpy()
    place = ranks(means, metric).to_numpy()
    group = (
        np.zeros(len(means), int)
        if kind is None
        else kind.reindex(means.index).cat.codes.to_numpy()
    )
    unit, units = pd.factorize(surveys.reindex(means.index))
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        seen = np.isin(unit, rng.permutation(len(units))[: len(units) // 2])
        promised, kept, named = 0.0, 0.0, []
        for code in np.unique(group[seen]):  # a kind that this half lacks keeps the baseline
            mine = group == code
            best = place[seen & mine].mean(axis=0).argmin()
            promised += gain[seen & mine, best].sum()
            kept += gain[~seen & mine, best].sum()
            named.append(means.columns[best])
        sides = {"promised": promised / seen.sum(), "kept": kept / (~seen).sum()}
        found.append({"chosen": ", ".join(named)} | sides)
    return pd.DataFrame(found)


def spread(rows: pd.DataFrame, method: str, baseline: str, metric: str) -> tuple[float, ...]:
    """Mean difference δ over sets, its spread τ between sets, and ω between splits of a set.

    The spread of set means over J splits is τ² + ω²/J; τ² is what remains of it, at least 0.

    Parameters
    ----------
    rows : DataFrame
        Columns dataset, method, split_seed and ``metric``.
    method, baseline, metric : str

    Returns
    -------
    delta, tau, omega : float
    """
    wide = rows.pivot_table(index=["dataset", "split_seed"], columns="method", values=metric)
    gaps = (wide[method] - wide[baseline]).dropna().unstack("split_seed")
    within = gaps.var(axis=1, ddof=1).mean()
    between = gaps.mean(axis=1).var(ddof=1) - (within / gaps.count(axis=1)).mean()
    return float(gaps.mean(axis=1).mean()), float(max(between, 0) ** 0.5), float(within**0.5)


def reversal(delta: float, tau: float, omega: float, sets: float, splits: float) -> float:
    """Probability that the mean difference over some sets has the other sign than over all.

    Φ(−|δ| / √((τ² + ω²/J)/m)) for m sets of J splits, if differences of sets are normal.

    >>> round(reversal(0.01, 0.03, 0.02, sets=4, splits=1), 3)
    0.29
    """
    return float(stats.norm.cdf(-abs(delta) / ((tau**2 + omega**2 / splits) / sets) ** 0.5))


def sets_needed(delta: float, tau: float, omega: float, splits: float, risk: float = 0.05) -> float:
    """The least m at which `reversal` is at most ``risk``, as a real number."""
    return float((stats.norm.ppf(risk) / delta) ** 2 * (tau**2 + omega**2 / splits))


def drawn_reversals(
    rows: pd.DataFrame,
    pair: tuple[str, str],
    metric: str,
    sets: Sequence[int],
    splits: Sequence[int],
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """`reversal` found by drawing: sets without repetition, splits of each, the mean's sign.

    Returns
    -------
    DataFrame
        Columns sets, splits and share of draws whose mean has not the sign that all rows give.
    """
    wide = rows.pivot_table(index=["dataset", "split_seed"], columns="method", values=metric)
    gaps = (wide[pair[0]] - wide[pair[1]]).unstack("split_seed").dropna().to_numpy()
    truth, rng, found = np.sign(gaps.mean()), np.random.default_rng(seed), []
    for J in splits:
        order = rng.random((draws, *gaps.shape)).argsort(axis=2)[:, :, :J]
        means = np.take_along_axis(np.broadcast_to(gaps, (draws, *gaps.shape)), order, 2).mean(2)
        for m in sets:
            drawn = rng.random(means.shape).argsort(axis=1)[:, :m]
            signs = np.sign(np.take_along_axis(means, drawn, 1).mean(axis=1))
            found.append({"sets": m, "splits": J, "share": float((signs != truth).mean())})
    return pd.DataFrame(found)


def other_leader(
    means: pd.DataFrame, metric: str, sets: Sequence[int], draws: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """How often some sets, drawn without repetition, have another leader by mean rank than all.

    Returns
    -------
    DataFrame
        Columns sets, other (share of draws with another leader) and place: the mean place of the
        leader of all sets.
    """
    place = ranks(means.dropna(axis=1), metric).to_numpy()
    first, rng, found = place.mean(axis=0).argmin(), np.random.default_rng(seed), []
    for m in sets:
        drawn = np.array([rng.permutation(len(place))[:m] for _ in range(draws)])
        mean = place[drawn].mean(axis=1)  # (draws, methods)
        ahead = (mean < mean[:, [first]]).sum(axis=1)
        leads = mean.argmin(axis=1) == first
        found.append({"sets": m, "other": float((~leads).mean()), "place": 1 + ahead.mean()})
    return pd.DataFrame(found)
