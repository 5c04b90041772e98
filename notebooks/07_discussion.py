# %% [markdown]
# # Discussion: what the hedging rate doesn't see
#
# The hedging rate asks one question: how many extreme samples are called the center class? A
# network that never answers "center" scores a perfect zero, whatever else it gets wrong. This page
# puts beside the rate what it leaves out, on the paper's one split; [What the error bars don't
# show](splits.ipynb) does so over many.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets or CSV files
target: str = ""  # label column of the CSV files among the data sets
order: list[str] = []  # their labels, lowest first, where these are no whole numbers
csv_options: dict = {}  # how the CSV files are written, such as {sep: ;}
methods: list = ["CE", "SORD", "KL", "AMOL", "AMOL-asym", "AMOL-exp", "CE-masked"]  # losses tried
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import numpy as np
import pandas as pd

from amol.losses import center_class
from companion import StudySettings, predictions, run_study
from companion.claims.hedging import tail_confidence
from companion.data.dataset import split
from companion.page import figures, footer, pictures, say, show, tables
from companion.page.words import listed, on

# %% tags=["show-input"]
settings = StudySettings(
    datasets=datasets, target=target, order=order, csv_options=csv_options,
    methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)
metrics = ["CHR", "center_rate", "center_recall", "extreme_recall", "J_c", "CHR_ext", "accuracy"]
summary = tables.summarize(runs, metrics)
dataset = "Abalone" if "Abalone" in settings.datasets else settings.datasets[-1]


# %%
def mean(method, metric):
    """Mean over seeds on the page's data set; NaN where it wasn't run."""
    return tables.value(summary, dataset, method, metric)


# %% [markdown]
# ## Who is called what
#
# [Figure confusions](#fig-confusions) has the whole answer on one data set: the framed column is
# the answer "center", the first and the last row are the samples that should be kept out of it.

# %%
ends = {m: mean(m, "extreme_recall") for m in ("CE", "KL", "AMOL", "AMOL-asym", "CE-masked")}
center = {m: mean(m, "center_recall") for m in ("CE", "AMOL", "AMOL-asym")}
ends_lost = (
    ends["AMOL"] < ends["CE"] > ends["AMOL-asym"] and mean("AMOL", "CHR") < mean("CE", "CHR"),
    "AMOL empties the framed column at both ends, but the samples don't arrive in their own class: "
    f"of the first and last class it finds {ends['AMOL']:.2f}, AMOL-asym {ends['AMOL-asym']:.2f}, "
    f"cross-entropy {ends['CE']:.2f}.",
)
center_lost = (
    center["AMOL-asym"] < center["AMOL"] < center["CE"],
    f"And the column empties for those who belong there too: of the center class, cross-entropy "
    f"finds {center['CE']:.1%}, AMOL {center['AMOL']:.1%} and AMOL-asym {center['AMOL-asym']:.1%}.",
)

# %%
asked = [m for m in ("CE", "KL", "AMOL", "AMOL-asym") if m in settings.methods]
found = {}
for method in asked or settings.methods:
    y_true, y_pred, probabilities = predictions(settings, dataset, method)
    found[method] = pictures.counts(y_true, y_pred, probabilities.shape[-1])
drawn = pd.concat(
    pd.DataFrame(table).rename_axis("true").reset_index().assign(method=method)
    for method, table in found.items()
)
middle = center_class(probabilities.shape[-1])

# %%
show(
    "fig-confusions", pictures.confusions(found, middle), data=drawn,
    caption=f"Confusion on {tables.literal(dataset)}, mean over seeds: of each true class (with "
    "its number of samples), the percentage that gets each answer.",
    alt=[f"Confusion matrices of {listed(found)} on {tables.literal(dataset)}, shares of each row "
         "in shades, the column of the center framed.", ends_lost, center_lost],
)  # fmt: skip
say(
    ends_lost,
    (ends["KL"] < ends["AMOL"] < ends["CE"],
     "The reason is the Gaussian target, which spreads every label over its neighbors: `KL`, "
     f"without the weight, finds {ends['KL']:.2f}. The weight makes up for a part of that."),
    center_lost,
)  # fmt: skip

# %% [markdown]
# ## Beside the rate
#
# - **[Center rate](../book/glossary.md#term-center-rate)**: share of *all* test samples that are
#   called the center class. It should be near the true share.
# - **[Center recall](../book/glossary.md#term-center-recall)**: share of true center samples that
#   are found.
# - **[Extreme recall](../book/glossary.md#term-extreme-recall)**: share of samples of the first and
#   last class that are found exactly. To stop calling them the center is not yet to call them
#   right.

