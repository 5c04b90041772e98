"""Verdicts follow from the numbers: change a published one or a run, and they change."""

import math

import numpy as np
import pandas as pd
import pytest

from amol.experiments.datasets import DATASETS
from amol.losses import PAPER_METHODS
from amol.metrics import METRICS, PROBABILITY_METRICS
from amol.paper import ledger as module
from amol.paper.ledger import (
    COLUMNS,
    balance,
    evidence_of_paper,
    evidence_of_runs,
    judge,
    ledger,
    record_expectations,
)
from amol.paper.published import CLAIMS, PUBLISHED, published
from amol.paper.rules_on_runs import RULES, VERDICTS, Cell, above, grade, near, share

SPREAD = np.array([-2, -1, 0, 1, 2]) / math.sqrt(2.5)  # mean 0, std (ddof 1) 1


@pytest.fixture(scope="module")
def faithful() -> pd.DataFrame:
    """Runs whose means and stds are the published ones; elsewhere a value that says nothing."""
    rows = []
    for dataset in DATASETS:
        for method in PAPER_METHODS:
            frame = {"dataset": dataset, "method": method, "seed": range(5), "split_seed": 42}
            for metric in [*METRICS, *PROBABILITY_METRICS]:
                mean, std = published(dataset, method, metric) or (0.5, 0.01)
                frame[metric] = mean + SPREAD * (0.0 if math.isnan(std) else std)
            rows.append(pd.DataFrame(frame))
    return pd.concat(rows, ignore_index=True)


def changed(runs, dataset, method, metric, value) -> pd.DataFrame:
    runs = runs.copy()
    rows = (runs["dataset"] == dataset) & (runs["method"] == method)
    runs.loc[rows, metric] = value + SPREAD * 0.001
    return runs


def verdict(entries: pd.DataFrame, name: str) -> str:
    return entries.set_index("id").loc[name, "verdict"]


def test_levels():
    # standard errors .1/√5 each: 2·sqrt(2·.002) = .1265
    assert above(Cell(1.13, 0.1, 5), Cell(1.0, 0.1, 5)) == 2
    assert above(Cell(1.12, 0.1, 5), Cell(1.0, 0.1, 5)) == 1
    assert above(Cell(1.0, 0.1, 5), Cell(1.0, 0.1, 5)) == 0
    # combined std sqrt(.03² + .04²) = .05
    assert near(Cell(1.0, 0.03, 5), Cell(1.099, 0.04, 5))
    assert not near(Cell(1.0, 0.03, 5), Cell(1.101, 0.04, 5))
    assert [grade(2, 2), grade(2, 1), grade(2, 0, 1)] == list(VERDICTS[:3])
    assert [share([True] * 2), share([True, False]), share([False])] == list(VERDICTS[:3])


def test_faithful_runs_reproduce_every_number(faithful):
    entries = ledger(faithful)
    assert list(entries.columns) == COLUMNS
    assert entries["id"].is_unique
    numbers = entries[entries["kind"] == "number"]
    assert len(numbers) == 55
    assert (numbers["verdict"] == "reproduced").all()
    assert (numbers["seeds"] == 5).all()
    assert numbers["difference"].abs().max() < 1e-9
    assert verdict(entries, "best-qwk") == "direction only"  # .735 ± .003 against .731 ± .005
    assert verdict(entries, "consistent-qwk") == "reproduced"
    assert verdict(entries, "best-of-any") == "not reproduced"  # .599 on Wine White
    assert verdict(entries, "asym-eliminates") == "reproduced"
    assert verdict(entries, "abalone-extreme-samples") == "reproduced"
    assert verdict(entries, "oll-identical") == "not reproduced"
    assert verdict(entries, "property-center-label") == "direction only"  # K = 6 has no center


