"""The built book as a reader's browser sees it; `make book` comes first."""

import functools
import http.server
import re
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from conftest import ROOT
from test_explorer import expected

from companion.book.pdf import find_chromium

SITE = ROOT / "_build" / "html"
CHROMIUM = find_chromium()
PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.glob("[!_]*/*.html"))
SCHEMES = ("light", "dark")
EXPLORER = "notebooks/explorer.html"

pytestmark = [
    pytest.mark.book,
    pytest.mark.skipif(not PAGES, reason="no book in _build/html: run `make book`"),
    pytest.mark.skipif(
        not CHROMIUM, reason="no Chromium: install Debian's `chromium` or set CHROMIUM=/its/path"
    ),
]


@pytest.fixture(scope="module")
def address():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


class Visit:
    """A page in a fresh window, with all that went wrong on it and all that it fetched."""

    def __init__(self, browser, address, width=1400):
        self.address, self.faults, self.weight = address, [], 0
        view = {"width": width, "height": 900}
        context = browser.new_context(viewport=view, reduced_motion="reduce")
        self.page = context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("response", self._response)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _request(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"outside request: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")
        file = SITE / unquote(urldefrag(response.url)[0][len(self.address) :].partition("?")[0])
        self.weight += file.stat().st_size if file.is_file() else 0

    def open(self, name):
        self.page.goto(self.address + name)
        self.page.wait_for_load_state("networkidle")
        if self.page.locator(".math").count():
            self.page.wait_for_function("!document.querySelector('.math:not(:has(mjx-container))')")
        return self.page

    def color(self, scheme):
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_selector(f"html[data-theme={scheme}]")

    def close(self):
        self.page.context.close()


@pytest.fixture
def visit(browser, address):
    visits = []

    def start(*view):
        visits.append(Visit(browser, address, *view))
        return visits[-1]

    yield start
    for each in visits:
        each.close()


WIDER = """() => [...document.querySelectorAll('body *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.tagName + '.' + e.className).slice(0, 5)"""
BARE_IMAGES = """() => [...document.images]
  .filter(i => !i.closest('.header-article-items') && !(i.alt || '').trim() || !i.naturalWidth)
  .map(i => i.src)"""
BLANK_ICONS = """() => [...document.querySelectorAll('.fas, .fa-solid, .fab, .fa-brands')]
  .filter(i => ['none', ''].includes(getComputedStyle(i, '::before').content))
  .map(i => i.className)"""


# Figures that don't offer their three files, and on a phone those whose text (of 13 points, in a
# drawing 4.5 inches wide) is smaller than the page's 16 px.
POOR_FIGURES = """() => [...document.querySelectorAll('.bd-article figure')].filter(f => {
  const links = [...f.querySelectorAll('a[download]')].map(a => a.href.split('.').pop());
  const image = f.querySelector('img'), phone = innerWidth < 600;
  return !['svg', 'pdf', 'csv'].every(kind => links.includes(kind))
    || phone && image.naturalWidth == 432 && image.width > 0 && image.width * 13 / (4.5 * 72) < 16;
}).map(f => f.id)"""
# Tables that have to be scrolled sideways: on a phone those with the paper's numbers beside ours.
SCROLLED = """() => [...document.querySelectorAll(
    innerWidth < 600 ? "table:has(tr.paper)" : "table.table")]
  .filter(t => t.parentElement.scrollWidth > t.parentElement.clientWidth).map(t => t.id)"""


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_page_is_sound(visit, name, width):
    seen = visit(width)
    page = seen.open(name)
    for scheme in SCHEMES:
        seen.color(scheme)
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, page.evaluate(WIDER)
    assert page.evaluate(BARE_IMAGES) == []
    assert page.evaluate(BLANK_ICONS) == []
    assert page.evaluate(POOR_FIGURES) == []
    assert page.evaluate(SCROLLED) == []
    assert page.locator("mjx-merror").count() == 0
    assert page.locator(".bd-article h1").count() == 1
    assert seen.faults == []
    assert seen.weight < (1e6 if name == "book/index.html" else 3e6)


@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible(visit, name):
    from axe_playwright_python.sync_playwright import Axe

    seen = visit()
    page = seen.open(name)
    for scheme in SCHEMES:
        seen.color(scheme)
        serious = {
            found["id"]: [node["html"][:200] for node in found["nodes"]][:3]
            for found in Axe().run(page).response["violations"]
            if found["impact"] in ("serious", "critical")
        }
        assert serious == {}, scheme


def test_links_and_anchors_resolve(visit):
    seen = visit()
    anchors, links = {}, []
    for name in ["index.html", "search.html", "genindex.html", *PAGES]:
        page = seen.page if name == "index.html" else seen.open(name)
        if name == "index.html":
            page.goto(seen.address + name)
            page.wait_for_url("**/book/index.html")
            continue
        found = "e => e.map(a => a.getAttribute('href'))"
        links += [(name, href) for href in page.eval_on_selector_all("a[href]", found)]
        anchors[name] = set(page.eval_on_selector_all("[id]", "e => e.map(a => a.id)"))
    for name, href in links:
        path, anchor = urldefrag(urljoin(seen.address + name, href))
        if path.startswith(seen.address):
            target = unquote(path[len(seen.address) :]) or "index.html"
            assert (SITE / target).is_file(), (name, href)
            assert not anchor or anchor in anchors.get(target, {anchor}), (name, href)


