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
from companion.page import fights, figures, first_page, footer, say, show, show_numbers, tables
from companion.page.words import listed
from companion.studies import fair_fight, recordings

settings = StudySettings(datasets=datasets, methods=methods, seeds=seeds)

# %% [markdown]
# ## Where samples of the ends go
#
# Of every test sample in the two lowest and the two highest classes, the picture asks where its
# prediction lies: in the true class, in one next to it, between there and the center, in the
# center, or beyond it. The share in the center is CHR_ext of
# [(chr-ext)](03_method.ipynb#eq-chr-ext).

# %% tags=["remove-output"]
rows = []
for dataset in settings.datasets:
    num_classes = settings.load(dataset).num_classes
    for method in settings.methods:
        y_true, y_pred, _ = predictions(settings, dataset, method)
        shares = first_page.destinations(y_true, y_pred, num_classes)
        rows.append({"dataset": dataset, "method": method, **shares})
ends = pd.DataFrame(rows)
figures.save("first-page", first_page.stacked_shares(ends), ends)

# %% [markdown]
# ## Which loss for which aim
#
# An aim is a metric. Each loss is compared with cross-entropy split by split, with the corrected 95
# % interval of [(corrected)](splits.ipynb#eq-corrected), and a difference is *shown* where that
# interval leaves zero out. The advice follows one rule: among the losses that are shown to be
# better than cross-entropy on some data set and worse on none, the one with the best mean rank over
# the data sets; and cross-entropy where there is no such loss. `CE-masked`, which gives up a class,
# is a candidate only where the aim is never to answer "center". [Table aims](#tab-aims) has all
# comparisons.

# %%
AIMS = {"QWK": "qwk", "AMAE": "amae", "MAE": "mae", "accuracy": "accuracy",
        "extreme_recall": "ends", "CHR_ext": "middle", "RPS": "rps"}  # fmt: skip
recorded = recordings.load("splits")
found = first_page.contrasts(recorded, [*AIMS, "center_recall"])
names = [n for n in recorded["method"].unique() if n in set(found["method"])]
means = recorded.groupby(["dataset", "method"], sort=False).mean(numeric_only=True)
count = means.index.get_level_values("dataset").nunique()


# %%
def contrast(method, metric):
    """One method against cross-entropy, one row per data set."""
    return found[(found["method"] == method) & (found["metric"] == metric)].set_index("dataset")


def shown_on(method, metric, verdict):
    """Data sets on which a difference from cross-entropy is shown."""
    part = contrast(method, metric)
    return list(part.index[part["verdict"] == verdict])


# %% tags=["remove-output"]
advice, cells = {}, {}
for metric in AIMS:
    candidates = found["method"].ne("CE-masked") | (metric == "CHR_ext")
    advice[metric] = first_page.advised(found[found["metric"].eq(metric) & candidates])
    against = {name: first_page.in_words(contrast(name, metric)) for name in names}
    heading = tables.HEADINGS.get(metric, metric)
    cells[heading] = {"Advice": f"**{advice[metric]}**"} | against
show("tab-aims", pd.DataFrame(cells).rename_axis("Loss"), found)

# %% [markdown]
# ```{result} tab-aims
# Losses against cross-entropy over random splits: the smallest and the largest difference of a
# data set (loss minus cross-entropy), and on how many data sets it is shown to be better or worse.
# Lower is better for AMAE, MAE, CHR_ext and RPS.
# ```

# %% tags=["remove-cell"]
show_numbers(first_splits=int(recorded["split_seed"].nunique()), first_datasets=count)
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

# %% tags=["remove-cell"]
less, more = shown_on("AMOL", "CHR_ext", "better"), shown_on("AMOL", "CHR_ext", "worse")
qwk = contrast("AMOL", "QWK")
lost, won = (shown_on("AMOL", "extreme_recall", v) for v in ("worse", "better"))
middle = shown_on("AMOL", "center_recall", "worse")
in_all = (qwk["difference"] > 0).all() and "worse" not in set(qwk["verdict"])
say(
    "answer",
    bool(less) and not more and in_all and bool(lost) and bool(middle),
    "In part: it calls fewer of the samples at the ends of the scale “center” than "
    f"cross-entropy does, and its agreement with the labels is higher on all {count} data sets, "
    f"but it finds fewer of the outermost samples on {listed(lost)} and fewer of the middle "
    f"ones on {listed(middle)}.",
    "The evidence is mixed; the table below has it, aim by aim.",
)

# %% tags=["remove-cell"]
low, high = qwk["difference"].min(), qwk["difference"].max()
say(
    "answer_qwk", in_all,
    f"Over {recorded['split_seed'].nunique()} random splits, AMOL's QWK is {low:.3f} to "
    f"{high:.3f} higher than that of cross-entropy (shown on "
    f"{len(shown_on('AMOL', 'QWK', 'better'))} of {count} data sets).",
)  # fmt: skip

# %% tags=["remove-cell"]
share = contrast("KL", "QWK")["difference"] / qwk["difference"]
say(
    "answer_kl", (share > 0).all(),
    f"Without AMOL's weight (KL), {share.min():.0%} to {share.max():.0%} of that gain remain.",
)  # fmt: skip
end = means["extreme_recall"].unstack("method")
say(
    "answer_ends", bool(lost) and bool(won),
    f"Of the samples in the first and the last class it finds more on {listed(won)} and fewer "
    f"on {listed(lost)} (share found: "
    + "; ".join(f"{d} {end['AMOL'][d]:.2f}, cross-entropy {end['CE'][d]:.2f}" for d in lost) + ").",
)  # fmt: skip

