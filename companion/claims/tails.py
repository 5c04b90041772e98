"""Certainty at the tails: what the stored probabilities say of a scale's extreme samples."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from companion.claims.evidence import TAIL_METRICS
from companion.claims.hedging import center_excess, extreme_classes, hedging, tail_confidence
from companion.train.settings import StudySettings
from companion.train.study import predictions

WANTED = {"CE": None, "AMOL-asym": ("Wine White",)}


def certainty(y_true: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """Figures over the samples of the extreme classes; NaN without any.

    Parameters
    ----------
    y_true : ndarray of int, shape (N,)
    probabilities : ndarray, shape (N, K)

    Returns
    -------
    dict
        ``entropy``, mean −Σ_k ŷ_k ln ŷ_k; ``near_center``, mean probability of the center class
        and its neighbors; ``center_lead``, mean probability of the center class minus the largest
        of another; and of `hedging` (``hedging_…``), `center_excess` (``center_…``) and
        `tail_confidence` (``tail_…``) what is ``seen``, ``asked``, their ``excess`` and ``error``.
    """
    num_classes = probabilities.shape[1]
    at_end = np.isin(y_true, extreme_classes(num_classes))
    beyond = {
        "hedging": hedging(y_true, probabilities.argmax(1), probabilities),
        "center": center_excess(y_true, probabilities),
        "tail": tail_confidence(y_true, probabilities),
    }
    found = {
        f"{what}_{part}": getattr(each, part)
        for what, each in beyond.items()
        for part in ("seen", "asked", "error", "excess")
    }
    if not at_end.any():
        return dict.fromkeys(TAIL_METRICS, np.nan) | found
    p, center = probabilities[at_end].astype(float), (num_classes - 1) // 2
    entropy = -(p * np.log(np.maximum(p, np.finfo(float).tiny))).sum(1)
    near = p[:, max(center - 1, 0) : center + 2].sum(1)
    mean = p.mean(0)
    return {
        "entropy": float(entropy.mean()),
        "near_center": float(near.mean()),
        "center_lead": float(mean[center] - np.delete(mean, center).max()),
        **found,
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
    found = pd.DataFrame(rows, columns=[*keys, *TAIL_METRICS])
    return runs.merge(found, "left", keys)
