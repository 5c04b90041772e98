"""Where the companion keeps what it makes; independent of the working directory."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_CHECKOUT = Path(__file__).resolve().parents[1]


def _root() -> Path:
    if home := os.environ.get("AMOL_HOME"):
        return Path(home).resolve()
    return _CHECKOUT if (_CHECKOUT / "_config.yml").exists() else Path.cwd()


ROOT = _root()
# The engine's machine code belongs to what is made, so that `make clean` takes it along.
os.environ.setdefault("AMOL_CACHE", str(ROOT / "build"))


def build_dir() -> Path:
    """Folder of everything generated; safe to delete, then all is trained again."""
    return ROOT / "build"


def store_path() -> Path:
    """Folder that keeps one file for every trained run."""
    return build_dir() / "trained"


def results_dir() -> Path:
    """Folder of tables and figures: ``AMOL_RESULTS`` where set, else ``build/scratch``."""
    chosen = os.environ.get("AMOL_RESULTS")
    return Path(chosen).resolve() if chosen else build_dir() / "scratch"


@contextmanager
def whole_file(path: Path, **how) -> Iterator[IO]:
    """Open a file that takes the name of ``path`` once it is whole, and until then ends in .new.

    It has the rights of any file that its user makes; where writing fails, nothing is left.

    Parameters
    ----------
    path : Path
    **how
        Mode "x" or "xb", encoding and what else `open` takes.
    """
    scratch = path.with_name(f"{uuid.uuid4().hex}.new")
    try:
        with open(scratch, **how) as file:
            yield file
        os.replace(scratch, path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise
