"""Runs of a study: the grid cell by cell, each with the key of all that determines it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache, lru_cache

import numpy as np
import torch

from amol import engine
from amol.losses import LOSSES, OrdinalLoss
from amol.losses import registry as losses
from companion.data.dataset import Dataset, divide, network_features
from companion.data.datasets import load_dataset
from companion.host import processor
from companion.train.fingerprint import Unsure, fingerprint
from companion.train.settings import StudySettings

named_dataset = cache(load_dataset)  # a recording asks for each under dozens of splits


@dataclass(frozen=True)
class Prepared:
    """A data set, split and standardized, with the digest of its arrays."""

    arrays: engine.Arrays
    y_test: np.ndarray
    digest: str


@lru_cache(maxsize=128)  # of a long study, the splits of a few data sets
def _prepare(data: Dataset, standardize_on: str, *how) -> Prepared:
    return arrange(data, divide(data, *how), standardize_on)


def arrange(data: Dataset, parts: tuple[np.ndarray, ...], standardize_on: str) -> Prepared:
    """A data set, its rows given as training, validation and test part, standardized."""
    train, validation, test = parts
    X = network_features(data, train if standardize_on == "training" else np.arange(len(data.y)))
    arrays = engine.Arrays(
        X[train], data.y[train], X[validation], data.y[validation], X[test], data.num_classes
    )
    sha = hashlib.sha256(str(data.num_classes).encode())
    for rows in (train, validation, test):
        sha.update(X[rows].astype("<f4").tobytes())
        sha.update(data.y[rows].astype("<i8").tobytes())
    return Prepared(arrays, data.y[test], sha.hexdigest())


def prepare(settings: StudySettings, dataset: str) -> Prepared:
    """One of the settings' data sets, split and standardized as they say."""
    data = settings.own.get(dataset) or named_dataset(dataset)
    how = (settings.split_seed, settings.split_order, settings.fractions, settings.stratify)
    return _prepare(data, settings.standardize_on, *how)


def make_loss(settings: StudySettings, method: str, arrays: engine.Arrays) -> OrdinalLoss:
    """The loss of a run; one that asks for class counts is given those of the training rows."""
    counts = np.bincount(arrays.y_train, minlength=arrays.num_classes).tolist()
    parameters = settings.parameters(method)
    return losses.make_loss(LOSSES[method], arrays.num_classes, counts, **parameters)


@dataclass(frozen=True)
class Run:
    """One cell of the grid with one seed.

    ``key`` is the SHA-256 of ``described``, the JSON of all that determines the run: runs with
    equal keys are one training, whatever their methods are called. ``unsure`` says what of its
    loss can't be digested; such a run is trained anew each time.
    """

    settings: StudySettings
    dataset: str
    method: str
    seed: int
    loss: OrdinalLoss
    data: Prepared
    described: str
    unsure: str = ""

    @property
    def key(self) -> str:
        return hashlib.sha256(self.described.encode()).hexdigest()


def _described_loss(loss: OrdinalLoss) -> tuple[dict[str, str], str]:
    """What identifies a loss's part in a run, and what of it can't be known.

    A compiled loss is its formula and tables. Any other rests on its code, and its bits on
    PyTorch and the processor.
    """
    if compiled := engine.identity(loss):
        return {"formula": compiled}, ""
    here = {"torch": torch.__version__, "processor": processor()}
    try:
        return {"loss": fingerprint(loss)} | here, ""
    except Unsure as error:
        return here, str(error)


def plan(settings: StudySettings) -> list[Run]:
    """Every run of the grid, in the order of the settings, with the key it is stored under."""
    runs = []
    for dataset in settings.datasets:
        data = prepare(settings, dataset)
        for method in settings.methods:
            loss = make_loss(settings, method, data.arrays)
            described, unsure = _described_loss(loss)
            if unsure:
                described |= {"method": method, "parameters": settings.parameters(method)}
            described |= {
                "data": data.digest,
                "protocol": asdict(settings.protocol),
                "engine": engine.engine_digest(),
            }
            for seed in settings.seeds:
                text = json.dumps(described | {"seed": seed}, sort_keys=True)
                runs.append(Run(settings, dataset, method, seed, loss, data, text, unsure))
    return runs
