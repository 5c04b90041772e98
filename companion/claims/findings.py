"""What we find beside a statement that isn't judged: a definition, a limitation, an open question.

Each function computes a text, with no verdict: what follows from formulas, or what recorded
studies measure. What is computed is in words in the file ``claims.toml``.
"""

from collections.abc import Callable

import numpy as np
import torch

from amol.losses import LOSSES, center_class, center_weight, gaussian_log_target
from companion.claims.evidence import CannotTest, Cell, Evidence, evidence_of_runs, level
from companion.claims.rules_on_runs import listed
from companion.data.datasets import load_dataset
from companion.paper.published import Claim
from companion.studies.recordings import load, made
from companion.theory.limits import costs_less_farther, violates_dominance
from companion.theory.properties import properties

CLASSES_IN_USE = (6, 7)

FINDINGS: dict[str, Callable[[Evidence, Claim], str]] = {}


def finding(function: Callable) -> Callable:
    """Enter a function under the statement's id: its name, with hyphens."""
    FINDINGS[function.__name__.replace("_", "-")] = function
    return function


def _throughout(holds: dict[str, bool]) -> str:
    failing = [name for name, flag in holds.items() if not flag]
    return f"fails for {', '.join(failing)}" if failing else "holds throughout"


@finding
def abalone_bins(evidence, claim):
    labels = load_dataset("Abalone").y
    shares = np.bincount(labels) / len(labels)
    return f"shares from {shares.min():.3f} to {shares.max():.3f}; 1/7 is {1 / 7:.3f}"


@finding
def worst_distance(evidence, claim):
    reach = {k: max(abs(k - y) for y in range(7)) for k in (0, 3, 6)}
    return _throughout({f"class {k}": reach[k] == (3 if k == 3 else 6) for k in reach})


def _moved_mass(evidence, claim):
    at_center = torch.tensor([0.2, 0.04, 0.04, 0.64, 0.02, 0.02, 0.04], dtype=torch.float64)
    at_end = at_center[[0, 1, 2, 6, 4, 5, 3]]
    texts = []
    for name in claim.methods:
        loss = LOSSES[name](num_classes=7)
        center, far = (float(loss(p.log(), torch.tensor(0))) for p in (at_center, at_end))
        word = "the same" if abs(center - far) < 1e-9 else "not the same"
        texts.append(f"{name} {word}: {center:.3f} at the center, {far:.3f} at the end")
    return "; ".join(texts)


FINDINGS["ce-blind"] = FINDINGS["oll-identical"] = _moved_mass


@finding
def low_chr_less_biased(evidence, claim):
    texts = []
    for name in claim.datasets:
        lowest = min(claim.methods, key=lambda m: evidence.cell(name, m, "CHR_ext").mean)
        rate, base = (evidence.cell(name, m, "center_rate").mean for m in (lowest, "CE"))
        true = evidence.center_share(name)
        texts.append(f"{name}: {lowest} {rate:.3f}, CE {base:.3f}, labels {true:.3f}")
    return f"share of “center”: {'; '.join(texts)}"


@finding
def property_joint(evidence, claim):
    extra = center_weight(7, 1.0)[:4] - 1  # labels 0 to 3, whose mirror images are the rest
    zero = bool((extra[3] == 0).all() and (extra[:, [0, 6]] == 0).all())
    return (
        f"At K = 7 and alpha = 1 it is {1 + extra.max():.2g} for the center under an end"
        + (", and 1 where the label is the center or the class an end" if zero else "")
        + f"; under the label next to an end, beside the center, still {1 + extra[1, 2]:.2f}"
    )


@finding
def property_recovery(evidence, claim):
    forms = (("linear", "both"), ("exponential", "both"), ("linear", "inward"))
    return _throughout({
        f"{form}, {direction}, K = {k}": bool((center_weight(k, 0.0, form, direction) == 1).all())
        for form, direction in forms
        for k in range(2, 13)
    })  # fmt: skip


@finding
def property_center_label(evidence, claim):
    return _throughout({
        f"K = {k}": bool((center_weight(k)[center_class(k)] == 1).all()) for k in CLASSES_IN_USE
    })  # fmt: skip


@finding
def property_maximum(evidence, claim):
    weights = {k: center_weight(k) for k in CLASSES_IN_USE}
    return _throughout({f"K = {k}": bool((m[[0, -1], center_class(k)] == m.max()).all())
                        for k, m in weights.items()})  # fmt: skip


@finding
def property_correct_extreme(evidence, claim):
    weights = {f"K = {k}": center_weight(k) for k in range(2, 13)}
    right = _throughout({name: bool(m[0, 0] == m[-1, -1] == 1) for name, m in weights.items()})
    wrong = all(bool(m[0, -1] == m[-1, 0] == 1) for m in weights.values())
    return right + ("; the opposite end bears none either" if wrong else "")


@finding
def property_inward(evidence, claim):
    m = center_weight(7, 1.0, "linear", "inward")
    return _throughout({
        f"y = {y}": bool((m[y, 4:] == 1).all() and m[y, 3] > 1 and m[6 - y].equal(m[y].flip(0)))
        for y in range(3)
    })  # fmt: skip


