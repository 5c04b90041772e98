"""Figures: what is drawn is what was given, type stays large, files are reproducible."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from amol.losses import LOSSES, PAPER_METHODS
from companion.page import figures
from companion.page.style import METHOD_STYLE, method_style

METHODS = [*PAPER_METHODS, "KL", "CE-masked"]


@pytest.fixture(scope="module")
def summary():
    """As `tables.summarize` returns it: QWK and CHR_ext of all methods on two data sets."""
    rng = np.random.default_rng(0)
    rows = [
        {"dataset": dataset, "method": method, "metric": metric, "mean": rng.uniform(0.6, 0.7),
         "std": 0.01, "count": 5, "paper_mean": 0.65 if method == "CE" else np.nan,
         "paper_std": np.nan}
        for dataset in ("Wine Red", "Abalone")
        for metric in ("QWK", "CHR_ext")
        for method in METHODS
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def drawn(summary):
    """Every kind of figure, by name, from small frames."""
    k = np.arange(7)
    curves = pd.DataFrame({"panel": "AMOL", "name": "y = 0", "k": k, "value": 2 - abs(k - 3) / 3})
    line = pd.DataFrame({"method": "CE", "k": k, "mean": 1 / 7, "std": 0.01})
    shares = pd.DataFrame({"panel": "Abalone", "label": k, "share": k / 21, "center": k == 3})
    grid = pd.DataFrame(
        [(t, p, float(t == p)) for t in k for p in k], columns=["true", "predicted", "share"]
    )
    pairs = pd.DataFrame({"panel": "", "name": ["CE", "KL"], "low": [1, 2], "high": [2, 4]})
    one = summary[summary["dataset"] == "Abalone"]
    return {
        "class_lines": figures.class_lines(curves, "weight", log=("AMOL",)),
        "average_distribution": figures.average_distribution(line, pd.Series(k / 21), 3),
        "bars": figures.bars(shares, "share"),
        "confusion": figures.confusion(grid, 3),
        "dots": figures.dots(summary[summary["metric"] == "CHR_ext"], flags={"Wine Red": " †"}),
        "dumbbells": figures.dumbbells(pairs, {"low": "a", "high": "b"}, "price", "log"),
        "tradeoff": figures.tradeoff(one, "CHR_ext", "QWK"),
    }


def texts(figure):
    return [t for t in figure.findobj(Text) if t.get_text() and t.get_visible()]


def test_no_two_methods_look_alike():
    styles = [method_style(method) for method in METHODS]
    assert len({color for color, _ in styles}) == len({marker for _, marker in styles}) == 10


def test_new_methods_have_styles_of_their_own(monkeypatch):
    assert method_style("mine") == method_style("mine")
    assert method_style("mine") not in METHOD_STYLE.values()
    for name in ("mine", "yours"):
        monkeypatch.setitem(LOSSES, name, LOSSES["CE"])
    assert len({*METHOD_STYLE.values(), method_style("mine"), method_style("yours")}) == 12


def test_names_are_no_formulas_and_without_the_papers_numbers_there_is_no_tick(summary):
    part = summary[summary["metric"] == "QWK"].assign(dataset=r"a $\frac$ b", paper_mean=np.nan)
    figure = figures.dots(part)
    figure.draw_without_rendering()
    shown = [text.get_text() for text in texts(figure)]
    assert r"a \$\frac\$ b" in shown and "ours, mean ± std" in shown and "paper" not in shown


def test_letters_that_no_font_has_stay_text(tmp_path, monkeypatch, summary):
    monkeypatch.setenv("AMOL_RESULTS", str(tmp_path))
    for name, kept in (("דירוג Œ", 0), ("Abalone 𒀀", 1)):
        part = summary[summary["dataset"] == "Abalone"].assign(dataset=name)
        figures.save("fig-x", figures.dots(part), part)
        drawing = (tmp_path / "figures" / "fig-x.svg").read_text(encoding="utf-8")
        assert (f">{name}</text>" in drawing) == (drawing.count("<text") > 0) == kept


def test_many_classes_have_a_label_where_there_is_room():
    for count, shown in ((7, 7), (18, 18), (256, 19)):
        share = pd.DataFrame({"panel": "a " * 66, "label": range(count), "share": 1, "center": 0})
        figure = figures.bars(share.assign(center=share["label"] == 3), "share")
        for one in (figure, figure.narrow):
            FigureCanvasAgg(one).draw()
            (ax,) = one.axes
            boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
            assert ax.title.get_window_extent().x1 < one.bbox.x1
        assert len(figure.axes[0].get_xticks()) == shown


def test_a_long_name_leaves_room_for_one_loss(summary, recwarn):
    part = summary[(summary["dataset"] == "Abalone") & (summary["method"] == "CE")]
    part = part.assign(dataset=" ".join(["a" * 65, "b" * 66]))
    pairs = pd.DataFrame({"panel": part["dataset"], "name": "CE", "low": 0.1, "high": 0.2})
    for figure in (figures.dots(part), figures.dumbbells(pairs, {"low": "a", "high": "b"}, "x")):
        for one in (figure, figure.narrow):
            FigureCanvasAgg(one).draw()
    assert not recwarn.list


@pytest.fixture(scope="module")
def widths(drawn):
    """The same by name and CSS pixels: for the page's column, and for a phone."""
    return {
        (name, pixels): part
        for name, figure in drawn.items()
        for pixels, part in ((850, figure), (400, figure.narrow))
    }


