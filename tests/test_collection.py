"""The collection's descriptions are complete, and its tables are the recorded ones."""

import importlib.util
import pickle
import re
import tomllib
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from companion.cli import main
from companion.data import collection
from companion.data.collection import FILES, Description, descriptions, names, prepare
from companion.data.dataset import DataError, Dataset, divide, duplicate_rows
from companion.data.datasets import ABALONE_VARIANTS, DATASETS, MORE_DATASETS, load_dataset
from companion.train.runs import named_dataset
from companion.train.runs import prepare as prepare_study
from companion.train.settings import StudySettings

ALL = tuple(descriptions())
OWN_FILES = [name for name, about in descriptions().items() if not about.package]
OF_EXTRA = [name for name, about in descriptions().items() if about.package]


def installed(name: str) -> bool:
    return importlib.util.find_spec(descriptions()[name].package) is not None


def test_there_are_a_hundred_natural_sets():
    assert len(names()) >= 100
    assert set(names("natural", "control", "cut")) == set(ALL)


def test_no_name_is_that_of_another_set():
    assert not set(ALL) & {*DATASETS, *MORE_DATASETS, *ABALONE_VARIANTS}
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in ALL)


@pytest.mark.parametrize("name", ALL)
def test_description_is_complete(name):
    about = descriptions()[name]
    for said in ("survey", "file", "licence", "licence_read", "target", "order_reason"):
        assert getattr(about, said).strip()
    assert all(reason.strip() for reason in about.drop.values())
    assert re.fullmatch("[0-9a-f]{64}", about.sha256)
    assert re.fullmatch("[0-9a-f]{64}", about.table_sha256)
    assert bool(about.group) == bool(about.group_reason)
    assert (about.kind == "natural") == (not about.kind_reason)
    assert about.kind in ("natural", "control", "cut")
    assert bool(about.order) != bool(about.cut)
    assert sum(about.cut) in (0, 100)
    assert collection.FEWEST <= sum(about.counts) <= collection.MOST
    assert len(about.counts) in collection.CLASSES
    if about.class_names:
        assert len(about.class_names) == len(about.order)
    if about.kind == "natural":
        assert len(about.counts) <= len(about.order)


def test_every_key_is_a_field():
    known = {field.name for field in fields(Description)} | {"table"}
    book = tomllib.loads((FILES / "collection.toml").read_text(encoding="utf-8"))
    for about in (*book["tables"].values(), *book["sets"].values()):
        assert set(about) <= known
    used = {about["table"] for about in book["sets"].values()}
    assert used == set(book["tables"])
    assert {about["licence"] for about in book["tables"].values()} == set(book["licences"])


def test_at_most_two_targets_a_survey():
    found = Counter(descriptions()[name].survey for name in names())
    found["American National Election Study 1996"] += 1  # the set ANES 1996
    assert max(found.values()) == 2


def test_only_what_may_be_passed_on_is_among_the_files():
    own = [descriptions()[name] for name in OWN_FILES]
    assert {about.licence for about in own} == {"CC BY 4.0", "public domain"}
    assert all(about.citation for about in own if about.licence == "CC BY 4.0")
    packed = {path.name for path in FILES.glob("*.xz")}
    assert packed == {about.file for about in own} - {"anes96.csv"}
    assert sum((FILES / file).stat().st_size for file in packed) < 400_000


def check_table(name: str, data: Dataset) -> None:
    about = descriptions()[name]
    assert data.name == name and data.X.dtype == np.float64 and data.y.dtype == np.int64
    assert data.X.shape == (sum(about.counts), len(data.feature_names))
    assert np.isfinite(data.X).all() and (np.ptp(data.X, axis=0) > 0).all()
    assert len(set(data.feature_names)) == len(data.feature_names)
    assert np.bincount(data.y).tolist() == list(about.counts)
    assert len(data.class_names) == len(about.counts) == len(set(data.class_names))
    assert np.bincount(data.y).min() >= 15
    assert duplicate_rows(data) == about.repeats
    assert len(data.groups) == (len(data.y) if about.group else 0)


