"""Execution of the book's notebooks: those that are stale, several at a time."""

import json
import os
import re
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path

from companion.book.notebooks import run_notebook
from companion.book.reads import is_unchanged, reads
from companion.errors import NotebookError
from companion.host import processor
from companion.paths import ROOT, build_dir, whole_file
from companion.repository import commit


def book_notebooks() -> list[Path]:
    """Source notebooks of the table of contents, in its order."""
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^\s*-\s*file:\s*(\S+)", text, re.MULTILINE)
    paths = [ROOT / f"{Path(name).with_suffix('')}.ipynb" for name in listed]
    return [path for path in paths if path.exists()]


def executed_copy(source: Path) -> Path:
    """Where the executed copy of a notebook of the book is kept."""
    return build_dir() / "executed" / source.relative_to(ROOT)


def record_of(source: Path) -> dict:
    """What is kept with an executed copy: seconds, hardware, commit, and what it read.

    Empty where there is none that is whole.
    """
    try:
        return json.loads(executed_copy(source).with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def is_stale(source: Path) -> bool:
    """Whether a notebook's executed copy is missing or rests on something else."""
    there = executed_copy(source).exists() and (build_dir() / "results").exists()
    read = record_of(source).get("reads")
    return not (there and read and is_unchanged(source, read))


def execute_book(workers: int, training_seconds: float) -> None:
    """Execute the notebooks that are stale, several at a time, and list how long each took.

    Parameters
    ----------
    workers : int
        One more execute pages, since each waits a while for its kernel to start and to end.
    training_seconds : float
        As in `list_executions`.

    Raises
    ------
    NotebookError
        After all others had their turn; names every notebook that failed.
    """
    stale = [source for source in book_notebooks() if is_stale(source)]
    print(f"notebooks: {len(stale)} to execute, {len(book_notebooks()) - len(stale)} unchanged")
    if failures := _execute_pages(stale, workers + 1) if stale else []:
        raise NotebookError("\n".join(failures))
    list_executions(training_seconds)


def _execute_pages(stale: list[Path], processes: int) -> list[str]:
    """Execute notebooks side by side; returns what went wrong."""
    failures = []
    longest_first = stale[::-1]  # the last pages measure and train again
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin_worker) as pool:
        pages = [pool.submit(_execute_page, source) for source in longest_first]
        try:
            for number, page in enumerate(as_completed(pages), start=1):
                name, seconds, error = page.result()
                outcome = "failed" if error else f"{seconds:.1f} s"
                print(f"  [{number}/{len(stale)}] {name}  {outcome}", flush=True)
                failures += [error] if error else []
        except BaseException:  # Ctrl-C among them; a kernel ends with the process that started it
            for worker in active_children():
                worker.terminate()
            raise
    return failures


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that started this one, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent_process().join()
    os._exit(1)


def _execute_page(source: Path) -> tuple[str, float, str]:
    """Execute one notebook of the book and replace its copy if all went well.

    Returns its name, the seconds it took, and what went wrong.
    """
    start, begun = time.perf_counter(), time.time()
    copy, partial = executed_copy(source), build_dir() / "failed" / source.name
    watched = partial.with_suffix(".reads")
    copy.parent.mkdir(parents=True, exist_ok=True)
    watched.unlink(missing_ok=True)
    try:
        run_notebook(source, partial, None, build_dir() / "results", None, copy.parent, watched)
    except NotebookError as error:
        return source.stem, time.perf_counter() - start, str(error)

    # The record comes last: a copy without it is stale.
    record = copy.with_suffix(".json")
    record.unlink(missing_ok=True)
    partial.replace(copy)
    seconds = time.perf_counter() - start
    facts = {"seconds": round(seconds, 1), "hardware": processor(), "commit": commit(ROOT)}
    facts["reads"] = reads(copy, watched, begun) if watched.exists() else {}
    with whole_file(record, mode="x", encoding="utf-8") as file:
        json.dump(facts, file, indent=1)
    watched.unlink(missing_ok=True)
    return source.stem, seconds, ""


def list_executions(training_seconds: float) -> None:
    """Write ``results/executions.md``: how long each page took, where, at which commit.

    Parameters
    ----------
    training_seconds : float
        Time that training the default study took, for the last row.
    """
    rows = ["| page | seconds | hardware | commit |", "|:--|--:|:--|:--|"]
    for source in book_notebooks():
        facts = record_of(source)
        page = f"{{doc}}`../{source.relative_to(ROOT).with_suffix('')}`"
        rows.append(
            f"| {page} | {facts['seconds']:.1f} | {facts['hardware']} | {facts['commit']} |"
        )
    here = f"{training_seconds:.0f} | {processor()} | {commit(ROOT)}"
    rows.append(f"| training of the default study | {here} |")
    (build_dir() / "results" / "executions.md").write_text("\n".join([*rows, ""]), encoding="utf-8")
