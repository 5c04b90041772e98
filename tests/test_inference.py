"""Nadeau–Bengio's interval by hand, and the verdicts of paired comparisons."""

import numpy as np
import pandas as pd
import pytest

from companion.studies.paired_intervals import corrected_interval, paired_differences


def test_interval_by_hand():
    # d = 1, 2, 3: mean 2, s² = 1; (1/3 + 1/3)·1 → error √(2/3); t(0.975, 2) = 4.302653
    mean, low, high = corrected_interval([1.0, 2.0, 3.0], test_to_train=1 / 3)
    assert mean == 2
    assert high - mean == pytest.approx(4.302653 * (2 / 3) ** 0.5, rel=1e-6)
    assert mean - low == pytest.approx(high - mean)


def test_interval_is_wider_than_the_uncorrected_one():
    d = np.random.default_rng(0).standard_normal(30)
    plain = corrected_interval(d, test_to_train=0)
    corrected = corrected_interval(d)
    assert (corrected[2] - corrected[1]) / (plain[2] - plain[1]) == pytest.approx(11**0.5)


def test_one_difference_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        corrected_interval([0.1])


def frame(shift, noise=0.001, splits=12):
    rng = np.random.default_rng(1)
    rows = []
    for split_seed in range(splits):
        level = rng.normal(0.6, 0.1)  # splits differ far more than methods: pairing must help
        for seed in range(2):
            rows.append(("A", "CE", split_seed, seed, level + rng.normal(0, noise)))
            rows.append(("A", "AMOL", split_seed, seed, level + shift + rng.normal(0, noise)))
    return pd.DataFrame(rows, columns=["dataset", "method", "split_seed", "seed", "QWK"])


@pytest.mark.parametrize(
    ("shift", "metric", "verdict"),
    [
        (0.02, "QWK", "better"),
        (-0.02, "QWK", "worse"),
        (-0.02, "MAE", "better"),
        (0.02, "end_recall", "better"),
        (0.0, "QWK", "no difference shown"),
    ],
)
def test_verdicts(shift, metric, verdict):
    rows = frame(shift).rename(columns={"QWK": metric})
    row = paired_differences(rows, [("AMOL", "CE")], [metric]).iloc[0]
    assert row["verdict"] == verdict and row["splits"] == 12
    assert row["difference"] == pytest.approx(shift, abs=0.001)


def test_a_method_that_was_not_run_gives_no_row():
    assert paired_differences(frame(0.1), [("AMOL", "SORD")], ["QWK"]).empty


def test_a_data_set_without_the_metric_gives_no_row_and_metrics_come_first():
    rows = pd.concat([frame(0.1), frame(0.1).assign(dataset="B")]).assign(MAE=0.5)
    rows.loc[rows["dataset"] == "B", "MAE"] = np.nan
    found = paired_differences(rows, [("AMOL", "CE"), ("CE", "AMOL")], ["QWK", "MAE"])
    where = found[["metric", "method", "dataset"]].agg(" ".join, axis=1).tolist()
    assert where == ["QWK AMOL A", "QWK AMOL B", "QWK CE A", "QWK CE B", "MAE AMOL A", "MAE CE A"]
