"""The classifier beside other libraries: what is compared, chosen and shown."""

import numpy as np
import pandas as pd
import pytest

from amol import OrdinalClassifier
from amol.metrics import METRICS
from companion.data.collection import names
from companion.page import classifiers as page
from companion.studies import classifiers, hundred_sets, recordings
from companion.studies.classifiers import LABEL, LIBRARIES, OURS


def test_sets_are_every_fifth_natural_one_of_the_hundred():
    natural = [name for name in hundred_sets.SETS if name in names("natural")]
    assert tuple(natural[::5][:20]) == classifiers.SETS


def test_a_task_leaves_the_rows_that_are_planned():
    task = ("cleveland", OURS, 1)
    rows = pd.DataFrame(classifiers.rows_of(*task, None))
    assert [tuple(row) for row in rows[list(LABEL)].to_numpy()] == [*classifiers.keys_of(*task)]
    data = classifiers.data_of(*task[::2])
    held = {"X_val": data.arrays.X_validation, "y_val": data.arrays.y_validation}
    model = OrdinalClassifier("SORD", random_state=1, decision="qwk")
    model.fit(data.arrays.X_train, data.arrays.y_train, **held)
    found = rows.set_index(["candidate", "decision"])
    for decision in ("argmax", "qwk"):
        answers = model.set_params(decision=decision).predict(data.arrays.X_test)
        row = found.loc["SORD", decision.replace("argmax", "own")]
        expected = [METRICS[name](data.y_test, answers, 4) for name in ("QWK", "MAE")]
        assert row[["QWK", "MAE"]].tolist() == pytest.approx(expected, abs=1e-6)
        assert row["weights"] == model.fits_[0].network.digest[:8]


@pytest.mark.filterwarnings("ignore")  # their optimizers'
@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != OURS])
def test_other_libraries_answer(library):
    needs, candidates = LIBRARIES[library]
    pytest.importorskip(needs)
    rows = pd.DataFrame(classifiers.rows_of("cleveland", library, 0, None))
    assert set(rows["candidate"]) == set(candidates) and rows["failure"].isna().all()
    assert rows[["validation_QWK", *classifiers.MEASURED]].notna().all(axis=None)


@pytest.mark.filterwarnings("ignore")
def test_an_ordered_model_does_without_columns_that_depend_on_others():
    pytest.importorskip("statsmodels")
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
    wide = np.column_stack([X, X.sum(axis=1), np.ones(300)])
    model = classifiers.OrderedModel("logit").fit(wide, y)
    assert len(model.columns) == 2 and model.predict_proba(wide).shape == (300, 3)
    assert np.mean(model.predict(wide) == y) > 0.95


def table() -> pd.DataFrame:
    """Two sets, one split, two libraries; ours has two candidates. QWK of own, of thresholds."""
    scores = {  # on the validation part; on the test part of two sets
        (OURS, "AMOL"): [(0.5, 0.6), (0.1, 0.2), (0.3, 0.8)],
        (OURS, "CE"): [(0.6, 0.5), (0.5, 0.6), (0.7, 0.4)],
        ("mord", "LogAT"): [(0.4, 0.4), (0.5, 0.1), (0.9, 0.9)],
    }
    return pd.DataFrame(
        {"dataset": dataset, "library": library, "split_seed": 0, "candidate": candidate,
         "decision": decision, "validation_QWK": held[place], "QWK": tests[at][place],
         "MAE": 1 - tests[at][place], "failure": None}
        for (library, candidate), (held, *tests) in scores.items()
        for at, dataset in enumerate(("a", "b"))
        for place, decision in enumerate(classifiers.DECISIONS)
    )  # fmt: skip


def test_a_candidate_is_chosen_on_the_validation_part_for_each_decision():
    picked = classifiers.chosen(table()).set_index(["decision", "library"]).sort_index()
    assert picked.loc[("own", OURS)]["candidate"].tolist() == ["CE", "CE"]
    assert picked.loc[("qwk", OURS)]["candidate"].tolist() == ["AMOL", "AMOL"]


def test_the_page_s_table_and_sentences_by_hand():
    found = page.compared(table())
    assert found["QWK, own"].round(3).tolist() == [0.6, 0.7, 0.2, 0.6]
    assert found["QWK, thresholds"].round(3).tolist() == [0.5, 0.5, 0.5, 0.5]
    assert found["Rank"].tolist()[:2] == [1.5, 1.5] and found["Rank"].isna().sum() == 2
    cells = page.comparison(found).cells
    assert cells.loc["mord", "QWK, own"] == "**0.700**"
    assert cells.loc[f"{OURS}, AMOL alone", "Rank"] == ""
    said = page.verdict(table())
    assert "highest mean kappa, 0.500" in said[0]
    assert "mord on 1 of 2" in said[1]
    assert "mord has the highest mean kappa, 0.700, and OrdinalClassifier 0.600" in said[2]
    assert "add -0.100 to ours and -0.200 to -0.200" in said[3]


def test_bars_are_told_at_each_batch():
    rows = [
        {"rival": "skorch", "batch_size": size, "ratio": ratio}
        for size, ratio in ((64, 20.0), (64, 14.0), (256, 11.0))
    ]
    told, default = page.speed_verdict(rows, {"skorch": 12}, 256, {64: 0.9, 256: 0.5})
    assert "14.0 at a batch of 64, which meets it and 11.0 at a batch of 256, which misses" in told
    assert "(22.0 at the rate of a large matrix product)" in told
    assert default == "The default batch is 256."


def test_the_recording_has_the_rows_that_are_planned():
    rows = recordings.load(classifiers.NAME)
    labels = [
        (*task, candidate, decision)
        for task in classifiers.STUDY.tasks
        for candidate in LIBRARIES[task[1]][1]
        for decision in classifiers.decided(candidate, task[1])
        if task[0] in set(rows["dataset"])
    ]
    assert sorted(rows[list(LABEL)].itertuples(index=False, name=None)) == sorted(labels)
    assert classifiers.verify(1)[1].holds
