"""Sentences under test: each holds for the data of its page, or another stands in its place."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

COLUMNS = ["page", "sentence", "holds", "text"]


@dataclass(frozen=True)
class _Sentence:
    """What a page keeps of a sentence: its text, and whether the expected one holds."""

    text: str
    holds: bool

    def _repr_mimebundle_(self, **_) -> tuple[dict, dict]:
        data = {"text/plain": repr(self.text), "text/markdown": self.text}
        return data, {"sentence": {"holds": self.holds}}


def say(name: str, holds: bool, text: str, otherwise: str = "") -> None:
    """Keep a sentence for the page's text if it holds for the data, else another or none.

    The page places it as ``{glue:md}`name` ``, with roles as ``{glue:md}`name:myst` ``; another
    page places text without markup as ``{glue:text}`path::name:s` ``. Nothing fails where it
    doesn't hold, but `sentences` lists it.

    Parameters
    ----------
    name : str
        Not used by another result, number or sentence of the page.
    holds : bool
        Whether the data say what ``text`` says; anything comparable with NaN is False.
    text : str
        May hold inline Markdown.
    otherwise : str
        What is true where ``text`` isn't, if there is anything to say.
    """
    from myst_nb import glue  # slow to load

    glue(name, _Sentence(text if holds else otherwise, bool(holds)), display=False)


def sentences(folder: Path) -> pd.DataFrame:
    """Sentences of the executed notebooks in a folder.

    Returns
    -------
    DataFrame
        One row per sentence, with columns page, sentence, holds (bool) and text (what stands on
        the page). At default parameters every sentence should hold.
    """
    rows = []
    for path in sorted(folder.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in (o for cell in cells for o in cell.get("outputs", [])):
            kept = output.get("metadata", {})
            if "sentence" in kept:
                text = next(v for k, v in output["data"].items() if k.endswith("markdown"))
                name, holds = kept["scrapbook"]["name"], kept["sentence"]["holds"]
                rows.append((path.stem, name, holds, "".join(text)))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"holds": bool})
