# %% [markdown]
# # Experiments: the data and the protocol
#
# Four data sets, one small network, several losses, a few random starts. This page says what goes
# in, which parts of the recipe the paper states, and which had to be chosen.

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

from amol import engine
from amol.losses import center_class
from amol.metrics import METRICS
from companion import StudySettings, load_dataset
from companion.claims.rules_on_data import SIZES
from companion.data.dataset import duplicate_rows, split, twin_share
from companion.page import figures, footer, say, show, tables
from companion.page.words import listed
from companion.paper.open_choices import CHOICES
from companion.train.runs import make_loss, prepare

# %% tags=["show-input"]
settings = StudySettings(
    datasets=datasets, target=target, order=order, csv_options=csv_options,
    methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
loaded = {name: settings.load(name) for name in settings.datasets}

# %%
rows, classes = (sorted(f(data) for data in loaded.values())
                 for f in (lambda data: len(data.y), lambda data: data.num_classes))  # fmt: skip
say(
    f"> **In short.** Data sets: {len(loaded)}, of {rows[0]:,} to {rows[-1]:,} rows and "
    f"{classes[0]} to {classes[-1]} ordered classes. One small network, trained with "
    f"{len(settings.methods)} losses from {len(settings.seeds)} random starts each, on one "
    "[split](../book/glossary.md#term-split) of the data into training, validation and test part. "
    f"The paper states most of the recipe; {len(CHOICES)} questions it leaves open were answered "
    "here.",
    below="title",
)

# %% [markdown]
# ## The data sets

# %%
abalone = load_dataset("Abalone")
part = np.bincount(abalone.y) / len(abalone.y)
say(
    "Three real ones come from the UCI repository: the quality grades of red and of white *vinho "
    "verde* ([Cortez et al. 2009](https://doi.org/10.1016/j.dss.2009.05.016)), and the age of "
    "abalone shells, read off as a ring count ([Nash et al. "
    "1994](https://doi.org/10.24432/C55C7W)) and cut at quantiles into seven classes.",
    (part.max() < 2 * part.min(),
     f"Ring counts are whole, so the classes hold from {part.min():.1%} to {part.max():.1%} of the "
     "samples.", "The classes are very unequal."),
    "Their files are part of this project, byte for byte, and are checked against recorded sums "
    "whenever they are loaded. The fourth is generated.",
)  # fmt: skip

# %%
NOTES = {  # in our words
    "Synthetic": "crowded center, about 34 % in class 3",
    "Wine Red": "grades 3 to 8",
    "Wine White": "grades 3 to 9",
    "Abalone": "ring counts, 7 quantile classes",
}
rows = {}
for name, data in loaded.items():
    paper_n, paper_k = SIZES.get(name, (tables.DASH, tables.DASH))
    rows[tables.literal(name)] = {
        "K": data.num_classes, "K, paper": paper_k, "N": len(data.y), "N, paper": paper_n,
        "Features": data.X.shape[1], "Notes, paper": NOTES.get(name, tables.DASH),
        "Source": tables.literal(data.source),
    }  # fmt: skip
cells = pd.DataFrame(rows).T.rename_axis("Data set")
show(
    "tab-datasets", cells.loc[:, ~cells.eq(tables.DASH).all()],
    caption="The data sets: classes $K$, samples $N$, features, source; where the paper's Table 1 "
    "has a data set, its numbers stand beside ours, and what its column \"Notes\" says.",
)  # fmt: skip

# %% [markdown]
# The paper says of its synthetic set that it has 5,000 samples, seven classes and a heavy center
# (about 34 % in class 3). The recipe here is ours: ten Gaussian features, a mildly nonlinear score
# plus noise, cut into classes of fixed sizes. About ten forms of the score were tried before this
# one was kept, and the noise is the value, of nine on a grid, at which cross-entropy comes nearest
# to the published agreement. Agreement in absolute values therefore proves nothing here; the
# ranking of the losses still says something.
#
# ### Where the labels lie

# %%
say(
    "The paper expects the most hedging where the labels crowd in the middle. "
    "[Figure labels](#fig-labels) shows where they do.",
    (part[center_class(7)] < 1.25 / 7,
     "A crowd isn't needed: Abalone has no crowd, and its extreme samples are called the center as "
     "well ([Table chr](05_results.ipynb#tab-chr))."),
)  # fmt: skip

# %%
shares = {name: np.bincount(data.y, minlength=data.num_classes) / len(data.y)
          for name, data in loaded.items()}  # fmt: skip
labels = pd.concat(
    pd.DataFrame({"panel": name, "label": classes, "center": classes == center_class(len(classes)),
                  "share": share})
    for name, share in shares.items() for classes in [np.arange(len(share))]
)  # fmt: skip
largest = listed(f"{share.argmax()} ({share.max():.0%}) on {name}"
                 for name, share in shares.items())  # fmt: skip
even = [name for name, data in loaded.items() if data.num_classes % 2 == 0]
show(
    "fig-labels", figures.bars(labels, ylabel="share of samples"), data=labels,
    caption=[
        "Share of samples in each class; the center class is orange.",
        (bool(even), f"An even number of classes ({listed(even)}) has its center between two of "
         "them; the lower one is taken."),
    ],
    alt="Bar charts of label shares, one per data set. The largest class of each: "
    f"{largest}.",
)  # fmt: skip

# %% [markdown]
# ### How much there is to measure on
#
# A hedging rate is a share of the extreme *test* samples alone. [Table extremes](#tab-extremes)
# counts them, along with a fact about the wines that the paper doesn't mention: many rows occur
# twice, so that part of the test set has a twin the network has already seen.

# %%
rows = {}
for name, data in loaded.items():
    test = data.y[split(data.y, settings.split_seed)[2]]
    to_end = np.minimum(test, data.num_classes - 1 - test)
    center = center_class(data.num_classes)
    pooled = int((to_end <= 1).sum()) if center > 1 else tables.DASH
    rows[tables.literal(name)] = {
        "Test rows": len(test),
        "in CHR": int((to_end == 0).sum()),
        "in CHR_ext": pooled,
        "Center": center,
        "Its share": f"{100 * np.mean(test == center):.1f} %",
        "Repeats": duplicate_rows(data),
        "Twins": f"{100 * twin_share(data, settings.split_seed):.1f} %",
    }
counted = pd.DataFrame(rows).T.rename_axis("Data set")
show(
    "tab-extremes", counted,
    caption="The test part: its rows, how many of them CHR and CHR_ext look at, the center class "
    "and its share. Then the rows of the whole set that repeat an earlier one, and the share of "
    "test rows with a twin among those trained or validated on.",
)  # fmt: skip

# %% [markdown]
# ## The protocol
#
# Each network of this book is trained in the same way, whatever its loss: on the training part of
# the [split](../book/glossary.md#term-split), with early stopping on the validation part. The test
# part serves evaluation alone, never training or stopping. (What the paper leaves open was settled
# by comparing test scores with the *printed* test scores, or is the plainest reading; [Table
# choices](choices.ipynb#tab-choices) has the questions with their evidence.) [Table
# protocol](#tab-protocol) has the whole recipe.

# %%
train = settings.protocol
stated = {
    "Parts": ("60/20/20, stratified by label", "The paper's Section 4.1"),
    "Features": ("standardized", "The paper; on the training part, so that no test value leaks"),
    "Network": (f"{train.layers} hidden layers of {train.hidden}, ReLU",
                "The paper says “2-layer MLP”"),
    "Optimizer": (f"Adam, learning rate {train.lr:g}", "The paper"),
    "Early stopping": (f"patience {train.patience}", "The paper"),
    "AMOL": (f"α = {settings.alpha:g}, σ = {settings.sigma:g}",
             "The paper uses α = 1, σ = 1; it counts α alone as a hyperparameter"),
    "Random starts": (f"seeds {', '.join(map(str, settings.seeds))}", "The paper: five seeds"),
    "Losses": (", ".join(settings.methods), "The paper's eight, unless chosen otherwise"),
}  # fmt: skip

# %%
chosen = {choice.topic: (choice.chosen, choice.reason) for choice in CHOICES}
parts = {"Stated": stated, "Chosen": chosen}
protocol = pd.DataFrame(
    [(item, value, origin, reason) for origin, part in parts.items()
     for item, (value, reason) in part.items()],
    columns=["Item", "Here", "Origin", "Reason or source"],
).set_index("Item")  # fmt: skip
show(
    "tab-protocol", protocol,
    caption="The protocol: what the paper states, with the values of this run, and what it leaves "
    "open, with the default chosen here and the reason.",
)  # fmt: skip

# %% [markdown]
# ### One run
#
# The cell trains one network: the first loss of the list, on the first data set, from the first
# seed. On the other pages `run_study` does this for every data set, loss and seed, and keeps what
# it has trained; [The training engine](engine.ipynb) is about `engine.train`.

# %% tags=["show-input"]
dataset, method, seed = settings.datasets[0], settings.methods[0], settings.seeds[0]
data = prepare(settings, dataset)  # split, and standardized on the training part
loss = make_loss(settings, method, data.arrays)
network = engine.train(loss, seed, data.arrays, settings.protocol)
for name in ("QWK", "CHR", "accuracy"):
    value = METRICS[name](data.y_test, network.y_pred, data.arrays.num_classes)
    print(f"{method} on {dataset}, seed {seed}: {name} {value:.3f}")
print(f"best epoch {network.best_epoch} of {network.epochs}")

# %% [markdown]
# ## The scores
#
# - **[QWK](../book/glossary.md#term-QWK)**, quadratic weighted kappa ([Cohen
#   1968](https://doi.org/10.1037/h0026256)): agreement with the true labels, mistakes weighted by
#   the square of their distance, chance agreement taken off. Higher is better.
# - **[CHR](../book/glossary.md#term-CHR)** and **[CHR_ext](../book/glossary.md#term-CHR_ext)**:
#   [(chr)](03_method.ipynb#eq-chr) and [(chr-ext)](03_method.ipynb#eq-chr-ext). Lower is better,
#   with the warning of the [discussion](07_discussion.ipynb).
# - **[Accuracy](../book/glossary.md#term-accuracy)**: share of exact hits.
# - **[MAE](../book/glossary.md#term-MAE)**: mean distance $|\hat y - y|$ in classes, and
#   **[AMAE](../book/glossary.md#term-AMAE)** ([Baccianella et al.
#   2009](https://doi.org/10.1109/ISDA.2009.230)): the same, averaged within each true class first,
#   so that rare classes count as much as common ones.
#
# ## Exercises
#
# **1. How fine is the rate?** By how much does CHR_ext change when a single test sample is called
# something else, on each data set?

# %% tags=["hide-cell"]
for name, pooled in counted["in CHR_ext"].items():
    if pooled != tables.DASH:  # fewer than five classes have no CHR_ext
        print(f"{name}: {pooled} samples, one of them is {1 / max(pooled, 1):.4f}")

# %% [markdown]
# **2. Another split.** `amol run 04_experiments -p split_seed 7` draws other parts. Do the sizes of
# the pools of [Table extremes](#tab-extremes) depend on the split?

# %% tags=["hide-cell"]
for name, data in loaded.items():
    tests = (data.y[split(data.y, seed)[2]] for seed in range(10))
    sizes = {int(np.isin(test, [0, data.num_classes - 1]).sum()) for test in tests}
    print(f"{name}: samples in CHR on ten splits: {sorted(sizes)}")

# %% tags=["remove-input"]
footer(settings)
