# %% [markdown]
# # What the error bars don't show
#
# The paper's ± is a spread over random starts on, it seems, one
# [split](../book/glossary.md#term-split) of the data into training, validation and test part ([What
# did the paper run?](choices.ipynb)). It says how much a network's first weights matter. It doesn't
# say whether AMOL would beat cross-entropy on *other* samples from the same source, which is what a
# reader wants to know. For that the split itself must be drawn again. Here are the paper's tables
# over random splits, every loss on the same ones, with intervals for the differences.

# %% tags=["parameters"]
sample: int = 4  # recorded runs to train again
sample_seed: int = 0  # which of them, as a seed for drawing

# %%
from companion.page import appendix, footer, say, show, tables
from companion.page.words import changes, listed
from companion.studies import recordings
from companion.studies.grids import verify
from companion.studies.paired_intervals import paired_differences
from companion.studies.recording_checks import note_of

if sample < 1:
    raise ValueError(f"sample is {sample}; allowed: 1 or more")

# %% tags=["show-input"]
runs = recordings.load("splits")  # one row for each split, data set and loss
datasets, splits = list(runs["dataset"].unique()), runs["split_seed"].nunique()
summary = tables.summarize(runs, ["QWK", "CHR", "CHR_ext", "accuracy"])

# %% [markdown]
# ## The paper's tables again

# %%
say(
    f"{splits} splits, numbers 0 onwards, and on each of them one network per loss, with a random "
    "start that belongs to the split. A ± below is therefore the spread of *one run on a new "
    "split*: what somebody would see who took the "
    "[protocol](../book/glossary.md#term-protocol) to fresh data. The printed numbers "
    "stand under ours; they belong to one split, so a printed mean may well lie away from ours "
    "without either being wrong."
)
baselines = ("CE", "OLL", "SORD", "AMOL")
over = f"Mean ± standard deviation over {splits} random splits, the paper's numbers (one split, "
over += "five seeds) under ours, the best of each in bold."
captions = {
    "tab-splits-qwk": ("QWK", "The paper's Table 2, QWK (higher is better)."),
    "tab-splits-chr": ("CHR_ext", "The paper's Table 3, CHR_ext (lower is better)."),
}
for label, (metric, caption) in captions.items():
    part = summary[summary["method"].isin(baselines) & summary["metric"].eq(metric)]
    show(label, tables.Table(tables.as_printed(part), over, part), caption=caption)

# %% [markdown]
# ## Differences, split by split
#
# A hard split is hard for every loss. So losses are compared on each split by itself, and the
# differences $d_1, \dots, d_J$ averaged. Their plain standard error would be too small: the splits
# are cut from the same samples, so that training parts overlap and the differences aren't
# independent. [Nadeau and Bengio (2003)](https://doi.org/10.1023/A:1024068626366) correct for it.
# With $s^2$ the variance of the differences, the [corrected
# interval](../book/glossary.md#term-corrected-interval) of 95 % is
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
# interval: if it excludes zero, a difference is called *shown*, and the sign of the difference is
# unlikely to be an accident of the splits; if it doesn't, nothing is shown either way.

# %% tags=["show-input"]
pairs = [("AMOL", "CE"), ("AMOL", "OLL"), ("AMOL", "SORD"), ("AMOL", "KL"),
         ("AMOL-asym", "CE"), ("AMOL-asym", "KL"), ("KL", "CE")]  # fmt: skip
metrics = ("QWK", "CHR_ext", "MAE", "J_c", "extreme_recall", "center_recall")
contrasts = paired_differences(runs, pairs, metrics)


# %%
def show_forest(label, metric, caption, alt):
    """Figure of the differences in one metric; data sets and pairs are named alike in all."""
    part = contrasts[contrasts["metric"] == metric].reset_index(drop=True)
    panels = "One panel per data set, one row per pair of losses: the mean difference in "
    panels += f"{metric} with its corrected interval and a line at zero. "
    caption += " Scales differ between panels."
    show(label, appendix.forest(part), data=part, caption=caption, alt=panels + alt)


show_forest(
    "fig-forest-qwk", "QWK",
    "Differences in QWK over random splits, with corrected 95 % intervals; right of zero favors "
    "the first of the pair.",
    "AMOL minus CE lies right of zero, with intervals that exclude zero except on Wine Red; "
    "those of AMOL minus OLL, SORD or KL often cover zero.",
)  # fmt: skip
show_forest(
    "fig-forest-chr", "CHR_ext",
    "Differences in CHR_ext over random splits, with corrected 95 % intervals; *left* of zero "
    "favors the first of the pair.",
    "Those of AMOL and AMOL-asym lie left of zero on all data sets but Wine Red, where every "
    "interval covers zero.",
)  # fmt: skip

# %% [markdown]
# ## Does AMOL beat the baselines?
#
# [Table beats](#tab-beats) answers for each data set, against [CE](../book/glossary.md#term-CE),
# [OLL](../book/glossary.md#term-OLL) and [SORD](../book/glossary.md#term-SORD). *Better* (for
# CHR_ext: lower) and *worse* mean that the interval excludes zero.

