"""Training engine whose bits are the same on every processor; `arithmetic` says what it computes.

>>> outcome = train(LOSSES["AMOL"](num_classes=7), seed=0, data=arrays, protocol=Protocol())
"""

import hashlib
from pathlib import Path

import numba

from amol.paths import build_dir

# Numba looks at a changed file alone, not at those that call it: each state has its own cache.
_sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
_kept, numba.config.CACHE_DIR = (
    numba.config.CACHE_DIR,
    str(build_dir() / "numba" / hashlib.sha256(_sources).hexdigest()[:12]),
)

from .code import engine_digest  # noqa: E402
from .registry import compile_engine, identity, is_compiled, train  # noqa: E402
from .training import MONITORS, Arrays, Outcome, Protocol, Stopped  # noqa: E402

numba.config.CACHE_DIR = _kept

__all__ = [
    "MONITORS",
    "Arrays",
    "Outcome",
    "Protocol",
    "Stopped",
    "compile_engine",
    "engine_digest",
    "identity",
    "is_compiled",
    "train",
]
