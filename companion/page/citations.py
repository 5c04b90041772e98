"""Citations of the book's bibliography, as links that read well without it."""

from functools import cache
from pathlib import Path

from pybtex.database import Entry, parse_file
from pybtex.richtext import Text

from companion.paths import ROOT

FILE = ROOT / "book" / "references.bib"


@cache
def _entries(file: Path) -> dict[str, Entry]:
    return dict(parse_file(str(file)).entries)


def _addresses(entry: Entry) -> list[str]:
    starts = {"doi": "https://doi.org/", "url": "", "eprint": "https://arxiv.org/abs/"}
    return [start + entry.fields[name] for name, start in starts.items() if name in entry.fields]


@cache
def bibliography(file: Path = FILE) -> dict[str, str]:
    """Keys of the entries by their addresses."""
    return {a: key for key, entry in _entries(file).items() for a in _addresses(entry)}


def cited(key: str, file: Path = FILE) -> str:
    """Markdown: an entry's authors and year as a link, ``[Cohen 1968](https://doi.org/…)``."""
    entry = _entries(file)[key]
    names = [
        str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names])))
        for person in entry.persons["author"]
    ]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    address = _addresses(entry)[0].replace("<", "%3C").replace(">", "%3E")
    return f"[{who} {entry.fields['year']}]({address})"
