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
# (sec-losses)=
# # Every loss that the paper names
#
# The paper discusses more losses than it runs: CDW-CE, CORAL, CORN, SLACE and the focal loss appear
# in its text and not in its tables. This page runs them all under the same protocol, each with its
# own parameter chosen on the validation part, and then asks of each implementation what somebody
# who wants to train with it would ask: is it exact, does it stay finite, what does it cost?

# %% tags=["remove-cell"]
import sys

if "google.colab" in sys.modules:  # there, fetch and install what this notebook belongs to
    import re
    from socket import gethostbyname, gethostname
    from subprocess import run
    from urllib.parse import unquote
    from urllib.request import urlopen

    with urlopen(f"http://{gethostbyname(gethostname())}:9000/api/sessions") as sessions:
        opened = unquote(sessions.read().decode())
    found = re.search(r"(https://github\.com/[^/]+/[^/]+)/blob/(.+?)/notebooks/", opened)
    assert found, "open this notebook from its GitHub repository, as the book's Colab button does"
    run(["git", "clone", found[1], "companion"], check=True)
    run(["git", "-C", "companion", "checkout", found[2]], check=True)
    run([sys.executable, "-m", "pip", "install", "-q", "./companion[notebooks]"], check=True)
    sys.path.insert(0, "companion")

# %% tags=["parameters"]
sample: int = 3  # recorded runs to train again and compare, at least 1
sample_seed: int = 0  # which of them
repeats: int = 15  # timings of each loss, the median counts

# %%
from importlib.metadata import version

import pandas as pd
import torch
from IPython.display import Markdown
from myst_nb import glue

from amol.checks.loss_grid import conformance, released, speed
from amol.experiments.study import StudySettings, run_study
from amol.losses import LOSSES
from amol.paper.recording_checks import note_of, verify
from amol.paper.recordings import load, note
from amol.report import tables

if min(sample, repeats) < 1:
    raise ValueError(f"sample is {sample}, repeats is {repeats}; allowed: at least 1")

# %% [markdown]
# ## The same protocol for all
#
# OLL as Castagnos and coauthors define it {cite:p}`castagnos2022` and CDW-CE {cite:p}`polat2024`
# are one formula, $-\sum_k |k - y|^a \log(1 - \hat y_k)$, under two names; their papers only favor
# other exponents. Both names stand below, with one implementation behind them. CORAL and CORN
# {cite:p}`cao2020,shi2023` don't predict $K$ classes but answer $K - 1$ questions of the form "is
# the label above $k$?", so they come with heads of their own. SLACE {cite:p}`nachmani2025` appears
# in two forms, with the plain distance $|k - y|$ and with a proximity that counts training samples
# between two classes.
#
# Where a loss has a parameter of its own, the value is the one with the best mean QWK on the
# *validation* part, out of the grid in {numref}`tab-grids`; the test part takes no part in that.
# AMOL keeps the paper's $\alpha = 1$.

# %%
rows = load("losses")
keys = ["dataset", "method", "parameter", "value"]
rows["parameter"] = rows["parameter"].fillna("")
validation = rows.groupby(keys)["validation_QWK"].mean().reset_index()
best = validation.loc[validation.groupby(["dataset", "method"])["validation_QWK"].idxmax(), keys]
tuned = rows.merge(best, on=keys)
kept = ("CE", "OLL", "SORD", "KL", "AMOL", "AMOL-asym")
live = run_study(StudySettings(methods=kept), progress=False)
everything = pd.concat([live, tuned.drop(columns=["parameter", "value"])], ignore_index=True)

# %% tags=["remove-output"]
chosen = best.pivot(index="method", columns="dataset", values="value")
chosen = chosen[list(live["dataset"].unique())]
named = best.groupby("method")["parameter"].first()
grid = rows.groupby("method")["value"].agg(lambda v: ", ".join(f"{x:g}" for x in sorted(set(v))))
cells = chosen.map("{:g}".format).assign(Parameter=named, Grid=grid)
cells = cells[named != ""][["Parameter", "Grid", *chosen.columns]].rename_axis("Method")
caption = "Own parameter of each loss: what was tried, and what validation chose on each data set."
glue("tab-grids", tables.publish("tab-grids", caption, cells))

