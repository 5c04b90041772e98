"""Losses and metrics for classes that have an order, among them AMOL (arXiv 2609.10752).

>>> import amol
>>> criterion = amol.losses.LOSSES["AMOL"](num_classes=7)
>>> rate = amol.metrics.center_hedging_rate([0, 6, 3], [3, 6, 3], num_classes=7)

`amol.losses` and `amol.metrics` need PyTorch and NumPy alone; `amol.engine`, which trains small
networks to the same bits on every processor, needs the extra ``engine``.
"""

import importlib

__version__ = "0.1.0"


def __getattr__(name: str):
    if name in ("losses", "metrics"):  # loaded on first use: PyTorch takes seconds
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
