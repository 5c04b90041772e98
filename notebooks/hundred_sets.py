# %% [markdown]
# # A hundred data sets
#
# Does AMOL work? On the paper's four data sets its QWK is well above cross-entropy's; on six others
# it is hardly above ([The fair fight](fair_fight.ipynb)). So the answer depends on which sets stand
# on the page. Here are more than a hundred, every one with labels that have a natural order, found
# without looking at any result. [Which loss for which aim](which_loss.ipynb) draws the practical
# conclusion, and [How many data sets does a claim need?](how_many_sets.ipynb) says why ten were too
# few.

# %% tags=["parameters"]
sample: int = 1  # tasks to train again and compare, at least 1
sample_seed: int = 0  # which of them

# %%
import pandas as pd

from companion.data import collection
from companion.page import aims, footer, live_forest, many_sets, say, show
from companion.page.tables import DASH, HEADINGS, literal
from companion.page.words import listed, signed
from companion.studies import across_sets, hundred_sets, recordings, rivals
from companion.studies.paired_intervals import paired_differences
from companion.studies.recording_checks import note_of

# %% tags=["show-input"]
everything = recordings.load("hundred_sets")  # a row per set, loss, split, rule and decision
rows = many_sets.natural(everything)  # without controls and cut regressions
tuned = many_sets.chosen(rows)  # the candidate with the highest validation QWK
sets = list(tuned["dataset"].unique())
about = across_sets.kinds(sets)  # survey, rows, K, place of the mode, share of the ends

# %%
splits, losses = rows["split_seed"].nunique(), list(tuned["method"].unique())
candidates = len(hundred_sets.candidates("CE"))
say(
    f"The collection has {len(sets)} data sets of {about['survey'].nunique()} surveys, with "
    f"{about['rows'].min()} to {about['rows'].max()} rows and {about['K'].min()} to "
    f"{about['K'].max()} classes. On {splits} random splits of each, {len(losses)} losses train "
    f"{candidates} candidates: two values of their own parameter, or two learning rates where "
    "there is none, each stopped by validation loss and by validation QWK. The candidate with the "
    "highest QWK on the validation part is measured on the test part. This was fixed before any "
    "result was known."
)

# %% [markdown]
# A difference is *shown* where its 95 % interval excludes zero. The interval is over surveys:
# two data sets of one survey are not two independent witnesses. A data set counts once, with the
# mean over its splits, however many rows it has.

# %% [markdown]
# ## Does AMOL work?

# %% tags=["show-input"]
METRICS = ("QWK", "MAE", "AMAE", "accuracy", "end_recall", "CHR_ext", "RPS")
rivals_of_amol = ("CE", "SORD", "KL")
gaps = across_sets.contrast(tuned, [("AMOL", name) for name in rivals_of_amol], METRICS, about)
overall = across_sets.summarized(gaps, ["baseline", "metric"])


# %%
def overall_of(baseline, metric, table=overall):
    """The summary's row of one comparison."""
    found = table[(table["baseline"] == baseline) & (table["metric"] == metric)]
    return next(found.itertuples())


def sentence(baseline, metric, expected, words, otherwise):
    """What the interval shows, for `say`; ``expected`` is a verdict."""
    row = overall_of(baseline, metric)
    return (
        row.verdict == expected,
        f"{words} ({many_sets.counted(row)}).",
        (f"{otherwise} ({many_sets.counted(row)})."),
    )


# %%
say(
    sentence("CE", "QWK", "better", "Yes, against cross-entropy in QWK",
             "Against cross-entropy in QWK no difference is shown"),
    sentence("SORD", "QWK", "not shown",
             "Against SORD, the soft labels it starts from, no gain is shown",
             "Against SORD, the soft labels it starts from, a difference is shown"),
    sentence("KL", "QWK", "better", "The weight itself, AMOL against its base KL, helps",
             "For the weight itself, AMOL against its base KL, no gain is shown"),
    sentence("CE", "CHR_ext", "better", "It does what it is for: fewer samples of the two lowest "
             "and the two highest classes are called the center than with cross-entropy",
             "That fewer extreme samples are called the center is not shown"),
    sentence("CE", "accuracy", "worse", "It costs accuracy",
             "A price in accuracy is not shown"),
    sentence("CE", "RPS", "worse", "Its probabilities are further off, by RPS",
             "That its probabilities are further off is not shown"),
)  # fmt: skip

