"""The ledger as a JSON document for other programs; ``files/ledger.schema.json`` describes it."""

import json
from pathlib import Path

import pandas as pd

from companion.paper.published import CLAIM

SCHEMA = Path(__file__).parent / "files" / "ledger.schema.json"
PAPER = "https://arxiv.org/abs/2609.10752"
NUMBERS = ("paper_mean", "paper_std", "ours_mean", "ours_std", "seeds", "difference",
           "standard_errors", "within_margin")  # fmt: skip
SHARES = ("stability", "worlds", "splits", "protocol", "seed_blocks")


def document(entries: pd.DataFrame, runs: pd.DataFrame) -> dict:
    """What `companion.claims.ledger.ledger` found, with the runs that each entry rests on.

    Parameters
    ----------
    entries : DataFrame
        From `companion.claims.ledger.ledger`.
    runs : DataFrame
        From `companion.run_study`: the ones behind ``entries``.

    Returns
    -------
    dict
        ``paper``, ``runs`` (by "data set/method/seed": key and digest of the weights) and
        ``entries``, each with its claim, rule, verdicts, stability, numbers and runs. What isn't
        there is None.
    """
    names = runs["dataset"] + "/" + runs["method"] + "/" + runs["seed"].astype(str)
    listed = dict(zip(names, runs[["key", "weights"]].to_dict("records"), strict=True))
    made = {
        "$schema": SCHEMA.name,
        "paper": PAPER,
        "runs": listed,
        "entries": [_entry(entry, runs, names) for entry in entries.to_dict("records")],
    }
    return json.loads(json.dumps(made), parse_constant=lambda _: None)  # no NaN in JSON


def _entry(entry: dict, runs: pd.DataFrame, names: pd.Series) -> dict:
    lists = {
        f"{name}s": [each for each in str(entry[name]).split(", ") if each and each != "nan"]
        for name in ("dataset", "method", "metric")
    }
    behind = runs["dataset"].isin(lists["datasets"]) & runs["method"].isin(lists["methods"])
    number, claim = entry["kind"] == "number", entry["kind"] == CLAIM
    return {
        "id": entry["id"],
        "kind": entry["kind"],
        "where": entry["where"],
        "claim": None if number else entry["claim"],
        "rule": entry["rule"],
        **lists,
        "verdicts": {
            "ours": entry["verdict"] or None,
            "paper": (entry["paper_verdict"] or None) if claim else None,
            "expected": entry["expected"] or None,
        },
        "reason": entry["text"],
        "stability": {name: entry[name] for name in SHARES} if claim else None,
        "numbers": {name: entry[name] for name in NUMBERS} if number else None,
        "page": entry["href"],
        "runs": names[behind].tolist(),
    }


def write(folder: Path, entries: pd.DataFrame, runs: pd.DataFrame) -> None:
    """Write ``ledger.json`` and its schema."""
    text = json.dumps(document(entries, runs), ensure_ascii=False, indent=1)
    (folder / "ledger.json").write_text(text + "\n", encoding="utf-8")
    (folder / SCHEMA.name).write_bytes(SCHEMA.read_bytes())
