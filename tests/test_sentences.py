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
say(
    "Two losses.",
    ({a} > {b}, "A is **higher** than B.", "A is not higher than B."),
    (abs({a} - {b}) < 0.1, "They are near."),
    name="both",
)
say(({a} > float("nan"), "A is higher than nothing."))
say("")
"""


def said(folder, *numbers: tuple[float, float]) -> tuple[list, list]:
    """Of a page with a cell for each pair: its records, and the paragraphs that stand there."""
    notebook = new_notebook(cells=[new_code_cell(PAGE.format(a=a, b=b)) for a, b in numbers])
    nbformat.write(notebook, folder / "source.ipynb")
    output = folder / "executed" / "page.ipynb"
    run_notebook(folder / "source.ipynb", output, cwd=ROOT)
    found = sentences(output.parent)
    assert set(found["page"]) == {"page"}
    cells = nbformat.read(output, as_version=4).cells
    texts = [o["data"]["text/markdown"] for cell in cells for o in cell.outputs
             if "text/markdown" in o["data"]]  # fmt: skip
    return list(found[["sentence", "holds", "text"]].itertuples(index=False, name=None)), texts


def test_other_data_change_the_sentences_or_take_them_away(tmp_path):
    higher, other, near = "A is **higher** than B.", "A is not higher than B.", "They are near."
    nothing = ("A is higher than nothing.", False, "")
    assert said(tmp_path, (0.75, 0.7), (0.5, 0.7)) == (
        [(higher, True, higher), (near, True, near), nothing,
         (higher, False, other), (near, False, ""), nothing],
        [f"Two losses. {higher} {near}", "", f"Two losses. {other}", ""],
    )  # fmt: skip


def test_a_folder_without_pages_has_no_sentences(tmp_path):
    assert sentences(tmp_path).empty


SMALL = {"datasets": ["Wine Red"], "methods": ["CE", "KL", "AMOL"], "seeds": 2, "epochs": 5}


def standing(folder, shift: float) -> list[str]:
    """Sentences of the results' page that hold once AMOL's QWK is shifted."""
    notebook = nbformat.read(ROOT / "notebooks" / "05_results.ipynb", as_version=4)
    trained = "runs = run_study(settings)\n"
    for cell in notebook.cells:
        shifted = f'{trained}runs.loc[runs["method"] == "AMOL", "QWK"] += {shift}\n'
        cell.source = cell.source.replace(trained, shifted)
    nbformat.write(notebook, folder / "page.ipynb")
    output = folder / f"{shift}" / "page.ipynb"
    run_notebook(folder / "page.ipynb", output, SMALL, folder / "results", cwd=ROOT)
    found = sentences(output.parent)
    return list(found.loc[found["holds"], "sentence"])


@pytest.mark.slow
def test_a_lower_qwk_of_amol_names_the_sentences_that_give_way(tmp_path):
    high, low = (standing(tmp_path, shift) for shift in (1, -1))
    assert set(low) < set(high)
    assert set(high) - set(low) == {
        "AMOL has the best mean, alone or tied, on Wine Red.",
        "AMOL has the best QWK mean, alone or tied, on Wine Red.",  # its summary
    }


@pytest.mark.book
@pytest.mark.skipif(not EXECUTED.exists(), reason="no book: run `make book`")
def test_every_sentence_of_the_built_book_holds():
    said = sentences(EXECUTED)
    assert len(said) > 10
    assert said["holds"].all(), said[~said["holds"]].to_string()
