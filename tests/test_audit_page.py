"""The page that audits a file: equal numbers to Python's, by mouse, keyboard and paste."""

import pytest
from conftest import ROOT
from test_audit import BY_HAND, random_file
from test_site import SITE, browser, pytestmark  # noqa: F401

from companion.data.csv_predictions import read_predictions
from companion.page.audit import audit, text

PAGE = SITE / "book" / "audit.html"
SUMS = ("RPS", "center_mass", "hedging", "asked")
TWIN = "text => { const made = Audit.audit(Audit.read(text)); return made; }"


@pytest.fixture
def page(browser):  # noqa: F811
    page = browser.new_context(viewport={"width": 400, "height": 800}).new_page()
    page.set_default_timeout(120_000)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(PAGE.as_uri())
    page.wait_for_selector("#audit:not([hidden])")
    yield page
    assert page.faults == []
    page.context.close()


@pytest.mark.parametrize("k", [3, 4, 7, 11])
def test_the_browser_counts_as_python_does(page, tmp_path, k):
    for seed in range(3):
        (tmp_path / "my.csv").write_text(random_file(seed, k))
        made = audit(read_predictions(tmp_path / "my.csv"))
        there = page.evaluate(TWIN, (tmp_path / "my.csv").read_text())
        figures, found = (
            each.pop("metrics") | {name: each.pop(name) for name in ("hedging", "asked")}
            for each in (made, there)
        )
        assert made == there
        assert figures.keys() == found.keys()
        # sums of more than seven numbers are taken in another order
        near = 1e-12 if k > 7 else 0
        for name, figure in figures.items():
            tolerance = 1e-12 if name in SUMS else near
            wanted = pytest.approx(figure, rel=0, abs=tolerance, nan_ok=True)
            assert found[name] == wanted, name


def test_a_file_that_is_chosen_gives_what_the_terminal_prints(page, tmp_path):
    (tmp_path / "my.csv").write_text(BY_HAND)
    page.set_input_files("#audit-file", tmp_path / "my.csv")
    page.wait_for_selector("#audit-output table")
    made = audit(read_predictions(tmp_path / "my.csv"))
    assert made["sentence"] == page.locator("#audit-output > p").first.inner_text()
    printed = {line.split()[0]: line.split()[1:] for line in text(made).splitlines() if line}
    rows = page.locator("#audit-output table").first.locator("tbody tr").all_inner_texts()
    assert len(rows) == len(made["metrics"])
    for row in rows:
        name, value, low, high = row.split("\t")
        assert printed[name.replace(" ", "_")] == [value, low, "to", high]
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_pasted_text_is_audited_from_the_keyboard_and_a_mistake_is_named(page):
    page.fill("#audit-text", "true,predicted\n1,1\n3,2\n2,x\n")
    page.locator("#audit button").focus()
    page.keyboard.press("Enter")
    error = page.locator(".audit-error")
    assert "line 4, column 'predicted': 'x' is no whole number" in error.inner_text()
    labels = page.get_by_label("labels, lowest first")
    assert not labels.is_visible()
    page.fill("#audit-text", "true,predicted\nlow,low\nhigh,mid\n")
    page.locator("#audit button").press("Enter")
    assert "line 2, column 'true': 'low' is no whole number" in error.inner_text()
    assert labels.input_value() == "high, low, mid"
    assert labels.evaluate("field => field === document.activeElement")
    page.fill("#audit-text", "is\tsays\nlow\tmid\nhigh\thigh\nmid\tmid\n")
    page.get_by_label("column of true labels").fill("is")
    page.get_by_label("column of predicted labels").fill("says")
    labels.fill("low, mid, high")
    page.keyboard.press("Enter")
    page.wait_for_selector("#audit-output table")
    assert "the answer is mid, the center, for 50.0 %" in page.locator("#audit-output").inner_text()


def test_a_dropped_file_is_read(page):
    drop = """text => {
      const data = new DataTransfer();
      data.items.add(new File([text], "my.csv"));
      document.getElementById("audit").dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, BY_HAND)
    page.wait_for_selector("#audit-output table")
    assert "42.9 % of the samples of 1, 2, 4 and 5" in page.locator("#audit-output").inner_text()
    assert page.input_value("#audit-text") == BY_HAND


def test_the_page_is_readable_without_scripts(browser):  # noqa: F811
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(PAGE.as_uri())
    assert "amol audit" in page.locator("article noscript").inner_text()
    assert not page.locator("#audit").is_visible()
    page.context.close()
    assert "audit.js" not in (SITE / "book" / "rerun.html").read_text(encoding="utf-8")
    assert (ROOT / "book" / "_static" / "audit.js").exists()
