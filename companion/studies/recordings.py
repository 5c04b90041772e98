"""Recordings: rows kept in the repository, each a CSV file and a note in JSON beside it.

A recording says itself what it holds: data sets, methods and columns are those of its file,
whatever has joined the registries of losses, metrics and data sets since.
"""

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import torch

from companion.host import processor
from companion.paths import ROOT, whole_file

DECIMALS = 6  # of a metric, where not every digit is kept
TYPES = {"failed": "Int64", "weights": str, "key": str}  # digests may look like numbers


def folder() -> Path:
    """Where recordings lie."""
    return ROOT / "book" / "recorded"


def made(name: str) -> bool:
    """Whether there is a recording of this name."""
    return all((folder() / f"{name}.{kind}").exists() for kind in ("csv", "json"))


def load(name: str) -> pd.DataFrame:
    """Recorded rows: what tells them apart, what was measured, a key of what they rest on."""
    if not made(name):
        known = sorted(file.stem for file in folder().glob("*.csv") if made(file.stem))
        raise ValueError(f"unknown recording {name!r}; allowed: {', '.join(known)}")
    return pd.read_csv(folder() / f"{name}.csv", dtype=TYPES)


def note(name: str) -> dict:
    """What `keep` was given with a recording, the machine and the day."""
    return json.loads((folder() / f"{name}.json").read_text())


def keep(name: str, rows: pd.DataFrame, facts: dict) -> None:
    """Write NAME.csv (rows) and NAME.json (``facts``, machine, day)."""
    folder().mkdir(parents=True, exist_ok=True)
    write_rows(folder() / f"{name}.csv", rows)
    info = {"processor": processor(), "torch": torch.__version__} | facts
    info |= {"recorded": time.strftime("%Y-%m-%d", time.gmtime())}
    (folder() / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")


def write_rows(file: Path, rows: pd.DataFrame) -> None:
    """Write a CSV file that is whole or not there."""
    with whole_file(file, mode="x", encoding="utf-8", newline="") as whole:
        rows.to_csv(whole, index=False, lineterminator="\n")


def joint_key(keys: Iterable[str]) -> str:
    """One key of several runs: the first 12 digits of the SHA-256 of theirs."""
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
