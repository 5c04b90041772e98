# %% [markdown]
# # Use it: a classifier for ordered labels
#
# You have a table, and labels with an order: grades, ratings, stages. One line installs a
# classifier that is trained by the losses of this book, with nothing of the book itself:
#
# ```bash
# pip install "amol[classifier] @ git+REPOSITORY_URL#subdirectory=amol"
# ```
#
# In a copy of the repository `pip install "./amol[classifier]"` does the same. Then ten lines fit
# it, cross-validate it by quadratic weighted kappa, and ask whether it
# [hedges](../book/glossary.md#term-hedging). They run as they stand; the table comes with
# scikit-learn.

# %% tags=["parameters"]
dataset: str = "Wine White"  # data set of the model card, one with a name
loss: str = "AMOL"  # loss of the model card's classifier
n_networks: int = 5  # networks of the model card's classifier, at least 1

# %% tags=["show-input"]
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict

from amol import OrdinalClassifier, metrics

X, progress = load_diabetes(return_X_y=True)
y = np.digitize(progress, np.quantile(progress, [0.2, 0.4, 0.6, 0.8]))  # five grades, 0 to 4
model = OrdinalClassifier("AMOL", random_state=0).fit(X, y)
answers = cross_val_predict(model, X, y, cv=5)
for name in ("QWK", "MAE", "CHR", "center_rate"):
    print(f"cross-validated {name}: {metrics.METRICS[name](y, answers, num_classes=5):.3f}")

# %%
from companion.page import classifiers, footer, pictures, say, show, tables
from companion.page.words import listed

hedged, all_rows = (metrics.METRICS[name](y, answers, 5) for name in ("CHR", "center_rate"))
say(
    f"[CHR](../book/glossary.md#term-CHR) is the share of the samples of both end classes that are "
    f"answered with the middle one: {hedged:.3f}; of all samples it is {all_rows:.3f}, the "
    "[center rate](../book/glossary.md#term-center-rate).",
    (hedged < all_rows, "This classifier hedges less than chance would.",
     "This classifier hedges as much as chance would, or more."),
    "[Audit your own predictions](../book/audit.md) says more, with intervals, of any classifier's "
    "answers.",
)  # fmt: skip

# %% [markdown]
# ## Losses and their parameters
#
# All else is as in scikit-learn: pipelines, grid search, calibration, data frames, clones. `loss`
# is a name of [Reference of losses and metrics](api.ipynb) with `loss_params`, a loss object or a
# function of yours; `score` is the quadratic weighted kappa, so a search needs no scorer.

# %% tags=["show-input"]
from sklearn.model_selection import GridSearchCV

grid = [
    {"loss": ["CE", "CLM"]},
    {"loss": ["AMOL"], "loss_params": [{"alpha": 0.5}, {"alpha": 1.0}, {"alpha": 2.0}]},
]
search = GridSearchCV(model, grid, cv=3).fit(X, y)
kappas = search.cv_results_["mean_test_score"]
for tried, kappa in zip(search.cv_results_["params"], kappas, strict=True):
    print(f"{kappa:.3f}  {tried}")

# %% [markdown]
# ## Decisions
#
# A network gives probabilities, and a decision makes labels of them: the most probable class, the
# median, the class nearest to the mean, the one of least cost by a matrix of yours
# (`decision="cost", cost=…`), or thresholds on the mean that serve kappa. The thresholds are tuned
# in `fit`, on the fifth of the rows that also says when to stop (`X_val`, `y_val` give your own);
# the others can be changed afterwards. [Is it the loss?](decisions.ipynb) compares them.

# %% tags=["show-input"]
for decision in ("argmax", "median", "mean", "qwk"):
    model.set_params(decision=decision)
    answers = cross_val_predict(model, X, y, cv=5)
    kappa, error = (metrics.METRICS[name](y, answers, 5) for name in ("QWK", "MAE"))
    print(f"{decision:8}QWK {kappa:.3f}, MAE {error:.3f}")

# %% [markdown]
# ## Words as labels
#
# Numbers are in order by themselves, words aren't: `classes` says their order, lowest first, or an
# ordered categorical of pandas does.

