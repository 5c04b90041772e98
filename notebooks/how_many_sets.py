# %% [markdown]
# # How many data sets does a claim need?
#
# "Loss A is better than loss B" is a statement about data sets that nobody has looked at yet. From
# a few sets one reads its sign, and it may be the wrong one. How often is seen here by drawing few
# sets out of [a hundred](hundred_sets.ipynb), and out of the 46 of the benchmark TOC-UCO
# ([Ayllón-Gavilán et al. 2026](https://doi.org/10.1016/j.neucom.2026.133528)), whose authors have
# released every score.

# %% tags=["parameters"]
pair: list = ["AMOL", "CE"]  # the two losses of the calculator
metric: str = "QWK"  # its metric

# %%
import numpy as np
import pandas as pd

from companion.page import footer, many_sets, reversals, say, show
from companion.page.tables import HEADINGS
from companion.page.words import listed, signed
from companion.paper import published
from companion.studies import across_sets, recordings

METRICS = ("QWK", "MAE", "AMAE", "end_recall")
rows = many_sets.natural(recordings.load("hundred_sets"))
tuned = many_sets.chosen(rows)
for name in pair:
    if name not in set(tuned["method"]):
        raise ValueError(f"pair has {name}; allowed: {', '.join(tuned['method'].unique())}")
if metric not in METRICS:
    raise ValueError(f"metric is {metric}; allowed: {', '.join(METRICS)}")
sets, splits = tuned["dataset"].nunique(), tuned["split_seed"].nunique()

# %% [markdown]
# ## A conclusion about two losses
#
# A *reversal* is that the mean difference over some sets has the other sign than over all. Sets are
# drawn without repetition, and of each the splits.

# %% tags=["show-input"]
PAIRS = (("AMOL", "CE"), ("AMOL", "SORD"), ("AMOL", "KL"), ("SORD", "CE"))
counts = [m for m in (1, 2, 4, 6, 10, 15, 25, 40, 60, 80) if m < sets]
drawn = pd.concat(
    across_sets.drawn_reversals(tuned, each, m, counts, (1, splits)).assign(
        pair=f"{each[0]} − {each[1]}", metric=m)
    for m in ("QWK", "MAE") for each in PAIRS
)  # fmt: skip

# %%
show(
    "fig-reversals",
    reversals.curves(drawn[drawn["splits"] == splits], "data sets", "share of reversals"),
    data=drawn,
    caption=f"How often the sign over some of {sets} sets, {splits} splits of each, is not that "
    "over all of them. Dashed: 5 %. Where all sets are drawn, nothing can reverse: the right end "
    "is "
    "low for that reason, too.",
    alt="Share of reversals against the number of data sets, one line per pair of losses, two "
    "panels, QWK and MAE; all lines fall.",
)  # fmt: skip


# %%
def share(name, metric, count, of=splits):
    keys = drawn[["pair", "metric", "sets", "splits"]].eq([name, metric, count, of]).all(axis=1)
    return float(drawn.loc[keys, "share"].iloc[0])


four = share("AMOL − CE", "QWK", 4)
rival, single = share("AMOL − SORD", "QWK", 4), share("AMOL − CE", "QWK", 4, 1)
say(
    (four < 0.25,
     f"Four sets show the sign of AMOL − CE in QWK wrongly in {four:.0%} of draws;",
     f"Four sets show the sign of AMOL − CE in QWK wrongly as often as {four:.0%};"),
    f"that of AMOL − SORD in {rival:.0%}.",
    (single > four,
     f"With one split of each set instead of {splits} it is {single:.0%} for AMOL − CE."),
    name="reversal_answer",
)  # fmt: skip

# %% [markdown]
# ## How many are enough
#
# If the differences of sets are roughly normal around a mean δ with spread τ, and those of splits
# of a set around the set's own with spread ω, then for *m* sets of *J* splits each the probability
# of a reversal is Φ(−|δ| / √((τ² + ω²/J) / m)), with Φ the normal distribution function. For at
# most 5 % it takes *m* ≥ 2.71 (τ² + ω²/J) / δ² sets.

