# %% [markdown]
# # Is it the loss?
#
# A network gives probabilities; an answer is a decision about them. AMOL changes the loss, and with
# it both. On [a hundred data sets](hundred_sets.ipynb) another decision from cross-entropy's
# networks is compared with AMOL as a whole. This page takes the networks of [The fair
# fight](fair_fight.ipynb) apart: which part of the gain is the target, which the direction of the
# divergence, which the weight, what a plain cross-entropy network reaches by deciding otherwise,
# and how far each network's probabilities can be trusted.

# %% tags=["parameters"]
dataset: str = "Abalone"  # set of the reliability curves
curve_splits: int = 3  # splits behind them, from 1 to 30

# %%
from companion.page import calibration, fights, footer, say, show, tables
from companion.page.words import change, listed
from companion.studies import fair_fight, grouped_splits, recordings
from companion.studies.decisions import DECISIONS
from companion.studies.paired_intervals import paired_differences
from companion.studies.recording_checks import note_of

if not 1 <= curve_splits <= fair_fight.SPLITS:
    raise ValueError(f"curve_splits is {curve_splits}; allowed: 1 to {fair_fight.SPLITS}")
rows = recordings.load("fair_fight")
sets = list(rows["dataset"].unique())

# %% [markdown]
# ## Loss or decision?
#
# From cross-entropy to AMOL there are three steps: a soft target (SORD), the other direction of the
# divergence (KL), the weight. Untuned networks take them one by one in [Figure
# decisions](#fig-decisions). Below stand ways that leave the loss alone: other decisions from *the
# same* cross-entropy network, and another epoch to stop at, that of the highest validation QWK. The
# posterior median is the class with the least expected absolute error, "least squares" that with
# the least expected squared error, "prior adjusted" the class most raised above its training
# frequency ([Menon et al. 2021](https://arxiv.org/abs/2007.07314)).

# %% tags=["show-input"]
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
gain = steps.groupby(["way", "metric"])["difference"].mean()

# %%
show(
    "fig-decisions", fights.steps_figure(steps), data=steps,
    caption="Change by each step, mean over splits; a diamond is the mean over the data sets. The "
    "first three rows lead from CE to SORD, from there to KL, from there to AMOL; a hollow mark "
    "lies further out.",
    alt="Four panels, QWK, MAE, end recall and CHR. One row per step from cross-entropy to AMOL "
    "and per other use of a cross-entropy network, with a faint dot per data set and a diamond at "
    "the mean.",
)  # fmt: skip

# %%
target, direction, weight, whole = (gain[way, "QWK"] for way in list(ways)[:4])
median, mae = gain["CE, median", "QWK"], gain["CE, median", "MAE"]
ends, price = gain["CE, prior adjusted", "end_recall"], gain["CE, prior adjusted", "QWK"]
ours, our_ends = gain["CE to AMOL", "MAE"], gain["CE to AMOL", "end_recall"]
stop = gain["CE, stopped by QWK", "QWK"]
say(
    (target > 0 > direction and weight > 0,
     f"Of AMOL's {whole:.3f} over cross-entropy in QWK, the target brings {target:.3f}; the "
     f"divergence's direction then costs {-direction:.3f}, and the weight brings {weight:.3f}.",
     f"In QWK the target changes {target:+.3f}, the divergence's direction {direction:+.3f}, the "
     f"weight {weight:+.3f}."),
    (0 < median < whole and mae < min(ours, 0),
     f"The median of the same cross-entropy network gains {median:.3f} in QWK without any "
     f"training, and its MAE is {-mae:.3f} lower, where AMOL's is {change(ours)}.",
     f"The median of the same cross-entropy network changes QWK by {median:+.3f}."),
    (ends > max(our_ends, 0) and price < 0,
     "For the ends the prior is what counts: adjusted for it, cross-entropy's end recall rises by "
     f"{ends:.3f}, at a cost of {-price:.3f} in QWK; with AMOL it is {change(our_ends)}."),
    (stop > 0,
     f"Stopping at the best validation QWK brings cross-entropy {stop:.3f}.",
     f"Stopping at the best validation QWK brings cross-entropy nothing ({stop:+.3f})."),
)  # fmt: skip

# %% [markdown]
# ## Calibration
#
# The paper says that AMOL, like the focal loss, gives up guarantees of calibration (Section 7,
# third paragraph), and leaves its analysis to future work. ECE is the mean gap between the
# probability of the answer and the share of hits, over ten bins of equal mass, and ECE_class the
# same of every class, in the mean; NLL and RPS are proper scores. A temperature $T$ turns
# probabilities into $\hat y_k^{1/T}$, normalised; it is fitted on the validation part by NLL ([Guo
# et al. 2017](https://arxiv.org/abs/1706.04599)). Above 1 it says that a network was too sure.

# %% tags=["show-input"]
tuned = rows[rows["rule"].eq("QWK") & rows["method"].isin(fair_fight.METHODS)]
table = calibration.calibration_table(tuned, ("NLL", "RPS", "ECE", "ECE_class"))
compared = ("CE", "SORD", "KL", "AMOL")
curves = calibration.reliability(dataset, compared, range(curve_splits))  # trains and fits T

# %%
show(
    "tab-calibration", table, data=tuned,
    caption="Mean over sets and splits, before → after the temperature, whose median is T; tuned "
    "losses.",
)  # fmt: skip
show(
    "fig-reliability", calibration.reliability_figure(curves), data=curves,
    caption=f"Reliability on {dataset}, untuned networks of {curve_splits} splits, ten bins of "
    "equal mass.",
    alt="One panel per loss, CE, SORD, KL and AMOL: share of right answers against the probability "
    "of the answer, before and after a temperature, beside the diagonal of perfect calibration.",
)  # fmt: skip