# %% [markdown]
# ```{glue:md} tab-grids
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-grids.csv" download>CSV</a>,
# <a href="../results/tables/tab-grids.tex" download>LaTeX</a></p>
#
# With these parameters, all losses side by side, one table a score. The {term}`RPS` judges the
# whole predicted distribution, the others the predicted class alone.

# %%
better = {"QWK": "higher is better", "CHR_ext": "lower is better",
          "MAE": "in classes, lower is better", "AMAE": "in classes, lower is better",
          "accuracy": "higher is better",
          "RPS": "between 0 and 1, lower is better",
          "center_rate": "to be read against the true share of the center class"}  # fmt: skip
summary = tables.summarize(everything, list(better)).assign(paper_mean=float("nan"))


def everywhere(label, metric):
    """Number a table of one metric: a row a loss, a column a data set."""
    part = summary[summary["metric"] == metric]
    caption = f"{metric} of every loss ({better[metric]}): mean ± standard deviation over 5 seeds."
    return tables.publish(label, caption, tables.compare(part), part)


# %% tags=["remove-output"]
glue("tab-all-qwk", everywhere("tab-all-qwk", "QWK"))
glue("tab-all-chr-ext", everywhere("tab-all-chr-ext", "CHR_ext"))
glue("tab-all-mae", everywhere("tab-all-mae", "MAE"))
glue("tab-all-amae", everywhere("tab-all-amae", "AMAE"))
glue("tab-all-accuracy", everywhere("tab-all-accuracy", "accuracy"))
glue("tab-all-rps", everywhere("tab-all-rps", "RPS"))
glue("tab-all-center-rate", everywhere("tab-all-center-rate", "center_rate"))

# %% tags=["remove-cell"]
qwk = summary[summary["metric"] == "QWK"]
top = qwk[tables.best_mask(qwk)].groupby("dataset", sort=False)["method"].agg(" and ".join)
glue("all_qwk_led", "; ".join(f"{name}: {who}" for name, who in top.items()), display=False)
means = qwk.pivot(index="method", columns="dataset", values="mean")
ahead = (means.gt(means.loc["AMOL"]).sum(axis=1).loc[lambda n: n > 0]).sort_values(ascending=False)
told = ", ".join(f"{name} on {count}" for name, count in ahead.items()) or "none"
glue("all_ahead_of_amol", told, display=False)
facts = note("losses")
glue("losses_runs", int(facts["runs"]), display=False)
glue("losses_seconds", int(facts["training seconds"]), display=False)
glue("losses_machine", facts["processor"], display=False)

# %% [markdown]
# ```{glue:md} tab-all-qwk
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-qwk.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-qwk.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-chr-ext
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-chr-ext.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-chr-ext.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-mae
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-mae.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-mae.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-amae
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-amae.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-amae.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-accuracy
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-accuracy.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-accuracy.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-rps
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-all-rps.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-rps.tex" download>LaTeX</a></p>
#
# ```{glue:md} tab-all-center-rate
# :format: myst
# ```
#
# <p class="downloads">Download:
# <a href="../results/tables/tab-all-center-rate.csv" download>CSV</a>,
# <a href="../results/tables/tab-all-center-rate.tex" download>LaTeX</a></p>
#
# Best mean QWK on each set: {glue:text}`all_qwk_led`. Losses with a higher mean QWK than AMOL, and
# on how many of the four sets: {glue:text}`all_ahead_of_amol`. These are means over five starts on
# one split; {ref}`sec-splits` shows how little such a lead says about another split.
#
# The {glue:text}`losses_runs:d` networks behind the tuned rows took {glue:text}`losses_seconds:d` s
# of training on {glue:text}`losses_machine` and are recorded, not trained in every build.
# `amol study --record losses` makes them anew. The build trains a few of them again.

# %% tags=["remove-output"]
checks, compared = verify("losses", sample, sample_seed)
glue("losses_checked", Markdown(note_of(compared)))

# %% [markdown]
# ```{glue:md} losses_checked
# :format: myst
# ```