# %%
early = across_sets.contrast(tuned[tuned["split_seed"] < 5], [("AMOL", "SORD")], ["QWK"], about)
early = overall_of("SORD", "QWK", across_sets.summarized(early, ["baseline", "metric"]))
say(
    (early.verdict == "better" and overall_of("SORD", "QWK").verdict == "not shown",
     "An earlier version of this page had the first five splits alone and called the gain on SORD "
     f"small but shown ({many_sets.interval(early)}); five more splits took that back.",
     f"On the first five splits alone the difference from SORD is {many_sets.interval(early)}."),
)  # fmt: skip

# %%
summary, dots = many_sets.by_group(tuned, about, rivals_of_amol)
show(
    "fig-forest", many_sets.forest(summary, dots, "difference in QWK, to the right better"),
    data=dots[["panel", "group", "dataset", "difference"]],
    caption="AMOL against cross-entropy, SORD and its base KL: the mean over data sets with its "
    "95 % interval over surveys (blue: shown better; orange: shown worse; gray: neither), a faint "
    "dot per data set, hollow at the edge where it lies beyond. On top the sets of the earlier "
    "studies, then the collection, whole and by kind.",
    alt="Forest of mean differences in QWK with intervals, three panels: AMOL minus CE, minus SORD "
    "and minus KL. Rows: the paper's four sets, six further ones, the collection, and the "
    "collection by number of classes, by the place of the most common class and by the share of "
    "the two outermost classes.",
)  # fmt: skip


# %%
def of_kind(group, baseline="CE"):
    found = summary[(summary["group"] == group) & (summary["baseline"] == baseline)]
    return next(found.itertuples())


three, ends = of_kind("K = 3"), of_kind("mode at an end")
many, middle = of_kind("K ≥ 6"), of_kind("mode at the center")
paper, earlier = of_kind(many_sets.PAPER), of_kind(many_sets.EARLIER)
say(
    (paper.mean > 0 and abs(earlier.mean) < paper.mean / 2,
     f"The paper's four sets say {signed(paper.mean)}, six others "
     f"{signed(earlier.mean)}, the collection "
     f"{signed(of_kind(many_sets.NEW).mean)}."),
    (three.verdict == "not shown" and many.verdict == "better",
     f"Over cross-entropy the gain grows with the number of classes: nothing is shown with three "
     f"({many_sets.interval(three)}); with six and more it is {many_sets.interval(many)}."),
    (ends.verdict == "not shown" and middle.verdict == "better",
     "It is there where the most common class is the center "
     f"({many_sets.interval(middle)}) and not shown where it is an end "
     f"({many_sets.interval(ends)})."),
)  # fmt: skip

# %% [markdown]
# ## The same data, cut three ways
#
# Sets that differ in the place of the mode differ in much else. So some regressions were cut into
# seven classes by rank, three times: with the center most common, with all alike, and with the ends
# most common. No mean counts them.

# %% tags=["show-input"]
CUTS = {"bell": "Center most common", "flat": "All alike", "edge": "Ends most common"}
by_rank = many_sets.chosen(everything[everything["dataset"].str.startswith("cut_")])
by_cut = paired_differences(by_rank, [("AMOL", "CE")], ["QWK"])  # intervals over splits
by_cut["cut"] = by_cut["dataset"].str.split("_").str[-1].map(CUTS)
by_cut["data"] = [collection.descriptions()[name].survey for name in by_cut["dataset"]]