# %%
labels = settings.load(dataset)
test = labels.y[split(labels.y, settings.split_seed)[2]]
around = summary["metric"].isin(["CHR", "center_rate", "center_recall", "extreme_recall"])
part = summary[(summary["dataset"] == dataset) & around]
show(
    "tab-blindspot", tables.comparison(part, "metric"),
    caption=f"What surrounds the hedging rate on {tables.literal(dataset)}, where the true center "
    f"share is {np.mean(test == middle):.3f}.",
)  # fmt: skip
masked, asym = ({m: mean(method, m) for m in metrics} for method in ("CE-masked", "AMOL-asym"))
say(
    '`CE-masked` is cross-entropy that is forbidden to answer "center".',
    (masked["CHR"] == 0 and masked["extreme_recall"] > asym["extreme_recall"]
     and masked["accuracy"] > asym["accuracy"],
     "It reaches the same zero as AMOL-asym without learning anything new, finds more of the first "
     f"and last class ({masked['extreme_recall']:.2f} against {asym['extreme_recall']:.2f}) and is "
     f"right more often ({masked['accuracy']:.3f} against {asym['accuracy']:.3f}).",
     "It reaches zero without learning anything new." if masked["CHR"] == 0 else ""),
    "Where nobody needs that class, this is the simpler cure; where somebody does, center recall "
    "decides.",
)  # fmt: skip

# %% [markdown]
# ## A score that never answering "center" cannot win
#
# Take the answer "center" as a test that should tell true center samples from extreme ones, and
# score it as tests are scored ([Youden
# 1950](https://doi.org/10.1002/1097-0142(1950)3:1%3C32::AID-CNCR2820030106%3E3.0.CO;2-3)): hits
# minus false alarms,
#
# <a id="eq-jc"></a>
#
# $$
# J_c = P\bigl( \arg\max \hat y = c \bigm| y = c \bigr) - \text{CHR}_{\text{ext}} . \tag{jc}
# $$
#
# [This difference](../book/glossary.md#term-J_c) is 1 for a network that finds every center sample
# and calls no extreme sample the center. It is 0 for a network that never answers "center", for one
# that always does, and for one that does so at random.

# %% tags=["show-input"]
keys = ["dataset", "method"]
means = summary.pivot(index=keys, columns="metric", values="mean")
means = means.reindex(pd.MultiIndex.from_frame(summary[keys].drop_duplicates()))
rate = "CHR_ext" if means["CHR_ext"].notna().any() else "CHR"  # for fewer than five classes
pairs = means[[rate, "center_recall"]]
pairs = (pairs if pairs.isna().any(axis=1).all() else pairs.dropna()).reset_index()
pairs = pairs.rename(columns={"dataset": "panel", "method": "name"})
pairs["J_c"] = pairs["center_recall"] - pairs[rate]

# %%
known = {"AMOL", "CE", "KL"} <= set(settings.methods) and means["J_c"].notna().any()
wide = means["J_c"].unstack("method", sort=False) if known else None
above = {m: list(wide.index[wide["AMOL"] > wide[m]]) for m in ("CE", "KL")} if known else {}
separation = (
    "AMOL's bar is longer than that of cross-entropy "
    f"{on(above['CE'])}, and longer than that of `KL`, the same loss without the weight, "
    f"{on(above['KL'])}." if known else ""
)  # fmt: skip

# %%
dots = {rate: f"extreme samples called center ({rate})",
        "center_recall": "center samples called center (recall)"}  # fmt: skip
show(
    "fig-blindspot", figures.dumbbells(pairs, dots, xlabel="rate of the answer “center”"),
    data=pairs,
    caption='How often the answer is "center", for extreme samples (hollow) and for true center '
    "samples (full). The length of the bar, full minus hollow, is $J_c$. A good loss has its "
    "hollow dot far left and its full dot far right.",
    alt=["One panel per data set, one row per loss. A hollow dot shows how often extreme samples "
         "are called the center, a full dot how often true center samples are. The bar between "
         "them is J_c.", separation],
)  # fmt: skip
say(separation, "[Figure forest-jc](splits.ipynb#fig-forest-jc) has the intervals over splits.")
say(
    "> **In short.** A network that never answers “center” has a hedging rate of zero, whatever "
    "else it gets wrong.",
    (asym["CHR"] < 0.005 and asym["center_recall"] < 0.1,
     f"AMOL-asym nearly does so on {tables.literal(dataset)}: it finds "
     f"{asym['center_recall']:.1%} of the "
     "center's samples.",
     "" if np.isnan(asym["CHR"]) else f"On {tables.literal(dataset)} AMOL-asym finds "
     f"{asym['center_recall']:.1%} of the center's samples at a rate of {asym['CHR']:.3f}."),
    "Center recall and extreme recall belong beside the rate; $J_c$ puts both questions into one "
    "number.",
    below="title",
)  # fmt: skip

