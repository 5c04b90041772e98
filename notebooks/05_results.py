# %% [markdown]
# # Results: agreement and hedging, side by side
#
# Every data set, every loss, every [seed](../book/glossary.md#term-seed), that is every random
# start of the network: the paper's two main tables, its two result figures and its passages on
# single data sets. The paper's numbers stand under ours; the [ledger](ledger.ipynb) judges them. To
# look at single networks, filter the live chart of [Figure
# explorer-results](explorer.ipynb#fig-explorer-results).

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets or CSV files
target: str = ""  # label column of the CSV files among the data sets
order: list[str] = []  # their labels, lowest first, where these are no whole numbers
csv_options: dict = {}  # how the CSV files are written, such as {sep: ;}
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
from companion.page import figures, footer, say, show, tables
from companion.page.words import change, changes, listed, on, quoted

# %% [markdown]
# Each row of `runs` is one network, trained as [Experiments](04_experiments.ipynb) shows for one of
# them:

# %% tags=["show-input"]
settings = StudySettings(
    datasets=datasets, target=target, order=order, csv_options=csv_options,
    methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE"])

# %% [markdown]
# ## Agreement
#
# Its measure is [QWK](../book/glossary.md#term-QWK), the quadratic weighted kappa: 1 for labels
# that are all met, 0 for chance.

# %%
sets = list(settings.datasets)
variants = ("AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE")
main = summary[~summary["method"].isin(variants)]
main = summary if main.empty else main
means = summary.pivot(index=["dataset", "metric"], columns="method", values="mean")


def against(method, metric, baseline="CE"):
    """Mean of a method minus a baseline's, by data set; empty where either is missing."""
    if not {method, baseline} <= set(means):
        return pd.Series(dtype=float)
    wide = means.xs(metric, level="metric").reindex(sets)
    return (wide[method] - wide[baseline]).dropna()


# %%
def lead(part, method, what):
    """Where a method has the best mean or ties for it, as a sentence, or none."""
    own = part[(part["method"] == method) & part["mean"].notna()]
    if own.empty or part["method"].nunique() == 1:
        return ""
    won = list(own.loc[tables.best_mask(part), "dataset"])
    where = "on every data set" if won == sets and len(sets) > 1 else on(won)
    return (bool(won), f"{method} has the {what} mean, alone or tied, {where}.",
            f"{method} has the {what} mean nowhere.")  # fmt: skip


def compared(metric, method="AMOL", baseline="CE", name="cross-entropy's"):
    """A method's differences from a baseline, as a sentence, or none."""
    found = against(method, metric, baseline)
    return f"{method}'s is {changes(found)} than {name}." if len(found) else ""


# %% tags=["show-input"]
agreement = main[main["metric"] == "QWK"]
show("tab-qwk", tables.comparison(agreement, place="Table 2"), caption="QWK (higher is better).")
say(lead(agreement, "AMOL", "best"), compared("QWK"), "The paper reports it best on all four.")

# %% [markdown]
# ## Hedging
#
# [Table chr](#tab-chr) holds the extended hedging rate; for fewer than five classes, whose center
# would lie among the pooled ones, the plain rate.

# %% tags=["show-input"]
few = [name for name in settings.datasets if settings.load(name).num_classes < 5]
rate = "CHR" if len(few) == len(settings.datasets) else "CHR_ext"
hedging = main[main["metric"] == rate]
show("tab-chr", tables.comparison(hedging, place="Table 3"), caption=f"{rate} (lower is better).")

# %%
oll = against("OLL", rate)
zero = [tables.value(summary, "Synthetic", m, "CHR") for m in ("AMOL", "CE")]
least = lead(hedging, "AMOL", "lowest")
say(
    least, compared(rate),
    ((oll > 0).any(),
     f"OLL, which goes by the distance from the truth, hedges more than cross-entropy on "
     f"{listed(oll.index[oll > 0])}; the paper names Wine Red.",
     "OLL hedges nowhere more than cross-entropy; the paper names Wine Red." if len(oll) else ""),
    (zero[0] < 0.0005 and zero[1] < 0.0005,
     "The paper's CHR of 0.000 for AMOL on Synthetic comes out again, but says nothing: "
     f"cross-entropy's is {zero[1]:.3f} there too."),
    "[Figure chrext](#fig-chrext) has all losses.",
)  # fmt: skip

# %%
rates = summary[summary["metric"] == rate]
show(
    "fig-chrext", figures.dots(rates, "dataset", flags={"Wine Red": " †"}), data=rates,
    caption=[
        f"{rate} of every loss (as in the paper's Figure 3): dot and bar are our mean and one "
        "standard deviation over seeds, the tick is the paper's mean where it prints one. The bars "
        "show the spread over random starts on one fixed split, not the uncertainty about new "
        "data.",
        ("Wine Red" in sets, "†Wine Red has next to no samples in its outermost classes."),
    ],
    alt=[f"One panel per data set, one row per loss, {rate} to the right. Dots are our means with "
         "error bars, ticks the paper's means.", least, compared(rate)],
)  # fmt: skip

# %% [markdown]
# ## Where the probability goes
#
# A hedging rate looks at the predicted class alone. [Figure avgdist](#fig-avgdist) looks at the
# probabilities behind it.

# %% tags=["show-input"]
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

# %%
center = center_class(num_classes)
ends = [*range(side), *range(num_classes - side, num_classes)]
mass = average.pivot(index="method", columns="k", values="mean")
at_center, at_ends = (
    listed(f"{value:.3f} under {name}" for name, value in part.items())
    for part in (mass[center], mass[ends].sum(axis=1))
)

# %%
show(
    "fig-avgdist", figures.average_distribution(average, truth, center), data=average,
    caption=f"Mean predicted probability over the extreme test samples of {tables.literal(shown)} "
    f"(n = {extreme.sum()}; as in the paper's Figure 2), with one standard deviation over seeds. "
    "Gray bars: where these samples truly belong. The shaded band is the center class.",
    alt="Mean predicted probability against class, one line per loss, over gray bars that show "
    f"where the samples truly lie, at both ends. The center class gets {at_center}.",
)  # fmt: skip
say(
    f"The center class gets {at_center}; the classes at both ends, where the samples belong, "
    f"{at_ends}.",
    ({"CE", "AMOL-asym"} <= set(entropy) and entropy["AMOL-asym"] > entropy["CE"],
     "The paper calls AMOL-asym's model less certain overall. Its entropy says so: "
     f"{entropy.get('AMOL-asym', 0):.2f} nats over the classes at the ends, against "
     f"{entropy.get('CE', 0):.2f} for cross-entropy."),
)  # fmt: skip

# %% [markdown]
# ## The data sets one by one

# %%
three = [m for m in ("CE", "AMOL", "AMOL-asym") if m in settings.methods]
if not np.isnan([tables.value(summary, "Abalone", m, "CHR") for m in three]).all():
    say(
        "**Abalone** has many test samples in its outermost classes, so the plain rate is worth "
        f"reading. {quoted(summary, 'Abalone', 'CHR', three)} A rate of zero looks like a cure; "
        "the [discussion](07_discussion.ipynb) looks at what the networks answer instead."
    )

# %%
drops = against("AMOL-asym", "CHR_ext")
if "Wine White" in drops:
    say(
        (len(drops) > 1 and drops.idxmin() == "Wine White",
         "**Wine White** has the largest drop.", "**Wine White.**"),
        *(quoted(summary, "Wine White", metric, three) for metric in ("CHR_ext", "QWK")),
    )  # fmt: skip

# %%
red = load_dataset("Wine Red")
test = red.y[split(red.y, settings.split_seed)[2]]
to_end = np.minimum(test, red.num_classes - 1 - test)
pooled = int((to_end <= 1).sum())
gap = against("AMOL", "CHR_ext").get("Wine Red", np.nan)
if not np.isnan(gap):
    say(
        (abs(gap) < 1 / pooled, "**Wine Red** has too few samples to say.", "**Wine Red.**"),
        f"Its test part holds {(to_end == 0).sum()} of the outermost classes and {pooled} when two "
        "classes on each side are pooled, so that one sample moves CHR_ext by "
        f"{1 / pooled:.3f}; AMOL's is {change(gap)} than cross-entropy's. The paper itself makes "
        "no strong claim here.",
    )

# %% [markdown]
# ## What the paper measures and doesn't print
#
# Accuracy, MAE and AMAE are among the paper's metrics; apart from two accuracies in its ablation it
# prints none of them. AMOL is recommended for QWK and MAE, so [Table mae](#tab-mae) matters most.

# %%
show(
    "tab-mae", tables.comparison(summary[summary["metric"] == "MAE"]),
    caption="MAE, in classes (lower is better).",
)  # fmt: skip
mae = against("AMOL", "MAE")
higher = mae[mae > 0]
gained = against("AMOL", "QWK").reindex(higher.index) > 0
say(
    (2 * len(higher) > len(mae) > 0,
     f"AMOL's MAE is *higher* than cross-entropy's on {listed(higher.index)} "
     f"({changes(higher) if len(higher) else ''}).",
     f"AMOL's MAE is {changes(mae)} than cross-entropy's." if len(mae) else ""),
    (len(gained) > 0 and gained.all(),
     "That its QWK is higher there all the same is no contradiction: QWK squares the distance and "
     "corrects for chance, so that few large errors count for more than many small ones."),
    "[Ablation: which part does the work?](06_ablation.ipynb) compares it with `KL`, AMOL without "
    "the weight.",
)  # fmt: skip
found = {metric: against("AMOL", metric) for metric in ("QWK", rate, "MAE")}
say(
    "> **In short.** Means over random starts on one split of the data:",
    lead(agreement, "AMOL", "best QWK"),
    *(f"AMOL's [{metric}](../book/glossary.md#term-{metric}) is {changes(part)} than "
      "cross-entropy's." for metric, part in found.items() if len(part)),
    "[What the error bars don't show](splits.ipynb) says which of these differences remain on "
    "other splits.", below="title",
)  # fmt: skip

# %%
leaders = []
for metric in ("QWK", "accuracy", "MAE", "AMAE"):
    part = summary[summary["metric"] == metric]
    top = part[tables.best_mask(part)].groupby("dataset", sort=False)["method"].agg(listed)
    text = "; ".join(f"{tables.literal(name)}: {who}" for name, who in top.items())
    leaders += [f"- {tables.HEADINGS.get(metric, metric)}. {text}."] if text else []
if leaders:
    say("\n".join(["Who leads depends on what is asked:", "", *leaders]))

# %% [markdown]
# ## Agreement and hedging at once

# %%
traded = "Abalone" if "Abalone" in settings.datasets else settings.datasets[-1]
x = "CHR" if traded in few else "CHR_ext"
tradeoff = summary[(summary["dataset"] == traded) & summary["metric"].isin(["QWK", x])]
wide = tradeoff.pivot(index="method", columns="metric", values="mean").dropna()
best = [wide["QWK"].idxmax(), wide[x].idxmin()] if len(wide) > 1 else []
show(
    "fig-tradeoff", figures.tradeoff(tradeoff, x=x, y="QWK"), data=tradeoff,
    caption=f"Agreement against hedging on {tables.literal(traded)}: up is better, left hedges "
    "less, which is better only with a center class that is still found "
    "([Discussion: what the hedging rate doesn't see](07_discussion.ipynb)). Bars are one standard "
    "deviation over seeds.",
    alt=f"Scatter of QWK, upward, against {rate}, rightward, one named point per loss with error "
    "bars." + (f" Highest is {best[0]}, leftmost {best[1]}." if best else ""),
)  # fmt: skip

# %% [markdown]
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
