"""Charts with sliders and filters that run in the reader's browser, without a kernel.

Altair makes the Vega-Lite specification. Its expressions write the formulas of `amol.losses`
again; a test sets the one against the other. `save` draws the state before any slider is moved,
and that figure is what paper and browsers without scripts show.
"""

import io
import json
import re

import altair as alt
import pandas as pd
import torch
import vl_convert
from PIL import Image

from amol.losses import LOSSES, center_weight
from amol.metrics import HIGHER_IS_BETTER
from companion.page.source import svg_with_source, write_csv
from companion.page.style import BAND, FAINT, INK, PNG_SCALE, method_style
from companion.page.tables import HEADINGS
from companion.paper.published import published
from companion.paths import results_dir

VARIANTS = ("AMOL", "AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")
LARGEST, LABEL, SHARE = 11, 0, 0.8  # most classes; the label and the share before any change
FAR_OFF = "AMOL-OLL"  # it would stretch the axis for all others
WIDTH = 280  # of a panel in CSS px: with its axis as wide as a phone
VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])  # of Vega-Lite
MIME_TYPE = f"application/vnd.vegalite.v{VERSION.partition('.')[0]}+json"
STYLE = {
    "background": "white",
    "padding": 8,
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "axis": {"labelFontSize": 13, "titleFontSize": 14, "titleFontWeight": "normal"},
    "title": {"fontSize": 14, "fontWeight": "normal", "anchor": "start", "frame": "group"},
    "view": {"stroke": None},
    **{mark: {"aria": False} for mark in ("line", "rect", "rule", "tick")},
}

# What amol.losses.tables computes, for one label: k is the class of a term.
PRODUCT = "alpha * (1 - abs(datum.k - center) / center) * abs(truth - center) / center"
INWARD = "truth < datum.k && datum.k <= center || center <= datum.k && datum.k < truth"
WEIGHT = (
    "variant == 'AMOL-exp' ? exp(datum.product)"
    f" : variant == 'AMOL-asym' && !({INWARD}) ? 1 : 1 + datum.product"
)
# What amol.losses.amol sums over k, without the weight; p is the network's probability of k.
TERM = (
    "variant == 'AMOL-CE' ? (datum.k == truth ? -log(datum.p) : 0)"
    " : variant == 'AMOL-OLL' ? -(1 - abs(datum.k - truth) / (classes - 1)) * log(datum.p)"
    " : datum.p * (log(datum.p) - datum.log_bell + log(datum.total))"
)


def slider(name: str, value: float, low: float, high: float, step: float, text: str):
    return alt.param(
        name=name, value=value, bind=alt.binding_range(min=low, max=high, step=step, name=text)
    )


def title_of(*lines: str) -> alt.Title:
    """A title whose lines are Vega expressions."""
    return alt.Title(alt.expr(f"[{', '.join(lines)}]"))


def described(text: str) -> dict:
    """What a dot says, an expression: to who points at it, and to who has it read aloud."""
    return {"tooltip": alt.expr(text), "description": alt.expr(text)}


def _panel(chart: alt.Chart, x: str, y: str, plain: str, text: str, title: alt.Title):
    """``y`` by class, ``plain`` dashed; a band at the center and a dotted line at the label."""
    one = alt.Chart(alt.sequence(0, 1, as_="i")).transform_calculate(
        left="center - 0.5", right="center + 0.5", truth="truth"
    )
    domain = alt.Scale(domain=alt.expr("[-0.5, classes - 0.5]"), nice=False)
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    chart = chart.encode(x=alt.X("class:Q", title=x, scale=domain, axis=axis))
    drawn = chart.encode(y=alt.Y(f"{y}:Q", title=y))
    return alt.layer(
        one.mark_rect(color=BAND).encode(x="left:Q", x2="right:Q"),
        one.mark_rule(color=INK, strokeDash=[2, 3]).encode(x="truth:Q"),
        chart.mark_line(color=FAINT, strokeDash=[6, 4]).encode(y=f"{plain}:Q"),
        drawn.mark_line(color=alt.expr("color"), strokeWidth=2),
        drawn.mark_circle(color=alt.expr("color"), size=70, opacity=1, **described(text)),
    ).properties(width=WIDTH, height=170, title=title)