# %% tags=["show-input"]
spreads = pd.DataFrame(
    [(f"{a} − {b}", m, *across_sets.spread(tuned, a, b, m)) for a, b in PAIRS for m in METRICS],
    columns=["pair", "metric", "delta", "tau", "omega"],
)

# %%
cells = [
    {"Pair": r.pair, "Metric": HEADINGS.get(r.metric, r.metric), "δ": signed(r.delta),
     "τ": f"{r.tau:.3f}", "ω": f"{r.omega:.3f}", "Reversal with 4 sets":
     f"{across_sets.reversal(r.delta, r.tau, r.omega, 4, splits):.0%}",
     "Sets for 5 %, J = 1": reversals.needed(r, 1),
     f"Sets for 5 %, J = {splits}": reversals.needed(r, splits)}
    for r in spreads.itertuples()
]  # fmt: skip
show(
    "tab-needed", pd.DataFrame(cells).set_index("Pair"), data=spreads,
    caption="Mean difference over all sets, its spread between sets and between splits of a set, "
    "and what follows by the formula above.",
)  # fmt: skip
qwk = spreads[spreads["metric"] == "QWK"].set_index("pair")
apart = [abs(across_sets.reversal(r.delta, r.tau, r.omega, m, splits) - share(r.Index, "QWK", m))
         for r in qwk.itertuples() for m in (4, 10)]  # fmt: skip
wider = qwk[qwk["tau"] > qwk["omega"] / splits**0.5]
say(
    (max(apart) < 0.15,
     "Beside the draws above, the formula is off by at most "
     f"{100 * max(apart):.0f} percentage points at four and ten sets; differences of sets are not "
     "quite normal."),
    (len(wider) > len(qwk) / 2,
     f"With {splits} splits, what differs between sets weighs more than what differs between "
     f"splits for {listed(wider.index)}, in QWK: there a further set is "
     "worth more than further splits."),
)  # fmt: skip

# %% [markdown]
# ## Calculator

# %%
start = across_sets.spread(tuned, *pair, metric)
show(
    "fig-calculator", reversals.calculator(abs(start[0]), start[1], start[2], splits),
    data=reversals.calculator_data(*start, splits),
    caption=f"The probability that the sign over m sets is wrong, at first for {' − '.join(pair)} "
            f"in "
    f"{HEADINGS.get(metric, metric)}. Dashed: 5 %. Dotted: four sets.",
    alt="A falling curve, the probability of a reversal against the number of data sets, with a "
    "dashed line at 5 percent and a dotted line at four sets.",
)  # fmt: skip

# %% [markdown]
# ## A conclusion about the leader
#
# That one loss leads a table of twenty is a stronger statement than that it beats another one.

# %% tags=["show-input"]
toc = published.tocuco_scores().rename(columns={"partition": "split_seed"})
tables = {
    f"{tuned['method'].nunique()} losses here": (tuned, METRICS),
    f"{toc['method'].nunique()} methods, TOC-UCO": (toc, ("QWK", "MAE", "AMAE", "MES")),
}
leaders = pd.concat(
    across_sets.other_leader(across_sets.set_means(frame, m), m, [4, 10, 25, 40]).assign(
        table=name, metric=m)
    for name, (frame, metrics) in tables.items() for m in metrics
)  # fmt: skip

# %%
wide = leaders.assign(cell=leaders["other"].map("{:.0%}".format)).pivot(
    index=["table", "metric"], columns="sets", values="cell")  # fmt: skip
wide = wide.reindex(leaders.set_index(["table", "metric"]).index.unique())
wide.columns = [f"{m} sets" for m in wide.columns]
cells = (
    wide.reset_index("metric").rename(columns={"metric": "Metric"}).replace({"Metric": HEADINGS})
)
show(
    "tab-leaders", cells.rename_axis("Table"), data=leaders,
    caption="How often some sets have another leader by mean rank than all sets have; sets drawn "
    "without repetition.",
)  # fmt: skip
ours, theirs = (leaders[(leaders["table"] == t) & leaders["metric"].eq("QWK")].set_index("sets")
                for t in tables)  # fmt: skip
