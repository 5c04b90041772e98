"""The study: settings checked at the edge, nothing trained twice, equal bytes however it runs."""

import importlib
import shutil
import sys

import numpy as np
import pytest
from faults.sandbox import wait_until

from amol.experiments import fingerprint, study, workers
from amol.experiments.store import Store, StoredRun
from amol.experiments.study import StudySettings, predictions, run_study
from amol.experiments.training import Outcome
from amol.losses import LOSSES

SMALL = dict(datasets="Wine Red", methods="CE, AMOL", seeds=3, epochs=3)


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    monkeypatch.setattr(study, "store_path", lambda: path)
    return path


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("datasets", ["Wine"], "'Wine'; did you mean Wine Red? allowed: Synthetic, Wine Red"),
        ("datasets", 3, "datasets is 3"),
        ("methods", "CE,XE", "'XE'; allowed: CE, OLL"),
        ("methods", [], "empty"),
        ("methods", ["CE", "CE"], "twice"),
        ("seeds", 0, "seeds is 0"),
        ("seeds", "two", "'two'"),
        ("seeds", True, "True"),
        ("seeds", [1, 1], "different"),
        ("seeds", [-1], "from 0"),
        ("seeds", 2.5, "2.5"),
        ("alpha", -0.1, "-0.1"),
        ("alpha", "1", "'1'"),
        ("alpha", float("nan"), "nan"),
        ("sigma", 0, "above 0"),
        ("split_seed", 1.5, "1.5"),
        ("epochs", 0, "at least 1"),
        ("monitor", "accuracy", "allowed: loss, QWK"),
        ("loss_parameters", {"CE": {"gamma": 1}}, "'gamma'"),
    ],
)
def test_a_bad_setting_is_named_with_the_allowed_ones(field, value, says):
    with pytest.raises(ValueError) as caught:
        StudySettings(**{field: value})
    assert field in str(caught.value) and says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_give_a_loss_the_parameters_that_it_has():
    settings = StudySettings(alpha=2, sigma=0.5, loss_parameters={"Focal": {"gamma": 3.0}})
    assert settings.parameters("CE") == {}
    assert settings.parameters("SORD") == {"sigma": 0.5}
    assert settings.parameters("AMOL-asym") == {"alpha": 2.0, "sigma": 0.5}
    assert settings.parameters("Focal") == {"gamma": 3.0}


def test_a_second_call_trains_nothing_and_gives_the_same(store):
    first = run_study(StudySettings(**SMALL), workers=1)
    assert len(first) == 6 and first.attrs["trained"] == 6
    assert list(first.columns[:5]) == ["dataset", "method", "seed", "split_seed", "best_epoch"]
    second = run_study(StudySettings(**SMALL), workers=1)
    assert second.attrs["trained"] == 0 and second.attrs["reused"] == 6
    assert second.to_csv() == first.to_csv()


@pytest.fixture(scope="module")
def cluster():
    """A Dask scheduler with one worker, in threads of this process."""
    from distributed import LocalCluster

    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(1, protocol="tcp://", silence_logs=50, **options) as made:
        yield made


def test_rows_are_equal_byte_for_byte_however_they_are_made(store, tmp_path, monkeypatch, cluster):
    one = run_study(StudySettings(**SMALL), workers=1).to_csv()
    address = cluster.scheduler_address
    ways = [
        (1, {"workers": 1}),
        (3, {"workers": 2}),
        (4, {"workers": 1}),
        (2, {"address": address}),
    ]
    for number, (chunk, how) in enumerate(ways):
        monkeypatch.setattr(study, "store_path", lambda n=number: tmp_path / f"{n}.sqlite")
        monkeypatch.setattr(study, "CHUNK", chunk)
        made = run_study(StudySettings(**SMALL), **how)
        assert made.attrs["trained"] == 6 and made.to_csv() == one, (chunk, how)
        assert run_study(StudySettings(**SMALL)).attrs["trained"] == 0  # all of it was stored
    monkeypatch.setattr(study, "store_path", lambda: tmp_path / "merged.sqlite")
    run_study(StudySettings(**SMALL | {"methods": "AMOL", "seeds": [2]}), workers=1)
    run_study(StudySettings(**SMALL | {"methods": "CE"}), workers=1)
    merged = run_study(StudySettings(**SMALL), workers=1)
    assert merged.attrs["trained"] == 2 and merged.to_csv() == one


def test_a_cluster_that_is_not_fit_is_refused_in_one_line(store, cluster, monkeypatch):
    def refused(address, *there):
        replies = iter(there)
        monkeypatch.setattr(workers, "_facts", lambda losses: next(replies))
        with pytest.raises(workers.ClusterError) as caught:
            run_study(StudySettings(**SMALL), address=address)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    monkeypatch.setattr(workers, "PATIENCE", 1)
    good = cluster.scheduler_address
    for address in ("tcp://127.0.0.1:1", "nonsense://a", "127.0.0.1"):
        assert f"no Dask scheduler answers at {address!r}" in refused(address)
    older, newer = {"torch": "2.12.0"}, {"torch": "2.13.0"}
    told = refused(good, newer, older)
    assert "worker tcp://" in told and "has torch 2.12.0, this host has 2.13.0" in told
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        assert "pip install distributed" in refused(good)
    monkeypatch.setattr("distributed.Client.nthreads", lambda client: {"tcp://there:1": 4})
    assert "tcp://there:1 has 4 threads" in refused(good, newer, newer)
    assert not store.exists() or Store(store).get(["a"], 6) == {}


