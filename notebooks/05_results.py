# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (sec-results)=
# # Results: agreement and hedging, side by side
#
# Every data set, every loss, every {term}`seed`: the paper's two main tables, its two result
# figures and its passages on single data sets. The paper's numbers stand under ours. What counts as
# *reproduced* is decided by rules written down beforehand, claim by claim, in the
# {ref}`conclusion <sec-conclusion>`. To look at single networks, filter the live chart of
# {numref}`fig-explorer-results`.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets or CSV files
target: str = ""  # label column of the CSV files among the data sets
order: list[str] = []  # their labels, lowest first, where these are no whole numbers
methods: list = [
    "CE",
    "OLL",
    "SORD",
    "AMOL",
    "AMOL-asym",
    "AMOL-exp",
    "AMOL-OLL",
    "AMOL-CE",
]  # losses to compare
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import numpy as np
import pandas as pd

from amol.experiments import StudySettings, load_dataset, predictions, run_study
from amol.experiments.datasets import split
from amol.losses import PAPER_METHODS, center_class
from amol.report import figures, footer, show, show_numbers, tables

settings = StudySettings(
    datasets=datasets, target=target, order=order, methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)

# %% [markdown]
# ## Agreement
#
# {numref}`tab-qwk` holds the quadratic weighted kappa of the baselines and of AMOL. AMOL's variants
# wait for the {ref}`ablation <sec-ablation>`.

# %%
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE"])
variants = ("AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")
main = summary[~summary["method"].isin(variants)]
main = summary if main.empty else main

# %% tags=["remove-output"]
agreement = main[main["metric"] == "QWK"]
show("tab-qwk", tables.comparison(agreement, place="Table 2"))

# %% tags=["remove-cell"]
baseline = "CE"


def led_by(part, method):
    """Data sets on which a method has the best mean, or ties for it, as text."""
    won = part.loc[tables.best_mask(part) & (part["method"] == method), "dataset"]
    return ", ".join(won) or "none"


def differences(part, method):
    """Mean of a method minus the baseline's, by data set; empty where either is missing."""
    means = part.pivot(index="dataset", columns="method", values="mean")
    means = means.reindex(index=part["dataset"].unique(), columns=[baseline, method]).dropna()
    return means[method] - means[baseline]


# %% tags=["remove-cell"]
def span(changes):
    """Smallest and largest change, as text."""
    if changes.empty:
        return tables.DASH, tables.DASH
    return tuple(f"{d:+.3f}".replace("-", "−") for d in (changes.min(), changes.max()))


# %% tags=["remove-cell"]
low, high = span(differences(agreement, "AMOL"))
show_numbers(
    qwk_led=led_by(agreement, "AMOL"),
    qwk_gain_low=low,
    qwk_gain_high=high,
)

# %% [markdown]
# ```{result} tab-qwk
# QWK (higher is better).
# ```
#
# The paper reports AMOL best on all four. In this run it leads, alone or tied, on:
# {glue:text}`qwk_led`. Its mean lies between {glue:text}`qwk_gain_low` and
# {glue:text}`qwk_gain_high` from that of cross-entropy.
#
# ## Hedging
#
# {numref}`tab-chr` holds the extended hedging rate; for fewer than five classes, whose center would
# lie among the pooled ones, the plain rate.

# %% tags=["remove-output"]
few = [name for name in settings.datasets if settings.load(name).num_classes < 5]
rate = "CHR" if len(few) == len(settings.datasets) else "CHR_ext"
hedging = main[main["metric"] == rate]
show("tab-chr", tables.comparison(hedging, place="Table 3"))

# %% tags=["remove-cell"]
low, high = span(differences(hedging, "AMOL"))
oll = differences(hedging, "OLL")
show_numbers(
    hedging_rate=rate,
    chr_led=led_by(hedging, "AMOL"),
    chr_gain_low=low,
    chr_gain_high=high,
    oll_worse=", ".join(oll.index[oll > 0]) or "none",
    synthetic_chr=tables.quote(summary, "Synthetic", "AMOL", "CHR"),
    synthetic_chr_paper=tables.quote(summary, "Synthetic", "AMOL", "CHR", paper=True),
)

