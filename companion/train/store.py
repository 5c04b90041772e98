"""The store: one file per finished run, ``KEY.npz`` in a folder, written the moment it ends.

A file is written under another name and then renamed, so it is whole or not there; a process
killed in between leaves its ``.new`` behind, which a study clears after a day. NumPy checks the
CRC-32 on reading; a damaged file is deleted, and that one run is trained again.
"""

import tempfile
import time
import zipfile
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from amol.engine import Outcome
from companion.errors import StudyError
from companion.paths import whole_file

DAY = 24 * 3600  # seconds; writing a file takes far fewer
# What reading a damaged file raises: NotImplementedError and RuntimeError are zipfile's.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, TypeError, RuntimeError, zlib.error,
            zipfile.BadZipFile)  # fmt: skip


class StoreError(StudyError):
    """The store can't be read or written; the message says why."""


@dataclass(frozen=True)
class StoredRun:
    """An outcome with the seconds that its training took."""

    outcome: Outcome
    seconds: float


class Store:
    """Runs by key in ``folder``; safe for several processes and threads at once.

    Parameters
    ----------
    folder : Path
        Made when the first run is put.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def check(self) -> None:
        """Refuse a folder that can't be written before any training, and clear killed writes.

        Raises
        ------
        StoreError
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
            for scratch in self.folder.glob("*.new"):
                with suppress(OSError):  # another process was quicker, or it's another user's
                    if time.time() - scratch.stat().st_mtime > DAY:
                        scratch.unlink()
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(f"can't use the runs store {self.folder}: {error.strerror or error}")

    def get(self, key: str) -> StoredRun | None:
        """The run stored under ``key``; None where there is none that is whole.

        Raises
        ------
        StoreError
            The file is there and may not be read.
        """
        path = self.folder / f"{key}.npz"
        try:
            with np.load(path, allow_pickle=False) as held:
                values = {name: held[name] for name in held.files}
            seconds = float(values.pop("seconds"))
            values.pop("described")
            return StoredRun(_outcome(values), seconds)
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise self._refused(error) from None
        except _DAMAGED:
            with suppress(OSError):
                path.unlink()
            print(f"the stored run {key[:12]} is damaged; it is trained again", flush=True)
            return None

    def put(self, key: str, described: str, run: StoredRun) -> None:
        """Store a run under its key.

        Parameters
        ----------
        key, described : str
            ``described`` is the JSON whose SHA-256 is the key; it is kept for whoever looks.
        run : StoredRun

        Raises
        ------
        StoreError
            No space, or no permission.
        """
        values = {name: value for name, value in asdict(run.outcome).items() if value is not None}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(self.folder / f"{key}.npz", mode="xb") as file:
                np.savez(file, **values, seconds=run.seconds, described=described)
        except OSError as error:
            raise self._refused(error) from None


def _outcome(values: dict[str, np.ndarray]) -> Outcome:
    """An outcome from the arrays of a file: those without a shape become plain numbers."""
    plain = {name: value if value.ndim else value.item() for name, value in values.items()}
    return Outcome(**{"failed": None} | plain)
