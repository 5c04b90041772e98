"""The study: settings checked at the edge, nothing trained twice, equal bytes however it runs."""

import itertools
import os
import random as pythons
import sys
import threading
import time
from dataclasses import fields
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from amol import engine
from amol.losses import LOSSES, register_loss
from companion import StudySettings, predictions, run_study
from companion.train import study, workers
from companion.train.runs import plan
from companion.train.settings import _labels

SMALL = dict(datasets="Wine Red", methods="CE, AMOL", seeds=3, epochs=3)


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = tmp_path / "trained"
    monkeypatch.setattr(study, "store_path", lambda: path)
    return path


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("datasets", ["Wine"], "'Wine'; did you mean Wine Red? allowed: Synthetic, Wine Red"),
        ("datasets", 3, "datasets is 3"),
        ("methods", "CE,XE", "'XE'; allowed: CE, CE-masked"),
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
        ("methods", {"CE", "AMOL"}, "methods is {"),
        ("seeds", np.array([0.0, 1.0]), "different whole numbers"),
        ("epochs", np.float64(5), "5.0"),
        ("restore", 1, "allowed: True, False"),
        ("target", None, "the name of a column"),
        ("csv_options", {"separator": ";"}, "'separator'"),
    ],
)
def test_a_bad_setting_is_named_with_the_allowed_ones(field, value, says):
    with pytest.raises(ValueError) as caught:
        StudySettings(**{field: value})
    assert field in str(caught.value) and says in str(caught.value)
    assert "\n" not in str(caught.value)


NAMES = ["low", "mid", "high"]


@pytest.mark.parametrize(
    "order",
    [
        NAMES,
        tuple(NAMES),
        ",".join(NAMES),
        np.array(NAMES),
        np.array(NAMES, dtype=object),
        pd.Index(NAMES),
        pd.Series(NAMES),
        pd.Categorical(NAMES, NAMES).categories,
        (name for name in NAMES),
        dict.fromkeys(NAMES).keys(),
    ],
    ids=lambda order: type(order).__name__,
)
def test_settings_take_every_kind_of_the_same_value(tmp_path, order):
    path = tmp_path / "a, b.csv"
    pd.DataFrame({"x": range(15), "grade": NAMES * 5}).to_csv(path, index=False)
    plain = StudySettings(
        [str(path)],
        ["CE", "AMOL"],
        3,
        0.5,
        epochs=5,
        target="grade",
        order=NAMES,
        restore=False,
        loss_parameters={"Focal": {"gamma": 3}},
    )
    given = StudySettings(
        path,
        np.array(["CE", "AMOL"]),
        np.arange(3),
        np.float32(0.5),
        epochs=np.int64(5),
        target=np.str_("grade"),
        order=order,
        restore=np.bool_(False),
        loss_parameters={"Focal": {"gamma": np.int64(3)}},
    )
    assert [run.key for run in plan(given)] == [run.key for run in plan(plain)]
    for setting in fields(StudySettings):
        if setting.name != "own":
            value, expected = getattr(given, setting.name), getattr(plain, setting.name)
            assert value == expected and type(value) is type(expected)


def test_a_whole_number_is_one_label_in_every_kind():
    assert _labels((3, 4.0, 5)) == ("3", "4", "5") and _labels("1.0, 007") == ("1.0", "007")


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
    ways = [{"workers": 2}, {"workers": 3}, {"address": cluster.scheduler_address}]
    for number, how in enumerate(ways):
        monkeypatch.setattr(study, "store_path", lambda n=number: tmp_path / f"{n}")
        made = run_study(StudySettings(**SMALL), **how)
        assert made.attrs["trained"] == 6 and made.to_csv() == one, how
        assert run_study(StudySettings(**SMALL)).attrs["trained"] == 0  # all of it was stored
    monkeypatch.setattr(study, "store_path", lambda: tmp_path / "merged")
    run_study(StudySettings(**SMALL | {"methods": "AMOL", "seeds": [2]}), workers=1)
    run_study(StudySettings(**SMALL | {"methods": "CE"}), workers=1)
    merged = run_study(StudySettings(**SMALL), workers=1)
    assert merged.attrs["trained"] == 2 and merged.to_csv() == one