# %% [markdown]
# ```{result} tab-chr
# {glue:text}`hedging_rate` (lower is better).
# ```
#
# AMOL has the lowest rate, alone or tied, on: {glue:text}`chr_led`. Against cross-entropy its mean
# moves by {glue:text}`chr_gain_low` to {glue:text}`chr_gain_high`. The paper remarks that OLL,
# which goes by distance from the truth, doesn't reliably hedge less than cross-entropy, and names
# Wine Red. Here it hedges more on: {glue:text}`oll_worse`. On Synthetic the paper reports a plain
# CHR of {glue:text}`synthetic_chr_paper` for AMOL; ours is {glue:text}`synthetic_chr`.
#
# {numref}`fig-chrext` shows all losses on all data sets, with the spread over seeds.

# %% tags=["remove-output"]
all_rates = summary[summary["metric"] == rate]
figure = figures.dots(all_rates, "dataset", flags={"Wine Red": " †"})
show("fig-chrext", figure, all_rates)

# %% [markdown]
# ```{result} fig-chrext
# :alt: >-
# :  One panel a data set, one row a loss, the extended hedging rate to the right. Dots are our
# :  means with error bars, ticks the paper's means. On most panels AMOL and AMOL-asym lie left of
# :  cross-entropy, and AMOL-OLL furthest right.
#
# CHR_ext of every loss (the paper's Figure 3): dot and bar are our mean and one standard deviation
# over seeds on either side, the tick is the paper's mean where it prints one. The bars show the
# spread over random starts on one fixed split, not the uncertainty about new data. †Wine Red has
# next to no samples in its outermost classes.
# ```
#
# ## Where the probability goes
#
# A rate counts answers. {numref}`fig-avgdist` looks at the probabilities behind them, averaged over
# the extreme test samples.

# %% tags=["remove-output"]
shown = "Wine White" if "Wine White" in settings.datasets else settings.datasets[0]
others = set(PAPER_METHODS) - {"CE", "AMOL", "AMOL-asym"}
lines = []
for method in [m for m in settings.methods if m not in others] or settings.methods[:3]:
    y_true, _, probabilities = predictions(settings, shown, method)
    num_classes = probabilities.shape[-1]
    side = min(2, center_class(num_classes))  # classes pooled at each end
    extreme = np.minimum(y_true, num_classes - 1 - y_true) < side
    by_seed = pd.DataFrame(probabilities[:, extreme].mean(axis=1))  # (seeds, K)
    line = by_seed.agg(["mean", "std"]).T.rename_axis("k").reset_index()
    lines.append(line.assign(method=method))
average = pd.concat(lines)[["method", "k", "mean", "std"]]
truth = pd.Series(np.bincount(y_true[extreme], minlength=num_classes) / extreme.sum())
figure = figures.average_distribution(average, truth, center_class(num_classes))
show("fig-avgdist", figure, average)

# %% tags=["remove-cell"]
ends = [*range(side), *range(num_classes - side, num_classes)]
mass = average.pivot(index="method", columns="k", values="mean")
numbers = {"avg_dataset": shown, "avg_samples": int(extreme.sum())}
for key, method in {"ce": "CE", "amol": "AMOL", "asym": "AMOL-asym"}.items():
    known = method in mass.index
    at_center = f"{mass.loc[method, center_class(num_classes)]:.3f}" if known else tables.DASH
    at_ends = f"{mass.loc[method, ends].sum():.3f}" if known else tables.DASH
    numbers |= {f"avg_center_{key}": at_center, f"avg_ends_{key}": at_ends}
show_numbers(**numbers)

# %% [markdown]
# ```{result} fig-avgdist
# :alt: >-
# :  Mean predicted probability against class, one line a loss, over gray bars that show where the
# :  samples truly lie, in the two outermost classes on each side. The line of cross-entropy
# :  peaks at the center class; those of AMOL and AMOL-asym are lower and flatter there.
#
# Mean predicted probability over the extreme test samples (the paper's Figure 2), one line a loss,
# with one standard deviation over seeds. Gray bars: where these samples truly belong. The shaded
# band is the center class.
# ```
#
# On {glue:text}`avg_dataset` ({glue:text}`avg_samples:d` such samples), the center class gets
# {glue:text}`avg_center_ce` of the probability under cross-entropy, {glue:text}`avg_center_amol`
# under AMOL and {glue:text}`avg_center_asym` under AMOL-asym. The classes at both ends, where
# the samples belong, get {glue:text}`avg_ends_ce`, {glue:text}`avg_ends_amol` and
# {glue:text}`avg_ends_asym`. The paper reads its own figure this way: less mass in the center
# doesn't have to mean more at the right end.

