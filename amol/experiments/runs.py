"""The grid of a study run by run, each with the key of all that determines it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
import torch

from amol.experiments.datasets import SPLIT_ORDERS, Dataset, load_dataset, split, standardize
from amol.experiments.fingerprint import fingerprint
from amol.experiments.settings import StudySettings
from amol.experiments.training import Arrays, train_stack
from amol.losses import LOSSES

code_of = cache(fingerprint)
named_dataset = cache(load_dataset)  # a recording asks for each under dozens of splits


@dataclass(frozen=True)
class Prepared:
    """A data set, split and standardized, with the digest of all that decides its arrays."""

    arrays: Arrays
    y_test: np.ndarray
    digest: str


@cache
def prepare(
    dataset: str, split_seed: int, split_order: str = SPLIT_ORDERS[0], own: Dataset | None = None
) -> Prepared:
    """Split and standardize ``dataset`` as `datasets` defines it, or the ``own`` one."""
    data = own or named_dataset(dataset)
    train, validation, test = split(data.y, split_seed, split_order)
    X = standardize(data.X, train).astype(np.float32)
    arrays = Arrays(
        X[train], data.y[train], X[validation], data.y[validation], X[test], data.num_classes
    )
    sha = hashlib.sha256(data.digest.encode())
    for part in (train, validation, test):
        sha.update(part.astype("<i8").tobytes())
    return Prepared(arrays, data.y[test], sha.hexdigest())


def forget() -> None:
    """Know nothing of data files and losses, as a new process does."""
    for kept in (prepare, named_dataset, code_of):
        kept.cache_clear()


@dataclass(frozen=True)
class Run:
    """One cell of the grid with one seed."""

    settings: StudySettings
    dataset: str
    method: str
    seed: int
    described: str  # JSON of all that determines the run

    @property
    def key(self) -> str:
        return hashlib.sha256(self.described.encode()).hexdigest()

    @property
    def data(self) -> Prepared:
        settings, own = self.settings, self.settings.own.get(self.dataset)
        return prepare(self.dataset, settings.split_seed, settings.split_order, own)


def plan(settings: StudySettings) -> list[Run]:
    """Every run of the grid, in the order of the settings, with the key it is stored under."""
    engine = code_of(train_stack, standardize)
    code = {method: code_of(LOSSES[method]) for method in settings.methods}
    runs = []
    for dataset in settings.datasets:
        own = settings.own.get(dataset)
        digest = prepare(dataset, settings.split_seed, settings.split_order, own).digest
        for method in settings.methods:
            described = {
                "dataset": dataset,
                "digest": digest,
                "split_seed": settings.split_seed,
                "method": method,
                "parameters": settings.parameters(method),
                "protocol": asdict(settings.protocol),
                "loss": code[method],
                "engine": engine,
                "torch": torch.__version__.partition("+")[0],
            }
            for seed in settings.seeds:
                text = json.dumps(described | {"seed": seed}, sort_keys=True)
                runs.append(Run(settings, dataset, method, seed, text))
    return runs
