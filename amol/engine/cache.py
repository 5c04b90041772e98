"""Where compiled machine code is kept between processes."""

import functools
import hashlib
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numba.core import caching, ccallback, config, dispatcher

config.DISABLE_JIT = 0  # the engine can't do without, whatever NUMBA_DISABLE_JIT says


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


class _Files(caching.IndexDataCacheFile):
    """Numba's files with checksums: it would run changed machine code, and fail at a cut-off file.

    A damaged file is as good as none. Whatever reading one raises means that it is damaged.
    """

    def save(self, key, data):
        content = self._dump(data)
        super().save(key, (_digest(key, content), content))

    def load(self, key):
        try:
            digest, content = super().load(key)  # None where there is none
            return pickle.loads(content) if digest == _digest(key, content) else None
        except Exception:
            return None

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:
            return {}


def _digest(key, content: bytes) -> str:
    return hashlib.sha256(repr(key).encode() + content).hexdigest()


class _Cache(caching.FunctionCache):
    """Numba's cache of a function on `_Files`; where a file can't be written, there is none."""

    def __init__(self, function):
        super().__init__(function)
        files = self._cache_file
        name = files._index_name.removesuffix(".nbi")
        self._cache_file = _Files(files._cache_path, name, files._source_stamp)

    def save_overload(self, signature, data):
        with suppress(OSError):
            super().save_overload(signature, data)


@contextmanager
def kept_machine_code() -> Iterator[bool]:
    """Have functions that are defined inside keep their machine code in `machine_code_folder`.

    Gives whether there is one; if not, each process compiles anew.
    """
    folder = machine_code_folder()
    settings = {
        (config, "CACHE_DIR"): str(folder or ""),
        (dispatcher, "FunctionCache"): _Cache,
        (ccallback, "FunctionCache"): _Cache,
    }
    before = {where: getattr(*where) for where in settings}
    try:
        for where, value in settings.items():
            setattr(*where, value)
        yield folder is not None
    finally:
        for where, value in before.items():
            setattr(*where, value)