def test_a_cluster_that_is_not_fit_is_refused_in_one_line(store, cluster, monkeypatch):
    def refused(address, *there):
        replies = iter(there)
        monkeypatch.setattr(workers, "_facts", lambda: next(replies))
        with pytest.raises(workers.ClusterError) as caught:
            run_study(StudySettings(**SMALL), address=address)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
    good = cluster.scheduler_address
    for address in ("tcp://127.0.0.1:1", "nonsense://a", "127.0.0.1"):
        assert f"no Dask scheduler answers at {address!r}" in refused(address)
    older, newer = {"torch": "2.12.0"}, {"torch": "2.13.0"}
    told = refused(good, newer, older)
    assert "worker tcp://" in told and "has torch 2.12.0, this host has 2.13.0" in told
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        assert "pip install distributed" in refused(good)
    assert not list(store.glob("*"))


def test_a_setting_retrains_what_it_touches_and_no_more(store):
    run_study(StudySettings(**SMALL), workers=1)
    assert run_study(StudySettings(**SMALL, alpha=2), workers=1).attrs["trained"] == 3
    assert run_study(StudySettings(**SMALL, sigma=2), workers=1).attrs["trained"] == 3
    assert run_study(StudySettings(**SMALL, split_seed=1), workers=1).attrs["trained"] == 6


FACTOR = 1.0


def test_a_loss_of_the_users_trains_again_when_what_it_reads_has_changed(store, monkeypatch):
    @register_loss("cheaper")
    def cheaper(logits, target, num_classes):
        return -FACTOR * torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]

    settings = StudySettings(**SMALL | {"methods": "CE, cheaper"})
    try:
        first = run_study(settings, workers=2)
        assert first.attrs["trained"] == 6 and first.attrs["uncompiled"] == ("cheaper",)
        assert run_study(settings).attrs["trained"] == 0
        monkeypatch.setitem(globals(), "FACTOR", 2.0)
        assert run_study(settings).attrs["trained"] == 3
    finally:
        LOSSES.pop("cheaper")


def test_a_loss_that_reads_what_no_digest_can_see_is_trained_anew(store, capsys):
    @register_loss("file")
    def reads(logits, target, num_classes):
        open(__file__).close()
        return torch.logsumexp(logits, -1) - logits.gather(-1, target[..., None])[..., 0]

    settings = StudySettings(**SMALL | {"methods": "file"})
    try:
        first = run_study(settings)
        assert run_study(settings).attrs["trained"] == 3
        assert "file is trained anew each time, since its loss reads" in capsys.readouterr().out
        assert len(first) == 3 and not list(store.glob("*.npz"))
    finally:
        LOSSES.pop("file")


def distance(logits, target):
    return torch.logsumexp(logits, -1) - logits.gather(-1, target[..., None])[..., 0]


SEEN, COUNT, OWN = [], itertools.count(), torch.Generator()
# Kind 2: losses that read a state of the process, and what is said of each.
STATEFUL = {
    "PyTorch's random numbers": (lambda x, y, k: distance(x, y) * torch.rand(1), "random numbers"),
    "dropout": (lambda x, y, k: distance(torch.nn.functional.dropout(x), y), "random numbers"),
    "NumPy's random numbers": (
        lambda x, y, k: distance(x, y) * np.random.rand(), "random numbers"),
    "Python's random numbers": (
        lambda x, y, k: distance(x, y) * pythons.random(), "the module random"),
    "a generator": (lambda x, y, k: distance(x, y) * torch.rand(1, generator=OWN), "Generator"),
    "a mutable default": (
        lambda x, y, k, seen=[]: distance(x, y) * (len(seen), seen.append(1))[0],
        "what it changes itself"),
    "a global list": (
        lambda x, y, k: distance(x, y) * (SEEN.append(1) or len(SEEN)), "what it changes itself"),
    "a counter": (lambda x, y, k: distance(x, y) / (1 + next(COUNT)), "what it changes itself"),
    "an attribute of its own": (
        lambda x, y, k: setattr(distance, "n", getattr(distance, "n", 0) + 1) or distance(x, y),
        "what it changes itself"),
    "the clock": (lambda x, y, k: distance(x, y) * (time.time() % 7), "the module time"),
    "the date": (lambda x, y, k: distance(x, y) * datetime.now().year, "the module datetime"),
    "the thread": (
        lambda x, y, k: distance(x, y) * threading.get_ident(), "the module threading"),
    "the process": (lambda x, y, k: distance(x, y) * os.getpid(), "getpid"),
    "a variable of the environment": (
        lambda x, y, k: distance(x, y) * float(os.environ.get("A", 1)), "environ"),
    "a seed": (lambda x, y, k: distance(x, y) * torch.initial_seed(), "initial_seed"),
    "a seed that is drawn": (
        lambda x, y, k: distance(x, y) * torch.Generator().seed(), "seed"),
    "a generator that is seeded anew": (
        lambda x, y, k: distance(x, y) * np.random.default_rng().random(), "random numbers"),
    "coins that are tossed anew": (
        lambda x, y, k: distance(x, y) * np.random.RandomState().choice([1, 2]), "random numbers"),
    "a hash, which each process salts": (
        lambda x, y, k: distance(x, y) * (hash("a") % 7), "calls hash"),
    "an address": (lambda x, y, k: distance(x, y) * (id(x) % 7), "calls id"),
    "whether a file is there": (
        lambda x, y, k: distance(x, y) * Path("a").exists(), "calls exists"),
    "the words of the command": (
        lambda x, y, k: distance(x, y) * len(sys.argv), "calls argv"),
    "the folder": (lambda x, y, k: distance(x, y) * len(os.getcwd()), "getcwd"),
}  # fmt: skip