# %%
cells = by_cut.assign(cell=[
    f"**{many_sets.interval(r)}**" if r.verdict in ("better", "worse") else many_sets.interval(r)
    for r in by_cut.assign(mean=by_cut["difference"]).itertuples()
])  # fmt: skip
show(
    "tab-cuts", cells.pivot(index="data", columns="cut", values="cell")[list(CUTS.values())]
    .rename_axis(index="Regression", columns=None).fillna(DASH),
    data=by_cut,
    caption="AMOL − CE in QWK, with its corrected 95 % interval over "
    f"{by_cut['splits'].max()} splits, by how the target is cut; bold where it excludes zero.",
)  # fmt: skip
by_place = by_cut.pivot(index="data", columns="cut", values="difference")
more = by_place[CUTS["bell"]] > by_place[CUTS["edge"]]
say(
    f"On {more.sum()} of {len(more)} regressions AMOL gains more where the center is most common "
    "than where the ends are.",
    ((by_cut["verdict"] == "no difference shown").all() and not more.all(),
     "No single difference is shown. So the cuts don't confirm that the place of the mode itself "
     "is what matters."),
)  # fmt: skip

# %% [markdown]
# ## In every metric

# %%
table = many_sets.summary_table(overall.assign(baseline="AMOL − " + overall["baseline"]), "metric",
                                "baseline")  # fmt: skip
show(
    "tab-hundred-metrics", table.rename_axis(index="Metric", columns=None), data=overall,
    caption="Mean difference with its 95 % interval over surveys, bold where it excludes zero, "
    "and on how many sets AMOL is better. Lower is better for MAE, AMAE, CHR_ext and RPS; CHR_ext "
    "needs five classes. The comparisons are "
    f"{len(overall)}: of as many without any difference about one would be bold.",
)  # fmt: skip

# %% [markdown]
# ## Where AMOL collapses
#
# A set counts as a collapse where AMOL's QWK is less than half of cross-entropy's and at least 0.05
# below it.

# %% tags=["show-input"]
means = across_sets.set_means(tuned, "QWK")
fell = means[(means["AMOL"] < means["CE"] / 2) & (means["CE"] - means["AMOL"] >= 0.05)]
rate = across_sets.set_means(tuned, "extreme_recall")
lost_ends = rate[(rate["AMOL"] < 0.05) & (rate["CE"] >= 0.15)]

# %%
names = f" ({listed(fell.index)})" if len(fell) else ""
say(
    (len(fell) <= 0.05 * len(sets),
     f"It is rare: {len(fell)} of {len(sets)} sets{names}.",
     f"That is so on {len(fell)} of {len(sets)} sets{names}."),
    (len(lost_ends) > 0,
     "More often it gives up the outermost classes: on "
     f"{len(lost_ends)} sets AMOL finds fewer than one in twenty of their samples where "
     f"cross-entropy finds at least three in twenty ({listed(lost_ends.index)})."),
)  # fmt: skip

# %%
shown = sorted({*fell.index, *lost_ends.index}, key=sets.index)
cells = [
    {"Data set": name, "K": str(about.loc[name, "K"]), "Kind": f"{about.loc[name, 'mode']}, "
     f"{about.loc[name, 'ends']}", "QWK: CE, KL, AMOL": ", ".join(
        f"{means.loc[name, m]:.3f}" for m in ("CE", "KL", "AMOL")),
     "Recall of the ends: CE, KL, AMOL": ", ".join(
        f"{rate.loc[name, m]:.2f}" for m in ("CE", "KL", "AMOL"))}
    for name in shown
]  # fmt: skip
show(
    "tab-collapse", pd.DataFrame(cells or [{"Data set": DASH}]).set_index("Data set"),
    data=means.loc[shown].reset_index(),
    caption="Sets where AMOL's QWK collapses or it gives up the outermost classes.",
)  # fmt: skip
base_too = [name for name in shown if rate.loc[name, "KL"] <= rate.loc[name, "AMOL"] + 0.02]
say(
    (2 * len(base_too) > len(shown),
     f"On {len(base_too)} of these {len(shown)} the base KL, which has no weight, does so as well: "
     "it is regression with a fixed width ([What each loss asks "
     "for](what_each_loss_asks_for.ipynb)) "
     "and answers the rounded mean of what it believes, which for an unsure network is rarely an "
     "end. Here the weight moves answers off the center, but not back to the ends."),
)  # fmt: skip

