"""Tables that set ours beside the paper's: tidy frame in, text, Markdown and files out.

`summarize` turns one row per run into one row per mean; `compare` lays those out as the paper does;
`comparison` adds a caption, and `save` writes a table to disk.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from amol.metrics import HIGHER_IS_BETTER
from companion.page.source import write_csv
from companion.paper.published import published
from companion.paths import results_dir

DASH = "–"
DIGITS = 3
HEADINGS = {
    "accuracy": "Accuracy",
    "center_mass": "Center mass",
    "center_rate": "Center rate",
    "center_recall": "Center recall",
    "end_recall": "End recall",
    "extreme_recall": "Extreme recall",
}

# What MyST or LaTeX would read as more than a character.
MARKUP = r"([\\`*_{}\[\]<>&$|~^])"
LATEX = {
    **{c: f"\\{c}" for c in "&%#_{}$"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def literal(text: str) -> str:
    """Text that isn't ours, such as a file's name, so that a table or caption shows it as it is."""
    return re.sub(MARKUP, r"\\\1", " ".join(text.split()))


def _unescaped(text: str) -> str:
    """Undo `literal`."""
    return re.sub(rf"\\{MARKUP}", r"\1", text)


def summarize(runs: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Mean and standard deviation over seeds, beside the paper's.

    Parameters
    ----------
    runs : DataFrame
        One row per run, with columns dataset, method, seed and every name in ``metrics``.
    metrics : sequence of str

    Returns
    -------
    DataFrame
        One row per (dataset, method, metric), in the order of ``runs``: mean, std (ddof 1, NaN for
        one seed), count, paper_mean and paper_std (NaN where the paper prints none).
    """
    keys = ["dataset", "method", "metric"]
    long = runs.melt(["dataset", "method", "seed"], list(metrics), "metric")
    summary = long.groupby(keys, sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    paper = [published(*key) or (np.nan, np.nan) for key in summary[keys].itertuples(index=False)]
    summary[["paper_mean", "paper_std"]] = np.array(paper, dtype=float).reshape(-1, 2)
    return summary


def mean_std(mean: float, std: float) -> str:
    """``0.735 ± 0.003``; a dash for a missing part. The line may break before ``±`` alone."""
    if np.isnan(mean):
        return DASH
    return f"{mean:.{DIGITS}f} ±\N{NO-BREAK SPACE}" + (
        DASH if np.isnan(std) else f"{std:.{DIGITS}f}"
    )


def printed(mean: float, std: float) -> str:
    """As `mean_std`, but a number that the paper prints without ± stays as it is printed there."""
    return mean_std(mean, std) if np.isnan(mean) or not np.isnan(std) else f"{mean:.2f}"


def value(summary: pd.DataFrame, dataset: str, method: str, metric: str, column="mean") -> float:
    """One number of ``summary``; NaN where it has no such row."""
    keys = ["dataset", "method", "metric"]
    found = summary.set_index(keys)[column].get((dataset, method, metric))
    return np.nan if found is None else float(found)


def quote(summary: pd.DataFrame, dataset: str, method: str, metric: str, paper=False) -> str:
    """Text of one cell, for prose: ours, or the paper's; a dash where there is none."""
    form, prefix = (printed, "paper_") if paper else (mean_std, "")
    return form(*(value(summary, dataset, method, metric, prefix + c) for c in ("mean", "std")))


def best_mask(summary: pd.DataFrame, column: str = "mean") -> pd.Series:
    """True where a row is best, or tied at the printed digits, in its data set and metric.

    A number without a rival is not called best.
    """
    sign = summary["metric"].map(HIGHER_IS_BETTER).map({True: 1, False: -1})
    score = (summary[column] * sign).round(DIGITS)
    rivals = score.groupby([summary["dataset"], summary["metric"]])
    return (score == rivals.transform("max")) & (rivals.transform("count") > 1)


def as_printed(summary: pd.DataFrame, columns: str = "dataset") -> pd.DataFrame:
    """Lay a summary out as the paper does: one row per method, and the paper's row under it.

    Parameters
    ----------
    summary : DataFrame
        From `summarize`; one metric where ``columns`` is "dataset".
    columns : {"dataset", "metric"}
        What runs across. With "metric" and several data sets, rows name both.

    Returns
    -------
    DataFrame of str
        Best cells in bold (Markdown), ours and the paper's apart. A method without any published
        number has no second row.
    """
    rows, datasets = summary["method"].map(literal), summary["dataset"].map(literal)
    if columns == "metric" and datasets.nunique() > 1:
        rows = datasets + ", " + rows
    metrics = summary["metric"].map(lambda name: HEADINGS.get(name, name))
    across = metrics if columns == "metric" else datasets

    def grid(cells: list[str], best: pd.Series) -> pd.DataFrame:
        bold = [f"**{c}**" if b else c for c, b in zip(cells, best, strict=True)]
        tidy = pd.DataFrame({"Method": rows, "across": across, "cell": bold})
        wide = tidy.pivot(index="Method", columns="across", values="cell")
        return wide.reindex(index=rows.unique(), columns=across.unique()).fillna(DASH)

    ours = grid(
        [mean_std(*p) for p in summary[["mean", "std"]].to_numpy()], best_mask(summary, "mean")
    )
    paper = grid(
        [printed(*p) for p in summary[["paper_mean", "paper_std"]].to_numpy()],
        best_mask(summary, "paper_mean") & summary["paper_std"].notna(),  # as it prints them bold
    )
    paper = paper[(paper != DASH).any(axis=1)].rename(lambda name: f"{name}, paper")
    order = [label for name in ours.index for label in (name, f"{name}, paper")]
    both = pd.concat([ours, paper])
    both = both.loc[[label for label in order if label in both.index]]
    return both.rename_axis(index="Method", columns=None)


@dataclass(frozen=True)
class Table:
    """Cells as a page shows them, their index as the first column.

    Attributes
    ----------
    cells : DataFrame of str
        May hold Markdown.
    caption : str
        What the caption says beyond the page's own text.
    data : DataFrame or None
        What the CSV file holds instead of the cells, such as numbers in full precision.
    """

    cells: pd.DataFrame
    caption: str = ""
    data: pd.DataFrame | None = None

    def grid(self) -> str:
        """The cells as a Markdown table."""
        cells = self.cells.map(_in_cell).rename(index=_in_cell, columns=_in_cell)
        return cells.to_markdown(colalign=_alignment(self.cells), disable_numparse=True)


def save(label: str, table: Table) -> None:
    """Write ``tables/<label>.csv`` and ``.tex`` to the results folder."""
    folder = results_dir() / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    plain, data = table.cells.reset_index().map(lambda cell: _plain(str(cell))), table.data
    if data is None:
        data = plain.map(lambda cell: _unescaped(cell.replace("**", "")))
        data = data.rename(columns=lambda name: _unescaped(str(name)))
    write_csv(folder, label, data)
    (folder / f"{label}.tex").write_text(_latex(plain), encoding="utf-8")


def comparison(summary: pd.DataFrame, columns: str = "dataset", place: str = "") -> Table:
    """What `compare` lays out, with a caption that says how to read its cells.

    ``place`` is that of the paper's numbers, such as "Table 2"; named where there are any.
    """
    seeds = summary["count"].max()
    ours = f"Mean ± standard deviation over {seeds} seed{'s' if seeds != 1 else ''}. "
    papers = f"The paper's numbers{place and f' ({place})'} stand under ours. "
    caption = (
        (ours if seeds else "Every run failed. ")
        + (papers if summary["paper_mean"].notna().any() else "The paper prints none. ")
        + ("The best is bold; a" if best_mask(summary).any() else "A")
        + " dash stands for what isn't there."
    )
    return Table(as_printed(summary, columns), caption, summary)


def _in_cell(text: object) -> str:
    """Text whose bars don't part the cells of a Markdown table."""
    return re.sub(r"(?<!\\)\|", r"\|", str(text))


def _alignment(cells: pd.DataFrame) -> list[str]:
    """Right for columns that hold nothing but numbers, left for the index and for text."""
    numeric = re.compile(r"[\d.,+±%×*\s–−-]*")
    return ["left"] + [
        "right" if all(numeric.fullmatch(str(c)) for c in column) else "left"
        for _, column in cells.items()
    ]


def without_links(text: str) -> str:
    """Markdown with each link replaced by its words."""
    return re.sub(r"(?<![!\\])\[((?:[^\[\]\\]|\\.)+)\]\((?:[^()\s]|\([^()\s]*\))+\)", r"\1", text)


def _plain(cell: str) -> str:
    """A cell without links and HTML; of what is folded, the words that it is folded under."""
    cell = re.sub(r"<details><summary>(.*?)</summary>.*?</details>", r"(\1)", without_links(cell))
    return re.sub(r"<a id=[^>]*></a>", "", cell)


def _latex(table: pd.DataFrame) -> str:
    """The table as a booktabs tabular; its first column is on the left."""

    def text(cell: object) -> str:
        bold = re.sub(r"\*\*(.+?)\*\*", r"\\textbf{\1}", str(cell))
        either = rf"(\$[^$]*\$)|\\{MARKUP}|([&%#_])"  # math stays as it is
        escaped = re.sub(either, lambda c: c[1] or LATEX.get(c[2] or c[3], c[2]), bold)
        return escaped.replace("±\N{NO-BREAK SPACE}", r"$\pm$ ").replace(DASH, "--")

    def line(row: Sequence[object]) -> str:
        return " & ".join(map(text, row)) + r" \\"

    spec = "".join(side[0] for side in _alignment(table.iloc[:, 1:]))
    body = [line(row) for row in table.itertuples(index=False)]
    head = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", line(table.columns), r"\midrule"]
    return "\n".join([*head, *body, r"\bottomrule", r"\end{tabular}", ""])
