"""Sphinx extension of the book.

The table of contents lists the clean source notebooks, so launch, source and download links lead
to committed files. While Sphinx reads a notebook, the outputs of its executed copy are put in.
"""

import json
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

from sphinx.util import logging

from companion.book.execute import executed_copy
from companion.book.notebooks import parameters_of
from companion.repository import repository, with_address

logger = logging.getLogger(__name__)

VISIBILITY_TAGS = {"remove-input", "hide-cell", "show-input"}

# Parts of the pages that the book does without: Thebe asks a foreign server for its code, and Font
# Awesome's script weighs more than a page (the theme's style sheet draws the icons by itself).
LEFT_OUT = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>'
    r"|<script>kernelName = .*?</script>"
    r"|<script>const THEBE_JS_URL.*?</script>"
    r"|<script[^>]*(?:sphinx-thebe|fontawesome)[^>]*></script>"
    r"|<link[^>]*sphinx-thebe\.css[^>]*/>"
    r'| role="list"(?= class="citation-list")'  # its children are no list items
    r'| role="doc-biblioentry"',  # deprecated
    re.DOTALL,
)
ICON_RULE = re.compile(r"(?:\.fa-[\w-]+::?before,?)+\{[^}]*\}")
# A page in a folder may not fetch others, so its search lists hits without their passages.
PLAIN_SEARCH = (
    "if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
)
SIDEBAR = '<div id="pst-primary-sidebar"'  # the theme gives it no role, so it is in no landmark
PAPER_ROW = re.compile(r'<tr class="(?=row-\w+">\s*<td[^>]*>\s*<p>[^<]*, paper</p>)')
MATHJAX = re.compile(r"<script>window\.MathJax.*?</script>|<script[^>]*mathjax[^>]*></script>")


def code_of(cells: list[dict]) -> list[str]:
    return ["".join(cell["source"]) for cell in cells]


def merge(source: dict, copy: dict) -> dict:
    """The source notebook with the outputs of its executed copy.

    Raises
    ------
    ValueError
        Where the copy is not a complete, faultless run of the same code.
    """
    here = [cell for cell in source["cells"] if cell["cell_type"] == "code"]
    there = [cell for cell in copy["cells"] if cell["cell_type"] == "code"]
    if code_of(here) != code_of(there):
        raise ValueError("its executed copy comes from other code")
    for cell, ran in zip(here, there, strict=True):
        if any(output["output_type"] == "error" for output in ran["outputs"]):
            raise ValueError(f"its executed copy failed in cell [{ran['execution_count']}]")
        if "".join(ran["source"]).strip() and ran["execution_count"] is None:
            raise ValueError("its executed copy is unfinished")
        cell.update(outputs=ran["outputs"], execution_count=ran["execution_count"])
        tags = cell["metadata"].setdefault("tags", [])
        if not VISIBILITY_TAGS.intersection(tags):
            tags.append("hide-input")
    source["metadata"].pop("widgets", None)
    return source


def rerun_note(notebook: Path) -> dict | None:
    """A Markdown cell that says how to run the page again, or None without parameters."""
    parameters = parameters_of(notebook)
    if not parameters:
        return None
    name = "seeds" if "seeds" in parameters else next(iter(parameters))
    value = parameters[name]["default"]
    value = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    rows = []
    for parameter, known in parameters.items():
        cells = f"`{parameter}`", known["type"], f"`{known['default']!r}`", known["help"]
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    text = [
        f":::{{dropdown}} Run this page again: `amol run {notebook.stem}`",
        ":class-container: rerun",
        "",
        f"Any parameter can be changed, for example `amol run {notebook.stem} -p {name} "
        f"{shlex.quote(value)}`; {{doc}}`/book/rerun` says how.",
        "",
        "| parameter | type | default | meaning |",
        "|:--|:--|:--|:--|",
        *rows,
        ":::",
    ]
    return {"cell_type": "markdown", "id": "rerun", "metadata": {}, "source": "\n".join(text)}


