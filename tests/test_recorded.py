"""Recordings: written once, and a row that no longer matches its key or value is found."""

import json

import pytest

from amol.experiments import study
from amol.experiments.settings import StudySettings
from amol.paper import recordings
from amol.paper.recordings import RecordError, load, note, record, verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recording of four short runs, in a folder of its own."""
    root = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recordings, "ROOT", root)
        patch.setattr(study, "store_path", lambda: root / "runs.sqlite")
        small = StudySettings("Wine Red", "CE, AMOL", seeds=2, epochs=2)
        patch.setitem(recordings.RECORDINGS, "small", lambda: [({"kind": "short"}, small)])
        record("small", workers=1)
        yield root / "book" / "recorded"


def test_rows_are_tidy_and_the_machine_is_noted(folder):
    rows = load("small")
    assert list(rows.columns[:4]) == ["kind", "dataset", "method", "seed"]
    assert len(rows) == 4 and rows["key"].str.len().eq(16).all()
    assert note("small")["runs"] == 4 and note("small")["torch"]


def test_an_untouched_recording_holds(folder):
    checks = verify("small", count=3)
    assert len(checks) == 3 and (checks["largest difference"] == 0).all()


@pytest.fixture
def changed(folder):
    """Change the CSV by text, put it back afterwards."""
    file = folder / "small.csv"
    text = file.read_text()
    yield lambda old, new: file.write_text(text.replace(old, new, 1))
    file.write_text(text)


def test_a_changed_value_is_found(folder, changed):
    value = f"{load('small')['QWK'][0]:.6f}".rstrip("0")
    changed(value, f"{float(value) + 0.001:.6f}")
    with pytest.raises(RecordError, match=r"small.*row 0.*moved.*amol study --record small"):
        verify("small", count=4)


def test_a_changed_key_is_found(folder, changed):
    key = load("small")["key"][2]
    changed(key, key[::-1])
    with pytest.raises(RecordError, match="other settings, data or code"):
        verify("small", count=1)


def test_another_processor_may_differ_a_little(folder, changed):
    file = folder / "small.json"
    told = file.read_text()
    try:
        file.write_text(json.dumps(json.loads(told) | {"processor": "another one"}))
        value = f"{load('small')['QWK'][0]:.6f}".rstrip("0")
        changed(value, f"{float(value) + 0.01:.6f}")
        assert verify("small", count=4)["largest difference"].max() == pytest.approx(0.01)
        changed(value, f"{float(value) + 0.2:.6f}")
        with pytest.raises(RecordError, match=r"moved by 0\.2"):
            verify("small", count=4)
    finally:
        file.write_text(told)


def test_an_unknown_recording_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'spilts'; allowed: splits, ranking, choices, losses"):
        load("spilts")
