# %% [markdown]
# # The ledger: every claim and number, with its verdicts
#
# The paper's printed numbers and claims are kept as data, each with a rule that decides what
# becomes of it. Three [verdicts](../book/glossary.md#term-verdict) of a claim stand side by side:
# what its rule says of the paper's own printed numbers, what it says of our runs, and in how many
# other worlds the claim holds. `amol check` applies the same rules in a terminal.

# %% tags=["parameters"]
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import numpy as np
import pandas as pd

from companion import StudySettings, run_study
from companion.claims.ledger import NUMBER, balance, ledger
from companion.claims.tails import with_tails
from companion.claims.verdicts import VERDICTS
from companion.page import footer, say, show, tables
from companion.paper.published import CLAIMS, REVISIONS

# %% [markdown]
# ## The balance
#
# A *number* is reproduced if ours and the printed mean differ by no more than two standard errors
# of their difference, $2\sqrt{s_\text{ours}^2/n + s_\text{paper}^2/5}$, and half a unit of the last
# printed decimal; *direction only* if by more, but ours is clearly on the paper's side of
# cross-entropy. A *claim* is reproduced if all of its comparisons are clearly for it (the same two
# standard errors), direction only if all are for it, not reproduced if one is clearly against it,
# and undecided in between. Each number counts once, and those on Synthetic stand apart, since that
# set was made here so that cross-entropy's QWK is about as printed.

# %% tags=["show-input"]
settings = StudySettings(
    seeds=seeds, alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs
)
runs = run_study(settings)  # one row for each network
entries = ledger(with_tails(runs, settings))  # one row for each number and claim
counts = balance(entries)
claims = entries[entries["kind"] == "claim"].set_index("id")
numbers = entries[entries["kind"] == "number"]

# %%
cells = pd.DataFrame(index=pd.Index([*VERDICTS, "**all**"], name="Verdict"))
for kind, title in {"numbers": "Numbers", "generated": "On Synthetic", "claims": "Claims"}.items():
    cells[title] = [*(counts[f"{kind} {verdict}"] for verdict in VERDICTS), counts[kind]]
show(
    "tab-balance", cells,
    caption="Verdicts by our runs, on the paper's printed numbers and on its claims.",
)  # fmt: skip
qwk, chr_ext = counts["mean_abs_QWK"], counts["mean_abs_CHR_ext"]
comparisons = sum(len(c.pairs) * len(c.datasets) * len(c.metrics) for c in CLAIMS)
say(
    f"The numbers rest on {len(runs)} runs.",
    (not np.isnan([qwk, chr_ext]).any(),
     "Over the distinct cells of the paper's three result tables, our means differ from the "
     f"printed ones by {qwk:.3f} in QWK and {chr_ext:.3f} in CHR_ext on average."),
    "Two things make this balance look better than it is: some settings that the paper leaves open "
    "were chosen because they come near its tables ([What did the paper run?](choices.ipynb)), and "
    f"the claims make {comparisons} comparisons. With five seeds about one in twelve is clear by "
    f"chance where nothing differs, so some {comparisons / 12:.0f} of them would be.",
)  # fmt: skip

# %% [markdown]
# ## The paper's numbers and ours
#
# Does a claim fail because our runs differ from the paper's, or because the paper's own numbers
# don't bear it out? [Table pairs](#tab-pairs) tells the two apart.

# %% tags=["show-input"]
NONE = "not about numbers"
paper = claims["paper_verdict"].replace("", NONE)
pairs = pd.crosstab(paper, claims["verdict"])

# %%
rows = [name for name in (*VERDICTS, NONE) if name in pairs.index]
columns = [name for name in VERDICTS if name in pairs]
pairs = pairs.reindex(index=rows, columns=columns).astype(str).replace("0", tables.DASH)
show(
    "tab-pairs", pairs.rename_axis(index="By the paper's", columns=None),
    caption="Claims by pair of verdicts: the paper's own numbers down, our runs across. “Cannot be "
    "tested” down: the paper prints too few numbers for the rule.",
)  # fmt: skip
weak = claims[paper.isin(("not reproduced", "undecided"))]
named = [f"“{text[0].lower()}{text[1:].rstrip('.')}”" for text in weak["claim"]]
both = claims[~paper.isin((NONE, "cannot be tested"))]
say(
    (len(weak) > 0,
     f"The paper's own numbers leave {len(weak)} claims undecided or against them: "
     f"{'; '.join(map(tables.literal, named))}.",
     "The paper's own numbers contradict none of its claims."),
    f"Of the {len(both)} claims that both sets of numbers can decide, "
    f"{(both['paper_verdict'] == both['verdict']).sum()} get the same verdict from both.",
)  # fmt: skip


