"""Recordings: written once, and what differs from them is reported, never an error."""

import gzip
import json
import math

import pandas as pd
import pytest

from companion.host import processor
from companion.paper.open_choices import register_readings
from companion.studies import grids, recording_checks, recordings
from companion.studies.grids import compare_runs, record, verify
from companion.studies.recording_checks import note_of, sample, write_notes
from companion.studies.recordings import load, note
from companion.train import runs as plans
from companion.train import study
from companion.train.settings import StudySettings
from companion.train.study import run_study

SMALL = StudySettings("Wine Red", "CE, AMOL", seeds=2, epochs=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two recordings of four short runs, in a folder of their own: a long study and a grid."""
    root = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recordings, "ROOT", root)
        patch.setattr(study, "store_path", lambda: root / "runs.sqlite")
        small = {
            "small": lambda: [({"kind": ""}, SMALL)],
            "grid": lambda: [({}, SMALL)],
        }
        patch.setattr(grids, "GRIDS", small)
        for name in small:
            record(name, workers=1)
        yield root / "book" / "recorded"


@pytest.fixture
def changed(folder):
    """Change a CSV by text, put it back afterwards."""
    texts = {file: file.read_text() for file in folder.glob("*.csv")}

    def change(name, old, new):
        file = folder / f"{name}.csv"
        file.write_text(texts[file].replace(old, new, 1))

    yield change
    for file, text in texts.items():
        file.write_text(text)


def test_a_large_recording_is_packed_and_read_alike(folder, monkeypatch):
    rows = load("small")
    monkeypatch.setattr(recordings, "PLAIN", len(rows) - 1)
    recordings.keep("large", rows, {})
    packed = folder / "large.csv.gz"
    assert gzip.decompress(packed.read_bytes()) == (folder / "small.csv").read_bytes()
    assert not (folder / "large.csv").exists() and recordings.made("large")
    pd.testing.assert_frame_equal(load("large"), rows)
    monkeypatch.setattr(recordings, "PLAIN", len(rows))
    recordings.keep("large", rows, {})
    assert (folder / "large.csv").exists() and not packed.exists()
    (folder / "large.csv").unlink()


def test_rows_are_tidy_and_the_machine_is_noted(folder):
    rows = load("small")
    assert list(rows.columns[:4]) == ["kind", "dataset", "method", "seed"]
    assert len(rows) == 4 and rows["key"].str.len().eq(16).all()
    assert note("small")["runs"] == 4 and note("small")["processor"] == processor()


def test_the_grid_is_recorded_with_every_digit(folder, tmp_path):
    runs = run_study(SMALL)
    runs.to_csv(tmp_path / "runs.csv", index=False, lineterminator="\n")
    assert (tmp_path / "runs.csv").read_bytes() == (folder / "grid.csv").read_bytes()
    pd.testing.assert_frame_equal(load("grid"), runs, check_exact=True)


def test_an_untouched_recording_holds(folder):
    rows, compared = verify("small", count=3)
    assert len(rows) == 3 and rows["equal"].all() and (rows["largest difference"] == 0).all()
    assert compared.holds and compared.compared == 3
    assert "Warning" not in note_of(compared) and "3 runs equal" in note_of(compared)


def test_a_changed_value_is_named_with_both_values_and_processors(folder, changed):
    value = float(load("small")["QWK"][0])
    changed("small", f"{value:.6f}".rstrip("0"), f"{value + 0.001:.6f}")
    rows, compared = verify("small", count=4)
    assert rows["equal"].tolist() == [False, True, True, True]
    assert rows["largest difference"][0] == pytest.approx(0.001)
    assert compared.keys_match and not compared.equal
    assert f"{value!r} on {processor()}" in compared.first
    text = note_of(compared)
    assert text.startswith("> **Warning.** ") and "1 of 4 runs differ" in text
    assert f"Wine Red, CE, seed 0, split 42, QWK {round(value + 0.001, 6)} on {processor()}" in text


def test_the_last_digit_of_the_grid_counts(folder, changed):
    runs = run_study(SMALL)
    assert compare_runs("grid", runs).holds
    value = float(runs["QWK"][3])
    changed("grid", repr(value), repr(math.nextafter(value, 1)))
    compared = compare_runs("grid", runs)
    assert compared.different == 1 and "seed 1" in compared.first


def test_a_changed_key_is_reported(folder, changed):
    key = load("small")["key"][2]
    changed("small", key, key[::-1])
    rows, compared = verify("small", count=1)
    assert rows["equal"].all() and compared.equal and not compared.keys_match
    assert "other settings, data or code; `amol study --record small`" in note_of(compared)


def test_a_key_that_names_the_machine_is_not_compared(folder, monkeypatch):
    register_readings()
    own = StudySettings("Wine Red", "AMOL-OLL on Castagnos", seeds=1, epochs=1)
    monkeypatch.setitem(grids.GRIDS, "own", lambda: [({}, own)])
    key = record("own", workers=1)["key"][0]
    monkeypatch.setattr(plans, "processor", lambda: "another")
    assert not plans.plan(own)[0].key.startswith(key)
    assert verify("own", count=1)[1].holds


def test_rows_that_are_no_longer_planned_are_left_out(folder, changed):
    changed("small", "Wine Red", "Wine Rose")
    rows, compared = verify("small", count=4)
    assert len(rows) == 3 and compared.equal


def test_a_missing_value_differs_from_a_number(folder):
    whole = pd.DataFrame({"method": ["CE"], "failed": [pd.NA], "QWK": [0.5], "key": ["a"]})
    whole["failed"] = whole["failed"].astype("Int64")
    lacking = whole.assign(QWK=math.nan)
    assert recording_checks.compare("small", lacking, lacking, ["method"])[1].equal
    rows, compared = recording_checks.compare("small", whole, lacking, ["method"])
    assert compared.different == 1 and rows["largest difference"][0] == math.inf
    assert not recording_checks.compare("small", whole, whole.assign(failed=3), ["method"])[1].equal


def test_what_is_compared_is_what_was_recorded(folder):
    old = pd.DataFrame({"method": ["CE"], "QWK": [0.5], "key": ["a"]})
    new = old.assign(far=0.1, method="CE")
    assert recording_checks.compare("small", old, new, ["method"])[1].equal
    _, compared = recording_checks.compare("small", old.assign(gone=1.0), new, ["method"])
    assert compared.different == 1 and "gone 1.0" in compared.first and "nan" in compared.first


def test_a_sample_is_drawn_once_each_and_in_order():
    rows = pd.DataFrame({"a": range(50)}, index=range(100, 150))
    drawn = sample(rows, 7, 3)["a"].tolist()
    assert drawn == sorted(set(drawn)) and len(drawn) == 7
    assert drawn == sample(rows, 7, 3)["a"].tolist() != sample(rows, 7, 4)["a"].tolist()
    assert sample(rows, 99, 0).equals(rows) and sample(rows.iloc[:0], 2, 0).empty


def test_a_recording_that_was_never_made_is_reported(folder, monkeypatch):
    monkeypatch.setitem(grids.GRIDS, "new", lambda: [({}, SMALL)])
    rows, compared = verify("new", count=4)
    assert rows.empty and not compared.holds
    assert "There is no recording new" in note_of(compared)


def test_notes_of_a_build(folder, changed, tmp_path):
    runs = run_study(SMALL)
    write_notes(tmp_path, compare_runs("grid", runs))
    assert (tmp_path / "difference.md").read_text().startswith("%")
    digest = compare_runs("grid", runs).digest
    assert f"SHA-256 `{digest}`" in (tmp_path / "recorded.md").read_text()
    changed("grid", "Wine Red,CE,0,42,", "Wine Red,CE,0,42,9")
    write_notes(tmp_path, compare_runs("grid", runs))
    for name in ("difference.md", "recorded.md"):
        assert "> **Warning.** " in (tmp_path / name).read_text()
        assert "best_epoch 9" in (tmp_path / name).read_text()


def test_a_note_names_runs_and_digest_when_the_processor_is_another(folder, monkeypatch):
    file = folder / "small.json"
    text = file.read_text()
    try:
        file.write_text(json.dumps(json.loads(text) | {"processor": "another one"}))
        assert "made on another one" in note_of(verify("small", count=1)[1])
    finally:
        file.write_text(text)


def test_an_unknown_recording_is_named_with_the_known_ones(folder):
    with pytest.raises(ValueError, match=r"'spilts'; allowed: grid, .*small"):
        load("spilts")
    with pytest.raises(ValueError, match=r"'spilts'; allowed: small, grid"):
        record("spilts")
