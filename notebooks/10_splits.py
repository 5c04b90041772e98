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
# (sec-splits)=
# # What the error bars don't show
#
# The paper's ± is a spread over random starts on, it seems, one split of the data
# ({ref}`sec-choices`). It says how much a network's first weights matter. It doesn't say whether
# AMOL would beat cross-entropy on *other* samples from the same source, which is what a reader
# wants to know. For that the split itself must be drawn again. Here are the paper's tables over
# random splits, every loss on the same ones, with intervals for the differences.

# %% tags=["parameters"]
sample: int = 4  # recorded runs to train again
sample_seed: int = 0  # which of them, as a seed for drawing

# %%
import numpy as np
from IPython.display import Markdown

from amol.experiments import load_dataset
from amol.losses import center_class
from amol.paper import recordings
from amol.paper.recording_checks import note_of, verify
from amol.report import appendix, figures, footer, show, show_numbers, tables

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")
runs = recordings.load("splits")
datasets = list(runs["dataset"].unique())
splits = int(runs["split_seed"].nunique())

# %% tags=["remove-cell"]
show_numbers(splits_count=splits)

# %% [markdown]
# ## The paper's tables again
#
# {glue:text}`splits_count:d` splits, numbers 0 onwards, and on each of them one network of each
# loss, with a random start that belongs to the split. A ± below is therefore the spread of *one run
# on a new split*: what somebody would see who took the protocol to fresh data. The printed numbers
# stand under ours; they belong to one split, so a printed mean may well lie away from ours without
# either being wrong.

# %% tags=["remove-output"]
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy"])
baselines = ("CE", "OLL", "SORD", "AMOL")
main = summary[summary["method"].isin(baselines)]
over = f"Mean ± standard deviation over {splits} random splits, the paper's numbers (one split, "
over += "five seeds) under ours, the best of each in bold."
part = main[main["metric"] == "QWK"]
show("tab-splits-qwk", tables.Table(tables.compare(part), over, part))
part = main[main["metric"] == "CHR_ext"]
show("tab-splits-chr", tables.Table(tables.compare(part), over, part))

# %% tags=["remove-output"]
ablated = ("AMOL", "AMOL-asym", "AMOL-exp", "AMOL-OLL", "AMOL-CE", "CE", "KL", "CE-masked")
part = summary[(summary["dataset"] == "Abalone") & summary["method"].isin(ablated)]
show("tab-splits-ablation", tables.Table(tables.compare(part, "metric"), over, part))

# %% [markdown]
# ```{result} tab-splits-qwk
# The paper's Table 2, QWK (higher is better).
# ```
#
# ```{result} tab-splits-chr
# The paper's Table 3, CHR_ext (lower is better).
# ```
#
# ```{result} tab-splits-ablation
# The paper's Table 4, the ablation on Abalone, with two controls.
# ```
#
# ## Differences, split by split
#
# A hard split is hard for every loss. So losses are compared on each split by itself, and the
# differences $d_1, \dots, d_J$ averaged. Their plain standard error would be too small: the splits
# are cut from the same samples, so that training parts overlap and the differences aren't
# independent. {cite:t}`nadeau2003` correct for it. With $s^2$ the variance of the differences, the
# 95 % interval is
#
# $$
# \bar d \pm t_{0.975,\, J-1} \sqrt{ \Bigl( \frac1J + \frac{n_{\text{test}}}{n_{\text{train}}}
#   \Bigr) s^2 } ,
# \qquad \frac{n_{\text{test}}}{n_{\text{train}}} = \frac{20}{60} .
# $$ (eq-corrected)
#
# The second summand doesn't shrink with more splits, for they bring no new data. It is a cautious
# interval: where it leaves zero out, the sign of the difference is hardly owed to the draw of the
# splits; where it doesn't, nothing is shown either way.

# %%
pairs = [("AMOL", "CE"), ("AMOL", "OLL"), ("AMOL", "SORD"), ("AMOL", "KL"),
         ("AMOL-asym", "CE"), ("AMOL-asym", "KL"), ("KL", "CE")]  # fmt: skip
contrasts = appendix.paired(runs, pairs, ("QWK", "CHR_ext", "J_c", "extreme_recall"))
favored = contrasts["metric"].isin(appendix.METRICS)

