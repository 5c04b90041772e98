"""Plain Markdown links of a notebook, as references of the book.

A notebook's text has to read well without Sphinx, so it links with words of its own:

    [Figure strength](how_much_alpha.ipynb#fig-strength)   a figure's or table's number
    [(amol)](03_method.ipynb#eq-amol)                      an equation's number
    [hedges](../book/glossary.md#term-hedging)             a term of the glossary
    [Kandel (2026)](https://arxiv.org/abs/2609.10752)      what the bibliography holds
    ([Cohen 1968](https://doi.org/10.1037/h0026256))       the same in parentheses

and names an equation by an anchor before it and by its tag, ``<a id="eq-amol"></a>`` and
``\\tag{amol}``. Links to pages are MyST as they are.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

WORDS = r"(?:[^\[\]\\`]|\\.|`[^`]*`)+"
ADDRESS = r"(?:[^()\s]|\([^()\s]*\))+"
LINK = rf"\[({WORDS})\]\(({ADDRESS})\)"
SOURCE = rf"\[{WORDS}\s\d{{4}}[a-z]?\]\({ADDRESS}\)"
FENCED = r"^ *(?P<fence>`{3,})[^\n]*\n.*?^ *(?P=fence)"
CODE = rf"{FENCED}|(?<![`\\])(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
ANY = re.compile(
    rf"(?P<code>{CODE})|\((?P<sources>{SOURCE}(?:;\s{SOURCE})*)\)|(?<![!\\])(?P<link>{LINK})",
    re.DOTALL | re.MULTILINE,
)
EQUATION = re.compile(r'<a id="(eq-([\w-]+))"></a>\s+\$\$\n(.*?)\s*\\tag\{\2\}\n\$\$', re.DOTALL)
RESULT = re.compile(r"(?:[\w./-]+\.ipynb)?#((fig|tab|eq)-[\w-]+)")
TERM = re.compile(r"(?:[\w./-]*/)?glossary\.md#term-([\w-]+)")


def with_roles(text: str, sources: Mapping[str, str]) -> str:
    """MyST of a notebook's Markdown; code stays as it is.

    Parameters
    ----------
    text : str
    sources : mapping
        From `companion.page.citations.bibliography`.

    Raises
    ------
    ValueError
        For a link that reads like a citation of something that ``sources`` don't hold.
    """

    def key(words: str, address: str) -> str:
        if unquote(address) not in sources:
            raise ValueError(f"[{words}]({address}) isn't in the bibliography")
        return sources[unquote(address)]

    def role(found: re.Match) -> str:
        if found["code"]:
            return found[0]
        if found["sources"]:
            keys = [key(*link) for link in re.findall(LINK, found["sources"])]
            return f"{{cite:p}}`{','.join(keys)}`"
        words, address = re.fullmatch(LINK, found["link"], re.DOTALL).groups()
        if result := RESULT.fullmatch(address):
            return f"{{{'eq' if result[2] == 'eq' else 'numref'}}}`{result[1]}`"
        if term := TERM.fullmatch(address):
            return f"{{term}}`{' '.join(words.split())} <{term[1].replace('-', ' ')}>`"
        if re.search(r"\s\(\d{4}[a-z]?\)$", words):
            return f"{{cite:t}}`{key(words, address)}`"
        return found[0]

    return ANY.sub(role, EQUATION.sub(r"$$\n\3\n$$ (\1)", text))
