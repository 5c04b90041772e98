# %% [markdown]
# # Ablation: which part does the work?
#
# AMOL is a base loss times a weight, and the weight has a direction and a shape. The paper changes
# one at a time on Abalone: the direction (`AMOL-asym`), the shape (`AMOL-exp`) and the base loss
# (`AMOL-OLL`, `AMOL-CE`). It leaves out the change that isolates the weight itself, namely no
# weight at all. This page adds it (`KL`), along with the simplest conceivable way to get rid of
# hedging (`CE-masked`): train with cross-entropy and forbid the center class as an answer.

# %% tags=["parameters"]
datasets: list = ["Abalone"]  # data sets or CSV files
target: str = ""  # label column of the CSV files among the data sets
order: list[str] = []  # their labels, lowest first, where these are no whole numbers
csv_options: dict = {}  # how the CSV files are written, such as {sep: ;}
methods: list = [
    "AMOL",
    "AMOL-asym",
    "AMOL-exp",
    "AMOL-OLL",
    "AMOL-CE",
    "CE",
    "KL",
    "CE-masked",
]  # losses to compare
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
from dataclasses import replace
from functools import partial

import numpy as np

from companion import StudySettings, run_study
from companion.page import figures, footer, pictures, say, show, tables
from companion.page.words import change, listed, quoted
from companion.paper.open_choices import register_readings
from companion.studies.recordings import load

register_readings()  # losses as the paper could also be read, such as "AMOL-OLL on Castagnos"