# %% tags=["remove-output"]
part = contrasts[contrasts["metric"] == "QWK"].reset_index(drop=True)
show("fig-forest-qwk", appendix.forest(part), part)

# %% tags=["remove-output"]
part = contrasts[contrasts["metric"] == "CHR_ext"].reset_index(drop=True)
show("fig-forest-chr", appendix.forest(part), part)

# %% [markdown]
# ```{result} fig-forest-qwk
# :alt: >-
# :  One panel a data set, one row a pair of losses: the mean difference in QWK with its corrected
# :  interval and a line at zero. AMOL minus CE lies right of zero on all four data sets; AMOL minus
# :  OLL, SORD or KL only on some, with the interval covering zero elsewhere.
#
# Differences in QWK over random splits, with corrected 95 % intervals; right of zero favors the
# first of the pair. Scales differ between panels.
# ```
#
# ```{result} fig-forest-chr
# :alt: >-
# :  One panel a data set, one row a pair of losses: the mean difference in CHR_ext with its
# :  corrected interval and a line at zero. Those of AMOL and AMOL-asym lie left of zero on all data
# :  sets but Wine Red, where every interval covers zero.
#
# Differences in CHR_ext over random splits, with corrected 95 % intervals; *left* of zero favors
# the first of the pair. Scales differ between panels.
# ```
#
# ## Does AMOL beat the baselines?
#
# {numref}`tab-beats` answers for each data set. *Better* (for CHR_ext: lower) and *worse* mean that
# the interval leaves zero out.

# %% tags=["remove-output"]
headline = contrasts[contrasts["method"].eq("AMOL") & favored]
cells = headline.assign(
    row=headline["metric"] + " against " + headline["baseline"],
    cell=[
        f"{r.verdict}, {r.difference:+.3f} [{r.low:+.3f}, {r.high:+.3f}]"
        for r in headline.itertuples()
    ],
).pivot(index="row", columns="dataset", values="cell")
order = (headline["metric"] + " against " + headline["baseline"]).unique()
cells = cells.reindex(index=order, columns=datasets).rename_axis("AMOL")
scores = runs[runs["method"].isin(baselines)]
scores = scores.pivot_table(index=["dataset", "split_seed"], columns="method", values="QWK")
first = (scores.idxmax(axis=1) == "AMOL").groupby("dataset").mean()
cells.loc["Highest QWK of the four"] = [f"on {first[name]:.0%} of the splits" for name in datasets]
show("tab-beats", cells.rename_axis(columns=None), headline)

# %% tags=["remove-cell"]
short = {"QWK": "qwk", "CHR_ext": "chr", "J_c": "jc", "extreme_recall": "end",
         "AMOL-asym": "asym"}  # fmt: skip
verdicts = {}
for names, part in contrasts.groupby(["metric", "method", "baseline"]):
    key = "_".join(short.get(name, name.lower()) for name in names)
    for verdict in ("better", "worse"):
        named = part.loc[part["verdict"] == verdict, "dataset"]
        verdicts[f"{verdict}_{key}"] = ", ".join(named) or "none"
show_numbers(splits_intervals=int(favored.sum()), splits_by_chance=float(0.05 * favored.sum()))
shown = favored & contrasts["verdict"].ne("no difference shown")
show_numbers(splits_excluding=int(shown.sum()))

# %% [markdown]
# ```{result} tab-beats
# AMOL against the baselines: verdict, mean difference and corrected 95 % interval.
# ```
#
# The rows against `KL` isolate the weight $m(k, y)$, since `KL` is AMOL without it. The base alone,
# `KL` against cross-entropy, is better in QWK on: {glue:text}`better_qwk_kl_ce`; worse on:
# {glue:text}`worse_qwk_kl_ce`.
#
# Two cautions for reading these verdicts. They are many: of {glue:text}`splits_intervals:d`
# intervals in the two figures above, up to {glue:text}`splits_by_chance:.0f` would leave zero out
# if no loss differed from any other; {glue:text}`splits_excluding:d` do. And a data set missing
# from *better* is not evidence that the losses are equal there. On Wine Red, with some fifty
# extreme test samples, only a large difference in CHR_ext could show.
#
# ## What CHR doesn't see, over splits
#
# {ref}`sec-discussion` put beside the hedging rate what it leaves out, on one split. Here it is
# over all of them, with the same two controls: `KL`, which has no weight, and `CE-masked`, which is
# cross-entropy forbidden to answer "center".

