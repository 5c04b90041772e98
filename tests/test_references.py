"""Plain links of a notebook, as references of the book."""

import re
import sys
from urllib.parse import unquote

import pytest
from conftest import ROOT
from pybtex.database import parse_file
from pybtex.richtext import Text

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from references import bibliography, with_roles

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
    file = ROOT / "book" / "references.bib"
    sources, entries = bibliography(file), parse_file(str(file)).entries
    assert sources["https://arxiv.org/abs/2609.10752"] == "kandel2026"
    text = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "notebooks").glob("*.py"))
    cited = re.findall(
        r"\[([^\[\]]+?)[\s#]+\(?(\d{4})\)?\]\((https:[^()]+(?:\(\d+\)[^()]+)?)\)", text
    )
    assert len(cited) > 20
    for words, year, address in cited:
        entry = entries[sources[unquote(address)]]
        people = entry.persons["author"]
        names = [" ".join(p.prelast_names + p.last_names) for p in people]
        first, *others = (str(Text.from_latex(name)) for name in names)
        rest = {0: "", 1: f" and {others[-1]}" if others else ""}.get(len(others), " et al.")
        assert (" ".join(words.replace("#", "").split()), year) == (
            first + rest, entry.fields["year"]
        )  # fmt: skip
