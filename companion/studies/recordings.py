"""Recordings: rows kept in the repository, each a CSV file and a note in JSON beside it.

A large one is packed, ``NAME.csv.gz``.

A recording says itself what it holds: data sets, methods and columns are those of its file,
whatever has joined the registries of losses, metrics and data sets since.
"""

import gzip
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
PLAIN = 50_000  # rows; a recording of more is packed
TYPES = {"failed": "Int64", "weights": str, "key": str}  # digests may look like numbers


def folder() -> Path:
    """Where recordings lie."""
    return ROOT / "book" / "recorded"


def file_of(name: str) -> Path:
    """A recording's file of rows, packed where that is there."""
    packed = folder() / f"{name}.csv.gz"
    return packed if packed.exists() else folder() / f"{name}.csv"


def made(name: str) -> bool:
    """Whether there is a recording of this name."""
    return file_of(name).exists() and (folder() / f"{name}.json").exists()


def load(name: str) -> pd.DataFrame:
    """Recorded rows: what tells them apart, what was measured, a key of what they rest on."""
    if not made(name):
        known = sorted({file.name.partition(".")[0] for file in folder().glob("*.csv*")})
        raise ValueError(f"unknown recording {name!r}; allowed: {', '.join(filter(made, known))}")
    return pd.read_csv(file_of(name), dtype=TYPES)


def note(name: str) -> dict:
    """What `keep` was given with a recording, the machine and the day."""
    return json.loads((folder() / f"{name}.json").read_text())


def keep(name: str, rows: pd.DataFrame, facts: dict) -> None:
    """Write NAME.csv or NAME.csv.gz (rows) and NAME.json (``facts``, machine, day)."""
    folder().mkdir(parents=True, exist_ok=True)
    plain, packed = folder() / f"{name}.csv", folder() / f"{name}.csv.gz"
    large = len(rows) > PLAIN
    write_rows(packed if large else plain, rows)
    (plain if large else packed).unlink(missing_ok=True)
    info = {"processor": processor(), "torch": torch.__version__} | facts
    info |= {"recorded": time.strftime("%Y-%m-%d", time.gmtime())}
    (folder() / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")


def write_rows(file: Path, rows: pd.DataFrame) -> None:
    """Write a CSV file that is whole or not there; one that ends in .gz is packed."""
    text = rows.to_csv(index=False, lineterminator="\n").encode()
    with whole_file(file, mode="xb") as whole:
        whole.write(gzip.compress(text, mtime=0) if file.suffix == ".gz" else text)


def joint_key(keys: Iterable[str]) -> str:
    """One key of several runs: the first 12 digits of the SHA-256 of theirs."""
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
