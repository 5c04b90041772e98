"""The belief that a reader drags: the library's answers, in time, from mouse and keyboard."""

import numpy as np
import pytest
import torch
from conftest import ROOT
from test_site import CHROMIUM, browser  # noqa: F401 (a fixture)

from amol.losses import LOSSES, minimize_risk
from companion.theory.beliefs import READINGS
from companion.theory.properties import properties

pytestmark = [
    pytest.mark.book,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium: install it or set CHROMIUM=/its/path"),
]
FILES = ROOT / "book" / "_static"
SCRIPT = FILES / "beliefs.js"
BARE = """<!doctype html><html data-theme="light"><meta charset="utf-8"><title>bare</title>
<link rel="stylesheet" href="{css}">
<article class="bd-article"><figure id="fig-belief"><img alt=""></figure></article>
<script src="{script}"></script></html>"""
SHOWN = (
    "AMOL", "AMOL-asym", "AMOL-exp", "KL (AMOL without weight)", "CE, EMD2, CLM",
    "CE-balanced, LogitAdj, AMOL-CE", "CE-masked", "CORN, CORAL", "OLL", "AMOL-OLL",
    "OLL-Castagnos", "CDW-CE", "SORD", "Exponential", "Triangular", "Binomial", "Poisson", "Beta",
)  # fmt: skip
TWINS = [(shown, name) for shown in SHOWN for name in shown.partition(" (")[0].split(", ")]
STATIC = {"Focal", "SLACE", "SLACE-prox"}  # have no closed form: in the picture alone
DECISIONS = {
    "decision: fewest errors": "mode",
    "decision: least |error|": "median",
    "decision: least error²": "rounded mean",
}


@pytest.fixture
def page(browser, tmp_path):  # noqa: F811
    made = browser.new_context(viewport={"width": 400, "height": 900}).new_page()
    made.faults = []
    made.on("pageerror", lambda error: made.faults.append(str(error)))
    made.on("request", lambda request: made.faults.append(request.url)
            if not request.url.startswith("file:") else None)  # fmt: skip
    bare = tmp_path / "bare.html"
    links = {"css": (FILES / "custom.css").as_uri(), "script": SCRIPT.as_uri()}
    bare.write_text(BARE.format(**links), encoding="utf-8")
    made.goto(bare.as_uri())
    made.wait_for_selector(".beliefs")
    yield made
    assert made.faults == []
    made.context.close()


def test_every_loss_there_is_one_here(page):
    names = page.evaluate("Object.keys(BELIEFS.LOSSES)")
    assert names == [*SHOWN, *DECISIONS]
    assert {name for _, name in TWINS} | STATIC == set(properties())


@pytest.mark.parametrize(("shown", "name"), TWINS)
def test_the_browser_answers_as_the_library_does(page, shown, name):
    uses = page.evaluate("name => BELIEFS.LOSSES[name].uses", shown)
    drawn = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    drawn[:3] = np.eye(3)
    for alpha, sigma in ((1, 1), (0, 0.5), (4, 3), (2.35, 0.3)):
        settings = {"alpha": alpha, "sigma": sigma}
        own = {key: settings[key] for key in uses}
        asked = minimize_risk(LOSSES[name](num_classes=3, **own), drawn)
        there = page.evaluate(
            "([name, settings, all]) => all.map((b) => BELIEFS.answer(name, settings, b))",
            [shown, settings, drawn.tolist()],
        )
        labels, p = zip(*there, strict=True)
        np.testing.assert_allclose(p, asked.probabilities, atol=1e-12)
        top = torch.topk(asked.probabilities, 2).values
        clear = ((top[:, 0] - top[:, 1]) > 1e-9).numpy() | (name in ("CORN", "CORAL"))
        assert (np.array(labels) == asked.labels.numpy())[clear].all()


def test_decisions_are_the_readings_of_a_belief(page):
    counts = np.random.default_rng(0).integers(0, 50, (80, 3))
    for shown, reading in DECISIONS.items():
        there = page.evaluate(
            "([name, all]) => all.map((b) => BELIEFS.answer(name, {}, b)[0])",
            [shown, (counts / counts.sum(1, keepdims=True)).tolist()],
        )
        here = READINGS[reading](counts)
        assert (np.array(there) == here)[here >= 0].all()


def test_a_drag_is_answered_at_once(page):
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    took = []
    page.mouse.move(box["x"] + 60, box["y"] + 250)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(box["x"] + 60 + 4 * step, box["y"] + 250 - 3 * step)
        took.append(float(canvas.get_attribute("data-milliseconds")))
    page.mouse.up()
    assert max(took) < 50
    text = page.locator(".belief-shown [role=status]").inner_text()
    assert text.startswith("Answer: ") and "Most probable: " in text
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_sliders_move_loss_and_belief_from_the_keyboard(page):
    said, share = page.locator("[role=status]"), page.locator(".belief-shown p").first
    page.select_option("select", "KL (AMOL without weight)")
    assert share.inner_text() == "“center” is answered on 75 % of all beliefs."
    assert page.locator(".belief-form input").first.is_disabled()  # it has no α
    page.select_option("select", "decision: least |error|")
    assert "on 50 %" in share.inner_text()
    page.select_option("select", "AMOL")
    assert "on 12 %" in share.inner_text()
    for _ in range(80):
        page.locator(".belief-form input").first.press("ArrowRight")
    assert "on 1 %" in share.inner_text()  # α = 4
    page.locator(".belief-sliders input").nth(1).press("End")
    assert said.inner_text() == "Answer: center. Most probable: center."
    page.locator(".belief-sliders input").nth(0).press("End")
    assert said.inner_text() == "Answer: low. Most probable: low."


def test_it_is_small_and_gives_way_on_paper(page):
    assert SCRIPT.stat().st_size < 200_000
    assert not page.locator("figure > img").is_visible()
    page.emulate_media(media="print")
    assert page.locator("figure > img").evaluate("e => getComputedStyle(e).display") == "block"
    assert not page.locator(".beliefs").is_visible()
