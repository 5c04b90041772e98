"""Results of a page: what `show` keeps and writes, and where the page puts it."""

import importlib.util
import json
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from conftest import ROOT
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.figure import Figure
from pypdf import PdfReader

from companion.page import show, show_numbers, tables

DC = "{http://purl.org/dc/elements/1.1/}"


@pytest.fixture(scope="module")
def extension():
    path = ROOT / "book" / "_ext" / "results.py"
    spec = importlib.util.spec_from_file_location("results", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("AMOL_RESULTS", str(tmp_path))
    return tmp_path


def kept(call) -> dict:
    """MIME types of what a call keeps for the page, by label."""
    InteractiveShell.instance()  # without one, display prints
    with capture_output() as captured:
        assert call() is None
    records = [output for output in captured.outputs if "scrapbook" in output.metadata]
    return {
        output.metadata["scrapbook"]["name"]: {
            kind.removeprefix(output.metadata["scrapbook"]["mime_prefix"]) for kind in output.data
        }
        for output in records
    }


CELLS = pd.DataFrame({"N": ["1", "2"]}, index=pd.Index(["x", "y"], name="K"))


def test_a_table_is_kept_and_written(results):
    found = kept(lambda: show("tab-a", CELLS))
    assert {"text/html", "text/markdown"} <= found["tab-a"]
    assert {path.name for path in results.rglob("tab-*")} == {
        "tab-a.csv", "tab-a.csv-metadata.json", "tab-a.tex"
    }  # fmt: skip
    data = pd.DataFrame({"n": [1 / 3]})
    kept(lambda: show("tab-a", CELLS, data))
    assert pd.read_csv(results / "tables" / "tab-a.csv").equals(data)
    kept(lambda: show("tab-b", tables.Table(CELLS, "Seven rows.", data)))
    assert pd.read_csv(results / "tables" / "tab-b.csv").equals(data)


def test_figures_and_live_charts_are_kept_and_written(results):
    frame = pd.DataFrame({"x": [1, 2]})
    found = kept(lambda: show("fig-a", Figure(), frame))
    assert "image/svg+xml" in found["fig-a"]
    chart = alt.Chart(frame).mark_point().encode(x="x:Q")
    assert "image/svg+xml" in kept(lambda: show("fig-b", chart, frame))["fig-b"]
    endings = {path.name.removeprefix("fig-b") for path in results.rglob("fig-b.*")}
    assert endings == {".svg", ".pdf", ".csv", ".csv-metadata.json", ".vl.json"}
    for name in ("fig-a", "fig-b"):
        drawing = (results / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        about = ElementTree.fromstring(drawing).find(f".//{DC}source")
        assert about.text.endswith(f"arxiv.org/abs/2609.10752; data: {name}.csv")
    about = json.loads((results / "figures" / "fig-a.csv-metadata.json").read_text())
    assert about["url"] == "fig-a.csv" and "2609.10752" in about["dc:source"]
    assert about["tableSchema"]["columns"] == [{"titles": "x", "datatype": "integer"}]
    assert "2609.10752" in PdfReader(results / "figures" / "fig-a.pdf").metadata.subject


def test_numbers_are_kept_by_name():
    assert kept(lambda: show_numbers(share=0.5, name="x")) == {
        "share": {"text/plain"},
        "name": {"text/plain"},
    }


def cell(source: str, *tags: str) -> dict:
    kind = {"cell_type": "code", "outputs": [source]} if tags else {"cell_type": "markdown"}
    return {"id": source[:3], "source": source, "metadata": {"tags": list(tags)}, **kind}


def test_code_lies_under_its_results_and_under_the_first_heading(extension):
    fold = ("hide-input", "remove-output")
    placed = "```{result} tab-a\nA.\n```\n\n```{result} tab-b\nB.\n```\n"
    cells = [
        cell("# Page"),
        cell("setup", *fold),
        cell("numbers", "remove-cell"),
        cell("## Part\nA sentence."),
        cell("draw", *fold),
        cell(placed + "\nAnother."),
        cell("shown", "show-input"),
        cell("The end."),
    ]
    found = extension.arranged(cells)
    texts = ["# Page", "## Part\nA sentence.", placed + "\n", "setup\n\ndraw", "Another."]
    assert [c["source"] for c in found] == [*texts, "shown", "The end.", "numbers"]
    assert found[3]["outputs"] == ["setup", "draw"]
    assert len({c["id"] for c in found}) == len(found)


def test_a_setup_without_code_to_join_stays_before_it(extension):
    cells = [cell("# Page"), cell("setup", "hide-input", "remove-output"), cell("## Part"),
             cell("code", "show-input")]  # fmt: skip
    found = [c["source"] for c in extension.arranged(cells)]
    assert found == ["# Page", "## Part", "setup", "code"]
