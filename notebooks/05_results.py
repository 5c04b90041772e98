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
# # Results: agreement and hedging, side by side
#
# Every data set, every loss, every [seed](../book/glossary.md#term-seed): the paper's two main
# tables, its two result figures and its passages on single data sets. The paper's numbers stand
# under ours; the [ledger](ledger.ipynb) judges them. To look at single networks, filter the live
# chart of [Figure explorer-results](explorer.ipynb#fig-explorer-results).

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

from amol.losses import PAPER_METHODS, center_class
from companion import StudySettings, load_dataset, predictions, run_study
from companion.claims.tails import certainty
from companion.data.dataset import split
from companion.page import figures, footer, say, show, show_numbers, tables
from companion.page.words import change, changes, listed, on

settings = StudySettings(
    datasets=datasets, target=target, order=order, methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)

# %% tags=["remove-cell"]
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE"])
variants = ("AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")
main = summary[~summary["method"].isin(variants)]
main = summary if main.empty else main
means = summary.pivot(index=["dataset", "metric"], columns="method", values="mean")
sets = list(settings.datasets)


def against(method, metric, baseline="CE"):
    """Mean of a method minus a baseline's, by data set; empty where either is missing."""
    if not {method, baseline} <= set(means):
        return pd.Series(dtype=float)
    wide = means.xs(metric, level="metric").reindex(sets)
    return (wide[method] - wide[baseline]).dropna()


# %% tags=["remove-cell"]
def quoted(dataset, metric, *names):
    """A metric of several methods on one data set, as text, with the paper's in parentheses."""
    cells = []
    for name in names:
        ours, paper = (tables.quote(summary, dataset, name, metric, paper=p) for p in (0, 1))
        cells.append(f"{ours} with {name}" + (f" (paper: {paper})" if paper != tables.DASH else ""))
    return listed(cells)


# %% tags=["remove-cell"]
def lead(part, method, what):
    """Where a method has the best mean or ties for it, as a sentence, or none."""
    own = part[(part["method"] == method) & part["mean"].notna()]
    if own.empty or part["method"].nunique() == 1:
        return ""
    won = list(own.loc[tables.best_mask(part), "dataset"])
    where = "on every data set" if won == sets and len(sets) > 1 else on(won)
    return f"{method} has the {what} mean, alone or tied, {where}."


def compared(metric, method="AMOL", baseline="CE", name="cross-entropy's"):
    """A method's differences from a baseline, as a sentence, or none."""
    found = against(method, metric, baseline)
    return f"{method}'s is {changes(found)} than {name}." if len(found) else ""


# %% [markdown]
# ## Agreement

# %% tags=["remove-output"]
agreement = main[main["metric"] == "QWK"]
show("tab-qwk", tables.comparison(agreement, place="Table 2"))

# %% tags=["remove-cell"]
say("qwk_lead", True, f"{lead(agreement, 'AMOL', 'best')} {compared('QWK')}")

# %% [markdown]
# ```{result} tab-qwk
# QWK (higher is better).
# ```
#
# {glue:md}`qwk_lead` The paper reports it best on all four.
#
# ## Hedging
#
# [Table chr](#tab-chr) holds the extended hedging rate; for fewer than five classes, whose center
# would lie among the pooled ones, the plain rate.

# %% tags=["remove-output"]
few = [name for name in settings.datasets if settings.load(name).num_classes < 5]
rate = "CHR" if len(few) == len(settings.datasets) else "CHR_ext"
hedging = main[main["metric"] == rate]
show("tab-chr", tables.comparison(hedging, place="Table 3"))

# %% tags=["remove-cell"]
oll = against("OLL", rate)
say(
    "chr_oll", (oll > 0).any(),
    f"OLL, which goes by the distance from the truth, hedges more than cross-entropy on "
    f"{listed(oll.index[oll > 0])}; the paper names Wine Red.",
    "OLL hedges nowhere more than cross-entropy; the paper names Wine Red." if len(oll) else "",
)  # fmt: skip
zero = [tables.value(summary, "Synthetic", m, "CHR") for m in ("AMOL", "CE")]
say(
    "chr_synthetic", zero[0] < 0.0005 and zero[1] < 0.0005,
    "The paper's CHR of 0.000 for AMOL on Synthetic comes out again, but says nothing: "
    f"cross-entropy's is {zero[1]:.3f} there too.",
)  # fmt: skip
say("chr_lead", True, f"{lead(hedging, 'AMOL', 'lowest')} {compared(rate)}")
show_numbers(hedging_rate=rate)

# %% [markdown]
# ```{result} tab-chr
# {glue:text}`hedging_rate` (lower is better).
# ```
#
# {glue:md}`chr_lead` {glue:md}`chr_oll` {glue:md}`chr_synthetic`
# [Figure chrext](#fig-chrext) has all losses.

