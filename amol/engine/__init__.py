"""Training engine whose bits are the same on every processor; `arithmetic` says what it computes.

>>> outcome = train(LOSSES["AMOL"](num_classes=7), seed=0, data=arrays, protocol=Protocol())
"""

from .cache import kept_machine_code

with kept_machine_code():
    from .code import engine_digest
    from .registry import compile_engine, fit, identity, is_compiled, read, train
    from .training import MONITORS, Arrays, Fit, Network, Outcome, Protocol, Stopped

__all__ = [
    "MONITORS",
    "Arrays",
    "Fit",
    "Network",
    "Outcome",
    "Protocol",
    "Stopped",
    "compile_engine",
    "engine_digest",
    "fit",
    "identity",
    "is_compiled",
    "read",
    "train",
]