# %% tags=["remove-cell"]
fought = fair_fight.load()
fought = fought[fought["method"].isin(fair_fight.METHODS) & fought["rule"].eq("QWK")]
rank = fights.ranks(fought, ["QWK"])["QWK"].sort_values(kind="stable")
ahead = list(rank.index[: rank.index.get_loc("AMOL")])
where = f"With every loss tuned alike on {fought['dataset'].nunique()} data sets, AMOL's mean rank "
say(
    "answer_fair",
    len(ahead) > 0 and rank["AMOL"] < rank["CE"] and not any("AMOL" in name for name in ahead),
    f"{where}in QWK is {rank['AMOL']:.1f} of {len(rank)}, cross-entropy's {rank['CE']:.1f}; "
    f"{listed(ahead)}, none of which has a weight on the center, rank before it.",
    f"{where}in QWK is {rank['AMOL']:.1f} of {len(rank)}, cross-entropy's {rank['CE']:.1f}.",
)  # fmt: skip

# %% tags=["remove-cell"]
share = ends.set_index(["dataset", "method"])
pairs = [d for d in settings.datasets if {"CE", "AMOL"} <= set(settings.methods)]
change = pd.DataFrame({d: share.loc[(d, "AMOL")] - share.loc[(d, "CE")] for d in pairs}).T
fewer = change.index[change["center"] < -0.03] if len(change) else []
home = change.loc[fewer, "own class"] / -change.loc[fewer, "center"] if len(fewer) else []
next_door = [d for d in fewer if home[d] < 0.5]
say(
    "answer_picture", len(next_door) > 0,
    f"On {listed(next_door)}, where AMOL's center share falls most, less than half of what "
    "leaves the center arrives in the true class.",
)  # fmt: skip

# %% tags=["remove-cell"]
mae = means["MAE"].unstack("method")
above = list(mae.index[mae["AMOL"] > mae["CE"]])
below = list(mae.index[mae["KL"] < mae["AMOL"] - 5e-4])
say(
    "cost_amol", len(above) > count / 2 and len(below) > count / 2,
    f"AMOL's mean absolute error is above that of cross-entropy on {listed(above)}; KL's is "
    f"below AMOL's on {listed(below)}.",
    f"AMOL's mean absolute error is above that of cross-entropy on {listed(above)}.",
)  # fmt: skip
say(
    "cost_kl", len(shown_on("KL", "extreme_recall", "worse")) > 0,
    f"KL finds fewer of the outermost samples on "
    f"{listed(shown_on('KL', 'extreme_recall', 'worse'))}.",
)  # fmt: skip

# %% tags=["remove-cell"]
say(
    "cost_masked", len(shown_on("CE-masked", "accuracy", "worse")) > 0,
    "CE-masked takes no training, but loses every sample of the middle class: its accuracy is "
    f"lower on {listed(shown_on('CE-masked', 'accuracy', 'worse'))}.",
)  # fmt: skip
asym = means["CHR_ext"].unstack("method")["AMOL-asym"]
say(
    "cost_asym", (asym > 0).all(),
    "AMOL-asym, which the paper recommends for this aim, still calls "
    f"{asym.min():.1%} to {asym.max():.1%} of the extreme samples the center.",
)  # fmt: skip

# %% [markdown]
# ## What reproduces
#
# The count is that of [Table balance](ledger.ipynb#tab-balance), whatever the parameters above.

# %% tags=["remove-cell"]
default = StudySettings()
runs = run_study(default)
entries = ledger(with_tails(runs, default))
counts = balance(entries)
claims = entries[entries["kind"] == "claim"]
fail = claims[claims["verdict"] == "not reproduced"]
own = int((fail["paper_verdict"] == "not reproduced").sum())
stable = claims["stability"].dropna()

# %% tags=["remove-cell"]
show_numbers(
    first_runs=len(runs),
    first_printed=counts["printed"],
    first_failed_by_paper=own,
    first_gap_qwk=f"{counts['mean_abs_QWK']:.3f}",
    first_gap_chr=f"{counts['mean_abs_CHR_ext']:.3f}",
    **{f"first_{key.replace(' ', '_')}": value for key, value in counts.items() if " " in key},
    **{f"first_{key}": counts[key] for key in ("numbers", "generated", "claims")},
    first_judged=len(stable),
    first_always=int((stable == 1).sum()),
)
say(
    "reproduced", counts["numbers reproduced"] > 0.75 * counts["numbers"],
    f"Most of the paper's numbers agree with ours: {counts['numbers reproduced']} of the "
    f"{counts['numbers']} distinct ones on real data sets",
    f"Of the paper's {counts['numbers']} distinct numbers on real data sets, "
    f"{counts['numbers reproduced']} agree with ours",
)  # fmt: skip

# %% [markdown]
# Of the {glue:text}`first_printed:d` printed numbers, {glue:text}`first_numbers:d` are distinct and
# on real data sets; {glue:text}`first_numbers_reproduced:d` of them are reproduced. The first page
# shows what the paper's own numbers make of its claims as well:
# {glue:text}`first_failed_by_paper:d` of the {glue:text}`first_claims_not_reproduced:d` claims that
# are not reproduced fail on the printed numbers too.

# %% tags=["remove-input"]
footer(settings, runs)