# %%
asked = contrasts["method"].eq("AMOL") & contrasts["metric"].isin(("QWK", "CHR_ext", "MAE"))
headline = contrasts[asked]
cells = headline.assign(
    row=headline["metric"] + " against " + headline["baseline"],
    cell=[
        f"{r.verdict}, {r.difference:+.4f} [{r.low:+.4f}, {r.high:+.4f}]".replace("-", "−")
        for r in headline.itertuples()
    ],
)
order = cells["row"].unique()
cells = cells.pivot(index="row", columns="dataset", values="cell")
cells = cells.reindex(index=order, columns=datasets).rename_axis("AMOL", columns=None)
scores = runs[runs["method"].isin(baselines)]
scores = scores.pivot_table(index=["dataset", "split_seed"], columns="method", values="QWK")
first = (scores.idxmax(axis=1) == "AMOL").groupby("dataset").mean()
cells.loc["Highest QWK of the four"] = [f"on {first[name]:.0%} of the splits" for name in datasets]

# %%
show(
    "tab-beats", cells, data=headline,
    caption="AMOL against the baselines: verdict, mean difference and corrected 95 % interval.",
)  # fmt: skip
drawn = contrasts[contrasts["metric"].isin(appendix.HEADLINE)]
say(
    f"Two cautions. The verdicts are many: of {len(drawn)} intervals in the two figures above, up "
    f"to {0.05 * len(drawn):.0f} would exclude zero if no loss differed from any other; "
    f"{drawn['verdict'].ne('no difference shown').sum()} do. And where no difference is shown, the "
    "losses aren't shown to be equal. On Wine Red, with some fifty extreme test samples, only a "
    "large difference in CHR_ext could show."
)

# %% [markdown]
# ## What CHR doesn't see, over splits
#
# [Discussion: what the hedging rate doesn't see](07_discussion.ipynb) explains $J_c$, extreme
# recall and center recall on one split. Over all of them:

# %%
show_forest(
    "fig-forest-jc", "J_c",
    "Differences in $J_c$ over random splits, with corrected 95 % intervals; right of zero favors "
    "the first of the pair.",
    "On Synthetic and Abalone most lie left of zero, those of AMOL-asym furthest; on Wine Red "
    "every interval covers zero.",
)  # fmt: skip


# %%
def differs(method, baseline, metric):
    """A sentence on where a difference is shown and how large it is there, or that none is."""
    words = ("lower", "higher") if metric in ("CHR_ext", "MAE") else ("higher", "lower")
    part = contrasts.set_index(["method", "baseline", "metric"]).loc[[(method, baseline, metric)]]
    clauses = []
    for verdict, word in zip(("better", "worse"), words, strict=True):
        named = part[part["verdict"] == verdict].set_index("dataset")
        if len(named):
            where = "every data set" if len(named) == len(datasets) else listed(named.index)
            size = changes(named["difference"]).rpartition(" ")[0]
            clauses.append(f"{word} on {where} (shown, by {size})")
    name = f"{method}'s {metric.replace('_recall', ' recall')}"
    text = f"{name} against {baseline}'s: {' and '.join(clauses)}."
    return bool(clauses), text, f"{name} isn't shown to differ from {baseline}'s."


# %% [markdown]
# ## What holds on other splits

# %%
say(
    "- **Agreement.**", *(differs("AMOL", other, "QWK") for other in ("CE", "OLL", "SORD")),
    "The paper has AMOL ahead of all three everywhere.",
    "\n- **Hedging.**", *(differs(name, "CE", "CHR_ext") for name in ("AMOL", "AMOL-asym")),
    "\n- **Average error.**", *(differs("AMOL", other, "MAE") for other in ("CE", "KL")),
    "\n- **The weight.** KL is AMOL without it.",
    *(differs("AMOL", "KL", m) for m in ("QWK", "CHR_ext", "J_c")), differs("KL", "CE", "QWK"),
    "\n- **Beyond the rate.**",
    *(differs(name, "CE", m) for name in ("AMOL", "AMOL-asym")
      for m in ("J_c", "extreme_recall", "center_recall")),
)  # fmt: skip
say(
    f"> **In short.** Over {splits} random splits, by "
    "[intervals](../book/glossary.md#term-corrected-interval) that allow for shared data, in "
    "agreement ([QWK](../book/glossary.md#term-QWK)), hedging "
    "([CHR_ext](../book/glossary.md#term-CHR_ext)) and average error "
    "([MAE](../book/glossary.md#term-MAE)):",
    *(differs("AMOL", "CE", metric) for metric in ("QWK", "CHR_ext", "MAE")),
    "What isn't shown isn't shown to be equal either.",
    below="title",
)  # fmt: skip

# %% [markdown]
# Splits of four data sets say how stable a difference is on these data. They don't say how it would
# be on others.
#
# ## Again, and checked

# %% tags=["show-input"]
checks, compared = verify("splits", sample, sample_seed)  # trains them again

# %%
note = recordings.note("splits")
say(
    f"The {note['runs']} runs of this page are "
    f"[recorded](../book/glossary.md#term-recorded-study): {note['training seconds'] / 60:.0f} "
    f"minutes of training on one thread, on {note['processor']}, {note['recorded']}. `amol study "
    "--record splits` makes them anew. Each build compares the keys of all rows and trains a "
    "random sample again ([Table verified-splits](#tab-verified-splits))."
)
say(note_of(compared))
show(
    "tab-verified-splits", appendix.verified(checks).set_index("Data set"),
    caption="Recorded runs trained again in this build; the difference is over all metrics.",
)  # fmt: skip

# %% tags=["remove-input"]
footer()
