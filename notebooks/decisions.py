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
# # Is it the loss?
#
# A network gives probabilities; an answer is a decision about them. AMOL changes the loss, and with
# it both. This page takes the networks of [The fair fight](fair_fight.ipynb) apart: which part of
# the gain is the target, which the direction of the divergence, which the weight, what a plain
# cross-entropy network reaches by deciding otherwise, and how far each network's probabilities can
# be trusted.

# %% tags=["parameters"]
dataset: str = "Abalone"  # set of the reliability curves
curve_splits: int = 3  # splits behind them, from 1 to 30

# %%
from IPython.display import Markdown

from companion.page import appendix, calibration, fights, footer, say, show, show_numbers, tables
from companion.page.words import change, listed
from companion.studies import fair_fight, recordings, twins
from companion.studies.decisions import DECISIONS
from companion.studies.recording_checks import note_of

if not 1 <= curve_splits <= fair_fight.SPLITS:
    raise ValueError(f"curve_splits is {curve_splits}; allowed: 1 to {fair_fight.SPLITS}")
rows = fair_fight.load()
sets = list(rows["dataset"].unique())

# %% [markdown]
# ## Loss or decision?
#
# From cross-entropy to AMOL there are three steps: a soft target (SORD), the other direction of the
# divergence (KL), the weight. Untuned networks take them one by one in [Figure
# decisions](#fig-decisions). Below stand ways that leave the loss alone: other decisions from *the
# same* cross-entropy network, and another epoch to stop at, that of the highest validation QWK. The
# posterior median is the class with the least expected absolute error, "least squares" that with
# the least expected squared error, "prior adjusted" the class that gains most on its share of the
# training part ([Menon et al. 2021](https://arxiv.org/abs/2007.07314)).

# %% tags=["remove-output"]
ways = {
    "target: SORD": ("CE", "SORD"),
    "direction: KL": ("SORD", "KL"),
    "weight: AMOL": ("KL", "AMOL"),
    "CE to AMOL": ("CE", "AMOL"),
    "CE to AMOL-asym": ("CE", "AMOL-asym"),
    **{f"CE, {name}": ("CE", f"CE, {name}") for name in DECISIONS},
}
ways = {way: tuple((name, "default") for name in pair) for way, pair in ways.items()}
ways["CE, stopped by QWK"] = (("CE", "default"), ("CE", "QWK stop"))
steps = fights.steps(rows, ways, ("QWK", "MAE", "end_recall", "CHR"))
show("fig-decisions", fights.steps_figure(steps), steps)

# %% tags=["remove-cell"]
gain = steps.groupby(["way", "metric"])["difference"].mean()
target, direction, weight, whole = (gain[way, "QWK"] for way in list(ways)[:4])
say(
    "decisions_steps", target > 0 > direction and weight > 0,
    f"Of AMOL's {whole:.3f} over cross-entropy in QWK, the target brings {target:.3f}; the "
    f"divergence's direction then costs {-direction:.3f}, and the weight brings {weight:.3f}.",
    f"In QWK the target changes {target:+.3f}, the divergence's direction {direction:+.3f}, the "
    f"weight {weight:+.3f}.",
)  # fmt: skip
all_three, by_median = "CE to AMOL", "CE, median"
median, mae, ours = gain[by_median, "QWK"], gain[by_median, "MAE"], gain[all_three, "MAE"]
say(
    "decisions_median", 0 < median < whole and mae < min(ours, 0),
    f"The median of the same cross-entropy network gains {median:.3f} in QWK without any training, "
    f"and its MAE is {-mae:.3f} lower, where AMOL's is {change(ours)}.",
    f"The median of the same cross-entropy network changes QWK by {median:+.3f}.",
)  # fmt: skip

