# %% [markdown]
# # Behind the first page
#
# [The first page](../book/index.md) answers in a few sentences, a picture and a table. They are
# computed here: the picture from networks trained in the paper's protocol, the advice from the
# recorded runs on random splits ([What the error bars don't show](splits.ipynb)), and the count of
# what reproduces from the [ledger](ledger.ipynb). A sentence that doesn't hold for these data gives
# way to one that does.

# %% tags=["parameters"]
datasets: list = ["Synthetic", "Wine Red", "Wine White", "Abalone"]  # data sets of the picture
methods: list = ["CE", "KL", "AMOL", "AMOL-asym", "CE-masked"]  # losses of the picture
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds

# %%
import pandas as pd

from companion import StudySettings, predictions, run_study
from companion.claims.ledger import balance, ledger
from companion.claims.tails import with_tails
from companion.page import first_page, footer, say, show, show_numbers, tables
from companion.page.words import listed
from companion.studies import recordings

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
    "percent, from the true class to the far side of the center.",
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
    name="answer_picture",
)  # fmt: skip

# %% [markdown]
# ## Which loss for which aim
#
# An aim is a metric. Each loss is compared with cross-entropy split by split, with the corrected
# 95 % interval of [(corrected)](splits.ipynb#eq-corrected), and a difference is *shown* where that
# interval leaves zero out. The advice follows one rule: among the losses that are shown to be
# better than cross-entropy on some data set and worse on none, the one with the best mean rank over
# the data sets; and cross-entropy where there is no such loss. `CE-masked`, which gives up a class,
# is a candidate only where the aim is never to answer "center". [Table aims](#tab-aims) has all
# comparisons.

# %% tags=["show-input"]
AIMS = {"QWK": "qwk", "AMAE": "amae", "MAE": "mae", "accuracy": "accuracy",
        "extreme_recall": "ends", "CHR_ext": "middle", "RPS": "rps"}  # fmt: skip
recorded = recordings.load("splits")
splits, count = recorded["split_seed"].nunique(), recorded["dataset"].nunique()
found = first_page.against_baseline(recorded, [*AIMS, "center_recall"])
advice = {}
for metric in AIMS:
    candidates = found["method"].ne("CE-masked") | (metric == "CHR_ext")
    advice[metric] = first_page.advised(found[found["metric"].eq(metric) & candidates])


# %%
def contrast(method, metric):
    """One method against cross-entropy, one row per data set."""
    return found[(found["method"] == method) & (found["metric"] == metric)].set_index("dataset")


def shown_on(method, metric, verdict):
    """Data sets on which a difference from cross-entropy is shown."""
    part = contrast(method, metric)
    return list(part.index[part["verdict"] == verdict])


cells = {}
for metric in AIMS:
    names = [n for n in recorded["method"].unique() if n in set(found["method"])]
    against = {name: first_page.in_words(contrast(name, metric)) for name in names}
    cells[tables.HEADINGS.get(metric, metric)] = {"Advice": f"**{advice[metric]}**"} | against

# %%
show(
    "tab-aims", pd.DataFrame(cells).rename_axis("Loss"), data=found,
    caption="Losses against cross-entropy over random splits: the smallest and the largest "
    "difference of a data set (loss minus cross-entropy), and on how many data sets it is shown to "
    "be better or worse. Lower is better for AMAE, MAE, CHR_ext and RPS.",
)  # fmt: skip
show_numbers(first_splits=int(splits), first_datasets=int(count))
columns = ("AMOL", "KL", "CE-masked")  # of the first page
for metric, key in AIMS.items():
    best = "cross-entropy" if advice[metric] == "CE" else advice[metric]
    if best not in (*columns, "cross-entropy"):
        best += f" ({first_page.in_words(contrast(best, metric))})"
    words = {f"{key}_try": best}
    for method in columns:
        short = method.split("-")[-1].lower()
        words[f"{key}_{short}"] = first_page.in_words(contrast(method, metric))
    show_numbers(**words)

# %% [markdown]
# ## The answer, and what to know before

# %%
less, more = shown_on("AMOL", "CHR_ext", "better"), shown_on("AMOL", "CHR_ext", "worse")
qwk = contrast("AMOL", "QWK")
lost, won = (shown_on("AMOL", "extreme_recall", v) for v in ("worse", "better"))
middle = shown_on("AMOL", "center_recall", "worse")
in_all = (qwk["difference"] > 0).all() and "worse" not in set(qwk["verdict"])
say(
    (bool(less) and not more and in_all and bool(lost) and bool(middle),
     "In part: it calls fewer of the samples at the ends of the scale “center” than "
     f"cross-entropy does, and its agreement with the labels is higher on all {count} data sets, "
     f"but it finds fewer of the outermost samples on {listed(lost)} and fewer of the middle "
     f"ones on {listed(middle)}.",
     "The evidence is mixed; the table has it, aim by aim."),
    name="answer",
)  # fmt: skip

# %%
share = contrast("KL", "QWK")["difference"] / qwk["difference"]
means = recorded.groupby(["method", "dataset"], sort=False).mean(numeric_only=True)
end = means["extreme_recall"]
found_there = "; ".join(f"{d} {end['AMOL', d]:.2f}, cross-entropy {end['CE', d]:.2f}" for d in lost)
say(
    (in_all,
     f"Over {splits} random splits, AMOL's QWK is {qwk['difference'].min():.3f} to "
     f"{qwk['difference'].max():.3f} higher than that of cross-entropy (shown on "
     f"{len(shown_on('AMOL', 'QWK', 'better'))} of {count} data sets)."),
    ((share > 0).all(),
     f"Without AMOL's weight (KL), {share.min():.0%} to {share.max():.0%} of that gain remain."),
    (bool(lost) and bool(won),
     f"Of the samples in the first and the last class it finds more on {listed(won)} and fewer "
     f"on {listed(lost)} (share found: {found_there})."),
    name="answer_numbers",
)  # fmt: skip
say(first_page.tuned_alike(), name="answer_fair")

# %%
mae, asym = means["MAE"], means["CHR_ext"]["AMOL-asym"]
above = list(mae["AMOL"].index[mae["AMOL"] > mae["CE"]])
below = list(mae["KL"].index[mae["KL"] < mae["AMOL"] - 5e-4])
no_ends = shown_on("KL", "extreme_recall", "worse")
no_hits = shown_on("CE-masked", "accuracy", "worse")
is_above = f"AMOL's mean absolute error is above that of cross-entropy on {listed(above)}"
say(
    (len(above) > count / 2 and len(below) > count / 2,
     f"{is_above}; KL's is below AMOL's on {listed(below)}.", f"{is_above}."),
    name="cost_amol",
)  # fmt: skip
say(
    (len(no_ends) > 0, f"KL finds fewer of the outermost samples on {listed(no_ends)}."),
    name="cost_kl",
)  # fmt: skip
say(
    (len(no_hits) > 0,
     "CE-masked takes no training, but loses every sample of the middle class: its accuracy is "
     f"lower on {listed(no_hits)}."),
    ((asym > 0).all(),
     "AMOL-asym, which the paper recommends for this aim, still calls "
     f"{asym.min():.1%} to {asym.max():.1%} of the extreme samples the center."),
    name="cost_middle",
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
