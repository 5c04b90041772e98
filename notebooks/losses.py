# %% [markdown]
# # Every loss that the paper names
#
# The paper discusses more losses than it runs: CDW-CE, CORAL, CORN, SLACE and the focal loss appear
# in its text and not in its tables. This page runs them all under the same protocol, each with its
# own parameter chosen on the validation part, and then asks of each implementation what somebody
# who wants to train with it would ask: is it exact, does it stay finite, what does it cost?

# %% tags=["parameters"]
sample: int = 3  # recorded runs to train again and compare, at least 1
sample_seed: int = 0  # which of them
repeats: int = 15  # timings of each loss, the median counts

# %%
from importlib.metadata import version

import pandas as pd
import torch

from amol.losses import LOSSES, PAPER_METHODS
from companion import StudySettings, run_study
from companion.checks.loss_grid import conformance, released, speed
from companion.page import footer, pictures, say, show, tables
from companion.page.citations import cited
from companion.page.words import listed
from companion.studies.grids import verify
from companion.studies.recording_checks import note_of
from companion.studies.recordings import load, note

if min(sample, repeats) < 1:
    raise ValueError(f"sample is {sample}, repeats is {repeats}; allowed: at least 1")

# %% [markdown]
# ## The same protocol for all
#
# OLL as Castagnos and coauthors define it ([Castagnos et al.
# 2022](https://aclanthology.org/2022.coling-1.407)) and CDW-CE ([Polat et al.
# 2024](https://arxiv.org/abs/2412.01246)) are one formula, $-\sum_k |k - y|^a \log(1 - \hat y_k)$,
# under two names; their papers only favor other exponents. Both names stand below, with one
# implementation behind them. CORAL and CORN ([Cao et al.
# 2020](https://doi.org/10.1016/j.patrec.2020.11.008); [Shi et al.
# 2023](https://doi.org/10.1007/s10044-023-01181-9)) don't predict $K$ classes but answer $K - 1$
# questions of the form "is the label above $k$?", so they come with heads of their own. SLACE
# ([Nachmani et al. 2025](https://doi.org/10.1609/aaai.v39i18.34158)) appears in two forms, with the
# plain distance $|k - y|$ and with a proximity that counts training samples between two classes.
#
# Where a loss has a parameter of its own, the value is the one with the best mean QWK on the
# *validation* part, out of the grid in [Table grids](#tab-grids); the test part takes no part in
# that. AMOL keeps the paper's $\alpha = 1$.

# %% tags=["show-input"]
rows = load("losses")  # one row for each data set, loss, value of its parameter and seed
keys = ["dataset", "method", "parameter", "value"]
rows["parameter"] = rows["parameter"].fillna("")
validation = rows.groupby(keys)["validation_QWK"].mean().reset_index()
best = validation.loc[validation.groupby(["dataset", "method"])["validation_QWK"].idxmax(), keys]
tuned = rows.merge(best, on=keys)
kept = (*PAPER_METHODS, "KL", "CE-masked")
live = run_study(StudySettings(methods=kept), progress=False)
everything = pd.concat([live, tuned.drop(columns=["parameter", "value"])], ignore_index=True)

# %%
chosen = best.pivot(index="method", columns="dataset", values="value")[live["dataset"].unique()]
named = best.groupby("method")["parameter"].first()
grid = rows.groupby("method")["value"].agg(lambda v: ", ".join(f"{x:g}" for x in sorted(set(v))))
cells = chosen.map("{:g}".format).assign(Parameter=named, Grid=grid)
cells = cells[named != ""][["Parameter", "Grid", *chosen.columns]].rename_axis("Method")
show(
    "tab-grids", cells,
    caption="Own parameter of each loss: what was tried, and what validation chose on each data "
    "set.",
)  # fmt: skip

# %% [markdown]
# [Figure overview](#fig-overview) has all losses side by side. The
# [RPS](../book/glossary.md#term-RPS), the ranked probability score, judges the whole predicted
# distribution, the other scores the predicted class alone.

