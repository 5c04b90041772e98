"""Results of a page: tables and figures with their captions and files."""

import base64
import re

import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from companion.page import figures, tables
from companion.page.sentences import Sentence, chosen, show_markdown
from companion.page.style import PNG_SCALE

KINDS = {"fig": "Figure", "tab": "Table"}


def show(
    label: str,
    result,
    caption: str | list[Sentence],
    alt: str | list[Sentence] = "",
    data: pd.DataFrame | None = None,
    fold: str = "",
) -> None:
    """Display a table, figure or live chart with its caption, and write its files.

    Other text refers to it by its name, ``[Table qwk](#tab-qwk)``, which the book makes a number.

    Parameters
    ----------
    label : str
        ``tab-…`` or ``fig-…``; also the name of the files.
    result : DataFrame of str, tables.Table, Figure or altair chart
    caption : str or list
        Markdown; a list holds sentences as `say` takes them.
    alt : str or list
        What a figure shows, for those who can't see it; without its markup.
    data : DataFrame, optional
        What the CSV file holds: of a figure what is drawn; of a table its numbers in full, by
        default its cells.
    fold : str
        Words under which a long table is folded.

    Raises
    ------
    ValueError
        For a label of another form, and for a figure without ``alt``.
    """
    kind, _, name = label.partition("-")
    if kind not in KINDS or not name:
        raise ValueError(f"the label is {label!r}; allowed: fig-… or tab-…")
    if kind == "fig" and not alt:
        raise ValueError(f"{label} has no alt text")
    (text, records), (alt, _) = (chosen([t] if isinstance(t, str) else t) for t in (caption, alt))
    alt = re.sub(r"\\(?=[\W_])|[*`]", "", tables.without_links(alt))
    grid = ""
    if kind == "tab":
        table = tables.Table(result, data=data) if isinstance(result, pd.DataFrame) else result
        tables.save(label, table)
        text, grid = f"{text} {table.caption}".strip(), f"\n\n{table.grid()}"
    else:
        _show_figure(label, result, alt, data)
    heading = f'<a id="{label}"></a>**{KINDS[kind]} {name}.** '
    about = {"label": label, "caption": text}
    about |= {name: words for name, words in (("alt", alt), ("fold", fold)) if words}
    shown = f"{heading}{text}{grid}"
    show_markdown(folded(shown, fold) if fold else shown, result=about, sentences=records)


def folded(text: str, words: str) -> str:
    """Markdown folded under some words."""
    return f'<details class="fold"><summary>{words}</summary>\n\n{text}\n\n</details>'


def _show_figure(label: str, result, alt: str, data: pd.DataFrame) -> None:
    """Display a figure as an image, which viewers show of notebooks that nobody trusts, too."""
    if isinstance(result, Figure):
        bundle = figures.save(label, result, data)
    else:
        from companion.page import live_charts  # slow to load

        bundle = live_charts.save(label, result, data)
    png = bundle["image/png"]
    width = int(int.from_bytes(png[16:20]) / PNG_SCALE)  # as PNG's header has it
    bundle |= {"image/png": base64.b64encode(png).decode(), "text/plain": alt}
    metadata = {"drawing": label, "image/png": {"width": width, "alt": alt}}
    display(bundle, metadata=metadata, raw=True)
