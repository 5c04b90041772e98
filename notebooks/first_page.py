# %% [markdown]
# # Behind the first page
#
# [The first page](../book/index.md) answers in a few sentences, pictures and a table. What isn't
# computed on another page is computed here: the answer from [A hundred data
# sets](hundred_sets.ipynb) and the count of what reproduces from the [ledger](ledger.ipynb); before
# them where samples of the ends go, from networks trained in the paper's protocol. A sentence that
# doesn't hold for these data gives way to one that does.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets of the picture
methods: list = ["CE", "KL", "AMOL", "AMOL-asym", "CE-masked"]  # losses of the picture
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds

# %%
import pandas as pd

from companion import StudySettings, predictions, run_study
from companion.claims.ledger import balance, ledger
from companion.claims.tails import with_tails
from companion.page import first_page, footer, many_sets, say, show, show_numbers
from companion.page.words import listed
from companion.studies import across_sets, recordings

# %% [markdown]
# ## Where samples of the ends go
#
# Of every test sample in the two lowest and the two highest classes, the picture asks where its
# prediction lies: in the true class, in one next to it, between there and the center, in the
# center, or beyond it. The share in the center is CHR_ext of
# [(chr-ext)](03_method.ipynb#eq-chr-ext).

# %% tags=["show-input"]
settings = StudySettings(datasets=datasets, methods=methods, seeds=seeds)
rows = []
for dataset in settings.datasets:
    num_classes = settings.load(dataset).num_classes
    for method in settings.methods:
        y_true, y_pred, _ = predictions(settings, dataset, method)
        shares = first_page.destinations(y_true, y_pred, num_classes)
        rows.append({"dataset": dataset, "method": method, **shares})
ends = pd.DataFrame(rows)

# %%
show(
    "fig-first-page", first_page.stacked_shares(ends), data=ends,
    caption="Where test samples of the two lowest and the two highest classes are predicted, in "
    "percent, from the true class to the far side of the center. One split, "
    f"{len(settings.seeds)} networks of each loss.",
    alt="Stacked bars, one panel per data set and one bar per loss, of where samples of the two "
    "lowest and two highest classes are predicted.",
)  # fmt: skip
share = ends.set_index(["dataset", "method"])
pairs = settings.datasets if {"CE", "AMOL"} <= set(settings.methods) else []
change = pd.DataFrame({d: share.loc[(d, "AMOL")] - share.loc[(d, "CE")] for d in pairs}).T
fewer = change[change["center"] < -0.03] if len(change) else change
next_door = [d for d in fewer.index if fewer["own class"][d] < -0.5 * fewer["center"][d]]
say(
    (len(next_door) > 0,
     f"On {listed(next_door)}, where AMOL's center share falls most, less than half of what "
     "leaves the center arrives in the true class."),
)  # fmt: skip

# %% [markdown]
# ## Does AMOL work?
#
# From the study of [a hundred data sets](hundred_sets.ipynb) and, above it, the sets of the paper
# and six others.

# %% tags=["show-input"]
rows = many_sets.chosen(many_sets.natural(recordings.load("hundred_sets")))
about = across_sets.kinds(list(rows["dataset"].unique()))
summary, dots = many_sets.by_group(rows, about, ["CE"])

# %%
kept = [g for g in summary["group"].unique() if g[:4] != "ends" and g != "mode between"]
summary, dots = (f[f["group"].isin(kept)] for f in (summary, dots))
show(
    "fig-first-forest", many_sets.forest(summary, dots.iloc[:0], ""),  # it is to weigh little
    data=dots[["group", "dataset", "difference"]],
    caption="AMOL's QWK minus cross-entropy's: mean over data sets, 95 % interval over surveys.",
    alt="Forest of mean differences in QWK between AMOL and cross-entropy with intervals: the "
    "paper's four sets, six others, the collection, and the collection by kind.",
)  # fmt: skip

