"""Recorded rows against the same rows made here: what differs is reported, and stops nothing."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from companion.host import processor
from companion.studies.recordings import file_of, note

CHECKED = ("QWK recorded", "QWK retrained", "largest difference", "equal")
BEFORE = {"seed": "seed ", "split_seed": "split ", "protocol": "protocol "}  # a label, in words


@dataclass(frozen=True)
class Comparison:
    """What came out when rows were compared with a recording.

    ``first`` names the first differing row and its values. ``keys_match`` says whether the
    recording rests on the present settings, data and code. ``digest`` is SHA-256 of the recording's
    file, empty if it has never been made.
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
        """Whether every compared row has the recorded values."""
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
            runs = "run equals" if self.compared == 1 else "runs equal"
            equal = f"{self.compared} {runs} the recording {self.name}"
            text = f"{equal}, made on {self.recorded_on}."
        else:
            differ = f"{self.different} of {self.compared} runs differ from the recording"
            text = f"{differ} {self.name}. The first: {self.first}."
        if not self.keys_match:
            text += f" The recording rests on other settings, data or code; {again}."
        return text


def sample(rows: pd.DataFrame, count: int, sample_seed: int) -> pd.DataFrame:
    """At most ``count`` rows drawn at random, in their order."""
    rng = np.random.default_rng(sample_seed)
    return rows.iloc[np.sort(rng.choice(len(rows), min(count, len(rows)), replace=False))]


def never_made(name: str, labels: list[str]) -> tuple[pd.DataFrame, Comparison]:
    """What `compare` returns where there is no recording."""
    return pd.DataFrame(columns=[*labels, *CHECKED]), Comparison(name, 0, 0, False)


def compare(
    name: str,
    recorded: pd.DataFrame,
    new: pd.DataFrame,
    labels: list[str],
    keys_match: bool | None = None,
) -> tuple[pd.DataFrame, Comparison]:
    """Compare rows of a recording with the same ones made here, in every recorded column.

    Parameters
    ----------
    name : str
        The recording's.
    recorded, new : DataFrame
        Row for row the same ``labels``. The other columns of ``recorded`` are results, QWK and key
        among them; what only ``new`` has is left out.
    labels : list of str
        Columns that tell rows apart.
    keys_match : bool, optional
        Whether the keys of all rows match; by default those of these rows are compared.

    Returns
    -------
    DataFrame
        One row each: ``labels`` and `CHECKED`; the largest difference is over all columns of
        decimal numbers, infinite where one of two is missing.
    Comparison
    """
    columns = recorded.columns.difference([*labels, "key"], sort=False)
    old, here = (f.reindex(columns=columns).reset_index(drop=True) for f in (recorded, new))
    differs = (old != here).fillna(True).astype(bool) & ~(old.isna() & here.isna())
    equal, made_on, first = ~differs.any(axis=1), note(name)["processor"], ""
    if not equal.all():
        at = int(np.flatnonzero(~equal)[0])
        column = columns[np.flatnonzero(differs.iloc[at])[0]]
        where = ", ".join(f"{BEFORE.get(c, '')}{recorded[c].iloc[at]}" for c in labels)
        one, two = (frame[column].tolist()[at] for frame in (old, here))
        first = f"{where}, {column} {one!r} on {made_on}, {two!r} on {processor()}"

    decimal = old.select_dtypes("float").columns
    gaps = (old[decimal] - here[decimal]).abs().where(differs[decimal], 0.0).fillna(np.inf)
    shown = zip(CHECKED, (old["QWK"], here["QWK"], gaps.max(axis=1), equal), strict=True)
    rows = recorded[labels].reset_index(drop=True).assign(**dict(shown))
    if keys_match is None:
        keys_match = recorded["key"].tolist() == new["key"].tolist()
    digest = hashlib.sha256(file_of(name).read_bytes()).hexdigest()
    different = int((~equal).sum())
    return rows, Comparison(name, len(rows), different, keys_match, first, made_on, digest)


def note_of(*comparisons: Comparison) -> str:
    """Markdown: a sentence where everything equals its recording, else a visible warning."""
    if all(comparison.holds for comparison in comparisons):
        return "\n\n".join(map(str, comparisons))
    return "> **Warning.** " + "\n>\n> ".join(map(str, comparisons))


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