# %% tags=["remove-cell"]
ends, price = gain["CE, prior adjusted", "end_recall"], gain["CE, prior adjusted", "QWK"]
say(
    "decisions_ends", ends > max(gain[all_three, "end_recall"], 0) and price < 0,
    f"For the ends the prior is what counts: adjusted for it, cross-entropy's end recall rises by "
    f"{ends:.3f}, at a cost of {-price:.3f} in QWK; with AMOL it is "
    f"{change(gain[all_three, 'end_recall'])}.",
)  # fmt: skip
stop = gain["CE, stopped by QWK", "QWK"]
say(
    "decisions_stop", stop > 0,
    f"Stopping at the best validation QWK brings cross-entropy {stop:.3f}.",
    f"Stopping at the best validation QWK brings cross-entropy nothing ({stop:+.3f}).",
)  # fmt: skip

# %% [markdown]
# ```{result} fig-decisions
# :alt: >-
# :  Four panels, QWK, MAE, end recall and CHR. One row per step from cross-entropy to AMOL and per
# :  other use of a cross-entropy network, with a faint dot per data set and a diamond at the mean.
#
# Change by each step, mean over splits; a diamond is the mean over the data sets. The first three
# rows lead from CE to SORD, from there to KL, from there to AMOL; a hollow mark lies further out.
# ```
#
# {glue:md}`decisions_steps` {glue:md}`decisions_median` {glue:md}`decisions_ends`
# {glue:md}`decisions_stop`
#
# ## Calibration
#
# The paper says nothing on whether AMOL's probabilities mean what they say. ECE is the mean gap
# between the probability of the answer and the share of hits, over ten bins of equal mass, and
# ECE_class the same of every class, in the mean; NLL and RPS are proper scores. A temperature $T$
# turns probabilities into $\hat y_k^{1/T}$, normalised; it is fitted on the validation part by NLL
# ([Guo et al. 2017](https://arxiv.org/abs/1706.04599)). Above 1 it says that a network was too
# sure.

# %% tags=["remove-output"]
tuned = rows[rows["rule"].eq("QWK") & rows["method"].isin(fair_fight.METHODS)]
table = calibration.calibration_table(tuned, ("NLL", "RPS", "ECE", "ECE_class"))
show("tab-calibration", table, tuned)
compared = ("CE", "SORD", "KL", "AMOL")
curves = calibration.reliability(dataset, compared, range(curve_splits))
show("fig-reliability", calibration.reliability_figure(curves), curves)

# %% tags=["remove-cell"]
mean = tuned.groupby("method")[["NLL", "NLL_T", "RPS", "RPS_T", "ECE", "ECE_T", "T"]].mean()
wide = {m: fights.means(tuned, m) for m in ("ECE", "NLL_T")}
over = int((wide["ECE"]["AMOL"] > wide["ECE"]["CE"]).sum())
say(
    "calibration_amol", over > len(sets) / 2,
    f"AMOL's probabilities are further off than cross-entropy's on {over} of {len(sets)} sets: an "
    f"ECE of {mean.loc['AMOL', 'ECE']:.3f} against {mean.loc['CE', 'ECE']:.3f} in the mean.",
    f"AMOL's ECE is above cross-entropy's on {over} of {len(sets)} sets.",
)  # fmt: skip
nll = int((wide["NLL_T"]["AMOL"] > wide["NLL_T"]["CE"]).sum())

# %% tags=["remove-cell"]
before, later = (mean[name] for name in ("ECE", "ECE_T"))
own = curves[curves["method"].eq("AMOL") & curves["when"].eq("before")]
excess = (own["p"] - own["hits"]).to_numpy()
say(
    "calibration_after",
    later["CE"] < later["AMOL"] < before["AMOL"] and excess[:5].mean() > 0 > excess[-1],
    f"A temperature narrows the gap and doesn't close it ({later['AMOL']:.3f} against "
    f"{later['CE']:.3f}); with it, AMOL's NLL is above cross-entropy's on {nll} sets. A "
    "temperature can't mend what is not one exaggeration: in [Figure reliability](#fig-reliability) AMOL is too "
    "sure of its doubtful answers and not sure enough of its safe ones.",
    f"With a temperature it is {later['AMOL']:.3f} against {later['CE']:.3f}, and NLL above "
    f"cross-entropy's on {nll} sets.",
)  # fmt: skip

