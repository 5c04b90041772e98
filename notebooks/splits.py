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
# # What the error bars don't show
#
# The paper's ± is a spread over random starts on, it seems, one split of the data ([What did the
# paper run?](choices.ipynb)). It says how much a network's first weights matter. It doesn't say
# whether AMOL would beat cross-entropy on *other* samples from the same source, which is what a
# reader wants to know. For that the split itself must be drawn again. Here are the paper's tables
# over random splits, every loss on the same ones, with intervals for the differences.

# %% tags=["parameters"]
sample: int = 4  # recorded runs to train again
sample_seed: int = 0  # which of them, as a seed for drawing

# %%
from IPython.display import Markdown

from companion.page import appendix, footer, say, show, show_numbers, tables
from companion.page.words import changes, listed
from companion.studies import recordings
from companion.studies.recording_checks import note_of, verify

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")
runs = recordings.load("splits")
datasets = list(runs["dataset"].unique())
splits = int(runs["split_seed"].nunique())
show_numbers(splits_count=splits)

# %% [markdown]
# ## The paper's tables again
#
# {glue:text}`splits_count:d` splits, numbers 0 onwards, and on each of them one network
# per loss, with a random start that belongs to the split. A ± below is therefore the spread of *one
# run on a new split*: what somebody would see who took the protocol to fresh data. The printed
# numbers stand under ours; they belong to one split, so a printed mean may well lie away from ours
# without either being wrong.

# %% tags=["remove-output"]
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy"])
baselines = ("CE", "OLL", "SORD", "AMOL")
main = summary[summary["method"].isin(baselines)]
over = f"Mean ± standard deviation over {splits} random splits, the paper's numbers (one split, "
over += "five seeds) under ours, the best of each in bold."
for label, metric in {"tab-splits-qwk": "QWK", "tab-splits-chr": "CHR_ext"}.items():
    part = main[main["metric"] == metric]
    show(label, tables.Table(tables.as_printed(part), over, part))

# %% [markdown]
# ```{result} tab-splits-qwk
# The paper's Table 2, QWK (higher is better).
# ```
#
# ```{result} tab-splits-chr
# The paper's Table 3, CHR_ext (lower is better).
# ```
#
# ## Differences, split by split
#
# A hard split is hard for every loss. So losses are compared on each split by itself, and the
# differences $d_1, \dots, d_J$ averaged. Their plain standard error would be too small: the splits
# are cut from the same samples, so that training parts overlap and the differences aren't
# independent. [Nadeau and Bengio (2003)](https://doi.org/10.1023/A:1024068626366) correct for it.
# With $s^2$ the variance of the differences, the 95 % interval is
#
# <a id="eq-corrected"></a>
#
# $$
# \bar d \pm t_{0.975,\, J-1} \sqrt{ \Bigl( \frac1J + \frac{n_{\text{test}}}{n_{\text{train}}}
#   \Bigr) s^2 } ,
# \qquad \frac{n_{\text{test}}}{n_{\text{train}}} = \frac{20}{60} . \tag{corrected}
# $$
#
# The second summand doesn't shrink with more splits, for they bring no new data. It is a cautious
# interval: if it excludes zero, the sign of the difference is unlikely to be an accident of the
# splits; if it doesn't, nothing is shown either way.

# %%
pairs = [("AMOL", "CE"), ("AMOL", "OLL"), ("AMOL", "SORD"), ("AMOL", "KL"),
         ("AMOL-asym", "CE"), ("AMOL-asym", "KL"), ("KL", "CE")]  # fmt: skip
metrics = ("QWK", "CHR_ext", "MAE", "J_c", "extreme_recall", "center_recall")
contrasts = appendix.paired(runs, pairs, metrics)
favored = contrasts["metric"].isin(appendix.HEADLINE)

# %% tags=["remove-output"]
drawn = {"fig-forest-qwk": "QWK", "fig-forest-chr": "CHR_ext", "fig-forest-jc": "J_c"}
for label, metric in drawn.items():
    part = contrasts[contrasts["metric"] == metric].reset_index(drop=True)
    show(label, appendix.forest(part), part)

# %% [markdown]
# ```{result} fig-forest-qwk
# :alt: >-
# :  One panel per data set, one row per pair of losses: the mean difference in QWK with its
# :  corrected interval and a line at zero. AMOL minus CE lies right of zero, with intervals that
# :  leave zero out except on Wine Red; those of AMOL minus OLL, SORD or KL often cover zero.
#
# Differences in QWK over random splits, with corrected 95 % intervals; right of zero favors the
# first of the pair. Scales differ between panels.
# ```
#
# ```{result} fig-forest-chr
# :alt: >-
# :  One panel per data set, one row per pair of losses: the mean difference in CHR_ext with its
# :  corrected interval and a line at zero. Those of AMOL and AMOL-asym lie left of zero on all data
# :  sets but Wine Red, where every interval covers zero.
#
# Differences in CHR_ext over random splits, with corrected 95 % intervals; *left* of zero favors
# the first of the pair. Scales differ between panels.
# ```
#
# ## Does AMOL beat the baselines?
#
# [Table beats](#tab-beats) answers for each data set. *Better* (for CHR_ext: lower) and *worse*
# mean that the interval leaves zero out.

