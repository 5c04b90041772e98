"""The whole build: trains the study, executes the stale pages, renders the book."""

from pathlib import Path

import pandas as pd

from companion import StudySettings, run_studies
from companion.book.execute import execute_book
from companion.book.render import render_book
from companion.claims import ledger_document
from companion.claims.ledger import ledger
from companion.claims.tails import with_tails
from companion.page.sentences import sentences
from companion.paths import build_dir
from companion.studies.grids import TRAINED_BY_BUILD, compare_runs, grid_of
from companion.studies.recording_checks import write_notes


def build_book(workers: int = 2) -> Path:
    """Train what is missing, execute what is stale and render the book.

    Parameters
    ----------
    workers : int
        Threads that train; pages are executed by one process more.

    Returns
    -------
    Path
        The first page.

    Raises
    ------
    StudyError, NotebookError, RuntimeError
        From `run_studies`, `execute_book` and `render_book`; the last good book stays.
    """
    print("study: the default grid and its controls", flush=True)
    grid = [settings for name in TRAINED_BY_BUILD for _, settings in grid_of(name)]
    frames = run_studies(grid, workers=workers, progress=True)
    trained, reused = (sum(frame.attrs[k] for frame in frames) for k in ("trained", "reused"))
    print(f"study: {trained} runs trained, {reused} reused", flush=True)

    runs = frames[0]
    results = build_dir() / "results"
    results.mkdir(parents=True, exist_ok=True)
    runs.to_csv(results / "runs.csv", index=False, lineterminator="\n")
    controls = pd.concat(frames[1:], ignore_index=True)
    compared = compare_runs("grid", runs), compare_runs("controls", controls)
    write_notes(results, *compared)
    print(*(f"study: {comparison}" for comparison in compared), sep="\n", flush=True)
    entries = ledger(with_tails(runs, StudySettings()))
    entries.to_csv(results / "ledger.csv", index=False)
    ledger_document.write(results, entries, runs)
    execute_book(workers, runs.attrs["seconds"])
    said = sentences(build_dir() / "executed" / "notebooks")
    said.to_csv(results / "sentences.csv", index=False, lineterminator="\n")
    print(f"sentences: {len(said)}, {(~said['holds']).sum()} replaced since they don't hold here")
    return render_book()
