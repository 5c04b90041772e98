"""The runs store: one SQLite file, one row a finished run, written the moment it ends."""

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amol.training import Outcome

SCHEMA = 1
_COLUMNS = (
    "key, described, y_pred, probabilities, y_pred_validation, "
    "best_epoch, epochs, failed, seconds, made"
)
_TABLE = f"CREATE TABLE IF NOT EXISTS runs ({_COLUMNS.replace('key,', 'key TEXT PRIMARY KEY,')})"


class StoreError(RuntimeError):
    """The store can't be written; the message says why."""


@dataclass(frozen=True)
class StoredRun:
    """An outcome with the seconds it took (its share of its stack's time)."""

    outcome: Outcome
    seconds: float


class Store:
    """Runs by key in the SQLite file ``path``; safe for several processes at once.

    A file that isn't a store of this schema is set aside as ``NAME.aside-N``, never overwritten.
    """

    def __init__(self, path: Path):
        self.path = Path(path)

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=60)
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(f"can't open the runs store {self.path.name}: {error}") from None
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
            if version not in (0, SCHEMA) or (tables and version != SCHEMA):
                raise sqlite3.DatabaseError("another schema")
            connection.execute(f"SELECT {_COLUMNS} FROM runs LIMIT 1") if tables else None
        except sqlite3.DatabaseError as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise StoreError(f"can't read the runs store {self.path.name}: {error}") from None
            self._set_aside()
            return self._open()
        return connection

    def _set_aside(self) -> None:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.aside-{number}")).exists():
            number += 1
        self.path.rename(aside)
        print(f"{self.path.name} is not a runs store of this version; kept as {aside.name}")

    def get(self, keys: Iterable[str], num_classes: int) -> dict[str, StoredRun]:
        """The stored ones among ``keys``, all of a data set with ``num_classes`` classes."""
        wanted, found = list(keys), {}
        if not self.path.exists():
            return found
        with closing(self._open()) as connection:
            has_table = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            for key in wanted if has_table else ():
                row = connection.execute(
                    "SELECT y_pred, probabilities, y_pred_validation, "
                    "best_epoch, epochs, failed, seconds FROM runs WHERE key = ?",
                    (key,),
                ).fetchone()
                if row:
                    labels, table, validation, *counts, seconds = row
                    outcome = Outcome(
                        np.frombuffer(labels, dtype=np.uint8).astype(np.int64),
                        np.frombuffer(table, dtype="<f4").reshape(-1, num_classes),
                        np.frombuffer(validation, dtype=np.uint8).astype(np.int64),
                        *counts,
                    )
                    found[key] = StoredRun(outcome, seconds)
        return found

    def put(self, key: str, described: str, run: StoredRun) -> None:
        """Keep ``run`` with its JSON description; a key that is already there stays as it is."""
        outcome = run.outcome
        row = (
            key,
            described,
            outcome.y_pred.astype(np.uint8).tobytes(),
            outcome.probabilities.astype("<f4").tobytes(),
            outcome.y_pred_validation.astype(np.uint8).tobytes(),
            outcome.best_epoch,
            outcome.epochs,
            outcome.failed,
            run.seconds,
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        try:
            with closing(self._open()) as connection, connection:
                if not connection.execute("PRAGMA user_version").fetchone()[0]:
                    connection.execute(_TABLE)
                    connection.execute(f"PRAGMA user_version = {SCHEMA}")
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT OR IGNORE INTO runs VALUES ({marks})", row)
        except sqlite3.OperationalError as error:
            raise StoreError(f"can't write to the runs store {self.path.name}: {error}") from None
