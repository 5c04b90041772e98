"""The runs store: one SQLite file, one row a finished run, written the moment it ends."""

import fcntl
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from amol.errors import StudyError
from amol.experiments.training import Outcome

SCHEMA = 2
_VALUES = "y_pred, probabilities, y_pred_validation, best_epoch, epochs, failed, seconds"
_COLUMNS = f"key, described, {_VALUES}, made, digest"
_TABLE = f"CREATE TABLE runs ({_COLUMNS.replace('key,', 'key TEXT PRIMARY KEY,')})"
_DAMAGED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PARTS = ("", "-journal", "-wal", "-shm")  # SQLite's own files beside a database

T = TypeVar("T")


class StoreError(StudyError):
    """The store can't be read or written; the message says why."""


class _NotOurs(Exception):
    """The file isn't a whole store of this schema; the message says why."""


@dataclass(frozen=True)
class StoredRun:
    """An outcome with the seconds it took (its share of its stack's time)."""

    outcome: Outcome
    seconds: float


def _digest(values: Iterable) -> str:
    """SHA-256 of a row: a disk may change a number without SQLite noticing."""
    return hashlib.sha256(repr(tuple(values)).encode()).hexdigest()


class Store:
    """Runs by key in the SQLite file ``path``; safe for several processes at once.

    A file that is damaged or of another schema is set aside as ``NAME.aside-N``, never
    overwritten, and a new one takes its place.
    """

    def __init__(self, path: Path):
        self.path = Path(path)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """What ``work`` gives in one transaction, on a new file where this one isn't good."""
        for _ in range(5):
            seen = self._file()
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
                connection.text_factory = lambda text: text.decode(errors="replace")
                with closing(connection), connection:
                    connection.execute(begin)
                    self._check(connection)
                    return work(connection)
            except _NotOurs as error:
                self._set_aside(seen, str(error))
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                    self._set_aside(seen, str(error))
                elif seen in (None, self._file()):  # else another process has set it aside
                    told = f"can't use the runs store {self.path.name}: {error}"
                    raise StoreError(told) from None
            except OSError as error:
                told = f"can't use the runs store {self.path.name}: {error.strerror}"
                raise StoreError(told) from None
        raise StoreError(f"the runs store {self.path.name} gets damaged again and again")

    def _file(self) -> int | None:
        """Which file stands at the path now; a renamed one keeps its number."""
        return self.path.stat().st_ino if self.path.exists() else None

    def _check(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version != SCHEMA and (version or tables):
            raise _NotOurs(f"its schema is {version}, not {SCHEMA}")
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        if self.path.stat().st_size % page:
            raise _NotOurs("its end is cut off")
        if version:
            connection.execute(f"SELECT {_COLUMNS} FROM runs LIMIT 0")

    def _set_aside(self, seen: int | None, why: str) -> None:
        """Rename the file, unless another process has done so since it was ``seen``."""
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if seen is None or self._file() != seen:
                return
            number = 1
            while (aside := self.path.with_name(f"{self.path.name}.aside-{number}")).exists():
                number += 1
            for part in _PARTS:  # a journal left behind would be played into the new file
                file = self.path.with_name(self.path.name + part)
                if file.exists():
                    file.rename(aside.with_name(aside.name + part))
        except OSError as error:
            told = f"can't set the runs store {self.path.name} aside: {error.strerror}"
            raise StoreError(told) from None
        finally:
            os.close(folder)
        print(f"{self.path.name} can't be used ({why}); kept as {aside.name}", flush=True)

    def check(self) -> None:
        """Make sure that runs can be kept, before any work.

        Raises
        ------
        StoreError
        """
        self._transact("BEGIN IMMEDIATE", lambda connection: None)

    def get(self, keys: Iterable[str], num_classes: int) -> dict[str, StoredRun]:
        """The stored ones among ``keys``, all of a data set with ``num_classes`` classes."""
        wanted = list(keys)

        def read(connection: sqlite3.Connection) -> dict[str, StoredRun]:
            found = {}
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                return found
            query = f"SELECT digest, {_VALUES} FROM runs WHERE key = ?"
            for key in wanted:
                row = connection.execute(query, (key,)).fetchone()
                if row is None:
                    continue
                digest, *values = row
                if digest != _digest(values):
                    raise _NotOurs("a run in it was changed")
                labels, table, validation, *counts, seconds = values
                outcome = Outcome(
                    np.frombuffer(labels, dtype=np.uint8).astype(np.int64),
                    np.frombuffer(table, dtype="<f4").reshape(-1, num_classes),
                    np.frombuffer(validation, dtype=np.uint8).astype(np.int64),
                    *counts,
                )
                found[key] = StoredRun(outcome, seconds)
            return found

        return self._transact("BEGIN", read) if self.path.exists() else {}

    def put(self, key: str, described: str, run: StoredRun) -> None:
        """Keep ``run`` with its JSON description; a key that is already there stays as it is."""
        outcome = run.outcome
        values = (
            outcome.y_pred.astype(np.uint8).tobytes(),
            outcome.probabilities.astype("<f4").tobytes(),
            outcome.y_pred_validation.astype(np.uint8).tobytes(),
            outcome.best_epoch,
            outcome.epochs,
            outcome.failed,
            float(run.seconds),
        )
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = (key, described, *values, made, _digest(values))

        def write(connection: sqlite3.Connection) -> None:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT OR IGNORE INTO runs VALUES ({marks})", row)

        self._transact("BEGIN IMMEDIATE", write)