@pytest.mark.parametrize("kind", STATEFUL)
def test_a_loss_that_reads_a_state_of_the_process_is_trained_anew(store, capsys, kind):
    body, said = STATEFUL[kind]

    @register_loss("stateful")
    def stateful(logits, target, num_classes):
        return body(logits, target, num_classes)

    settings = StudySettings("ESL", "stateful", 2, epochs=1)
    try:
        for _ in range(2):
            assert run_study(settings, workers=2).attrs["trained"] == 2
            told = capsys.readouterr().out
            assert "stateful is trained anew each time, since its loss reads" in told
            assert said in told, told
        assert not list(store.glob("*.npz"))
    finally:
        LOSSES.pop("stateful")


@pytest.mark.parametrize("change", ["dtype", "threads", "precision", "seed", "gradients"])
def test_settings_of_pytorch_that_a_loss_may_read_are_always_the_same(store, tmp_path, monkeypatch,
                                                                      change):  # fmt: skip
    @register_loss("plain")
    def plain(logits, target, num_classes):
        steps = torch.linspace(0, 1, num_classes)  # in the default dtype
        square = (logits.softmax(-1) @ steps - steps[target]) ** 2
        return square * torch.get_num_threads() + torch.ones(3, 3).mm(torch.ones(3, 3)).mean()

    settings = StudySettings("Wine Red", "plain", 1, epochs=2)
    before = torch.get_default_dtype(), torch.get_num_threads()
    try:
        first = run_study(settings)
        monkeypatch.setattr(study, "store_path", lambda: tmp_path / "other")
        {"dtype": lambda: torch.set_default_dtype(torch.float64),
         "threads": lambda: torch.set_num_threads(3),
         "precision": lambda: torch.set_float32_matmul_precision("medium"),
         "seed": lambda: torch.manual_seed(7),
         "gradients": lambda: torch.set_grad_enabled(False)}[change]()  # fmt: skip
        again = run_study(settings)
        assert again.attrs["trained"] == 1 and again.to_csv() == first.to_csv()
    finally:
        LOSSES.pop("plain")
        torch.set_default_dtype(before[0])
        torch.set_num_threads(before[1])
        torch.set_float32_matmul_precision("highest")
        torch.set_grad_enabled(True)


def test_equal_computations_are_one_training_and_rows_of_their_own(store):
    settings = StudySettings(**SMALL | {"methods": "KL, AMOL"}, alpha=0)
    made = run_study(settings)
    kl, amol = (made[made["method"] == name].drop(columns="method") for name in ("KL", "AMOL"))
    assert kl.to_csv(index=False) == amol.to_csv(index=False)
    assert len(list(store.glob("*.npz"))) == 3


def test_ctrl_c_keeps_what_is_done_and_the_same_call_goes_on(store, monkeypatch):
    train, calls = engine.train, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train(*arguments)

    monkeypatch.setattr(engine, "train", interrupted)
    with pytest.raises(KeyboardInterrupt, match="2 of 6 runs are kept"):
        run_study(StudySettings(**SMALL), workers=1)
    monkeypatch.setattr(engine, "train", train)
    assert run_study(StudySettings(**SMALL)).attrs["trained"] == 4


def test_predictions_give_back_what_the_row_was_computed_from(store):
    settings = StudySettings(**SMALL)
    row = run_study(settings, workers=1).query("method == 'AMOL' and seed == 2").iloc[0]
    y_true, y_pred, probabilities = predictions(settings, "Wine Red", "AMOL")
    assert y_pred.shape == (3, 320) and probabilities.shape == (3, 320, 6)
    assert (y_true == y_pred[2]).mean() == row["accuracy"]
    np.testing.assert_array_equal(probabilities.argmax(-1), y_pred)