# %% [markdown]
# ## Limits, the paper's and ours
#
# - **Strength and width.** The paper names one number to set, $\alpha$; the Gaussian target has a
#   second, $\sigma$. [Figure strength](06_ablation.ipynb#fig-strength) changes the first.
# - **Center.** The paper grants that the inward variant needs a well-defined center, which is less
#   clear with two humps in the labels. With an even number of classes no variant has one.
# - **Sure and wrong.** AMOL's divergence is bounded, so its gradient fades where a network is sure
#   of a wrong class, and cross-entropy's doesn't ([Every loss that the paper names](losses.ipynb)
#   has the figures).
# - **One split.** Every ± on this page is the spread over random starts on one split of the data.
#   It says nothing about other samples from the same source.
# - **Crowded middle.** The paper finds the largest effects where the labels crowd in the center and
#   names Abalone among them; [Figure labels](04_experiments.ipynb#fig-labels) shows that Abalone,
#   cut into equal parts, has no crowd.

# %%
sure = {}
trained = [n for n in settings.datasets if not np.isnan(tables.value(summary, n, "AMOL", "J_c"))]
for name in trained:
    y_true, _, probabilities = predictions(settings, name, "AMOL")
    found = [tail_confidence(y_true, p) for p in probabilities]
    sure[name] = np.mean([[each.seen, each.asked] for each in found], axis=0)
over = [name for name, (right, confidence) in sure.items() if right < confidence]
under = [name for name, (right, confidence) in sure.items() if right > confidence]
figures_of = "; ".join(f"{tables.literal(n)}: right {sure[n][0]:.2f}, mean confidence "
                       f"{sure[n][1]:.2f}" for n in over or under)  # fmt: skip
say(
    "- **Calibration.** The distribution that minimizes AMOL is not the truth ([Figure "
    "least](03_method.ipynb#fig-least)), so its probabilities are not to be taken at face value.",
    "The paper says that AMOL gives up guarantees of calibration, and leaves the analysis for "
    "later.",
    (bool(under) and not over,
     "Where it answers with one of the two lowest or two highest classes it is underconfident "
     f"{on(under)} ({figures_of}).",
     "Where it answers with one of the two lowest or two highest classes it is overconfident "
     f"{on(over)} and underconfident {on(under)} ({figures_of})." if figures_of else ""),
)  # fmt: skip

# %% [markdown]
# ## Exercises
#
# **1. Strike the center out.** `CE-masked` is cross-entropy that may not answer "center". Do the
# same to the other losses, from their probabilities. What becomes of their accuracy?

# %% tags=["hide-cell"]
name = settings.datasets[-1]
for method in settings.methods:
    truth, answers, shares = predictions(settings, name, method)
    middle = (shares.shape[2] - 1) // 2
    masked = shares.copy()
    masked[:, :, middle] = -1
    after = (masked.argmax(axis=2) == truth).mean()
    print(f"{name}, {method}: accuracy {(answers == truth).mean():.3f}, masked {after:.3f}")

# %% [markdown]
# **2. What $J_c$ doesn't see.** Compute $J_c$ for a network that always answers with the center,
# for one that never does, and for one that is right near the center but never goes further out.

# %% tags=["hide-cell"]
last = shares.shape[2] - 1
invented = {"always": truth * 0 + middle, "never": truth * 0,
            "near the center": truth.clip(middle - 1, middle + 1)}  # fmt: skip
for label, answer in invented.items():
    recall = (answer[truth == middle] == middle).mean()
    hedged = (answer[(truth < 2) | (truth > last - 2)] == middle).mean()
    print(f"{label}: J_c = {recall - hedged:.2f}, right {(answer == truth).mean():.0%}")

# %% tags=["remove-input"]
footer(settings, runs)
