"""A data set of one's own: what is read from a CSV file, and what is refused with which words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as checks
from hypothesis import strategies as st

from amol.experiments import csv_dataset
from amol.experiments.csv_dataset import read_csv
from amol.experiments.datasets import load_dataset, split
from amol.experiments.runs import plan
from amol.experiments.settings import StudySettings

GRADES = [3, 4, 5] * 6


def text_of(columns: dict) -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content, name="my.csv"):
        content = text_of(content) if isinstance(content, dict) else content
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return name

    return write


def test_numbers_words_and_whole_labels(write):
    size = range(len(GRADES))
    name = write({
        "weight": [0.5 * i for i in size],
        "color": [("red", "blue", "Äpfel")[i % 3] for i in size],
        "grade": GRADES,
        "same": [7] * len(GRADES),
    })  # fmt: skip
    data = load_dataset(name, "grade")
    assert data.name == "my" and data.num_classes == 3 and data.class_names == ("3", "4", "5")
    assert data.y.tolist() == [0, 1, 2] * 6 and data.y.dtype == np.int64
    # by code point: blue, red, Äpfel
    assert data.feature_names == ("weight", "color=blue", "color=red", "color=Äpfel", "same")
    assert data.X[:3].tolist() == [[0, 0, 1, 0, 7], [0.5, 1, 0, 0, 7], [1, 0, 0, 1, 7]]
    assert data.source == "my.csv"


def test_declared_order_ranks_words_and_closes_gaps(write):
    name = write({"x": range(15), "level": ["mid", "high", "low"] * 5})
    data = read_csv(name, "level", ["low", "mid", "high"])
    assert data.y[:3].tolist() == [1, 2, 0] and data.class_names == ("low", "mid", "high")
    name = write({"x": range(15), "level": [10, 40, 20] * 5})
    assert read_csv(name, "level", ["10", "20", "40"]).y[:3].tolist() == [0, 2, 1]


def test_mark_of_utf8_spaces_quotes_and_blank_lines_are_harmless(write):
    rows = "".join(f'{i} ,"{("a, b", "c")[i % 2]}", {i % 3}.0\r\n' for i in range(15))
    name = write("\ufeffx, word ,y\r\n" + rows + "\r\n")
    data = read_csv(name, "y")
    assert data.feature_names == ("x", "word=a, b", "word=c")
    assert data.class_names == ("0", "1", "2") and data.X[1].tolist() == [1, 0, 1]


FINE = {"x": range(18), "z": range(18), "grade": GRADES}


@pytest.mark.parametrize(
    ("content", "order", "told"),
    [
        ("", (), "the file is empty"),
        ("x,grade\n", (), "no row under the header"),
        ("x;z;grade\n1;2;3\n", (), "separated by semicolons; allowed: commas"),
        ("x\tgrade\n1\t3\n", (), "separated by tabs"),
        ("x,Grade\n1,3\n", (), "no column 'grade'; did you mean Grade? columns: x, Grade"),
        ("x,note\n1,3\n", (), "no column 'grade'; columns: x, note"),
        ("x,x,grade\n1,2,3\n", (), "column 'x' is named 2 times"),
        (",x,grade\n0,1,3\n", (), "column 1 has no name in line 1"),
        ("grade\n3\n4\n", (), "'grade' is the only column"),
        ("x,grade\n1,3\n1,2,3\n", (), "line 3 has 3 cells; the header names 2"),
        ('x,grade\n"1,3\n', (), "line 2: unexpected end of data"),
        ("x,grade\nÖ,3\n".encode("latin-1"), (), "byte 0xd6 in line 2 is not UTF-8"),
        (FINE | {"z": [*range(17), ""], "x": ["NA", *range(17)]}, (),
         "missing values: line 2, column 'x'; line 19, column 'z'; fill them"),
        (FINE | {"grade": [*GRADES[:-1], "?"]}, (), "line 19, column 'grade'"),
        (FINE | {"x": [*range(17), "-inf"]}, (), "line 19, column 'x': -inf is no finite number"),
        (FINE | {"x": [*range(17), "1e999"]}, (), "1e999 is no finite number"),
        (FINE | {"x": [*range(17), "12a"]}, (), "numbers and words: '12a' in line 19"),
        (FINE | {"x": ['"3,5"'] * 18}, (), "line 2, column 'x': '3,5' is no number"),
        (FINE | {"x": [f"id{i}" for i in range(18)]}, (), "18 different words; allowed: up to 9"),
        (FINE | {"grade": ["low", "mid", "high"] * 6}, (),
         "label 'low' in line 2 is no whole number; set order… found: high, low, mid"),
        (FINE | {"grade": [*GRADES[:-1], 3.5]}, (), "label '3.5' in line 19 is no whole number"),
        (FINE | {"grade": [3, 4, 6] * 6}, (), "gap below label 6… set order to 3,4,6"),
        (FINE | {"grade": ["low", "mid", "hi"] * 6}, ("low", "mid", "high"),
         "label 'hi' in line 4 is not in order: low, mid, high"),
        (FINE, ("3", "4", "4"), "order names a label twice"),
        (FINE | {"grade": [3] * 18}, (), "the labels are only '3'; allowed: 3 to 256"),
        (FINE | {"grade": [3, 4] * 9}, (), "the labels are 2 different ones; allowed: 3 to 256"),
        (FINE | {"grade": [3] * 10 + [4] * 4 + [5] * 4}, (),
         "60/20/20 split: '4' has 4, '5' has 4; each needs 5"),
        (FINE, ("2", "3", "4", "5"), "'2' has 0"),
    ],
)  # fmt: skip
def test_what_is_refused_and_with_which_words(write, monkeypatch, content, order, told):
    monkeypatch.setattr(csv_dataset, "MOST_WORDS", 9)
    with pytest.raises(ValueError) as refused:
        read_csv(write(content), "grade", order)
    message = str(refused.value)
    assert message.startswith("my.csv: ") and all(part in message for part in told.split("…"))


def test_target_is_asked_for_with_the_columns(write):
    with pytest.raises(ValueError, match=r"target is missing.*columns: x, z, grade"):
        StudySettings(write(FINE))


def test_a_missing_file_names_those_that_are_there(write):
    write(FINE, "other.csv")
    with pytest.raises(FileNotFoundError, match=r"no file my\.csv; .*: other\.csv"):
        read_csv("my.csv", "grade")


def test_the_folder_of_the_book_is_looked_at_last(write, monkeypatch, tmp_path):
    write(FINE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(csv_dataset, "ROOT", tmp_path)
    assert read_csv("my.csv", "grade").name == "my"


@checks(deadline=None, max_examples=30)
@given(st.lists(st.integers(5, 40), min_size=2, max_size=9), st.integers(0, 2**32 - 1))
def test_enough_rows_put_every_class_into_every_part(counts, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    for part in split(y, seed):
        assert len(set(y[part])) == len(counts)


def test_settings_read_once_and_call_the_data_by_the_name_of_its_file(write, tmp_path):
    settings = StudySettings(f"Abalone,{write(FINE)}", target="grade")
    assert settings.datasets == ("Abalone", "my")
    (tmp_path / "my.csv").unlink()
    assert settings.load("my").num_classes == 3 and settings.load("Abalone").num_classes == 7


def test_keys_follow_the_data_and_leave_those_of_others_alone(write):
    def keys(datasets):
        return [run.key for run in plan(StudySettings(datasets, "CE", 1, target="grade"))]

    alone = [run.key for run in plan(StudySettings("Wine Red", "CE", 1))]
    first = keys(f"Wine Red,{write(FINE)}")
    assert first[:1] == alone and first == keys("Wine Red,my.csv")
    write(FINE | {"x": [*range(17), 17.5]})
    assert keys("Wine Red,my.csv")[0] == first[0] and keys("Wine Red,my.csv")[1] != first[1]


@pytest.mark.parametrize(
    ("datasets", "more", "told"),
    [
        (["my.csv", "sub/my.csv"], {}, "datasets names one twice: my, my"),
        (["Abalone.csv"], {}, "Abalone is a data set of the paper; rename the file"),
        (["Abalone"], {}, "target is 'grade', but datasets names no .csv file: Abalone"),
        (["my.csv"], {"target": 3}, "target is 3; allowed: the name of a column"),
        (["my.csv"], {"order": 5}, "order is 5; allowed: labels from lowest to highest"),
        (["my.txt"], {}, "datasets holds 'my.txt'.*or a path to a .csv file"),
        (["my.csv", ["a"]], {}, r"datasets holds \['a'\]"),
    ],
)
def test_settings_refuse(write, tmp_path, datasets, more, told):
    (tmp_path / "sub").mkdir()
    for name in ("my.csv", "sub/my.csv", "Abalone.csv"):
        write(FINE, name)
    with pytest.raises(ValueError, match=told):
        StudySettings(datasets, **{"target": "grade"} | more)