def _weight_parameters(alpha: float, sigma: float) -> list[alt.Parameter]:
    """Sliders of `weight_explorer`, and what follows from them."""
    colors = json.dumps({name: method_style(name)[0] for name in VARIANTS})
    variant = alt.binding_select(options=list(VARIANTS), name="variant")
    return [
        alt.param(name="variant", value=VARIANTS[0], bind=variant),
        slider("classes", 7, 3, LARGEST, 1, "number of classes K"),
        slider("label", LABEL, 0, LARGEST - 1, 1, "true label y"),
        slider("alpha", alpha, 0, max(5, alpha), 0.1, "strength α"),
        slider("sigma", sigma, min(0.3, sigma), max(3, sigma), 0.1, "width σ"),
        slider("share", SHARE, 0.4, 0.99, 0.01, "probability of the answer"),
        alt.param(name="center", expr="(classes - 1) / 2"),
        alt.param(name="truth", expr="min(label, classes - 1)"),
        alt.param(name="color", expr=f"({colors})[variant]"),
    ]


def weight_explorer(alpha: float = 1.0, sigma: float = 1.0) -> alt.VConcatChart:
    """m(k, y) and the loss of each variant, with sliders for everything that enters.

    Above, the weight of each class k. Below, the loss of a network that gives one class the
    probability ``share`` and every other class the same part of the rest, against that class.

    Parameters
    ----------
    alpha, sigma : float
        Where their sliders start.
    """
    # one row per answer and class of a term, both k and answer below K
    pairs = (
        alt.Chart(alt.sequence(0, LARGEST**2, as_="i"))
        .transform_calculate(answer=f"floor(datum.i / {LARGEST})", k=f"datum.i % {LARGEST}")
        .transform_filter("max(datum.answer, datum.k) < classes")
        .transform_calculate(
            p="datum.k == datum.answer ? share : (1 - share) / (classes - 1)",
            log_bell="-pow((datum.k - truth) / sigma, 2) / 2",
            product=PRODUCT,
        )
        .transform_calculate(weight=WEIGHT, bell="exp(datum.log_bell)")
    )
    weights = (
        pairs.transform_filter("datum.answer == truth")
        .transform_filter("variant != 'AMOL-CE' || datum.k == truth")
        .transform_calculate(**{"class": "datum.k", "one": "1"})
    )
    losses = (
        pairs.transform_joinaggregate(total="sum(bell)", groupby=["answer"])
        .transform_calculate(plain_term=TERM)
        .transform_calculate(term="datum.weight * datum.plain_term")
        .transform_aggregate(loss="sum(term)", plain="sum(plain_term)", groupby=["answer"])
        .transform_calculate(**{"class": "datum.answer"})
    )
    place = "'true label ' + truth + ' of 0 to ' + (classes - 1) + ', band: center'"
    above = _panel(
        weights,
        "class k",
        "weight",
        "one",
        "'class ' + datum.k + ': weight ' + format(datum.weight, '.3f')",
        title_of("variant + ', weight m(k, y) of each class'", place),
    )
    below = _panel(
        losses,
        "class that the network answers",
        "loss",
        "plain",
        "'answer ' + datum.answer + ': loss ' + format(datum.loss, '.4f')"
        " + ', at α = 0 ' + format(datum.plain, '.4f')",
        title_of("variant + ', loss of each answer'", "'dashed: the same at α = 0'"),
    )
    chart = alt.vconcat(above, below, spacing=24).add_params(*_weight_parameters(alpha, sigma))
    return chart.properties(config=STYLE)


def weight_data(alpha: float = 1.0, sigma: float = 1.0, num_classes: int = 7) -> pd.DataFrame:
    """What `weight_explorer` shows before any slider is moved, from the package's own losses.

    Columns: variant, y, k, weight (m(k, y)) and loss (of answering class k).
    """
    p = torch.full((num_classes, num_classes), (1 - SHARE) / (num_classes - 1)).double()
    logits, target = p.fill_diagonal_(SHARE).log(), torch.full((num_classes,), LABEL)
    loss = LOSSES["AMOL"](num_classes, alpha=alpha, sigma=sigma, reduction="none")
    weight = center_weight(num_classes, alpha)[LABEL]
    columns = {"k": range(num_classes), "weight": weight, "loss": loss(logits, target)}
    return pd.DataFrame({"variant": "AMOL", "y": LABEL, **columns})


