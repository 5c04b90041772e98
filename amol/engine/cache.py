"""Where compiled machine code is kept between processes."""

import functools
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba


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
    a folder of its own.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    state = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    try:
        folder = cache_folder() / "numba" / state
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # the latter where there is no home
        return None
    return folder


@contextmanager
def kept_machine_code() -> Iterator[bool]:
    """Have functions that are defined inside keep their machine code in `machine_code_folder`.

    Gives whether there is one; if not, each process compiles anew.
    """
    folder, before = machine_code_folder(), numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        yield folder is not None
    finally:
        numba.config.CACHE_DIR = before
