"""Recorded studies: rows kept in the repository, against which new runs are compared.

`RECORDINGS` names them; ``amol study --record NAME`` makes ``book/recorded/NAME.csv`` and a note
of the machine beside it. The runs store makes recording resumable. What every build trains
(`TRAINED_BY_BUILD`) is recorded whole, with all digits; of the long studies, which no build can
afford, a build trains a sample again: see `recording_checks`.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import torch

from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.host import processor
from companion.paper.open_choices import choice_grid, register_readings
from companion.paths import ROOT
from companion.train.settings import StudySettings
from companion.train.study import run_studies

REAL = ("Wine Red", "Wine White", "Abalone")
EVERYWHERE = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "KL", "CE-masked")
ABALONE_ONLY = ("AMOL-exp", "AMOL-OLL", "AMOL-CE")
VALUES = (*METRICS, "validation_QWK", *PROBABILITY_METRICS)
DECIMALS = 6  # of a long study's metrics
TRAINED_BY_BUILD = ("grid", "controls")

Grid = list[tuple[dict, StudySettings]]  # labels of the rows, what to run


def _default() -> Grid:
    """The grid behind every table: ``build/results/runs.csv``."""
    return [({}, StudySettings())]


def _controls() -> Grid:
    """What the pages of the paper train besides the grid."""
    register_readings()
    return [
        ({}, StudySettings(methods=("KL", "CE-masked"))),
        ({}, StudySettings("Abalone", "AMOL-OLL on Castagnos")),
    ]


def _splits() -> Grid:
    """The paper's tables and two controls on 30 random splits, one run per split and method."""
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


def _seeds() -> Grid:
    """The grid with 25 more seeds, five blocks of as many as the paper has."""
    return [({}, StudySettings(seeds=range(5, 30)))]


ALPHAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _alpha() -> Grid:
    """AMOL with weights from none (0) to eight times the paper's."""
    return [({"strength": a}, StudySettings(REAL, ("AMOL",), alpha=a)) for a in ALPHAS]


SIGMAS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


def _sigma() -> Grid:
    """AMOL, and its base without the weight, with targets from narrow to wide."""
    return [({"width": s}, StudySettings(REAL, ("AMOL", "KL"), sigma=s)) for s in SIGMAS]


RECORDINGS: dict[str, Callable[[], Grid]] = {
    "grid": _default,
    "controls": _controls,
    "splits": _splits,
    "ranking": _ranking,
    "choices": choice_grid,
    "losses": _losses,
    "seeds": _seeds,
    "alpha": _alpha,
    "sigma": _sigma,
}


def machine() -> dict[str, str]:
    """Processor and version of torch."""
    return {"processor": processor(), "torch": torch.__version__}


def folder() -> Path:
    """Where recordings lie, each a CSV file and a note in JSON."""
    return ROOT / "book" / "recorded"


def grid_of(name: str) -> Grid:
    if name not in RECORDINGS:
        raise ValueError(f"unknown recording {name!r}; allowed: {', '.join(RECORDINGS)}")
    return RECORDINGS[name]()


def tidy(name: str, labels: dict, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows as they are recorded."""
    if name in TRAINED_BY_BUILD:
        return frame
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
    grid = grid_of(name)
    frames = run_studies([settings for _, settings in grid], workers, progress, address)
    rows = pd.concat(
        [tidy(name, labels, frame) for (labels, _), frame in zip(grid, frames, strict=True)],
        ignore_index=True,
    )
    seconds = round(sum(frame.attrs["seconds"] for frame in frames))
    keep(name, rows, {"runs": len(rows), "training seconds": seconds})
    return rows


def keep(name: str, rows: pd.DataFrame, facts: dict) -> None:
    """Write NAME.csv (rows) and NAME.json (``facts``, machine, day)."""
    folder().mkdir(parents=True, exist_ok=True)
    rows.to_csv(folder() / f"{name}.csv", index=False, lineterminator="\n")
    info = machine() | facts | {"recorded": time.strftime("%Y-%m-%d", time.gmtime())}
    (folder() / f"{name}.json").write_text(json.dumps(info, indent=1) + "\n")


def load(name: str) -> pd.DataFrame:
    """Recorded rows of ``name``: labels, the columns of `run_study`, a key."""
    grid_of(name)
    file = folder() / f"{name}.csv"
    return pd.read_csv(file, dtype={"failed": "Int64"})


def note(name: str) -> dict:
    """What `keep` was given with a recording, the machine and the day."""
    return json.loads((folder() / f"{name}.json").read_text())
