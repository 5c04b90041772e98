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
# (sec-ledger)=
# # The ledger: every number and claim, by verdict
#
# {ref}`sec-conclusion` gives the balance; this page holds the books. It lists all printed numbers
# and all claims under the {term}`verdict` that they got in this build, each with the place in this
# book that shows it. `amol check` applies the rules in a terminal: it ends with an error when a
# verdict differs from the recorded expectation. Rules that were changed after results were known
# are in {numref}`tab-revisions`.
#
# - **reproduced**: for a number, ours and the paper's differ by no more than two standard errors of
#   their difference, $2\sqrt{s_\text{ours}^2/n + s_\text{paper}^2/5}$, and half a unit of the last
#   printed decimal. For a claim, its own rule (in the CSV, column *rule*).
# - **direction only**: by more, but clearly on the paper's side of cross-entropy; for a claim, all
#   its comparisons are for it, not all of them clearly.
# - **undecided**: a comparison is against the claim, but none clearly.
# - **not reproduced**, **cannot be tested**: as they say, with the reason.
#
# A verdict near its threshold is fragile: {numref}`tab-claims` has the share of other worlds in
# which each claim holds.

# %% tags=["parameters"]
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import pandas as pd

from amol.experiments import StudySettings, run_study
from amol.paper.ledger import balance, ledger
from amol.paper.tails import with_tails
from amol.report import footer, show, show_numbers, tables

settings = StudySettings(
    seeds=seeds, alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs
)
runs = run_study(settings)
entries = ledger(with_tails(runs, settings))
counts = balance(entries)

# %%
places = entries["href"].str.partition("#")[2]
roles = ["ref" if place.startswith("sec-") else "numref" for place in places]
texts = pd.DataFrame({
    "Where": entries["where"],
    "Claim": entries["claim"],
    "Reason": entries["text"],
    "Data set": entries["dataset"],
    "Method": entries["method"],
    "Metric": entries["metric"],
    "Paper": entries[["paper_mean", "paper_std"]].apply(lambda cell: tables.printed(*cell), axis=1),
    "Ours": entries[["ours_mean", "ours_std"]].apply(lambda cell: tables.mean_std(*cell), axis=1),
    "Apart": entries["standard_errors"].map("{:.1f}".format),
    "Shown in": [f"{{{role}}}`{place}`" for role, place in zip(roles, places, strict=True)],
}).set_index("Where")  # fmt: skip
shown = {
    "claim": ["Claim", "Reason", "Shown in"],
    "number": ["Data set", "Method", "Metric", "Paper", "Ours", "Apart", "Shown in"],
}

# %% tags=["remove-output"]
listed = {
    "tab-claims-failed": ("claim", "not reproduced"),
    "tab-numbers-failed": ("number", "not reproduced"),
    "tab-claims-direction": ("claim", "direction only"),
    "tab-numbers-direction": ("number", "direction only"),
    "tab-claims-undecided": ("claim", "undecided"),
    "tab-claims-untested": ("claim", "cannot be tested"),
    "tab-numbers-untested": ("number", "cannot be tested"),
    "tab-claims-held": ("claim", "reproduced"),
    "tab-numbers-held": ("number", "reproduced"),
}
for label, (kind, verdict) in listed.items():
    part = (entries["kind"] == kind) & (entries["verdict"] == verdict)
    cells = texts.loc[part.to_numpy(), shown[kind]]
    if cells.empty:
        cells.loc[tables.DASH] = tables.DASH
    show(label, tables.Table(cells, f"{part.sum()} in all.", entries[part]))

# %% tags=["remove-cell"]
show_numbers(
    ledger_held=int(counts["numbers reproduced"]),
    ledger_numbers=int(counts["numbers"]),
    ledger_qwk=float(counts["mean_abs_QWK"]),
    ledger_chr_ext=float(counts["mean_abs_CHR_ext"]),
)

# %% [markdown]
# Of the {glue:text}`ledger_numbers:d` distinct printed numbers on real data sets,
# {glue:text}`ledger_held:d` are reproduced. Over the cells of the paper's three result tables the
# means differ by {glue:text}`ledger_qwk:.4f` in QWK and {glue:text}`ledger_chr_ext:.4f` in CHR_ext.

# %% [markdown]
# ## Not reproduced
#
# ```{result} tab-claims-failed
# Claims: not reproduced.
# ```
#
# ```{result} tab-numbers-failed
# Printed numbers (*apart*: in standard errors): not reproduced.
# ```

# %% [markdown]
# ## Direction only
#
# ```{result} tab-claims-direction
# Claims: direction only.
# ```
#
# ```{result} tab-numbers-direction
# Printed numbers (*apart*: in standard errors): direction only.
# ```

# %% [markdown]
# ## Undecided
#
# ```{result} tab-claims-undecided
# Claims: undecided.
# ```

# %% [markdown]
# ## Cannot be tested
#
# ```{result} tab-claims-untested
# Claims: cannot be tested.
# ```
#
# ```{result} tab-numbers-untested
# Printed numbers (*apart*: in standard errors): cannot be tested.
# ```

# %% [markdown]
# ## Reproduced
#
# ```{result} tab-claims-held
# Claims: reproduced.
# ```
#
# ```{result} tab-numbers-held
# Printed numbers (*apart*: in standard errors): reproduced.
# ```

# %% tags=["remove-input"]
footer(settings, runs)
