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
# (sec-ablation)=
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

import numpy as np

from amol.experiments import StudySettings, run_study
from amol.paper.open_choices import register_readings
from amol.report import figures, footer, show, show_numbers, tables

register_readings()  # losses as the paper could also be read, such as "AMOL-OLL on Castagnos"
settings = StudySettings(
    datasets=datasets, target=target, order=order, methods=methods, seeds=seeds,
    alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs,
)  # fmt: skip
runs = run_study(settings)

# %%
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy"])
controls = summary["method"].isin(["KL", "CE-masked"])
dataset = settings.datasets[0]

# %% [markdown]
# ## The paper's ablation
#
# {numref}`tab-ablation` is the paper's table with accuracy added; {numref}`fig-ablation` draws it
# together with the two controls.

# %% tags=["remove-output"]
variants = summary if controls.all() else summary[~controls]
show("tab-ablation", tables.comparison(variants, "metric", place="Table 4"))

# %% [markdown]
# ```{result} tab-ablation
# The ablation, with accuracy.
# ```

# %% tags=["remove-output"]
drawn = summary[(summary["dataset"] == dataset)]
figure = figures.dots(drawn, "metric")
show("fig-ablation", figure, drawn)
show_numbers(ablation_dataset=dataset)

# %% [markdown]
# ```{result} fig-ablation
# :alt: >-
# :  Four panels, QWK, CHR, CHR_ext and accuracy, one row a loss. AMOL, AMOL-asym and AMOL-exp have
# :  the highest QWK and low hedging rates; AMOL-asym and the masked cross-entropy hedge at zero;
# :  AMOL-OLL falls off in QWK and accuracy and has the highest rates.
#
# The ablation on {glue:text}`ablation_dataset` with both controls: our mean with one standard
# deviation over seeds on either side, and the paper's mean as a tick.
# ```

# %% tags=["remove-cell"]
quoted = {}
for key, method in {
    "amol": "AMOL", "asym": "AMOL-asym", "exp": "AMOL-exp", "oll": "AMOL-OLL", "ce": "CE",
    "amolce": "AMOL-CE", "kl": "KL", "masked": "CE-masked",
}.items():  # fmt: skip
    for metric in ("QWK", "CHR", "CHR_ext", "accuracy"):
        cell = (summary, dataset, method, metric)
        quoted[f"{key}_{metric.lower()}"] = tables.quote(*cell)
        quoted[f"{key}_{metric.lower()}_paper"] = tables.quote(*cell, paper=True)
show_numbers(**quoted)

# %% [markdown]
# ### Finding 1: direction
#
# Restricting the weight to the inward side takes CHR from {glue:text}`amol_chr` to
# {glue:text}`asym_chr` (paper: {glue:text}`amol_chr_paper` to {glue:text}`asym_chr_paper`) and QWK
# from {glue:text}`amol_qwk` to {glue:text}`asym_qwk` (paper: {glue:text}`amol_qwk_paper` to
# {glue:text}`asym_qwk_paper`). Why should charging *fewer* classes lower the rate, as the paper
# finds? With the symmetric weight the classes just beyond the center are charged nearly as much as
# the center; with the inward one they are free, so the cheapest way out leads across: mass that
# would lie in the center can move to the class beyond it.
#
# ### Finding 2: shape

# %% tags=["remove-cell"]
shapes = {}
for key, prefix in {"shape": "", "shape_paper": "paper_"}.items():
    (amol, amol_std), (exp, exp_std) = (
        [tables.value(summary, dataset, method, "CHR", prefix + part) for part in ("mean", "std")]
        for method in ("AMOL", "AMOL-exp")
    )
    spread = np.hypot(amol_std, exp_std)
    known = spread > 0 and exp > 0
    shapes[f"{key}_gap"] = f"{(amol - exp) / spread:.1f}" if known else tables.DASH
    shapes[f"{key}_ratio"] = f"{amol / exp:.1f}" if known else tables.DASH
show_numbers(**shapes)