# %% [markdown]
# ## What each implementation withstands
#
# {numref}`tab-conformance` is measured while this page is built. *Exactness* is the worst relative
# error in double precision against the definition evaluated with 50 digits, for logits up to
# $\pm 10^4$. *Stable to* is the largest logit, of those tried, up to which single-precision values
# and gradients still agree with the exact ones. *Gradcheck* compares the gradient with finite
# differences, *compile* is `torch.compile` without graph breaks, *half* is finite value and
# gradient at $\pm 10^4$ under autocast, *weights* tells whether a constant factor on the class
# weights leaves the loss alone.

# %% tags=["remove-cell"]
for key, name in {"fade_amol": "AMOL", "fade_ce": "CE"}.items():
    sure = torch.tensor([[0.0] * 6 + [20.0]], requires_grad=True)
    LOSSES[name](num_classes=7)(sure, torch.tensor([0])).backward()
    glue(key, float(sure.grad.abs().max()), display=False)
glue("skordinal_version", version("skordinal"), display=False)

# %% tags=["remove-output"]
yes = {True: "yes", False: "no"}
measured = conformance()
cells = pd.DataFrame({
    "Loss": measured["loss"],
    "Formula": measured["formula"].str.replace("|", r"\vert "),
    "Source": measured["source"].map("{{cite:p}}`{}`".format),
    "Exactness": measured["exactness"].map("{:.0e}".format),
    "Stable to": measured["stable_to"],
    **{name.capitalize(): measured[name].map(yes) for name in ("gradcheck", "compile", "half")},
    "Weights": measured["weights"],
}).set_index("Loss")  # fmt: skip
caption = "The losses of this package: formula, source and what they withstand."
table = tables.publish("tab-conformance", caption, cells, measured)
glue("tab-conformance", table)

# %% [markdown]
# ```{glue:md} tab-conformance
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-conformance.csv" download>CSV</a>,
# <a href="../results/tables/tab-conformance.tex" download>LaTeX</a></p>
#
# One weakness is the formula's, which no code can mend. The divergence of `KL` and of the AMOL
# family is bounded: however sure a network is of a wrong class, it costs no more than that class's
# weight times the negative logarithm of its target. So the pull back fades as the network grows
# sure. With one logit 20 above the rest, at the far end from the label, the largest component of
# AMOL's gradient is {glue:text}`fade_amol:.0e`; cross-entropy's is {glue:text}`fade_ce:.1f`.
#
# The released libraries go through the same grid ({numref}`tab-released`); the last column lists
# bad input that gives a number instead of an error. Libraries that aren't installed here are shown
# as recorded, with their version. skordinal {glue:text}`skordinal_version` has no loss on logits to
# put beside these; its metrics are compared with ours in the tests.

# %% tags=["remove-output"]
theirs = released()
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
caption = "Released implementations on the same grid, with the reach of ours beside."
glue("tab-released", tables.publish("tab-released", caption, cells, theirs))

# %% [markdown]
# ```{glue:md} tab-released
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-released.csv" download>CSV</a>,
# <a href="../results/tables/tab-released.tex" download>LaTeX</a></p>
#
# ## What they cost
#
# {numref}`tab-speed` gives the time of a forward and a backward pass over 4096 samples as a
# multiple of PyTorch's own cross-entropy, both timed in turn on one thread. Networks of any size
# spend most of their time elsewhere.

# %% tags=["remove-output"]
timed = speed(repeats)
wide = timed.pivot(index="loss", columns="K", values="ratio").reindex(timed["loss"].unique())
cells = wide.map("{:.1f}".format).rename(columns="K = {}".format).rename_axis("Loss")
cells.columns.name = None
caption = "Time of forward and backward, as a multiple of `cross_entropy`."
glue("tab-speed", tables.publish("tab-speed", caption, cells, timed))
dearest = timed.loc[timed["ratio"].idxmax()]
glue("speed_dearest", f"{dearest['loss']} at K = {dearest['K']}", display=False)
glue("speed_worst", float(dearest["ratio"]), display=False)

# %% [markdown]
# ```{glue:md} tab-speed
# :format: myst
# ```
#
# <p class="downloads">Download: <a href="../results/tables/tab-speed.csv" download>CSV</a>,
# <a href="../results/tables/tab-speed.tex" download>LaTeX</a></p>
#
# The dearest is {glue:text}`speed_dearest` with {glue:text}`speed_worst:.1f` times the cost of
# cross-entropy.

# %% tags=["remove-input"]
from amol.report.provenance import footer

footer(StudySettings(methods=kept), live)
