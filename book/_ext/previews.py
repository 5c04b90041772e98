"""Sphinx extension of the book: what a link leads to, shown beside it by ``previews.js``.

A page in a folder may not fetch others, so what links lead to, the terms, citations, figures,
equations and first rows of tables, is collected once the pages are written, into a script that a
page loads when a reader first points at a link. The search index, which the theme has every page
load, is written tightly.
"""

import json
import posixpath
import re
from collections import defaultdict
from pathlib import Path

from bs4 import BeautifulSoup, SoupStrainer, Tag

LINK = re.compile(r'<a class="reference internal" href="([^"#:]*)#([^"]+)"')
KEPT = ["alt", "class", "src"]
ROWS = 6  # of a table
HOLDERS = SoupStrainer(["dt", "dd", "figure", "table", "div"])
NO_DOWNLOADS = re.compile(r" ?Download:[ ,]*")
LEFT_OUT = "a.headerlink, a[download], .label, .legend, .eqno, picture source, script"


def targets(site: Path) -> dict[str, set[str]]:
    """Anchors that links lead to, by page."""
    found = defaultdict(set)
    for page in site.rglob("*.html"):
        name = page.relative_to(site).as_posix()
        for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            where = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            found[where if path else name].add(anchor)
    return found


def content(target: Tag) -> list[Tag]:
    """What of a target is shown: of a table its first rows, nothing of a section or a page."""
    kinds = target.get("class") or []
    if target.name == "dt":
        definition = target.find_next_sibling("dd")
        return [definition] if definition else []
    if target.name == "table":
        captions = [caption.extract() for caption in target.find_all("caption")]
        rows = target.select("tbody tr")
        for row in rows[ROWS:]:
            row.decompose()
        note = BeautifulSoup("<p>…</p>", "html.parser").p
        return [*captions, target, *([note] if len(rows) > ROWS else [])]
    if target.name == "figure" or {"citation", "math"} & set(kinds):
        return [target]
    return []


def preview(target: Tag, folder: str) -> str:
    """HTML of a target without links, identifiers and downloads; images from the site's root."""
    shown = BeautifulSoup("".join(map(str, content(target))), "html.parser")
    for part in shown.select(LEFT_OUT):
        part.decompose()
    for caption in shown.select("caption, dd, a"):
        caption.name = "span" if caption.name == "a" else "div"
    for part in shown.find_all(True):
        part.attrs = {name: part[name] for name in KEPT if part.get(name)}
        if "src" in part.attrs:
            part["src"] = posixpath.normpath(posixpath.join(folder, part["src"]))
    return NO_DOWNLOADS.sub("", " ".join(str(shown).split()))


def finish(app, exception) -> None:
    """Write the script with all previews, and the search index without blanks."""
    if exception or app.builder.name != "html":
        return
    site, found = Path(app.outdir), {}
    for name, anchors in sorted(targets(site).items()):
        if not (site / name).is_file():
            continue
        page = (site / name).read_text(encoding="utf-8")
        holders = BeautifulSoup(page, "html.parser", parse_only=HOLDERS)
        for target in holders.find_all(id=list(anchors)):
            if shown := preview(target, posixpath.dirname(name)):
                found[f"{name}#{target['id']}"] = shown
    text = json.dumps(found, ensure_ascii=False, indent=0, sort_keys=True)
    script = site / "_static" / "previews_data.js"
    script.write_text(f"window.PREVIEWS = {text};\n", encoding="utf-8")
    lighten_search(site / "searchindex.js")


def lighten_search(index: Path) -> None:
    """Leave blanks, numbers and digests out of the search index, which every page loads."""
    called, _, content = index.read_text(encoding="utf-8").partition("(")
    held = json.loads(content.rstrip(")"))
    held["terms"] = {w: pages for w, pages in held["terms"].items() if not w[:1].isdigit()}
    tight = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    index.write_text(f"{called}({tight})", encoding="utf-8")


def setup(app):
    app.add_js_file("previews.js", loading_method="defer")
    app.connect("build-finished", finish, priority=590)  # before scripts of charts are put in
    return {"parallel_read_safe": True, "parallel_write_safe": True}