# %% tags=["remove-cell"]
furthest = mean["ECE"].idxmax()
middle = tuned[tuned["method"] == furthest]["T"].median()
text = f"with an ECE of {mean.loc[furthest, 'ECE']:.3f} and a median temperature of {middle:.1f}"
say(
    "calibration_furthest", furthest == "WK" and middle > 2,
    f"Furthest off is WK, {text}: but for its denominator it is linear in the probabilities, so "
    "that it always pays to be sure.",
    f"Furthest off is {furthest}, {text}.",
)  # fmt: skip
best = listed(mean["RPS"].sort_values(kind="stable").index[:3])
show_numbers(calibration_best=best, calibration_set=dataset, calibration_splits=curve_splits)

# %% [markdown]
# ```{result} tab-calibration
# Mean over sets and splits, before → after the temperature, whose median is T; tuned losses.
# ```
#
# ```{result} fig-reliability
# :alt: >-
# :  One panel per loss, CE, SORD, KL and AMOL: share of right answers against the probability of
# :  the answer, before and after a temperature, beside the diagonal of perfect calibration.
#
# Reliability on {glue:text}`calibration_set`, untuned networks of {glue:text}`calibration_splits:d`
# splits, ten bins of equal mass.
# ```
#
# {glue:md}`calibration_amol` {glue:md}`calibration_after:myst` {glue:md}`calibration_furthest` The
# lowest RPS have {glue:text}`calibration_best`.

# %% [markdown]
# ## Twins
#
# A fifth of the wines' rows repeat another one, so a test row may have a twin among the training
# rows ([Experiments: the data and the protocol](04_experiments.ipynb)). Here the wines again,
# untuned, on as many splits that keep equal rows on one side, beside [What the error bars don't
# show](splits.ipynb).

# %% tags=["remove-output"]
metrics = ("QWK", "CHR_ext", "MAE")
pairs = [("AMOL", "CE"), ("AMOL", "KL"), ("AMOL-asym", "CE"), ("KL", "CE")]
apart, mixed = twins.load(), recordings.load("splits")
mixed = mixed[mixed["dataset"].isin(twins.SETS)]
both = [appendix.paired(frame, pairs, metrics) for frame in (mixed, apart)]
keys = ["dataset", "method", "baseline", "metric"]
joined = both[0].merge(both[1], on=keys, suffixes=("", " apart"))
cells = joined[["dataset", "metric"]].set_index("dataset").rename_axis("Data set")
cells.insert(0, "Pair", (joined["method"] + " − " + joined["baseline"]).to_numpy())
for title, side in {"Twins anywhere": "", "Twins on one side": " apart"}.items():
    values = joined[f"difference{side}"].map("{:+.3f}".format).str.replace("-", "−")
    cells[title] = (values + ", " + joined[f"verdict{side}"]).to_numpy()
cells = cells.rename(columns={"metric": "Metric"}).replace({"Metric": tables.HEADINGS})
show("tab-twins", cells, joined)

# %% tags=["remove-cell"]
turned = joined[(joined["difference"] > 0) != (joined["difference apart"] > 0)]
other = joined[joined["verdict"] != joined["verdict apart"]]
level = [frame.groupby("dataset")["QWK"].mean() for frame in
         (mixed[mixed["method"].isin(twins.METHODS)], apart)]  # fmt: skip
lower = listed(f"{v:.3f} on {name}" for name, v in (level[0] - level[1]).items())
firm = turned[turned["verdict"].ne("no difference shown")]
say(
    "twins_verdicts", firm.empty,
    f"No difference that was shown turns its sign. {len(other)} of {len(joined)} verdicts change "
    "between shown and not shown.",
    f"{len(firm)} differences that were shown turn their sign; {len(other)} of {len(joined)} "
    "verdicts change.",
)  # fmt: skip
say("twins_level", bool((level[0] > level[1]).all()), f"QWK itself falls by {lower}.")
show_numbers(twins_checked=Markdown(note_of(twins.verify(2))))

# %% [markdown]
# ```{result} tab-twins
# Mean difference and verdict of the corrected interval on splits of either kind.
# ```
#
# {glue:md}`twins_level` {glue:md}`twins_verdicts`
#
# ```{glue:md} twins_checked
# :format: myst
# ```

# %% tags=["remove-input"]
footer()
