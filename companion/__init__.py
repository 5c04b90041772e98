"""The companion of arXiv 2609.10752: what makes this book, above the library `amol`.

>>> from companion import StudySettings, run_study
>>> runs = run_study(StudySettings(datasets=("Wine Red",), methods=("CE", "AMOL"), seeds=(0,)))

Offers
------
load_dataset, Dataset, DATASETS
    The four benchmarks, or a CSV file.
StudySettings, run_study, run_studies, predictions
    A grid of data sets, methods and seeds; one row per run; what one cell predicts.

Rooms, each importing only from those below it:

- `companion.cli`      the command line, ``amol --help``
- `companion.book`     notebooks into a book: execute, render, fork, print
- `companion.checks`   the library measured: exactness of the losses, speed of the engine
- `companion.page`     what a page shows: tables, figures, charts, footer
- `companion.claims`   what came out: evidence, rules, verdicts, ledger
- `companion.studies`  recorded studies: what each is, how to record it, how to check a sample
- `companion.paper`    what the paper says, and what it leaves open
- `companion.train`    settings, runs, their store and workers
- `companion.data`     data sets and tables of readers
"""

import importlib

# Loaded on first use, since PyTorch takes seconds.
OFFERED = {
    "DATASETS": "companion.data.datasets",
    "Dataset": "companion.data.dataset",
    "StudySettings": "companion.train.settings",
    "load_dataset": "companion.data.datasets",
    "predictions": "companion.train.study",
    "run_studies": "companion.train.study",
    "run_study": "companion.train.study",
}
__all__ = list(OFFERED)


def __getattr__(name: str):
    if name in OFFERED:
        return getattr(importlib.import_module(OFFERED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
