"""The two pages beyond the paper: their numbers by hand, their figures against the numbers."""

import numpy as np
import pandas as pd
import pytest

from companion.page import appendix
from companion.paper.published import published
from companion.studies.paired_intervals import paired_differences
from companion.train.settings import StudySettings

METRICS = ("QWK", "CHR_ext")


def runs_off(gap, split_seed, seeds=(0, 1), methods=("CE", "AMOL"), datasets=("Abalone",)):
    """Runs of which every metric is its printed mean + ``gap``, seeds ± 0.001 around it."""
    rows = []
    for dataset in datasets:
        for method in methods:
            for seed in seeds:
                row = {"dataset": dataset, "method": method, "seed": seed}
                for metric in METRICS:
                    printed = published(dataset, method, metric)[0]
                    row[metric] = printed + gap + (-0.001 if seed % 2 else 0.001)
                rows.append(row | {"split_seed": split_seed})
    return pd.DataFrame(rows)


def test_splits_are_ranked_by_their_distance():
    gaps = {3: 0.02, 7: -0.01, 42: 0.03}
    ranked = appendix.rank_splits(pd.concat(runs_off(gap, s) for s, gap in gaps.items()))
    for metric in METRICS:
        part = ranked[ranked["metric"] == metric]
        assert part["split_seed"].tolist() == [7, 3, 42]
        assert part["rank"].tolist() == [1, 2, 3]
        assert part["distance"].to_numpy() == pytest.approx([0.01, 0.02, 0.03])


def test_spreads_take_one_run_a_split():
    fixed = runs_off(0, 42)
    moving = pd.concat(runs_off(gap, s) for s, gap in {0: 0.0, 1: 0.02, 2: 0.04}.items())
    found = appendix.spreads(fixed, moving)
    assert len(found) == 4 and (found["published ±"] > 0).all()
    two_seeds = 0.001 * np.sqrt(2)  # ±0.001, ddof 1
    assert found["ours, five seeds on split 42"].to_numpy() == pytest.approx(two_seeds)
    assert found["ours, a new split for each run"].to_numpy() == pytest.approx(0.02)


def test_the_choice_is_placed_among_all_answers():
    distances = pd.DataFrame(
        {"question": ["Q", "Q"], "QWK, chosen": 0.02, "QWK, alternative": [0.01, 0.03],
         "CHR_ext, chosen": 0.02, "CHR_ext, alternative": [0.03, 0.03]}
    )  # fmt: skip
    assert appendix.standing(distances) == {"Q": "place: QWK 2 of 3, CHR_ext 1 of 3"}


def test_readings_of_oll_lie_within_or_not():
    def rows(method, question, alternative, qwk):
        noise = (-0.001, 0.001)
        return pd.DataFrame(
            {"question": question, "alternative": alternative, "dataset": "Abalone", "seed": [0, 1],
             "method": method, "QWK": [qwk + n for n in noise], "CHR": 0.0, "CHR_ext": 0.0,
             "accuracy": 0.0}
        )  # fmt: skip

    near, far = published("Abalone", "OLL", "QWK")[0] + 0.005, 0.6  # printed ± is 0.005
    recorded = pd.concat(
        [
            rows("OLL", "", "as chosen", near),
            rows("OLL-Castagnos", "Which loss is OLL?", "Castagnos, power 1", far),
            rows("CE", "", "as chosen", near),
        ]
    )
    found = appendix.oll_readings(recorded)
    qwk = found[found["metric"] == "QWK"].set_index("series")
    assert set(qwk.index) == {"closeness form", "Castagnos, power 1"}
    assert set(qwk["method"]) == {"OLL"}
    assert qwk.loc["closeness form", "within"] and not qwk.loc["Castagnos, power 1", "within"]
    assert set(qwk.index) < set(appendix.READINGS)


def test_either_middle_class_as_center(monkeypatch):
    y_true = np.array([0, 4, 5, 2])  # three extreme samples at K = 6
    y_pred = np.array([[2, 3, 3, 2], [2, 2, 3, 3]])
    answer = (y_true, y_pred, np.full((2, 4, 6), 1 / 6))
    monkeypatch.setattr(appendix, "predictions", lambda *_: answer)
    found = appendix.middle_readings(StudySettings(methods=["CE"]), "Wine Red")
    means = found.set_index("dataset")["mean"]
    assert means["center: class 2"] == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert means["center: class 3"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert (found["paper_mean"] == published("Wine Red", "CE", "CHR_ext")[0]).all()
    y_pred[1, 1] = 3  # now only one extreme sample of the second seed is called 2
    means = appendix.middle_readings(StudySettings(methods=["CE"]), "Wine Red")["mean"]
    assert means.tolist() == pytest.approx([1 / 3, 2 / 3])


def test_ties_are_counted(monkeypatch):
    probabilities = np.array([[[0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]])
    monkeypatch.setattr(appendix, "predictions", lambda *_: (None, None, probabilities))
    settings = StudySettings(["Wine Red"], ["CE", "AMOL"])
    assert appendix.count_ties(settings) == (2, 6)


@pytest.fixture
def contrasts():
    """AMOL above CE by 0.1 in both metrics: better in QWK, worse in CHR_ext."""
    rows = []
    for split_seed in range(6):
        for method, shift in {"CE": 0.0, "AMOL": 0.1}.items():
            value = 0.5 + shift + 0.001 * split_seed * (1 + shift)
            row = {"dataset": "Abalone", "method": method, "seed": 0, "split_seed": split_seed}
            rows.append(row | {"QWK": value, "CHR_ext": value})
    return paired_differences(pd.DataFrame(rows), [("AMOL", "CE")], METRICS)


def test_better_follows_the_metric(contrasts):
    assert contrasts["metric"].tolist() == list(METRICS)
    assert contrasts["verdict"].tolist() == ["better", "worse"]


def test_a_forest_shows_difference_and_interval(contrasts):
    part = contrasts[contrasts["metric"] == "QWK"]
    axes = appendix.forest(part).axes[0]
    assert axes.get_title(loc="left") == "Abalone"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["AMOL − CE"]
    (bar,) = axes.containers
    assert bar[0].get_xdata()[0] == pytest.approx(part["difference"].iloc[0])
    assert bar[0].get_color() == appendix.OUTCOMES["better"][0]
    reach = [cap.get_xdata()[0] for cap in bar[1]]
    assert reach == pytest.approx([part["low"].iloc[0], part["high"].iloc[0]])


def test_marks_and_ranked_splits_show_their_values():
    points = pd.DataFrame(
        {"metric": ["QWK", "QWK", "CHR_ext"], "name": ["a", "b", "b"], "value": [0.1, 0.2, 0.3],
         "series": ["as chosen", "as chosen", "the other answer"]}
    )  # fmt: skip
    first, second = appendix.marks(points, appendix.DISTANCES, "x", log=True, across=2).axes
    chosen, other = first.lines
    assert chosen.get_xdata().tolist() == [0.1, 0.2] and chosen.get_ydata().tolist() == [0, 1]
    assert len(other.get_xdata()) == 0
    assert second.lines[1].get_xdata().tolist() == [0.3]
    assert first.get_xscale() == "log"

    frame = pd.DataFrame({"metric": "QWK", "split_seed": [7, 42], "distance": [0.01, 0.02]})
    (axes,) = appendix.ranked_splits(frame, 42).axes
    assert [float(axes.lines[1].get_xdata()[0]), float(axes.lines[1].get_ydata()[0])] == [2, 0.02]
    assert axes.texts[0].get_text() == "split 42"