# %% tags=["remove-output"]
metrics = ["CHR_ext", "center_rate", "center_recall", "extreme_recall", "J_c"]
asked = ("CE", "KL", "AMOL", "AMOL-asym", "CE-masked")
beside = tables.summarize(runs[runs["method"].isin(asked)], metrics)
own = beside.assign(paper_mean=np.nan, paper_std=np.nan)
shares = {}
for name in datasets:
    labels = load_dataset(name)
    shares[name] = float(np.mean(labels.y == center_class(labels.num_classes)))
show("tab-splits-blindspot", tables.compare(own, "metric"), own)

# %% tags=["remove-output"]
means = beside.pivot_table(index=["dataset", "method"], columns="metric", values="mean", sort=False)
drawn = means[["CHR_ext", "center_recall"]].reset_index()
drawn = drawn.rename(columns={"dataset": "panel", "method": "name"})
ends = {"CHR_ext": "extreme samples called center (CHR_ext)",
        "center_recall": "center samples called center (recall)"}  # fmt: skip
figure = figures.dumbbells(drawn, ends, xlabel="rate of the answer “center”")
show("fig-splits-blindspot", figure, drawn)

# %% tags=["remove-output"]
part = contrasts[contrasts["metric"] == "J_c"].reset_index(drop=True)
show("fig-forest-jc", appendix.forest(part), part)

# %% tags=["remove-cell"]
words = {
    "splits_abalone_share": shares["Abalone"],
    "splits_shares": ", ".join(f"{name} {share:.3f}" for name, share in shares.items()),
}
for key, method in {"ce": "CE", "kl": "KL", "amol": "AMOL", "asym": "AMOL-asym",
                    "masked": "CE-masked"}.items():  # fmt: skip
    for metric in metrics:
        words[f"splits_{metric.lower()}_{key}"] = tables.quote(beside, "Abalone", method, metric)
show_numbers(**words)

# %% [markdown]
# ```{result} tab-splits-blindspot
# What surrounds the hedging rate: mean ± standard deviation over {glue:text}`splits_count:d` random
# splits, the best of each in bold. True shares of the center class: {glue:text}`splits_shares`.
# ```
#
# On Abalone {glue:text}`splits_abalone_share:.1%` of the samples belong to the center class.
# Averaged over splits, AMOL-asym gives that answer at a rate of
# {glue:text}`splits_center_rate_asym` and finds {glue:text}`splits_center_recall_asym` of the true
# ones; for AMOL it is {glue:text}`splits_center_rate_amol` and
# {glue:text}`splits_center_recall_amol`, for cross-entropy {glue:text}`splits_center_rate_ce` and
# {glue:text}`splits_center_recall_ce`. The samples in the two outermost classes are found at a rate
# of {glue:text}`splits_extreme_recall_asym`, {glue:text}`splits_extreme_recall_amol` and
# {glue:text}`splits_extreme_recall_ce`. {numref}`tab-blindspot` has the same for one split.

