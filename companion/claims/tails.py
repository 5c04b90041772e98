"""Certainty at the tails: what the stored probabilities say of a scale's extreme samples."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from companion.train.settings import StudySettings
from companion.train.study import predictions

WANTED = {"AMOL": None, "CE": ("Wine White",), "AMOL-asym": ("Wine White",)}


def certainty(y_true: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Figures over the samples of the two lowest and two highest classes; NaN without any.

    Parameters
    ----------
    y_true : ndarray of int, shape (N,)
    probabilities : ndarray, shape (N, K)

    Returns
    -------
    dict
        ``entropy``, mean −Σ_k ŷ_k ln ŷ_k; ``tail_confidence``, mean of the highest probability;
        ``tail_accuracy``, share of right answers.
    """
    last = probabilities.shape[1] - 1
    at_end = (y_true < 2) | (y_true > last - 2)
    if not at_end.any():
        return dict.fromkeys(("entropy", "tail_confidence", "tail_accuracy"), np.nan)
    p, y = probabilities[at_end].astype(float), y_true[at_end]
    entropy = -(p * np.log(np.maximum(p, np.finfo(float).tiny))).sum(1)
    return {
        "entropy": float(entropy.mean()),
        "tail_confidence": float(p.max(1).mean()),
        "tail_accuracy": float((p.argmax(1) == y).mean()),
    }


def with_tails(
    runs: pd.DataFrame, settings: StudySettings, methods: Sequence[str] = tuple(WANTED)
) -> pd.DataFrame:
    """``runs`` of `run_study` with the columns of `certainty`, NaN where no claim asks for them."""
    rows = []
    for method in set(methods) & set(settings.methods):
        for dataset in settings.datasets:
            if dataset not in (WANTED[method] or settings.datasets):
                continue
            y_true, _, probabilities = predictions(settings, dataset, method)
            for seed, answers in zip(settings.seeds, probabilities, strict=True):
                key = {"dataset": dataset, "method": method, "seed": seed}
                rows.append(key | certainty(y_true, answers))
    keys = ["dataset", "method", "seed"]
    found = pd.DataFrame(rows, columns=[*keys, "entropy", "tail_confidence", "tail_accuracy"])
    return runs.merge(found, "left", keys)
