"""The source notebooks: clean, paired, with parameters that are checked and used."""

import ast
import io
import json
import re
import sys

import jupytext
import papermill
import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TAGS = {"parameters", "remove-cell", "remove-input", "remove-output", "show-input"}


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
    links = {page: re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", page.read_text(encoding="utf-8"))
             for page in pages}  # fmt: skip
    used = {
        name.lower() for page, names in links.items() if page.stem != "glossary" for name in names
    }
    assert used == {term.lower() for term in terms}


def test_first_cell_fetches_the_repository_that_colab_opened_and_does_nothing_elsewhere(
    monkeypatch,
):
    firsts = [code_cells(jupytext.read(path))[0] for path in NOTEBOOKS]
    (source,) = {cell.source for cell in firsts}
    assert {tuple(cell.metadata["tags"]) for cell in firsts} == {("remove-cell",)}
    commands, path = [], list(sys.path)
    monkeypatch.setattr("subprocess.run", lambda command, check: commands.append(command))
    exec(source, {})
    assert not commands and sys.path == path

    opened = "https%3A//github.com/someone/fork/blob/some%2Fbranch/notebooks/05_results.ipynb"
    monkeypatch.setitem(sys.modules, "google.colab", object())
    monkeypatch.setattr("socket.gethostbyname", lambda name: "172.28.0.12")
    asked = []
    for told in (opened, "1AbC"):
        answer = json.dumps([{"name": "x", "path": f"fileId={told}"}]).encode()
        monkeypatch.setattr(
            "urllib.request.urlopen", lambda url, a=answer: asked.append(url) or io.BytesIO(a)
        )
        monkeypatch.setattr(sys, "path", list(path))
        if told == opened:
            exec(source, {})
            assert sys.path[0] == "companion"
        else:
            with pytest.raises(AssertionError, match="Colab button"):
                exec(source, {})
    assert asked[0] == "http://172.28.0.12:9000/api/sessions"
    clone, checkout, install = commands
    assert clone == ["git", "clone", "https://github.com/someone/fork", "companion"]
    assert checkout[-1] == "some/branch" and install[-1] == "./companion[notebooks]"


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
        assert len(cell.source.splitlines()) <= 25, cell.source


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


def test_figures_have_alternative_text(notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for block in re.findall(r"```\{(?:glue:)?figure\}.*?```", text, re.DOTALL):
        alt = re.search(r"^:alt: (.+(?:\n:  .+)*)$", block, re.MULTILINE)
        assert alt and len(alt[1]) > 20, block


def test_nothing_points_at_a_machine(notebook):
    text = "\n".join(cell.source for cell in notebook.cells)
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", text)
