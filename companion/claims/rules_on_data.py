"""Rules for claims about the data files, the formulas themselves and two recorded studies."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

from amol.losses import LOSSES, center_class, center_weight, gaussian_log_target
from companion.claims.evidence import CannotTest, Cell, evidence_of_runs, level
from companion.claims.rules_on_runs import RULES, listed, rule
from companion.claims.verdicts import verdict, weigh
from companion.data.datasets import load_dataset
from companion.studies.recordings import load, made

SIZES = {"Synthetic": (5000, 7), "Wine Red": (1599, 6), "Wine White": (4898, 7),
         "Abalone": (4177, 7)}  # fmt: skip
ENOUGH_SAMPLES = 20  # the paper's Section 3.1: below, it reports CHR_ext
CLASSES_IN_USE = (6, 7)


def _where(holds: dict[str, bool]) -> tuple[str, str]:
    failing = [name for name, flag in holds.items() if not flag]
    reason = f"fails for {', '.join(failing)}" if failing else "holds throughout"
    return verdict(clear=not failing, partly=len(failing) < len(holds)), reason


@rule
def middle_minimizes(evidence, claim):
    flags, texts = [], []
    for name in claim.datasets:
        data = load_dataset(name)
        best = int(np.argmin([np.abs(data.y - k).mean() for k in range(data.num_classes)]))
        flags.append(best in ((data.num_classes - 1) // 2, data.num_classes // 2))
        texts.append(f"{name} {best} of 0 to {data.num_classes - 1}")
    return verdict(clear=all(flags), partly=any(flags)), f"best constant class: {', '.join(texts)}"


@rule
def dataset_sizes(evidence, claim):
    loaded = {name: load_dataset(name) for name in claim.datasets}
    return _where({n: (len(d.y), d.num_classes) == SIZES[n] for n, d in loaded.items()})


@rule
def abalone_extreme_samples(evidence, claim):
    count = evidence.test_counts("Abalone")[[0, -1]].sum()
    off = abs(count / 266 - 1)
    return verdict(clear=off <= 0.01, partly=off <= 0.1), f"{count} samples"


@rule
def wine_red_extreme_samples(evidence, claim):
    count = evidence.test_counts("Wine Red")[[0, -1]].sum()
    return verdict(clear=4 <= count <= 6, partly=count < ENOUGH_SAMPLES), f"{count} samples"


@rule
def abalone_only_enough(evidence, claim):
    counts = {name: evidence.test_counts(name)[[0, -1]].sum() for name in claim.datasets}
    enough = {name for name, count in counts.items() if count >= ENOUGH_SAMPLES}
    return verdict(clear=enough == {"Abalone"}, partly="Abalone" in enough), listed(counts, "d")


@rule
def center_heavy_gains(evidence, claim):
    flags, texts = [], []
    for name in claim.datasets:
        data = load_dataset(name)
        shares = np.bincount(data.y) / len(data.y)
        center = center_class(data.num_classes)
        flags.append(shares.argmax() == center)
        texts.append(f"{name} center {shares[center]:.3f}, largest {shares.max():.3f}")
    return verdict(clear=all(flags), partly=any(flags)), "; ".join(texts)


@rule
def worst_distance(evidence, claim):
    reach = {k: max(abs(k - y) for y in range(7)) for k in (0, 3, 6)}
    return _where({f"class {k}": reach[k] == (3 if k == 3 else 6) for k in reach})


def _moved_mass(evidence, claim):
    at_center = torch.tensor([0.2, 0.04, 0.04, 0.64, 0.02, 0.02, 0.04], dtype=torch.float64)
    at_end = at_center[[0, 1, 2, 6, 4, 5, 3]]
    costs = {}
    for name in claim.methods:
        loss = LOSSES[name](num_classes=7)
        costs[name] = [float(loss(p.log(), torch.tensor(0))) for p in (at_center, at_end)]
    texts = [f"{name} {a:.3f} at the center, {b:.3f} far" for name, (a, b) in costs.items()]
    flags = [abs(a - b) < 1e-9 for a, b in costs.values()]
    return verdict(clear=all(flags), partly=any(flags)), "; ".join(texts)


RULES["ce-blind"] = RULES["oll-identical"] = _moved_mass


@rule
def property_recovery(evidence, claim):
    forms = (("linear", "both"), ("exponential", "both"), ("linear", "inward"))
    return _where({
        f"{form}, {direction}, K = {k}": bool((center_weight(k, 0.0, form, direction) == 1).all())
        for form, direction in forms
        for k in range(2, 13)
    })  # fmt: skip


@rule
def property_center_label(evidence, claim):
    return _where({
        f"K = {k}": bool((center_weight(k)[center_class(k)] == 1).all()) for k in CLASSES_IN_USE
    })  # fmt: skip


@rule
def property_maximum(evidence, claim):
    weights = {k: center_weight(k) for k in CLASSES_IN_USE}
    return _where({f"K = {k}": bool((m[[0, -1], center_class(k)] == m.max()).all())
                   for k, m in weights.items()})  # fmt: skip


@rule
def property_correct_extreme(evidence, claim):
    weights = {f"K = {k}": center_weight(k) for k in range(2, 13)}
    return _where({name: bool(m[0, 0] == m[-1, -1] == 1) for name, m in weights.items()})


@rule
def kl_at_zero(evidence, claim):
    holds = {}
    for k in CLASSES_IN_USE:
        prediction = torch.arange(1.0, k + 1, dtype=torch.float64) / (k * (k + 1) / 2)
        divergence = (prediction * (prediction.log() - gaussian_log_target(k, 1.0))).sum(-1)
        loss = LOSSES["AMOL"](num_classes=k, alpha=0.0, reduction="none")
        ours = loss(prediction.log().expand(k, k), torch.arange(k))
        holds[f"K = {k}"] = bool((ours - divergence).abs().max() < 1e-12)
    return _where(holds)


@rule
def not_proper(evidence, claim):
    loss = LOSSES["AMOL"](num_classes=7, reduction="none")
    sure = torch.full((7, 7), 0.01 / 6, dtype=torch.float64).fill_diagonal_(0.99)
    labels = torch.arange(7)
    lower = loss(gaussian_log_target(7, 1.0), labels) < loss(sure.log(), labels)
    return _where({f"y = {y}": bool(flag) for y, flag in enumerate(lower)})


@rule
def one_hyperparameter(evidence, claim):
    logits, label = torch.linspace(-1, 1, 7, dtype=torch.float64), torch.tensor(0)
    moved = {}
    for name in ("alpha", "sigma"):
        one, two = (LOSSES["AMOL"](num_classes=7, **{name: v})(logits, label) for v in (1.0, 2.0))
        moved[name] = bool(one != two)
    changing = [name for name, flag in moved.items() if flag]
    return verdict(clear=len(changing) == 1), f"the loss changes with {' and '.join(changing)}"


@rule
def alpha_needs_tuning(evidence, claim):
    if not made("alpha"):
        raise CannotTest("the sweep of alpha isn't recorded")
    rows = load("alpha")
    swept = {a: evidence_of_runs(part) for a, part in rows.groupby("strength")}
    by_validation = rows.groupby(["dataset", "strength"])["validation_QWK"].mean().unstack()
    levels, texts = [], []
    for name in claim.datasets:
        best = by_validation.loc[name].idxmax()
        tuned, plain = (swept[a].cell(name, "AMOL", "QWK") for a in (best, 1.0))
        levels.append(level(tuned, plain))
        texts.append(f"{name}: alpha {best:g} {tuned.mean:.3f}, alpha 1 {plain.mean:.3f}")
    return weigh(levels), "; ".join(texts)


def _untuned(*metrics: str) -> Callable[[str, str, str], Cell]:
    """Cells of the fair fight's untuned networks over its splits, by (dataset, method, metric)."""
    if not made("fair_fight"):
        raise CannotTest("the fair fight isn't recorded")
    rows = load("fair_fight")
    groups = rows[rows["rule"] == "default"].groupby(["dataset", "method"])[list(metrics)]
    found = groups.agg(["mean", "std", "count"])
    return lambda dataset, method, metric: Cell(*found.loc[(dataset, method), metric])