# %%
def shown_in(href):
    """Link to the result or page that a claim names."""
    page, _, label = href.removeprefix("notebooks/").replace(".html", ".ipynb").partition("#")
    kind = {"fig": "Figure", "tab": "Table"}.get(label[:3])
    return f"[{kind} {label[4:]}]({page}#{label})" if kind else "[text](" + page + ")"


# %% [markdown]
# ## Every claim
#
# The third verdict is stability: the share of other worlds in which a claim holds (its comparisons
# are for it, clearly or not). A world is a random split of the data, another answer to what the
# paper leaves open, another protocol that fits the paper's tables as well as the best ([What did
# the paper run?](choices.ipynb)), or another block of five seeds. What the paper leaves to future
# work is in the table as well; it claims nothing there, and the rule says as which statement it is
# taken.

# %%
cells = pd.DataFrame({
    "Claim": claims["claim"] + " (" + claims["where"] + ")",
    "By the paper's": claims["paper_verdict"].replace("", tables.DASH),
    "By ours": claims["verdict"],
    "Worlds": [
        tables.DASH if np.isnan(share) else f"{share:.0%} of {worlds:.0f}"
        for share, worlds in claims[["stability", "worlds"]].to_numpy()
    ],
    "Why": claims["text"].str.replace(r"(?<![\w\d])-(?=\d)", "−", regex=True),
    "Shown in": claims["href"].map(shown_in),
}).set_index("Claim")  # fmt: skip

# %%
show(
    "tab-claims", cells, data=claims.reset_index(),
    caption="The paper's claims in our words, in its order, with the reason for the verdict by "
    "ours. The CSV has the rules and the shares for each kind of world.",
)  # fmt: skip
worlds = claims["stability"].dropna()
fragile = claims[claims["verdict"].eq("reproduced") & claims["stability"].lt(0.75)]
say(
    f"Of the {len(worlds)} claims that other worlds can judge, {(worlds == 1).sum()} hold in all "
    f"of them and {(worlds == 0).sum()} in none.",
    (len(fragile) > 0,
     f"{len(fragile)} of the claims that our runs reproduce hold in less than three quarters of "
     "them.",
     "Every claim that our runs reproduce holds in at least three quarters of them."),
)  # fmt: skip

# %% [markdown]
# ## Numbers that differ

# %%
differ = numbers.drop_duplicates(NUMBER)
differ = differ[differ["verdict"] != "reproduced"]
cells = pd.DataFrame({
    "Data set": differ["dataset"],
    "Method": differ["method"],
    "Metric": differ["metric"],
    "Paper": differ[["paper_mean", "paper_std"]].apply(lambda cell: tables.printed(*cell), axis=1),
    "Ours": differ[["ours_mean", "ours_std"]].apply(lambda cell: tables.mean_std(*cell), axis=1),
    "Apart": differ["standard_errors"].map("{:.1f}".format),
    "Verdict": differ["verdict"],
}).set_index("Data set")  # fmt: skip
if cells.empty:
    cells.loc[tables.DASH] = tables.DASH
show(
    "tab-numbers", cells, data=numbers,
    caption="Printed numbers that are not reproduced or in direction only; *apart* in standard "
    "errors of the difference. The CSV has all numbers, those that are reproduced too.",
)  # fmt: skip

# %% [markdown]
# ## How the rules were revised
#
# Rules and claims entered the repository together with first results, and several rules were
# changed after results were known. [Table revisions](#tab-revisions) has each change, its reason
# and what it did to the verdicts on the same runs.

# %%
revised = pd.DataFrame(
    {
        "What changed": [revision.what for revision in REVISIONS],
        "Why": [revision.why for revision in REVISIONS],
        "Verdicts moved": [
            "; ".join(f"{c['id']}: {c['before']} → {c['after']}" for c in revision.changed)
            or "none"
            for revision in REVISIONS
        ],
    },
    index=pd.Index([revision.date for revision in REVISIONS], name="Day"),
)
show(
    "tab-revisions", revised,
    caption="Rules changed after results were known, and the verdicts that this moved on the same "
    "runs.",
)  # fmt: skip

# %%
moved = [change for revision in REVISIONS for change in revision.changed]
judged = [c for c in moved if c["before"] != "cannot be tested"]
order = {name: place for place, name in enumerate(VERDICTS)}
worse = sum(order[c["after"]] > order[c["before"]] for c in judged)
say(
    f"In sum {len(moved)} verdicts moved, {worse} of them to the paper's disadvantage and "
    f"{len(judged) - worse} to its advantage; claims that could not be tested before: "
    f"{len(moved) - len(judged)}."
)

# %% tags=["remove-input"]
footer(settings, runs)
