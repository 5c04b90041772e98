"""Companion of AMOL, the adaptive margin ordinal loss (arXiv 2609.10752).

The library, which needs PyTorch and NumPy alone:

>>> import amol
>>> criterion = amol.losses.LOSSES["AMOL"](num_classes=7)
>>> rate = amol.metrics.center_hedging_rate([0, 6, 3], [3, 6, 3], num_classes=7)

Above it, each room importing only from those below:

- `amol.cli`          the command line, ``amol --help``
- `amol.publishing`   notebooks into a book: execute, render, fork, print
- `amol.checks`       the package measured: exactness of the losses, speed of the engine
- `amol.report`       what a page shows: tables, figures, charts, footer
- `amol.paper`        what the paper says and what came out: claims, rules, ledger, recordings
- `amol.experiments`  what a notebook runs: data sets, training, studies and their store
- `amol.losses`, `amol.metrics`  the library; `amol.host`, `amol.paths`, `amol.repository`,
  `amol.errors` serve all rooms
"""

import importlib

__version__ = "0.1.0"


def __getattr__(name: str):
    if name in ("losses", "metrics"):  # loaded on first use: PyTorch takes seconds
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
