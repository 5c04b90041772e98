"""Fit of protocols to the printed tables: likelihood, held-out gain, weight of each choice.

Numbers: the QWK, CHR and CHR_ext that the paper prints for the three real data sets, each once.
Likelihood: a printed mean is normal around our mean with the standard errors of both sides,
se² = max(s, r)²/5 + σ²/n, and counts by the probability of its rounding interval ± r; a printed
standard deviation s is one of five runs, 4 s²/σ² ~ χ²₄, likewise by interval. As few seeds tell
little of a spread, σ² = (4 σ₀² + (n − 1) v) / (n + 3) with v our variance and σ₀ the spread of
the default's recorded runs: over seeds, or over splits where each run has a split of its own.
σ is at least r. Numbers of one table cell are taken as independent, which they are not quite, so
that weights are surer than they should be.

Rules, laid down before the search. *Fits as well*: at most 2 units of log-likelihood below the
best, with equally many seeds. *Clearly better than the default*: in each of five divisions of the
numbers the protocol chosen on one part beats the default on the other by more than 2 units.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy.special import log_ndtr
from scipy.stats import chi2

from companion.paper.published import PAPER_SEEDS, PUBLISHED
from companion.studies import recordings
from companion.studies.protocol_space import CELLS, PER_RUN, SPACE

PRINTED_METRICS = ("QWK", "CHR", "CHR_ext")
CELL = ["dataset", "method"]
NUMBER = [*CELL, "metric"]
MARGIN = 2.0  # units of log-likelihood


@cache
def numbers() -> pd.DataFrame:
    """The printed numbers that count, one row each: where, `NUMBER`, mean, std and r."""
    found = PUBLISHED[PUBLISHED["dataset"].isin(CELLS) & PUBLISHED["metric"].isin(PRINTED_METRICS)]
    found = found.drop_duplicates(NUMBER).reset_index(drop=True)
    return found.assign(r=0.5 * 10.0 ** -found["digits"])


def divisions() -> dict[str, np.ndarray]:
    """Parts of the numbers to choose on, shape (N,) bool each; the rest is to judge by."""
    table2 = (numbers()["where"] == "Table 2").to_numpy()
    parts = {"Table 2": table2, "Tables 3 and 4": ~table2}
    return parts | {f"without {d}": (numbers()["dataset"] != d).to_numpy() for d in CELLS}


@cache
def _usual_spread(per_run: bool) -> pd.DataFrame:
    """σ₀ by data set and method, a column per metric."""
    rows = recordings.load("splits") if per_run else recordings.load("grid")
    return rows.groupby(CELL)[list(PRINTED_METRICS)].std()


def _log_difference(larger: np.ndarray, smaller: np.ndarray) -> np.ndarray:
    """log(exp(larger) − exp(smaller)), far tails included."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return larger + np.log(-np.expm1(np.minimum(smaller - larger, -1e-12)))


def log_mean(x, r, mean, se) -> np.ndarray:
    """Log-probability that a normal around ``mean`` is printed as ``x`` ± ``r``."""
    gap = np.abs(x - mean)
    return _log_difference(log_ndtr((r - gap) / se), log_ndtr((-r - gap) / se))


def log_std(s, r, sigma) -> np.ndarray:
    """Log-probability that the standard deviation of five runs with σ is printed as ``s`` ± ``r``.

    At least −50: a spread alone rules nothing out.
    """
    dof = PAPER_SEEDS - 1
    low, high = (dof * np.square(np.maximum(edge, 0) / sigma) for edge in (s - r, s + r))
    left = _log_difference(chi2.logcdf(high, dof), chi2.logcdf(low, dof))
    right = _log_difference(chi2.logsf(low, dof), chi2.logsf(high, dof))
    return np.fmax(np.where(low < dof, left, right), -50.0)  # NaN: both tails are empty


def log_likelihood(cells: pd.DataFrame, tried: pd.DataFrame) -> pd.DataFrame:
    """Log-likelihood of each printed number under each protocol.

    Parameters
    ----------
    cells : DataFrame
        Rows protocol, dataset, method, seeds, and mean and "… std" of each of `PRINTED_METRICS`;
        one number of seeds per protocol.
    tried : DataFrame
        Settings by protocol, with ``split_seed``.

    Returns
    -------
    DataFrame
        Protocols × places in `numbers`; NaN where the cell was not run.
    """
    found = {}
    for protocol, part in cells.groupby("protocol"):
        printed = numbers().join(part.set_index(CELL)["seeds"], on=CELL)
        ours, spread, usual = (_long(part, suffix) for suffix in ("", " std", None))
        if usual is None:
            usual = _usual_spread(tried.loc[protocol, "split_seed"] == PER_RUN)
            usual = usual.rename_axis(columns="metric").stack()
        keys = pd.MultiIndex.from_frame(printed[NUMBER])
        n, r = printed["seeds"].to_numpy(), printed["r"].to_numpy()
        mean, own, usual = (values.reindex(keys).to_numpy() for values in (ours, spread, usual))
        weight = PAPER_SEEDS - 1
        variance = weight * usual**2 + (n - 1) * np.square(np.nan_to_num(own))
        sigma = np.maximum(np.sqrt(variance / (weight + n - 1)), r)
        s = printed["std"].to_numpy()
        se = np.sqrt(np.maximum(s, r) ** 2 / PAPER_SEEDS + sigma**2 / n)
        found[protocol] = log_mean(printed["mean"].to_numpy(), r, mean, se) + log_std(s, r, sigma)
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("protocol")