@finding
def kl_at_zero(evidence, claim):
    holds = {}
    for k in CLASSES_IN_USE:
        prediction = torch.arange(1.0, k + 1, dtype=torch.float64) / (k * (k + 1) / 2)
        divergence = (prediction * (prediction.log() - gaussian_log_target(k, 1.0))).sum(-1)
        loss = LOSSES["AMOL"](num_classes=k, alpha=0.0, reduction="none")
        ours = loss(prediction.log().expand(k, k), torch.arange(k))
        holds[f"K = {k}"] = bool((ours - divergence).abs().max() < 1e-12)
    return _throughout(holds)


@finding
def wine_red_caveat(evidence, claim):
    texts = []
    for name in claim.datasets:
        spreads = {m: evidence.cell(name, m, "CHR").std for m in claim.methods}
        texts.append(f"{name} {listed(spreads)}")
    return f"std of CHR over seeds: {'; '.join(texts)}"


@finding
def alpha_needs_tuning(evidence, claim):
    if not made("alpha"):
        raise CannotTest("the sweep of alpha isn't recorded")
    rows = load("alpha")
    swept = {a: evidence_of_runs(part) for a, part in rows.groupby("strength")}
    by_validation = rows.groupby(["dataset", "strength"])["validation_QWK"].mean().unstack()
    texts = []
    for name in claim.datasets:
        best = by_validation.loc[name].idxmax()
        tuned, plain = (swept[a].cell(name, "AMOL", "QWK").mean for a in (best, 1.0))
        texts.append(f"{name}: alpha {best:g} {tuned:.3f}, alpha 1 {plain:.3f}")
    return f"QWK, {'; '.join(texts)}"


def _untuned(*metrics: str) -> Callable[[str, str, str], Cell]:
    """Cells of the fair fight's untuned networks over its splits, by (dataset, method, metric)."""
    if not made("fair_fight"):
        raise CannotTest("the fair fight isn't recorded")
    rows = load("fair_fight")
    groups = rows[rows["rule"] == "default"].groupby(["dataset", "method"])[list(metrics)]
    found = groups.agg(["mean", "std", "count"])
    return lambda dataset, method, metric: Cell(*found.loc[(dataset, method), metric])


def _compared(*metrics: str) -> Callable:
    """Means of both methods on each data set, metric by metric."""

    def text(evidence, claim):
        cell = _untuned(*metrics)
        texts = []
        for metric in metrics:
            pairs = {d: [cell(d, m, metric).mean for m in claim.methods] for d in claim.datasets}
            each = ", ".join(
                f"{name} {one:.3f} and {two:.3f}" for name, (one, two) in pairs.items()
            )
            texts.append(f"{metric} of {' and '.join(claim.methods)}: {each}")
        return "; ".join(texts)

    return text


FINDINGS["calibration"] = _compared("ECE")
FINDINGS["calibration-left-open"] = _compared("ECE_T")
FINDINGS["more-classes-left-open"] = _compared("QWK", "CHR_ext")


@finding
def asym_needs_a_center(evidence, claim):
    cell = _untuned("CHR")
    levels = {True: [], False: []}
    for name in claim.datasets:
        counts = np.bincount(load_dataset(name).y)
        steps = np.sign(np.diff(np.r_[-1, counts, -1]))
        turns = steps[steps != 0]
        one_mode = int(((turns[:-1] > 0) & (turns[1:] < 0)).sum()) == 1
        weighted, plain = (cell(name, method, "CHR") for method in claim.methods)
        levels[one_mode].append(level(plain, weighted))
    return "; ".join(
        f"clearly lower on {part.count(2)} of {len(part)} sets with {modes}"
        for modes, part in (("one mode", levels[True]), ("several", levels[False]))
    )


@finding
def not_proper(evidence, claim):
    loss = LOSSES["AMOL"](num_classes=7, reduction="none")
    sure = torch.full((7, 7), 0.01 / 6, dtype=torch.float64).fill_diagonal_(0.99)
    labels = torch.arange(7)
    lower = loss(gaussian_log_target(7, 1.0), labels) < loss(sure.log(), labels)
    return "lower at the target: " + _throughout(
        {f"y = {y}": bool(flag) for y, flag in enumerate(lower)}
    )


@finding
def monotone_left_open(evidence, claim):
    up_to = [f"{costs_less_farther(k):.2f} (K = {k})" for k in CLASSES_IN_USE]
    moved = _throughout({f"K = {k}": not violates_dominance(k, 3, 1.0) for k in CLASSES_IN_USE})
    return (
        "A sure wrong answer costs more the farther it is off up to alpha "
        f"{' and '.join(up_to)}. A belief that moves up is never answered lower: {moved}."
    )


@finding
def proper_left_open(evidence, claim):
    cells = properties()["AMOL"]
    return (
        f"Strictly proper: {cells['proper'].word}. The belief can be had back from what the loss "
        f"asks for: {cells['map'].word}."
    )
