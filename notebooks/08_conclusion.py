# %% [markdown]
# # Conclusion: what holds, and what to use
#
# The paper's claims stand one by one in the [ledger](ledger.ipynb), with the revisions of their
# rules; beside them what it defines, grants or leaves open, and where it disagrees with itself.
# This page says in words what remains of them and what follows for use. Its sentences rest on
# random [splits](../book/glossary.md#term-split) of the data, every loss on the same ones ([What
# the error bars don't show](splits.ipynb)): a difference is *shown* where its [corrected 95 %
# interval](../book/glossary.md#term-corrected-interval) [(corrected)](splits.ipynb#eq-corrected)
# excludes zero.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets that count

# %%
from companion.page import footer, say
from companion.page.words import changes, listed, signed
from companion.studies import recordings
from companion.studies.paired_intervals import paired_differences

# %% tags=["show-input"]
runs = recordings.load("splits")  # a recorded study; one row for each network
unknown = set(datasets) - set(runs["dataset"])
if unknown or not datasets:
    raise ValueError(f"datasets is {datasets}; allowed: {', '.join(runs['dataset'].unique())}")
runs = runs[runs["dataset"].isin(datasets)]
pairs = [(name, "CE") for name in ("AMOL", "KL", "AMOL-asym", "CE-masked")] + [("AMOL", "KL")]
metrics = ["QWK", "MAE", "accuracy", "CHR_ext", "center_recall", "extreme_recall"]
contrasts = paired_differences(runs, pairs, metrics).set_index(["method", "baseline", "metric"])
means = runs.groupby(["dataset", "method"], sort=False)[metrics].mean()
splits = int(runs["split_seed"].nunique())


# %%
def differ(method, baseline, metric):
    """Differences by data set, and the data sets on which better and worse are shown."""
    part = contrasts.loc[[(method, baseline, metric)]].set_index("dataset")
    better, worse = (list(part.index[part["verdict"] == v]) for v in ("better", "worse"))
    return part["difference"], better, worse


def both(better, worse, more, fewer):
    """Where something is shown, both ways, as a clause."""
    clauses = [f"{word} on {listed(part)}" for word, part in ((more, better), (fewer, worse))
               if part]  # fmt: skip
    return " and ".join(clauses) or "no difference is shown on any set"


# %% [markdown]
# ## What holds

# %%
gain, qwk_better, qwk_worse = differ("AMOL", "CE", "QWK")
say(
    "- **Agreement.**",
    (len(qwk_better) > 0 and not qwk_worse and (gain > 0).all(),
     f"AMOL's mean QWK is above that of cross-entropy on every data set, by {gain.min():.3f} to "
     f"{gain.max():.3f} over {splits} splits; shown on {listed(qwk_better)}.",
     f"AMOL's QWK against cross-entropy's: {both(qwk_better, qwk_worse, 'higher', 'lower')}."),
    f"Without AMOL's weight (`KL`): {both(*differ('KL', 'CE', 'QWK')[1:], 'higher', 'lower')}. "
    "With the weight against without: "
    f"{both(*differ('AMOL', 'KL', 'QWK')[1:], 'higher', 'lower')}.",
)  # fmt: skip
_, better, worse = differ("AMOL", "CE", "CHR_ext")
less, more = better, worse
say(
    "- **Hedging.**",
    (len(better) > 0 and not worse,
     f"AMOL calls fewer samples near the ends “center” than cross-entropy on {listed(better)}; "
     "elsewhere no difference is shown.",
     f"AMOL's rate of center answers near the ends against cross-entropy's: "
     f"{both(worse, better, 'higher', 'lower')}."),
    "That is a rate, not yet a fault: how much of cross-entropy's its own belief asks for is on "
    "[Table hedging-asked](01_introduction.ipynb#tab-hedging-asked) and in the ledger.",
)  # fmt: skip

# %%
mae, better, worse = differ("AMOL", "CE", "MAE")
_, *base = differ("AMOL", "KL", "MAE")
ends, center = (differ("AMOL", "CE", f"{name}_recall")[1:] for name in ("extreme", "center"))
say(
    "- **What it loses.**",
    f"AMOL's average error, MAE, against that of cross-entropy: "
    f"{both(worse, better, 'higher', 'lower')} (means: {changes(mae)}). Against `KL`, the same "
    f"loss without the weight: {both(*base[::-1], 'higher', 'lower')}.",
    (any(ends),
     f"Samples of the first and last class: AMOL finds {both(*ends, 'more', 'fewer')}.",
     "In the recall of the first and last class no difference is shown."),
    (any(center),
     f"Samples of the center class: AMOL finds {both(*center, 'more', 'fewer')}.",
     "In the recall of the center class no difference is shown."),
)  # fmt: skip

