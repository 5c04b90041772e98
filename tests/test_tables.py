"""Tables: means by hand, what is best, the paper's row, and what reaches the disk."""

from html import escape

import numpy as np
import pandas as pd
import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from companion.page import tables

NBSP = "\N{NO-BREAK SPACE}"


def runs_of(values, metric="QWK"):
    """Frame of runs from {(dataset, method): one value per seed}."""
    rows = [
        {"dataset": dataset, "method": method, "seed": seed, metric: value}
        for (dataset, method), column in values.items()
        for seed, value in enumerate(column)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("AMOL_RESULTS", str(tmp_path))
    return tmp_path


def test_summary_by_hand_beside_the_paper():
    runs = runs_of({("Abalone", "CE"): [0.6, 0.7, 0.8], ("Abalone", "KL"): [0.5, 0.5, 0.5]})
    summary = tables.summarize(runs, ["QWK"]).set_index("method")
    ours = summary.loc["CE", ["mean", "std", "count"]].tolist()
    assert ours == pytest.approx([0.7, 0.1, 3])  # ddof 1: sqrt((0.01 + 0 + 0.01) / 2)
    assert summary.loc["CE", ["paper_mean", "paper_std"]].tolist() == [0.693, 0.002]
    assert summary.loc["KL", "std"] == 0
    assert summary.loc["KL", ["paper_mean", "paper_std"]].isna().all()


def test_summary_keeps_the_order_of_the_runs():
    runs = runs_of({("Wine Red", "SORD"): [0.5], ("Abalone", "AMOL"): [0.4]})
    summary = tables.summarize(runs, ["QWK"])
    assert summary["dataset"].tolist() == ["Wine Red", "Abalone"]


@pytest.mark.parametrize(
    "mean, std, text",
    [
        (0.7351, 0.0029, f"0.735 ±{NBSP}0.003"),
        (0.7351, np.nan, f"0.735 ±{NBSP}–"),
        (np.nan, np.nan, "–"),
    ],
)
def test_cell_text(mean, std, text):
    assert tables.mean_std(mean, std) == text


def test_best_counts_ties_at_printed_digits_and_knows_the_direction():
    summary = pd.DataFrame(
        {
            "dataset": "D",
            "metric": ["QWK"] * 3 + ["MAE"] * 2 + ["center_rate"] * 2 + ["CHR"] * 2,
            "mean": [0.7351, 0.7349, 0.7339, 0.50, 0.52, 0.1, 0.2, 0.3, np.nan],
        }
    )
    # nothing is best about a center rate, or about a number that stands alone
    expected = [True, True, False, True, False, False, False, False, False]
    assert tables.best_mask(summary).tolist() == expected


def test_comparison_as_in_the_paper():
    runs = runs_of(
        {
            ("Wine Red", "CE"): [0.5, 0.5],
            ("Wine Red", "AMOL"): [0.6, 0.6],
            ("Abalone", "CE"): [0.7, 0.7],
            ("Wine Red", "mine"): [0.4, 0.4],
        }
    )
    cells = tables.as_printed(tables.summarize(runs, ["QWK"]))
    assert cells.index.tolist() == ["CE", "CE, paper", "AMOL", "AMOL, paper", "mine"]
    assert cells.columns.tolist() == ["Wine Red", "Abalone"]
    assert cells.loc["AMOL", "Wine Red"] == f"**0.600 ±{NBSP}0.000**"
    assert cells.loc["CE", "Wine Red"] == f"0.500 ±{NBSP}0.000"
    assert cells.loc["AMOL", "Abalone"] == "–"
    # the paper's best is found among the paper's numbers alone
    assert cells.loc["AMOL, paper", "Wine Red"] == f"**0.574 ±{NBSP}0.014**"
    assert cells.loc["CE, paper", "Abalone"] == f"0.693 ±{NBSP}0.002"


def test_metrics_across_name_the_data_set_only_where_there_are_several():
    runs = runs_of({("Abalone", "AMOL"): [0.3, 0.4]}, "accuracy")
    summary = tables.summarize(runs, ["accuracy"])
    one = tables.as_printed(summary, "metric")
    assert one.index.tolist() == ["AMOL", "AMOL, paper"]
    assert one.loc["AMOL, paper", "Accuracy"] == "0.38"  # as printed, without ±
    two = pd.concat([summary, summary.assign(dataset="Wine Red", paper_mean=np.nan)])
    several = tables.as_printed(two, "metric")
    expected = ["Abalone, AMOL", "Abalone, AMOL, paper", "Wine Red, AMOL"]
    assert several.index.tolist() == expected


def test_quote_and_value():
    summary = tables.summarize(runs_of({("Abalone", "CE"): [0.6, 0.8]}), ["QWK"])
    assert tables.value(summary, "Abalone", "CE", "QWK") == pytest.approx(0.7)
    assert tables.quote(summary, "Abalone", "CE", "QWK") == f"0.700 ±{NBSP}0.141"
    assert tables.quote(summary, "Abalone", "CE", "QWK", paper=True) == f"0.693 ±{NBSP}0.002"
    assert np.isnan(tables.value(summary, "Wine Red", "CE", "QWK"))
    assert tables.quote(summary, "Wine Red", "CE", "QWK") == "–"


def test_published_files_hold_full_precision(results):
    summary = tables.summarize(runs_of({("Abalone", "CHR_ext & co"): [1 / 3, 2 / 3]}), ["QWK"])
    table = tables.comparison(summary)
    tables.save("tab-x", table)
    stored = pd.read_csv(results / "tables" / "tab-x.csv")
    assert stored.loc[0, "mean"] == pytest.approx(0.5, abs=1e-15)
    assert stored.loc[0, "std"] == pytest.approx(np.sqrt(1 / 18), rel=1e-14)
    tex = (results / "tables" / "tab-x.tex").read_text(encoding="utf-8")
    assert r"CHR\_ext \& co & 0.500 $\pm$ 0.236 \\" in tex
    assert "over 2 seeds" in table.caption and "The paper prints none" in table.caption


def test_table_speaks_both_languages(results):
    cells = pd.DataFrame(
        {"N": ["1", "**20**"], "Note": ["a", "b"]}, index=pd.Index(["x", "y"], name="K")
    )
    table = tables.Table(cells, "A caption.")
    tables.save("tab-y", table)
    rule = table.grid().splitlines()[1]
    assert [part.endswith(":") for part in rule.strip("|").split("|")] == [False, True, False]
    assert r"y & \textbf{20} & b \\" in (results / "tables" / "tab-y.tex").read_text()
    assert (results / "tables" / "tab-y.csv").read_text() == "K,N,Note\nx,1,a\ny,20,b\n"


def test_a_bar_in_a_cell_does_not_part_it():
    cells = pd.DataFrame({"|a|": [tables.literal("|b|")]}, index=pd.Index(["|c|"], name="K"))
    *_, row = lines = tables.Table(cells).grid().splitlines()
    assert [line.replace(r"\|", "").count("|") for line in lines] == [3, 3, 3]
    assert r"\|c\|" in row and r"\|b\|" in row and "\\\\" not in row


def test_text_that_is_not_ours_stays_text(results):
    name = "a_b*c*\n|<script>{ref}`x` $y$ **z** \\&~^"
    runs = runs_of({(name, "CE"): [0.5, 0.6]})
    table = tables.comparison(tables.summarize(runs, ["QWK"]))
    tables.save("tab-z", table)
    (shown,) = table.cells.columns
    page = create_md_parser(MdParserConfig(enable_extensions=["dollarmath"]), RendererHTML)
    html = page.render(f"| a | {shown} |\n|:--|--:|\n| 1 | 2 |\n")
    plain = name.replace("\n", " ")
    assert f">{escape(plain)}</th>" in html
    tex = (results / "tables" / "tab-z.tex").read_text(encoding="utf-8")
    told = r"a\_b*c* \textbar{}\textless{}script\textgreater{}\{ref\}`x` \$y\$ **z** "
    assert told + r"\textbackslash{}\&\textasciitilde{}\textasciicircum{}" in tex
    tables.save("tab-z", tables.Table(pd.DataFrame({"N": [tables.literal(name)]})))
    assert pd.read_csv(results / "tables" / "tab-z.csv").loc[0, "N"] == plain


def test_files_keep_math_and_lose_links(results):
    cells = pd.DataFrame(
        {"See": ["[Table a](b.ipynb#tab-a) & ([A 1950](https://a.b/(1)2))"]}, ["$J_c$ of a_b"]
    )
    tables.save("tab-z", tables.Table(cells.rename_axis("What")))
    tex = (results / "tables" / "tab-z.tex").read_text(encoding="utf-8")
    assert r"$J_c$ of a\_b & Table a \& (A 1950) \\" in tex
    stored = (results / "tables" / "tab-z.csv").read_text(encoding="utf-8")
    assert stored == "What,See\n$J_c$ of a_b,Table a & (A 1950)\n"
