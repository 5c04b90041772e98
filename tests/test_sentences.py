"""Sentences of a page: what holds stands there, and what doesn't is replaced and listed."""

import nbformat
import pytest
from conftest import ROOT
from nbformat.v4 import new_code_cell, new_notebook

from companion.book.notebooks import run_notebook
from companion.page.sentences import sentences

EXECUTED = ROOT / "build" / "executed" / "notebooks"
PAGE = """
from companion.page import say
say("wins", {a} > {b}, "A is **higher** than B.", "A is not higher than B.")
say("near", abs({a} - {b}) < 0.1, "They are near.")
say("unknown", {a} > float("nan"), "A is higher than nothing.")
"""


def said(folder, a: float, b: float) -> dict:
    notebook = new_notebook(cells=[new_code_cell(PAGE.format(a=a, b=b))])
    nbformat.write(notebook, folder / "source.ipynb")
    output = folder / "executed" / "page.ipynb"
    run_notebook(folder / "source.ipynb", output, cwd=ROOT)
    found = sentences(output.parent)
    assert set(found["page"]) == {"page"}
    return {row.sentence: (row.holds, row.text) for row in found.itertuples()}


def test_other_data_change_the_sentences_or_take_them_away(tmp_path):
    assert said(tmp_path, 0.75, 0.7) == {
        "wins": (True, "A is **higher** than B."),
        "near": (True, "They are near."),
        "unknown": (False, ""),
    }
    assert said(tmp_path, 0.5, 0.7) == {
        "wins": (False, "A is not higher than B."),
        "near": (False, ""),
        "unknown": (False, ""),
    }


def test_a_folder_without_pages_has_no_sentences(tmp_path):
    assert sentences(tmp_path).empty


@pytest.mark.book
@pytest.mark.skipif(not EXECUTED.exists(), reason="no book: run `make book`")
def test_every_sentence_of_the_built_book_holds():
    said = sentences(EXECUTED)
    assert len(said) > 10
    assert said["holds"].all(), said[~said["holds"]].to_string()