# %% tags=["show-input"]
settings = StudySettings(
    datasets=datasets, target=target, order=order, csv_options=csv_options,
    methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy", "MAE"])
dataset = settings.datasets[0]

# %% [markdown]
# ## The paper's table, and two controls
#
# [Table ablation](#tab-ablation) is the paper's table with accuracy and the two
# [controls](../book/glossary.md#term-control) added; [Figure ablation](#fig-ablation) draws it.

# %%
printed = summary[summary["metric"] != "MAE"]
controls = {"KL": "`KL`", "CE-masked": "`CE-masked`"}
named = " and ".join(text for name, text in controls.items() if name in settings.methods)
show(
    "tab-ablation", tables.comparison(printed, "metric", place="Table 4"),
    caption=f"The ablation, with accuracy{named and ' and as controls '}{named}.",
)  # fmt: skip

# %% [markdown]
# The paper's last column names the role of each row: AMOL is its primary method, AMOL-asym wins in
# CHR, AMOL-exp tests the functional form, AMOL-OLL is a negative result, AMOL-CE stays near the
# baseline, and CE is the reference.

# %%
drawn = printed[printed["dataset"] == dataset]
best = drawn[tables.best_mask(drawn)].groupby("metric", sort=False)["method"].agg(listed)
leads = "; ".join(f"{metric} {names}" for metric, names in best.items())
show(
    "fig-ablation", figures.dots(drawn, "metric"), data=drawn,
    caption=f"The ablation on {tables.literal(dataset)}: our mean with one standard deviation over "
    "seeds on either side, and the paper's mean, where it prints one, as a tick.",
    alt="A panel for each of QWK, hedging rates and accuracy, one row per loss."
    + (f" Best: {leads}." if leads else ""),
)  # fmt: skip


# %%
def step(method, baseline, metric):
    """Difference of two means on the ablation's data set; NaN where one is missing."""
    values = [tables.value(summary, dataset, name, metric) for name in (method, baseline)]
    return values[0] - values[1]


base, weight = step("KL", "CE", "QWK"), step("AMOL", "KL", "QWK")
chr_base, chr_weight = step("KL", "CE", "CHR"), step("AMOL", "KL", "CHR")
known = not np.isnan([base, weight, chr_base, chr_weight]).any()
mae = step("AMOL", "KL", "MAE")

# %%
say(
    "**No weight.** Going from cross-entropy to AMOL takes two steps: first to another base loss "
    "(`KL`), then to the weight.",
    (known and min(base, weight) > 0,
     f"Of AMOL's gain over cross-entropy in QWK, {base:.3f} comes from the base loss, which is a "
     f"Gaussian target in the reverse divergence, and {weight:.3f} from the weight. ([Is it the "
     "loss?](decisions.ipynb) tells target and direction apart, on more splits and data sets.)",
     "" if not known else
     f"The base loss alone makes QWK {change(base)}, the weight {change(weight)}."),
    (known and chr_base > 0 > chr_weight,
     f"For hedging the two pull apart: the base loss *raises* CHR, by {chr_base:.3f}, and the "
     f"weight lowers it by {-chr_weight:.3f}.",
     "" if not known else
     f"The base loss alone makes CHR {change(chr_base)}, the weight {change(chr_weight)}."),
    "" if np.isnan(mae) else f"MAE is {change(mae)} with the weight than without.",
)  # fmt: skip
inward = step("AMOL-asym", "AMOL", "CHR")
say(
    f"> **In short.** On {tables.literal(dataset)}, over random starts on one split:",
    (known and min(base, weight) > 0,
     f"of AMOL's {base + weight:.3f} over cross-entropy in QWK, {base:.3f} is there without its "
     f"weight and {weight:.3f} comes with it.",
     "" if not known else f"QWK is {change(base)} with AMOL's base loss than with cross-entropy, "
     f"and {change(weight)} with the weight than without."),
    "" if np.isnan(inward) else
    f"A weight on the way inward alone makes CHR {change(inward)}; what that costs is in the "
    "[discussion](07_discussion.ipynb).",
    below="title",
)  # fmt: skip

# %% [markdown]
# **No center.** Cross-entropy with its center class struck out has CHR 0 by construction, without
# having learned anything. The [discussion](07_discussion.ipynb) is about what such a zero hides.
#
# ## The paper's three findings

# %%
pair = partial(quoted, summary, dataset, least=2)
inward = [pair(metric, ["AMOL", "AMOL-asym"]) for metric in ("CHR", "QWK")]
say(
    "1. **Direction.**", *inward, "" if any(inward) else "AMOL and AMOL-asym aren't both here.",
    (step("AMOL-asym", "AMOL", "CHR") < 0,
     "Why does penalizing *fewer* classes lower the rate? With the symmetric weight the classes "
     "just beyond the center are penalized nearly as much as the center; with the inward one they "
     "are not, so that mass can move across."),
)  # fmt: skip


# %%
def spreads(prefix=""):
    """Standard deviations of the linear and the exponential form, by metric; ours or "paper_"."""
    return {
        metric: [tables.value(summary, dataset, m, metric, f"{prefix}std")
                 for m in ("AMOL", "AMOL-exp")]
        for metric in ("QWK", "CHR")
    }  # fmt: skip


def told(spread):
    """`spreads` in words."""
    return " and ".join(f"{a:.3f} against {b:.3f} in {metric}" for metric, (a, b) in spread.items())


ours, papers = spreads(), spreads("paper_")
say(
    "2. **Shape.**", pair("QWK", ["AMOL", "AMOL-exp"]), pair("CHR", ["AMOL", "AMOL-exp"]),
    r"The paper concludes that the shape hardly matters. The exponential peaks at $e^{\alpha}$ "
    r"instead of $1 + \alpha$, so part of the difference is plain strength.",
    (all(a > b for a, b in papers.values()) and not np.isnan([*ours.values()]).any(),
     "The paper prefers the linear form for its stability. Its own spreads say the opposite: the "
     f"standard deviation over seeds is {told(papers)} for the linear and the exponential form; "
     f"ours is {told(ours)}."),
)  # fmt: skip
say(
    "3. **Base.**", pair("QWK", ["AMOL", "AMOL-OLL", "AMOL-CE", "CE"]),
    pair("accuracy", ["AMOL", "AMOL-OLL"]),
    "The weight on the closeness loss is the paper's negative result.",
)  # fmt: skip

# %% [markdown]
# The paper attributes that collapse to a missing signal about the correct class. There is a simpler
# reading. The terms of the closeness loss [(oll)](02_background.ipynb#eq-oll) are *rewards* for
# mass near the truth; a weight that is largest in the center multiplies the reward there. If that
# is the cause, the same weight on OLL as Castagnos defines it,
# [(oll-castagnos)](02_background.ipynb#eq-oll-castagnos), whose terms are *penalties*, should not
# collapse:

# %% tags=["show-input"]
method, scores = "AMOL-OLL on Castagnos", ["QWK", "accuracy", "CHR"]
castagnos = run_study(replace(settings, datasets=(dataset,), methods=(method,)))
castagnos = tables.summarize(castagnos, scores)
kept = tables.value(castagnos, dataset, method, "QWK")
lost = tables.value(summary, dataset, "AMOL-OLL", "QWK")
cells = ", ".join(f"{m} {tables.quote(castagnos, dataset, method, m)}" for m in scores)
if not np.isnan(kept):
    say((kept > lost + 0.1, "It doesn't:", "Its figures:"), f"{cells}.")

# %% [markdown]
# ## How strong a weight?
#
# The paper uses $\alpha = 1$ throughout and says that it needs tuning. [Figure
# strength](#fig-strength) changes it on the three real data sets, from no weight at all to eight
# times the paper's.

# %%
asked = ["QWK", "CHR_ext", "center_recall", "extreme_recall"]
swept = load("alpha").melt(["dataset", "strength", "seed"], asked, "metric")
swept = swept.groupby(["metric", "dataset", "strength"], sort=False)["value"]
swept = swept.agg(["mean", "std"]).reset_index()
show(
    "fig-strength", pictures.strengths(swept), data=swept,
    caption="AMOL with weights of different strength: mean and standard deviation over five seeds "
    "(recorded runs; the first point, 0, is `KL`).",
    alt="Four panels, QWK, CHR_ext, center recall and extreme recall, against alpha from 0 to 8, "
    "one line per data set. QWK rises a little to alpha 1 or 2 and then falls, steeply on Abalone; "
    "CHR_ext and center recall fall throughout; extreme recall rises on Abalone and stays at zero "
    "on both wines until alpha 4.",
)  # fmt: skip

# %%
wide = swept.pivot(index=["metric", "dataset"], columns="strength", values="mean")
best = wide.loc["QWK"].idxmax(axis=1)
gap = (wide.loc["QWK"].max(axis=1) - wide.loc["QWK"][1.0]).max()
falling, fewer = ((wide.loc[metric].diff(axis=1).iloc[:, 1:] <= 1e-9).all(axis=None)
                  for metric in ("CHR_ext", "center_recall"))  # fmt: skip
say(
    (falling and fewer,
     "A stronger weight hedges less on every set, and finds fewer samples of the center class step "
     "by step: the two can't be had apart."),
    f"QWK is highest at α = {listed(f'{value:g} on {name}' for name, value in best.items())}; "
    f"α = 1 is at most {gap:.3f} below. [How much α](how_much_alpha.ipynb) changes the width "
    r"$\sigma$ of the target too, a second number to choose that the paper doesn't count.",
)  # fmt: skip

# %% [markdown]
# ## Exercises
#
# **1. Base and weight in MAE.** Take AMOL's difference from cross-entropy apart into that of the
# base loss (`KL` minus CE) and that of the weight (AMOL minus `KL`), for the mean absolute error.

# %% tags=["hide-cell"]
errors = runs.groupby(["dataset", "method"])["MAE"].mean().unstack()
errors = errors.reindex(columns=["CE", "KL", "AMOL"])
print("base loss:", (errors["KL"] - errors["CE"]).dropna().round(3).to_dict())
print("weight:   ", (errors["AMOL"] - errors["KL"]).dropna().round(3).to_dict())

# %% [markdown]
# **2. What a stronger weight does.** Run `amol run 06_ablation -p alpha 3`. First, at the
# strength of this page: which loss finds the fewest samples of the center class, and how often does
# it hedge?

# %% tags=["hide-cell"]
rates = runs.groupby("method")[["center_recall", "CHR_ext", "QWK"]].mean()
print(rates.sort_values("center_recall").round(3).to_string())

# %% tags=["remove-input"]
footer(settings, runs)
