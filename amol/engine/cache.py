"""Where compiled machine code is kept between processes."""

import atexit
import functools
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numba import config

config.DISABLE_JIT = 0  # the engine can't do without, whatever NUMBA_DISABLE_JIT says
ROOM = 2**25  # bytes, several times the engine's machine code
SUMS = "sums.json"


def cache_folder() -> Path:
    """``AMOL_CACHE`` where set, else ``amol`` in the user's cache folder."""
    if chosen := os.environ.get("AMOL_CACHE"):
        return Path(chosen).absolute()
    users = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(users) if users else Path.home() / ".cache") / "amol"


@functools.cache
def machine_code_folder() -> Path | None:
    """Of this state of the engine; None where nothing can be written, or there is no home.

    Numba looks at a changed file alone, not at those that call it, so each state of the engine has
    a folder of its own. Damaged files in it are deleted.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    state = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    try:
        folder = cache_folder() / "numba" / state
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        if shutil.disk_usage(folder).free < ROOM:
            return None
        _delete_damaged(folder)
    except (OSError, RuntimeError):  # the latter where there is no home
        return None
    atexit.register(_note_sums, folder)
    return folder


def _known_sums(folder: Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / SUMS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _files(folder: Path) -> Iterator[tuple[Path, str, bytes]]:
    """Numba's files: indices (.nbi) and code (.nbc), by their names in the folder."""
    for path in folder.rglob("*.nb?"):
        yield path, path.relative_to(folder).as_posix(), path.read_bytes()


def _delete_damaged(folder: Path) -> None:
    """Delete files that changed since a process noted their sums.

    Numba would run changed machine code, and fail at a cut-off file. One that isn't noted yet is
    of a process still running, or killed; it is whole if it ends as a pickle does.
    """
    known = _known_sums(folder)
    for path, name, content in _files(folder):
        digest = hashlib.sha256(content).hexdigest()
        if known.get(name, digest) != digest or not content.endswith(b"."):
            path.unlink(missing_ok=True)


def _note_sums(folder: Path) -> None:
    """Write down the SHA-256 of each file."""
    with suppress(OSError):
        sums = {name: hashlib.sha256(content).hexdigest() for _, name, content in _files(folder)}
        if sums != _known_sums(folder):
            (folder / SUMS).write_text(json.dumps(sums), encoding="utf-8")


@contextmanager
def kept_machine_code() -> Iterator[bool]:
    """Have functions that are defined inside keep their machine code in `machine_code_folder`.

    Gives whether there is one; if not, each process compiles anew.
    """
    folder = machine_code_folder()
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
    try:
        yield folder is not None
    finally:
        config.CACHE_DIR = before
