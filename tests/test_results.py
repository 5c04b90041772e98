"""Results of a page: what `show` displays and writes, and where the book puts it."""

import json
import sys
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest
from conftest import ROOT
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.figure import Figure
from pypdf import PdfReader

from companion.page import say, show, show_numbers, tables

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from results import arranged

DC = "{http://purl.org/dc/elements/1.1/}"


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("AMOL_RESULTS", str(tmp_path))
    return tmp_path


def displayed(call) -> list[dict]:
    """Outputs of a cell as a notebook keeps them: data by MIME type, and metadata."""
    InteractiveShell.instance()  # without one, display prints
    with capture_output() as captured:
        assert call() is None
    return [{"data": o.data, "metadata": o.metadata} for o in captured.outputs]


CELLS = pd.DataFrame({"N": ["1", "2"]}, index=pd.Index(["x", "y"], name="K"))
GRID = "| K   |   N |\n|:----|----:|\n| x   |   1 |\n| y   |   2 |"


def test_a_table_is_its_caption_and_its_grid_and_is_written(results):
    (found,) = displayed(lambda: show("tab-a", CELLS, "Some *N*."))
    text = f'<a id="tab-a"></a>**Table a.** Some *N*.\n\n{GRID}'
    assert found["data"] == {"text/markdown": text, "text/plain": text}
    assert found["metadata"]["result"] == {"label": "tab-a", "caption": "Some *N*."}
    assert {path.name for path in results.rglob("tab-*")} == {
        "tab-a.csv", "tab-a.csv-metadata.json", "tab-a.tex"
    }  # fmt: skip
    data = pd.DataFrame({"n": [1 / 3]})
    displayed(lambda: show("tab-a", CELLS, "", data=data))
    assert pd.read_csv(results / "tables" / "tab-a.csv").equals(data)
    (found,) = displayed(lambda: show("tab-b", tables.Table(CELLS, "Seven rows.", data), "N."))
    assert found["metadata"]["result"]["caption"] == "N. Seven rows."
    assert pd.read_csv(results / "tables" / "tab-b.csv").equals(data)


def test_a_caption_holds_sentences_and_an_alternative_text_their_words():
    rows = (False, "Few.", "*Many* [rows](a.ipynb#tab-a).")
    (_, found) = displayed(
        lambda: show("fig-a", Figure(), ["F.", rows], ["Dots.", rows], CELLS)
    )  # fmt: skip
    told = found["metadata"]["result"]
    assert told["caption"] == "F. *Many* [rows](a.ipynb#tab-a)." and told["alt"] == (
        "Dots. Many rows."
    )
    assert found["metadata"]["sentences"] == [
        {"sentence": "Few.", "holds": False, "text": "*Many* [rows](a.ipynb#tab-a)."}
    ]


@pytest.mark.parametrize(
    ("label", "alt", "message"),
    [("fig-a", "", "fig-a has no alt text"), ("figure", "A.", "'figure'; allowed: fig-… or tab-…")],
)
def test_bad_results_are_refused(label, alt, message):
    with pytest.raises(ValueError, match=message):
        show(label, Figure(), "A caption.", alt, CELLS)


def test_figures_and_live_charts_are_images_and_written(results):
    frame = pd.DataFrame({"x": [1, 2]})
    image, caption = displayed(lambda: show("fig-a", Figure(figsize=(5, 1)), "F.", "Dots.", frame))
    assert set(image["data"]) == {"image/png", "text/plain"}
    assert image["metadata"]["image/png"] == {"width": 480, "alt": "Dots."}  # 5 inches of 96 px
    assert caption["data"]["text/markdown"] == '<a id="fig-a"></a>**Figure a.** F.'
    chart = alt.Chart(frame).mark_point().encode(x="x:Q")
    image, _ = displayed(lambda: show("fig-b", chart, "C.", "Dots.", frame))
    assert set(image["data"]) == {
        "image/png", "text/plain", "application/vnd.vegalite.v6+json"
    }  # fmt: skip
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
    found = displayed(lambda: show_numbers(share=0.5, name="x"))
    records = [output["metadata"]["scrapbook"] for output in found]
    assert [record["name"] for record in records] == ["share", "name"]
    assert set(found[0]["data"]) == {f"{records[0]['mime_prefix']}text/plain"}