def test_a_flipped_run_changes_its_number_and_its_claims(faithful):
    name = "table-2-wine-white-amol-qwk"  # .594 ± .005, CE .530
    better = ledger(changed(faithful, "Wine White", "AMOL", "QWK", 0.70))
    assert verdict(better, name) == "direction only"
    worse = ledger(changed(faithful, "Wine White", "AMOL", "QWK", 0.40))
    assert verdict(worse, name) == "not reproduced"
    assert verdict(worse, "consistent-qwk") == "not reproduced"
    before = ledger(faithful).set_index("id")["verdict"]
    after = worse.set_index("id")["verdict"]
    numbers = [entry for entry in before.index if entry[:5] in ("table", "secti")]
    assert [entry for entry in numbers if before[entry] != after[entry]] == [name]


def test_a_flipped_published_number_changes_its_verdict(faithful):
    numbers = PUBLISHED.copy()
    row = (numbers["dataset"] == "Wine Red") & (numbers["method"] == "OLL")
    row &= numbers["metric"] == "CHR_ext"
    numbers.loc[row, "mean"] = 0.100
    before, after = ledger(faithful).set_index("id"), ledger(faithful, numbers).set_index("id")
    assert before.loc["table-3-wine-red-oll-chr_ext", "verdict"] == "reproduced"
    assert after.loc["table-3-wine-red-oll-chr_ext", "verdict"] == "not reproduced"
    assert before.loc["oll-worse-wine-red", "paper_verdict"] == "direction only"
    assert after.loc["oll-worse-wine-red", "paper_verdict"] == "not reproduced"


def test_a_printed_number_without_std_stands_for_its_rounding(faithful):
    # .38 with a floor of .005 against a std of .001: 2·sqrt(.005² + .001²) = .0102
    name = "section-6-abalone-amol-accuracy"
    for value, expected in ((0.390, "reproduced"), (0.391, "not reproduced")):
        assert verdict(ledger(changed(faithful, "Abalone", "AMOL", "accuracy", value)), name) == (
            expected
        )


# claim, cell to change, value, verdict
CASES = [
    ("ce-hedges", ("Abalone", "CE", "CHR_ext"), 0.0, "not reproduced"),
    ("best-or-tied-qwk", ("Wine Red", "SORD", "QWK"), 0.9, "direction only"),
    ("lower-chr-ext", ("Synthetic", "AMOL", "CHR_ext"), 0.9, "not reproduced"),
    ("best-chr-ext", ("Synthetic", "SORD", "CHR_ext"), 0.0, "not reproduced"),
    ("synthetic-chr-zero", ("Synthetic", "AMOL", "CHR"), 0.1, "direction only"),
    ("synthetic-chr-zero", ("Synthetic", "AMOL", "CHR"), 0.9, "not reproduced"),
    ("asym-eliminates", ("Abalone", "AMOL-asym", "CHR"), 0.03, "direction only"),
    ("oll-inconsistent", ("Wine Red", "OLL", "CHR_ext"), 0.4, "reproduced"),
    ("orthogonal", ("Abalone", "OLL", "CHR_ext"), 0.4, "not reproduced"),
    ("wine-white-reduction", ("Wine White", "AMOL-asym", "CHR_ext"), 0.25, "direction only"),
    ("wine-white-reduction", ("Wine White", "AMOL-asym", "CHR_ext"), 0.35, "not reproduced"),
    ("wine-white-reduction", ("Wine White", "CE", "CHR_ext"), math.nan, "cannot be tested"),
    ("direction-critical", ("Abalone", "AMOL-exp", "CHR"), 0.0002, "direction only"),
    ("form-does-not-matter", ("Abalone", "AMOL-exp", "QWK"), 0.6, "not reproduced"),
    ("amol-ce-near-baseline", ("Abalone", "AMOL-CE", "CHR"), 0.074, "reproduced"),
    ("kl-is-stable-base", ("Abalone", "AMOL-CE", "QWK"), 0.9, "not reproduced"),
    ("clearest-effects", ("Wine Red", "AMOL", "QWK"), 0.9, "not reproduced"),
    ("excess-at-center", ("Abalone", "CE", "center_rate"), 0.1, "not reproduced"),
    ("low-chr-less-biased", ("Abalone", "AMOL-asym", "center_rate"), 0.9, "direction only"),
    ("fig2-center-mass", ("Wine White", "AMOL-asym", "center_mass"), 0.1, "reproduced"),
]