def _worse_calibrated(metric: str) -> Callable:
    def judge(evidence, claim):
        cell = _untuned(metric)
        levels, texts = [], []
        for name in claim.datasets:
            ours, plain = (cell(name, method, metric) for method in claim.methods)
            levels.append(level(ours, plain))
            texts.append(f"{name}: {ours.mean:.3f} against {plain.mean:.3f}")
        return weigh(levels), "; ".join(texts)

    return judge


RULES["calibration"] = _worse_calibrated("ECE")
RULES["calibration-left-open"] = _worse_calibrated("ECE_T")


@rule
def monotone_left_open(evidence, claim):
    """Mass .2 on the label and .64 on one other class, which moves outward; .16 on the rest."""
    holds = {}
    for k in CLASSES_IN_USE:
        loss = LOSSES["AMOL"](num_classes=k)
        for y in range(k):
            p = torch.full((k, k), 0.16 / (k - 2), dtype=torch.float64).fill_diagonal_(0.64)
            p[:, y] = 0.2  # row j: the lump is in class j
            cost = [float(loss(row.log(), torch.tensor(y))) for row in p]
            below, above = cost[:y][::-1], cost[y + 1 :]
            holds[f"y = {y} of {k}"] = all(
                near < far for side in (below, above) for near, far in pairwise(side)
            )
    return _where(holds)