@pytest.mark.parametrize("name", OWN_FILES)
def test_own_files_load(name):
    check_table(name, load_dataset(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_EXTRA)
def test_sets_of_the_extra_load(name):
    if not installed(name):
        pytest.skip(f"{descriptions()[name].package} isn't installed")
    check_table(name, load_dataset(name))
    about = descriptions()[name]
    columns = set(collection._read(about).columns)
    asked = (*about.group, *about.words, *about.columns, *about.first_of, *about.drop)
    asked += (*about.where, *about.without, *about.missing, about.target)
    assert set(asked) <= columns


def test_first_rows_are_those_of_the_files():
    heart, chess = load_dataset("cleveland"), load_dataset("chess_krk")
    first = [63, 1, 1, 145, 233, 1, 2, 150, 0, 2.3, 3, 0, 6]
    assert heart.X[0].tolist() == first and heart.y[0] == 0
    assert chess.class_names[0] == "zero–one"
    assert chess.feature_names[:3] == (
        "White_king_col=a",
        "White_king_col=b",
        "White_king_col=c",
    )


def described(**changes) -> Description:
    plain = dict.fromkeys(("survey", "file", "sha256", "licence", "licence_read"), "made up")
    facts = dict(counts=(), repeats=0, table_sha256="", order_reason="made up")
    return Description("tiny", target="y", **plain, **facts, **{"order": (1, 2, 3)} | changes)


def tiny_table(rows: int = 15) -> pd.DataFrame:
    y = [1] * rows + [2] * rows + [3] * rows
    n = len(y)
    return pd.DataFrame({"y": y, "a": range(n), "word": ["q", "p", "p"] * rows, "same": [7] * n})


def test_preparation_step_by_step():
    table = tiny_table()
    data = prepare(table, described())
    assert data.feature_names == ("a", "word=p", "word=q")  # a constant column goes
    assert data.X[:2].tolist() == [[0, 0, 1], [1, 1, 0]]
    assert data.class_names == ("1", "2", "3") and data.y.tolist() == [0] * 15 + [1] * 15 + [2] * 15

    reversed_names = described(order=(3, 2, 1), class_names=("low", "middle", "high"))
    assert prepare(table, reversed_names).y.tolist() == [2] * 15 + [1] * 15 + [0] * 15
    assert prepare(table, reversed_names).class_names == ("low", "middle", "high")

    together = prepare(table, described(order=((1, 2), 3)))
    assert np.bincount(together.y).tolist() == [30, 15]
    assert len(prepare(table, described(order=(1, 2))).y) == 30
    assert len(prepare(table, described(where={"y": (1, 2)})).y) == 30
    assert len(prepare(table, described(without={"a": (0, 1, 44)})).y) == 42
    missing = prepare(table, described(missing={"a": (20,)}))
    assert 20 not in missing.X[:, 0] and len(missing.y) == 44
    assert len(prepare(table, described(first_of=("y", "word"))).y) == 6
    assert prepare(table, described(drop={"word": "why"})).feature_names == ("a",)
    assert prepare(table, described(columns=("word",))).feature_names == ("word=p", "word=q")
    codes = prepare(table.assign(code=[1, 2.5, 1] * 15), described(words=("code",)))
    assert codes.feature_names[-2:] == ("code=1", "code=2.5")


def test_rare_classes_are_counted_in_groups():
    data = prepare(tiny_table(), described(group=("word", "y"), order=(1, 2, 3)))
    assert data.class_names == ("1–3",)  # two groups a class
    assert sorted(set(data.groups)) == list(range(6))


def test_cut_by_rank_has_the_shares_it_says():
    table = pd.DataFrame({"y": [5.0, 1, 3, 3, 9, 7, 8, 2, 6, 4] * 10, "a": range(100)})
    data = prepare(table, described(order=(), cut=(20, 30, 50)))
    assert np.bincount(data.y).tolist() == [20, 30, 50]
    assert data.y[:10].tolist() == [2, 0, 1, 1, 2, 2, 2, 0, 2, 1]


def test_large_sets_are_drawn_by_whole_groups():
    rows = 3 * 4000
    table = pd.DataFrame({"y": [1, 2, 3] * 4000, "a": range(rows), "who": np.arange(rows) // 40})
    data = prepare(table, described(group=("who",), drop={"who": "identifier"}))
    assert len(data.y) == 5000 and (np.bincount(data.groups) == 40).all()
    assert (np.diff(data.X[:, 0]) > 0).all()  # in the file's order


@pytest.fixture
def one_set(tmp_path, monkeypatch):
    """Put a changed description in the place of cleveland's."""

    def put(**changes):
        changed = replace(descriptions()["cleveland"], **changes)
        monkeypatch.setattr(collection, "descriptions", lambda: {"cleveland": changed})

    return put


def test_missing_extra_is_named_in_one_line(one_set):
    one_set(package="no_such_package")
    with pytest.raises(DataError) as error:
        collection.load("cleveland")
    assert 'pip install ".[sets]"' in str(error.value)
    assert "no_such_package" in str(error.value) and "\n" not in str(error.value)


def test_another_file_or_table_is_refused(one_set, tmp_path, monkeypatch):
    one_set(table_sha256="0" * 64)
    with pytest.raises(DataError, match="cleveland: the prepared table isn't the recorded one"):
        collection.load("cleveland")
    monkeypatch.setattr(collection, "FILES", tmp_path)
    one_set(file="nothing.dat.xz")
    with pytest.raises(DataError, match=r"nothing\.dat\.xz is missing"):
        collection.load("cleveland")


def test_a_changed_pickle_is_never_loaded(one_set, tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(pd, "read_pickle", loaded.append)
    (tmp_path / "table.pkl.compress").write_bytes(pickle.dumps({}))
    monkeypatch.setattr(collection, "FILES", tmp_path)
    one_set(file="table.pkl.compress", read={})
    with pytest.raises(DataError, match=r"table\.pkl\.compress.*isn't the recorded one"):
        collection.load("cleveland")
    assert not loaded


@pytest.mark.parametrize("name", [n for n in OWN_FILES if descriptions()[n].group])
@pytest.mark.parametrize("seed", range(3))
def test_no_group_crosses_a_split(name, seed):
    data = load_dataset(name)
    parts = divide(data, seed)
    assert sorted(np.concatenate(parts)) == list(range(len(data.y)))
    groups = [set(np.asarray(data.groups)[part]) for part in parts]
    assert not (groups[0] & groups[1] or groups[0] & groups[2] or groups[1] & groups[2])
    for part, share in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(part) / len(data.y) - share) < 0.03
        assert set(data.y[part]) == set(range(data.num_classes))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in OF_EXTRA if descriptions()[n].group])
def test_every_class_is_in_every_part(name):
    if not installed(name):
        pytest.skip(f"{descriptions()[name].package} isn't installed")
    data = load_dataset(name)
    for seed in range(10):
        for part, share in zip(divide(data, seed), (0.6, 0.2, 0.2), strict=True):
            assert set(data.y[part]) == set(range(data.num_classes))
            assert abs(len(part) / len(data.y) - share) < 0.05


def test_groups_are_dealt_as_defined():
    y = np.array([0, 0, 0, 1, 1, 0, 1, 0, 1, 1])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 3, 4])
    data = Dataset("tiny", np.zeros((10, 1)), y, ("a",), ("0", "1"), "made up", groups=groups)
    parts = divide(data, 0, fractions=(0.5, 0.25, 0.25))
    # Group 0 (three of class 0, one of 1) meets equal lacks: the first part. Then group 1.
    assert set(parts[0]) >= {0, 1, 2, 3} and set(parts[1]) >= {4, 5, 6}
    assert 7 in parts[2]  # class 0 is lacking wholly there
    with pytest.raises(DataError, match=r"tiny has groups.*set stratify to true"):
        divide(data, 0, stratify=False)


def test_a_study_takes_the_sets_by_name(capsys):
    settings = StudySettings(("cut_concrete_flat", "Wine Red"), ("CE",))
    prepared = prepare_study(settings, "cut_concrete_flat")
    data = load_dataset("cut_concrete_flat")
    assert prepared.y_test.tolist() == data.y[divide(data, 42)[2]].tolist()
    assert load_dataset("Wine Red").groups == ()
    with pytest.raises(ValueError, match="did you mean cleveland"):
        StudySettings(("clevland",))
    with pytest.raises(ValueError, match=r"did you mean gss_vocab or.*collection\.toml"):
        load_dataset("gss_vocap")


def test_the_command_says_which_extra_is_missing(one_set, capsys):
    named_dataset.cache_clear()
    one_set(package="no_such_package")
    assert main(["study", "--datasets", "cleveland", "--methods", "CE", "--seeds", "1"])
    assert 'pip install ".[sets]"' in capsys.readouterr().err
