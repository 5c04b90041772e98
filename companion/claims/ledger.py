"""Ledger of the paper against the reproduction: a verdict for every published number and claim.

What the paper defines, says of other work, grants as a limitation or leaves open stands in it with
what we find, and without a verdict.

``ledger(runs)`` takes the frame of `companion.run_study` and knows nothing of how runs were
made.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

import companion.claims.rules_on_data  # noqa: F401  (enters its rules)
from companion.claims import agreement
from companion.claims.evidence import (
    CannotTest,
    Evidence,
    apart,
    evidence_of_paper,
    evidence_of_runs,
    level,
    printed_cell,
)
from companion.claims.findings import FINDINGS
from companion.claims.stability import World, judge, recorded_worlds, stability
from companion.claims.verdicts import VERDICTS, Verdict
from companion.paper.published import CLAIM, KINDS, NUMBER, PLACES, PUBLISHED, STATEMENTS, Claim

EXPECTED = Path(__file__).parent / "files" / "expected_verdicts.csv"
NUMBER_RULE = (
    "Reproduced if ours and the printed mean differ by no more than two standard errors of their "
    "difference, 2·sqrt(s_ours²/n_ours + s_paper²/5), and half a unit of the last printed decimal; "
    "direction only if by more, but clearly on the paper's side of CE; else not reproduced."
)
GENERATED = "Synthetic"  # made by this companion so that CE's QWK is about as printed
COLUMNS = [
    "id", "kind", "where", "dataset", "method", "metric", "claim", "paper_mean", "paper_std",
    "ours_mean", "ours_std", "seeds", "difference", "standard_errors", "within_margin", "rule",
    "verdict", "paper_verdict", "stability", "worlds", "splits", "protocol", "seed_blocks",
    "text", "expected", "href",
]  # fmt: skip


def _number_row(number, ours: Evidence, paper: Evidence) -> dict:
    key = (number.dataset, number.method, number.metric)
    row = {
        "id": re.sub(r"[^a-z0-9_]+", "-", "-".join([number.where, *key]).lower()),
        "kind": "number",
        "where": number.where,
        "dataset": number.dataset,
        "method": number.method,
        "metric": number.metric,
        "paper_mean": number.mean,
        "paper_std": number.std,
        "rule": NUMBER_RULE,
        "href": PLACES[number.where],
    }
    try:
        cell = ours.cell(*key)
    except CannotTest as error:
        return row | {"verdict": Verdict.UNTESTED.value, "text": str(error)}
    printed = printed_cell(number.mean, number.std, number.digits)
    distance = apart(cell, printed)
    row |= {
        "ours_mean": cell.mean,
        "ours_std": cell.std,
        "seeds": cell.n,
        "difference": cell.mean - number.mean,
        "standard_errors": distance,
        "within_margin": agreement.within_margin(cell, printed),
    }
    if distance <= 2:
        return row | {"verdict": Verdict.REPRODUCED.value, "text": ""}
    text = f"{distance:.1f} standard errors of the difference apart"
    baseline = (number.dataset, "CE", number.metric)
    try:
        sides = [level(e.cell(*key), e.cell(*baseline)) for e in (ours, paper)]
    except CannotTest:
        return row | {"verdict": Verdict.REFUTED.value, "text": f"{text}; no CE beside it"}
    same = sides[0] * sides[1] > 0 and abs(sides[0]) == 2
    return row | {"verdict": (Verdict.DIRECTION if same else Verdict.REFUTED).value, "text": text}


def _found(statement: Claim, ours: Evidence) -> str:
    """What we find beside a statement that isn't judged."""
    try:
        return statement.reason or FINDINGS[statement.id](ours, statement)
    except CannotTest as error:
        return f"cannot be computed: {error}"


def _statement_row(
    statement: Claim, ours: Evidence, paper: Evidence, worlds: Iterable[World]
) -> dict:
    row = {
        "id": statement.id,
        "kind": statement.kind,
        "where": "; ".join(statement.where),
        "dataset": ", ".join(statement.datasets),
        "method": ", ".join(statement.methods),
        "metric": ", ".join(statement.metrics),
        "claim": statement.claim,
        "rule": statement.rule,
        "verdict": "",
        "paper_verdict": "",
        "href": statement.href,
    }
    if statement.kind != CLAIM:
        return row | {"text": _found(statement, ours)}
    verdict, text = judge(statement, ours)
    shares = stability(statement, worlds)
    return row | {
        "verdict": verdict.value,
        "text": text,
        "paper_verdict": judge(statement, paper)[0].value if statement.metrics else "",
        "seed_blocks": shares.pop("seeds"),
        **shares,
    }