# %% tags=["show-input"]
words = np.array(["least", "little", "middling", "much", "most"])
try:
    OrdinalClassifier().fit(X, words[y])
except ValueError as error:
    print("ValueError:", error)
model = OrdinalClassifier(classes=words, n_networks=3, random_state=0).fit(X, words[y])
print(model.predict(X[:4]), f"{len(model.fits_)} networks, up to {model.n_iter_} epochs")

# %% [markdown]
# ## Keep it
#
# A fitted model is a plain Python object, which joblib or pickle writes to a file. Such a file is
# code: load none from strangers. Whoever fits the same rows with the same `random_state` has the
# same weights, bit for bit, on any processor.

# %% tags=["show-input"]
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib

with TemporaryDirectory() as folder:
    joblib.dump(model, file := Path(folder, "model.joblib"))
    restored = joblib.load(file)
    print(f"{file.stat().st_size / 1e6:.1f} MB,", "weights", restored.fits_[0].network.digest[:16])
same = OrdinalClassifier(classes=words, random_state=0).fit(X, words[y])
print("fitted anew, the first network's:", same.fits_[0].network.digest[:16])

# %% [markdown]
# ## A model card
#
# What to write down about a classifier before it leaves your hands: what it predicts, from what it
# learned, how it decides, and how it fares on rows that it never saw. Here it is made for a data
# set of this book.

# %% tags=["show-input"]
from companion import load_dataset
from companion.data.dataset import split

if n_networks < 1:
    raise ValueError(f"n_networks is {n_networks}; allowed: at least 1")
data = load_dataset(dataset)
train, validation, test = split(data.y, 42)
K = data.num_classes
held, unseen = ((data.X[rows], data.y[rows]) for rows in (validation, test))
carded = OrdinalClassifier(loss, n_networks=n_networks, classes=range(K), random_state=0)
carded = carded.fit(data.X[train], data.y[train], X_val=held[0], y_val=held[1])

# %%
import pandas as pd

from amol.losses import center_class
from companion.page.calibration import reliability_figure

rows = f"{len(train):,} rows; stopped by {len(validation):,} others"
ends = [tables.literal(data.class_names[end]) for end in (0, -1)]
show(
    "tab-card",
    classifiers.card(carded, f"{tables.literal(dataset)}, {rows}", *unseen),
    caption=f"Card of a classifier of {tables.literal(dataset)}, measured on {len(test):,} test "
    f"rows. Class 0 is “{ends[0]}” in the data, class {K - 1} “{ends[1]}”.",
)  # fmt: skip
counts = pictures.counts(unseen[1], carded.predict(unseen[0])[None], K)
show(
    "fig-card-confusion", pictures.confusions({loss: counts}, center_class(K)),
    data=pd.DataFrame(counts).rename_axis("true").reset_index(),
    caption="Where test samples of each class end up, in percent.",
    alt="One square: true class down, answer across, shares in percent; the center's column is "
    "framed.",
)  # fmt: skip
curve = classifiers.reliability(carded, loss, held, unseen)
show(
    "fig-card-reliability", reliability_figure(curve), data=curve,
    caption="How often an answer is right, against its probability, in ten bins of equal mass; "
    "before and after a temperature that was fitted on the validation part.",
    alt="One panel: share right against probability, before and after the temperature, beside the "
    "diagonal.",
)  # fmt: skip

# %%
sure, right = carded.predict_proba(unseen[0]).max(axis=1), carded.predict(unseen[0]) == unseen[1]
after = curve.groupby("when")[["p", "hits"]].mean().eval("p - hits")
say(
    f"The answers' mean probability is {sure.mean():.2f}, and {right.mean():.2f} of them are "
    "right.",
    (sure.mean() < right.mean() - 0.02,
     "So the probabilities of answers are too low, and whoever reads them should be told."),
    (abs(after["after"]) < abs(after["before"]),
     f"A temperature makes the gap {abs(after['after']):.2f}; `CalibratedClassifierCV` of "
     "scikit-learn is another way."),
)  # fmt: skip