# %%
last = datasets[-1]
at = means.loc[last]
found, right = (at[metric][["CE-masked", "AMOL-asym"]] for metric in ("extreme_recall", "accuracy"))
say(
    "- **The inward variant.**",
    (at["CHR_ext"]["AMOL-asym"] < 0.01 and at["center_recall"]["AMOL-asym"] < 0.1,
     f"On {last} AMOL-asym hardly hedges at all (CHR_ext {at['CHR_ext']['AMOL-asym']:.3f}), "
     "because it hardly ever predicts the center class: it finds "
     f"{at['center_recall']['AMOL-asym']:.1%} of that class's samples, cross-entropy "
     f"{at['center_recall']['CE']:.1%}."),
    (found.iloc[0] > found.iloc[1] and right.iloc[0] > right.iloc[1],
     "Striking the center class out of a network trained with cross-entropy reaches zero without "
     f"training anew, finds more of the first and last class on {last} ({found.iloc[0]:.2f} "
     f"against {found.iloc[1]:.2f}) and is more accurate ({right.iloc[0]:.3f} against "
     f"{right.iloc[1]:.3f}).",
     "Striking the center class out of a network trained with cross-entropy reaches zero without "
     "training anew."),
)  # fmt: skip

# %% [markdown]
# ## What to use
#
# [Which loss for which aim?](which_loss.ipynb) names a loss for each aim from [a hundred data
# sets](hundred_sets.ipynb), or another decision from the same network, with what speaks against it;
# [Figure overview](losses.ipynb#fig-overview) has all losses on the paper's sets. Where the answer
# "center" must never be given, strike that class out before training anything anew. Whatever the
# choice, report center recall and extreme recall beside a hedging rate; alone it can be lowered by
# never answering "center" ([discussion](07_discussion.ipynb)).

# %% [markdown]
# ## What the paper leaves for later
#
# Four lines of future work close the paper. What this book can add:
#
# - **Monotonicity and properness.** AMOL is not proper: [Figure least](03_method.ipynb#fig-least)
#   has the answer that minimizes it, and that is not the truth. In one sense it is monotone at the
#   paper's α = 1: a sure wrong answer costs more the farther it is off. In another it is not: from
#   four classes on, an answer can fall though the belief moves up. [Table
#   limits](what_each_loss_asks_for.ipynb#tab-limits) has the weights at which each ends.
# - **Medical grading**, where calling a severe case moderate does harm. No such data set is here;
#   [Fork this](../book/fork.md) trains all losses on one.
# - **More classes.** The losses take any number; the effect has been measured for up to nine only,
#   on ERA of [The fair fight](fair_fight.ipynb).
# - **Scales that are not symmetric.** The weight treats both ends alike and needs one center; with
#   an even number of classes even that is a choice ([Figure middle](choices.ipynb#fig-middle)).

# %%
fight = recordings.load("fair_fight")
tuned = paired_differences(fight[fight["rule"] == "QWK"], [("AMOL", "CE")], ["QWK"])
tuned = tuned.set_index("dataset")
own = tuned.index.isin(runs["dataset"])


def won_and_lost(part):
    """Where AMOL's tuned QWK is shown to be higher or lower, and the mean difference."""
    shown = (list(part.index[part["verdict"] == verdict]) for verdict in ("better", "worse"))
    return f"{both(*shown, 'higher', 'lower')} (mean {signed(part['difference'].mean())})"


say(
    f"Beyond that, {splits} splits of the same few data sets say how stable a difference is on "
    "these data, and nothing about others. [The fair fight](fair_fight.ipynb) adds further data "
    "sets and [tunes](../book/glossary.md#term-tuned) every loss. There AMOL's QWK "
    f"against cross-entropy's, on the data sets of this page: {won_and_lost(tuned[own])}; on the "
    f"{(~own).sum()} others: {won_and_lost(tuned[~own])}."
)

# %%
say(
    f"> **In short.** On the data sets of this page, over {splits} splits, AMOL against "
    "cross-entropy: agreement ([QWK](../book/glossary.md#term-QWK)) "
    f"{both(qwk_better, qwk_worse, 'higher', 'lower')}; hedging "
    f"([CHR_ext](../book/glossary.md#term-CHR_ext)) {both(more, less, 'higher', 'lower')}; "
    f"samples of the two end classes found: {both(*ends, 'more', 'fewer')}; of the center class: "
    f"{both(*center, 'more', 'fewer')}. On {(~own).sum()} other data sets, every loss tuned: "
    f"QWK {won_and_lost(tuned[~own])}.",
    below="title",
)

# %% tags=["remove-input"]
footer()
