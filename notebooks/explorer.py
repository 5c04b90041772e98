# %% [markdown]
# # Explore the loss and the results
#
# > **In short.** Two charts to play with: what each variant of AMOL charges for each answer, and
# > every network of the [results](05_results.ipynb) as a dot. They run in the browser, without the
# > network.
#
# Point at a dot, and it tells its number. With scripts off, and on paper, each chart is a figure of
# how it starts.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets to show
methods: list = [
    "CE",
    "OLL",
    "SORD",
    "AMOL",
    "AMOL-asym",
    "AMOL-exp",
    "AMOL-OLL",
    "AMOL-CE",
    "KL",
    "CE-masked",
]  # losses to show
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
from companion import StudySettings, run_study
from companion.page import footer, live_charts, show

# %%
settings = StudySettings(
    datasets=datasets, methods=methods, seeds=seeds, alpha=alpha, sigma=sigma,
    split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)

# %% [markdown]
# ## The weight and the loss
#
# Above, the weight *m*(*k*, *y*) of [(weight)](03_method.ipynb#eq-weight) that each variant puts on
# class *k*. Below, the loss: the network gives one class the set probability and every other class
# an equal part of the rest, and the loss is drawn against that class.

# %%
show(
    "fig-explorer-loss", live_charts.weight_explorer(alpha, sigma),
    data=live_charts.weight_data(alpha, sigma),
    caption="Weight and loss of AMOL's variants. Dotted line: the true label *y* (a label beyond "
    "the last class counts as the last). Band: the center. Dashed: the same at *α* = 0, that is "
    "`KL`, `OLL` for AMOL-OLL and `CE` for AMOL-CE.",
    alt="Two panels over the classes, for one true label. Above, the weight of each class; for "
    "AMOL and a label at the end it is a tent that peaks at the center. Below, the loss of "
    "answering each class, with a dashed line for the loss without weight; AMOL's line leaves the "
    "dashed one most at the center class and comes back to it at the far end.",
)  # fmt: skip

# %% [markdown]
# Things to try:
#
# - AMOL with *y* at an end: the penalty lies on the way through the center. At the far end the
#   weight is back at 1; there the distance to the target alone makes the loss high.
# - AMOL-asym with the same label: beyond the center nothing is added.
# - An odd *K* and *y* at the center class: no extra penalty, whatever *α* is.
# - *K* = 6: the center lies between two classes, and both get some weight for every label.
# - AMOL-OLL: the weight multiplies a reward, so as *α* grows, answers between the label and
#   the center get a *lower* loss than the label itself.
# - AMOL-CE: one weight, that of the true label itself, and so the same factor for every answer.
# - A large *σ*: the target is nearly flat, distance counts for little, and the highest loss moves
#   from the far end toward the center.

# %% [markdown]
# ## The results, seed by seed
#
# All runs of the [results](05_results.ipynb) and of two
# [controls](../book/glossary.md#term-control), one dot each. Choose the data set, the metric and
# the methods; pointing at a dot names its seed and brings out all networks with the same one.
# AMOL-OLL, which lies far from all others, is left out at first.

# %%
show(
    "fig-explorer-results", live_charts.results_explorer(runs),
    data=live_charts.results_data(runs),
    caption="Every network of the study. Gray tick: the mean over seeds. Thin tick: the mean that "
    "the paper prints, where it prints one.",
    alt="One row per loss, one dot per network, its metric to the right, with a gray tick at the "
    "mean over seeds and a thin one at the paper's mean.",
)  # fmt: skip

# %% tags=["remove-input"]
footer(settings, runs)