# %% tags=["remove-output"]
all_rates = summary[summary["metric"] == rate]
figure = figures.dots(all_rates, "dataset", flags={"Wine Red": " †"})
show("fig-chrext", figure, all_rates)
say("red_note", "Wine Red" in sets,
    "†Wine Red has next to no samples in its outermost classes.")  # fmt: skip

# %% [markdown]
# ```{result} fig-chrext
# :alt: >-
# :  One panel per data set, one row per loss, {hedging_rate} to the right. Dots are our means with
# :  error bars, ticks the paper's means. {chr_lead}
#
# {glue:text}`hedging_rate` of every loss (as in the paper's Figure 3): dot and bar are our mean and
# one standard deviation over seeds, the tick is the paper's mean where it prints one. The bars show
# the spread over random starts on one fixed split, not the uncertainty about new data.
# {glue:md}`red_note`
# ```
#
# ## Where the probability goes
#
# A hedging rate looks at the predicted class alone. [Figure avgdist](#fig-avgdist) looks at the
# probabilities behind it.

# %% tags=["remove-output"]
shown = "Wine White" if "Wine White" in settings.datasets else settings.datasets[0]
others = set(PAPER_METHODS) - {"CE", "AMOL", "AMOL-asym"}
lines, entropy = [], {}
for method in [m for m in settings.methods if m not in others] or settings.methods[:3]:
    y_true, _, probabilities = predictions(settings, shown, method)
    num_classes = probabilities.shape[-1]
    side = min(2, center_class(num_classes))  # classes pooled at each end
    extreme = np.minimum(y_true, num_classes - 1 - y_true) < side
    by_seed = pd.DataFrame(probabilities[:, extreme].mean(axis=1))  # (seeds, K)
    line = by_seed.agg(["mean", "std"]).T.rename_axis("k").reset_index()
    lines.append(line.assign(method=method))
    entropy[method] = np.mean([certainty(y_true, p)["entropy"] for p in probabilities])
average = pd.concat(lines)[["method", "k", "mean", "std"]]
truth = pd.Series(np.bincount(y_true[extreme], minlength=num_classes) / extreme.sum())
figure = figures.average_distribution(average, truth, center_class(num_classes))
show("fig-avgdist", figure, average)

# %% tags=["remove-cell"]
ends = [*range(side), *range(num_classes - side, num_classes)]
mass = average.pivot(index="method", columns="k", values="mean")
at_center, at_ends = mass[center_class(num_classes)], mass[ends].sum(axis=1)
show_numbers(
    avg_dataset=shown,
    avg_samples=int(extreme.sum()),
    avg_center=listed(f"{value:.3f} under {name}" for name, value in at_center.items()),
    avg_ends=listed(f"{value:.3f} under {name}" for name, value in at_ends.items()),
)
known = {"CE", "AMOL-asym"} <= set(entropy)
say(
    "avg_entropy", known and entropy["AMOL-asym"] > entropy["CE"],
    "The paper calls AMOL-asym's model less certain overall. Its entropy says so: "
    f"{entropy.get('AMOL-asym', 0):.2f} nats over the classes at the ends, against "
    f"{entropy.get('CE', 0):.2f} for cross-entropy.",
)  # fmt: skip

# %% [markdown]
# ```{result} fig-avgdist
# :alt: >-
# :  Mean predicted probability against class, one line per loss, over gray bars that show where the
# :  samples truly lie, at both ends. The center class gets {avg_center}.
#
# Mean predicted probability over the extreme test samples of {glue:text}`avg_dataset`
# (n = {glue:text}`avg_samples:d`; as in the paper's Figure 2), with one standard deviation over
# seeds. Gray bars: where these samples truly belong. The shaded band is the center class.
# ```
#
# The center class gets {glue:text}`avg_center`; the classes at both ends, where the samples belong,
# {glue:text}`avg_ends`. {glue:md}`avg_entropy`
#
# ## The data sets one by one

# %% tags=["remove-cell"]
three = [m for m in ("CE", "AMOL", "AMOL-asym") if m in settings.methods]
rates = [tables.value(summary, "Abalone", m, "CHR") for m in three]
say("aba", not np.isnan(rates).all(),
    "**Abalone** has many test samples in its outermost classes, so the plain rate is worth "
    f"reading. CHR is {quoted('Abalone', 'CHR', *three)}. A rate of zero looks like a cure; the "
    "[discussion](07_discussion.ipynb) looks at what the networks answer instead.")  # fmt: skip
drops = against("AMOL-asym", "CHR_ext")
white = (f"CHR_ext is {quoted('Wine White', 'CHR_ext', *three)}, "
         f"QWK {quoted('Wine White', 'QWK', *three)}.")  # fmt: skip
