"""The ledger as JSON: it fits its schema, says what the table says, and names its runs."""

import copy
import json

import jsonschema
import pytest
from test_ledger import faithful, ledger  # noqa: F401

from companion.claims.ledger_document import SCHEMA, document, write
from companion.claims.stability import recorded_worlds

RULES = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.fixture
def runs(faithful):  # noqa: F811
    keys = [f"{number:064x}" for number in range(len(faithful))]
    return faithful.assign(key=keys, weights="0123456789abcdef")


def test_the_document_fits_its_schema_and_says_what_the_table_says(runs, tmp_path):
    entries = ledger(runs)
    write(tmp_path, entries, runs)
    made = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    RULES.validate(made)
    assert (tmp_path / made["$schema"]).read_bytes() == SCHEMA.read_bytes()
    assert [each["id"] for each in made["entries"]] == entries["id"].tolist()
    for each, row in zip(made["entries"], entries.to_dict("records"), strict=True):
        assert each["verdicts"]["ours"] == (row["verdict"] or None)
        assert (each["numbers"] is not None) == (row["kind"] == "number")
        assert (each["stability"] is not None) == (row["kind"] == "claim")
        if row["kind"] == "number":
            assert each["numbers"]["paper_mean"] == row["paper_mean"]
            assert len(each["runs"]) == 5


def test_runs_are_those_of_the_entrys_cells(runs):
    made = document(ledger(runs), runs)
    named = {each["id"]: each["runs"] for each in made["entries"]}
    entries = ledger(runs)
    asked = entries.query("kind == 'number' and dataset == 'Wine Red' and method == 'AMOL'")
    assert named[asked["id"].iloc[0]] == [f"Wine Red/AMOL/{seed}" for seed in range(5)]
    assert named["worst-distance"] == []
    assert set().union(*named.values()) <= set(made["runs"])


def test_missing_runs_leave_gaps_that_the_schema_allows(runs):
    few = runs[runs["method"] == "CE"]
    made = document(ledger(few), few)
    RULES.validate(made)
    assert any(each["verdicts"]["ours"] == "cannot be tested" for each in made["entries"])
    assert "NaN" not in json.dumps(made)


def test_the_schema_refuses_a_verdict_that_there_is_not(runs):
    made = document(ledger(runs), runs)
    wrong = copy.deepcopy(made)
    wrong["entries"][0]["verdicts"]["ours"] = "plausible"
    with pytest.raises(jsonschema.ValidationError):
        RULES.validate(wrong)


@pytest.mark.slow
def test_stability_fits_the_schema_too(runs):
    from companion.claims import ledger as module

    RULES.validate(document(module.ledger(runs, worlds=recorded_worlds()), runs))
