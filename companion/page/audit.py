"""An audit of any classifier's answers: metrics with bootstrap intervals, and does it hedge?

The page *Audit your own predictions* computes the same with the same random numbers, in
``book/_static/audit.js``.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.claims.hedging import extreme_classes, hedging
from companion.data.csv_predictions import Predictions

RESAMPLES = 2000
SEED = 2026
NAMES = ("CHR", "CHR_ext", "J_c", "QWK", "MAE", "AMAE", "center_recall", "extreme_recall")
GROUPS = ("own class", "next to it", "between", "center", "beyond")


def draws(count: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[np.ndarray]:
    """Places of a bootstrap's samples, per resample an array of int64 (N,).

    Draw number i, counted from 0 over all resamples, is ⌊h(i) N / 2³²⌋. SplitMix32 gives h: the
    finalizer of MurmurHash3 on seed + (i + 1) · 0x9E3779B9, all modulo 2³² (Steele, Lea and
    Flood 2014, doi:10.1145/2660193.2660195, in 32 bits). It is whole-number arithmetic that
    a browser does as exactly, as long as N is below 2²¹.
    """
    for first in range(0, count * resamples, count):
        z = np.arange(first + 1, first + count + 1, dtype=np.uint64).astype(np.uint32)
        z = z * np.uint32(0x9E3779B9) + np.uint32(seed)
        z = (z ^ (z >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        z = (z ^ (z >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        z ^= z >> np.uint32(16)
        yield ((z.astype(np.uint64) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Percentile interval of 95 %: the values without the lowest and the highest 2.5 %.

    ``values`` has shape (resamples,). A resample in which the metric isn't defined doesn't count;
    the interval is nan where there is no other.
    """
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        return float("nan"), float("nan")
    left_out = len(values) // 40
    return float(values[left_out]), float(values[-1 - left_out])