# %% tags=["remove-output"]
shown = ("QWK", "CHR_ext", "MAE")
headline = contrasts[contrasts["method"].eq("AMOL") & contrasts["metric"].isin(shown)]
cells = headline.assign(
    row=headline["metric"] + " against " + headline["baseline"],
    cell=[
        f"{r.verdict}, {r.difference:+.4f} [{r.low:+.4f}, {r.high:+.4f}]".replace("-", "−")
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
table = contrasts.set_index(["method", "baseline", "metric"]).sort_index()


def state(method, baseline, metric):
    """Say where a difference is shown, and how large it is there."""
    words = ("lower", "higher") if metric in ("CHR_ext", "MAE") else ("higher", "lower")
    part = table.loc[[(method, baseline, metric)]].set_index("dataset")
    clauses = []
    for verdict, word in zip(("better", "worse"), words, strict=True):
        named = part[part["verdict"] == verdict]
        if len(named):
            where = "every data set" if len(named) == len(datasets) else listed(named.index)
            size = changes(named["difference"]).rpartition(" ")[0]
            clauses.append(f"{word} on {where} (by {size})")
    key = f"{method}_{baseline}_{metric}".lower().replace("-", "_")
    name = f"{method}'s {metric.replace('_recall', ' recall')}"
    other = "its base without the weight" if baseline == "KL" else baseline
    text = f"{name} is shown to differ from that of {other}: {' and '.join(clauses)}."
    say(key, bool(clauses), text, f"{name} isn't shown to differ from that of {other}.")


# %% tags=["remove-cell"]
stated = {
    ("AMOL", "CE"): metrics,
    ("AMOL", "KL"): ("QWK", "MAE", "CHR_ext", "J_c"),
    ("AMOL", "OLL"): ["QWK"],
    ("AMOL", "SORD"): ["QWK"],
    ("AMOL-asym", "CE"): ("CHR_ext", "J_c", "extreme_recall", "center_recall"),
    ("KL", "CE"): ["QWK"],
}
for pair, about in stated.items():
    for metric in about:
        state(*pair, metric)
excluding = favored & contrasts["verdict"].ne("no difference shown")
show_numbers(
    splits_intervals=int(favored.sum()),
    splits_by_chance=float(0.05 * favored.sum()),
    splits_excluding=int(excluding.sum()),
)

# %% [markdown]
# ```{result} tab-beats
# AMOL against the baselines: verdict, mean difference and corrected 95 % interval.
# ```
#
# Two cautions. The verdicts are many: of {glue:text}`splits_intervals:d` intervals in the two
# figures above, up to {glue:text}`splits_by_chance:.0f` would leave zero out if no loss differed
# from any other; {glue:text}`splits_excluding:d` do. And where no difference is shown, the losses
# aren't shown to be equal. On Wine Red, with some fifty extreme test samples, only a large
# difference in CHR_ext could show.
#
# ## What CHR doesn't see, over splits
#
# [Discussion: what the hedging rate doesn't see](07_discussion.ipynb) explains $J_c$, extreme
# recall and center recall on one split. Over all of them:
#
# ```{result} fig-forest-jc
# :alt: >-
# :  One panel per data set, one row per pair of losses: the mean difference in J_c with its
# :  corrected interval and a line at zero. On Synthetic and Abalone most lie left of zero, those of
# :  AMOL-asym furthest; on Wine Red every interval covers zero.
#
# Differences in $J_c$ over random splits, with corrected 95 % intervals; right of zero favors the
# first of the pair. Scales differ between panels.
# ```
#
# ## What holds on other splits
#
# - **Agreement.** {glue:text}`amol_ce_qwk` {glue:text}`amol_oll_qwk` {glue:text}`amol_sord_qwk` The
#   paper has AMOL ahead of all three everywhere.
# - **Hedging.** {glue:text}`amol_ce_chr_ext` {glue:text}`amol_asym_ce_chr_ext`
# - **Average error.** {glue:text}`amol_ce_mae` {glue:text}`amol_kl_mae`
# - **The weight.** {glue:text}`amol_kl_qwk` {glue:text}`amol_kl_chr_ext` {glue:text}`amol_kl_j_c`
#   And without any weight: {glue:text}`kl_ce_qwk`
# - **Beyond the rate.** {glue:text}`amol_ce_j_c` {glue:text}`amol_ce_extreme_recall`
#   {glue:text}`amol_ce_center_recall` {glue:text}`amol_asym_ce_j_c`
#   {glue:text}`amol_asym_ce_extreme_recall` {glue:text}`amol_asym_ce_center_recall`
#
# Splits of four data sets say how stable a difference is on these data. They don't say how it would
# be on others.

# %% tags=["remove-cell"]
note = recordings.note("splits")
show_numbers(
    splits_runs=note["runs"],
    splits_minutes=round(note["training seconds"] / 60),
    splits_processor=note["processor"],
    splits_date=note["recorded"],
)

# %% [markdown]
# ## Again, and checked
#
# The {glue:text}`splits_runs:d` runs of this page are
# [recorded](../book/glossary.md#term-recorded-study): {glue:text}`splits_minutes:d` minutes of
# training on one thread, on {glue:text}`splits_processor`, {glue:text}`splits_date`. `amol study
# --record splits` makes them anew. Each build compares the keys of all rows and trains a random
# sample again ([Table verified-splits](#tab-verified-splits)).
#
# ```{glue:md} splits_checked
# :format: myst
# ```

# %% tags=["remove-output"]
checks, compared = verify("splits", sample, sample_seed)
show_numbers(splits_checked=Markdown(note_of(compared)))
exact = ["QWK recorded", "QWK retrained", "largest difference"]
checks[exact] = checks[exact].map("{:.6f}".format)
names = {"dataset": "Data set", "method": "Method", "seed": "Seed", "split_seed": "Split"}
show("tab-verified-splits", checks.rename(columns=names).set_index("Data set"))

# %% [markdown]
# ```{result} tab-verified-splits
# Recorded runs trained again in this build; the difference is over all metrics.
# ```

# %% tags=["remove-input"]
footer()