# %% [markdown]
# ## Who is ahead

# %% tags=["show-input"]
ranks = many_sets.rank_table(
    tuned, ("QWK", "MAE", "AMAE", "accuracy", "end_recall", "CHR_ext", "RPS", "NLL")
)

# %%
ordered = ranks.sort_values("QWK", kind="stable")
cells = ordered.map("{:.1f}".format)
show(
    "tab-hundred-ranks",
    cells.mask(ordered.eq(ordered.min()), "**" + cells + "**").rename(columns=HEADINGS)
    .rename_axis(index="Loss", columns=None),
    data=ordered.reset_index(),
    caption=f"Mean rank of each of {len(losses)} losses over the sets, 1 the best, by its own "
    "decision.",
)  # fmt: skip
leader = ordered.index[0]
lead = across_sets.contrast(tuned, [(leader, name) for name in losses if name != leader], ["QWK"],
                            about)  # fmt: skip
lead = across_sets.summarized(lead, ["baseline", "metric"])
open_ = list(lead[lead["verdict"] != "better"]["baseline"])
place = list(ordered.index).index("AMOL") + 1
price = ranks.loc[leader]
say(
    f"{leader} leads in QWK; AMOL is number {place} of {len(losses)}, cross-entropy number "
    f"{list(ordered.index).index('CE') + 1}.",
    (not open_, f"{leader} is shown to be ahead of every other loss.",
     f"{leader} is shown to be ahead of all but {listed(open_)}."),
    (price["RPS"] > len(losses) - 1,
     f"It pays with its probabilities, which are the worst of all (mean rank in RPS "
     f"{price['RPS']:.1f}), and in MAE ({price['MAE']:.1f}).",
     f"Its mean rank in MAE is {price['MAE']:.1f}, in RPS {price['RPS']:.1f}."),
)  # fmt: skip

# %% [markdown]
# ## Loss or decision?
#
# A network gives probabilities; what it answers is a decision. The median is the label with the
# least expected absolute error, the rounded mean that with the least expected squared error.
# *Thresholds* cut the mean class where validation QWK is highest, and *inward* steps cost 1 + β,
# with β chosen on the validation part ([What each loss asks for](what_each_loss_asks_for.ipynb)).
# None of them trains anything.

# %% tags=["show-input"]
decided = many_sets.decided(rows)  # methods such as "CE, median"
ways = [name for name in decided["method"].unique() if name.startswith("CE, ")]
asked = ("QWK", "MAE", "AMAE", "end_recall", "CHR_ext")
steps, dots = aims.gains(rows, about, [*ways, "AMOL", leader], asked[:4])

# %%
show(
    "fig-hundred-decisions", many_sets.forest(steps, dots, "gain, to the right better"),
    data=steps,
    caption="Cross-entropy's networks with another decision, and two losses with their own, "
    "against cross-entropy with the most probable class: mean gain over the sets, 95 % interval "
    "over surveys, a dot per set; colors as above.",
    alt="Forest of mean gains, four panels, QWK, MAE, AMAE and end recall: four decisions of "
    "cross-entropy's networks, AMOL, and the loss that leads.",
)  # fmt: skip
against = across_sets.contrast(
    decided, [("AMOL", "CE, thresholds"), ("AMOL", "CE, median"), (leader, "CE, thresholds"),
              ("AMOL, thresholds", "CE, thresholds")], asked, about,
)  # fmt: skip
versus = across_sets.summarized(against, ["method", "baseline", "metric"])


def versus_of(method, baseline, metric):
    keys = versus[["method", "baseline", "metric"]].eq([method, baseline, metric]).all(axis=1)
    return next(versus[keys].itertuples())