# %% [markdown]
# ## Abalone: enough extreme samples
#
# Of the four sets, Abalone has by far the most test samples in its two outermost classes
# ({numref}`tab-extremes`), so the plain rate is worth reading there.

# %% tags=["remove-cell"]
sets = {"Abalone": "aba", "Wine White": "white", "Wine Red": "red"}
quoted = {}
for dataset, prefix in sets.items():
    absent = f"{dataset} is not part of this run, hence the dashes. "
    quoted[f"{prefix}_note"] = "" if dataset in settings.datasets else absent
    for method, key in {"CE": "ce", "AMOL": "amol", "AMOL-asym": "asym"}.items():
        for metric in ("CHR", "CHR_ext", "QWK"):
            name = f"{prefix}_{metric.lower()}_{key}"
            cell = (summary, dataset, method, metric)
            quoted |= {name: tables.quote(*cell), f"{name}_paper": tables.quote(*cell, paper=True)}
show_numbers(**quoted)

# %% [markdown]
# {glue:text}`aba_note`Cross-entropy hedges at a rate of {glue:text}`aba_chr_ce` (paper:
# {glue:text}`aba_chr_ce_paper`), AMOL at {glue:text}`aba_chr_amol` (paper:
# {glue:text}`aba_chr_amol_paper`), AMOL-asym at {glue:text}`aba_chr_asym` (paper:
# {glue:text}`aba_chr_asym_paper`). Extended to two classes a side, AMOL-asym's rate is
# {glue:text}`aba_chr_ext_asym` (paper: {glue:text}`aba_chr_ext_asym_paper`) where that of
# cross-entropy is {glue:text}`aba_chr_ext_ce` (paper: {glue:text}`aba_chr_ext_ce_paper`).
#
# A rate of zero for every start looks like a cure. The {ref}`discussion <sec-discussion>` looks at
# what the networks answer instead, and to whom.
#
# ## Wine White: the largest drop

# %% tags=["remove-cell"]
drops = {}
for key, column in {"white_drop": "mean", "white_drop_paper": "paper_mean"}.items():
    asym, ce = (
        tables.value(summary, "Wine White", method, "CHR_ext", column)
        for method in ("AMOL-asym", "CE")
    )
    text = tables.DASH if np.isnan(asym - ce) else f"{100 * (asym - ce) / ce:+.0f} %"
    drops[key] = text.replace("-", "−")
white = summary[(summary["dataset"] == "Wine White") & (summary["metric"] == "QWK")]
best = white.loc[tables.best_mask(white), "method"]
show_numbers(**drops, white_best=", ".join(best) or tables.DASH)

# %% [markdown]
# {glue:text}`white_note`Here CHR_ext goes from {glue:text}`white_chr_ext_ce` under cross-entropy
# (paper: {glue:text}`white_chr_ext_ce_paper`) to {glue:text}`white_chr_ext_asym` under AMOL-asym
# (paper: {glue:text}`white_chr_ext_asym_paper`), a change of {glue:text}`white_drop` (paper:
# {glue:text}`white_drop_paper`). The QWK of AMOL-asym is {glue:text}`white_qwk_asym` (paper:
# {glue:text}`white_qwk_asym_paper`, its best on this set). The best of all losses run here:
# {glue:text}`white_best`.
#
# ## Wine Red: too few samples to say

# %% tags=["remove-cell"]
red = load_dataset("Wine Red")
red_test = red.y[split(red.y, settings.split_seed)[2]]
to_end = np.minimum(red_test, red.num_classes - 1 - red_test)
show_numbers(
    red_outermost=int((to_end == 0).sum()),
    red_pooled=int((to_end <= 1).sum()),
    red_one=float(1 / (to_end <= 1).sum()),
)

