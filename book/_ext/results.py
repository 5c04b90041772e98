"""Sphinx extension of the book: what the cells of a notebook show, as parts of the page.

`companion.page.show` and `say` display a result with its caption, and a paragraph. The book gives
them numbers, references and downloads, and folds the code below what it shows. On the finished
pages, figures have a narrow form for phones, and verdicts a mark.
"""

import json
import os
import re
from pathlib import Path

from references import with_roles
from sphinx.util import logging

from companion.claims.verdicts import VERDICTS
from companion.page.citations import bibliography
from companion.page.results import folded
from companion.page.tables import DASH

logger = logging.getLogger(__name__)
HEADING = re.compile(r"^#{1,6} .+", re.MULTILINE)
EMPTY = re.compile(rf"[|\s{DASH}]*")
FIGURE = re.compile(r'(<figure[^>]* id="([\w-]+)"[^>]*>\s*)(<img [^>]*src="([^"]*)"[^>]*>)')
VERDICT = re.compile(rf"<td(?=[^>]*>(?:<p>)?({'|'.join(VERDICTS)})(?:</p>)?</td>)")
FILES = {"svg": "SVG", "pdf": "PDF", "csv": "CSV", "tex": "LaTeX", "vl.json": "Vega-Lite"}


def downloads(label: str, results: Path) -> str:
    """Links to the files of a result, from a page in ``notebooks``."""
    folder = "figures" if label.startswith("fig-") else "tables"
    links = [
        f'<a href="../results/{folder}/{label}.{ending}" download>{name}</a>'
        for ending, name in FILES.items()
        if (results / folder / f"{label}.{ending}").exists()
    ]
    return f"Download: {', '.join(links)}"


def placed(text: str, result: dict, results: Path) -> str:
    """MyST of a result that `companion.page.show` displayed as ``text``."""
    label, caption = result["label"], " ".join(result["caption"].split())
    links = downloads(label, results)
    if alt := result.get("alt"):
        head = [f"::::{{figure}} /build/results/figures/{label}.svg", f":name: {label}"]
        alt = json.dumps(alt, ensure_ascii=False)  # as YAML reads it
        return "\n".join([*head, f":alt: {alt}", "", caption, links, "::::"])
    fold = result.get("fold", "")
    text = text.removesuffix("\n\n</details>") if fold else text
    grid = text.split("\n\n", 2 if fold else 1)[-1]
    head = [f"::::{{table}} {caption}", f":name: {label}"]
    if EMPTY.fullmatch("".join(grid.splitlines()[2:])):
        head.append(":class: empty")  # its caption says so and keeps its number
    table = "\n".join([*head, "", grid, "::::", "", f'<p class="downloads">{links}</p>'])
    return folded(table, fold) if fold else table


def shown(cell: dict, results: Path) -> tuple[list[dict], list[dict]]:
    """Markdown cells for what `companion.page` displayed in a code cell, and its other outputs."""
    texts, others = [], []
    for output in cell.get("outputs", []):
        metadata = output.get("metadata", {})
        if "sentences" in metadata:
            text = "".join(output["data"]["text/markdown"])
            if "result" in metadata:
                text = placed(text, metadata["result"], results)
            about = {"id": f"{cell['id']}-{len(texts)}", "metadata": {}}
            about["metadata"] = {"below": metadata.get("below", "")}
            texts += [{"cell_type": "markdown", "source": text, **about}] if text else []
        elif "drawing" not in metadata:
            others.append(output)
    return texts, others


def _silent(cell: dict) -> bool:
    """Whether a page shows nothing of a code cell but a fold with its code."""
    records = (o.get("metadata", {}).get("scrapbook") for o in cell.get("outputs", []))
    tags = cell["metadata"].get("tags", [])
    code = cell["cell_type"] == "code" and "hide-input" in tags
    return code and all(r and r["mime_prefix"] for r in records)


def _lifted(texts: list[dict], above: list[dict]) -> list[dict]:
    """Put each paragraph that belongs below a heading there; the others are given back."""
    left = []
    for text in texts:
        if not (below := text["metadata"].pop("below")):
            left.append(text)
            continue
        heads = [(cell, head) for cell in above if cell["cell_type"] == "markdown"
                 for head in HEADING.finditer("".join(cell["source"]))]  # fmt: skip
        cell, head = heads[0 if below == "title" else -1]
        source = "".join(cell["source"])
        cell["source"] = f"{source[: head.end()]}\n\n{text['source']}{source[head.end() :]}"
    return left


def arranged(cells: list[dict], results: Path) -> list[dict]:
    """Cells with what they show as Markdown; folded code lies below that, neighbors in one fold."""
    placed = []
    for cell in cells:
        texts, others = shown(cell, results)
        texts = _lifted(texts, placed)
        if cell["cell_type"] == "code":
            cell = cell | {"outputs": others}
        if not _silent(cell):
            placed += [cell, *texts]
            continue
        if placed and _silent(placed[-1]):
            fold = placed.pop()
            source = "\n\n".join("".join(part["source"]) for part in (fold, cell))
            cell = cell | {"source": source, "outputs": fold["outputs"] + others}
        placed += [*texts, cell]
    return placed


def arrange(app, docname: str, content: list[str]) -> None:
    """Rearrange a notebook in which `executed` has put the outputs."""
    if not content[0].startswith("{"):
        return
    notebook = json.loads(content[0])
    notebook["cells"] = arranged(notebook["cells"], Path(app.srcdir, "build", "results"))
    sources = bibliography(Path(app.srcdir, "book", "references.bib"))
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = with_roles("".join(cell["source"]), sources)
    except ValueError as error:
        logger.warning("%s", error, location=docname)
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
    app.add_js_file("tables.js", loading_method="defer")
    app.connect("build-finished", finish, priority=550)  # after `executed` has copied the results
    app.connect("source-read", arrange, priority=600)  # after `executed`
    return {"parallel_read_safe": True, "parallel_write_safe": True}
