"""Where compiled machine code is kept between processes."""

import hashlib
import os
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


@contextmanager
def kept_machine_code() -> Iterator[None]:
    """Have functions that are defined inside keep their machine code in `cache_folder`.

    Numba looks at a changed file alone, not at those that call it, so each state of the engine has
    a folder of its own.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    state = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_folder() / "numba" / state)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