say(
    f"In QWK four sets name another leader in {ours.loc[4, 'other']:.0%} of draws here and in "
    f"{theirs.loc[4, 'other']:.0%} on TOC-UCO; ten sets in {ours.loc[10, 'other']:.0%} and "
    f"{theirs.loc[10, 'other']:.0%}.",
    name="leader_answer",
)  # fmt: skip

# %% [markdown]
# ## Beside TOC-UCO's methods

# %%
toc_pairs = (("MLP-CLM", "MLP"), ("MLP-T", "MLP"), ("XGB", "MLP"))
found = pd.concat(
    across_sets.drawn_reversals(toc, each, m, [4, 10, 25], (1, 30)).assign(
        pair=f"{each[0]} − {each[1]}", metric=m, delta=across_sets.spread(toc, *each, m)[0])
    for each in toc_pairs for m in ("QWK", "MES")
).reset_index(drop=True)  # fmt: skip
found["cell"] = found["share"].map("{:.0%}".format)
found["column"] = [
    f"{m} sets, J = {J}" for m, J in zip(found["sets"], found["splits"], strict=True)
]
wide = found.pivot(index=["pair", "metric", "delta"], columns="column", values="cell")
wide = wide.reindex(columns=found["column"].unique()).reset_index(["metric", "delta"])
wide["delta"] = wide["delta"].map(signed)
show(
    "tab-toc-reversals",
    wide.rename(columns={"metric": "Metric", "delta": "Mean over 46"})
    .rename_axis(index="Pair", columns=None),
    data=found.drop(columns=["cell", "column"]),
    caption="Shares of reversals among TOC-UCO's 46 sets, by number of sets and of partitions J. "
            "MES "
    "is the lower recall of the two end classes.",
)  # fmt: skip
large = found[(found["sets"] == 4) & (found["splits"] == 30)]
worst = large.loc[large["share"].idxmax()]
say(
    (worst["share"] > 0.2,
     f"With four sets and thirty partitions of each the sign of {worst['pair']} in "
     f"{worst['metric']} is still wrong in {worst['share']:.0%} of draws."),
)  # fmt: skip

# %% [markdown]
# ## What four sets could show

# %%
shown = spreads.assign(risk=[across_sets.reversal(r.delta, r.tau, r.omega, 4, splits)
                             for r in spreads.itertuples()])  # fmt: skip
sure = shown[shown["risk"] <= 0.05]
within = float(np.median(spreads["tau"]))
least = 1.645 * within / 2
say(
    (0 < len(sure) < len(shown) / 2,
     f"Four sets show {len(sure)} of the {len(shown)} differences above with a risk of at most "
     "5 %: "
     + listed(f"{r.pair} in {HEADINGS.get(r.metric, r.metric)}" for r in sure.itertuples()) + ".",
     f"Four sets show {len(sure)} of the {len(shown)} differences above with a risk of at most "
     "5 %."),
    f"With the median spread between sets, {within:.3f}, a difference has to be {least:.3f} for "
    "that. What the paper's four sets show is true of these four.",
)  # fmt: skip

# %%
first = next(qwk.loc[["AMOL − CE"]].itertuples())
second = next(qwk.loc[["AMOL − SORD"]].itertuples())
say(
    "> **In short.** In QWK the sign of AMOL − CE needs about "
    f"{reversals.needed(first, splits)} data sets to be wrong in at most 5 % of cases, that of "
    f"AMOL − SORD {reversals.needed(second, splits)}.",
    (ours.loc[4, "other"] > 0.2,
     f"Four sets name another leader than {sets} do in {ours.loc[4, 'other']:.0%} of draws."),
    below="title",
)  # fmt: skip

# %% tags=["remove-input"]
footer()
