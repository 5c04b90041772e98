"""Sentences of a page: what holds for its data stands there, else another or none."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from IPython.display import display

COLUMNS = ["page", "sentence", "holds", "text"]
PLACES = ("", "title", "heading")  # of a paragraph on a page of the book
Sentence = str | tuple  # text, or (holds, text), or (holds, text, otherwise)


def chosen(sentences: Sequence[Sentence]) -> tuple[str, list[dict]]:
    """The text of what stands, and a record of every sentence with a condition."""
    texts, records = [], []
    for sentence in sentences:
        holds, text, *other = sentence if isinstance(sentence, tuple) else (True, sentence)
        texts.append(text if holds else "".join(other))
        if isinstance(sentence, tuple):
            records.append({"sentence": text, "holds": bool(holds), "text": texts[-1]})
    return " ".join(filter(None, texts)), records


def say(*sentences: Sentence, name: str = "", below: str = "") -> None:
    """Display a paragraph of sentences, each of which stands if it holds for the data.

    Nothing fails where one doesn't hold, but `sentences` lists it.

    Parameters
    ----------
    *sentences : str or tuple
        Text without a condition, or ``(holds, text)`` or ``(holds, text, otherwise)``: whether the
        data say what ``text`` says (anything comparable with NaN is False), and what is true where
        they don't, if there is anything to say. Markdown.
    name : str
        For a page outside ``notebooks``, which places the text, plain, as
        ``{glue:text}`path::name:s` ``.
    below : {"", "title", "heading"}
        What the book puts the paragraph below, such as a summary that the whole page computes: the
        page's title, or the last heading. A notebook shows it where it is said.

    Raises
    ------
    ValueError
        For another place.
    """
    if below not in PLACES:
        raise ValueError(f"below is {below!r}; allowed: {', '.join(map(repr, PLACES))}")
    text, records = chosen(sentences)
    if name:  # elsewhere it stands as plain text
        show_numbers(**{name: re.sub(r"\\(?=[\W_])", "", text)})
    if text or records:
        show_markdown(text, sentences=records, **({"below": below} if below else {}))


def show_markdown(text: str, **metadata: object) -> None:
    """Display Markdown, with what the book has to know about it as the output's metadata."""
    display({"text/markdown": text, "text/plain": text}, metadata=metadata, raw=True)


def show_numbers(**numbers: object) -> None:
    """Keep numbers and words for pages outside ``notebooks``: ``{glue:text}`path::key` ``."""
    from myst_nb import glue  # slow to load

    for key, number in numbers.items():
        glue(key, number, display=False)


def sentences(folder: Path) -> pd.DataFrame:
    """Sentences with a condition, of the executed notebooks in a folder.

    Returns
    -------
    DataFrame
        One row per sentence, with columns page, sentence (as expected), holds (bool) and text (what
        stands on the page). At default parameters every sentence should hold.
    """
    rows = []
    for path in sorted(folder.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in (o for cell in cells for o in cell.get("outputs", [])):
            for record in output.get("metadata", {}).get("sentences", []):
                rows.append({"page": path.stem, **record})
    return pd.DataFrame(rows, columns=COLUMNS).astype({"holds": bool})