# %% [markdown]
# ## Boosted trees
#
# `objective` makes a custom objective of any loss of single samples, for LightGBM and XGBoost. The
# gradient is exact; in place of the Hessian, which isn't positive for every loss, stands a bound of
# it, $h_k = \sum_j |H_{kj}|$. The same object reads raw scores afterwards:
#
# ```python
# import lightgbm
# from amol import objective
#
# of = objective("AMOL", num_classes=5, alpha=2.0)
# trees = lightgbm.LGBMClassifier(objective=of, verbose=-1).fit(X, y)
# raw = trees.predict(X, raw_score=True)
# labels, probabilities = of.predict(raw), of.probabilities(raw)
# ```
#
# and for XGBoost:
#
# ```python
# import xgboost
#
# trees = xgboost.XGBClassifier(objective=of, base_score=0).fit(X, y)
# raw = trees.predict(X, output_margin=True)
# labels = of.predict(raw)
# ```
#
# With PyTorch, skorch and Lightning a loss is a module like any other: [Use it in your own
# training](training.ipynb).
#
# ## Beside other libraries
#
# How good is it? Here are twenty sets of the book's collection, three splits each, and four other
# libraries of ordinal classifiers: [mord](https://pypi.org/project/mord/),
# [skordinal](https://pypi.org/project/skordinal/), [OGBoost](https://pypi.org/project/ogboost/) and
# the ordered model of [statsmodels](https://www.statsmodels.org). Sets, candidates and decisions
# were written down before any of them ran.

# %%
from companion.studies import classifiers as study
from companion.studies import recordings

measured = recordings.load(study.NAME)
versions = recordings.note(study.NAME)["versions"]
compared = classifiers.compared(measured)
show(
    "tab-libraries", classifiers.comparison(compared),
    caption=f"Means over {measured['dataset'].nunique()} sets, {study.SPLITS} splits each, of the "
    "test part. A library's row has the candidate with the highest kappa on the validation part; "
    "rows with one candidate have no choice. *Own* is the library's own decision, *thresholds* are "
    "tuned for kappa on the validation part, the same rule for all. Rank is the mean over sets of "
    f"the rank among the libraries, by kappa with thresholds. "
    f"{listed(f'{name} {number}' for name, number in versions.items())}. Recorded by "
    f"`amol study --record {study.NAME}`; the rivals' bits aren't promised.",
    data=compared,
)  # fmt: skip

# %%
say(*classifiers.verdict(measured))

# %% [markdown]
# ## Time and memory

# %%
import json

from companion.checks import bench as engine_bench
from companion.checks import classifier_bench

bench, of_engine = (json.loads(module.RECORDED.read_text(encoding="utf-8"))
                    for module in (classifier_bench, engine_bench))  # fmt: skip
shares = pd.DataFrame(of_engine["engines"]).groupby("batch_size")["share"].min()
speed = classifiers.speed_table(bench["speed"])
show(
    "tab-fit-speed", speed,
    caption="Milliseconds of processor time an epoch, fit and predict, one thread, the same "
    "network, epochs and batches; in brackets how many times ours. scikit-learn is "
    f"`MLPClassifier` {bench['versions']['scikit-learn']}, trained by cross-entropy as ours "
    f"beside it; skorch {bench['versions']['skorch']} trains by AMOL. Recorded on "
    f"{bench['machine']} by `amol bench --classifier --record`.",
)  # fmt: skip
default = OrdinalClassifier().batch_size
say(
    *classifiers.speed_verdict(bench["speed"], classifier_bench.BARS, default, shares),
    "[The engine](engine.ipynb) says which rate it reaches.",
)
show(
    "tab-first-fit", classifiers.first_fit_table(bench["first_fits"]),
    caption="Seconds of processor time, imports left out, of a fit of 500 rows: where nothing is "
    "compiled yet, and in the next process. What is compiled stays in the user's cache folder.",
)  # fmt: skip
say(*classifiers.large_verdict(bench["large"]))

# %% tags=["remove-input"]
footer()