say("white", "Wine White" in drops and len(drops) > 1 and drops.idxmin() == "Wine White",
    f"**Wine White** has the largest drop. {white}",
    f"**Wine White.** {white}" if "Wine White" in drops else "")  # fmt: skip

# %% tags=["remove-cell"]
red = load_dataset("Wine Red")
test = red.y[split(red.y, settings.split_seed)[2]]
to_end = np.minimum(test, red.num_classes - 1 - test)
pooled = int((to_end <= 1).sum())
gap = against("AMOL", "CHR_ext").get("Wine Red", np.nan)
say("red", not np.isnan(gap),
    f"**Wine Red** has too few samples to say. Its test part holds {(to_end == 0).sum()} of the "
    f"outermost classes and {pooled} when two classes on each side are pooled, so that one sample "
    f"moves CHR_ext by {1 / pooled:.3f}; AMOL's is {change(gap)} than cross-entropy's. The paper "
    "itself makes no strong claim here.")  # fmt: skip

# %% [markdown]
# {glue:md}`aba:myst`
#
# {glue:md}`white`
#
# {glue:md}`red`
#
# ## What the paper measures and doesn't print
#
# Accuracy, MAE and AMAE are among the paper's metrics; apart from two accuracies in its ablation it
# prints none of them. AMOL is recommended for QWK and MAE, so [Table mae](#tab-mae) matters most.

# %% tags=["remove-output"]
show("tab-mae", tables.comparison(summary[summary["metric"] == "MAE"]))

# %% tags=["remove-cell"]
mae = against("AMOL", "MAE")
higher = mae[mae > 0]
say(
    "mae_amol", 2 * len(higher) > len(mae) > 0,
    f"AMOL's MAE is *higher* than cross-entropy's on {listed(higher.index)} "
    f"({changes(higher) if len(higher) else ''}).",
    f"AMOL's MAE is {changes(mae)} than cross-entropy's." if len(mae) else "",
)  # fmt: skip
gained = against("AMOL", "QWK").reindex(higher.index) > 0
say(
    "mae_and_qwk", len(gained) > 0 and gained.all(),
    "That its QWK is higher there all the same is no contradiction: QWK squares the distance and "
    "corrects for chance, so that few large errors count for more than many small ones.",
)  # fmt: skip

# %% tags=["remove-cell"]
leaders = []
for metric in ("QWK", "accuracy", "MAE", "AMAE"):
    part = summary[summary["metric"] == metric]
    top = part[tables.best_mask(part)].groupby("dataset", sort=False)["method"].agg(listed)
    text = "; ".join(f"{tables.literal(name)}: {who}" for name, who in top.items())
    leaders += [f"- {tables.HEADINGS.get(metric, metric)}. {text}."] if text else []
say("leaders", len(leaders) > 0,
    "\n".join(["Who leads depends on what is asked:", "", *leaders]))  # fmt: skip

# %% [markdown]
# ```{result} tab-mae
# MAE, in classes (lower is better).
# ```
#
# {glue:md}`mae_amol` {glue:md}`mae_and_qwk` [Ablation: which part does the
# work?](06_ablation.ipynb) compares it with `KL`, AMOL without the weight.
#
# ```{glue:md} leaders
# :format: myst
# ```
#
# ## Agreement and hedging at once

# %% tags=["remove-output"]
traded = "Abalone" if "Abalone" in settings.datasets else settings.datasets[-1]
x = "CHR" if traded in few else "CHR_ext"
tradeoff = summary[(summary["dataset"] == traded) & summary["metric"].isin(["QWK", x])]
figure = figures.tradeoff(tradeoff, x=x, y="QWK")
wide = tradeoff.pivot(index="method", columns="metric", values="mean").dropna()
best = [wide["QWK"].idxmax(), wide[x].idxmin()] if len(wide) > 1 else []
show_numbers(
    traded=traded,
    trade_ends=f"Highest is {best[0]}, leftmost {best[1]}." if best else "",
)
show("fig-tradeoff", figure, tradeoff)

# %% [markdown]
# ```{result} fig-tradeoff
# :alt: >-
# :  Scatter of QWK, upward, against {hedging_rate}, rightward, one named point per loss with error
# :  bars. {trade_ends}
#
# Agreement against hedging on {glue:text}`traded`: up is better, left hedges less, which is better
# only with a center class that is still found ([Discussion: what the hedging rate doesn't
# see](07_discussion.ipynb)). Bars are one standard deviation over seeds.
# ```
#
# ## Exercises
#
# **1. Other scores.** Which loss has the best mean accuracy on each data set, and which the best
# MAE? Compare with QWK.

# %% tags=["hide-cell"]
for metric, best in {"QWK": "idxmax", "accuracy": "idxmax", "MAE": "idxmin"}.items():
    table = runs.groupby(["dataset", "method"])[metric].mean().unstack().dropna(how="all")
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