def test_type_is_as_large_as_the_page_in_its_column_and_on_a_phone(widths):
    for (name, room), figure in widths.items():
        width = figure.get_size_inches()[0]
        assert width * 96 >= room
        for text in texts(figure):
            pixels = text.get_fontsize() * room / (72 * width)
            assert pixels >= 16, f"{name}: {text.get_text()!r} is {pixels:.1f} px at {room} px"


def test_both_widths_show_the_same(widths):
    for (name, _), figure in widths.items():
        wide = widths[name, 850]
        for ax, same in zip(figure.axes, wide.axes, strict=True):
            assert [p.get_label() for p in ax.lines] == [p.get_label() for p in same.lines]
            assert ax.dataLim.bounds == pytest.approx(same.dataLim.bounds), name


def test_nothing_is_drawn_outside_the_figure(widths):
    for name, figure in widths.items():
        FigureCanvasAgg(figure).draw()
        width, height = figure.get_size_inches()
        box = figure.get_tightbbox()
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.01, name


def test_dots_stand_where_the_numbers_are(summary):
    part = summary[summary["metric"] == "CHR_ext"]
    figure = figures.dots(part, flags={"Wine Red": " †"})
    red, abalone = figure.axes
    assert [red.get_title(loc="left"), abalone.get_title(loc="left")] == ["Wine Red †", "Abalone"]
    assert [label.get_text() for label in red.get_yticklabels()] == METHODS
    drawn = {line.get_ydata()[0]: line.get_xdata()[0] for line in red.lines
             if line.get_marker() not in ("|", "None")}  # fmt: skip
    means = part[part["dataset"] == "Wine Red"].set_index("method")["mean"]
    assert drawn == {i: means[method] for i, method in enumerate(METHODS)}
    ticks = [line for line in red.lines if line.get_marker() == "|" and line.get_ms() == 15]
    printed = [line.get_xdata()[0] for line in ticks if not np.isnan(line.get_xdata()[0])]
    assert printed == [0.65]


def test_one_far_off_method_is_named_at_the_edge_and_leaves_the_scale_alone(summary):
    part = summary[summary["dataset"] == "Abalone"].copy()
    lost = (part["method"] == "AMOL-OLL") & (part["metric"] == "QWK")
    part.loc[lost, "mean"] = 0.2
    (ax,) = figures.tradeoff(part, "CHR_ext", "QWK").axes
    assert "AMOL-OLL" in ax.get_title(loc="left") and "0.20" in ax.get_title(loc="left")
    assert ax.get_ylim()[0] > 0.5
    assert {t.get_text() for t in ax.texts} == set(METHODS) - {"AMOL-OLL"}


def test_names_of_well_separated_points_touch_neither_each_other_nor_the_points():
    points = pd.DataFrame(
        {"method": ["CE", "OLL", "SORD", "AMOL"], "CHR_ext": [0.1, 0.3, 0.31, 0.2],
         "QWK": [0.5, 0.6, 0.7, 0.8]}
    ).melt("method", var_name="metric", value_name="mean")  # fmt: skip
    figure = figures.tradeoff(points.assign(std=0.0), "CHR_ext", "QWK")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (ax,) = figure.axes
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    dots = ax.transData.transform(np.c_[[0.1, 0.3, 0.31, 0.2], [0.5, 0.6, 0.7, 0.8]])
    assert not any(box.contains(*dot) for box in boxes for dot in dots)


def test_bars_mark_the_center_and_keep_the_heights(drawn):
    (ax,) = drawn["bars"].axes
    heights = [bar.get_height() for bar in ax.patches]
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert heights == pytest.approx(np.arange(7) / 21)
    assert [color == colors[3] for color in colors] == [k == 3 for k in range(7)]


def test_confusion_prints_percent_of_each_row():
    grid = pd.DataFrame(
        {"true": [0, 0, 1, 1], "predicted": [0, 1, 0, 1], "share": [0.25, 0.75, 0, 1]}
    )
    (ax,) = figures.confusion(grid, 0).axes
    printed = {t.get_position(): t.get_text() for t in ax.texts}  # (predicted, true)
    assert printed == {(0.5, 0.5): "25", (1.5, 0.5): "75", (0.5, 1.5): "0", (1.5, 1.5): "100"}


def test_saved_files_are_the_same_twice_and_hold_the_data(tmp_path, monkeypatch, summary):
    part = summary[summary["metric"] == "QWK"]
    found = []
    for folder in ("one", "two"):
        monkeypatch.setenv("AMOL_RESULTS", str(tmp_path / folder))
        (png,) = figures.save("fig-x", figures.dots(part), part).values()
        files = [tmp_path / folder / "figures" / f"fig-x.{kind}" for kind in ("svg", "pdf", "csv")]
        found.append([png, *(file.read_bytes() for file in files)])
    assert found[0] == found[1]
    assert b"<dc:date>" not in found[0][1]
    pd.testing.assert_frame_equal(pd.read_csv(files[2]), part.reset_index(drop=True))
