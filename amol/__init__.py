"""Losses and metrics for classes that have an order, among them AMOL (arXiv 2609.10752).

>>> import amol
>>> criterion = amol.losses.LOSSES["AMOL"](num_classes=7)
>>> rate = amol.metrics.center_hedging_rate([0, 6, 3], [3, 6, 3], num_classes=7)

`amol.losses`, `amol.metrics` and `amol.objective`, losses for boosted trees, need PyTorch and NumPy
alone. `amol.OrdinalClassifier`, for scikit-learn, and `amol.engine`, which trains its networks to
the same bits on every processor, need the extra ``classifier``.
"""

import importlib

__version__ = "0.1.0"


_OFFERED = {"OrdinalClassifier": "classifier", "objective": "objectives"}  # by module


def __getattr__(name: str):  # loaded on first use: PyTorch takes seconds
    if name in ("losses", "metrics"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _OFFERED:
        try:
            return getattr(importlib.import_module(f"{__name__}.{_OFFERED[name]}"), name)
        except ModuleNotFoundError as error:
            hint = f"amol.{name} needs {error.name}; install amol with its extra classifier"
            raise ModuleNotFoundError(hint, name=error.name) from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
