"""A picture of many data sets to filter: two losses, each with a decision, set by set."""

import json
from collections.abc import Sequence

import altair as alt
import pandas as pd

from amol.metrics import HIGHER_IS_BETTER
from companion.page.live_charts import STYLE, WIDTH, described, slider, title_of
from companion.page.many_sets import BAD, GOOD, OWN
from companion.page.style import FAINT, INK
from companion.page.tables import HEADINGS
from companion.studies.across_sets import KINDS

METRICS = ("QWK", "MAE", "AMAE", "end_recall", "CHR_ext", "accuracy")
DECISIONS = (OWN, "median", "thresholds")
NAMES = json.dumps([HEADINGS.get(m, m) for m in METRICS])
LOWER = json.dumps([m for m in METRICS if not HIGHER_IS_BETTER.get(m, True)])


def live_data(rows: pd.DataFrame, about: pd.DataFrame) -> pd.DataFrame:
    """Means over splits by set, method and decision, a column per metric.

    Parameters
    ----------
    rows : DataFrame
        All rules and decisions of natural sets.
    about : DataFrame
        From `companion.studies.across_sets.kinds`.
    """
    part = rows[rows["rule"].eq("QWK") & rows["decision"].isin(DECISIONS)]
    means = part.groupby(["dataset", "method", "decision"], sort=False)[list(METRICS)].mean()
    return means.round(4).reset_index().join(about.drop(columns=["classes"]), on="dataset")


def _records(data: pd.DataFrame, methods: Sequence[str]) -> list[dict]:
    """One record per set; ``v`` holds its numbers by method, decision and metric, in this order."""
    order = pd.MultiIndex.from_product([methods, DECISIONS])
    found = []
    for name, part in data.groupby("dataset", sort=False):
        numbers = part.set_index(["method", "decision"])[list(METRICS)].reindex(order)
        values = [None if pd.isna(x) else float(x) for x in numbers.to_numpy().ravel()]
        kind = part.iloc[0]
        found.append(
            {"set": name, "K": int(kind["K"]), "rows": int(kind["rows"]), "mode": kind["mode"],
             "ends": kind["ends"], "v": values}
        )  # fmt: skip
    return found


def _choice(name: str, value: str, options: Sequence[str], text: str, labels: Sequence[str] = ()):
    labels = list(labels or options)
    binding = alt.binding_select(options=list(options), labels=labels, name=text)
    return alt.param(name=name, value=value, bind=binding)


def _controls(methods: Sequence[str]) -> list[alt.Parameter]:
    """What a reader chooses: the two sides, the metric, and the kind of data."""
    return [
        _choice("loss", "AMOL", methods, "loss"),
        _choice("loss_decides", OWN, DECISIONS, "its decision"),
        _choice("rival", "CE", methods, "against"),
        _choice("rival_decides", OWN, DECISIONS, "its decision"),
        _choice("metric", "QWK", METRICS, "metric", json.loads(NAMES)),
        slider("fewest", 3, 3, 12, 1, "classes, at least"),
        slider("most", 20, 3, 20, 1, "classes, at most"),
        _choice("place", "all", ("all", *KINDS["mode"]), "most common class"),
        _choice("share", "all", ("all", *KINDS["ends"]), "share of the ends"),
    ]


def _differences(data: pd.DataFrame, methods: Sequence[str]) -> alt.Chart:
    """The chosen sets with ours, theirs, difference, up (1 where the first is better) and place."""

    def value(side: str) -> str:
        at = f"indexof({json.dumps(methods)}, {side}) * {len(DECISIONS)}"
        at += f" + indexof({json.dumps(DECISIONS)}, {side}_decides)"
        return f"datum.v[({at}) * {len(METRICS)} + indexof({json.dumps(METRICS)}, metric)]"

    return (
        alt.Chart(alt.InlineData(_records(data, methods)))
        .transform_filter("datum.K >= fewest && datum.K <= most")
        .transform_filter("place == 'all' || datum.mode == place")
        .transform_filter("share == 'all' || datum.ends == share")
        .transform_calculate(ours=value("loss"), theirs=value("rival"))
        .transform_filter("isValid(datum.ours) && isValid(datum.theirs)")
        .transform_calculate(difference="datum.ours - datum.theirs")
        .transform_calculate(
            up=f"(indexof({LOWER}, metric) >= 0 ? -1 : 1) * datum.difference > 0 ? 1 : 0"
        )
        .transform_window(place="row_number()", sort=[alt.SortField("difference")])
    )


def live_forest(data: pd.DataFrame) -> alt.LayerChart:
    """Every set's difference between two losses, each with a decision; sets to be filtered.

    Parameters
    ----------
    data : DataFrame
        From `live_data`.
    """
    methods = list(data["method"].unique())
    base = _differences(data, methods)
    text = (
        "datum.set + ' (K = ' + datum.K + ', ' + datum.rows + ' rows): '"
        " + format(datum.ours, '.3f') + ' against ' + format(datum.theirs, '.3f')"
    )
    color = alt.when("datum.up").then(alt.value(GOOD)).otherwise(alt.value(BAD))
    dots = base.mark_circle(size=45, opacity=0.9, **described(text)).encode(
        x=alt.X("difference:Q", title="difference, a dot per data set"),
        y=alt.Y("place:Q", axis=None, scale=alt.Scale(nice=False, padding=6)),
        color=color,
    )
    one = base.transform_aggregate(
        mean="mean(difference)", sets="count()", better="sum(up)"
    ).transform_calculate(
        text="'mean ' + format(datum.mean, '+.3f') + ', better on ' + datum.better + ' of '"
        " + datum.sets + ' sets'"
    )
    mean = one.mark_rule(color=FAINT, strokeDash=[6, 4], strokeWidth=2).encode(x="mean:Q")
    words = {"align": "left", "baseline": "top", "dx": 4, "dy": 4, "fontSize": 13, "color": INK}
    label = one.mark_text(**words).encode(x=alt.value(0), y=alt.value(0), text="text:N")
    zero = alt.Chart(alt.InlineData([{"x": 0}])).mark_rule(color=INK).encode(x="x:Q")
    named = f"{NAMES}[indexof({json.dumps(METRICS)}, metric)]"
    chart = alt.layer(zero, mean, dots, label).add_params(*_controls(methods))
    return chart.properties(
        width=int(1.6 * WIDTH),
        height=420,
        title=title_of(f"loss + ' − ' + rival + ', ' + {named}", "'dashed: mean'"),
        config=STYLE,
    )
