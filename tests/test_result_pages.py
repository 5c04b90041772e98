"""What the book's extension `results` does to finished pages."""

import sys
from types import SimpleNamespace

from conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import results


def finished(tmp_path, body: str) -> str:
    page = tmp_path / "notebooks" / "page.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text(body, encoding="utf-8")
    app = SimpleNamespace(builder=SimpleNamespace(name="html"), outdir=str(tmp_path))
    results.finish(app, None)
    return page.read_text(encoding="utf-8")


def test_a_phone_gets_the_narrow_form_of_a_figure_that_has_one(tmp_path):
    figures = tmp_path / "results" / "figures"
    figures.mkdir(parents=True)
    (figures / "fig-a.narrow.svg").touch()
    image = '<img alt="a" src="../_images/123.svg" />'
    has, lacks = (f'<figure class="c" id="{name}">\n{image}' for name in ("fig-a", "fig-b"))
    page = finished(tmp_path, has + lacks)
    source = '<source media="(max-width: 600px)" srcset="../results/figures/fig-a.narrow.svg"/>'
    assert page == has.replace(image, f"<picture>{source}{image}</picture>") + lacks


def test_cells_that_hold_a_verdict_and_nothing_else_are_marked(tmp_path):
    cells = '<td class="l"><p>not reproduced</p></td><td>undecided</td><td><p>undecided so far</p>'
    assert finished(tmp_path, cells) == (
        '<td data-verdict="not reproduced" class="l"><p>not reproduced</p></td>'
        '<td data-verdict="undecided">undecided</td><td><p>undecided so far</p>'
    )