def audit(answers: Predictions, resamples: int = RESAMPLES) -> dict:
    """Metrics of a classifier's answers, with bootstrap intervals.

    Parameters
    ----------
    answers : Predictions
    resamples : int

    Returns
    -------
    dict
        ``labels``, ``assumed``, ``samples``, ``extreme`` (number of samples of the first and the
        last class), ``center`` (its label), ``resamples``; ``metrics``, by name ``value``,
        ``low`` and ``high``; ``hedging`` and ``asked``, the same of `companion.claims.hedging`,
        None without probabilities; ``answers``, how many samples of the ``lowest`` class, the
        ``highest`` and ``both`` go to each of `GROUPS`; ``sentence``.

    Notes
    -----
    Samples are drawn in the order of their pair of true and predicted label, so that the intervals
    of what the labels alone determine don't depend on the order of rows.
    """
    k = len(answers.labels)
    order = np.argsort(answers.y_true * k + answers.y_pred, kind="stable")
    y_true, y_pred = answers.y_true[order], answers.y_pred[order]
    shares = None if answers.probabilities is None else answers.probabilities[order]
    figures = _figures(y_true, y_pred, k, shares)
    drawn = [
        _figures(y_true[at], y_pred[at], k, None if shares is None else shares[at])
        for at in draws(len(y_true), resamples)
    ]
    metrics = {}
    for name, value in figures.items():
        low, high = interval(np.array([each[name] for each in drawn]))
        metrics[name] = {"value": value, "low": low, "high": high}
    ends = {"lowest": (0,), "highest": (k - 1,), "both": (0, k - 1)}
    made = {
        "labels": list(answers.labels),
        "assumed": answers.assumed,
        "samples": len(y_true),
        "extreme": int(np.isin(y_true, ends["both"]).sum()),
        "center": answers.labels[(k - 1) // 2],
        "resamples": resamples,
        "hedging": metrics.pop("hedging", None),
        "asked": metrics.pop("asked", None),
        "metrics": metrics,
        "answers": {name: _groups(y_true, y_pred, k, end) for name, end in ends.items()},
    }
    return made | {"sentence": sentence(made)}


def _figures(y_true: np.ndarray, y_pred: np.ndarray, k: int, shares) -> dict[str, float]:
    names = (*NAMES, "center_rate")
    figures = {name: METRICS[name](y_true, y_pred, k) for name in names}
    if shares is not None:
        beyond = hedging(y_true, y_pred, shares)
        figures |= {"hedging": beyond.excess, "asked": beyond.asked}
        figures |= {name: metric(y_true, shares) for name, metric in PROBABILITY_METRICS.items()}
    return figures


def _groups(y_true: np.ndarray, y_pred: np.ndarray, k: int, ends: Sequence[int]) -> list[int]:
    """How many samples of the end classes are answered with each of `GROUPS`."""
    center, counts = (k - 1) // 2, np.zeros(len(GROUPS), dtype=int)
    for end in ends:
        answer = np.abs(y_pred[y_true == end] - end)  # steps from the end
        middle = abs(center - end)
        place = np.select([answer == 0, answer == middle, answer > middle, answer == 1],
                          [0, 3, 4, 1], 2)  # fmt: skip
        counts += np.bincount(place, minlength=len(GROUPS))
    return counts.tolist()


def sentence(made: dict) -> str:
    """Whether the classifier hedges beyond what its belief asks for, with the figures behind it.

    From labels alone that can't be told; then the sentence says how often it answers the center.
    """
    labels, center = made["labels"], made["center"]
    ends = [labels[k] for k in extreme_classes(len(labels))]
    rate = made["metrics"]["CHR_ext" if len(labels) >= 5 else "CHR"]
    named = f"{', '.join(ends[:-1])} and {ends[-1]}"
    if np.isnan(rate["value"]):
        return f"No sample is of class {named}, so nothing can be said about hedging."
    seen = f"the answer is {center}, the center, for {100 * rate['value']:.1f} % of the samples of "
    hedged = made["hedging"]
    if hedged is None:
        low, high = (f"{100 * rate[name]:.1f}" for name in ("low", "high"))
        return (
            f"Whether it hedges can't be told from labels alone; {seen}{named} (95 % interval "
            f"{low} to {high}). A column of probabilities per label says how many of them its "
            "belief asks for."
        )
    verdict = "It hedges no more and no less than its belief asks for, as far as these samples show"
    if hedged["low"] > 0:
        verdict = "It hedges more than its belief asks for"
    if hedged["high"] < 0:
        verdict = "It hedges less than its belief asks for"
    points = [f"{100 * hedged[name]:+.1f}".replace("-", "−") for name in ("value", "low", "high")]
    return (
        f"{verdict}: {seen}{named}, where its own probabilities ask for "
        f"{100 * made['asked']['value']:.1f} %, "
        f"a difference of {points[0]} points (95 % interval {points[1]} to {points[2]})."
    )


def text(made: dict) -> str:
    """The audit as lines for a terminal."""
    lines = [
        f"{made['samples']} samples, {made['extreme']} of them of the first or the last class",
        f"labels, lowest to highest: {', '.join(made['labels'])}"
        + ("; assumed, since they are whole numbers (--labels sets them)" * made["assumed"]),
        "",
        f"{'':15}{'value':>7}   95 % interval ({made['resamples']} bootstrap resamples)",
    ]
    for name, figure in made["metrics"].items():
        value, low, high = (_number(figure[key]) for key in ("value", "low", "high"))
        lines.append(f"{name:15}{value:>7}   {low} to {high}")
    low, high = made["labels"][0], made["labels"][-1]
    lines += ["", f"where the samples of {low} and {high} go"]
    for place, group in enumerate(GROUPS):
        lowest, highest, both = (_percent(counts, place) for counts in made["answers"].values())
        bar = "#" * round(30 * made["answers"]["both"][place] / max(made["extreme"], 1))
        lines.append(f"{group:11}{bar:30} {both:>5}   ({low}: {lowest}, {high}: {highest})")
    return "\n".join([*lines, "", made["sentence"]])


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}".replace("-", "−")


def _percent(counts: Sequence[int], place: int) -> str:
    return f"{100 * counts[place] / sum(counts):.0f} %" if sum(counts) else "–"