# %%
mean = tuned.groupby("method")[["RPS", "ECE", "ECE_T"]].mean()
wide = {m: fights.means(tuned, m) for m in ("ECE", "NLL_T")}
over, nll = (int((wide[m]["AMOL"] > wide[m]["CE"]).sum()) for m in ("ECE", "NLL_T"))
before, later = mean["ECE"], mean["ECE_T"]
own = curves[curves["method"].eq("AMOL") & curves["when"].eq("before")]
excess = (own["p"] - own["hits"]).to_numpy()
furthest = before.idxmax()
middle = tuned[tuned["method"] == furthest]["T"].median()
how_far = f"with an ECE of {before[furthest]:.3f} and a median temperature of {middle:.1f}"

# %%
say(
    (over > len(sets) / 2,
     f"AMOL's probabilities are further off than cross-entropy's on {over} of {len(sets)} sets: an "
     f"ECE of {before['AMOL']:.3f} against {before['CE']:.3f} in the mean.",
     f"AMOL's ECE is above cross-entropy's on {over} of {len(sets)} sets."),
    (later["CE"] < later["AMOL"] < before["AMOL"] and excess[:5].mean() > 0 > excess[-1],
     f"A temperature narrows the gap and doesn't close it ({later['AMOL']:.3f} against "
     f"{later['CE']:.3f}); with it, AMOL's NLL is above cross-entropy's on {nll} sets. A "
     "temperature can't mend what is not one exaggeration: in [Figure "
     "reliability](#fig-reliability) AMOL is too sure of its doubtful answers and not sure enough "
     "of its safe ones.",
     f"With a temperature it is {later['AMOL']:.3f} against {later['CE']:.3f}, and NLL above "
     f"cross-entropy's on {nll} sets."),
    (furthest == "WK" and middle > 2,
     f"Furthest off is WK, {how_far}: but for its denominator it is linear in the probabilities, "
     "so that it always pays to be sure.",
     f"Furthest off is {furthest}, {how_far}."),
    f"The lowest RPS have {listed(mean['RPS'].sort_values(kind='stable').index[:3])}.",
)  # fmt: skip

# %% [markdown]
# ## Twins
#
# A fifth of the wines' rows repeat another one, so a test row may have a twin among the training
# rows ([Experiments: the data and the protocol](04_experiments.ipynb)). Here the wines again,
# untuned, on as many splits that keep equal rows on one side, beside [What the error bars don't
# show](splits.ipynb).

# %% tags=["show-input"]
metrics = ("QWK", "CHR_ext", "MAE")
pairs = [("AMOL", "CE"), ("AMOL", "KL"), ("AMOL-asym", "CE"), ("KL", "CE")]
apart, mixed = recordings.load("grouped_splits"), recordings.load("splits")
mixed = mixed[mixed["dataset"].isin(grouped_splits.SETS)]
both = [paired_differences(frame, pairs, metrics) for frame in (mixed, apart)]
keys = ["dataset", "method", "baseline", "metric"]
joined = both[0].merge(both[1], on=keys, suffixes=("", " apart"))

# %%
cells = joined[["dataset", "metric"]].set_index("dataset").rename_axis("Data set")
cells.insert(0, "Pair", (joined["method"] + " − " + joined["baseline"]).to_numpy())
for title, side in {"Twins anywhere": "", "Twins on one side": " apart"}.items():
    values = joined[f"difference{side}"].map("{:+.3f}".format).str.replace("-", "−")
    cells[title] = (values + ", " + joined[f"verdict{side}"]).to_numpy()
show(
    "tab-twins", data=joined,
    result=cells.rename(columns={"metric": "Metric"}).replace({"Metric": tables.HEADINGS}),
    caption="Mean difference and verdict of the corrected interval on splits of either kind.",
)  # fmt: skip

# %%
turned = joined[(joined["difference"] > 0) != (joined["difference apart"] > 0)]
other = joined[joined["verdict"] != joined["verdict apart"]]
firm = turned[turned["verdict"].ne("no difference shown")]
level = [frame.groupby("dataset")["QWK"].mean() for frame in
         (mixed[mixed["method"].isin(grouped_splits.METHODS)], apart)]  # fmt: skip
lower = listed(f"{v:.3f} on {name}" for name, v in (level[0] - level[1]).items())
say(
    ((level[0] > level[1]).all(), f"QWK itself falls by {lower}."),
    (firm.empty,
     f"No difference that was shown turns its sign. {len(other)} of {len(joined)} verdicts change "
     "between shown and not shown.",
     f"{len(firm)} differences that were shown turn their sign; {len(other)} of {len(joined)} "
     "verdicts change."),
)  # fmt: skip
say(note_of(grouped_splits.STUDY.verify(2)[1]))

# %%
say(
    f"> **In short.** On ten data sets AMOL's QWK is {change(whole)} than cross-entropy's. Of the "
    f"three steps between them the target changes it by {target:+.3f}, the direction of the "
    f"divergence by {direction:+.3f}, the weight by {weight:+.3f}.",
    (0 < median < whole and mae < min(ours, 0),
     f"Without any training, the median of cross-entropy's networks gains {median:.3f} in QWK and "
     "has a lower MAE than AMOL."),
    (over > len(sets) / 2,
     f"AMOL's probabilities are further off than cross-entropy's on {over} of {len(sets)} sets."),
    below="title",
)  # fmt: skip

# %% tags=["remove-input"]
footer()