def _long(part: pd.DataFrame, suffix: str | None) -> pd.Series | None:
    """One value of each metric by `NUMBER`."""
    if suffix is None:
        return None
    values = part.set_index(CELL)[[metric + suffix for metric in PRINTED_METRICS]]
    return values.set_axis(list(PRINTED_METRICS), axis=1).rename_axis(columns="metric").stack()


def criteria(fit: pd.DataFrame) -> pd.DataFrame:
    """Sums of `log_likelihood` by protocol: all numbers, and those to choose on by `divisions`."""
    sums = {"all": fit.sum(axis=1)}
    return pd.DataFrame(sums | {k: fit.loc[:, part].sum(axis=1) for k, part in divisions().items()})


def best(fit: pd.DataFrame, count: int) -> list[int]:
    """Protocols by their best place under any of the `criteria`, so that each has its own best."""
    places = criteria(fit).rank(ascending=False, method="first").min(axis=1)
    return places.sort_values(kind="stable").index[:count].tolist()


def weights(total: pd.Series) -> pd.Series:
    """Probability of each protocol, exp(total) over its sum: a flat prior over those given."""
    weight = np.exp(total - total.max())
    return weight / weight.sum()


def marginals(weight: pd.Series, tried: pd.DataFrame) -> pd.DataFrame:
    """Share and probability of each value of each choice: choice, value, tried, probability.

    The column tried is the prior, the value's share of all protocols of the frame ``tried``; one
    that has no ``weight`` was dropped by an earlier stage and counts as zero.
    """
    found = []
    for choice, values in SPACE.items():
        column = tried[choice]
        for value in values:
            has = column == value
            own = weight[has.loc[weight.index]]
            found.append((choice, value, float(has.mean()), float(own.sum())))
    return pd.DataFrame(found, columns=["choice", "value", "tried", "probability"])


def distances(cells: pd.DataFrame, part: np.ndarray | None = None) -> pd.DataFrame:
    """Mean |our mean − printed mean| of QWK and CHR_ext by protocol, over a part of the numbers."""
    printed = numbers() if part is None else numbers()[part]
    found = {}
    for protocol, own in cells.groupby("protocol"):
        ours = _long(own, "").reindex(pd.MultiIndex.from_frame(printed[NUMBER])).to_numpy()
        gaps = (printed["mean"] - ours).abs().groupby(printed["metric"]).mean()
        found[protocol] = gaps.reindex(["QWK", "CHR_ext"])
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("protocol")


def held_out(fit: pd.DataFrame, cells: pd.DataFrame, default: int = 0) -> pd.DataFrame:
    """The protocol that each division chooses, judged by the numbers it wasn't chosen by.

    Returns
    -------
    DataFrame
        One row per division: chosen_on, protocol, judged (numbers), gain (log-likelihood over the
        default's), and the distances of both on the judged numbers: "QWK", "QWK, default",
        "CHR_ext", "CHR_ext, default" (NaN where none is judged).
    """
    found = []
    for name, part in divisions().items():
        protocol = fit.loc[:, part].sum(axis=1).idxmax()
        rest = fit.loc[:, ~part].sum(axis=1)
        gap = distances(cells[cells["protocol"].isin([protocol, default])], ~part)
        row = {"chosen_on": name, "protocol": protocol, "judged": int((~part).sum()),
               "gain": rest[protocol] - rest[default]}  # fmt: skip
        for metric in gap.columns:
            row |= {metric: gap.loc[protocol, metric],
                    f"{metric}, default": gap.loc[default, metric]}  # fmt: skip
        found.append(row)
    return pd.DataFrame(found)


def clearly_better(judged: pd.DataFrame) -> bool:
    """Whether a search beats the default by the rule above; ``judged`` is from `held_out`."""
    return bool((judged["gain"] > MARGIN).all())


def fits_as_well(total: pd.Series) -> list[int]:
    """Protocols at most `MARGIN` below the best."""
    return total.index[total >= total.max() - MARGIN].tolist()


def chance_distances(seeds: int = PAPER_SEEDS) -> pd.Series:
    """Mean distance in QWK and in CHR_ext that noise alone leaves if the protocol were the paper's.

    A normal deviation with standard error se has the mean size se·sqrt(2/π). Our spread is that
    of the default, over ``seeds``.
    """
    printed = numbers()
    usual = _usual_spread(False).rename_axis(columns="metric").stack()
    sigma = usual.reindex(pd.MultiIndex.from_frame(printed[NUMBER])).to_numpy()
    variance = np.maximum(printed["std"], printed["r"]) ** 2 / PAPER_SEEDS + sigma**2 / seeds
    return np.sqrt(variance * 2 / np.pi).groupby(printed["metric"]).mean()[["QWK", "CHR_ext"]]
