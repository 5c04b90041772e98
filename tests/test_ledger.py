"""Verdicts follow from the numbers: change a published one or a run, and they change."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as t_distribution

from amol.losses import PAPER_METHODS
from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.claims import ledger as module
from companion.claims.agreement import twins, within_margin
from companion.claims.evidence import (
    TAIL_METRICS,
    Cell,
    apart,
    evidence_of_runs,
    level,
    near,
)
from companion.claims.findings import FINDINGS
from companion.claims.ledger import COLUMNS, balance, record_expectations
from companion.claims.rules_on_runs import RULES
from companion.claims.stability import World, judge, protocol_worlds, split_worlds, stability
from companion.claims.tails import certainty
from companion.claims.verdicts import VERDICTS, Verdict, weigh
from companion.claims.verdicts import verdict as rated
from companion.data.datasets import DATASETS
from companion.page.ledger_page import claim_cells, claim_map, moved_verdicts, part_of
from companion.paper.published import (
    CLAIM,
    CLAIMS,
    KINDS,
    PUBLISHED,
    REVISIONS,
    STATEMENTS,
    published,
)


def ledger(runs, numbers=PUBLISHED):
    """The ledger without stability, which only recordings decide."""
    return module.ledger(runs, numbers, worlds=())


SPREAD = np.array([-2, -1, 0, 1, 2]) / math.sqrt(2.5)  # mean 0, std (ddof 1) 1


@pytest.fixture(scope="module")
def faithful() -> pd.DataFrame:
    """Runs whose means and stds are the published ones; elsewhere a value that says nothing."""
    rows = []
    for dataset in DATASETS:
        for method in PAPER_METHODS:
            frame = {"dataset": dataset, "method": method, "seed": range(5), "split_seed": 42}
            for metric in [*METRICS, *PROBABILITY_METRICS, *TAIL_METRICS]:
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


def test_the_yardstick_by_hand():
    # standard errors .1/√5 each, of the difference .0632; two of them .1265
    assert level(Cell(1.13, 0.1, 5), Cell(1.0, 0.1, 5)) == 2
    assert level(Cell(1.12, 0.1, 5), Cell(1.0, 0.1, 5)) == 1
    assert level(Cell(1.0, 0.1, 5), Cell(1.0, 0.1, 5)) == 0
    assert level(Cell(1.0, 0.1, 5), Cell(1.12, 0.1, 5)) == -1
    assert level(Cell(1.0, 0.1, 5), Cell(1.13, 0.1, 5)) == -2
    assert apart(Cell(1.13, 0.1, 5), Cell(1.0, 0.1, 5)) == pytest.approx(2.0555, abs=1e-4)
    # rounding takes .01 off the gap: .12 / .0632
    assert near(Cell(1.13, 0.1, 5), Cell(1.0, 0.1, 5, rounding=0.01))
    # of a single run nobody knows the spread: above, never clearly
    assert level(Cell(9.0, math.nan, 1), Cell(1.0, math.nan, 1)) == 1


def test_verdicts_of_comparisons():
    cases = [([2, 2], "reproduced"), ([2, 1], "direction only"), ([2, 0], "undecided"),
             ([2, 2, -1], "undecided"), ([2, 2, -2], "not reproduced"),
             ([], "cannot be tested")]  # fmt: skip
    for levels, expected in cases:
        assert weigh(levels) == expected
    assert [rated(clear=c, partly=p) for c, p in ((1, 0), (0, 1), (0, 0))] == [
        Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.REFUTED
    ]  # fmt: skip


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
    assert verdict(entries, "best-of-any") == "undecided"  # .599 on Wine White, not clearly
    assert verdict(entries, "asym-eliminates") == "reproduced"
    assert verdict(entries, "abalone-extreme-samples") == "reproduced"
    assert numbers["within_margin"].sum() > 30  # their spread alone keeps the rest out
    others = entries[~entries["kind"].isin(("number", "claim"))].set_index("id")
    assert (others["verdict"] == "").all() and (others["text"].str.len() > 0).all()
    assert others.loc["oll-identical", "text"].startswith("OLL not the same")
    assert others.loc["property-center-label", "text"] == "fails for K = 6"


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
    # .38 ± .005 of rounding; standard errors .005/√5 and .001/√5, of the difference .00228
    name = "section-6-abalone-amol-accuracy"
    for value, expected in ((0.3895, "reproduced"), (0.3897, "not reproduced")):
        assert verdict(ledger(changed(faithful, "Abalone", "AMOL", "accuracy", value)), name) == (
            expected
        )


# claim, cell to change, value, verdict
CASES = [
    ("best-or-tied-qwk", ("Wine Red", "SORD", "QWK"), 0.9, "not reproduced"),
    ("lower-chr-ext", ("Synthetic", "AMOL", "CHR_ext"), 0.9, "not reproduced"),
    ("best-chr-ext", ("Synthetic", "SORD", "CHR_ext"), 0.0, "not reproduced"),
    ("synthetic-chr-zero", ("Synthetic", "AMOL", "CHR"), 0.1, "direction only"),
    ("synthetic-chr-zero", ("Synthetic", "AMOL", "CHR"), 0.9, "not reproduced"),
    ("asym-eliminates", ("Abalone", "AMOL-asym", "CHR"), 0.03, "direction only"),
    ("oll-inconsistent", ("Wine Red", "OLL", "CHR_ext"), 0.4, "reproduced"),
    ("other-losses-reduce", ("Abalone", "SORD", "CHR_ext"), 0.4, "not reproduced"),
    ("margins-over-ce", ("Abalone", "AMOL", "QWK"), 0.69, "not reproduced"),
    ("wine-white-reduction", ("Wine White", "AMOL-asym", "CHR_ext"), 0.25, "direction only"),
    ("wine-white-reduction", ("Wine White", "AMOL-asym", "CHR_ext"), 0.35, "not reproduced"),
    ("wine-white-reduction", ("Wine White", "CE", "CHR_ext"), math.nan, "cannot be tested"),
    ("direction-critical", ("Abalone", "AMOL-exp", "CHR"), 0.0002, "not reproduced"),
    ("form-does-not-matter", ("Abalone", "AMOL-exp", "QWK"), 0.735, "direction only"),
    ("amol-ce-near-baseline", ("Abalone", "AMOL-CE", "MAE"), 0.9, "direction only"),
    ("linear-is-steadier", ("Abalone", "AMOL", "CHR"), 0.05, "undecided"),
    ("less-certain-overall", ("Wine White", "AMOL-asym", "entropy"), 0.9, "reproduced"),
    ("fig2-ce-concentrates", ("Wine White", "CE", "near_center"), 0.7, "reproduced"),
    ("kl-is-stable-base", ("Abalone", "AMOL-CE", "QWK"), 0.9, "not reproduced"),
    ("clearest-effects", ("Wine Red", "AMOL", "QWK"), 0.9, "not reproduced"),
    ("asym-near-zero", ("Abalone", "AMOL-asym", "CHR_ext"), 0.05, "not reproduced"),
    ("strongest-on-abalone", ("Abalone", "AMOL-asym", "CHR_ext"), 0.06, "not reproduced"),
    ("fig2-center-mass", ("Wine White", "AMOL-asym", "center_mass"), 0.1, "reproduced"),
]


@pytest.mark.parametrize(("name", "cell", "value", "expected"), CASES)
def test_claims_follow_the_runs(faithful, name, cell, value, expected):
    claim = next(claim for claim in CLAIMS if claim.id == name)
    before, _ = judge(claim, evidence_of_runs(faithful))
    after, _ = judge(claim, evidence_of_runs(changed(faithful, *cell, value)))
    assert after == expected != before


def test_a_default_to_the_center_is_left_only_where_there_was_one(faithful):
    claim = next(claim for claim in CLAIMS if claim.id == "no-longer-center")

    def judged(asym, base):
        runs = changed(faithful, "Wine White", "AMOL-asym", "center_lead", asym)
        runs = changed(runs, "Wine White", "CE", "center_lead", base)
        return judge(claim, evidence_of_runs(runs))[0]

    # spread .001: two standard errors of a mean are .0009
    assert judged(-0.01, 0.01) == "reproduced" and judged(-0.01, 0.0005) == "direction only"
    assert judged(-0.01, -0.01) == "undecided" and judged(0.01, 0.01) == "not reproduced"


def test_any_compared_method_is_one_whose_qwk_the_paper_prints():
    claim = next(claim for claim in CLAIMS if claim.id == "best-of-any")
    printed = PUBLISHED[(PUBLISHED["metric"] == "QWK") & (PUBLISHED["method"] != "AMOL")]
    cells = set(zip(printed["dataset"], printed["method"], strict=True))
    assert {(dataset, worse) for dataset, _, _, worse in claim.comparisons} == cells
    assert len(claim.comparisons) == len(cells)


@pytest.mark.parametrize("name", ["ce-hedges", "excess-at-center", "tails-underconfident"])
def test_what_exceeds_the_belief_is_judged_with_the_error_of_samples(faithful, name):
    claim = next(claim for claim in CLAIMS if claim.id == name)
    what = claim.metrics[0].removesuffix("_excess")

    def judged(excess, error):
        runs = faithful
        for dataset in claim.datasets:
            runs = changed(runs, dataset, "CE", f"{what}_excess", excess)
            runs = changed(runs, dataset, "CE", f"{what}_error", error)
        return judge(claim, evidence_of_runs(runs))[0]

    # the spread of seeds is .001 and adds next to nothing
    assert judged(0.021, 0.01) == "reproduced" and judged(0.019, 0.01) == "direction only"
    assert judged(-0.019, 0.01) == "undecided" and judged(-0.021, 0.01) == "not reproduced"


def test_findings_say_what_recordings_measure(faithful):
    found = ledger(faithful).set_index("id")["text"]
    assert found["more-classes-left-open"].startswith("QWK of AMOL and CE: ERA 0.5")
    assert found["monotone-left-open"].endswith("fails for K = 6, K = 7.")
    assert "(K = 6)" in found["monotone-left-open"]
    assert found["proper-left-open"].startswith("Strictly proper: no.")


def test_each_claim_has_one_way_to_a_verdict_and_all_else_one_to_a_finding():
    for each in STATEMENTS:
        if each.kind == CLAIM:
            ways = [bool(each.verdict), bool(each.pairs), each.id in RULES]
        else:
            ways = [bool(each.reason), each.id in FINDINGS]
            assert not each.pairs and not each.verdict
        assert sum(ways) == 1, each.id
    assert set(RULES) <= {claim.id for claim in CLAIMS}
    assert set(FINDINGS) <= {each.id for each in STATEMENTS} - {claim.id for claim in CLAIMS}


def check_complete(entries):
    judged = entries["kind"].isin(("number", "claim"))
    assert entries.loc[judged, "verdict"].isin(VERDICTS).all()
    assert (entries.loc[~judged, "text"].str.len() > 0).all()
    untested = entries["verdict"] == "cannot be tested"
    assert (entries.loc[untested, "text"].str.len() > 0).all()


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


def test_a_clear_counter_example_refutes_in_spite_of_missing_runs(faithful):
    claim = next(claim for claim in CLAIMS if claim.id == "best-of-any")
    part = faithful[faithful["dataset"] != "Synthetic"]
    assert judge(claim, evidence_of_runs(part))[0] == "cannot be tested"
    found, reason = judge(claim, evidence_of_runs(changed(part, "Abalone", "OLL", "QWK", 0.9)))
    assert found == "not reproduced"
    assert "weakest: AMOL 0.165 below OLL on Abalone" in reason


def test_where_cross_entropy_has_no_hedging_there_is_nothing_to_remove(faithful):
    claim = next(claim for claim in CLAIMS if claim.id == "synthetic-chr-zero")
    runs = faithful.copy()
    runs.loc[runs["dataset"] == "Synthetic", "CHR"] = 0.0
    assert judge(claim, evidence_of_runs(runs))[0] == "undecided"


def test_balance_counts_distinct_numbers_once_and_the_generated_apart(faithful):
    found = balance(ledger(faithful))
    assert found["printed"] == 55
    assert found["numbers"] == found["numbers reproduced"] == 42
    assert found["generated"] == found["generated reproduced"] == 9
    assert found["claims"] == len(CLAIMS) == sum(found[f"claims {name}"] for name in VERDICTS)
    assert sum(found[kind] for kind in KINDS[1:]) == len(STATEMENTS) - len(CLAIMS)
    assert found["mean_abs_QWK"] == pytest.approx(0, abs=1e-12)
    off = changed(faithful, "Synthetic", "AMOL", "QWK", 0.871 + 0.2)
    off = changed(off, "Wine White", "AMOL-asym", "QWK", 0.9)  # in the text, in no table
    found = balance(ledger(off))
    # Tables 2 to 4 hold 20 distinct cells of QWK
    assert found["mean_abs_QWK"] == pytest.approx(0.2 / 20)
    assert found["numbers reproduced"] == 41 and found["generated reproduced"] == 8


def test_stability_is_the_share_of_worlds(faithful):
    claim = next(claim for claim in CLAIMS if claim.id == "consistent-qwk")
    one = faithful[faithful["seed"] == 0]  # no spread is known of one run per cell
    worse = one.copy()
    worse.loc[(worse["dataset"] == "Abalone") & (worse["method"] == "AMOL"), "QWK"] = 0.1
    there = pd.concat([one.assign(split_seed=0), worse.assign(split_seed=1)])
    worlds = split_worlds(there)
    assert [world.name for world in worlds] == ["split 0", "split 1"]
    three = worse[worse["dataset"] != "Abalone"]  # judged where it has data
    worlds.append(World("protocol", "x", evidence_of_runs(three, least_seeds=1)))
    found = stability(claim, worlds)
    assert found["worlds"] == 3 and found["stability"] == pytest.approx(2 / 3)
    assert found["splits"] == 0.5 and found["protocol"] == 1 and math.isnan(found["seeds"])
    lacking = stability(claim, split_worlds(there[there["method"] != "CE"]))
    assert lacking["worlds"] == 0 and math.isnan(lacking["stability"])
    data = next(claim for claim in CLAIMS if claim.id == "dataset-sizes")
    assert stability(data, worlds)["worlds"] == 0


def test_another_answer_for_one_method_keeps_the_runs_of_the_others():
    question = "Which loss is OLL?"
    rows = pd.DataFrame(
        [("", "as chosen", "CE", 0.5), ("", "as chosen", "OLL", 0.6),
         (question, "Castagnos, power 1", "OLL-Castagnos", 0.7)],
        columns=["question", "alternative", "method", "QWK"],
    ).assign(dataset="Abalone", seed=0, split_seed=42)  # fmt: skip
    (world,) = protocol_worlds(rows)
    assert world.name == f"{question} Castagnos, power 1"
    means = {method: cell.mean for (_, method, _), cell in world.evidence.cells.items()}
    assert means == {"CE": 0.5, "OLL": 0.7}


def test_certainty_at_the_tails_by_hand():
    y = np.array([0, 4, 2])  # of five classes the middle one is no end
    p = np.array([[0.5, 0.5, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0]])
    found = certainty(y, p)
    assert set(found) == set(TAIL_METRICS)
    assert found["entropy"] == pytest.approx(math.log(2) / 2)
    assert found["near_center"] == pytest.approx(0.25)
    assert found["center_lead"] == pytest.approx(-0.75)  # mean (.75, .25, 0, 0, 0)
    assert found["tail_seen"] == pytest.approx(0.5) and found["tail_asked"] == pytest.approx(0.75)
    assert found["hedging_seen"] == 0 and found["center_excess"] == 0


def test_the_margin_takes_the_whole_interval():
    # standard errors .01/√5 each; two of the difference are .01265, which leaves .00735 of .02
    a = Cell(0.5, 0.01, 5)
    assert within_margin(a, Cell(0.5073, 0.01, 5)) and not within_margin(a, Cell(0.5074, 0.01, 5))
    assert not within_margin(a, Cell(0.5073, 0.01, 5, rounding=0.0005))
    assert not within_margin(a, Cell(0.5, math.nan, 1))


def test_twins_agree_as_often_as_t_with_eight_degrees_of_freedom_says(faithful):
    numbers = ledger(faithful).query("kind == 'number'").assign(paper_std=1.0, ours_std=1.0)
    found = twins(numbers)  # rounding is small beside a spread of 1
    share = 1 - 2 * t_distribution.sf(2, 8)
    assert found["twins"] / len(numbers) == pytest.approx(share, abs=0.004)
    assert found["twins_low"] < found["twins"] < found["twins_high"] <= len(numbers)


def test_revisions_name_claims_and_verdicts_that_exist():
    known = {*ledger(pd.DataFrame(columns=["dataset", "method", "split_seed", *METRICS]))["id"]}
    changes = [change for revision in REVISIONS for change in revision.changed]
    known |= {change["id"] for change in changes if change["after"] == "dropped"}
    states = {*VERDICTS, *KINDS[1:]}
    for revision in REVISIONS:
        assert revision.what and revision.why and set(revision.claims) <= known
    for change in changes:
        assert change["id"] in known and change["before"] != change["after"]
        assert change["before"] in {*states, "entered"} and change["after"] in {*states, "dropped"}
    now = {change["id"]: change["after"] for change in changes}  # the last of each
    for each in STATEMENTS:
        if each.kind == CLAIM:
            assert now.get(each.id, VERDICTS[0]) in VERDICTS
        else:
            assert now.get(each.id, each.kind) == each.kind
    counts = moved_verdicts()
    left = [c for c in changes if c["after"] not in VERDICTS and c["before"] in VERDICTS]
    assert counts["left"] <= len(left) and sum(counts.values()) <= len(changes)


def test_the_map_has_a_mark_for_each_claim_that_leads_to_its_row(faithful):
    entries = ledger(faithful)
    claims = entries[entries["kind"] == CLAIM].set_index("id")
    marks = re.findall(r'href="#(claim-[\w-]+)"', claim_map(claims))
    rows = re.findall(r'<a id="(claim-[\w-]+)">', " ".join(claim_cells(claims).index))
    assert sorted(marks) == sorted(rows) == sorted(f"claim-{name}" for name in claims.index)
    assert (
        part_of("Section 4.2 ¶1.1") == "Section 4"
        and part_of("Table 4") == "Section 6"
        and part_of("Section 5.1 ¶1.2; Table 2") == "Section 5.1"
    )
    with pytest.raises(ValueError, match=r"no section holds 'Section 9 ¶1\.1'; allowed: Abstract"):
        part_of("Section 9 ¶1.1")


def test_expectations_round_trip(faithful, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "EXPECTED", tmp_path / "expected.csv")
    entries = ledger(faithful)
    assert (entries["expected"] == "").all()
    record_expectations(entries)
    again = ledger(changed(faithful, "Wine White", "AMOL", "QWK", 0.40))
    surprises = again.loc[again["verdict"] != again["expected"], "id"]
    assert "table-2-wine-white-amol-qwk" in set(surprises)
    assert (ledger(faithful)["verdict"] == entries["verdict"]).all()