# %%
cut, other = versus_of("AMOL", "CE, thresholds", "QWK"), versus_of(leader, "CE, thresholds", "QWK")
median = versus_of("AMOL", "CE, median", "MAE")
both = versus_of("AMOL, thresholds", "CE, thresholds", "QWK")
say(
    (cut.verdict == "worse",
     "Cut by thresholds, the same cross-entropy networks have a higher QWK than AMOL: AMOL − CE "
     f"with thresholds is {many_sets.interval(cut)}.",
     f"AMOL − CE with thresholds is {many_sets.interval(cut)} in QWK."),
    name="hundred_decision",
)  # fmt: skip
say(
    f"AMOL is better than them on {cut.gain} of {cut.sets} sets.",
    (other.verdict == "not shown",
     f"Even {leader} is not shown to differ from them ({many_sets.counted(other)}).",
     f"{leader} against them: {many_sets.counted(other)}."),
    (both.low > -0.01 and both.high < 0.01,
     "With thresholds on both sides the two are alike to within 0.01 "
     f"({many_sets.counted(both)}).",
     f"With thresholds on both sides it is {many_sets.counted(both)}."),
    (median.verdict == "worse",
     "In MAE the median of cross-entropy's networks is better than AMOL "
     f"({many_sets.counted(median)}).",
     f"In MAE AMOL against the median: {many_sets.counted(median)}."),
    (bool((steps["group"].eq("CE, thresholds") & steps["panel"].eq("MAE")
           & steps["verdict"].eq("worse")).any()),
     "Thresholds have their price as well: tuned for QWK, they make MAE worse."),
)  # fmt: skip

# %% [markdown]
# ## What one would take instead
#
# Networks are not the only answer to a table. Beside them stand an ordered logit (mord's LogAT),
# gradient boosting (LightGBM, as a classifier and as a regression whose result is rounded), a
# random forest, and the mean of five cross-entropy networks, each with up to four settings chosen
# on the same validation parts, on the first splits of every set.

# %% tags=["show-input"]
others = many_sets.natural(recordings.load("rivals"))
first = others["split_seed"].unique()
pool = pd.concat([rows[rows["split_seed"].isin(first)], others])
compared = [*rivals.METHODS, "LightGBM, thresholds", "forest, thresholds", "CE ×5, thresholds",
            "CE, thresholds", "AMOL", leader]  # fmt: skip
beside, dots = aims.gains(pool, about, compared, asked[:4])

# %%
note = recordings.note("rivals")
show(
    "fig-rivals", many_sets.forest(beside, dots, "gain on cross-entropy, to the right better"),
    data=beside,
    caption=f"Other libraries and an ensemble against tuned cross-entropy, {len(first)} splits: "
    "mean gain over the sets, 95 % interval over surveys, a dot per set; colors as above. LightGBM "
    f"{note['lightgbm']}, mord {note['mord']}, scikit-learn {note['scikit-learn']}; their bits are "
    "not promised.",
    alt="Forest of mean gains, four panels, QWK, MAE, AMAE and end recall: an ordered logit, "
    "LightGBM, a forest, an ensemble, some of them with thresholds, beside AMOL.",
)  # fmt: skip
qwk = beside[beside["panel"] == "QWK"].set_index("group")
best = qwk["mean"].idxmax()
plain = qwk.loc[list(rivals.METHODS), "mean"]
say(
    f"The highest mean QWK here has {best} ({signed(qwk.loc[best, 'mean'])} over "
    "cross-entropy).",
    (bool((plain < qwk.loc["CE, thresholds", "mean"]).all()),
     "No library with its own decision reaches cross-entropy's networks with thresholds"
     + f": the best of them is {plain.idxmax()} ({signed(plain.max())})."),
    (qwk.loc["LightGBM, thresholds", "verdict"] == "better",
     "Thresholds help LightGBM and the forest as they help networks: "
     f"{signed(qwk.loc['LightGBM, thresholds', 'mean'])} and "
     f"{signed(qwk.loc['forest, thresholds', 'mean'])}."),
)  # fmt: skip

# %% [markdown]
# ## Set by set
#
# Choose two losses, how each decides, the metric and the kind of data. Pointing at a dot names the
# set.

