# %% [markdown]
# # Introduction: a network that hides in the middle
#
# Taste a wine and give it a grade from 3 to 9. Judge how old a shell is. Grade a scan from healthy
# to severe. The answers are categories, yet they stand in an order, and a mistake by one step is
# not a mistake by five. Learning such answers is called *ordinal classification*.
#
# The usual recipe ignores the order: a network with one output per class, trained with
# cross-entropy. [Kandel (2026)](https://arxiv.org/abs/2609.10752) points at a fault of that recipe.
# When a sample is truly extreme, the network often answers with the middle of the scale. The paper
# calls this *center-class* [hedging](../book/glossary.md#term-hedging), proposes a number that
# measures it (the *center-hedging rate*, [CHR](../book/glossary.md#term-CHR)) and a loss that
# penalizes it (the *Adaptive Margin Ordinal Loss*, [AMOL](../book/glossary.md#term-AMOL)). This
# book runs every experiment of the paper again, sets each number beside the published one, and asks
# what the claims rest on.
#
# First, the fault itself. The cells below train the network of the paper and look at what it does
# with the samples at both ends of the scale. Change a parameter and run the page again: the numbers
# in the text change with it, and a comparison that no longer holds gives way to one that does.

# %% tags=["parameters"]
datasets: list = ["Wine White"]  # data sets or CSV files; the first one is drawn
target: str = ""  # label column of the CSV files among the data sets
order: list[str] = []  # their labels, lowest first, where these are no whole numbers
csv_options: dict = {}  # how the CSV files are written, such as {sep: ;}
methods: list = ["CE"]  # losses; the first one is drawn
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import numpy as np
import pandas as pd

from amol.losses import center_class
from companion import StudySettings, load_dataset, predictions, run_study
from companion.claims.hedging import center_excess, hedging, tail_confidence
from companion.page import figures, footer, say, show, tables
from companion.page.words import listed, signed

# %% [markdown]
# ## The failure, live

# %% tags=["show-input"]
settings = StudySettings(
    datasets=datasets, target=target, order=order, csv_options=csv_options,
    methods=methods, seeds=seeds,
    split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)  # splits, standardizes and trains; one row for each network
dataset, method = settings.datasets[0], settings.methods[0]
data = settings.load(dataset)
center = center_class(data.num_classes)
y_true, y_pred, probabilities = predictions(settings, dataset, method)  # of the test part

# %%
names = [tables.literal(name) for name in data.class_names]
say(
    f"The data set drawn here is {tables.literal(dataset)}, the loss is {method}, and "
    f"{len(settings.seeds)} networks were trained that differ in their random start alone. The "
    f"{data.num_classes} labels {names[0]} to {names[-1]} become classes 0 to "
    f"{data.num_classes - 1}. The class in the middle of the scale is class {center} "
    f"({names[center]} in the data); it also holds {np.mean(data.y == center):.0%} of all samples."
)

# %% [markdown]
# [Figure confusion](#fig-confusion) shows, for every true class, where the test samples end up.

# %%
distance_to_end = np.minimum(y_true, data.num_classes - 1 - y_true)
side = min(2, center)  # classes pooled at each end; the center is never one of them
extreme, end = distance_to_end < side, distance_to_end == 0
hedged = np.mean(y_pred[:, extreme] == center)
found, found_at_end = (np.mean(y_pred[:, at] == y_true[at]) for at in (extreme, end))
classes = np.arange(data.num_classes)
truth = np.tile(y_true, len(y_pred))
shares = pd.crosstab(truth, y_pred.ravel(), normalize="index").reindex(columns=classes)
shares = shares.fillna(0.0).rename_axis(index="true", columns="predicted")
confusion = shares.stack().rename("share").reset_index()

# %%
show(
    "fig-confusion", figures.confusion(confusion, center), data=confusion,
    caption="Where the test samples of each true class end up, in percent of that class, all "
    "networks pooled. Without errors, 100 would stand along the diagonal. The framed column holds "
    "whatever was called the center class. From class 0 on, the rows rest on "
    f"{', '.join(map(str, np.bincount(y_true, minlength=data.num_classes)))} test samples; a row "
    "of a few samples says little.",
    alt="Heat map with true classes down and predicted classes across, in percent of the true "
    "class. The column of the center class is framed. Of the extreme samples, "
    f"{hedged:.0%} are called the center and {found:.0%} are called right.",
)  # fmt: skip
say(
    f"Take the {'two outermost classes' if side == 2 else 'outermost class'} on each side, "
    f"{extreme.sum()} test samples in all. The networks call {hedged:.0%} of them the center "
    f"class, and get {found:.0%} exactly right.",
    "Of the samples in the very first and the very last class, they find "
    f"{found_at_end:.0%}.",
)  # fmt: skip
say(
    f"> **In short.** Of the samples near the ends of the scale, networks trained with {method} on "
    f"{tables.literal(dataset)} call {hedged:.0%} the middle and {found:.0%} by their own class. "
    "The paper calls such answers *hedging*, measures them and proposes a loss against them. This "
    "page shows the fault; the next ones take the paper's answer apart.",
    below="title",
)