# %% [markdown]
# {glue:text}`red_note`Its test part holds {glue:text}`red_outermost:d` samples of the two outermost
# classes, and {glue:text}`red_pooled:d` when two classes a side are pooled. One sample more or less
# moves CHR_ext by {glue:text}`red_one:.3f`. Against that, AMOL's rate is
# {glue:text}`red_chr_ext_amol` (paper: {glue:text}`red_chr_ext_amol_paper`) and that of
# cross-entropy {glue:text}`red_chr_ext_ce` (paper: {glue:text}`red_chr_ext_ce_paper`). Its QWK is
# {glue:text}`red_qwk_amol` (paper: {glue:text}`red_qwk_amol_paper`), against
# {glue:text}`red_qwk_ce` (paper: {glue:text}`red_qwk_ce_paper`). The paper itself makes no strong
# claim here.
#
# ## What the paper measured but doesn't print
#
# Accuracy, MAE and AMAE are named among the paper's metrics; apart from two accuracies in its
# ablation no value is given. Here they are, for every loss.

# %% tags=["remove-output"]
show("tab-accuracy", tables.comparison(summary[summary["metric"] == "accuracy"]))
show("tab-mae", tables.comparison(summary[summary["metric"] == "MAE"]))
show("tab-amae", tables.comparison(summary[summary["metric"] == "AMAE"]))

# %% tags=["remove-cell"]
leaders = {}
for metric in ("QWK", "accuracy", "MAE", "AMAE"):
    part = summary[summary["metric"] == metric]
    top = part[tables.best_mask(part)].groupby("dataset", sort=False)["method"].agg(" and ".join)
    leaders[f"leaders_{metric.lower()}"] = "; ".join(f"{name}: {who}" for name, who in top.items())
show_numbers(**leaders)

# %% [markdown]
# ```{result} tab-accuracy
# Accuracy (higher is better).
# ```
#
# ```{result} tab-mae
# MAE, in classes (lower is better).
# ```
#
# ```{result} tab-amae
# AMAE, in classes (lower is better).
# ```
#
# Who leads depends on what is asked:
#
# - QWK. {glue:text}`leaders_qwk`.
# - Accuracy. {glue:text}`leaders_accuracy`.
# - MAE. {glue:text}`leaders_mae`.
# - AMAE. {glue:text}`leaders_amae`.
#
# ## One picture
#
# Agreement and hedging at once, on the data set where hedging is measured best.

# %% tags=["remove-output"]
traded = "Abalone" if "Abalone" in settings.datasets else settings.datasets[-1]
x = "CHR" if traded in few else "CHR_ext"
tradeoff = summary[(summary["dataset"] == traded) & summary["metric"].isin(["QWK", x])]
figure = figures.tradeoff(tradeoff, x=x, y="QWK")
show_numbers(traded=traded)
show("fig-tradeoff", figure, tradeoff)

# %% [markdown]
# ```{result} fig-tradeoff
# :alt: >-
# :  Scatter of QWK, upward, against the extended hedging rate, rightward, one named point a loss
# :  with error bars. The top left corner is best. AMOL and its variants AMOL-asym and AMOL-exp lie
# :  there; cross-entropy lies lower and to the right; AMOL-OLL lies off the chart.
#
# Agreement against hedging on {glue:text}`traded`: higher is better, further left hedges less. The
# bars are one standard deviation over seeds.
# ```

# %% [markdown]
# ## Exercises
#
# **1. Other scores.** Which loss has the best mean accuracy on each data set, and which the best
# MAE? Compare with QWK.

# %% tags=["hide-cell"]
for metric, best in {"QWK": "idxmax", "accuracy": "idxmax", "MAE": "idxmin"}.items():
    table = runs.groupby(["dataset", "method"])[metric].mean().unstack()
    winners = getattr(table, best)(axis=1)
    print(f"{metric:9}", ", ".join(f"{name}: {method}" for name, method in winners.items()))

# %% [markdown]
# **2. In standard errors.** How many standard errors of the difference does AMOL's QWK lie above
# that of cross-entropy? Try three seeds as well: `amol run 05_results -p seeds 3`.

# %% tags=["hide-cell"]
table = runs.groupby(["dataset", "method"])["QWK"].agg(["mean", "sem"]).unstack()
average, error = (table[part].reindex(columns=["AMOL", "CE"]) for part in ("mean", "sem"))
distance = (average["AMOL"] - average["CE"]) / (error**2).sum(axis=1, skipna=False) ** 0.5
print(distance.round(1).to_string())

# %% tags=["remove-input"]
footer(settings, runs)
