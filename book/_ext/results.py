"""Sphinx extension of the book: the directive ``result``, a result with caption and downloads.

    ```{result} fig-labels
    :alt: What the figure shows, for those who can't see it.

    The caption.
    ```

`amol.report.show` has kept the figure or table under this label and written its files.
"""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from myst_nb.core.variables import RetrievalError
from myst_nb.ext.glue.utils import retrieve_glue_data
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
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
        links = f'<p class="downloads">{self.downloads(label, "tables")}</p>'
        return [*head, *grid.splitlines(), "::::", "", links]

    def figure(self, label: str) -> list[str]:
        """MyST of a figure."""
        if not self.options.get("alt"):
            logger.warning("%s has no alt text", label, location=self.get_location())
        alt = json.dumps(self.options.get("alt", ""), ensure_ascii=False)  # as YAML reads it
        head = [f"::::{{glue:figure}} {label}", f":name: {label}", f":alt: {alt}", ""]
        return [*head, *self.content, self.downloads(label, "figures"), "::::"]

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


def setup(app):
    app.add_directive("result", Result)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
