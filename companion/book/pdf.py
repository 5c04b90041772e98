"""The book as one PDF: its pages joined into one document that Chromium prints."""

import os
import posixpath
import re
import shutil
import tempfile
from datetime import date
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import yaml
from bs4 import BeautifulSoup, Tag
from pypdf import PdfReader

from companion.paths import ROOT
from companion.repository import commit, repository

SCREEN_ONLY = {  # pages that move, and the reference
    "notebooks/api",
    "notebooks/explorer",
    "notebooks/browser",
    "book/audit",
}
WIDTH, HEIGHT = 657, 960  # of a sheet between its margins (book/print.css), in CSS px
LEFT_OUT = (
    "script, noscript, .headerlink, .copybtn, .downloads, details.hide, details.provenance,"
    " details.rerun, .toctree-wrapper"
)
DOWNLOADS = re.compile(r"\s*Download:\s*(?:<a [^>]*download[^>]*>.*?</a>[\s,.]*)+", re.DOTALL)
# What is wider than the sheet is made smaller; only what is shorter than half of it stays whole.
FIT = """([wide, high]) => {
  for (const part of document.querySelectorAll('table, div.math')) {
    const size = part.getBoundingClientRect(), inner = Math.max(size.width, part.scrollWidth);
    if (inner > wide + 1) part.style.zoom = wide / inner;
    if (size.height > high / 2) part.classList.add('long');
  }
}"""
NUMBER = """numbers => {
  for (const link of document.querySelectorAll('nav.pages a'))
    link.querySelector('b').textContent = numbers['/' + link.getAttribute('href').slice(1)];
}"""


def find_chromium() -> str | None:
    """Path of Chromium or Chrome: the variable CHROMIUM, else the first on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def _parts() -> list[tuple[str, list[str]]]:
    """Parts of the book, each with the names of its printed pages; the first part has no title."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = {p["caption"]: [page["file"] for page in p["chapters"]] for p in contents["parts"]}
    printed = {part: [p for p in pages if p not in SCREEN_ONLY] for part, pages in parts.items()}
    return [("", [contents["root"]]), *((part, pages) for part, pages in printed.items() if pages)]


def _anchor(page: str, name: str = "") -> str:
    """Anchor in the joined document for an anchor on a page, or for the page."""
    return "--".join(filter(None, [page.replace("/", "-"), name]))


def _read(site: Path, page: str) -> BeautifulSoup:
    """A page with the addresses of images, styles and scripts made absolute."""
    file = site / f"{page}.html"
    html = BeautifulSoup(DOWNLOADS.sub("", file.read_text(encoding="utf-8")), "html.parser")
    for tag, attribute in (("img", "src"), ("script", "src"), ("link", "href")):
        for found in html.select(f"{tag}[{attribute}]"):
            found[attribute] = urljoin(file.resolve().as_uri(), found[attribute])
    return html


def _article(html: BeautifulSoup, page: str, pages: set[str]) -> Tag:
    """A page's article without what paper can't do; its links lead into the joined document."""
    article = html.select_one("article.bd-article")
    for useless in article.select(LEFT_OUT):
        useless.decompose()
    for cell in article.select("div.cell"):
        if not cell.get_text(strip=True) and not cell.select_one("img, svg"):
            cell.decompose()
    for fold in article.select("details.fold"):
        fold["open"] = ""
    for marked in article.select("[id]"):
        marked["id"] = _anchor(page, marked["id"])
    # the heading, since the article may begin at the end of the sheet before it
    (article.find("h1") or article)["id"] = _anchor(page)
    for link in article.select("a[href]"):
        path, name = urldefrag(link["href"])
        if urlparse(path).scheme:
            printed = path in link.get_text() or re.match("doi:|arXiv:", link.get_text())
            link["class"] = [] if printed else ["outside"]
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
        target = target.removesuffix(".html") if path else page
        if target in pages:
            link["href"] = f"#{_anchor(target, name)}"
        else:
            link.unwrap()
    return article


