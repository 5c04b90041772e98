"""The ledger's page: a map of marks, a card for each claim, and tables of what isn't judged."""

import re
from html import escape

import numpy as np
import pandas as pd

from companion.claims.verdicts import VERDICTS
from companion.page.tables import DASH, literal
from companion.paper.published import CONTRADICTIONS, REVISIONS

SIGNS = dict(zip(VERDICTS, "✓↗?✗–", strict=True))
# Sections in the paper's order, with the tables and figures that stand in them.
PARTS = {
    "Abstract": (), "Section 1": (), "Section 2": (), "Section 3": ("Figure 1",),
    "Section 4": ("Table 1",),
    "Section 5.1": ("Table 2", "Table 3", "Figure 2"), "Section 5.2": (),
    "Section 5.3": ("Figure 3",), "Section 5.4": (), "Section 6": ("Table 4",), "Section 7": (),
    "Section 8": (), "Checklist": (),
}  # fmt: skip
NONE = "not about numbers"


def part_of(where: str) -> str:
    """The section that the first of some places lies in.

    >>> part_of("Figure 3, sentence 2"), part_of("Section 5.1 ¶2.4; Abstract ¶1.7")
    ('Section 5.3', 'Section 5.1')
    """
    for part, results in PARTS.items():
        if re.match(rf"({'|'.join(map(re.escape, (part, *results)))})(?!\d)", where):
            return part
    raise ValueError(f"no section holds {where!r}; allowed: {', '.join(PARTS)}")


def share_word(share: float) -> str:
    """How many other worlds a claim holds in: all, most (more than half), some or none."""
    if np.isnan(share):
        return ""
    return "all" if share == 1 else "most" if share > 0.5 else "some" if share else "none"


def _mark(claim) -> str:
    """A claim's three verdicts, as a link to its row."""
    paper, share = claim.paper_verdict or NONE, claim.stability
    worlds = DASH if np.isnan(share) else f"{share:.0%}"
    label = f"{claim.claim} By the paper's numbers: {paper}. By our runs: {claim.verdict}. " + (
        "Not judged in other worlds." if worlds == DASH else f"Holds in {worlds} of other worlds."
    )
    return (
        f'<a class="claim-mark" href="#claim-{claim.Index}" aria-label="{escape(label)}">'
        f'<span data-verdict="{paper}">{SIGNS.get(paper, DASH)}</span>'
        f'<span data-verdict="{claim.verdict}">{SIGNS[claim.verdict]}</span>'
        f'<span data-share="{share_word(share)}">{worlds.removesuffix("%")}</span></a>'
    )


def claim_map(claims: pd.DataFrame) -> str:
    """One mark per claim, by section, as HTML.

    Parameters
    ----------
    claims : DataFrame
        Claims of the ledger, by id.
    """
    parts = claims["where"].map(part_of)
    groups = []
    for name in PARTS:
        marks = "".join(_mark(claim) for claim in claims[parts == name].itertuples())
        if marks:
            groups.append(f'<div class="marks"><b>{name}</b><div>{marks}</div></div>')
    key = " · ".join(f"{SIGNS[name]} {name}" for name in VERDICTS)
    return (
        '<nav class="claim-map" aria-label="Map of the claims: a link to each, with its verdicts">'
        f"{''.join(groups)}</nav>\n\n"
        "A mark is a claim and leads to it: above, its verdict by the paper's own printed "
        "numbers, in the middle by our runs, below the percentage of other worlds in which it "
        f"holds. {key}, or not about numbers."
    )


def shown_in(href: str) -> str:
    """Link to the result or page that a claim names."""
    page, _, label = href.removeprefix("notebooks/").replace(".html", ".ipynb").partition("#")
    kind = {"fig": "Figure", "tab": "Table"}.get(label[:3])
    return f"[{kind} {label[4:]}]({page}#{label})" if kind else "[text](" + page + ")"


def minus(text: str) -> str:
    """Hyphens before digits as minus signs."""
    return re.sub(r"(?<![\w\d])-(?=\d)", "−", text)


def _more(entry) -> str:
    """What is folded under a claim: all its places, its rule, its worlds, and where it is shown."""
    first, _, others = entry.where.partition("; ")
    shares = {"splits": entry.splits, "protocols": entry.protocol, "seeds": entry.seed_blocks}
    known = [f"{name} {share:.0%}" for name, share in shares.items() if not np.isnan(share)]
    return (
        f"<details><summary>{first.replace(', sentence ', '.')}</summary>"
        + (f"Also {others}. " if others else "")
        + literal(entry.rule)
        + (f" Worlds: {', '.join(known)} of {entry.worlds:.0f} in all." if known else "")
        + f" Shown in {shown_in(entry.href)}.</details>"
    )


def claim_cells(claims: pd.DataFrame) -> pd.DataFrame:
    """A row per claim: it and what is folded under it, its three verdicts, and why."""
    rows = [
        {
            "Claim": f'<a id="claim-{entry.Index}"></a>{literal(entry.claim)} {_more(entry)}',
            "Paper's numbers": entry.paper_verdict or DASH,
            "Our runs": entry.verdict,
            "Worlds": DASH if np.isnan(entry.stability) else f"{entry.stability:.0%}",
            "Why": literal(minus(entry.text)),
        }
        for entry in claims.itertuples()
    ]
    return pd.DataFrame(rows).set_index("Claim")


def statement_cells(entries: pd.DataFrame, kind: str) -> pd.DataFrame:
    """A row per statement of one kind: it, its place, and what we find."""
    part = entries[entries["kind"] == kind]
    rows = [
        {
            "In the paper": f"{literal(entry.claim)} ({entry.where})",
            "What we find": f"{literal(minus(entry.text))} ({shown_in(entry.href)})",
        }
        for entry in part.itertuples()
    ]
    return pd.DataFrame(rows, columns=["In the paper", "What we find"]).set_index("In the paper")


def contradiction_cells() -> pd.DataFrame:
    """A row per pair of sentences of the paper that don't agree."""
    rows = [
        {"Here": f"{literal(each.says)} ({each.where})",
         "And there": f"{literal(each.other_says)} ({each.other_where})"}
        for each in CONTRADICTIONS
    ]  # fmt: skip
    return pd.DataFrame(rows).set_index("Here")


def revision_cells() -> pd.DataFrame:
    """A row per revision of the rules, with the verdicts that it moved."""
    rows = [
        {
            "Day": revision.date,
            "What changed": literal(revision.what),
            "Why": literal(revision.why),
            "Verdicts moved": "; ".join(
                f"{c['id']}: {c['before']} → {c['after']}" for c in revision.changed
            )
            or "none",
        }
        for revision in REVISIONS
    ]
    return pd.DataFrame(rows).set_index("Day")


def moved_verdicts() -> dict[str, int]:
    """How many verdicts revisions moved: ``worse``, ``better``, ``entered`` and ``left``.

    ``entered`` counts those that were not judged before, ``left`` those that are not any more.
    """
    order = {name: place for place, name in enumerate(VERDICTS[:-1])}
    counts = {"worse": 0, "better": 0, "entered": 0, "left": 0}
    for change in (change for revision in REVISIONS for change in revision.changed):
        before, after = (order.get(change[when]) for when in ("before", "after"))
        if before is None and after is None:
            continue
        if after is None:
            counts["left"] += 1
        elif before is None:
            counts["entered"] += 1
        else:
            counts["worse" if after > before else "better"] += 1
    return counts