# %% [markdown]
# ```{result} fig-splits-blindspot
# :alt: >-
# :  One panel a data set, one row a loss. A hollow dot shows how often extreme samples are called
# :  the center, a full dot how often true center samples are. For the masked cross-entropy both
# :  dots sit at zero; for AMOL-asym on Abalone they nearly do.
#
# How often the answer is "center", for extreme samples (hollow) and for true center samples (full),
# mean over random splits. The length of the bar, full minus hollow, is $J_c$ of {eq}`eq-jc`.
# ```
#
# ```{result} fig-forest-jc
# :alt: >-
# :  One panel a data set, one row a pair of losses: the mean difference in J_c with its corrected
# :  interval and a line at zero. On Synthetic and Abalone most lie left of zero, those of AMOL-asym
# :  furthest; on Wine Red every interval covers zero.
#
# Differences in $J_c$ over random splits, with corrected 95 % intervals; right of zero favors the
# first of the pair. Scales differ between panels.
# ```
#
# Verdicts on $J_c$, and on extreme recall (*Ends*):
#
# | | better on | worse on |
# |:--|:--|:--|
# | $J_c$, AMOL against CE | {glue:text}`better_jc_amol_ce` | {glue:text}`worse_jc_amol_ce` |
# | $J_c$, AMOL against `KL` | {glue:text}`better_jc_amol_kl` | {glue:text}`worse_jc_amol_kl` |
# | $J_c$, AMOL-asym against CE | {glue:text}`better_jc_asym_ce` | {glue:text}`worse_jc_asym_ce` |
# | $J_c$, AMOL-asym against `KL` | {glue:text}`better_jc_asym_kl` | {glue:text}`worse_jc_asym_kl` |
# | $J_c$, `KL` against CE | {glue:text}`better_jc_kl_ce` | {glue:text}`worse_jc_kl_ce` |
# | Ends, AMOL against CE | {glue:text}`better_end_amol_ce` | {glue:text}`worse_end_amol_ce` |
# | Ends, AMOL-asym against CE | {glue:text}`better_end_asym_ce` | {glue:text}`worse_end_asym_ce` |
#
# ## What holds on other splits
#
# - Agreement. AMOL's QWK is shown to exceed that of cross-entropy on:
#   {glue:text}`better_qwk_amol_ce`; that of OLL on: {glue:text}`better_qwk_amol_oll`; that of SORD
#   on: {glue:text}`better_qwk_amol_sord`. The paper has it ahead of all three everywhere.
# - Hedging. AMOL's CHR_ext is shown to be lower than that of cross-entropy on:
#   {glue:text}`better_chr_amol_ce`; AMOL-asym's on: {glue:text}`better_chr_asym_ce`.
# - The weight. Against the same loss without it, AMOL's CHR_ext is lower on:
#   {glue:text}`better_chr_amol_kl`; its QWK is higher on: {glue:text}`better_qwk_amol_kl`, and
#   lower on: {glue:text}`worse_qwk_amol_kl`.
# - Beyond the rate. In telling center from extreme samples, which $J_c$ measures, AMOL is shown to
#   be better than cross-entropy on: {glue:text}`better_jc_amol_ce`, worse on:
#   {glue:text}`worse_jc_amol_ce`; AMOL-asym better on: {glue:text}`better_jc_asym_ce`, worse on:
#   {glue:text}`worse_jc_asym_ce`. Of the outermost samples AMOL is shown to find more on:
#   {glue:text}`better_end_amol_ce`, fewer on: {glue:text}`worse_end_amol_ce`.
#
# Thirty splits of four data sets say how stable a difference is on these data. They don't say how
# it would be on others.
#
# ## Again, and checked

# %% tags=["remove-cell"]
note = recordings.note("splits")
show_numbers(
    splits_runs=note["runs"],
    splits_minutes=round(note["training seconds"] / 60),
    splits_processor=note["processor"],
    splits_date=note["recorded"],
)

# %% [markdown]
# The runs of this page are recorded: {glue:text}`splits_runs:d` of them,
# {glue:text}`splits_minutes:d` minutes of training on one thread, on {glue:text}`splits_processor`,
# {glue:text}`splits_date`. `amol study --record splits` makes them anew and goes on where it was
# stopped. Each build compares the keys of all rows with those of the present code, data and
# settings, and trains a random sample again ({numref}`tab-verified-splits`).
#
# ```{glue:md} splits_checked
# :format: myst
# ```

# %% tags=["remove-output"]
checks, compared = verify("splits", sample, sample_seed)
show_numbers(splits_checked=Markdown(note_of(compared)))
exact = ["QWK recorded", "QWK retrained", "largest difference"]
shown = checks.assign(**{c: checks[c].map("{:.6f}".format) for c in exact})
shown = shown.rename(columns={"dataset": "Data set", "method": "Method", "seed": "Seed",
                              "split_seed": "Split"}).set_index("Data set")  # fmt: skip
show("tab-verified-splits", shown)

# %% [markdown]
# ```{result} tab-verified-splits
# Recorded runs trained again in this build; the difference is over all metrics.
# ```

# %% tags=["remove-input"]
footer()