# %% [markdown]
# ## Where the probability goes
#
# A prediction is the class with the most probability. The whole distribution says more.
# [Figure mass](#fig-mass) averages it over the samples at the low end and over those at the high
# end.

# %%
low, high = extreme & (y_true < center), extreme & (y_true > center)
sides = {
    f"true class {', '.join(map(str, np.unique(y_true[side])))}; {side.sum()} samples": side
    for side in (low, high)
}
mass = pd.concat(
    pd.DataFrame({"panel": name, "label": classes, "center": classes == center,
                  "share": probabilities[:, side].mean(axis=(0, 1))})
    for name, side in sides.items() if side.any()
)  # fmt: skip
tallest = listed(
    f"class {part.set_index('label')['share'].idxmax()} for {name}"
    for name, part in mass.dropna().groupby("panel", sort=False)
)

# %%
own = np.take_along_axis(probabilities, np.tile(y_true, (len(y_pred), 1))[..., None], axis=2)
show(
    "fig-mass", figures.bars(mass, ylabel="mean probability"), data=mass,
    caption="Mean predicted probability of each class over the extreme test samples, all networks "
    "pooled; the center class is orange.",
    alt="Two bar charts of mean predicted probability by class, one for samples at the low end and "
    f"one for samples at the high end. The tallest bar: {tallest}.",
)  # fmt: skip
say(
    "Over all of them together, the center class gets "
    f"{probabilities[:, extreme, center].mean():.0%} of the probability and the right class "
    f"{own[:, extreme].mean():.0%}."
)

# %% [markdown]
# ## How much of it is hedging?
#
# A rate of center answers is no fault by itself. Where the features tell little apart, the most
# probable class of an extreme sample may well be the center, and a network that knows exactly how
# little it knows answers so. The network's own probabilities say how often: with $e_i$, what it
# gives to the extreme classes together, and $a_i$, 1 where its answer is the center and else 0, its
# belief *asks for* the rate $\sum a_i e_i / \sum e_i$. [Hedging](../book/glossary.md#term-hedging),
# in this book, is the rate that is seen minus this one. It is 0 on average for a calibrated
# network, however unsure it is. [Table hedging-asked](#tab-hedging-asked) has it, and the same of
# the center's probability and of the answers at the ends.

# %%
beyond = {
    "Center answers": [hedging(y_true, *each) for each in zip(y_pred, probabilities, strict=True)],
    "Center's probability": [center_excess(y_true, each) for each in probabilities],
    "Answers at the ends that are right": [tail_confidence(y_true, each) for each in probabilities],
}
rows = {}
for name, found in beyond.items():
    seen, asked, error = np.mean(found, axis=0)
    excess = np.array([each.excess for each in found])
    spread = excess.std(ddof=1) / len(excess) ** 0.5 if len(excess) > 1 else 0.0
    rows[name] = {"seen": seen, "asked for": asked, "difference": excess.mean(),
                  "standard error": np.hypot(error, spread)}  # fmt: skip
asked_for = pd.DataFrame.from_dict(rows, orient="index").rename_axis("Over extreme samples")
answers = asked_for.loc["Center answers"]
gap, reach = abs(answers["difference"]), 2 * answers["standard error"]

# %%
shown = asked_for.map("{:.3f}".format).assign(difference=asked_for["difference"].map(signed))
show(
    "tab-hedging-asked", shown,
    data=asked_for.reset_index(),
    caption="What is seen, and what the networks' own probabilities ask for; means over the "
    "networks. The last row is over the samples that are *answered* with an extreme class, beside "
    "the probability of these answers. Standard errors: of the test part's samples, if the "
    "probabilities are right, and of the mean over seeds, in squares.",
)  # fmt: skip
say(
    f"The belief asks for {answers['asked for']:.0%} of extreme samples to be answered with the "
    f"center; {answers['seen']:.0%} are.",
    (gap <= reach,
     "The difference is within two standard errors: as far as these samples show, the networks "
     "answer with the center because they can't tell, and say so.",
     f"The networks do it {'more' if answers['difference'] > 0 else 'less'} often than their "
     "own probabilities say, by more than two standard errors." if gap > reach else ""),
)  # fmt: skip

# %% [markdown]
# ## Why the middle is tempting
#
# The paper's reason is geometric: an answer in the middle is never far from the truth.
# [Table constant](#tab-constant) works it out for a model that gives every sample the same answer.