def read_source(app, docname: str, content: list[str]) -> None:
    """Put the executed outputs into a notebook, and the repository's address into a page."""
    source = Path(app.env.doc2path(docname))
    address = app.config.html_theme_options.get("repository_url", "")
    if source.suffix != ".ipynb":
        content[0] = with_address(content[0], address)
        return
    copy = executed_copy(source)
    app.env.note_dependency(str(copy))
    try:
        notebook = merge(json.loads(content[0]), json.loads(copy.read_text(encoding="utf-8")))
    except FileNotFoundError:
        logger.warning("not executed yet; `amol build` does it", location=docname)
        return
    except ValueError as error:
        logger.warning("%s; `amol build` renews it", error, location=docname)
        return
    cells = notebook["cells"]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_address("".join(cell["source"]), address)
    tagged = [i for i, c in enumerate(cells) if "parameters" in c["metadata"].get("tags", [])]
    if tagged and (note := rerun_note(source)):
        cells.insert(tagged[0], note)
    content[0] = json.dumps(notebook)


def set_repository(app, config) -> None:
    """Point the buttons at the repository that the book is built from, or leave them out."""
    options = config.html_theme_options
    options["repository_url"], options["repository_branch"] = repository(Path(app.srcdir))
    known = bool(options["repository_url"])
    options["use_source_button"] = options["use_repository_button"] = known
    if not known:
        options.pop("launch_buttons", None)
    elif "github" not in options["repository_url"]:
        options["launch_buttons"].pop("colab_url", None)  # Colab opens no other host's notebooks


def read_listed_alone(app, config) -> None:
    """Let Sphinx read what the contents list, and no other text of the repository.

    The extension for the contents has such a setting, but takes a folder's path for a pattern.
    """
    names = [re.sub(r"([[*?])", r"[\1]", name) for name in config.external_site_map]
    config.include_patterns = [name + end for name in names for end in ("", *config.source_suffix)]


def copy_results(app, site: Path) -> None:
    """Publish tables and figures for download, and MathJax with its fonts."""
    results = Path(app.srcdir, "build", "results")
    if results.is_dir():
        shutil.copytree(results, site / "results", dirs_exist_ok=True)
    mathjax = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    target = site / "_static" / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(mathjax / "tex-chtml-full.js", target)
    fonts = Path("output", "chtml", "fonts")
    shutil.copytree(mathjax / fonts, target / fonts, dirs_exist_ok=True)


def drop_unused_icons(site: Path) -> None:
    """Leave the rules of some 1,900 icons that no page shows out of the theme's style sheet."""
    pages = [*site.rglob("*.html"), *site.rglob("*.js")]
    shown = set(re.findall(r"fa-[\w-]+", " ".join(p.read_text(encoding="utf-8") for p in pages)))

    def kept(rule: re.Match) -> str:
        return rule[0] if shown & set(re.findall(r"fa-[\w-]+", rule[0])) else ""

    sheet = site / "_static" / "styles" / "pydata-sphinx-theme.css"
    sheet.write_text(ICON_RULE.sub(kept, sheet.read_text(encoding="utf-8")), encoding="utf-8")


def finish(app, exception) -> None:
    """Complete the site, take out what it doesn't need, and check the download links."""
    if exception or app.builder.name != "html":
        return
    site = Path(app.outdir)
    copy_results(app, site)
    for pattern in ("*.map", "*thebe*", "fontawesome.js*", "*webpack-macros.html"):
        for useless in (site / "_static").rglob(pattern):
            useless.unlink()
    drop_unused_icons(site)
    for page in site.rglob("*.html"):
        html = LEFT_OUT.sub("", page.read_text(encoding="utf-8"))
        html = PAPER_ROW.sub('<tr class="paper ', html)
        html = html.replace(SIDEBAR, f'{SIDEBAR} role="complementary" aria-label="Contents"')
        if 'class="math' not in html:
            html = MATHJAX.sub("", html)
        page.write_text(html, encoding="utf-8")
        for link in re.findall(r'href="((?:\.\./)*results/[^"#]+)"', html):
            if not (page.parent / link).exists():
                where = str(page.relative_to(site).with_suffix(""))
                logger.warning("nothing to download at %s", link, location=where)


def setup(app):
    app.add_js_file(None, body=PLAIN_SEARCH)
    app.connect("config-inited", set_repository, priority=10)
    app.connect("config-inited", read_listed_alone, priority=999)  # after the contents are read
    app.connect("source-read", read_source)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
