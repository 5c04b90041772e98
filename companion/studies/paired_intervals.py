"""Paired differences over random splits, with intervals that know the splits overlap."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from companion.studies.decisions import HIGHER_IS_BETTER

TEST_TO_TRAIN = 20 / 60  # n_test / n_train of the paper's split


def corrected_interval(
    differences: np.ndarray, test_to_train: float = TEST_TO_TRAIN, level: float = 0.95
) -> tuple[float, float, float]:
    """Mean of paired differences with the corrected resampled t interval.

    The training sets of random splits of one data set overlap, so the plain standard error is too
    small. Nadeau and Bengio (2003, doi:10.1023/A:1024068626366) replace 1/J by
    1/J + n_test/n_train in the variance of the mean of J differences.

    Parameters
    ----------
    differences : ndarray, shape (J,)
        One paired difference for each split, J ≥ 2.
    test_to_train : float
        n_test / n_train.
    level : float
        Coverage, between 0 and 1.

    Returns
    -------
    mean, low, high : float
    """
    differences = np.asarray(differences, dtype=float)
    count = len(differences)
    if count < 2:
        raise ValueError(f"an interval needs at least 2 differences, got {count}")
    mean = differences.mean()
    error = math.sqrt((1 / count + test_to_train) * differences.var(ddof=1))
    reach = stats.t.ppf((1 + level) / 2, count - 1) * error
    return float(mean), float(mean - reach), float(mean + reach)


def paired_differences(
    rows: pd.DataFrame, pairs: Sequence[tuple[str, str]], metrics: Sequence[str]
) -> pd.DataFrame:
    """Paired comparisons of methods on each data set over the splits of ``rows``.

    Parameters
    ----------
    rows : DataFrame
        Columns dataset, method, split_seed and the metrics; seeds of one split are averaged. A
        data set that lacks a metric or one of a pair's methods has no row for it.
    pairs : sequence of tuple
        Method and baseline.
    metrics : sequence of str

    Returns
    -------
    DataFrame
        One row per metric, pair and data set, in this order: dataset, method, baseline, metric,
        splits, difference (method − baseline), low, high (95 % interval), wins (share of splits
        that favor ``method``) and verdict: "better", "worse" or "no difference shown".
    """
    columns = ["dataset", "method", "baseline", "metric", "splits", "difference", "low", "high",
               "wins", "verdict"]  # fmt: skip
    found = []
    for metric in metrics:
        sets = {
            dataset: group.pivot_table(index="split_seed", columns="method", values=metric)
            for dataset, group in rows.dropna(subset=metric).groupby("dataset", sort=False)
        }
        for method, baseline in pairs:
            for dataset, table in sets.items():
                if {method, baseline} <= set(table.columns):
                    differences = (table[method] - table[baseline]).dropna().to_numpy()
                    compared = _compared(differences, HIGHER_IS_BETTER[metric])
                    found.append((dataset, method, baseline, metric, *compared))
    return pd.DataFrame(found, columns=columns)


def _compared(differences: np.ndarray, higher_is_better: bool) -> tuple:
    """Splits, mean, interval, wins and verdict of a method over its baseline."""
    mean, low, high = corrected_interval(differences)
    gain = differences if higher_is_better else -differences
    verdict = "no difference shown"
    if low > 0 or high < 0:
        verdict = "better" if gain.mean() > 0 else "worse"
    return len(differences), mean, low, high, float((gain > 0).mean()), verdict
