"""Recordings against runs of this machine: what differs is reported and never stops anything.

Only `differences`, which `amol check` asks, turns a difference into a failure.
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from amol import engine
from companion.host import processor
from companion.studies.recordings import (
    RECORDINGS,
    TRAINED_BY_BUILD,
    VALUES,
    folder,
    grid_of,
    load,
    note,
    tidy,
)
from companion.train.runs import Run, plan
from companion.train.study import run_studies

COMPARED = (*VALUES, "best_epoch", "epochs")
RUN = ["dataset", "method", "seed", "split_seed"]


@dataclass(frozen=True)
class Comparison:
    """What came out when runs were compared with a recording.

    ``first`` names the first differing run and its values. ``keys_match`` looks at all rows but
    those of losses without a compiled gradient, whose keys differ by machine. ``digest`` is SHA-256
    of the recording's file, empty if it has never been made.
    """

    name: str
    compared: int
    different: int
    keys_match: bool
    first: str = ""
    recorded_on: str = ""
    digest: str = ""

    @property
    def equal(self) -> bool:
        """Whether every compared run has the recorded values."""
        return self.different == 0

    @property
    def holds(self) -> bool:
        """Whether nothing is to be reported: it exists, is equal and rests on this code."""
        return bool(self.digest) and self.equal and self.keys_match

    def __str__(self) -> str:
        again = f"`amol study --record {self.name}` makes it anew"
        if not self.digest:
            return f"There is no recording {self.name}; {again}."
        if self.equal:
            equal = f"{self.compared} runs equal the recording {self.name}"
            text = f"{equal}, made on {self.recorded_on}."
        else:
            differ = f"{self.different} of {self.compared} runs differ from the recording"
            text = f"{differ} {self.name}. The first: {self.first}."
        if not self.keys_match:
            text += f" The recording rests on other settings, data or code; {again}."
        return text


def _differing(recorded: pd.Series, here: pd.Series) -> list[str]:
    """Columns of `COMPARED` in which two runs differ; NaN equals NaN."""
    pairs = {c: (float(recorded[c]), float(here[c])) for c in COMPARED}
    return [c for c, (a, b) in pairs.items() if a != b and not (np.isnan(a) and np.isnan(b))]


def _comparison(name: str, pairs: list[tuple], keys_match: bool) -> Comparison:
    """Summary of ``pairs``, each a recorded row and the same run here."""
    differing = [(old, new, columns) for old, new in pairs if (columns := _differing(old, new))]
    made_on, first = note(name)["processor"], ""
    if differing:
        old, new, (metric, *_) = differing[0]
        where = "{}, {}, seed {}, split {}".format(*old[RUN])
        recorded, here = float(old[metric]), float(new[metric])
        first = f"{where}, {metric} {recorded!r} on {made_on}, {here!r} on {processor()}"
    digest = hashlib.sha256((folder() / f"{name}.csv").read_bytes()).hexdigest()
    return Comparison(name, len(pairs), len(differing), keys_match, first, made_on, digest)


def compare_rows(name: str, recorded: pd.DataFrame, new: pd.DataFrame, labels: list[str]):
    """Compare rows of a recording with the same ones made here, in every column.

    Parameters
    ----------
    name : str
        The recording's.
    recorded, new : DataFrame
        Row for row the same ``labels``; the other columns hold results, ``key`` among them.

    Returns
    -------
    equal : Series of bool
    Comparison
        ``keys_match`` looks at these rows.
    """
    recorded, new = recorded.reset_index(drop=True), new[recorded.columns].reset_index(drop=True)
    same = (recorded == new) | (recorded.isna() & new.isna())
    equal, made_on, first = same.all(axis=1), note(name)["processor"], ""
    if not equal.all():
        at = int(np.flatnonzero(~equal)[0])
        column = same.columns[int(np.flatnonzero(~same.iloc[at])[0])]
        where = ", ".join(map(str, recorded.loc[at, labels]))
        old, here = recorded.loc[at, column], new.loc[at, column]
        first = f"{where}, {column} {old} on {made_on}, {here} on {processor()}"
    digest = hashlib.sha256((folder() / f"{name}.csv").read_bytes()).hexdigest()
    keys, different = bool(same["key"].all()), int((~equal).sum())
    return equal, Comparison(name, len(same), different, keys, first, made_on, digest)


def _missing(name: str) -> Comparison | None:
    made = (folder() / f"{name}.csv").exists() and (folder() / f"{name}.json").exists()
    return None if made else Comparison(name, 0, 0, False)


def compare_runs(name: str, runs: pd.DataFrame) -> Comparison:
    """Compare all runs of a build with the recording ``name`` of `TRAINED_BY_BUILD`."""
    if missing := _missing(name):
        return missing
    rows = load(name)
    new = runs.set_index(RUN)
    pairs = [
        (old, new.loc[run]) for _, old in rows.iterrows() if (run := tuple(old[RUN])) in new.index
    ]
    bound = _bound(_planned(name))
    kept, here = (f.loc[~f["method"].isin(bound), "key"].tolist() for f in (rows, runs))
    return _comparison(name, pairs, kept == here)


def verify(name: str, count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """Train ``count`` random rows of a long study again and compare them.

    Returns
    -------
    DataFrame
        The sampled rows: `RUN`, QWK recorded, QWK retrained, largest difference (over all
        metrics) and equal.
    Comparison
        ``keys_match`` looks at every row's key, not at the sampled ones alone.
    """
    columns = [*RUN, "QWK recorded", "QWK retrained", "largest difference", "equal"]
    if missing := _missing(name):
        return pd.DataFrame(columns=columns), missing
    rows, runs = load(name), _planned(name)
    pairs, bound = zip(runs.values(), rows["key"], strict=False), _bound(runs)
    keys_match = len(runs) == len(rows) and all(
        run.method in bound or run.key.startswith(key) for run, key in pairs
    )

    # rows are found by what they are, since in a recording of other settings places differ
    labels = list(grid_of(name)[0][0])
    identities = [_identity(row[labels], row[RUN]) for _, row in rows.iterrows()]
    known = [i for i, identity in enumerate(identities) if identity in runs]
    rng = np.random.default_rng(sample_seed)
    chosen = sorted(rng.choice(known, min(count, len(known)), False).tolist()) if known else []

    alone = [
        replace(run.settings, datasets=(run.dataset,), methods=(run.method,), seeds=(run.seed,))
        for run in (runs[identities[i]] for i in chosen)
    ]
    news = [tidy(name, {}, frame).iloc[0] for frame in run_studies(alone)]
    pairs = list(zip((rows.iloc[i] for i in chosen), news, strict=True))
    sample = [
        (*old[RUN], old["QWK"], new["QWK"], _largest(old, new), not _differing(old, new))
        for old, new in pairs
    ]
    return pd.DataFrame(sample, columns=columns), _comparison(name, pairs, keys_match)


def _identity(labels, run) -> tuple[str, ...]:
    """Labels and `RUN` of a row as text; an empty label is read back as NaN."""
    return tuple("" if pd.isna(value) else str(value) for value in (*labels, *run))


def _planned(name: str) -> dict[tuple[str, ...], Run]:
    """Every run of a recording's grid, in order, by `_identity`."""
    return {
        _identity(labels.values(), (run.dataset, run.method, run.seed, settings.split_seed)): run
        for labels, settings in grid_of(name)
        for run in plan(settings)
    }


