"""Faults provoked for real: nothing is lost, and one clear line tells what happened."""

import random
import re
import sqlite3

import numpy as np
import pytest
import yaml
from conftest import ROOT

from amol.checks.drill import try_fault
from amol.checks.faults import FAULTS
from amol.experiments.store import Store, StoredRun, StoreError
from amol.experiments.training import Outcome

KILLS = 10  # of each kind
TRIALS = 2  # of any other fault; the recorded drill tries more


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_nothing_is_lost_and_one_line_tells(fault):
    for number in range(min(fault.times, KILLS if "random moment" in fault.name else TRIALS)):
        told = try_fault(fault, number)
        assert told["lost"] == 0, told
        if "aside" not in told["says"] and fault.name != "store cut off in its header":
            assert told["again"] == 0, told


def test_a_damaged_store_is_set_aside_whole_and_work_goes_on(tmp_path, capsys):
    keys, path, rng = [f"run {i}" for i in range(8)], tmp_path / "runs.sqlite", random.Random(0)
    tables = [np.full((320, 6), i / 7, dtype=np.float32) for i in range(8)]
    labels = np.arange(320) % 6

    def missing(store):
        found = store.get(keys, 6)
        return [i for i, key in enumerate(keys) if key not in found]

    def fill(store):
        for i in missing(store):
            store.put(keys[i], "{}", StoredRun(Outcome(labels, tables[i], labels, 1, 2), 0.5))

    store = Store(path)
    fill(store)
    whole = path.read_bytes()
    damaged = [whole[:end] for end in range(0, 101, 10)]
    damaged += [whole[: rng.randrange(100, len(whole))] for _ in range(15)]
    for page in range(0, len(whole), 4096):
        damaged.append(whole[:page] + rng.randbytes(4096) + whole[page + 4096 :])
    for content in damaged:
        path.write_bytes(content)
        fill(store)
        found = store.get(keys, 6)
        for key, table in zip(keys, tables, strict=True):
            np.testing.assert_array_equal(found[key].outcome.probabilities, table)
        told = capsys.readouterr().out
        for aside in tmp_path.glob("*.aside-*"):
            assert aside.read_bytes() == content and aside.name in told
            aside.unlink()


def test_a_store_that_can_not_be_opened_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"can't use the runs store runs\.sqlite: \w+"):
        Store(tmp_path / "file" / "runs.sqlite").check()


def test_a_journal_goes_aside_with_its_store(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"no store" * 99)
    journal = path.with_name("runs.sqlite-journal")
    journal.write_bytes(b"of the damaged one")
    Store(path).check()
    assert not journal.exists() or journal.read_bytes() != b"of the damaged one"
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (0,)


def test_no_pickle_is_read_and_yaml_makes_no_objects():
    files = [*ROOT.glob("amol/**/*.py"), *ROOT.glob("book/_ext/*.py"), *ROOT.glob("notebooks/*.py")]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bpickle\b\.|joblib\.(load|Memory)|torch\.load|read_pickle", text), (
            path
        )
        for call in re.findall(r"yaml\.\w*load\w*\([^\n]*", text):
            assert "BaseLoader" in call or "safe_load" in call, (path, call)


def test_workflows_have_least_rights_and_pinned_actions():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}, path
        for name, job in workflow["jobs"].items():
            rights = {"pages": "write", "id-token": "write"} if name == "deploy" else None
            assert job.get("permissions") == rights, (path, name)
        for used in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", used), (path, used)
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")
