"""Recorded grids of data sets, methods, seeds and splits, each run through the store of runs.

`GRIDS` says what each holds; ``amol study --record NAME`` makes it. Each names its own data sets
and methods, so nothing that joins a registry later changes it. What every build trains
(`TRAINED_BY_BUILD`) is recorded whole, with all digits; of the long grids, which no build can
afford, a build trains a sample again.
"""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from amol import engine
from companion.paper.open_choices import choice_grid, register_readings
from companion.studies.recording_checks import Comparison, compare, never_made, sample
from companion.studies.recordings import DECIMALS, keep, load, made
from companion.train.runs import Run, plan
from companion.train.settings import StudySettings
from companion.train.study import run_studies

REAL = ("Wine Red", "Wine White", "Abalone")
PAPER_SETS = ("Synthetic", *REAL)
ABALONE_ONLY = ("AMOL-exp", "AMOL-OLL", "AMOL-CE")
PAPER_LOSSES = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", *ABALONE_ONLY)
EVERYWHERE = ("CE", "OLL", "SORD", "AMOL", "AMOL-asym", "KL", "CE-masked")
TRAINED_BY_BUILD = ("grid", "controls")
RUN = ["dataset", "method", "seed", "split_seed"]

Grid = list[tuple[dict, StudySettings]]  # labels of the rows, what to run


def _default() -> Grid:
    """The grid behind every table of the paper's pages."""
    return [({}, StudySettings(PAPER_SETS, PAPER_LOSSES, seeds=5))]


def _controls() -> Grid:
    """What the pages of the paper train besides the grid."""
    register_readings()
    return [
        ({}, StudySettings(PAPER_SETS, ("KL", "CE-masked"), seeds=5)),
        ({}, StudySettings("Abalone", "AMOL-OLL on Castagnos", seeds=5)),
    ]


def _splits() -> Grid:
    """The paper's tables and two controls on 30 random splits, one run per split and method."""
    grid = []
    for split_seed in range(30):
        where = {"seeds": (split_seed,), "split_seed": split_seed}
        grid.append(({}, StudySettings(PAPER_SETS, EVERYWHERE, **where)))
        grid.append(({}, StudySettings("Abalone", ABALONE_ONLY, **where)))
    return grid


def _hundred_splits() -> Grid:
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
            grid.append((labels, StudySettings(PAPER_SETS, (method,), 5, loss_parameters=own)))
    return grid


def _seeds() -> Grid:
    """The grid with 25 more seeds, five blocks of as many as the paper has."""
    return [({}, StudySettings(PAPER_SETS, PAPER_LOSSES, range(5, 30)))]


ALPHAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _alpha() -> Grid:
    """AMOL with weights from none (0) to eight times the paper's."""
    return [({"strength": a}, StudySettings(REAL, ("AMOL",), 5, alpha=a)) for a in ALPHAS]


SIGMAS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


def _sigma() -> Grid:
    """AMOL, and its base without the weight, with targets from narrow to wide."""
    return [({"width": s}, StudySettings(REAL, ("AMOL", "KL"), 5, sigma=s)) for s in SIGMAS]


GRIDS: dict[str, Callable[[], Grid]] = {
    "grid": _default,
    "controls": _controls,
    "splits": _splits,
    "hundred_splits": _hundred_splits,
    "choices": choice_grid,
    "losses": _losses,
    "seeds": _seeds,
    "alpha": _alpha,
    "sigma": _sigma,
}


def grid_of(name: str) -> Grid:
    """Labels and settings of a recorded grid."""
    if name not in GRIDS:
        raise ValueError(f"unknown grid {name!r}; allowed: {', '.join(GRIDS)}")
    return GRIDS[name]()


