# %% [markdown]
# # The ledger: every claim and number
#
# What the paper claims, each with a rule that decides what becomes of it, and three
# [verdicts](../book/glossary.md#term-verdict) side by side: by the paper's own printed numbers, by
# our runs, and in other worlds.

# %% tags=["parameters"]
seeds: "int or list" = 5  # number of networks for each loss, or a list of seeds
alpha: float = 1.0  # strength of the weight in AMOL, at least 0
sigma: float = 1.0  # width of the Gaussian target in classes, above 0
split_seed: int = 42  # seed of the split into training, validation and test part
epochs: int = 200  # most epochs a network may train

# %%
import pandas as pd

from companion import StudySettings, run_study
from companion.claims.agreement import MARGIN
from companion.claims.ledger import balance, ledger
from companion.claims.tails import with_tails
from companion.claims.verdicts import VERDICTS
from companion.page import footer, ledger_page, say, show, tables
from companion.paper.published import CLAIMS, CONTRADICTIONS, KINDS, NUMBER

# %%
settings = StudySettings(
    seeds=seeds, alpha=alpha, sigma=sigma, split_seed=split_seed, epochs=epochs
)
runs = run_study(settings)  # one row for each network
entries = ledger(with_tails(runs, settings))  # one row for each number, claim and statement
counts = balance(entries)
claims = entries[entries["kind"] == "claim"].set_index("id")
numbers = entries[entries["kind"] == "number"]

# %%
of_claims = {verdict: counts[f"claims {verdict}"] for verdict in VERDICTS}
reproduced, direction, undecided, refuted, untested = of_claims.values()
say(
    f"**In short:** of {counts['claims']} claims that runs or data can decide, {reproduced} are "
    f"reproduced, {direction} hold in direction only, {undecided} are undecided, {refuted} are not "
    f"reproduced, {untested} can't be tested. Of {counts['numbers']} printed numbers "
    f"{counts['numbers reproduced']} agree with ours;",
    (counts["twins"] > counts["numbers reproduced"],
     f"had both run one program, about {counts['twins']:.0f} would.",
     f"had both run one program, {counts['twins']:.0f} would."),
)  # fmt: skip
say(ledger_page.claim_map(claims))

# %% [markdown]
# ## The numbers

# %%
cells = pd.DataFrame(index=pd.Index([*VERDICTS, "**all**"], name="Verdict"))
for kind, title in {"numbers": "Numbers", "generated": "On Synthetic", "claims": "Claims"}.items():
    cells[title] = [*(counts[f"{kind} {verdict}"] for verdict in VERDICTS), counts[kind]]
show(
    "tab-balance", cells, fold="Verdicts counted, on numbers and claims",
    caption="Verdicts by our runs, on the paper's printed numbers and on its claims. A number is "
    "reproduced if ours and the printed mean differ by no more than two standard errors of their "
    "difference, $2\\sqrt{s_\\text{ours}^2/n + s_\\text{paper}^2/5}$, and half a unit of the last "
    "printed decimal; direction only if by more, but ours is clearly on the paper's side of "
    "cross-entropy. Each counts once, and those on Synthetic stand apart, since that set was made "
    "here so that cross-entropy's QWK is about as printed.",
)  # fmt: skip
say(
    f"Of {counts['numbers']} numbers on real data sets {counts['numbers reproduced']} are "
    "reproduced: no difference is shown.",
    f"{counts['numbers within margin']} are shown to be equal within {MARGIN}, half of the "
    "smallest effects that the paper's text stresses.",
    f"Had both run one program with other seeds, {counts['twins']:.0f} would be reproduced on "
    f"average ({counts['twins_low']:.0f} to {counts['twins_high']:.0f} in 95 % of simulations).",
    "Some settings were chosen because they come near the paper's tables ([What did the paper "
    "run?](choices.ipynb)), so this looks better than it is.",
)  # fmt: skip

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
    "tab-numbers", cells, data=numbers, fold=f"The numbers that differ ({len(differ)})",
    caption="Printed numbers that are not reproduced or in direction only; *apart* in standard "
    "errors of the difference. The CSV has all numbers, those that are reproduced too.",
)  # fmt: skip

# %% [markdown]
# ## Every claim
#
# In our words, never stronger than the paper's. The place unfolds the rule.
#
# <details class="fold"><summary>How a claim is judged, and how its place is counted</summary>
#
# A claim is reproduced if all of its comparisons are clearly for it, by more than two standard
# errors; direction only if all are for it; not reproduced if one is clearly against it; and
# undecided in between. A *world* is a random split of the data, another answer to what the paper
# leaves open, another protocol that fits its tables as well as the best, or another block of five
# seeds; a claim holds in it if its comparisons are for it, clearly or not. Where nothing differs
# one comparison in twelve or so is clear by chance with five seeds.
#
# “Section 5.1 ¶2.4” is the fourth sentence of the second paragraph of that section. Paragraphs are
# blocks of running text, which equations, tables, figures and lists part; a heading that opens a
# paragraph counts as a sentence. “Figure 2.3” is the third sentence of a caption.
#
# </details>

# %%
comparisons = sum(len(claim.comparisons) for claim in CLAIMS)
show(
    "tab-claims", ledger_page.claim_cells(claims), data=claims.reset_index(),
    caption=f"The claims, in the paper's order. They make {comparisons} comparisons of pairs.",
)  # fmt: skip
worlds = claims["stability"].dropna()
weak = claims[claims["paper_verdict"].isin(("not reproduced", "undecided"))]
say(
    f"Of the {len(worlds)} claims that other worlds can judge, {(worlds == 1).sum()} hold in all "
    f"and {(worlds == 0).sum()} in none.",
    (len(weak) > 0,
     f"The paper's own numbers leave {len(weak)} undecided or against them.",
     "The paper's own numbers contradict none."),
)  # fmt: skip

# %% [markdown]
# ## Beside the claims
#
# No run contradicts a definition, a granted limitation is no prediction, an open question no claim:
# what we find stands beside them, without a verdict.

# %%
titles = {
    "definition": "Definitions, and what follows from them",
    "other work": "What is said of other work",
    "limitation": "Limitations",
    "open question": "Open questions",
}
for kind in KINDS[1:]:
    cells = ledger_page.statement_cells(entries, kind)
    show(
        f"tab-{kind.replace(' ', '-')}s", cells, data=entries[entries["kind"] == kind],
        fold=f"{titles[kind]} ({len(cells)})", caption=f"{titles[kind]}; no verdicts.",
    )  # fmt: skip

# %%
show(
    "tab-contradictions", ledger_page.contradiction_cells(),
    fold=f"Where the paper disagrees with itself ({len(CONTRADICTIONS)})",
    caption="Sentences of the paper that don't agree with each other or with its tables.",
)  # fmt: skip
revised, moved = ledger_page.revision_cells(), ledger_page.moved_verdicts()
show(
    "tab-revisions", revised, fold=f"How the rules were revised ({len(revised)})",
    caption="Rules and claims entered the repository together with first results; these were "
    f"changed after results were known. On the same runs {moved['worse']} verdicts moved to the "
    f"paper's disadvantage and {moved['better']} to its advantage; {moved['entered']} were entered "
    f"and {moved['left']} taken back, for what they stood on is no claim.",
)  # fmt: skip

# %% tags=["remove-input"]
footer(settings, runs)