# %%
drawn = ["QWK", "CHR_ext", "MAE", "accuracy", "RPS", "center_recall"]
summary = tables.summarize(everything, [*drawn, "AMAE", "center_rate", "extreme_recall"])
keys = ["dataset", "metric"]
baseline = summary[summary["method"] == "CE"].set_index(keys)["mean"].rename("baseline")
summary = summary.join(baseline, on=keys)
summary["difference"] = summary["mean"] - summary["baseline"]
qwk = summary[summary["metric"] == "QWK"].pivot(index="method", columns="dataset", values="mean")
ranked = list(qwk.mean(axis=1).sort_values(ascending=False).index.drop("CE"))
seen = summary[summary["metric"].isin(drawn) & summary["method"].ne("CE")]
columns = ["dataset", "method", "metric", "mean", "std", "count", "difference"]

# %%
show(
    "fig-overview", pictures.overview(seen, ranked), data=summary[columns],
    caption=f"All {summary['method'].nunique()} losses, best mean QWK on top: mean over five seeds "
    "minus cross-entropy's on the same data set. Left is better for CHR_ext, MAE and RPS, right "
    "for the others. Hollow: beyond the edge. The CSV has means and standard deviations, and AMAE, "
    "center rate and extreme recall too.",
    alt="Six panels, QWK, CHR_ext, MAE, accuracy, RPS and center recall, one row per loss and one "
    "dot per data set, as differences from cross-entropy. AMOL and its variants lie furthest right "
    "in QWK and left in center recall; their MAE lies right of zero on three of four sets and "
    "their RPS on all.",
)  # fmt: skip


# %%
def ahead(metric, sign):
    """Losses with a better mean than AMOL and on how many data sets, as a sentence."""
    wide = summary[summary["metric"] == metric]
    wide = sign * wide.pivot(index="method", columns="dataset", values="mean")
    counts = wide.gt(wide.loc["AMOL"]).sum(axis=1).loc[lambda n: n > 0]
    counts = counts.sort_values(ascending=False, kind="stable")
    others = listed(f"{name} on {count}" for name, count in counts.items())
    return (
        len(counts) > 0,
        f"{metric}: better than AMOL's on how many of the {wide.shape[1]} sets: {others}.",
        f"{metric}: no loss has a better mean than AMOL on any set.",
    )


say("-", ahead("QWK", 1), "\n-", ahead("MAE", -1), "\n-", ahead("RPS", -1))
best_of = {
    metric: (summary[summary["metric"] == metric].groupby("method")["mean"].mean() * sign).idxmax()
    for metric, sign in {"QWK": 1, "accuracy": 1, "MAE": -1, "RPS": -1}.items()
}
say(
    f"> **In short.** All {summary['method'].nunique()} losses that the paper names or this book "
    "adds as controls, trained alike. The best mean over data sets is",
    f"{listed(f'that of {name} in {metric}' for metric, name in best_of.items())}.",
    "One split says little about such leads; below stands also what each implementation withstands "
    "and costs.",
    below="title",
)

# %% [markdown]
# These are means over five starts on one split; [What the error bars don't show](splits.ipynb)
# shows how little such a lead says about another split.

# %%
facts = note("losses")
say(
    f"The {facts['runs']} networks behind the tuned rows took {facts['training seconds']:.0f} s of "
    f"training on {facts['processor']} and are "
    "[recorded](../book/glossary.md#term-recorded-study); `amol study --record losses` makes them "
    "anew. The build trains a few of them again and says whether they differ:"
)

# %% tags=["show-input"]
_, compared = verify("losses", sample, sample_seed)
say(note_of(compared))

# %% [markdown]
# ## What each implementation withstands
#
# [Table conformance](#tab-conformance) is measured while this page is built. *Exactness* is the
# worst relative error in double precision against the definition evaluated with 50 digits, for
# logits up to $\pm 10^4$. *Stable to* is the largest logit, of those tried, up to which
# single-precision values and gradients still agree with the exact ones. *Gradcheck* compares the
# gradient with finite differences, *compile* is `torch.compile` without graph breaks, *half* is
# finite value and gradient at $\pm 10^4$ under autocast, *weights* tells whether a constant factor
# on the class weights leaves the loss alone. Besides the losses above it has rivals that the paper
# doesn't name: cross-entropy to other soft labels, a cumulative-link model
# ([CLM](../book/glossary.md#term-CLM)), a squared distance of cumulative distributions, the
# weighted kappa of a batch ([WK](../book/glossary.md#term-WK)), and two answers to rare classes. WK
# is measured on batches, the others sample by sample.