# %%
gap = np.abs(data.y[:, None] - classes)  # (N, K)
constant = pd.DataFrame(
    {
        "Worst error": np.maximum(classes, data.num_classes - 1 - classes),
        "Mean error": [f"{e:.2f}" for e in gap.mean(axis=0)],
        "Right": [f"{100 * s:.1f} %" for s in (gap == 0).mean(axis=0)],
    },
    index=pd.Index(classes, name="Answer"),
)
counts = np.bincount(data.y, minlength=data.num_classes)
crowded = np.flatnonzero(counts == counts.max())

# %%
show(
    "tab-constant", constant,
    caption=f"Giving every sample of {tables.literal(dataset)} the same answer: the largest error "
    "and the mean error, both in classes, and the share of right answers.",
)  # fmt: skip
say(
    "Two forces meet in that table. The *worst* error is smallest in the middle whatever the data. "
    "The *share of right answers* is largest where most samples are,",
    (len(crowded) == 1 and abs(crowded[0] - center) <= 1,
     f"here class {crowded[0]}, at or next to the center.",
     f"here class {listed(map(str, crowded))}."),
    "Cross-entropy knows nothing of distances: a network that cannot tell samples apart minimizes "
    "it by predicting the class frequencies. So under cross-entropy it is the second force that "
    "pulls to the center, on data whose center is crowded; the first one acts on losses that count "
    "steps. [The next page](02_background.ipynb) compares what each loss makes of the center and "
    "of the far end.",
)  # fmt: skip

# %% [markdown]
# ## The same in numbers
#
# [Table hedging](#tab-hedging) lists the paper's hedging rate: CHR is the share of samples in class
# 0 or $K-1$ that are called the [center class](../book/glossary.md#term-center-class),
# [CHR_ext](../book/glossary.md#term-CHR_ext) pools the two outermost classes on each side
# ([Method](03_method.ipynb) defines both). [QWK](../book/glossary.md#term-QWK), the quadratic
# weighted kappa ([Cohen 1968](https://doi.org/10.1037/h0026256)), is the usual score of agreement
# on an ordered scale: 1 is perfect, 0 is chance.

# %%
metrics = ["CHR", "CHR_ext", "QWK", "accuracy"]
summary = tables.summarize(runs, metrics)
show("tab-hedging", tables.comparison(summary, "metric"), caption="Hedging and agreement.")

# %% [markdown]
# ## What the paper contributes, and where it is tried here
#
# The paper's argument: losses that penalize large errors, and methods that keep the answers of
# several classifiers consistent, act on other things than the place where probability goes. A
# failure in the predictions needs a remedy in the predictions. Its contributions are:
#
# 1. The failure, described as one of its own, with its cause under cross-entropy: this page and
#    [Background](02_background.ipynb).
# 2. A number for it, CHR: [Method](03_method.ipynb).
# 3. AMOL, a weight that is large only for middle candidates of extreme samples:
#    [Method](03_method.ipynb).
# 4. Evidence on four data sets and five seeds: the best agreement (QWK) of the compared losses and
#    less hedging ([Experiments](04_experiments.ipynb), [Results](05_results.ipynb)). Direction
#    matters, functional form hardly, the base loss much ([Ablation](06_ablation.ipynb)). One
#    variant removes hedging completely on Abalone; [Discussion](07_discussion.ipynb) asks what
#    that is worth.
#
# [Conclusion](08_conclusion.ipynb) has the balance of all claims.
#
# ## Exercises
#
# The fold under each exercise holds a solution and what it prints.
#
# **1. Two middles.** Which constant answer is right most often, and which has the least mean error?
# Is it the same class on each data set?

# %% tags=["hide-cell"]
for name in ("Wine Red", "Wine White", "Abalone"):
    y, answers = load_dataset(name).y, np.arange(load_dataset(name).num_classes)
    frequent = np.bincount(y).argmax()
    nearest = np.abs(y[:, None] - answers).mean(axis=0).argmin()
    print(f"{name}: most often right {frequent}, least mean error {nearest} of {answers[-1]}")

# %% [markdown]
# **2. Another data set.** Run `amol run 01_introduction -p datasets Abalone`. How often are extreme
# samples called the center, and how often are all others?

# %% tags=["hide-cell"]
for name in ("Wine White", "Abalone"):
    truth, answers, _ = predictions(StudySettings(datasets=name, methods="CE"), name, "CE")
    last = truth.max()
    at_end = np.minimum(truth, last - truth) < 2
    rates = [np.mean(answers[:, rows] == last // 2) for rows in (at_end, ~at_end)]
    print(f"{name}: center for {rates[0]:.0%} of the extreme and {rates[1]:.0%} of the others")

# %% tags=["remove-input"]
footer(settings, runs)