# %%
row = {r.group: r for r in summary.itertuples()}
paper, earlier, new = (row[g] for g in (many_sets.PAPER, many_sets.EARLIER, many_sets.NEW))
gaps = across_sets.contrast(rows, [("AMOL", "CE"), ("AMOL", "SORD")],
                            ["QWK", "MAE", "accuracy", "CHR_ext", "RPS"], about)  # fmt: skip
table = across_sets.summarized(gaps, ["baseline", "metric"])
of = {(r.baseline, r.metric): r for r in table.itertuples()}
gain, hedging = of["CE", "QWK"], of["CE", "CHR_ext"]
say(
    (gain.verdict == "better" and hedging.verdict == "better",
     "Against cross-entropy yes, in part: its answers agree better with the labels, and fewer "
     "samples of the ends are called the center.",
     "Against cross-entropy the evidence is mixed."),
    (of["CE", "accuracy"].verdict == "worse" and of["CE", "RPS"].verdict == "worse",
     "The price is fewer labels exactly right and probabilities that are further off."),
    name="answer",
)  # fmt: skip
say(
    (earlier.mean < paper.mean,
     f"On the paper's four sets QWK is {paper.mean:.3f} higher, on six others {earlier.mean:.3f}, "
     f"on the {new.sets} of the collection {new.mean:.3f} (95 % interval {new.low:.3f} to "
     f"{new.high:.3f}; higher on {new.gain} sets).",
     f"On the {new.sets} sets of the collection QWK differs by {many_sets.counted(new)}."),
    (row["K = 3"].verdict == "not shown" and row["mode at an end"].verdict == "not shown",
     "With three classes no gain is shown, nor where the most common class is an end."),
    name="answer_numbers",
)  # fmt: skip

# %%
SORD = of["SORD", "QWK"]
say(
    (SORD.verdict == "not shown",
     "Over SORD, the soft labels it is made from, no gain is shown "
     f"({many_sets.interval(SORD)}).",
     f"AMOL against SORD, the soft labels it is made from: {many_sets.interval(SORD)}."),
    name="answer_fair",
)  # fmt: skip

# %% [markdown]
# ## What reproduces
#
# The count is that of [Table balance](ledger.ipynb#tab-balance), whatever the parameters above.

# %% tags=["show-input"]
default = StudySettings()
runs = run_study(default)
entries = ledger(with_tails(runs, default))
counts = balance(entries)
claims = entries[entries["kind"] == "claim"]
fail = claims[claims["verdict"] == "not reproduced"]
own = int((fail["paper_verdict"] == "not reproduced").sum())

# %%
show_numbers(
    first_runs=len(runs),
    first_failed_by_paper=own,
    first_gap_qwk=f"{counts['mean_abs_QWK']:.3f}",
    first_gap_chr=f"{counts['mean_abs_CHR_ext']:.3f}",
    **{f"first_{key.replace(' ', '_')}": value for key, value in counts.items() if " " in key},
    **{f"first_{key}": counts[key] for key in ("generated", "claims")},
    first_twins=f"{counts['twins']:.0f}",
)
say(
    (counts["numbers reproduced"] > 0.75 * counts["numbers"],
     f"Most of the paper's numbers agree with ours: {counts['numbers reproduced']} of the "
     f"{counts['numbers']} distinct ones on real data sets,",
     f"Of the paper's {counts['numbers']} distinct numbers on real data sets, "
     f"{counts['numbers reproduced']} agree with ours,"),
    "by two standard errors of the difference.",
    name="reproduced",
)  # fmt: skip
say(
    f"Of the {counts['printed']} printed numbers, {counts['numbers']} are distinct and on real "
    f"data sets; {counts['numbers reproduced']} of them are reproduced. The first page shows what "
    f"the paper's own numbers make of its claims as well: {own} of the {len(fail)} claims that are "
    "not reproduced fail on the printed numbers too."
)

# %% tags=["remove-input"]
footer(settings, runs)
