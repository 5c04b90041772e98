"""A user's own table: what is read, what is refused with which words, and advice that works."""

import ast
import gzip
import io
import itertools
import re
import shlex
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as checks
from hypothesis import strategies as st

from companion.book.parameters import read_parameters, study_parameters
from companion.data import csv_dataset
from companion.data.csv_dataset import read_csv
from companion.data.csv_predictions import read_predictions
from companion.data.csv_text import Text
from companion.data.dataset import split
from companion.data.datasets import load_dataset
from companion.errors import advising
from companion.train.runs import plan
from companion.train.settings import StudySettings

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
    ("content", "order", "expected"),
    [
        ("", (), "the file is empty"),
        ("x,grade\n", (), "no row under the header"),
        ("x;z;grade\n1;2;3\n", (), "isn't separated by ','; use sep=';'"),
        ("My table\nx,z,grade\n1,2,3\n", (), "no column 'grade'; columns: My table"),
        ("sep=;\nx;z;grade\n1;2;3\n", (), "line 1 is a mark of Excel's, no header; delete it"),
        ("x\tgrade\n1\t3\n", (), "use sep='tab'"),
        ("x,Grade\n1,3\n", (), "no column 'grade'; did you mean Grade? columns: x, Grade"),
        ("x,note\n1,3\n", (), "no column 'grade'; columns: x, note"),
        ("x,x,grade\n1,2,3\n", (), "column 'x' is named 2 times"),
        (",x,grade\n0,1,3\n", (), "column 1 has no name"),
        ("grade\n3\n4\n", (), "'grade' is the only column"),
        ("x,grade\n1,3\n1,2,3\n", (), "line 3 has 3 cells; allowed: 2"),
        ('x,grade\n"1,3\n', (), "the quote that opens in line 2 is never closed"),
        ("x,grade\nÖ,3\n".encode("latin-1"), (), "line 2 holds a byte that isn't UTF-8"),
        (FINE | {"z": [*range(17), ""], "x": ["NA", *range(17)]}, (),
         "missing values: line 2, column 'x'; line 19, column 'z'; fill them"),
        (FINE | {"grade": [*GRADES[:-1], "?"]}, (), "line 19, column 'grade'"),
        (FINE | {"x": [*range(17), "-inf"]}, (),
         "column 'x': '-inf' in line 19 is no finite number"),
        (FINE | {"x": [*range(17), "1e999"]}, (), "'1e999' in line 19 is no finite number"),
        (FINE | {"x": [*range(17), "12a"]}, (), "'12a' in line 19 is no number, as others are"),
        (FINE | {"x": ['"3,5"'] * 18}, (),
         "'3,5' in line 2 is no number as read now; use decimal=',' (it is then 3.5)"),
        (FINE | {"x": [f"id{i}" for i in range(18)]}, (), "18 different words; allowed: up to 9"),
        (FINE | {"grade": ["low", "mid", "high"] * 6}, (),
         "label 'low' in line 2 is no whole number; name them… order=['high', 'low', 'mid']"),
        (FINE | {"grade": [*GRADES[:-1], 3.5]}, (), "label '3.5' in line 19 is no whole number"),
        (FINE | {"grade": [3, 4, 6] * 6}, (), "gap below label 6… use order=['3', '4', '6']"),
        (FINE | {"grade": ["low", "mid", "hi"] * 6}, ("low", "mid", "high"),
         "label 'hi' in line 4 is not in order: low,mid,high"),
        (FINE, ("3", "4", "4"), "order names a label twice"),
        (FINE | {"grade": [3] * 18}, (), "the labels are only '3'; allowed: 3 to 256"),
        (FINE | {"grade": [3, 4] * 9}, (), "the labels are 2 different ones; allowed: 3 to 256"),
        (FINE | {"grade": [3] * 10 + [4] * 4 + [5] * 4}, (),
         "60/20/20 split: '4' has 4, '5' has 4; each needs 5"),
        (FINE, ("2", "3", "4", "5"), "'2' has 0"),
        (FINE | {"x": [*range(17), "1 234"]}, (), "thousands='space' (it is then 1234)"),
        (FINE | {"x": ["2024-01-05"] * 18}, (),
         "'2024-01-05' in line 2 is no number… write a date as the days since"),
        (FINE | {"x": ["5 %", "7 %"] * 9}, (),
         "'5 %' in line 2 is no number; write it without signs, as 5"),
        (text_of(FINE).encode("utf-16"), (), "the file is text in UTF-16; wanted: a table as text"),
        ("1,2,3\n4,5,3\n", (), "a number, '1'… use header=False… or use header=True"),
    ],
)  # fmt: skip
def test_what_is_refused_and_with_which_words(write, monkeypatch, content, order, expected):
    monkeypatch.setattr(csv_dataset, "MOST_WORDS", 9)
    with pytest.raises(ValueError) as refused:
        read_csv(write(content), "grade", order)
    message = str(refused.value)
    assert message.startswith("my.csv: ") and all(part in message for part in expected.split("…"))


