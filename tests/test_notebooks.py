"""The source notebooks: clean, paired, with parameters that are checked and used."""

import ast
import json
import re

import jupytext
import nbformat
import papermill
import pytest
from conftest import ROOT

from companion.book.colab import write_copies
from companion.book.notebooks import run_notebook

EXECUTED = ROOT / "build" / "executed" / "notebooks"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TAGS = {"hide-cell", "parameters", "remove-input", "show-input"}
LINK = re.compile(r"(?<![\w\])!])\[([^\[\]]+)\]\(([^()\s]*)\)")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_each_notebook_has_its_pair():
    names = {path.stem for path in NOTEBOOKS}
    assert names and names == {path.stem for path in (ROOT / "notebooks").glob("*.py")}


def test_no_function_is_defined_in_two_notebooks():
    text = "\n".join(path.with_suffix(".py").read_text(encoding="utf-8") for path in NOTEBOOKS)
    names = re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))


def test_each_term_of_the_glossary_is_used_and_explained():
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\w.*)\n  ", glossary, re.MULTILINE)
    assert len(terms) > 15 and terms == sorted(terms, key=str.lower)
    pages = [*(ROOT / "notebooks").glob("*.py"), *(ROOT / "book").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    used = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", text)
    used += [name.replace("-", " ") for name in re.findall(r"glossary\.md#term-([\w-]+)", text)]
    assert {name.lower() for name in used} == {term.lower() for term in terms}


def test_colabs_copies_begin_by_installing_the_project(monkeypatch, tmp_path):
    monkeypatch.setenv("AMOL_REPOSITORY_URL", "https://github.com/someone/fork")
    copies = write_copies(tmp_path)
    assert [path.name for path in copies] == [path.name for path in NOTEBOOKS]
    for path, source in zip(copies, NOTEBOOKS, strict=True):
        install, *rest = nbformat.read(path, as_version=4).cells
        assert "git clone -q https://github.com/someone/fork companion" in install.source
        there = nbformat.read(source, as_version=4).cells
        text = nbformat.writes(nbformat.v4.new_notebook(cells=there), version=4)
        text = text.replace("REPOSITORY_URL", "https://github.com/someone/fork")
        assert rest == nbformat.reads(text, as_version=4).cells
    monkeypatch.setenv("AMOL_REPOSITORY_URL", "https://gitlab.com/someone/fork")
    with pytest.raises(ValueError, match="Colab opens GitHub"):
        write_copies(tmp_path)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    loaded = jupytext.read(request.param)
    loaded.metadata["path"] = request.param
    return loaded


def test_source_is_clean(notebook):
    raw = json.loads(notebook.metadata["path"].read_text(encoding="utf-8"))
    assert set(raw["metadata"]) <= {"jupytext", "kernelspec", "language_info"}
    assert raw["metadata"]["kernelspec"]["name"] == "python3"
    for cell in raw["cells"]:
        assert set(cell["metadata"]) <= {"tags"}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None


def test_pair_is_in_step(notebook):
    twin = jupytext.read(notebook.metadata["path"].with_suffix(".py"))

    def told(cells):
        return [(cell.cell_type, cell.source, cell.metadata.get("tags", [])) for cell in cells]

    assert told(notebook.cells) == told(twin.cells)


def test_cells_are_short_and_tags_known(notebook):
    for cell in notebook.cells:
        assert set(cell.metadata.get("tags", [])) <= TAGS
    for cell in code_cells(notebook):
        most = 20 if "show-input" in cell.metadata.get("tags", []) else 32
        assert len(cell.source.splitlines()) <= most, cell.source


def test_text_reads_well_without_sphinx(notebook):
    text = "\n".join(cell.source for cell in notebook.cells)
    assert not re.findall(r"\{[a-z:]+\}`|^:::|^`{3,}\{|^\([\w-]+\)=$", text, re.MULTILINE)


def test_no_line_of_text_is_a_comment_to_the_book(notebook):
    for cell in notebook.cells:  # MyST leaves out what begins with "%"
        assert cell.cell_type == "code" or not re.search(r"^%", cell.source, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["02_background", "03_method"])
def test_an_executed_copy_shows_no_role(tmp_path, name):
    source, copy = ROOT / "notebooks" / f"{name}.ipynb", tmp_path / "copy.ipynb"
    run_notebook(source, copy, results=tmp_path / "results", cwd=tmp_path)
    text = copy.read_text(encoding="utf-8")
    assert "image/png" in text and not re.search(r"\{[a-z:]+\}`", text)


@pytest.mark.book
@pytest.mark.skipif(not EXECUTED.exists(), reason="no book: run `make book`")
def test_no_executed_copy_of_the_book_shows_a_role():
    for copy in EXECUTED.glob("*.ipynb"):
        assert not re.search(r"\{[a-z:]+\}`", copy.read_text(encoding="utf-8")), copy.name


def test_links_lead_to_what_they_name(notebook):
    """A result and an equation are called by their labels, and stand where the link says."""
    own = notebook.metadata["path"]
    # a string of several lines is one text
    text = re.sub(r'"\s*\n\s*r?f?"', "", "\n".join(cell.source for cell in notebook.cells))
    for words, address in LINK.findall(text):
        file, _, label = address.partition("#")
        target = (own.parent / file) if file else own
        if "://" in address or "{" in address:
            continue
        assert target.exists(), address
        kind, _, name = label.partition("-")
        if kind in ("fig", "tab", "eq"):
            called = {"fig": f"Figure {name}", "tab": f"Table {name}", "eq": f"({name})"}[kind]
            assert " ".join(words.split()) == called
            there = target.with_suffix(".py").read_text(encoding="utf-8")
            mark = f'<a id="{label}"></a>' if kind == "eq" else f'"{label}"'
            assert mark in there, f"{label} isn't in {target.name}"


def test_parameters_are_annotated_explained_and_used(notebook):
    tagged = [c for c in code_cells(notebook) if "parameters" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    tree = ast.parse(tagged[0].source)
    assert all(isinstance(line, ast.AnnAssign) for line in tree.body)
    names = [line.target.id for line in tree.body]
    found = papermill.inspect_notebook(notebook.metadata["path"])
    assert list(found) == names  # what papermill reads is all there is
    assert all(parameter["help"] for parameter in found.values())
    rest = [c.source for c in code_cells(notebook) if c is not tagged[0]]
    loads = {
        node.id
        for node in ast.walk(ast.parse("\n".join(rest)))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert set(names) <= loads


def test_each_result_is_shown_once(notebook):
    code = "\n".join(cell.source for cell in code_cells(notebook))
    shown = re.findall(r'show\(\s*"((?:fig|tab)-[\w-]+)"', code)
    assert len(shown) == len(set(shown))


def test_nothing_points_at_a_machine(notebook):
    text = "\n".join(cell.source for cell in notebook.cells)
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", text)
