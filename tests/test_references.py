"""Plain links of a notebook, as references of the book."""

import re
import sys
from urllib.parse import unquote

import pytest
from conftest import ROOT

from companion.page.citations import bibliography, cited

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from references import with_roles

SOURCES = {
    "https://a.org/1": "kandel2026",
    "https://doi.org/10.1/x(1950)3<32::A>2": "youden1950",
    "https://doi.org/10.1/y": "cohen1968",
}


@pytest.mark.parametrize(
    ("plain", "book"),
    [
        ("[Figure a](#fig-a), [Table\nb-c](x.ipynb#tab-b-c)", "{numref}`fig-a`, {numref}`tab-b-c`"),
        ("[(amol)](../notebooks/03_method.ipynb#eq-amol)", "{eq}`eq-amol`"),
        ("[hedges](../book/glossary.md#term-center-class)", "{term}`hedges <center class>`"),
        ("[Kandel (2026)](https://a.org/1) says", "{cite:t}`kandel2026` says"),
        ("kappa ([Cohen 1968](https://doi.org/10.1/y))", "kappa {cite:p}`cohen1968`"),
        (
            "([Cohen\n1968](https://doi.org/10.1/y);\n"
            "[Youden 1950](https://doi.org/10.1/x(1950)3%3C32::A%3E2))",
            "{cite:p}`cohen1968,youden1950`",
        ),
        (
            'Is:\n\n<a id="eq-a-b"></a>\n\n$$\nx\n= y . \\tag{a-b}\n$$\n\nHere',
            "Is:\n\n$$\nx\n= y .\n$$ (eq-a-b)\n\nHere",
        ),
        ('<a id="eq-a"></a>\n\n$$\nx\n\\tag{a}\n$$', "$$\nx\n$$ (eq-a)"),
    ],
)
def test_each_kind_of_link(plain, book):
    assert with_roles(plain, SOURCES) == book


@pytest.mark.parametrize(
    "text",
    [
        "[Results](05_results.ipynb), [the paper](https://a.org/1), [here](../book/rerun.md)",
        "`[Figure a](#fig-a)` and ``a ` [Figure a](#fig-a)``",
        "```python\n[Figure a](#fig-a)\n```",
        r"\[Figure a](#fig-a), ![Figure a](#fig-a), \`KL\`",
        "| `KL` | 0.5 [1] (2) |",
    ],
)
def test_everything_else_stays(text):
    assert with_roles(text, SOURCES) == text


def test_escaped_backticks_are_no_code():
    assert with_roles(r"\`b\` [Figure a](#fig-a) \`", {}) == r"\`b\` {numref}`fig-a` \`"


@pytest.mark.parametrize("text", ["[Who (1999)](https://b.org)", "([Who 1999](https://b.org))"])
def test_a_citation_of_something_unknown_is_an_error(text):
    with pytest.raises(ValueError, match=r"\(https://b.org\) isn't in the bibliography"):
        with_roles(text, SOURCES)


def test_citations_name_author_and_year_as_the_bibliography_does():
    sources = bibliography()
    assert sources["https://arxiv.org/abs/2609.10752"] == "kandel2026"
    text = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "notebooks").glob("*.py"))
    found = re.findall(
        r"\[([^\[\]]+?)[\s#]+\(?(\d{4})\)?\]\((https:[^()]+(?:\(\d+\)[^()]+)?)\)", text
    )
    assert len(found) > 20
    for words, year, address in found:
        key = sources[unquote(address)]
        assert cited(key).startswith(f"[{' '.join(words.replace('#', '').split())} {year}](")


def test_each_entry_is_cited_by_a_link_that_leads_back_to_it():
    sources = bibliography()
    assert cited("cohen1968") == "[Cohen 1968](https://doi.org/10.1037/h0026256)"
    assert cited("diaz2019").startswith("[Díaz and Marathe 2019](")
    assert cited("delatorre2018").startswith("[de la Torre et al. 2018](")
    for key in set(sources.values()):
        assert with_roles(f"({cited(key)})", sources) == f"{{cite:p}}`{key}`"