def _bound(runs: dict[tuple[str, ...], Run]) -> set[str]:
    """Methods without a compiled gradient: their keys name processor and PyTorch."""
    return {run.method for run in runs.values() if not engine.is_compiled(run.loss)}


def _largest(recorded: pd.Series, here: pd.Series) -> float:
    """Largest difference over all metrics; infinite where one of two is missing."""
    gaps = [abs(recorded[v] - here[v]) for v in _differing(recorded, here) if v in VALUES]
    return max((np.inf if np.isnan(gap) else float(gap) for gap in gaps), default=0.0)


def differences(count: int = 2) -> list[Comparison]:
    """Comparisons of all recordings with runs of this machine that have something to report.

    The build's own runs are compared whole, of each long study ``count`` runs.
    """
    found = []
    for name in RECORDINGS:
        if name in TRAINED_BY_BUILD:
            frames = run_studies([settings for _, settings in grid_of(name)])
            found.append(compare_runs(name, pd.concat(frames, ignore_index=True)))
        else:
            found.append(verify(name, count)[1])
    return [comparison for comparison in found if not comparison.holds]


def note_of(*comparisons: Comparison) -> str:
    """Markdown: a sentence where everything equals its recording, else a visible warning."""
    text = "\n\n".join(map(str, comparisons))
    if all(comparison.holds for comparison in comparisons):
        return text
    return f":::{{warning}}\n{text}\n:::"


def write_notes(folder: Path, *comparisons: Comparison) -> None:
    """Write what a build's runs are beside their recordings, for two pages to include.

    ``recorded.md`` for the page about executions, with the recordings' digests;
    ``difference.md`` for the first page: the warning, or a comment that shows nothing.
    """
    digests = [f"- `{c.name}.csv`, SHA-256 `{c.digest}`" for c in comparisons if c.digest]
    text = "\n".join([note_of(*comparisons), "", *digests, ""])
    (folder / "recorded.md").write_text(text)
    warning = "" if all(c.holds for c in comparisons) else note_of(*comparisons)
    (folder / "difference.md").write_text(f"{warning or '% the runs equal their recordings'}\n")