def results_data(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs' metrics, and beside each the mean that the paper prints, if it does."""
    metrics = [name for name in HIGHER_IS_BETTER if name in runs]
    rows = runs[["dataset", "method", "seed", *metrics]].round(4)
    for metric in metrics:
        cells = [published(*key, metric) for key in rows[["dataset", "method"]].to_numpy()]
        if any(cells):
            rows[f"paper {metric}"] = [cell and cell[0] for cell in cells]
    return rows


def results_explorer(runs: pd.DataFrame) -> alt.LayerChart:
    """Every run as a dot, to be filtered by data set, metric and method.

    Parameters
    ----------
    runs : DataFrame
        From `companion.train.study.run_study`. Pointing at a dot brings out the runs of its seed.
    """
    datasets, methods = (list(runs[column].unique()) for column in ("dataset", "method"))
    rows = results_data(runs)
    metrics = {m: HEADINGS.get(m, m) for m in HIGHER_IS_BETTER if m in rows}
    words = {True: "higher is better", False: "lower is better"}
    texts = {m: f"{heading}, {words[HIGHER_IS_BETTER[m]]}" for m, heading in metrics.items()}
    dataset = alt.binding_select(options=datasets, name="data set")
    metric = alt.binding_select(options=list(metrics), labels=list(metrics.values()), name="metric")
    shown = [name != FAR_OFF or len(methods) == 1 for name in methods]
    boxes = [
        alt.param(name=f"method_{i}", value=shown[i], bind=alt.binding_checkbox(name=name))
        for i, name in enumerate(methods)
    ]
    near = alt.selection_point(name="near", on="pointerover", clear="pointerout", fields=["seed"])
    chosen = f"[{', '.join(box.name for box in boxes)}]"
    base = (
        alt.Chart(rows)
        .transform_filter(f"{chosen}[indexof({json.dumps(methods)}, datum.method)]")
        .transform_filter("datum.dataset == dataset && isValid(datum[metric])")
        .transform_calculate(value="datum[metric]", printed="datum['paper ' + metric]")
        .transform_calculate(paper="isValid(datum.printed) ? datum.printed : datum.value")
        .transform_joinaggregate(mean="mean(value)", groupby=["method"])
        .encode(y=alt.Y("method:N", title=None, sort=methods))
    )
    text = "datum.method + ', seed ' + datum.seed + ': ' + format(datum.value, '.3f')"
    colors = alt.Scale(domain=methods, range=[method_style(name)[0] for name in methods])
    dots = base.mark_circle(size=70, **described(text)).encode(
        x=alt.X(
            "value:Q",
            title=None,
            scale=alt.Scale(zero=False, padding=12),
            axis=alt.Axis(tickCount=6, labelFlush=False, labelBound=True),
        ),
        yOffset=alt.YOffset("seed:O", scale=alt.Scale(paddingOuter=0.5)),
        color=alt.Color("method:N", scale=colors, legend=None),
        opacity=alt.when(near).then(alt.value(1)).otherwise(alt.value(0.12)),
    )
    mean = base.mark_tick(color=FAINT, thickness=3, size=20).encode(x="mean:Q")
    seen = alt.expr("isValid(datum.printed) ? 1 : 0")
    paper = base.mark_tick(color=INK, thickness=2, size=20, opacity=seen).encode(x="paper:Q")
    dataset = alt.param(name="dataset", value=datasets[-1], bind=dataset)
    metric = alt.param(name="metric", value=next(iter(metrics)), bind=metric)
    chart = alt.layer(mean, paper, dots.add_params(near)).add_params(dataset, metric, *boxes)
    heading = f"dataset + ', ' + ({json.dumps(texts)})[metric]"
    return chart.properties(
        width=WIDTH,
        height=alt.Step(28, **{"for": "position"}),
        title=title_of(heading, "'ticks: mean (gray), paper (thin)'"),
        config=STYLE,
    )


def _ordered(pdf: bytes) -> bytes:
    """The PDF with the names of its resources, which come in any order, sorted."""
    names = rb"(?:^ +/\w+ \d+ 0 R\n)+"
    return re.sub(names, lambda m: b"".join(sorted(m[0].splitlines(True))), pdf, flags=re.M)


def _small(png: bytes) -> bytes:
    """A PNG of few colors, a quarter of the size."""
    Image.open(io.BytesIO(png)).convert("RGB").quantize(128).save(
        small := io.BytesIO(), format="png", optimize=True
    )
    return small.getvalue()


def save(label: str, chart: alt.TopLevelMixin, data: pd.DataFrame) -> dict:
    """Write ``figures/<label>`` as .svg, .pdf, .csv and .vl.json; give a PNG and the chart back.

    Where a page shows the figure, the book puts the chart of the .vl.json in its place.
    """
    folder = results_dir() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    spec = chart.to_dict()
    (folder / f"{label}.vl.json").write_text(json.dumps(spec), encoding="utf-8")
    svg = svg_with_source(vl_convert.vegalite_to_svg(spec, vl_version=VERSION), label)
    (folder / f"{label}.svg").write_text(svg, encoding="utf-8")
    (folder / f"{label}.pdf").write_bytes(_ordered(vl_convert.svg_to_pdf(svg)))
    write_csv(folder, label, data)
    return {"image/png": _small(vl_convert.svg_to_png(svg, scale=PNG_SCALE)), MIME_TYPE: spec}
