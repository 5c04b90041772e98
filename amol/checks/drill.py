"""A place to try faults at: a study in a folder of its own, started again after each of them.

`try_fault` lets something befall the study, gives the same command again, and compares its rows,
byte for byte, with those of a study that nothing befell.
"""

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from amol import cli, paths
from amol.experiments.runs import plan
from amol.experiments.settings import StudySettings

STUDY = ("study", "--datasets", "Wine Red", "--epochs", "3", "--seeds")
FEW, MANY = 2, 8  # seeds: two stacks for one process, seven for two


class Home:
    """A folder with a runs store of its own, and commands that keep what they make there."""

    def __init__(self, folder: Path, number: int = 0):
        self.folder, self.number, self.rng = folder, number, random.Random(number)
        self.store, self.log = folder / "build" / "runs.sqlite", folder / "log.txt"
        self.store.parent.mkdir(parents=True)
        self.seeds, self.filled, self.again = FEW, 0, ()

    def fill(self) -> None:
        """Give it the store of a study that has ended."""
        self.store.write_bytes(undisturbed(FEW).file)
        self.filled = len(self.rows())

    def fork(self, *arguments: str, change: Callable | None = None) -> int:
        """Start ``amol`` in a fork of this process, which has torch loaded; gives its number."""
        arguments = arguments or (*STUDY, str(self.seeds), "--workers", "1")
        if child := os.fork():
            return child
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            paths.ROOT, os.environ["AMOL_HOME"] = self.folder, str(self.folder)
            with open(self.log, "ab") as log:
                os.dup2(log.fileno(), 1), os.dup2(log.fileno(), 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            if change:
                change()
            code = cli.main(list(arguments))
        except SystemExit as error:
            print(error.code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(code)

    def finish(self, *arguments, **options) -> float:
        """`fork` and wait; gives the seconds."""
        start = time.perf_counter()
        os.waitpid(self.fork(*arguments, **options), 0)
        return time.perf_counter() - start

    def command(self, *arguments: str, **environment) -> subprocess.Popen:
        """Start the true command in an interpreter and session of its own."""
        known = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "HOME": "/"}
        known |= {"AMOL_HOME": str(self.folder), "PYTHONPATH": str(Path(__file__).parents[1])}
        environment = {k: v for k, v in (known | environment).items() if v is not None}
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        code = heed + "from amol.cli import main; raise SystemExit(main())"
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                env=environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def many(self, *arguments: str) -> subprocess.Popen:
        """Start the true command for more runs; back when some are done and others are not."""
        self.seeds = MANY
        process = self.command(*STUDY, str(MANY), *arguments)
        until(lambda: self.rows() or process.poll() is not None)
        return process

    def rows(self) -> dict:
        """What the store holds, as it lies there, by key."""
        columns = "key, y_pred, probabilities, y_pred_validation, best_epoch, epochs, failed"
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=20) as connection:
                found = connection.execute(f"SELECT {columns} FROM runs").fetchall()
        except sqlite3.Error:
            return {}
        return {key: rest for key, *rest in found}

    def told(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]


def until(holds: Callable, seconds: float = 200) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.02)


def gone(processes: list[psutil.Process]) -> None:
    """Wait until none of these processes runs."""
    until(lambda: not [p for p in processes if p.is_running() and p.status() != "zombie"], 30)


@dataclass(frozen=True)
class Undisturbed:
    """What a study leaves that nothing befell: its rows, its store and the seconds it took."""

    rows: dict
    file: bytes
    seconds: float


@cache
def undisturbed(seeds: int) -> Undisturbed:
    """The study that the others are compared with; its preparation is kept for their forks."""
    plan(StudySettings("Wine Red", seeds=seeds, epochs=3))
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        home.seeds = seeds
        seconds = home.finish()
        return Undisturbed(home.rows(), home.store.read_bytes(), seconds)


@dataclass(frozen=True)
class Fault:
    """Something that may befall a study.

    ``provoke`` takes a `Home`; where the study gets over it by itself, it gives the seconds that
    took. ``says`` is a pattern for the line that its user must see. ``folder`` is where it runs.
    """

    name: str
    provoke: Callable[[Home], float | None]
    says: str
    times: int = 1
    folder: str = "home"


def try_fault(fault: Fault, number: int = 0) -> dict:
    """Let ``fault`` happen once, go on after it, and tell what was lost.

    Parameters
    ----------
    fault : Fault
    number : int
        Of the trial: seeds its random moment or place.

    Returns
    -------
    dict
        fault, says (the line), kept (stored runs before the fault or at its moment), again (how
        many of these were trained a second time), lost (runs that are missing or not the same
        bytes in the end), seconds (until all runs were there again).

    Raises
    ------
    AssertionError
        If no line says what happened, or there is a traceback.
    """
    undisturbed(FEW)  # so that forks have all at hand
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        home = Home(Path(folder) / fault.folder, number)
        seconds = fault.provoke(home)
        wanted, again = undisturbed(home.seeds).rows, 0
        kept = home.filled or len(wanted.keys() & home.rows().keys())
        if seconds is None:
            seconds = home.finish(*home.again)
            reused = re.findall(r"(\d+) reused", home.told()[-1])
            again = max(0, kept - int(reused[0])) if reused else 0
        rows, told = home.rows(), home.told()
    lines = [line for line in told if re.search(fault.says, line)]
    assert lines and not any("Traceback" in line for line in told), (fault.name, told)
    return {
        "fault": fault.name,
        "says": lines[0].replace(f"{folder}/", ""),
        "kept": kept,
        "again": again,
        "lost": sum(rows.get(key) != row for key, row in wanted.items()),
        "seconds": seconds,
    }