@rule
def proper_left_open(evidence, claim):
    """Whether the least expected loss, among some distributions, is at the true one of them."""
    found = {"sure": [], "even": [], "Gaussian": []}
    for k in CLASSES_IN_USE:
        sure = torch.full((k, k), 0.01 / (k - 1), dtype=torch.float64).fill_diagonal_(0.99)
        even = torch.full((1, k), 1 / k, dtype=torch.float64)
        some = torch.cat([sure, even, gaussian_log_target(k, 1.0).exp()])
        loss = LOSSES["AMOL"](num_classes=k, reduction="none")
        cost = loss(some.log()[:, None].expand(-1, k, -1), torch.arange(k).expand(len(some), k))
        best = (some @ cost.T).argmin(dim=1)  # truths down, forecasts across
        own = (best == torch.arange(len(some))).tolist()
        for name, part in zip(found, (own[:k], own[k : k + 1], own[k + 1 :]), strict=True):
            found[name] += part
    texts = [f"{sum(part)} of {len(part)} {name}" for name, part in found.items()]
    return verdict(clear=all(map(all, found.values()))), f"own best forecast: {', '.join(texts)}"


@rule
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
    clear = {one: [found == 2 for found in part] for one, part in levels.items()}
    shares = {one: sum(flags) / len(flags) for one, flags in clear.items()}
    text = "; ".join(
        f"clearly lower on {sum(flags)} of {len(flags)} with {'one mode' if one else 'several'}"
        for one, flags in clear.items()
    )
    return verdict(clear=all(clear[True]) and not any(clear[False]),
                   partly=shares[True] > shares[False]), text  # fmt: skip


@rule
def more_classes_left_open(evidence, claim):
    cell = _untuned("QWK", "CHR_ext")
    levels, texts = [], []
    for name in claim.datasets:
        for metric, sign in (("QWK", 1), ("CHR_ext", -1)):
            ours, plain = (cell(name, method, metric) for method in claim.methods)
            levels.append(sign * level(ours, plain))
            texts.append(f"{metric} on {name} {ours.mean:.3f} against {plain.mean:.3f}")
    return weigh(levels), "; ".join(texts)
