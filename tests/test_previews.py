"""What links show of their targets, in the built book; `make book` comes first."""

import json

import pytest
from test_site import SITE, browser, pytestmark  # noqa: F401

METHOD = "notebooks/03_method.html"


@pytest.fixture
def open_page(browser):  # noqa: F811
    pages = []

    def open_page(name, **view):
        page = browser.new_context(viewport={"width": 1200, "height": 800}, **view).new_page()
        page.set_default_timeout(120_000)
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("requestfailed", lambda request: page.faults.append(request.url))
        page.goto((SITE / name).as_uri())
        page.wait_for_load_state("networkidle")
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        assert page.faults == []
        page.context.close()


def link(page, part):
    return page.locator(f".bd-article p a.reference.internal[href*='{part}']").first


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("#term-", "."),
        ("references.html#id", "20"),
        ("#fig-", "Figure"),
        ("#tab-", "Table"),
        ("#equation-", ""),
    ],
)
def test_a_link_shows_what_it_leads_to(open_page, part, shown):
    page = open_page(METHOD)
    link(page, part).hover()
    tip = page.locator("#preview")
    tip.wait_for(state="visible")
    assert shown in tip.inner_text()
    if part == "#fig-":
        page.wait_for_function("document.querySelector('#preview img').naturalWidth > 0")
    if part == "#equation-":
        page.locator("#preview mjx-container").wait_for()
    assert not tip.locator("a, [id]:not(mjx-container *)").count()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1200
    tip.hover()
    page.wait_for_timeout(400)
    assert tip.is_visible()
    page.mouse.move(1, 1)
    tip.wait_for(state="hidden")


def test_a_page_without_formulas_shows_one_and_a_table_its_first_rows(open_page):
    page = open_page("notebooks/08_conclusion.html")
    assert not page.locator("script[src*=mathjax]").count()
    page.locator("a[href*='#equation-eq-corrected']").first.hover()
    page.locator("#preview mjx-container").wait_for()
    link(page, "#tab-limits").hover()
    page.locator("#preview table").wait_for()
    assert page.locator("#preview tbody tr").count() == 6
    assert page.locator("#preview").inner_text().endswith("…")


def test_the_keyboard_opens_and_closes_it(open_page):
    page = open_page(METHOD, reduced_motion="reduce", color_scheme="dark")
    tip = page.locator("#preview")
    for _ in range(80):
        page.keyboard.press("Tab")
        if tip.is_visible():
            break
    active = "document.activeElement.getAttribute('aria-describedby')"
    assert tip.is_visible() and page.evaluate(active) == "preview"
    assert page.evaluate("getComputedStyle(document.getElementById('preview')).animationName") == (
        "none"
    )
    page.keyboard.press("Escape")
    assert not tip.is_visible() and page.evaluate(active) is None


def test_touch_follows_the_link_without_a_preview(open_page):
    page = open_page(METHOD, has_touch=True, is_mobile=True)
    link(page, "#tab-").tap()
    page.wait_for_timeout(500)
    assert not page.locator("#preview").is_visible()


def test_every_preview_has_text_and_a_page_to_lead_to():
    script = (SITE / "_static" / "previews_data.js").read_text(encoding="utf-8")
    found, _ = json.JSONDecoder().raw_decode(script.removeprefix("window.PREVIEWS = "))
    kinds = {name.partition("#")[2].partition("-")[0] for name in found}
    assert {"term", "fig", "tab", "equation"} <= kinds
    for name, html in found.items():
        page, _, anchor = name.partition("#")
        assert f'id="{anchor}"' in (SITE / page).read_text(encoding="utf-8")
        assert len(html) > 20 and "<a " not in html and "Download" not in html