# %% tags=["show-input"]
measured = conformance()
theirs = released()

# %%
yes = {True: "yes", False: "no"}
cells = pd.DataFrame({
    "Loss": measured["loss"],
    "Formula": measured["formula"].str.replace("|", r"\vert "),
    "Source": measured["source"].map(lambda key: f"({cited(key)})" if key else tables.DASH),
    "Exactness": measured["exactness"].map("{:.0e}".format).replace("nan", "no reference"),
    "Stable to": measured["stable_to"],
    **{name.capitalize(): measured[name].map(yes) for name in ("gradcheck", "compile", "half")},
    "Weights": measured["weights"],
}).set_index("Loss")  # fmt: skip
show(
    "tab-conformance", cells, data=measured,
    caption="The losses of this package: formula, source and what they withstand.",
)  # fmt: skip


# %%
def largest_pull(name):
    """Largest component of a loss's gradient at one logit of 20, the others 0, at the far end."""
    sure = torch.tensor([[0.0] * 6 + [20.0]], requires_grad=True)
    LOSSES[name](num_classes=7)(sure, torch.tensor([0])).backward()
    return float(sure.grad.abs().max())


say(
    "One weakness is the formula's, which no code can mend. The divergence of `KL` and of the AMOL "
    "family is bounded: however sure a network is of a wrong class, it costs no more than that "
    "class's weight times the negative logarithm of its target. So the pull back fades as the "
    "network grows sure. With one logit 20 above the rest, at the far end from the label, the "
    f"largest component of AMOL's gradient is {largest_pull('AMOL'):.0e}; cross-entropy's is "
    f"{largest_pull('CE'):.1f}."
)
say(
    "The released libraries go through the same grid ([Table released](#tab-released)); the last "
    "column lists bad input that returns a number instead of an error. Libraries that aren't "
    "installed here are shown as recorded, with their version. skordinal "
    f"{version('skordinal')} has no loss on logits to put beside these; its metrics are compared "
    "with ours in the tests."
)

# %%
ours = measured.set_index("loss")
cells = pd.DataFrame({
    "Loss": theirs["loss"],
    "Library": theirs["library"] + " " + theirs["version"],
    "Stable to": theirs["stable_to"],
    "Ours stable to": theirs["loss"].map(ours["stable_to"]),
    **{name.capitalize(): theirs[name].map(yes) for name in ("gradcheck", "compile", "half")},
    "Weights": theirs["weights"],
    "Accepts silently": theirs["accepts"].replace("", "–"),
}).set_index("Loss")  # fmt: skip
show(
    "tab-released", cells, data=theirs,
    caption="Released implementations on the same grid, with the reach of ours beside.",
)  # fmt: skip

# %% [markdown]
# ## How long they take
#
# [Table speed](#tab-speed) gives the time of a forward and a backward pass over 4096 samples as a
# multiple of PyTorch's own cross-entropy, both timed in turn on one thread. Networks of any size
# spend most of their time elsewhere.

# %% tags=["show-input"]
timed = speed(repeats)
slowest = timed.loc[timed["ratio"].idxmax()]

# %%
wide = timed.pivot(index="loss", columns="K", values="ratio").reindex(timed["loss"].unique())
cells = wide.map("{:.1f}".format).rename(columns="K = {}".format)
show(
    "tab-speed", cells.rename_axis(index="Loss", columns=None), data=timed,
    caption="Time of forward and backward, as a multiple of `cross_entropy`.",
)  # fmt: skip
say(
    f"The slowest is {slowest['loss']} at K = {slowest['K']}, which takes {slowest['ratio']:.1f} "
    "times as long as cross-entropy."
)

# %% tags=["remove-input"]
footer(StudySettings(methods=kept), live)
