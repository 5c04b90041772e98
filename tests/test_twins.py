"""Twins: equal features on one side of a split, and a recording that a run repeats."""

import numpy as np
import pytest

from companion.data.datasets import load_dataset
from companion.studies import twins


@pytest.mark.parametrize("name", twins.SETS)
def test_equal_features_stay_on_one_side(name):
    data = load_dataset(name)
    parts = twins.grouped_split(data, 3)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(data.y)))
    sides = [{row.tobytes() for row in data.X[part]} for part in parts]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    shares = np.array([len(part) for part in parts]) / len(data.y)
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.02)
    assert all(len(np.unique(data.y[part])) == data.num_classes for part in parts[::2])


def test_recorded_rows_are_trained_again():
    assert len(twins.load()) == len(twins.SETS) * len(twins.METHODS) * twins.SPLITS
    assert twins.verify(1).holds