def join(site: Path) -> str:
    """The pages of a built site as one HTML document; its contents wait for `NUMBER`."""
    pages = [page for _, chapters in _parts() for page in chapters]
    read = {page: _read(site, page) for page in pages}
    formula = next((html for html in read.values() if html.select_one(".math")), read[pages[0]])
    head = [str(tag) for tag in formula.head.select("link[rel=stylesheet]")]
    head += [str(tag) for tag in formula.head.find_all("script", string=re.compile("MathJax"))]
    head += [str(tag) for tag in formula.head.select("script[src*=mathjax]")]
    articles = {page: _article(html, page, set(pages)) for page, html in read.items()}
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    contents = []
    for part, chapters in _parts():
        articles[chapters[0]]["class"] += ["opens-part"]
        contents += [f'<p class="part">{part}</p>'] if part else []
        for page in chapters:
            title = articles[page].h1.decode_contents()
            contents.append(f'<a href="#{_anchor(page)}"><span>{title}</span><b></b></a>')
    return "\n".join(
        [
            f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
            f"<title>{book}</title>",
            *head,
            f"<style>{(ROOT / 'book' / 'print.css').read_text(encoding='utf-8')}</style></head>",
            "<body>",
            _title_page(book),
            '<nav class="pages"><h1>Contents</h1>',
            *contents,
            "</nav><main>",
            *map(str, articles.values()),
            "</main></body></html>",
        ]
    )


def _title_page(title: str) -> str:
    """The book's title, the paper that it is about, and from what and when it was made."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    paper = yaml.safe_load(citation)["preferred-citation"]
    authors = ", ".join(f"{who['given-names']} {who['family-names']}" for who in paper["authors"])
    number = paper["identifiers"][0]["value"]
    address, _ = repository(ROOT)
    place = f"<a href={address!r}>{address}</a>, " if address else ""
    return (
        f'<header class="title"><p>{title}</p>'
        f"<div>An executable companion of<br>{authors}, <cite>{paper['title']}</cite>, "
        f'{paper["year"]}, <a href="{paper["url"]}">{number}</a></div>'
        f"<div>{date.today().isoformat()}<br>Made from {place}commit {commit(ROOT)}<br>"
        "The code and the downloads are in the book's web pages.</div></header>"
    )


def write_pdf(site: Path, target: Path) -> int:
    """Print the built book.

    Printed twice: the contents take their numbers from where the first print put each page.

    Parameters
    ----------
    site : Path
        From `companion.book.render.render_book`.
    target : Path
        The PDF.

    Returns
    -------
    int
        Number of sheets.

    Raises
    ------
    RuntimeError
        Without a built book, or without Chromium.
    """
    if not (site / "index.html").exists():
        raise RuntimeError(f"no book in {site}: `make book` comes first")
    browser = find_chromium()
    if not browser:
        raise RuntimeError(
            "no Chromium to print with: install Debian's `chromium` or set CHROMIUM=/its/path"
        )
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    form = {"prefer_css_page_size": True, "print_background": True, "outline": True, "tagged": True}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        document, printed = Path(folder, "book.html"), Path(folder, "book.pdf")
        document.write_text(join(site), encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=browser, args=flags)
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(300_000)
        page.emulate_media(media="print", color_scheme="light")
        page.goto(document.as_uri())
        page.evaluate("window.MathJax && MathJax.startup.promise.then(() => null)")
        page.evaluate(FIT, [WIDTH, HEIGHT])
        page.pdf(path=printed, **form)
        places = PdfReader(printed)
        found = places.named_destinations.items()
        numbers = {name: places.get_destination_page_number(place) + 1 for name, place in found}
        page.evaluate(NUMBER, numbers)
        page.pdf(path=printed, **form)
        chromium.close()
        target.parent.mkdir(exist_ok=True)
        shutil.move(printed, target)
    return len(PdfReader(target).pages)
