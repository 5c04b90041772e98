"""Paired differences over random splits, with intervals that know the splits overlap."""

import math

import numpy as np
import pandas as pd
from scipy import stats

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
    runs: pd.DataFrame, method: str, baseline: str, metric: str, lower_is_better: bool = False
) -> pd.DataFrame:
    """Paired comparison of two methods on each data set over the splits of ``runs``.

    Parameters
    ----------
    runs : DataFrame
        Columns dataset, method, split_seed and ``metric``; seeds of one split are averaged.
    method, baseline : str
    metric : str
    lower_is_better : bool
        Whether a negative difference favors ``method``.

    Returns
    -------
    DataFrame
        One row per data set: dataset, method, baseline, metric, splits, difference (method −
        baseline), low, high (95 % interval), wins (share of splits that favor ``method``) and
        verdict: "better", "worse" or "no difference shown".
    """
    rows = []
    for dataset, group in runs.groupby("dataset", sort=False):
        table = group.pivot_table(index="split_seed", columns="method", values=metric)
        if not {method, baseline} <= set(table.columns):
            continue
        differences = (table[method] - table[baseline]).dropna().to_numpy()
        mean, low, high = corrected_interval(differences)
        gain = -differences if lower_is_better else differences
        verdict = "no difference shown"
        if low > 0 or high < 0:
            verdict = "better" if gain.mean() > 0 else "worse"
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "baseline": baseline,
                "metric": metric,
                "splits": len(differences),
                "difference": mean,
                "low": low,
                "high": high,
                "wins": float((gain > 0).mean()),
                "verdict": verdict,
            }
        )
    return pd.DataFrame(rows)
