"""How many data sets a conclusion needs: a calculator, and what was found by drawing."""

import altair as alt
import pandas as pd
from matplotlib.figure import Figure

from companion.page.live_charts import STYLE, WIDTH, described, slider, title_of
from companion.page.style import FAINT, INK, method_style, panels, starts_row, two_widths
from companion.page.tables import HEADINGS
from companion.studies.across_sets import reversal, sets_needed

MOST = 120  # sets on the axis
# `across_sets.reversal` for datum.sets, and `sets_needed`, in Vega's words
SPREAD = "sqrt(tau * tau + omega * omega / splits)"
RISK = f"cumulativeNormal(-abs(delta) / ({SPREAD} / sqrt(datum.sets)))"
NEEDED = f"ceil(pow(quantileNormal(0.05) * {SPREAD} / delta, 2))"


def calculator(delta: float, tau: float, omega: float, splits: int) -> alt.LayerChart:
    """The probability of a reversal against the number of sets, with a slider for each of the rest.

    Parameters
    ----------
    delta, tau, omega : float
        Where their sliders start; see `companion.studies.across_sets.spread`.
    splits : int
    """
    parameters = [
        slider("delta", round(delta, 3), 0.001, 0.1, 0.001, "mean difference δ"),
        slider("tau", round(tau, 3), 0.0, 0.15, 0.001, "spread between sets τ"),
        slider("omega", round(omega, 3), 0.0, 0.15, 0.001, "spread between splits ω"),
        slider("splits", splits, 1, 30, 1, "splits of each set J"),
    ]
    base = alt.Chart(alt.sequence(1, MOST + 1, as_="sets")).transform_calculate(risk=RISK)
    line = base.mark_line(color=method_style("AMOL")[0], strokeWidth=2).encode(
        x=alt.X("sets:Q", title="data sets m", scale=alt.Scale(nice=False)),
        y=alt.Y("risk:Q", title="probability of a reversal", scale=alt.Scale(domain=[0, 0.5])),
    )
    text = "datum.sets + ' sets: ' + format(datum.risk, '.1%')"
    dots = line.mark_circle(size=40, opacity=0, **described(text))
    limit = alt.Chart(alt.InlineData([{"y": 0.05}])).mark_rule(color=FAINT, strokeDash=[6, 4])
    four = alt.Chart(alt.InlineData([{"x": 4}])).mark_rule(color=INK, strokeDash=[2, 3])
    heading = title_of(
        f"'at most 5 % from ' + {NEEDED} + ' sets on'", "'dotted: the four of the paper'"
    )
    chart = alt.layer(limit.encode(y="y:Q"), four.encode(x="x:Q"), line, dots)
    return chart.add_params(*parameters).properties(
        width=int(1.5 * WIDTH), height=260, title=heading, config=STYLE
    )


def calculator_data(delta: float, tau: float, omega: float, splits: int) -> pd.DataFrame:
    """What `calculator` shows before a slider is moved: columns sets and risk."""
    sets = range(1, MOST + 1)
    return pd.DataFrame(
        {"sets": sets, "risk": [reversal(delta, tau, omega, m, splits) for m in sets]}
    )


def needed(row, splits: int) -> str:
    """`sets_needed` of a row with delta, tau and omega, as text."""
    count = sets_needed(row.delta, row.tau, row.omega, splits)
    return f"{count:.0f}" if count < 1000 else "more than 1,000"


@two_widths
def curves(frame: pd.DataFrame, xlabel: str, ylabel: str) -> Figure:
    """Shares against the number of sets, a panel per metric and a line per pair.

    Columns: metric, pair, sets, share.
    """
    groups = list(frame.groupby("metric", sort=False))
    figure, axes = panels(len(groups), 3.0, 0.8, sharey=True)
    styles = ("o-", "s--", "^:", "D-.", "v-")
    colors = ("#0072B2", "#D55E00", "#009E73", "#7A5195", INK)
    for ax, (metric, part) in zip(axes, groups, strict=True):
        lines = part.groupby("pair", sort=False)
        for (pair, line), mark, color in zip(lines, styles, colors, strict=False):
            ax.plot(line["sets"], line["share"], mark, color=color, label=pair, lw=1.8, ms=5)
        ax.axhline(0.05, color=FAINT, lw=1, ls=(0, (6, 4)))
        ax.set(title=HEADINGS.get(metric, metric), xlabel=xlabel, ylim=(0, 0.55), xscale="log")
        ax.set_ylabel(ylabel if starts_row(ax) else "")
        ticks = [4, 10, 25, 50, 100]
        ax.set_xticks(ticks, [str(t) for t in ticks])
        ax.minorticks_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False)
    return figure