# %%
live = live_forest.live_data(rows, about)
show(
    "fig-hundred", live_forest.live_forest(live), data=live,
    caption="The difference between two losses on every data set, in order, AMOL minus "
    "cross-entropy in QWK before anything is chosen. Blue: the first is better.",
    alt="A dot per data set in order of the difference in QWK between AMOL and cross-entropy, blue "
    "where AMOL is better, with a dashed line at the mean.",
)  # fmt: skip

# %% [markdown]
# ## The sets
#
# Each set is described as data, in `companion/data/files/collection.toml`: where it is read, what
# is predicted and why its labels have an order, which columns are left out and why, what no split
# may part, its licence and where that was read. `load_dataset("gss_vocab")` reads any of them; most
# need `pip install ".[sets]"`, since their tables may not be passed on from here. A second reader
# went through every description; 65 needed a correction, among them an order upside down and later
# outcomes left in, and seven sets were dropped.

# %%
described = collection.descriptions()
named = [(name, described[name]) for name in sets]
by_licence = pd.Series({name: d.licence for name, d in named}).value_counts()
controls = [n for n in everything["dataset"].unique() if n not in sets]
say(
    "Licences of their sources: "
    + "; ".join(f"{licence} ({count})" for licence, count in by_licence.items())
    + f". In {sum(bool(d.group) for _, d in named)} sets rows belong together, such as those of a "
    "person or a storm, and stay on one side of a split; "
    f"{sum(d.repeats > 0.1 * sum(d.counts) for _, d in named)} sets have more than a tenth of rows "
    "that repeat an earlier one.",
    (len(controls) > 0,
     f"Recorded beside them and left out of every mean: {listed(controls)}, controls without noise "
     "or signal and regressions that were cut into classes."),
)  # fmt: skip
cells = [
    {
        "Data set": name, "Rows": str(sum(d.counts)), "K": str(len(d.counts)),
        "Label": literal(d.order_reason), "Survey": literal(d.survey),
        "Read from": d.package or "this repository",
        "Licence": d.licence,
    }
    for name, d in named
]  # fmt: skip

# %% tags=["hide-cell"]
show(
    "tab-collection", pd.DataFrame(cells).set_index("Data set"), fold=f"The sets ({len(cells)})",
    caption="The natural sets of the collection. A licence is that of the source named; where it "
    "was read stands in the description.",
)  # fmt: skip

# %% [markdown]
# ## Again, and checked

# %% tags=["show-input"]
checks, compared_again = hundred_sets.verify(sample, sample_seed)  # trains and chooses again
ensemble, compared_ensemble = rivals.verify(1, sample_seed)

# %%
about_it = recordings.note("hundred_sets")
planned = everything.groupby("dataset")["split_seed"].nunique().loc[sets].eq(hundred_sets.SPLITS)
rest = f" The study is planned with {hundred_sets.SPLITS} splits; {planned.sum()} sets have them "
rest += f"all so far, and this page uses the {splits} that every set has."
say(
    f"{about_it['trainings']} trainings, {about_it['training seconds'] / 3600:.1f} hours on one "
    f"core of {about_it['processor']}, {about_it['recorded']}. `amol study --record hundred_sets` "
    "makes them anew, set by set, and goes on where it was stopped. Each build trains a sample on "
    "the sets that lie in this repository again and compares every column."
    + ("" if planned.all() else rest)
)
say(note_of(compared_again, compared_ensemble))

# %%
qwk, many_more = overall_of("CE", "QWK"), of_kind("K ≥ 6")
say(
    f"> **In short.** On {len(sets)} data sets AMOL's QWK minus cross-entropy's is "
    f"{many_sets.interval(qwk)}, minus SORD's {many_sets.interval(overall_of('SORD', 'QWK'))}.",
    (many_more.mean > qwk.mean,
     f"With six and more classes it gains more on cross-entropy "
     f"({signed(many_more.mean)})."),
    (cut.verdict == "worse",
     "But the same cross-entropy networks, their labels cut by thresholds, are better still "
     f"(AMOL minus them: {many_sets.interval(cut)}).",
     f"Against cross-entropy's networks with thresholds it is {many_sets.interval(cut)}."),
    below="title",
)  # fmt: skip

# %% tags=["remove-input"]
footer()
