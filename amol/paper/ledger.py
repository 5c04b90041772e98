"""Paper against reproduction: a verdict for every published number and claim.

``ledger(runs)`` takes the frame of `amol.experiments.run_study` and knows nothing of how runs were
made.
"""

import re
from math import hypot, isnan
from pathlib import Path

import numpy as np
import pandas as pd

import amol.paper.rules_on_data  # noqa: F401  (enters its rules)
from amol.metrics import METRICS, PROBABILITY_METRICS
from amol.paper.published import CLAIMS, PAPER_SEEDS, PLACES, PUBLISHED, Claim
from amol.paper.rules_on_runs import (
    DIRECTION,
    REFUTED,
    REPRODUCED,
    RULES,
    UNTESTED,
    VERDICTS,
    CannotTest,
    Cell,
    Evidence,
    ranking,
)

EXPECTED = Path(__file__).parent / "data" / "expected_verdicts.csv"
NUMBER_RULE = (
    "Reproduced if |ours − paper| ≤ 2·sqrt(s_ours² + s_paper²), with s_paper at least half a unit "
    "of the last printed decimal; direction only if outside, but on the paper's side of CE."
)
COLUMNS = [
    "id", "kind", "where", "dataset", "method", "metric", "claim", "paper_mean", "paper_std",
    "ours_mean", "ours_std", "seeds", "difference", "in_units_of_combined_std", "rule", "verdict",
    "reason", "paper_verdict", "expected", "href",
]  # fmt: skip


def evidence_of_runs(runs: pd.DataFrame) -> Evidence:
    """Mean, std (ddof 1) and number of seeds of each cell; a failed run (NaN) counts for none."""
    metrics = [name for name in [*METRICS, *PROBABILITY_METRICS] if name in runs]
    long = runs.melt(["dataset", "method"], metrics, "metric")
    found = long.groupby(["dataset", "method", "metric"])["value"].agg(["mean", "std", "count"])
    cells = {key: Cell(*row) for key, row in zip(found.index, found.to_numpy(), strict=True)}
    return Evidence(cells, runs.groupby("dataset")["split_seed"].first().to_dict())


def evidence_of_paper(numbers: pd.DataFrame) -> Evidence:
    """The printed numbers; a missing std stands at half a unit of the last decimal."""
    floors = 0.5 * 10.0 ** -numbers["digits"]
    keys = zip(numbers["dataset"], numbers["method"], numbers["metric"], strict=True)
    values = zip(numbers["mean"], numbers["std"].fillna(floors), strict=True)
    return Evidence({k: Cell(*v, PAPER_SEEDS) for k, v in zip(keys, values, strict=True)})


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
        return row | {"verdict": UNTESTED, "reason": str(error)}
    difference = cell.mean - number.mean
    floor = 0.5 * 10.0**-number.digits
    spread = hypot(cell.std, floor if isnan(number.std) else max(number.std, floor))
    row |= {
        "ours_mean": cell.mean,
        "ours_std": cell.std,
        "seeds": cell.n,
        "difference": difference,
        "in_units_of_combined_std": abs(difference) / spread,
    }
    if abs(difference) <= 2 * spread:
        return row | {"verdict": REPRODUCED, "reason": ""}
    reason = f"{abs(difference) / spread:.1f} combined standard deviations apart"
    baseline = (number.dataset, "CE", number.metric)
    try:
        side = (number.mean - paper.cell(*baseline).mean) * (cell.mean - ours.cell(*baseline).mean)
    except CannotTest:
        return row | {"verdict": REFUTED, "reason": f"{reason}; no CE to tell the direction by"}
    return row | {"verdict": DIRECTION if side > 0 else REFUTED, "reason": reason}


def judge(claim: Claim, evidence: Evidence) -> tuple[str, str]:
    """Verdict and reason of one claim; a missing run gives *cannot be tested*, never an error."""
    if claim.verdict:
        return claim.verdict, claim.reason
    try:
        return ranking(evidence, claim) if claim.pairs else RULES[claim.id](evidence, claim)
    except CannotTest as error:
        return UNTESTED, str(error)


def _claim_row(claim: Claim, ours: Evidence, paper: Evidence) -> dict:
    verdict, reason = judge(claim, ours)
    return {
        "id": claim.id,
        "kind": "claim",
        "where": claim.where,
        "dataset": ", ".join(claim.datasets),
        "method": ", ".join(claim.methods),
        "metric": ", ".join(claim.metrics),
        "claim": claim.claim,
        "rule": claim.rule,
        "verdict": verdict,
        "reason": reason,
        "paper_verdict": judge(claim, paper)[0] if claim.metrics else "",
        "href": claim.href,
    }


def ledger(runs: pd.DataFrame, numbers: pd.DataFrame = PUBLISHED) -> pd.DataFrame:
    """One row a published number, then one a claim.

    Parameters
    ----------
    runs : DataFrame
        As `amol.experiments.study.run_study` returns; data sets and methods may be missing.
    numbers : DataFrame
        As `amol.paper.published.PUBLISHED`.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`. ``paper_verdict`` applies a claim's rule to the paper's own numbers.
        ``expected`` is the recorded verdict at default settings, empty before
        `record_expectations`.
    """
    ours, paper = evidence_of_runs(runs), evidence_of_paper(numbers)
    rows = [_number_row(number, ours, paper) for number in numbers.itertuples()]
    rows += [_claim_row(claim, ours, paper) for claim in CLAIMS]
    entries = pd.DataFrame(rows).reindex(columns=COLUMNS)
    expected = pd.read_csv(EXPECTED).set_index("id")["verdict"] if EXPECTED.exists() else {}
    entries["expected"] = [expected.get(name, "") for name in entries["id"]]
    return entries


def record_expectations(entries: pd.DataFrame) -> None:
    """Make the verdicts of ``entries`` the ones that `amol check` expects from now on."""
    entries[["id", "verdict"]].to_csv(EXPECTED, index=False, lineterminator="\n")


def balance(entries: pd.DataFrame) -> dict[str, float]:
    """Headline figures of a ledger.

    Returns
    -------
    dict
        ``numbers``, ``claims`` and, for each verdict, ``numbers reproduced`` and the like;
        ``within_two`` (share of tested numbers within two combined standard deviations);
        ``mean_abs_QWK`` and ``mean_abs_CHR_ext`` (mean |ours − paper| over the distinct cells of
        Tables 2 to 4).
    """
    found: dict[str, float] = {}
    for kind in ("number", "claim"):
        verdicts = entries.loc[entries["kind"] == kind, "verdict"]
        found[f"{kind}s"] = len(verdicts)
        found |= {f"{kind}s {verdict}": int((verdicts == verdict).sum()) for verdict in VERDICTS}
    numbers = entries[entries["kind"] == "number"]
    distances = numbers["in_units_of_combined_std"].dropna()
    found["within_two"] = float((distances <= 2).mean()) if len(distances) else np.nan
    cells = numbers[numbers["where"].str.startswith("Table")]
    cells = cells.drop_duplicates(["dataset", "method", "metric"])
    for metric in ("QWK", "CHR_ext"):
        differences = cells.loc[cells["metric"] == metric, "difference"]
        found[f"mean_abs_{metric}"] = float(differences.abs().mean())
    return found