def test_a_cluster_without_workers_left_is_told_of(cluster, monkeypatch, capfd):
    from distributed import Client

    monkeypatch.setattr(workers, "GLANCE", 0.05)
    told = []

    def heard(words):
        told.append(capfd.readouterr().err)
        return words in "".join(told)

    with Client(cluster, set_as_default=False) as client:
        with workers._told_of_absence(client, "tcp://here:1"):
            cluster.scale(0)
            wait_until(
                lambda: heard(
                    "the scheduler at tcp://here:1 has no workers left; the study waits\n"
                )
            )
            cluster.scale(1)
            wait_until(lambda: heard("the scheduler at tcp://here:1 has workers again\n"))
        assert "".join(told).count("scheduler at") == 2


def test_a_setting_retrains_what_it_touches_and_no_more(store):
    run_study(StudySettings(**SMALL), workers=1)
    assert run_study(StudySettings(**SMALL, alpha=2), workers=1).attrs["trained"] == 3
    assert run_study(StudySettings(**SMALL, sigma=2), workers=1).attrs["trained"] == 3
    assert run_study(StudySettings(**SMALL, split_seed=1), workers=1).attrs["trained"] == 6


def test_a_changed_loss_retrains_itself_alone(store, monkeypatch):
    run_study(StudySettings(**SMALL), workers=1)

    class Changed(LOSSES["AMOL"]):
        def terms(self, logits, target):
            values, weights = super().terms(logits, target)
            return 2 * values, weights

    monkeypatch.setitem(LOSSES, "AMOL", Changed)
    assert run_study(StudySettings(**SMALL), workers=1).attrs["trained"] == 3


def test_predictions_give_back_what_the_row_was_computed_from(store):
    settings = StudySettings(**SMALL)
    row = run_study(settings, workers=1).query("method == 'AMOL' and seed == 2").iloc[0]
    y_true, y_pred, probabilities = predictions(settings, "Wine Red", "AMOL")
    assert y_pred.shape == (3, 320) and probabilities.shape == (3, 320, 6)
    assert (y_true == y_pred[2]).mean() == row["accuracy"]
    np.testing.assert_array_equal(probabilities.argmax(-1), y_pred)


def stored(number=1):
    probabilities = np.full((2, 3), number / 7, dtype=np.float32)
    return StoredRun(Outcome(np.array([0, 2]), probabilities, np.array([1]), 1, 2), 0.5)


def test_store_gives_back_what_was_put_and_keeps_the_first(tmp_path):
    store = Store(tmp_path / "deep" / "runs.sqlite")
    assert store.get(["a"], 3) == {}
    store.put("a", "{}", stored(1))
    store.put("a", "{}", stored(2))
    found = store.get(["a", "b"], 3)
    assert list(found) == ["a"]
    np.testing.assert_array_equal(found["a"].outcome.probabilities, stored(1).outcome.probabilities)


@pytest.mark.parametrize(
    "bad", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"x" * 40]
)
def test_a_file_that_is_no_store_is_set_aside(tmp_path, capsys, bad):
    path = tmp_path / "runs.sqlite"
    path.write_bytes(bad)
    Store(path).put("a", "{}", stored())
    assert (tmp_path / "runs.sqlite.aside-1").read_bytes() == bad
    assert "aside-1" in capsys.readouterr().out
    assert list(Store(path).get(["a"], 3)) == ["a"]


SAMPLE = '''
WIDTH = 2

def inner(x):
    """Says."""
    return x * WIDTH  # why

def outer(x):
    return inner(x) + 1

def apart(x):
    return x

class Base:
    def go(self):
        return inner(1)

class Child(Base):
    pass
'''


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("# why", "# for another reason", set()),
        ("Says.", "Says more.", set()),
        ("x * WIDTH", "x  *  WIDTH", set()),
        ("x * WIDTH", "x + WIDTH", {"inner", "outer", "Base", "Child"}),
        ("WIDTH = 2", "WIDTH = 3", {"inner", "outer", "Base", "Child"}),
        ("inner(x) + 1", "inner(x) + 2", {"outer"}),
        ("inner(1)", "inner(2)", {"Base", "Child"}),
    ],
)
def test_fingerprint_sees_what_code_does_and_nothing_else(tmp_path, monkeypatch, old, new, changed):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fingerprint, "_ours", lambda module: module == "sample")
    names = ("inner", "outer", "apart", "Base", "Child")

    def prints(text):
        (tmp_path / "sample.py").write_text(text)
        monkeypatch.delitem(sys.modules, "sample", raising=False)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        module = importlib.import_module("sample")
        return {name: fingerprint.fingerprint(getattr(module, name)) for name in names}

    before, after = prints(SAMPLE), prints(SAMPLE.replace(old, new))
    assert {name for name in names if before[name] != after[name]} == changed
