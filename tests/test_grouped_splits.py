"""Grouped splits: equal features on one side, and a recording that a run repeats."""

import numpy as np
import pytest

from companion.data.datasets import load_dataset
from companion.studies import grouped_splits, recordings


@pytest.mark.parametrize("name", grouped_splits.SETS)
def test_equal_features_stay_on_one_side(name):
    data = load_dataset(name)
    parts = grouped_splits.grouped_split(data, 3)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(data.y)))
    sides = [{row.tobytes() for row in data.X[part]} for part in parts]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    shares = np.array([len(part) for part in parts]) / len(data.y)
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.02)
    assert all(len(np.unique(data.y[part])) == data.num_classes for part in parts[::2])


def test_recorded_rows_are_trained_again():
    assert len(recordings.load("grouped_splits")) == 2 * 4 * 30
    assert grouped_splits.STUDY.verify(1)[1].holds
