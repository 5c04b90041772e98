"""Pictures of the argument: what is drawn, in both widths."""

import numpy as np
import pandas as pd

from companion.page import pictures


def test_counts_are_a_mean_over_networks():
    y_true, y_pred = np.array([0, 0, 2]), np.array([[0, 1, 2], [0, 0, 1]])
    expected = [[1.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    assert pictures.counts(y_true, y_pred, 3).tolist() == expected


def test_confusions_name_each_row_with_its_samples_and_skip_none():
    figure = pictures.confusions({"CE": np.array([[3.0, 1.0], [0.0, 0.0]])}, center=0)
    (ax,) = [ax for ax in figure.axes if ax.get_visible()]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0  (n = 4)", "1  (n = 0)"]
    assert [text.get_text() for text in ax.texts] == ["75", "25", "·", "·"]
    assert figure.narrow is not None


def test_strengths_are_evenly_spaced():
    rows = [("QWK", "Abalone", strength, 0.5, 0.1) for strength in (0.0, 0.25, 8.0)]
    frame = pd.DataFrame(rows, columns=["metric", "dataset", "strength", "mean", "std"])
    (ax,) = pictures.strengths(frame).axes
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 1, 2]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", ".25", "8"]


def test_far_values_stand_hollow_at_the_edge_and_none_is_lost():
    values = [*np.linspace(-0.1, 0.1, 30), 9.0]
    names = [f"loss {i}" for i in range(len(values))]
    frame = pd.DataFrame({"metric": "QWK", "dataset": "A", "method": names, "difference": values})
    (ax,) = pictures.overview(frame, names).axes
    full, hollow = ax.get_lines()[-2:]
    assert len(full.get_xdata()) == 30 and len(hollow.get_xdata()) == 1
    assert hollow.get_markerfacecolor() == "white" and hollow.get_xdata()[0] < 1
    assert hollow.get_ydata()[0] == 30
