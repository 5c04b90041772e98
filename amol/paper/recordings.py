"""Studies too long for every build: recorded once as tidy rows, checked by retraining a sample.

`RECORDINGS` names them; ``amol study --record NAME`` makes ``book/recorded/NAME.csv`` and a note
of the machine beside it. The runs store makes recording resumable.
"""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from amol.experiments.runs import plan
from amol.experiments.settings import StudySettings
from amol.experiments.study import run_studies
from amol.host import processor
from amol.metrics import METRICS, PROBABILITY_METRICS
from amol.paper.open_choices import choice_grid
from amol.paths import ROOT

REAL = ("Wine Red", "Wine White", "Abalone")
EVERYWHERE = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "KL", "CE-masked")
ABALONE_ONLY = ("AMOL-exp", "AMOL-OLL", "AMOL-CE")
VALUES = (*METRICS, "validation_QWK", *PROBABILITY_METRICS)
DECIMALS = 6
ELSEWHERE = 0.15  # most that a metric may move on another processor, where rounding differs

Grid = list[tuple[dict, StudySettings]]  # labels of the rows, what to run


def _splits() -> Grid:
    """The paper's tables and two controls on 30 random splits, one run a split and method."""
    grid = []
    for split_seed in range(30):
        where = {"seeds": (split_seed,), "split_seed": split_seed}
        grid.append(({}, StudySettings(methods=EVERYWHERE, **where)))
        grid.append(({}, StudySettings("Abalone", ABALONE_ONLY, **where)))
    return grid


def _ranking() -> Grid:
    """Cross-entropy and AMOL on splits 0 to 99: how special is split 42?"""
    return [({}, StudySettings(REAL, ("CE", "AMOL"), seeds=1, split_seed=s)) for s in range(100)]


SLOPES = (0.3, 0.5, 0.8, 1.0, 2.0, 3.0, 4.0, 7.0, 10.0, 15.0, 20.0, 25.0)
# The authors' own grids, where their paper or code shows one.
PARAMETER_GRIDS = {
    "OLL-Castagnos": ("power", (1.0, 1.5, 2.0)),
    "CDW-CE": ("power", (2.0, 3.0, 5.0, 7.0)),
    "Focal": ("gamma", (0.5, 1.0, 2.0, 5.0)),
    "SLACE": ("slope", SLOPES),
    "SLACE-prox": ("slope", SLOPES),
    "CORAL": ("", (0.0,)),
    "CORN": ("", (0.0,)),
}


def _losses() -> Grid:
    """Every other loss that the paper names, for each value of its own parameter."""
    grid = []
    for method, (name, values) in PARAMETER_GRIDS.items():
        for value in values:
            own = {method: {name: value}} if name else {}
            labels = {"parameter": name, "value": value}
            grid.append((labels, StudySettings(methods=(method,), loss_parameters=own)))
    return grid


RECORDINGS: dict[str, Callable[[], Grid]] = {
    "splits": _splits,
    "ranking": _ranking,
    "choices": choice_grid,
    "losses": _losses,
}


class RecordError(RuntimeError):
    """A recorded row no longer matches its key or its value."""