def _tidy(name: str, labels: dict, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of `run_study` as they are recorded."""
    if name in TRAINED_BY_BUILD:
        return frame
    frame = frame.drop(columns="n_test").round(DECIMALS)
    frame["key"] = frame["key"].str[:16]
    for position, (label, value) in enumerate(labels.items()):
        frame.insert(position, label, value)
    return frame


def record(
    name: str,
    workers: int | None = None,
    address: str | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Run a whole grid (see `run_study`) and write its rows to ``book/recorded``."""
    grid = grid_of(name)
    frames = run_studies([settings for _, settings in grid], workers, progress, address)
    rows = pd.concat(
        [_tidy(name, labels, frame) for (labels, _), frame in zip(grid, frames, strict=True)],
        ignore_index=True,
    )
    seconds = round(sum(frame.attrs["seconds"] for frame in frames))
    keep(name, rows, {"runs": len(rows), "training seconds": seconds})
    return rows


def verify(name: str, count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """Train ``count`` random rows of a recorded grid again; see `recording_checks.compare`.

    ``keys_match`` looks at every row's key, not at the sampled ones alone.
    """
    if not made(name):
        return never_made(name, RUN)
    rows, runs = load(name), _planned(name)
    # rows are found by what they are, since in a recording of other settings places differ
    found = [runs.get(identity) for identity in _identities(rows, name)]
    whole = None not in found and len(found) == len(runs)
    keys_match = whole and all(map(_rests_on, rows["key"], found))

    known = rows.assign(run=found).dropna(subset="run")
    chosen = sample(known, count, sample_seed)
    alone = [
        replace(run.settings, datasets=(run.dataset,), methods=(run.method,), seeds=(run.seed,))
        for run in chosen["run"]
    ]
    new = [_tidy(name, {}, frame) for frame in run_studies(alone)]
    old = chosen[_compared(rows, name)]
    return compare(name, old, pd.concat([old.iloc[:0], *new]), RUN, keys_match)


def compare_runs(name: str, runs: pd.DataFrame) -> Comparison:
    """Compare all runs of a build with the recording ``name`` of `TRAINED_BY_BUILD`."""
    if not made(name):
        return never_made(name, RUN)[1]
    rows, planned = load(name), _planned(name)
    both = rows[[*RUN, "key"]].merge(runs[[*RUN, "key"]], on=RUN, suffixes=("", " here"))
    found = [planned.get(identity) for identity in _identities(both, name)]
    pairs = zip(both["key"], both["key here"], found, strict=True)
    keys_match = len(both) == len(rows) and all(
        _is_bound(run) or old == here for old, here, run in pairs
    )
    old, new = (both[RUN].merge(frame, on=RUN) for frame in (rows, runs))
    return compare(name, old[_compared(rows, name)], new, RUN, keys_match)[1]


def compare_whole(name: str) -> Comparison:
    """Train a recorded grid whole, as every build does, and compare all runs."""
    frames = run_studies([settings for _, settings in grid_of(name)])
    return compare_runs(name, pd.concat(frames, ignore_index=True))


def _compared(rows: pd.DataFrame, name: str) -> list[str]:
    """What tells runs apart, and the recorded numbers; digests may be those of a machine."""
    labels = [*grid_of(name)[0][0], *RUN]
    return [*RUN, *rows.select_dtypes("number").columns.difference(labels, sort=False)]


def _identities(rows: pd.DataFrame, name: str) -> list[tuple[str, ...]]:
    """Labels and `RUN` of each row as text; an empty label is read back as NaN."""
    labels = [*grid_of(name)[0][0], *RUN]
    texts = rows[labels].astype(object).fillna("").map(str)
    return list(texts.itertuples(index=False, name=None))


def _planned(name: str) -> dict[tuple[str, ...], Run]:
    """Every run of a grid, in order, by its identity as in `_identities`."""
    return {
        tuple(map(str, [*labels.values(), *_labels(run)])): run
        for labels, settings in grid_of(name)
        for run in plan(settings)
    }


def _labels(run: Run) -> tuple:
    """Values of `RUN`."""
    return run.dataset, run.method, run.seed, run.settings.split_seed


def _is_bound(run: Run | None) -> bool:
    """Whether a run's key names processor and PyTorch, as without a compiled gradient."""
    return run is not None and not engine.is_compiled(run.loss)


def _rests_on(key: str, run: Run) -> bool:
    return _is_bound(run) or run.key.startswith(key)
