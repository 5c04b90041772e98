"""What a notebook runs: data sets, settings, training, studies.

Offers
------
load_dataset, Dataset, DATASETS
    The four benchmarks, or a CSV file.
StudySettings, run_study, run_studies, predictions
    A grid of data sets, methods and seeds; one row per run; what one cell predicts.

The other modules are this room's own.
"""

from .dataset import Dataset
from .datasets import DATASETS, load_dataset
from .settings import StudySettings
from .study import predictions, run_studies, run_study

__all__ = [
    "DATASETS",
    "Dataset",
    "StudySettings",
    "load_dataset",
    "predictions",
    "run_studies",
    "run_study",
]
