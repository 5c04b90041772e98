"""Sphinx extension of the book: the directive ``result``, a result with caption and downloads.

On the finished pages, figures have a narrow form for phones, and verdicts a mark.

    ```{result} fig-labels
    :alt: What the figure shows, for those who can't see it; {name} is a kept sentence.

    The caption.
    ```

`companion.page.show` has kept the figure or table under this label and written its files.
"""

import json
import os
import re
from ast import literal_eval
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from myst_nb.core.variables import RetrievalError
from myst_nb.ext.glue.utils import retrieve_glue_data
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from companion.claims.verdicts import VERDICTS
from companion.page.tables import DASH

logger = logging.getLogger(__name__)
EMPTY = re.compile(rf"[|\s{DASH}]*")
FIGURE = re.compile(r'(<figure[^>]* id="([\w-]+)"[^>]*>\s*)(<img [^>]*src="([^"]*)"[^>]*>)')
VERDICT = re.compile(rf"<td(?=[^>]*>(?:<p>)?({'|'.join(VERDICTS)})(?:</p>)?</td>)")
RESULTS = re.compile(r"(?:```\{result\}.*?\n```\s*)+", re.DOTALL)
FILES = {"svg": "SVG", "pdf": "PDF", "csv": "CSV", "tex": "LaTeX", "vl.json": "Vega-Lite"}


class Result(SphinxDirective):
    """A numbered table or figure of this page, by its label."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        label = self.arguments[0]
        try:
            shown = retrieve_glue_data(self.state.document, label).data
        except RetrievalError as error:
            logger.warning("%s", error, location=self.get_location())
            return []
        if "text/markdown" in shown:
            lines = self.table(label, shown["text/markdown"])
        else:
            lines = self.figure(label)
        found = nodes.Element()
        block = StringList(lines, self.get_source_info()[0])
        self.state.nested_parse(block, self.content_offset, found)
        return found.children

    def table(self, label: str, text: str) -> list[str]:
        """MyST of a table; its caption is the directive's text and then the table's own."""
        words, _, grid = text.rpartition("\n\n")
        caption = " ".join([*self.content, words])
        head = [f"::::{{table}} {caption}", f":name: {label}", ""]
        if EMPTY.fullmatch("".join(grid.splitlines()[2:])):
            head.insert(2, ":class: empty")  # its caption says so and keeps its number
        links = f'<p class="downloads">{self.downloads(label, "tables")}</p>'
        return [*head, *grid.splitlines(), "::::", "", links]

    def figure(self, label: str) -> list[str]:
        """MyST of a figure."""
        if not self.options.get("alt"):
            logger.warning("%s has no alt text", label, location=self.get_location())
        text = re.sub(r"\{(\w+)\}", self.kept, self.options.get("alt", ""))
        alt = json.dumps(text, ensure_ascii=False)  # as YAML reads it
        head = [f"::::{{glue:figure}} {label}", f":name: {label}", f":alt: {alt}", ""]
        return [*head, *self.content, self.downloads(label, "figures"), "::::"]

    def kept(self, name: re.Match) -> str:
        """A sentence or word that the page keeps, without its markup."""
        return plain(retrieve_glue_data(self.state.document, name[1]).data)

    def downloads(self, label: str, folder: str) -> str:
        """Links to the result's files, from this page."""
        written = Path(self.env.srcdir, "build", "results", folder)
        path = "../" * self.env.docname.count("/") + f"results/{folder}/{label}"
        links = [
            f'<a href="{path}.{ending}" download>{name}</a>'
            for ending, name in FILES.items()
            if (written / f"{label}.{ending}").exists()
        ]
        return f"Download: {', '.join(links)}"


def plain(shown: dict) -> str:
    """Text of a kept output, for where no markup is read."""
    text = shown.get("text/markdown") or str(literal_eval(shown["text/plain"]))
    return re.sub(r"\{[a-z:]+\}`(?:[^`<]*<)?([^`>]+)>?`|\\(?=[\W_])|[*`]", r"\1", text)


def _hidden(cell: dict) -> bool:
    """Whether a page shows nothing of a cell but a fold with its code."""
    return {"hide-input", "remove-output"} <= set(cell["metadata"].get("tags", []))


def _joined(cells: list[dict]) -> dict:
    source = "\n\n".join("".join(cell["source"]) for cell in cells)
    return cells[-1] | {"source": source, "outputs": [o for c in cells for o in c["outputs"]]}


def arranged(cells: list[dict]) -> list[dict]:
    """Cells with each fold of code under the results that follow it, none before a heading.

    A notebook has its sentences, the code and then the result; on a page nothing stands between a
    sentence and its figure.
    """
    placed, removed, first = [], [], []  # first: folds that wait for the code under a heading
    heading = False
    for cell in cells:
        text = "".join(cell["source"])
        if "remove-cell" in cell["metadata"].get("tags", []):
            removed.append(cell)
            continue
        if _hidden(cell) and not heading:
            first.append(cell)
            continue
        if cell["cell_type"] == "code" and first:
            if _hidden(cell):
                cell = _joined([*first, cell])
            else:
                placed += first
            first = []
        heading = heading or bool(re.search(r"^## ", text, re.MULTILINE))
        lead = RESULTS.match(text)
        if lead and placed and _hidden(placed[-1]):
            placed.insert(-1, cell | {"id": f"{cell['id']}-results", "source": lead[0]})
            cell = cell | {"source": text[lead.end() :]}
        placed.append(cell)
    return [*placed, *first, *removed]


def arrange(app, docname: str, content: list[str]) -> None:
    """Rearrange a notebook in which `executed` has put the outputs."""
    if content[0].startswith("{"):
        notebook = json.loads(content[0])
        notebook["cells"] = arranged(notebook["cells"])
        content[0] = json.dumps(notebook)


def finish(app, exception) -> None:
    """Let phones show the narrow form of a figure, and style sheets see a verdict."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    figures = site / "results" / "figures"

    def with_narrow(found: re.Match) -> str:
        start, label, image, address = found.groups()
        for name in (label, Path(address).stem):
            narrow = figures / f"{name}.narrow.svg"
            if narrow.exists():
                source = Path(os.path.relpath(narrow, page.parent)).as_posix()
                phone = f'<source media="(max-width: 600px)" srcset="{source}"/>'
                return f"{start}<picture>{phone}{image}</picture>"
        return found[0]

    for page in site.rglob("*.html"):
        html = FIGURE.sub(with_narrow, page.read_text(encoding="utf-8"))
        page.write_text(VERDICT.sub(r'<td data-verdict="\1"', html), encoding="utf-8")


def setup(app):
    app.add_directive("result", Result)
    app.add_js_file("tables.js", loading_method="defer")
    app.connect("build-finished", finish, priority=550)  # after `executed` has copied the results
    app.connect("source-read", arrange, priority=600)  # after `executed`
    return {"parallel_read_safe": True, "parallel_write_safe": True}