def test_search_finds_hedging(visit):
    seen = visit()
    seen.open("search.html?q=hedging")
    seen.page.wait_for_selector("#search-results li a")
    assert seen.page.locator("#search-results li").count() >= 3
    assert not seen.faults


def test_everything_is_in_reach_of_the_keyboard(visit):
    seen = visit()
    page = seen.open(next(name for name in PAGES if "05_results" in name))
    focus = "document.activeElement.closest('{}') !== null"
    page.keyboard.press("Tab")
    assert page.evaluate(focus.format("#pst-skip-link"))
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.endswith("#main-content"))
    for fold in ("details.rerun", "details.hide"):
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate(focus.format(f"{fold} > summary")):
                break
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.open"), fold
    page.keyboard.press("Control+k")
    page.keyboard.type("hedging")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=hedging")
    page.wait_for_selector("#search-results li a")
    assert not seen.faults


def test_code_unfolds_and_downloads_download(visit):
    seen = visit()
    page = seen.open(next(name for name in PAGES if "05_results" in name))
    code = page.locator("details.hide .cell_input").first
    assert not code.is_visible()
    page.locator("details.hide summary").first.click()
    assert code.is_visible()
    links = page.locator("a[download]").all()
    kinds = {Path(link.get_attribute("href")).suffix: link for link in links}  # one of each
    assert kinds.keys() == {".csv", ".tex", ".svg", ".pdf"}
    for link in kinds.values():
        with page.expect_download() as started:
            link.click()
        assert Path(started.value.path()).stat().st_size > 20, link.get_attribute("href")


def dots(page, figure, change):
    """What the dots of a live chart say after a change of its inputs that alters them."""
    circles = f"#{figure} .chart-view [aria-roledescription=circle]"
    read = f"[...document.querySelectorAll('{circles}')].map(e => e.ariaLabel).join('|')"
    before = page.evaluate(read)
    change()
    page.wait_for_function(f"before => {read} !== before", arg=before)
    return page.evaluate(read).split("|")


def test_sliders_change_the_chart_as_the_package_would(visit):
    seen = visit()
    page = seen.open(EXPLORER)
    for name in ("number of classes K", "true label y", "strength α", "width σ", "probability"):
        slider = page.get_by_label(name)
        dots(page, "fig-explorer-loss", lambda slider=slider: slider.press("ArrowRight"))
    variant = page.get_by_label("variant")
    said = dots(page, "fig-explorer-loss", lambda: variant.select_option("AMOL-exp"))
    assert said == expected("AMOL-exp", classes=8, label=1, alpha=1.1, sigma=1.1, share=0.81)
    assert seen.faults == []


def test_filters_change_the_results_and_a_dot_names_its_seed(visit):
    seen = visit(400)
    page = seen.open(EXPLORER)
    figure = "fig-explorer-results"
    box = page.get_by_label("AMOL-OLL", exact=True)
    assert any("AMOL-OLL" in text for text in dots(page, figure, box.check))
    for name, option in {"metric": "MAE", "dataset": "Synthetic"}.items():
        choice = page.locator(f"#{figure} select[name={name}]")
        dots(page, figure, lambda choice=choice, option=option: choice.select_option(option))
    page.locator(f"#{figure} [aria-roledescription=circle]").last.hover()
    page.locator("#vg-tooltip-element", has_text="seed").wait_for()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    image, chart = page.locator(f"#{figure} > img"), page.locator(f"#{figure} .chart")
    assert chart.is_visible() and not image.is_visible()
    page.emulate_media(media="print")
    assert image.is_visible() and not chart.is_visible()
    assert seen.faults == []


def test_charts_are_figures_without_scripts(browser):
    charts = {EXPLORER: 2, "notebooks/how_many_sets.html": 1, "notebooks/hundred_sets.html": 1}
    drawn = [name for name in PAGES if "vega.js" in (SITE / name).read_text(encoding="utf-8")]
    assert drawn == list(charts)
    page = browser.new_context(java_script_enabled=False).new_page()
    for name in drawn:
        page.goto((SITE / name).as_uri())
        images = page.locator("figure > img").all()
        assert len(images) == charts[name] and page.locator(".chart").count() == 0
        assert all(image.bounding_box()["height"] > 200 for image in images), name
    page.context.close()


def test_works_from_the_folder(browser):
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    icon = re.compile(r"favicon\.svg$")  # a browser stops loading it when the page is left
    page.on("requestfailed", lambda r: None if icon.search(r.url) else faults.append(r.url))
    for name in PAGES:
        page.goto((SITE / name).as_uri())
        page.wait_for_load_state("networkidle")
        assert faults == [], name
    page.goto((SITE / "search.html").as_uri() + "?q=hedging")
    page.wait_for_selector("#search-results li:nth-child(3) a")
    page.wait_for_timeout(500)
    assert faults == []
    page.context.close()