def cell(source: str, *tags: str, outputs=()) -> dict:
    kind = "code" if tags else "markdown"
    about = {"cell_type": kind, "metadata": {"tags": list(tags)}, "outputs": list(outputs)}
    return {"id": source[:3], "source": source, **about}


def test_folded_code_lies_below_what_it_shows_and_neighbors_share_a_fold(results):
    table = displayed(lambda: show("tab-a", CELLS, "A."))
    drawing = displayed(lambda: show("fig-a", Figure(), "F.", "Dots.", CELLS))
    words = displayed(lambda: say("One.", (False, "Two.", "Three.")))
    printed = {"output_type": "stream", "name": "stdout", "text": "7"}
    cells = [
        cell("# Page"),
        cell("numbers", "hide-input"),
        cell("draw", "hide-input", outputs=table + drawing),
        cell("tell", "hide-input", outputs=words),
        cell("## Part"),
        cell("seen", "show-input", outputs=[printed, *words]),
    ]
    found = arranged(cells, results)
    assert [c["source"] for c in found] == [
        "# Page",
        f"::::{{table}} A.\n:name: tab-a\n\n{GRID}\n::::\n\n"
        '<p class="downloads">Download: <a href="../results/tables/tab-a.csv" download>CSV</a>, '
        '<a href="../results/tables/tab-a.tex" download>LaTeX</a></p>',
        '::::{figure} /build/results/figures/fig-a.svg\n:name: fig-a\n:alt: "Dots."\n\nF.\n'
        'Download: <a href="../results/figures/fig-a.svg" download>SVG</a>, '
        '<a href="../results/figures/fig-a.pdf" download>PDF</a>, '
        '<a href="../results/figures/fig-a.csv" download>CSV</a>\n::::',
        "One. Three.",
        "numbers\n\ndraw\n\ntell",
        "## Part",
        "seen",
        "One. Three.",
    ]
    assert [c["outputs"] for c in found if c["cell_type"] == "code"] == [[], [printed]]
    assert len({c["id"] for c in found}) == len(found)


def test_a_summary_goes_below_the_title_and_a_verdict_below_the_last_heading(results):
    told = [
        *displayed(lambda: say("All.", below="title")),
        *displayed(lambda: say("Part.", below="heading")),
        *displayed(lambda: say("X.")),
    ]
    cells = [cell("Before\n\n# Page\n\nIntroduction."), cell("## One"), cell("## Two\n\nText."),
             cell("tell", "hide-input", outputs=told), cell("## Three")]  # fmt: skip
    assert [c["source"] for c in arranged(cells, results)] == [
        "Before\n\n# Page\n\nAll.\n\nIntroduction.", "## One", "## Two\n\nPart.\n\nText.",
        "X.", "tell", "## Three",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="below is 'top'; allowed: '', 'title', 'heading'"):
        say("All.", below="top")


def test_a_table_without_rows_is_its_caption(results):
    for rows, empty in (([], True), (["–"], True), (["0.1"], False)):
        frame = pd.DataFrame({"a": rows}, index=pd.Index(rows, name="b"))
        (found,) = displayed(lambda frame=frame: show("tab-a", frame, "0 in all."))
        (placed, _) = arranged([cell("x", "hide-input", outputs=[found])], results)
        assert placed["source"].startswith("::::{table} 0 in all.\n:name: tab-a\n")
        assert (":class: empty" in placed["source"]) == empty


def test_a_long_table_is_folded_under_its_words_as_a_whole(results):
    marked = CELLS.rename({"x": '<a id="row-x"></a>x <details><summary>1</summary>why</details>'})
    (found,) = displayed(lambda: show("tab-a", marked, "All.", fold="Both rows (2)"))
    head = '<details class="fold"><summary>Both rows (2)</summary>\n\n'
    assert found["data"]["text/markdown"].startswith(f'{head}<a id="tab-a"></a>**Table a.** All.')
    (placed, _) = arranged([cell("x", "hide-input", outputs=[found])], results)
    source = placed["source"]
    assert source.startswith(f"{head}::::{{table}} All.\n:name: tab-a\n\n| K ")
    assert source.endswith("</p>\n\n</details>") and source.count("</details>") == 2
    assert "x (1)" in (results / "tables" / "tab-a.tex").read_text()
