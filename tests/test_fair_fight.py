"""The fair fight: budgets, rules, decisions and scores by hand, a small grid, resumability."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from amol.losses import LOSSES
from companion.studies import decisions, fair_fight, recordings, task_study


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(task_study, "build_dir", lambda: tmp_path)
    monkeypatch.setattr(recordings, "folder", lambda: tmp_path)
    return tmp_path


def part(methods, splits) -> task_study.TaskStudy:
    """The study on one small data set."""
    return replace(fair_fight.STUDY, tasks=tuple(product(("ESL",), methods, range(splits))))


@pytest.mark.parametrize("method", fair_fight.METHODS)
def test_each_method_has_eight_different_candidates_and_starts_untuned(method):
    found = fair_fight.candidates(method)
    assert len(found) == 8 and len({str(c) for c in found}) == 8
    run = fair_fight.run_of("ESL", method, 0, found[0])
    assert run.key == fair_fight.run_of("ESL", method, 0, {}).key and not run.unsure
    assert type(run.loss) is LOSSES[method]


def test_a_small_grid_is_tidy_kept_and_recorded(home):
    small = part(("CE", "AMOL"), 2)
    rows, seconds = small.run(small.tasks)
    assert not rows.duplicated(list(fair_fight.LABEL)).any() and seconds > 0
    rules = rows[rows["method"] == "AMOL"].groupby("split_seed")["rule"].agg(list)
    assert rules[0] == ["QWK", "AMAE", "default", "alpha 0.5", "alpha 2", "alpha 4", "QWK stop"]
    decided = rows[rows["method"].str.startswith("CE,")]
    assert set(decided["rule"]) == {"QWK", "default"} and len(decided) == 2 * 2 * 4
    chosen = rows[rows["method"].isin(["CE", "AMOL"])].pivot_table(
        index=["method", "split_seed"], columns="rule", values=["validation_QWK", "validation_AMAE"]
    )
    assert (chosen["validation_QWK", "QWK"] >= chosen["validation_QWK", "default"]).all()
    assert (chosen["validation_AMAE", "AMAE"] <= chosen["validation_AMAE", "default"]).all()

    small = replace(small, measure=lambda *a: pytest.fail("trained again"))
    again, as_long = small.run(small.tasks)
    pd.testing.assert_frame_equal(again, rows)
    assert as_long == pytest.approx(seconds)

    # in the order and columns of the recording
    recorded = pd.read_csv(ROOT / "book" / "recorded" / "fair_fight.csv", dtype=recordings.TYPES)
    wanted = recorded[
        recorded["dataset"].eq("ESL")
        & recorded["method"].str.fullmatch("CE(, .*)?|AMOL")
        & recorded["split_seed"].lt(2)
    ]
    found = small.record(workers=1)
    pd.testing.assert_frame_equal(
        found.drop(columns="key"), wanted.drop(columns="key").reset_index(drop=True)
    )


def test_a_sample_is_trained_anew_and_compared(home):
    small = part(("KL",), 1)
    rows = small.record(workers=1)
    sample, compared = small.verify(1)
    assert len(sample) == 4 and sample["equal"].all() and compared.holds
    rows.loc[1, "RPS"] += 1e-4
    recordings.keep("fair_fight", rows, {})
    _, compared = small.verify(1)
    assert compared.different == 1 and "RPS" in compared.first and compared.keys_match


P = np.array([[0.4, 0.1, 0.3, 0.2, 0.0], [0.0, 0.3, 0.4, 0.3, 0.0], [0.1, 0.2, 0.1, 0.2, 0.4]])


@pytest.mark.parametrize(
    "name, labels",
    [
        ("median", [1, 2, 3]),
        ("least squares", [1, 2, 3]),  # means 1.3, 2 and 2.6
        ("center masked", [0, 1, 4]),
        ("prior adjusted", [0, 1, 4]),
    ],
)
def test_decisions_by_hand(name, labels):
    counts = np.array([1, 1, 2, 1, 1])  # the center's probability is halved
    assert decisions.DECISIONS[name](P.astype(np.float32), counts).tolist() == labels


def test_the_lower_recall_of_the_ends():
    y, y_pred = np.array([0, 0, 1, 2, 2, 2, 2]), np.array([0, 1, 1, 2, 2, 2, 0])
    assert decisions.label_scores(y, y_pred, 3)["end_recall"] == 0.5


def test_a_temperature_undoes_overconfidence():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 4000)
    y = (p.cumsum(1) < rng.random((4000, 1))).sum(1)
    sharp = decisions.tempered(p, 0.5)
    assert decisions.fit_temperature(y, sharp) == pytest.approx(2, rel=0.1)
    scores = decisions.probability_scores(y, sharp, y, sharp)
    assert scores["NLL_T"] < scores["NLL"] and scores["ECE_T"] < 0.5 * scores["ECE"]
    assert scores["NLL"] == pytest.approx(-np.log(sharp[np.arange(4000), y]).mean(), abs=1e-4)