def ledger(
    runs: pd.DataFrame,
    numbers: pd.DataFrame = PUBLISHED,
    worlds: Iterable[World] | None = None,
) -> pd.DataFrame:
    """One row per published number, then one per claim, then one per other statement.

    Parameters
    ----------
    runs : DataFrame
        As `companion.run_study` returns, with the columns of `companion.claims.tails` or without;
        data sets and methods may be missing.
    numbers : DataFrame
        As `companion.paper.published.PUBLISHED`.
    worlds : iterable of World, optional
        Where else claims are judged, for ``stability``; by default `recorded_worlds`.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`. Three verdicts of a claim stand side by side: ``verdict`` by ours,
        ``paper_verdict`` by the paper's own numbers under the same rule, and ``stability``, the
        share of ``worlds`` in which it holds (by kind: ``splits``, ``protocol``,
        ``seed_blocks``). Statements that aren't judged have empty verdicts. ``expected`` is the
        recorded verdict at default settings, empty before `record_expectations`.
    """
    ours, paper = evidence_of_runs(runs), evidence_of_paper(numbers)
    worlds = recorded_worlds() if worlds is None else tuple(worlds)
    rows = [_number_row(number, ours, paper) for number in numbers.itertuples()]
    rows += [_statement_row(statement, ours, paper, worlds) for statement in STATEMENTS]
    entries = pd.DataFrame(rows).reindex(columns=COLUMNS)
    expected = pd.read_csv(EXPECTED).set_index("id")["verdict"] if EXPECTED.exists() else {}
    entries["expected"] = [expected.get(name, "") for name in entries["id"]]
    return entries


def record_expectations(entries: pd.DataFrame) -> None:
    """Make the verdicts of ``entries`` the ones that `amol check` expects from now on."""
    judged = entries.loc[entries["verdict"] != "", ["id", "verdict"]]
    judged.to_csv(EXPECTED, index=False, lineterminator="\n")


def balance(entries: pd.DataFrame) -> dict[str, float]:
    """Headline figures of a ledger.

    Returns
    -------
    dict
        ``printed``, all numbers as printed; ``numbers``, the distinct ones on real data sets (four
        are printed twice); ``generated``, the distinct ones on `GENERATED`; ``claims``, which
        runs or data decide; for each of the last three and each verdict, ``numbers reproduced`` and
        the like; of ``numbers``, ``numbers within margin`` and how many ``twins`` would agree, with
        ``twins_low`` and ``twins_high`` (`companion.claims.agreement`); how many statements there
        are of each other kind, ``definition`` and the like; ``mean_abs_QWK`` and
        ``mean_abs_CHR_ext`` (mean |ours − paper| over the distinct cells of Tables 2 to 4).
    """
    numbers = entries[entries["kind"] == "number"]
    distinct = numbers.drop_duplicates(NUMBER)
    made = distinct["dataset"] == GENERATED
    groups = {
        "numbers": distinct[~made],
        "generated": distinct[made],
        "claims": entries[entries["kind"] == "claim"],
    }
    found: dict[str, float] = {"printed": len(numbers)}
    for name, part in groups.items():
        found[name] = len(part)
        found |= {f"{name} {verdict}": int((part["verdict"] == verdict).sum())
                  for verdict in VERDICTS}  # fmt: skip
    real = groups["numbers"]
    found["numbers within margin"] = int(real["within_margin"].eq(True).sum())
    found |= agreement.twins(real)
    found |= {kind: int((entries["kind"] == kind).sum()) for kind in KINDS[1:]}
    cells = distinct[distinct["where"].str.startswith("Table")]
    for metric in ("QWK", "CHR_ext"):
        differences = cells.loc[cells["metric"] == metric, "difference"]
        found[f"mean_abs_{metric}"] = float(differences.abs().mean())
    return found