def machine() -> dict[str, str]:
    """What decides the bits of a training: processor, its instructions, torch's build."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    telling = ("cpu family", "model\t", "stepping", "flags", "Features")
    instructions = sorted({line for line in lines if line.startswith(telling)})
    return {
        "processor": processor(),
        "instructions": hashlib.sha256("\n".join(instructions).encode()).hexdigest()[:12],
        "torch": torch.__version__,
    }


def folder() -> Path:
    """Where recordings lie, each a CSV file and a note in JSON."""
    return ROOT / "book" / "recorded"


def _grid(name: str) -> Grid:
    if name not in RECORDINGS:
        raise ValueError(f"unknown recording {name!r}; allowed: {', '.join(RECORDINGS)}")
    return RECORDINGS[name]()


def _tidy(labels: dict, frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.drop(columns=["n_test"]).round(dict.fromkeys(VALUES, DECIMALS))
    frame["key"] = frame["key"].str[:16]
    for position, (label, value) in enumerate(labels.items()):
        frame.insert(position, label, value)
    return frame


def record(
    name: str,
    workers: int | None = None,
    progress: bool | None = None,
    address: str | None = None,
) -> pd.DataFrame:
    """Run a recording's whole grid (see `run_study`) and write its rows to ``book/recorded``."""
    grid = _grid(name)
    frames = run_studies([settings for _, settings in grid], workers, progress, address)
    rows = pd.concat(
        [_tidy(labels, frame) for (labels, _), frame in zip(grid, frames, strict=True)],
        ignore_index=True,
    )
    seconds = round(sum(frame.attrs["seconds"] for frame in frames))
    keep(name, rows, {"runs": len(rows), "training seconds": seconds})
    return rows


def keep(name: str, rows: pd.DataFrame, told: dict) -> None:
    """Write a recording: its rows, and what is told of them with the machine and the day."""
    folder().mkdir(parents=True, exist_ok=True)
    rows.to_csv(folder() / f"{name}.csv", index=False, lineterminator="\n")
    note = machine() | told | {"recorded": time.strftime("%Y-%m-%d", time.gmtime())}
    (folder() / f"{name}.json").write_text(json.dumps(note, indent=1) + "\n")


def load(name: str) -> pd.DataFrame:
    """Recorded rows of ``name``: labels, the columns of `run_study`, a short key."""
    _grid(name)
    return pd.read_csv(folder() / f"{name}.csv", dtype={"failed": "Int64"})


def note(name: str) -> dict:
    """What `keep` was told of a recording, with the machine and the day."""
    return json.loads((folder() / f"{name}.json").read_text())


def verify(name: str, count: int, sample_seed: int = 0) -> pd.DataFrame:
    """Check every row's key, then retrain ``count`` random rows and compare their metrics.

    On the processor that recorded them the metrics must be equal; on another one, where the last
    bits of a product differ and training drifts apart, they may move by `ELSEWHERE`.

    Returns
    -------
    DataFrame
        The sampled rows: dataset, method, seed, split_seed, QWK recorded and retrained, and the
        largest difference over all metrics.

    Raises
    ------
    RecordError
        Naming the recording, the first row that disagrees and the command that makes it anew.
    """
    rows, grid = load(name), _grid(name)
    runs = [run for _, settings in grid for run in plan(settings)]
    again = f"make it anew with: amol study --record {name}"
    if [run.key[:16] for run in runs] != rows["key"].tolist():
        raise RecordError(f"recording {name!r} rests on other settings, data or code; {again}")
    here = {k: v for k, v in note(name).items() if k in machine()} == machine()
    chosen = np.random.default_rng(sample_seed).choice(len(rows), min(count, len(rows)), False)
    picked = [
        replace(run.settings, datasets=(run.dataset,), methods=(run.method,), seeds=(run.seed,))
        for run in (runs[i] for i in sorted(chosen))
    ]
    checks = []
    for i, frame in zip(sorted(chosen), run_studies(picked), strict=True):
        row, new = rows.iloc[i], _tidy({}, frame).iloc[0]
        difference = np.nanmax(np.abs([float(row[v]) - float(new[v]) for v in VALUES]))
        if difference > (0 if here else ELSEWHERE):
            where = f"{row['dataset']}, {row['method']}, seed {row['seed']}"
            raise RecordError(
                f"recording {name!r}, row {i} ({where}): "
                f"a metric moved by {difference:.6f}; {again}"
            )
        checks.append(
            {
                **{c: row[c] for c in ("dataset", "method", "seed", "split_seed")},
                "QWK recorded": row["QWK"],
                "QWK retrained": new["QWK"],
                "largest difference": difference,
            }
        )
    return pd.DataFrame(checks)
