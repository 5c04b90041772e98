"""The table loss × property of what losses ask for, read from `files/properties.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

COLUMNS = {
    "proper": "strictly proper",
    "map": "map back to the belief",
    "label": "label",
    "monotone": "monotone",
    "center": "answers “center” though an end is most probable, % at K = 3, 5, 7, 10",
}


class Cell(NamedTuple):
    """One property of one loss."""

    word: str
    why: str  # Markdown
    evidence: dict  # what a test recomputes: witness, twins, not, percent


@cache
def properties() -> dict[str, dict[str, Cell]]:
    """A cell for each loss with a risk at one x and each of `COLUMNS`."""
    source = files("companion.theory").joinpath("files/properties.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    texts = table.pop("texts")
    return {
        name: {
            column: _cell(dict(cells[column]), texts)
            for column in COLUMNS
        }
        for name, cells in table.items()
    }  # fmt: skip


def _cell(entry: dict, texts: dict[str, str]) -> Cell:
    why = entry.pop("why")
    word = entry.pop("word", None) or " · ".join(f"{v:.0f}" for v in entry["percent"])
    return Cell(word, texts.get(why, why), entry)