@pytest.mark.parametrize(("name", "cell", "value", "expected"), CASES)
def test_claims_follow_the_runs(faithful, name, cell, value, expected):
    claim = next(claim for claim in CLAIMS if claim.id == name)
    before, _ = judge(claim, evidence_of_runs(faithful))
    after, _ = judge(claim, evidence_of_runs(changed(faithful, *cell, value)))
    assert after == expected != before


def test_each_claim_has_exactly_one_way_to_a_verdict():
    for claim in CLAIMS:
        ways = [bool(claim.verdict), bool(claim.pairs), claim.id in RULES]
        assert sum(ways) == 1, claim.id
    assert set(RULES) <= {claim.id for claim in CLAIMS}


def check_complete(entries):
    assert entries["verdict"].isin(VERDICTS).all()
    untested = entries["verdict"] == "cannot be tested"
    assert (entries.loc[untested, "reason"].str.len() > 0).all()


@pytest.mark.parametrize("method", PAPER_METHODS)
def test_a_missing_method_leaves_no_entry_without_verdict(faithful, method):
    entries = ledger(faithful[faithful["method"] != method])
    check_complete(entries)
    numbers = entries[(entries["kind"] == "number") & (entries["method"] == method)]
    assert (numbers["verdict"] == "cannot be tested").all()


def test_few_runs_leave_no_entry_without_verdict(faithful):
    for few in (
        faithful[:0],
        faithful[faithful["seed"] == 0],
        faithful[faithful["dataset"] == "Wine Red"],
        faithful.assign(CHR=math.nan),
        faithful.drop(columns="center_mass"),
    ):
        check_complete(ledger(few))
    one_seed = ledger(faithful[faithful["seed"] == 0])
    assert (one_seed.loc[one_seed["kind"] == "number", "verdict"] == "cannot be tested").all()


def test_a_counter_example_refutes_in_spite_of_missing_runs():
    claim = next(claim for claim in CLAIMS if claim.id == "best-of-any")
    found, reason = judge(claim, evidence_of_paper(PUBLISHED))
    assert found == "not reproduced"
    assert "AMOL against AMOL-asym, QWK on Wine White, by -0.005" in reason


def test_balance(faithful):
    found = balance(ledger(faithful))
    assert found["numbers"] == found["numbers reproduced"] == 55
    assert found["claims"] == len(CLAIMS) == sum(found[f"claims {name}"] for name in VERDICTS)
    assert found["within_two"] == 1
    assert found["mean_abs_QWK"] == pytest.approx(0, abs=1e-12)
    off = changed(faithful, "Synthetic", "AMOL", "QWK", 0.871 + 0.2)
    off = changed(off, "Wine White", "AMOL-asym", "QWK", 0.9)  # in the text, in no table
    found = balance(ledger(off))
    # Tables 2 to 4 hold 20 distinct cells of QWK
    assert found["mean_abs_QWK"] == pytest.approx(0.2 / 20)
    assert found["within_two"] == pytest.approx(53 / 55)


def test_expectations_round_trip(faithful, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EXPECTED", tmp_path / "expected.csv")
    entries = ledger(faithful)
    assert (entries["expected"] == "").all()
    record_expectations(entries)
    again = ledger(changed(faithful, "Wine White", "AMOL", "QWK", 0.40))
    surprises = again.loc[again["verdict"] != again["expected"], "id"]
    assert "table-2-wine-white-amol-qwk" in set(surprises)
    assert (ledger(faithful)["verdict"] == entries["verdict"]).all()