# %% [markdown]
# The paper concludes that the shape of the weight hardly matters. The QWK is
# {glue:text}`amol_qwk` with the linear weight and {glue:text}`exp_qwk` with the exponential one
# (paper: {glue:text}`amol_qwk_paper` and {glue:text}`exp_qwk_paper`). For CHR they are
# {glue:text}`amol_chr` and {glue:text}`exp_chr` (paper: {glue:text}`amol_chr_paper` and
# {glue:text}`exp_chr_paper`). In the published numbers one rate is
# {glue:text}`shape_paper_ratio` times the other, {glue:text}`shape_paper_gap` combined standard
# deviations apart; in ours {glue:text}`shape_ratio` times and {glue:text}`shape_gap`. The
# exponential reaches a peak of $e^{\alpha}$ instead of $1 + \alpha$, so part of the difference is
# plain strength.
#
# ### Finding 3: the base loss
#
# The paper's negative result is the weight on the closeness loss: QWK {glue:text}`oll_qwk`,
# accuracy {glue:text}`oll_accuracy` (paper: {glue:text}`oll_qwk_paper` and
# {glue:text}`oll_accuracy_paper`), against {glue:text}`amol_qwk` and {glue:text}`amol_accuracy` for
# AMOL (paper: {glue:text}`amol_qwk_paper` and {glue:text}`amol_accuracy_paper`). On cross-entropy
# the weight gives QWK {glue:text}`amolce_qwk`, where plain cross-entropy has {glue:text}`ce_qwk`
# (paper: {glue:text}`amolce_qwk_paper` and {glue:text}`ce_qwk_paper`).
#
# The paper takes the collapse for the lack of a signal about the right class. There is a simpler
# reading. The terms of the closeness loss {eq}`eq-oll` are *rewards* for mass near the truth; a
# weight that is largest in the center multiplies the reward there. If that is the cause, the same
# weight on OLL as Castagnos defines it, {eq}`eq-oll-castagnos`, whose terms are *charges*, should
# not collapse. That combination is run here too:

# %%
castagnos = replace(settings, datasets=(dataset,), methods=("AMOL-OLL on Castagnos",))
castagnos_summary = tables.summarize(run_study(castagnos), ["QWK", "accuracy", "CHR"])

# %% tags=["remove-cell"]
(method,) = castagnos.methods
show_numbers(
    castagnos_qwk=tables.quote(castagnos_summary, dataset, method, "QWK"),
    castagnos_accuracy=tables.quote(castagnos_summary, dataset, method, "accuracy"),
    castagnos_chr=tables.quote(castagnos_summary, dataset, method, "CHR"),
)

# %% [markdown]
# It gives QWK {glue:text}`castagnos_qwk`, accuracy {glue:text}`castagnos_accuracy` and CHR
# {glue:text}`castagnos_chr`.
#
# ## Two controls
#
# {numref}`tab-controls` sets the two {term}`controls <control>` beside the losses that they
# question.

# %% tags=["remove-output"]
others = summary["method"].isin(["AMOL-exp", "AMOL-OLL", "AMOL-CE"])
controlled = summary if others.all() else summary[~others]
show("tab-controls", tables.comparison(controlled, "metric"))

# %% tags=["remove-cell"]
steps = {}
for key, (method, baseline, metric) in {
    "base_gain": ("KL", "CE", "QWK"), "weight_gain": ("AMOL", "KL", "QWK"),
    "base_chr": ("KL", "CE", "CHR"), "weight_chr": ("AMOL", "KL", "CHR"),
}.items():  # fmt: skip
    step = tables.value(summary, dataset, method, metric)
    step -= tables.value(summary, dataset, baseline, metric)
    steps[key] = tables.DASH if np.isnan(step) else f"{step:+.3f}".replace("-", "−")
show_numbers(**steps)

# %% [markdown]
# ```{result} tab-controls
# Two controls.
# ```
#
# **No weight.** Going from cross-entropy to AMOL takes two steps: first to another base loss, then
# to the weight. In QWK the base loss brings {glue:text}`base_gain` and the weight
# {glue:text}`weight_gain`; in CHR the base loss {glue:text}`base_chr` and the weight
# {glue:text}`weight_chr`. The first number of each pair is owed to the Gaussian target and the
# direction of the divergence, the second to the weight alone.
#
# **No center.** Cross-entropy with its center class struck out has CHR {glue:text}`masked_chr`, by
# construction, with QWK {glue:text}`masked_qwk` and accuracy {glue:text}`masked_accuracy`;
# AMOL-asym has CHR {glue:text}`asym_chr`, QWK {glue:text}`asym_qwk` and accuracy
# {glue:text}`asym_accuracy`. A rate of zero alone therefore says little. What it hides is the
# subject of the {ref}`discussion <sec-discussion>`.

# %% [markdown]
# ## Exercises
#
# **1. Base and weight in MAE.** Take AMOL's difference from cross-entropy apart into that of the
# base loss (`KL` minus CE) and that of the weight (AMOL minus `KL`), for the mean absolute error.

# %% tags=["hide-cell"]
errors = runs.groupby(["dataset", "method"])["MAE"].mean().unstack()
errors = errors.reindex(columns=["CE", "KL", "AMOL"])
print("base loss:", (errors["KL"] - errors["CE"]).round(3).to_dict())
print("weight:   ", (errors["AMOL"] - errors["KL"]).round(3).to_dict())

# %% [markdown]
# **2. What a stronger weight does.** Run `amol run 06_ablation -p alpha 3`. First, at the
# strength of this page: which loss finds the fewest samples of the center class, and how often does
# it hedge?

# %% tags=["hide-cell"]
rates = runs.groupby("method")[["center_recall", "CHR_ext", "QWK"]].mean()
print(rates.sort_values("center_recall").round(3).to_string())

# %% tags=["remove-input"]
footer(settings, runs)
