"""Networks on generated data whose beliefs are known: how near does each loss come to its aim?

With n training rows, n from 250 to 64,000, a network's answer on 4,000 new rows is compared with
what its loss asks for under the true belief of each row (`amol.losses.minimize_risk`). Beliefs have
one peak or two. Everything about the data is made by sums, products and quotients of uniform
numbers, so its bits are the same everywhere.
"""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from itertools import product

import numpy as np
import torch

from amol import engine
from amol.losses import LOSSES, CrossEntropyLoss, OrdinalLoss, center_class, minimize_risk, risk
from amol.metrics import METRICS
from companion.studies.recordings import DECIMALS
from companion.studies.task_study import TaskStudy

CLASSES, FEATURES, TEST_ROWS, SEEDS = 5, 4, 4000, 3
ROWS = (250, 1000, 4000, 16_000, 64_000)  # for training; a quarter as many for validation
METHODS = ("CE", "EMD2", "CORN", "OLL", "OLL-Castagnos", "CDW-CE", "KL", "AMOL", "AMOL-OLL", "SORD",
           "SLACE")  # fmt: skip
LABEL = ("data", "method", "seed")
TEST_SEED = 2**32 - 1
LEAST = 2.0**-23  # probabilities below float32's precision count as this much


def known_beliefs(X: np.ndarray) -> np.ndarray:
    """The distribution of the label at features (n, 4) from −1 to 1: (n, 5).

    A peak at 2 + 2.5 x_0 of width 0.8 + 0.5 x_1; for x_2 above 0 a share of x_2/2 goes to the
    mirror image of that peak. x_3 says nothing.
    """
    k = np.arange(CLASSES)
    place, width = 2 + 2.5 * X[:, :1], 0.8 + 0.5 * X[:, 1:2]
    other = 0.5 * np.maximum(X[:, 2:3], 0)

    def peak(at):
        near = 1 / (1 + ((k - at) / width) ** 2) ** 2
        return near / near.sum(1, keepdims=True)

    return (1 - other) * peak(place) + other * peak(CLASSES - 1 - place)


@cache
def drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (n, 4) float32, labels (n,) and beliefs (n, 5) of ``rows`` rows."""
    rng = np.random.default_rng([rows, seed])
    X = (2 * rng.random((rows, FEATURES)) - 1).astype(np.float32)
    beliefs = known_beliefs(X.astype(np.float64))
    y = (rng.random((rows, 1)) > beliefs.cumsum(1)[:, :-1]).sum(1)
    return X, y, beliefs


def _rows(data: str) -> int:
    return int(data.removesuffix(" rows"))


def arrays_of(data: str, seed: int) -> engine.Arrays:
    """Training and validation part of one of `ROWS`, and the one test part."""
    n = _rows(data)
    X, y, _ = drawn(n + n // 4, seed)
    return engine.Arrays(X[:n], y[:n], X[n:], y[n:], drawn(TEST_ROWS, TEST_SEED)[0], CLASSES)


def key_of(data: str, method: str, seed: int) -> str:
    """Digest of all that a run rests on."""
    arrays = arrays_of(data, seed)
    described = {
        "loss": engine.identity(LOSSES[method](num_classes=CLASSES)),
        "data": hashlib.sha256(arrays.X_train.tobytes() + arrays.y_train.tobytes()).hexdigest(),
        "protocol": asdict(engine.Protocol()),
        "engine": engine.engine_digest(),
        "seed": seed,
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def logits_of(loss: OrdinalLoss, probabilities: np.ndarray) -> torch.Tensor:
    """Logits with which a loss has these probabilities, none of them below `LEAST`."""
    p = torch.from_numpy(np.maximum(probabilities.astype(np.float64), LEAST))
    p = p / p.sum(-1, keepdim=True)
    alike = loss if loss.num_logits < loss.num_classes else CrossEntropyLoss(loss.num_classes)
    return minimize_risk(alike, p).logits


def measure(data: str, method: str, seed: int, stop=None) -> list[dict]:
    """Train a network and hold it against what its loss asks for under the true beliefs.

    left : share of the risk above its least, of a constant answer's, that is left
    same : share of rows answered as the loss asks
    center, asked_center : shares of rows answered with the center, and asked to be
    QWK : of answers against labels drawn from the beliefs
    """
    loss = LOSSES[method](num_classes=CLASSES)
    outcome = engine.train(loss, seed, arrays_of(data, seed), engine.Protocol(), stop)
    _, y, beliefs = drawn(TEST_ROWS, TEST_SEED)
    asked, eta = minimize_risk(loss, beliefs), torch.from_numpy(beliefs)
    constant = minimize_risk(loss, eta.mean(0)).logits.expand(len(y), -1)
    least, here, without = (
        risk(loss, z, eta).mean().item()
        for z in (asked.logits, logits_of(loss, outcome.probabilities), constant)
    )
    labels, center = asked.labels.numpy(), center_class(CLASSES)
    row = {
        "QWK": METRICS["QWK"](y, outcome.y_pred, CLASSES),
        "left": (here - least) / (without - least),
        "same": np.mean(outcome.y_pred == labels),
        "center": np.mean(outcome.y_pred == center),
        "asked_center": np.mean(labels == center),
    }
    row = {name: round(float(value), DECIMALS) for name, value in row.items()}
    names = dict(zip(LABEL, (data, method, seed), strict=True))
    return [names | row | {"epochs": outcome.epochs, "weights": outcome.weights_digest[:16]}]


STUDY = TaskStudy(
    "known_beliefs",
    task=LABEL,
    label=LABEL,
    tasks=tuple(product((f"{n} rows" for n in ROWS), METHODS, range(SEEDS))),
    keys=lambda *task: {task: key_of(*task)},
    measure=measure,
)