def ways(message: str, command: str) -> list[dict]:
    """What a message advises, way by way, as settings of `StudySettings`, read as a user types it.

    For a command the advice is options; else arguments of Python's.
    """
    found = []
    for text in re.split(r"\buse (?=-|\w+=)", message)[1:]:
        if not command:
            arguments = next(
                a for end in range(len(text), 0, -1) if (a := arguments_of(text[:end]))
            )
            order = {"order": arguments.pop("order")} if "order" in arguments else {}
            found.append(order | ({"csv_options": arguments} if arguments else {}))
            continue
        lexer = shlex.shlex(text, posix=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        given = [lexer.get_token() for _ in range(3 if command == "run" else 2)]
        assert given[0] == "-p" if command == "run" else given[0][:2] == "--"
        name = given[-2].removeprefix("--").replace("-", "_")
        found.append(read_parameters(study_parameters(), [(name, given[-1].rstrip(";:,"))]))
    return found


def arguments_of(text: str) -> dict:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        return {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        return {}


def follow(name, wish=0, command="", **known):
    """Read a file as a user does who follows each message, the ``wish``-th of several ways."""
    steps = []
    while len(steps) < 9:
        try:
            with advising(command):
                settings = StudySettings(name, "CE", 1, **known)
            return settings.load(settings.datasets[0]), steps
        except ValueError as error:
            advised = ways(str(error), command)
            assert advised, error
        step = advised[min(wish, len(advised) - 1)]
        steps.append(step)
        known |= step
    raise AssertionError(f"the messages go round in circles: {steps}")


def column(*cells, sep=",", labels=(1, 2, 3), head=("x", "grade"), rows=30):
    """A file of one feature and the labels, whose cells follow one another round and round."""
    pairs = zip(itertools.cycle(cells), itertools.cycle(labels))
    lines = [sep.join(map(str, pair)) for pair in itertools.islice(pairs, rows)]
    return "\n".join([*([sep.join(head)] if head else []), *lines, ""])


WORDS = [{"words": ["x"]}]
NUMBERED = [{"header": False}]


@pytest.mark.parametrize(
    ("content", "wish", "steps", "first"),
    [
        (column("3,5", "4,25", sep=";"), 0, [{"sep": ";"}, {"decimal": ","}], [3.5, 4.25]),
        ("\ufeff" + column("3,5", "4", sep="\t").replace("\n", "\r\n"), 0,
         [{"sep": "tab"}, {"decimal": ","}], [3.5, 4]),
        (column("1", "-2.5", sep="  "), 0, [{"sep": "space"}], [1, -2.5]),
        (column("1", "2", sep="|"), 0, [{"sep": "|"}], [1, 2]),
        (column("1", "2", sep=";", head=("Größe (m, cm)", "grade")), 0, [{"sep": ";"}], [1, 2]),
        (column('"1"', '"2"', sep=";", head=('"x"', '"grade"')), 0, [{"sep": ";"}], [1, 2]),
        (column('"1,234"', '"5"'), 0, [{"decimal": ","}], [1.234, 5]),
        (column('"1,234"', '"5"'), 1, [{"thousands": ","}], [1234, 5]),
        (column('"1,234"', '"2,345,678"'), 0, [{"thousands": ","}], [1234, 2345678]),
        (column("1.234,5", "7", sep=";"), 0,
         [{"sep": ";"}, {"decimal": ",", "thousands": "."}], [1234.5, 7]),
        (column("1\u00a0234,5", "12\u202f345", sep=";"), 0,
         [{"sep": ";"}, {"decimal": ",", "thousands": "space"}], [1234.5, 12345]),
        (column("1’234.5", "7"), 0, [{"thousands": "'"}], [1234.5, 7]),
        (column("\u22123.5", "\u00a05\u00a0"), 0, [], [-3.5, 5]),
        (column("-", '"3,5"', '"4,5"'), 0, WORDS, None),
        (column('"3,5"', "-", '"4,5"'), 0, WORDS, None),
        (column('"3,5"', "4.5"), 0, WORDS, None),
        (column("1|2", "3"), 0, WORDS, None),
        (column("2", "3", "5more"), 0, WORDS, None),
        (column("1st", "2nd"), 0, [], None),
        (column("NA", "EU", "nan"), 0, WORDS, None),
        (column("2024-01-05", "2024-01-06"), 0, WORDS, None),
        (column("12:30", "5 %"), 0, WORDS, None),
        (column("0.5", "2.5", head=None), 0, NUMBERED, [0.5, 2.5]),
        (column("5", "25", head=None, sep=";"), 0, [{"sep": ";"}, *NUMBERED], [5, 25]),
        (column("7", "8", head=("2020", "grade")), 1, [{"header": True}], [7, 8]),
        (column("7", "8", labels=("1.0", "2.0", "4.0", "5.0")), 0,
         [{"order": ["1", "2", "4", "5"]}], None),
        (column("7", "8", labels=("0.5", "1", "1.5")), 0, [{"order": ["0.5", "1", "1.5"]}], None),
        (column("1,5E+03", "2,25e-1", sep=";"), 0, [{"sep": ";"}, {"decimal": ","}], [1500, 0.225]),
        (column("1,288", "0,5", "12", sep=";"), 0, [{"sep": ";"}, {"decimal": ","}], [1.288, 0.5]),
        (column("(5)", "(7)"), 0, WORDS, None),
        (column('"Feb 7, 2021"', '"Mar 1, 2021"'), 0, WORDS, None),
        (column("7", "8", labels=("NA", "low", "top")), 0, [{"words": ["grade"]}], None),
        (column("7", "8", labels=(1, 2, 2, 2, 3, 3, 3, 4, 4, 4)), 0, [{"merge_rare": 5}], None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["", "run", "study"])
def test_advice_works_when_followed(write, content, wish, steps, first, command):
    """Kind 23: each message names an option as the command at hand takes it."""
    target = "grade" if "grade" in content else "2"
    data, taken = follow(write(content), wish, command, target=target)
    given, expected = {}, []
    for step in steps:
        given = given | step
        expected.append(step if "order" in step else {"csv_options": given})
    assert taken[: len(steps)] == expected
    assert all(set(step) == {"order"} for step in taken[len(steps) :])
    assert first is None or data.X[:2, 0].tolist() == first


def test_labels_that_hold_commas_are_found_as_a_list(write):
    name = write(column("7", "8", labels=("low", "very high", '"b, or so"')))
    data, _ = follow(name, command="run", target="grade")
    assert data.class_names == ("b, or so", "low", "very high")


@checks(deadline=None, max_examples=25)
@given(st.permutations(["-", '"3,5"', "4", "2024-01-05", "red"]))
def test_a_column_is_judged_by_all_its_cells_in_any_order(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_text(column(*cells))
    with pytest.raises(ValueError, match="is no number"):
        read_csv(path, "grade")


# Kind 18: how a column of such cells is read: as numbers, refused as these words say, or as words.
NOTATIONS = {
    ("1,5E+03", "2,5"): "use decimal=','",
    ("1 234,5", "7"): "use decimal=',', thousands='space'",
    ("1.234.567", "7"): "use decimal=',', thousands='.' (it is then 1234567)",
    ("\uff11\uff12", "7"): [12, 7],
    ("+5", "7"): [5, 7],
    (".5", "7."): [0.5, 7],
    ("1E3", "7"): [1000, 7],
    ("$6.13", "$7"): "write it without signs, as 6.13",
    ("6,13 \u20ac", "7 \u20ac"): "is no number",
    ("(5)", "(7)"): "write it without signs, as 5",
    ("<5", ">7"): "write it without signs, as 5",
    ("~5", "7"): "write it without signs, as 5",
    ("5 %", "7 %"): "write it without signs, as 5",
    ("5-", "7-"): "write it without signs, as 5",
    ("#5", "#7"): "write it without signs, as 5",
    ("5±1", "7±1"): "is no number",
    ("1/2", "1/4"): "is no number",
    ("3-4", "5-6"): "is no number",
    ("1:2", "1:4"): "is no number",
    ("Feb 7, 2021", "Mar 1, 2021"): "write a date as the days since some day",
    ("7 February 2021", "1 March 2021"): "write a date as the days since some day",
    ("07-Feb-21", "01-Mar-21"): "write a date as the days since some day",
    ("2021-02-07T10:30", "2021-02-08T10:30"): "write a date as the days since some day",
    ("7.2.2021", "1.3.2021"): "write a date as the days since some day",
    ("10:30", "11:45"): "write a date as the days since some day",
    ("\u0663", "\u0664"): [3, 4],
    ("1,234,567.8", "7"): "use thousands=',' (it is then 1234567.8)",
    ("1_000", "2_000"): "is no number",
    ("1e400", "7"): "is no finite number",
    ("2021/02", "2021/03"): "is no number",
    ("5 km", "7 km"): None,
    ("1d5", "2d5"): None,
    ("EUR 5", "EUR 7"): None,
    ("7. Februar 2021", "1. M\u00e4rz 2021"): None,
    ("1st", "2nd"): None,
    ("IV", "VII"): None,
    ("0x1F", "0x2A"): None,
    ("true", "false"): None,
    ("may", "mar"): None,
}  # fmt: skip


@pytest.mark.parametrize("cells", NOTATIONS, ids="|".join)
def test_a_notation_is_read_refused_or_said_to_be_words(write, capsys, cells):
    expected = NOTATIONS[cells]
    name = write(column(*(f'"{cell}"' for cell in cells)))
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=re.escape(expected)) as caught:
            read_csv(name, "grade")
        assert "leave the row out" not in str(caught.value)
        return
    data = read_csv(name, "grade")
    said = capsys.readouterr().out
    if expected:
        assert data.X[:2, 0].tolist() == expected and not said
    else:
        assert set(data.feature_names) == {f"x={cell}" for cell in cells}
        assert said == "my.csv: 1 column of words: x\n"
        read_csv(name, "grade", words="x")
        assert not capsys.readouterr().out  # whoever says so needs not be told


HEAD = "x,note,grade\n"
FULL = "".join(f"{i},a,{i % 3}\n" for i in range(15))
# Kind 19: the line of a faulty cell, as an editor counts.
LINES = {
    "plain": (HEAD + FULL + "1,a,9\n", 17),
    "blank lines": (HEAD + "\n\n" + FULL + "\n1,a,9\n", 20),
    "blank lines before the header": ("\n\n" + HEAD + FULL + "1,a,9\n", 19),
    "lines of blanks": (HEAD + "  \n" + FULL + "1,a,9\n", 18),
    "a break within quotes": (HEAD + '1,"a\nb",1\n' + FULL + "1,a,9\n", 19),
    "a break within quotes in the header": ('x,"no\nte",grade\n' + FULL + "1,a,9\n", 18),
    "Windows": ((HEAD + "\n" + FULL + "1,a,9\n").replace("\n", "\r\n"), 18),
    "old Macintosh": ((HEAD + "\n" + FULL + "1,a,9\n").replace("\n", "\r"), 18),
    "breaks of several kinds": (HEAD + '1,"a\r\nb",1\r\n' + FULL + "\r1,a,9", 20),
    "breaks of pages, not of lines": (HEAD + "1,a\x0c\x0b\x85\u2028b,1\n" + FULL + "1,a,9\n", 18),
    "a break within the first cell": (HEAD + '"1\n",a,1\n' + FULL + "1,a,9\n", 19),
    "a break of old Macintosh within quotes": (HEAD + '1,"a\rb",1\n' + FULL + "1,a,9\n", 19),
    "no break at the end": (HEAD + FULL + "1,a,9", 17),
    "a mark of UTF-8": ("\ufeff" + HEAD + FULL + "1,a,9\n", 17),
    "doubled quotes": (HEAD + '1,"a ""b\n""",1\n' + FULL + "1,a,9\n", 19),
    "too many cells": (HEAD + "\n" + FULL + "1,a,2,3\n", "line 18 has 4 cells"),
    "too many cells after quotes": (HEAD + '1,"a\nb",1\n1,a,2,3\n', "line 4 has 4 cells"),
    "an open quote": (HEAD + "\n" + FULL + '1,"a,2\n1,a,2\n', "opens in line 18 is never"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_those_that_an_editor_counts(write, kind, packed):
    text, line = LINES[kind]
    content = gzip.compress(text.encode()) if packed else text
    expected = line if isinstance(line, str) else f"gap below label 9|'9' in line {line}"
    with pytest.raises(ValueError, match=expected):
        read_csv(write(content, f"my.csv{'.gz' * packed}"), "grade", order=(0, 1, 2))


@pytest.mark.parametrize("sep", ["space", "tab", ";", "|"])
def test_lines_with_other_separators(write, sep):
    mark = {"space": "  ", "tab": "\t"}.get(sep, sep)
    text = (HEAD + "\n" + FULL + "\n1,a,9\n").replace(",", mark)
    with pytest.raises(ValueError, match="'9' in line 19"):
        read_csv(write(text), "grade", order=(0, 1, 2), sep=sep)


CELLS = st.text(st.sampled_from('ab1 ,;"\n\r\u2028'), max_size=5)


@checks(deadline=None, max_examples=300)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]),
       st.lists(st.integers(0, 8), max_size=3))  # fmt: skip
def test_every_row_of_pandas_has_a_line(tmp_path_factory, rows, end, blanks):
    """Rows are told apart by pandas, their lines by Python's `csv`: both see the same rows."""
    written = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    for place in blanks:
        written.insert(min(place, len(written)), "")
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_bytes(end.join(["x,y", *written, ""]).encode())
    text = Text(path)
    frame = text.frame(",", dtype=str)
    lines = text.lines(",", len(frame))
    assert len(frame) == len(lines) == len(rows)
    physical = re.split("\r\n|\r|\n", path.read_bytes().decode())
    for row, line in zip(rows, lines, strict=True):
        assert physical[line - 1].startswith('"' + re.split("[\r\n]", row[0])[0].replace('"', '""'))


OTHERS = {  # kind 19: files of another kind
    "UTF-16": ("x,grade\n1,2\n".encode("utf-16"), "text in UTF-16"),
    "UTF-16 without its mark": ("x,grade\n1,2\n".encode("utf-16-le"), "no text"),
    "UTF-32": ("x,grade\n1,2\n".encode("utf-32"), "text in UTF-16|no text"),
    "workbook": (b"PK\x03\x04" + b"x" * 40 + b"xl/workbook.xml", "a workbook"),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1", "a workbook"),
    "archive": (b"PK\x03\x04x", "a ZIP archive"),
    "packed": (gzip.compress(b"x,grade\n"), "packed by gzip .then its name should end in .gz"),
    "page": (b"\n<!DOCTYPE html><html>", "an HTML page"),
    "page in capitals": (b"<HTML><BODY>", "an HTML page"),
    "XML": (b"\xef\xbb\xbf<?xml version='1.0'?>", "an XML document"),
    "pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "a pointer of Git LFS",
    ),
    "JSON": (b'[{"x": 1}]', "JSON"),
    "JSON by lines": (b'{"x": 1}\n{"x": 2}\n', "JSON"),
    "JSON of several lines": (b'[\n  {"x": 1}\n]', "JSON"),
    "JSON of columns": (b'{ "x": [1]}', "JSON"),
    "Stata": (b"<stata_dta><header><release>118", "a file of Stata"),
    "SPSS": (b"$FL2@(#) SPSS DATA FILE\0", "a file of SPSS"),
    "R": (b"RDX3\nX\n\0", "a file of R"),
    "drawing": (b"<svg xmlns='a'/>", "a picture"),
    "Parquet": (b"PAR1\x15\x04", "a Parquet file"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "database": (b"SQLite format 3\0", "a database of SQLite"),
    "PDF": (b"%PDF-1.7\n", "a PDF"),
    "ARFF": (b"@RELATION iris\n", "an ARFF file"),
    "picture": (b"\x89PNG\r\n", "a picture"),
    "numbers of NumPy": (b"\x93NUMPY\x01", "an array of NumPy"),
    "other bytes": (b"x,grade\n1,\0\n", "no text"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_file_of_another_kind_is_named_as_what_it_is(write, kind):
    content, named = OTHERS[kind]
    for read in (lambda name: read_csv(name, "grade"), lambda name: read_predictions(Path(name))):
        with pytest.raises(ValueError, match=f"the file is {named}") as caught:
            read(write(content))
        assert "sep" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_zip_of_several_files_is_refused(write):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", "x")
        file.writestr("b.csv", "x")
    with pytest.raises(ValueError, match="it holds 2 files; wanted: one table"):
        read_csv(write(archive.getvalue(), "my.zip"), "grade")


def test_labels_take_no_detour_through_float(write):
    labels = [9007199254740990 + i for i in range(4)]
    data = read_csv(write(column("7", "8", labels=labels)), "grade")
    assert data.class_names == tuple(map(str, labels)) and data.y[:4].tolist() == [0, 1, 2, 3]
    assert read_csv("my.csv", "grade", labels).class_names == data.class_names


@pytest.mark.parametrize(
    "order",
    [
        pd.Categorical(["4", "5", "3"], ["3", "4", "5"]).categories,
        np.array([3, 4, 5]),
        np.array([3.0, 4.0, 5.0]),
        pd.Series([3, 4, 5]),
    ],
)
def test_kinds_of_order_and_path(write, tmp_path, order):
    write(FINE)
    assert load_dataset(tmp_path / "my.csv", "grade", order).y[:3].tolist() == [0, 1, 2]


def test_merged_classes_and_what_becomes_of_the_scale(write):
    name = write(column("7", "8", labels=(1, 2, 2, 3, 3, 4, 4)))  # 5, 9, 8 and 8 rows
    data = read_csv(name, "grade", merge_rare=6)
    assert data.class_names == ("1–2", "3", "4")
    assert data.source == "my.csv; rare classes merged: 1–2"
    name = write(column("7", "8", labels=(1, 2, 3, 4, 4, 4, 3, 3, 3)))
    scale = (
        "a scale of 3 instead of 4 classes, and its center is '3' instead of between '2' and '3'"
    )
    with pytest.raises(ValueError, match=scale):
        read_csv(name, "grade", order=(1, 2, 3, 4))


def test_packed_files(write):
    plain = read_csv(write(FINE), "grade")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.write("my.csv")
    packed = {
        "my.csv.gz": gzip.compress(text_of(FINE).encode(), mtime=0),
        "my.zip": archive.getvalue(),
    }
    for name, content in packed.items():
        data = load_dataset(write(content, name), "grade")
        assert data.digest == plain.digest and data.name == "my"
    with pytest.raises(ValueError, match="can't be unpacked"):
        read_csv(write(packed["my.csv.gz"][:-9], "my.csv.gz"), "grade")
    with pytest.raises(ValueError, match="line 2 holds a byte that isn't UTF-8"):
        read_csv(write(gzip.compress(b"x,grade\n\xd6,3\n"), "my.csv.gz"), "grade")


def test_numbers_far_down_the_file_are_read_as_the_first(write):
    """pandas guesses the kinds of a long column piece by piece."""
    rows = 300_000
    long = "\n".join(["x,w,grade", *(f"{i},{i},{i % 3}" for i in range(rows))])
    with pytest.raises(ValueError, match=f"'foo' in line {rows + 2}"):
        read_csv(write(long + "\nfoo,1,1\n"), "grade")
    data = read_csv(write(long + "\n\u22120.5,1e3,1\n"), "grade")
    assert data.X[-1].tolist() == [-0.5, 1000] and (data.X[:rows, 0] == np.arange(rows)).all()
    assert data.lines[-1] == rows + 2


@checks(deadline=None, max_examples=40)
@given(st.lists(st.floats(-1e100, 1e100), min_size=15, max_size=15))
def test_numbers_are_read_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("bits") / "bits.csv"
    path.write_text(text_of({"x": map(repr, values), "grade": [3, 4, 5] * 5}))
    assert (read_csv(path, "grade").X[:, 0] == values).all()


def test_five_hundred_columns(write):
    data = read_csv(write({f"x{i}": range(18) for i in range(499)} | {"grade": GRADES}), "grade")
    assert data.X.shape == (18, 499)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": "x"}, "sep is 'x'; allowed: ',', ';', 'tab', '|', 'space'"),
        ({"decimal": ""}, "decimal is ''; allowed: '.', ','"),
        ({"thousands": "."}, "thousands is '.'; allowed: '', ',', \"'\", 'space'"),
        ({"header": "no"}, "header is 'no'; allowed: True, False, None"),
        ({"words": 5}, "words is 5; allowed: names of columns"),
        ({"words": "y"}, "words: no column 'y'; columns: x, z, grade"),
        ({"merge_rare": -1}, "merge_rare is -1; allowed: a number of rows, or 0"),
        ({"merge_rare": 9}, "give merge_rare a smaller number"),
    ],
)
def test_options_refused(write, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_csv(write(FINE), "grade", **options)


def test_target_is_asked_for_with_the_columns(write):
    with pytest.raises(ValueError, match="target='grade'; columns: x, z, grade"):
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
    ("datasets", "more", "expected"),
    [
        (["my.csv", "sub/my.csv"], {}, "datasets names one twice: my, my"),
        (["Abalone.csv"], {}, "Abalone is a data set of this book; rename the file"),
        (["Abalone"], {}, "target is 'grade', but datasets names no .csv file: Abalone"),
        (["my.csv"], {"target": 3}, "target is 3; allowed: the name of a column"),
        (["my.csv"], {"order": 5}, "order is 5; allowed: labels from lowest to highest"),
        (["my.doc"], {}, "datasets holds 'my.doc'.*or the path of a table"),
        (["my.csv", ["a"]], {}, r"datasets holds \['a'\]"),
    ],
)
def test_settings_refuse(write, tmp_path, datasets, more, expected):
    (tmp_path / "sub").mkdir()
    for name in ("my.csv", "sub/my.csv", "Abalone.csv"):
        write(FINE, name)
    with pytest.raises(ValueError, match=expected):
        StudySettings(datasets, **{"target": "grade"} | more)
