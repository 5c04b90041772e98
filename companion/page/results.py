"""Results of a page: tables and figures with their files, and the numbers of its sentences."""

import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from companion.page import figures, tables


def show(label: str, result, data: pd.DataFrame | None = None) -> None:
    """Display a table, figure or live chart, write its files, and keep it for the page's text.

    The page places it by the same label: ```` ```{result} <label> ````, with the caption inside.

    Parameters
    ----------
    label : str
        ``tab-…`` or ``fig-…``; also the name of the files and the target of ``{numref}``.
    result : DataFrame of str, tables.Table, Figure or altair chart
    data : DataFrame, optional
        What the CSV file holds: of a figure what is drawn; of a table its numbers in full, by
        default its cells.
    """
    from myst_nb import glue  # slow to load

    if isinstance(result, pd.DataFrame):
        result = tables.Table(result, data=data)
    if isinstance(result, tables.Table):
        tables.save(label, result)
    elif isinstance(result, Figure):
        result = figures.save(label, result, data)
    else:
        from companion.page import live_charts  # slow to load

        glue(label, live_charts.save(label, result, data), display=False)
        display(result)
        return
    glue(label, result)


def show_numbers(**numbers: object) -> None:
    """Keep numbers and words for the page's sentences, which name them as ``{glue:text}`key```."""
    from myst_nb import glue  # slow to load

    for key, number in numbers.items():
        glue(key, number, display=False)
