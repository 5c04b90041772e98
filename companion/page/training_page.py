"""What a page needs to train networks in the reader's browser: data, settings, recorded runs.

`save` writes it beside a figure; the book puts the training in the place of that figure. What
trains there is `book/_static/train`, whose arithmetic is that of `amol.engine`.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from amol.engine import Protocol
from companion import StudySettings
from companion.paths import results_dir
from companion.train.runs import Run, prepare
from companion.train.study import outcomes_of

LOSSES = ("CE", "KL", "AMOL", "AMOL-asym", "SORD", "OLL")  # of `book/_static/train/losses.js`


def _text(values: np.ndarray, kind: str) -> str:
    """Base64 of little-endian bytes."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def data_set(settings: StudySettings, dataset: str) -> dict:
    """Names of the classes, and each part's features (n, d) float32 and labels (n,) uint8."""
    prepared = prepare(settings, dataset)
    arrays = prepared.arrays
    parts = {
        "training": (arrays.X_train, arrays.y_train),
        "validation": (arrays.X_validation, arrays.y_validation),
        "test": (arrays.X_test, prepared.y_test),
    }
    return {
        "names": settings.load(dataset).class_names,
        "parts": {
            name: {"X": _text(X, "<f4"), "y": _text(y, "u1")} for name, (X, y) in parts.items()
        },
    }


def _run(run: Run, outcome) -> dict:
    return {
        "data": run.dataset,
        "loss": run.method,
        "seed": run.seed,
        "digest": outcome.weights_digest,
        "predicted": _text(outcome.y_pred, "u1"),
        "bestEpoch": outcome.best_epoch,
        "epochs": outcome.epochs,
    }


def page_data(settings: StudySettings, start: Sequence[str]) -> dict:
    """All that the page holds, as `book/_static/train/page.js` reads it; runs train where missing.

    Parameters
    ----------
    settings : StudySettings
    start : sequence of str
        One or two losses, of those in the settings, that the page opens with.

    Raises
    ------
    ValueError
        For a loss or a protocol that the browser's code doesn't know.
    """
    unknown = [name for name in settings.methods if name not in LOSSES]
    if unknown:
        raise ValueError(f"methods holds {unknown[0]!r}; in a browser: {', '.join(LOSSES)}")
    protocol = settings.protocol
    if (protocol.monitor, protocol.restore) != (Protocol.monitor, Protocol.restore) or (
        protocol.weight_decay or protocol.dropout
    ):
        raise ValueError("monitor, restore, weight_decay and dropout are the defaults in a browser")
    return {
        "protocol": asdict(protocol),
        "alpha": settings.alpha,
        "sigma": settings.sigma,
        "start": list(start),
        "losses": {name: list(settings.parameters(name)) for name in settings.methods},
        "sets": {name: data_set(settings, name) for name in settings.datasets},
        "runs": [
            _run(*pair)
            for dataset in settings.datasets
            for method in settings.methods
            for pair in zip(*outcomes_of(settings, dataset, method), strict=True)
        ],
    }


def save(label: str, page: dict) -> None:
    """Write ``figures/<label>.training.json`` to the results folder."""
    folder = results_dir() / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{label}.training.json").write_text(json.dumps(page), encoding="utf-8")
