"""The store: whole files or none, a damaged one costs one run."""

import dataclasses
import os
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amol.engine import Outcome
from companion.train.store import Store, StoredRun, StoreError


def stored(number=1, failed=None):
    probabilities = np.full((2, 3), number / 7, dtype=np.float32)
    labels, digest = np.array([0, 2]), "0123456789abcdef" * 4
    outcome = Outcome(labels, probabilities, labels[:1], probabilities[:1], number, 5, failed,
                      digest, True)  # fmt: skip
    return StoredRun(outcome, 0.5)


@pytest.mark.parametrize("failed", [None, 3])
def test_a_run_comes_back_as_it_was_put(tmp_path, failed):
    store = Store(tmp_path / "deep" / "trained")
    assert store.get("a") is None
    store.put("a", "{}", stored(failed=failed))
    found, put = store.get("a"), stored(failed=failed)
    assert found.seconds == 0.5
    for field in dataclasses.fields(Outcome):
        got, given_ = (getattr(run.outcome, field.name) for run in (found, put))
        np.testing.assert_array_equal(got, given_)
        assert type(got) is type(given_)
    assert [path.name for path in store.folder.iterdir()] == ["a.npz"]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_file_is_never_taken_for_another_run(tmp_path_factory, data):
    store = Store(tmp_path_factory.mktemp("store"))
    store.put("a", "{}", stored())
    path = store.folder / "a.npz"
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        path.write_bytes(whole[:at])
    else:
        flipped = whole[at] ^ data.draw(st.integers(1, 255))
        path.write_bytes(whole[:at] + bytes([flipped]) + whole[at + 1 :])
    found = store.get("a")
    if found is None:
        assert not path.exists()
        store.put("a", "{}", stored())
        found = store.get("a")
    for field in dataclasses.fields(Outcome):
        np.testing.assert_array_equal(
            getattr(found.outcome, field.name), getattr(stored().outcome, field.name)
        )


def test_what_a_killed_process_left_is_cleared_after_a_day(tmp_path):
    for name, age in {"a.npz": 30, "old.new": 25, "young.new": 23}.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age * 3600,) * 2)
    Store(tmp_path).check()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "young.new"]


def test_a_place_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    store = Store(tmp_path / "file")
    for attempt in (store.check, lambda: store.put("a", "{}", stored())):
        with pytest.raises(StoreError, match="can't use the runs store") as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"
    assert stat.S_ISREG((tmp_path / "file").stat().st_mode)


@pytest.mark.parametrize(("umask", "mode"), [(0o002, 0o664), (0o022, 0o644), (0o077, 0o600)])
def test_a_stored_run_has_the_rights_of_any_file_of_its_user(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        Store(tmp_path).put("a", "{}", stored())
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.npz").stat().st_mode) == mode


GROUP = 4242


@contextmanager
def user(number: int, umask: int):
    """What is done inside is done by another user, one of `GROUP`."""
    before = os.umask(umask), os.getgroups()
    os.setgroups([GROUP])
    os.setegid(number)
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before[1])
        os.umask(before[0])


@pytest.fixture
def shared():
    """A store of user 4301, in a folder where `GROUP` and all others may do what its rights say."""
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root can be several users")
    around = Path(tempfile.mkdtemp())
    Store(around).put("a", "{}", stored())  # so that what both need is imported
    Store(around).get("a")
    around.chmod(0o755)
    (around / "trained").mkdir()
    os.chown(around / "trained", 4301, GROUP)
    yield Store(around / "trained")
    shutil.rmtree(around)


@pytest.mark.parametrize(
    ("umask", "rights", "reads", "writes"),
    [
        (0o002, 0o2775, True, True),
        (0o022, 0o2755, True, False),
        (0o027, 0o2750, True, False),
        (0o077, 0o2775, False, True),
        (0o077, 0o2700, False, False),
        (0o022, 0o3777, True, True),  # each may delete only what is theirs
    ],
)
def test_a_group_shares_a_store_as_far_as_rights_go(shared, capsys, umask, rights, reads, writes):
    shared.folder.chmod(rights)
    with user(4301, umask):
        shared.put("a", "{}", stored())
        (shared.folder / "old.new").touch()
        os.utime(shared.folder / "old.new", (0, 0))
    with user(4302, umask):
        if reads:
            assert shared.get("a").seconds == stored().seconds
        else:
            with pytest.raises(StoreError, match=r"can't use the runs store .*: Permission denied"):
                shared.get("a")
        if writes:
            shared.check()
            shared.put("b", "{}", stored(2))
            assert shared.get("b") is not None
        else:
            for attempt in (shared.check, lambda: shared.put("b", "{}", stored(2))):
                with pytest.raises(StoreError, match="Permission denied"):
                    attempt()
    assert (shared.folder / "a.npz").exists()
    assert (shared.folder / "old.new").exists() == (not writes or bool(rights & stat.S_ISVTX))
    if writes and reads:
        with user(4301, umask):
            assert shared.get("b") is not None
    assert not capsys.readouterr().out
