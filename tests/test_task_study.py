"""A study that goes task by task: gone on with, recorded set by set, made anew only when whole."""

from dataclasses import replace

import pandas as pd
import pytest

from companion.studies import recordings, task_study
from companion.studies.task_study import TaskStudy

LABEL = ("dataset", "method", "split_seed")
TASKS = tuple((d, m, s) for d in ("B", "A", "C") for m in ("q", "p") for s in range(2))


class Trial:
    """A measure that counts its calls and stops at a task; values follow from the label."""

    def __init__(self, stop_at=None):
        self.done, self.stop_at = [], stop_at

    def __call__(self, dataset, method, split, stop):
        if (dataset, method, split) == self.stop_at:
            raise KeyboardInterrupt
        self.done.append((dataset, method, split))
        rows = []
        for name in (method, f"{method}, median"):
            qwk = (ord(dataset) + ord(method) + split) / 1000 + 1e-9 * len(name)
            rows.append(dict(zip(LABEL, (dataset, name, split), strict=True)) | {"QWK": qwk})
        return rows


def keys(dataset, method, split, code="1"):
    return {(dataset, name, split): f"{code}e{split}" for name in (method, f"{method}, median")}


def study(measure, tasks=TASKS, keys=keys) -> TaskStudy:
    return TaskStudy("trial", LABEL, LABEL, tasks, keys, measure, trainings=lambda *task: 3)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(task_study, "build_dir", lambda: tmp_path / "build")
    monkeypatch.setattr(recordings, "folder", lambda: tmp_path)
    return tmp_path


def test_rows_come_by_data_set_method_and_split_as_the_tasks_do(home):
    rows = study(Trial()).record(workers=2)
    assert rows[list(LABEL)].agg(lambda row: "".join(map(str, row)), axis=1).tolist()[:8] == [
        "Bq0", "Bq1", "Bq, median0", "Bq, median1", "Bp0", "Bp1", "Bp, median0", "Bp, median1"
    ]  # fmt: skip
    assert rows["dataset"].unique().tolist() == ["B", "A", "C"] and len(rows) == 24
    assert rows["key"].tolist()[:2] == ["1e0", "1e1"]  # a text, though it looks like a number
    assert recordings.note("trial")["trainings"] == 36
    assert set(recordings.note("trial")["seconds"]) == {"A", "B", "C"}


def test_a_stopped_command_keeps_whole_sets_and_goes_on(home):
    wanted = study(Trial()).record(workers=1)
    for file in (*home.glob("trial.*"), *home.glob("build/studies/trial/*")):
        file.unlink()
    first = Trial(stop_at=("A", "p", 1))
    with pytest.raises(KeyboardInterrupt):
        study(first).record(workers=1)
    assert set(recordings.load("trial")["dataset"]) == {"B"}
    then = Trial()
    pd.testing.assert_frame_equal(study(then).record(workers=1), wanted)
    assert first.done[:4] == list(TASKS[:4]) and not set(then.done) & set(TASKS[:4])
    assert set(first.done) | set(then.done) == set(TASKS)


def test_an_unfinished_recording_is_gone_on_with_where_nothing_else_is_kept(home):
    study(Trial(), TASKS[:6]).record(workers=1)  # B, and half of A
    seconds = recordings.note("trial")["seconds"]
    for file in home.glob("build/studies/trial/*"):
        file.unlink()
    then = Trial()
    rows = study(then).record(workers=1)
    assert then.done == list(TASKS[6:])
    assert recordings.note("trial")["seconds"]["B"] == seconds["B"]
    assert rows["dataset"].unique().tolist() == ["B", "A", "C"]


def test_sets_not_yet_reached_stay_recorded(home):
    study(Trial(), TASKS[4:]).record(workers=1)
    with pytest.raises(KeyboardInterrupt):
        study(Trial(stop_at=("D", "q", 0)), (*TASKS[:4], ("D", "q", 0), *TASKS[4:])).record(1)
    assert recordings.load("trial")["dataset"].unique().tolist() == ["B", "A", "C"]


def test_rows_of_other_code_are_not_taken(home):
    study(Trial(), TASKS[:4]).record(workers=1)
    then = Trial()
    study(then, keys=lambda *task: keys(*task, code="2")).record(workers=1)
    assert then.done == list(TASKS)


def test_a_whole_recording_is_made_anew_and_replaced_at_once(home):
    study(Trial()).record(workers=1)
    before = (home / "trial.csv").read_bytes()
    for file in home.glob("build/studies/trial/*"):
        file.unlink()
    with pytest.raises(KeyboardInterrupt):
        study(Trial(stop_at=TASKS[-1])).record(workers=1)
    assert (home / "trial.csv").read_bytes() == before
    then = Trial()
    study(then).record(workers=1)
    assert then.done == [TASKS[-1]] and (home / "trial.csv").read_bytes() == before


def test_a_sample_of_tasks_is_done_again(home):
    trial = study(Trial())
    _, compared = trial.verify(2)
    assert "There is no recording trial" in str(compared)
    rows = trial.record(workers=1)
    sampled, compared = trial.verify(3)
    assert compared.holds and compared.compared == 6 and sampled["equal"].all()
    recordings.keep("trial", rows.assign(QWK=rows["QWK"] + 1e-3), {})
    sampled, compared = trial.verify(12)
    assert compared.different == 24 and compared.keys_match
    assert sampled["largest difference"].to_numpy() == pytest.approx(1e-3)
    other = replace(trial, keys=lambda *task: keys(*task, code="2"))
    assert not other.verify(1)[1].keys_match


def test_rows_other_than_those_planned_are_refused(home):
    other = replace(study(Trial()), keys=lambda *task: {task: "1"})
    with pytest.raises(ValueError, match=r"trial: \('B', 'q', 0\) left rows .*planned: \[\('B'"):
        other.record(workers=1)
