# %% [markdown]
# # Train it here
#
# > **In short.** Two networks, trained while you watch, side by side. Nothing has to be installed,
# > nothing is fetched, and what you train on stays in your browser. Where this book has a run with
# > the settings that you choose, the network here ends with *the same weights, bit for bit*.
#
# It opens with [KL](../book/glossary.md#term-KL) against [AMOL](../book/glossary.md#term-AMOL): one
# loss without its weight on the middle and with it. What is framed is the answer "center". Does the
# weight empty that column at both ends, and where do these samples go?

# %% tags=["parameters"]
datasets: list = ["Abalone", "Wine Red"]  # data sets to choose from
methods: list = ["CE", "KL", "AMOL", "AMOL-asym", "SORD", "OLL"]  # losses to choose from
seeds: "int or list" = 5  # recorded networks of each loss to compare with, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import pandas as pd

from amol.losses import center_class
from companion import StudySettings, predictions, run_study
from companion.page import footer, pictures, say, show, tables, training_page

# %%
settings = StudySettings(
    datasets=datasets, methods=methods, seeds=seeds, alpha=alpha, sigma=sigma,
    split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)
dataset, seed = settings.datasets[0], settings.seeds[0]
asked = [name for name in ("KL", "AMOL") if name in settings.methods] or settings.methods[:2]
found = {}
for method in asked:
    y_true, y_pred, probabilities = predictions(settings, dataset, method)
    found[method] = pictures.counts(y_true, y_pred[:1], probabilities.shape[-1])

# %%
kept = pd.concat(
    pd.DataFrame(table).rename_axis("true").reset_index().assign(method=method)
    for method, table in found.items()
)
center = center_class(settings.load(dataset).num_classes)
show(
    "fig-browser", pictures.confusions(found, center), data=kept,
    caption=f"Two networks on {tables.literal(dataset)}, seed {seed}: what they answer on the test "
    "part. On a page with scripts, press *Train* to see two networks learn.",
    alt="Confusion matrices of two recorded runs with the same seed, one per loss, shares of each "
    "row. The column of the center class is framed.",
)  # fmt: skip
training_page.save("fig-browser", training_page.page_data(settings, asked))

# %% [markdown]
# ## What is shown
#
# - While a network trains, all curves and the table of answers are those of the *validation* part,
#   which early stopping watches. The test part is asked once, at the end, with the weights of the
#   best epoch. The metrics are explained in [Experiments: the data and the
#   protocol](04_experiments.ipynb) and in [Glossary](../book/glossary.md).
# - The losses of two networks have no common scale, so each has a curve of its own.
# - The address of this page holds your settings: a link to it trains the same networks.
# - Your own CSV file has a line per sample; its label is a column of numbers, and columns of text
#   are left out. It is split 60/20/20 within each class by the page itself, so `amol run` draws
#   another split of the same file.
#
# Things to try: `KL` against `AMOL`, which differ by the weight alone; `AMOL` with *α* = 0, which
# is `KL` and ends with its weights; a large *α*; other seeds of the same loss, before you believe
# in a difference.
#
# ## The same bits

# %%
say(
    f"The protocol is that of the paper's runs: two layers of {settings.hidden} units, Adam, at "
    f"most {settings.epochs} epochs, a stop after {settings.patience} without a lower loss. The "
    "order of every sum is written down in [The engine](engine.ipynb). The scripts of this page "
    "follow it in JavaScript, which has no float32 arithmetic: each operation is done in float64 "
    "and rounded, and a fused multiply-add takes care of the sums that lie half-way between two "
    "float32 numbers. First weights and orders come from NumPy's generator, written out."
)
say(
    "[Table browser](#tab-browser) has the recorded runs that the page compares with, of seed "
    f"{seed}; it holds {len(runs)} in all. The digest there is the beginning of the one that the "
    "page shows."
)

# %%
first = runs[runs["seed"] == seed]
metrics = ["QWK", "CHR_ext", "center_recall", "extreme_recall"]
cells = first[metrics].map("{:.3f}".format)
cells.columns = ["QWK", "CHR_ext", "Center recall", "Extreme recall"]
cells.insert(0, "Loss", first["method"])
cells.insert(1, "Best epoch", first["best_epoch"].astype(str))
cells["Weights"] = "`" + first["weights"] + "`"
show(
    "tab-browser", cells.set_index(first["dataset"].rename("Data set")), data=first,
    caption=f"Recorded runs of seed {seed}, metrics on the test part, and the first digits of the "
    "weights' SHA-256.",
)  # fmt: skip

# %% tags=["remove-input"]
footer(settings, runs)
