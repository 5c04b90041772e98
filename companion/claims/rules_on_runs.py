"""Rules for claims that compare means over seeds: verdict and reason of one claim each.

The same function judges our runs, the paper's own numbers where it prints enough, and each world
of `companion.claims.stability`. The rules in words are in the file ``claims.toml``. `ranking`
serves claims with pairs.
"""

from collections.abc import Callable
from math import hypot, isnan, nan

import numpy as np
from scipy.stats import f as f_distribution

from companion.claims.evidence import ZERO, CannotTest, Cell, Evidence, level, near, printed_cell
from companion.claims.verdicts import Verdict, verdict, weigh
from companion.paper.published import Claim, published

PRINTED_ZERO = 0.0005  # below it three decimals show 0.000
VANISHED = 0.1  # a rate has vanished below this share of cross-entropy's

Judgment = tuple[Verdict, str]


def listed(values: dict[str, float], form: str = ".3f") -> str:
    """Names with their values, for a reason."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def _difference(value: float) -> str:
    """``higher by 0.012``: a difference whose sign nobody has to interpret."""
    return f"{'higher' if value > 0 else 'lower'} by {abs(value):.3f}"


def listed_gaps(gaps: dict[str, float]) -> str:
    return ", ".join(f"{name} {gap:+.3f}" for name, gap in gaps.items())


def ranking(evidence: Evidence, claim: Claim) -> Judgment:
    """Judge a claim's comparisons; one clear counter-example refutes."""
    found, missing = [], []
    for dataset, metric, better, worse in claim.comparisons:
        try:
            rank, gap = evidence.gain(dataset, metric, better, worse)
        except CannotTest as error:
            missing.append(str(error))
            continue
        named = f"in {metric} on {dataset}" if len(claim.metrics) > 1 else f"on {dataset}"
        text = f"{better} {abs(gap):.3f} {'above' if gap > 0 else 'below'} {worse} {named}"
        found.append((rank, abs(gap) if rank > 0 else -abs(gap), text))
    judged = weigh(rank for rank, *_ in found)
    if missing and judged != Verdict.REFUTED:
        return Verdict.UNTESTED, missing[0]
    clear = sum(rank == 2 for rank, *_ in found)
    if len(found) == 1:
        return judged, found[0][2] + ("" if clear else ", not clearly")
    return judged, f"{clear} of {len(found)} clear; weakest: {min(found)[2]}"


RULES: dict[str, Callable[[Evidence, Claim], Judgment]] = {}


def rule(function: Callable) -> Callable:
    """Enter a function under the claim's id: its name, with hyphens."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def _beyond_belief(evidence: Evidence, claim: Claim) -> Judgment:
    """CE's excess over what its belief asks for, with the spread of seeds and of samples."""
    levels, texts = [], []
    what = claim.metrics[0].removesuffix("_excess")
    for name in claim.datasets:
        excess, error = (
            evidence.cell(name, "CE", f"{what}_{part}") for part in ("excess", "error")
        )
        whole = Cell(excess.mean, hypot(excess.error, error.mean), 1)
        levels.append(level(whole, ZERO))
        texts.append(f"{name} {whole.mean:+.3f} ± {whole.std:.3f}")
    return weigh(levels), ", ".join(texts)


for _id in ("ce-hedges", "excess-at-center", "tails-underconfident"):
    RULES[_id] = _beyond_belief


@rule
def fig2_ce_concentrates(evidence, claim):
    share = evidence.cell("Wine White", "CE", "near_center")
    return weigh([level(share, Cell(0.5))]), f"{share.mean:.3f} on the center and its neighbors"


@rule
def margins_over_ce(evidence, claim):
    leads = {}
    for name in claim.datasets:
        ours, base = (evidence.cell(name, method, "QWK") for method in ("AMOL", "CE"))
        error = hypot(ours.error, base.error)
        leads[name] = Cell(ours.mean - base.mean, error, 1, ours.rounding + base.rounding)
    modest = leads.pop("Synthetic", None)
    if modest is None or not leads:
        raise CannotTest("no Synthetic to compare with")
    judged = weigh(level(lead, modest) for lead in leads.values())
    means = {"Synthetic": modest.mean, **{name: lead.mean for name, lead in leads.items()}}
    return judged, f"lead over CE: {listed(means)}"


@rule
def best_or_tied_qwk(evidence, claim):
    """Ties are those of the printed decimals: no clear difference is no evidence of a tie."""
    levels, ahead = [], {}
    for name in claim.datasets:
        for base in claim.methods:
            if base != "AMOL":
                rank, gap = evidence.gain(name, "QWK", "AMOL", base)
                levels.append(2 if gap > -PRINTED_ZERO else rank)
                ahead[f"{base} on {name}"] = gap
    closest = min(ahead, key=ahead.get)
    return weigh(levels), f"closest: AMOL {_difference(ahead[closest])} than {closest}"


def _vanishes(evidence, claim):
    (dataset,), (base, method) = claim.datasets, claim.methods
    cell, baseline = (evidence.cell(dataset, m, "CHR") for m in (method, base))
    text = f"CHR {cell.mean:.4f}; {base} {baseline.mean:.4f}"
    spread = 0.0 if isnan(cell.std) else cell.std
    # a printed 0.000 has a std of at least its rounding, which must not count against it
    zero = cell.mean + max(0.0, spread - cell.rounding) < PRINTED_ZERO
    if zero and baseline.mean < PRINTED_ZERO:
        return Verdict.UNDECIDED, f"{text}: there was nothing to remove"
    rank = level(baseline, cell)
    return weigh([rank if zero or rank < 0 else min(rank, 1)]), text


RULES["synthetic-chr-zero"] = RULES["asym-eliminates"] = _vanishes


@rule
def oll_inconsistent(evidence, claim):
    gains = {name: evidence.gain(name, "CHR_ext", "CE", "OLL") for name in claim.datasets}
    gaps = {name: -gap for name, (_, gap) in gains.items()}
    return weigh([max(rank for rank, _ in gains.values())]), f"OLL − CE: {listed_gaps(gaps)}"


def _reduction(method: Cell, base: Cell) -> Cell:
    """Share of ``base`` that ``method`` removes, stds carried over to first order."""
    if base.mean == 0:
        raise CannotTest("CE's CHR_ext is 0: there is nothing to reduce")
    std = hypot(method.std / base.mean, method.mean * base.std / base.mean**2)
    rounding = method.rounding / base.mean + method.mean * base.rounding / base.mean**2
    return Cell(1 - method.mean / base.mean, std, method.n, rounding)


@rule
def wine_white_reduction(evidence, claim):
    methods = ("AMOL-asym", "CE")
    printed = [printed_cell(*published("Wine White", m, "CHR_ext"), 3) for m in methods]
    ours = _reduction(*(evidence.cell("Wine White", m, "CHR_ext") for m in methods))
    paper = _reduction(*printed)
    judged = verdict(clear=near(ours, paper), partly=level(ours) > 0)
    return judged, f"{ours.mean:.0%}; paper {paper.mean:.0%}"


@rule
def strongest_on_abalone(evidence, claim):
    removed = {
        name: _reduction(*(evidence.cell(name, m, "CHR_ext") for m in ("AMOL-asym", "CE")))
        for name in claim.datasets
    }
    text = f"share removed: {listed({name: c.mean for name, c in removed.items()}, '.0%')}"
    most = removed.pop("Abalone", None)
    if most is None or not removed:
        raise CannotTest("no Abalone to compare with others")
    return weigh(level(most, other) for other in removed.values()), text


def _vanished(base: Cell) -> Cell:
    return base._replace(mean=VANISHED * base.mean, std=VANISHED * base.std)


@rule
def asym_near_zero(evidence, claim):
    base, ours = (evidence.cell("Abalone", name, "CHR_ext") for name in claim.methods)
    return weigh([level(_vanished(base), ours)]), f"CHR_ext {ours.mean:.4f}; CE {base.mean:.4f}"


@rule
def direction_critical(evidence, claim):
    rates = {name: evidence.cell("Abalone", name, "CHR") for name in claim.methods}
    base, asym = rates.pop("CE"), rates.pop("AMOL-asym")
    vanished = _vanished(base)
    levels = [level(vanished, asym), *(level(rate, vanished) for rate in rates.values())]
    shown = {"CE": base, "AMOL-asym": asym, **rates}
    return weigh(levels), f"CHR: {listed({name: c.mean for name, c in shown.items()}, '.4f')}"


def _nearness(evidence, claim):
    base, method = claim.methods
    pairs = {
        m: [evidence.cell("Abalone", name, m) for name in claim.methods] for m in claim.metrics
    }
    flags = [near(*pair) for pair in pairs.values()]
    texts = [f"{m} {a.mean:.3f} and {b.mean:.3f}" for m, (a, b) in pairs.items()]
    return flags, f"{base} and {method}: {', '.join(texts)}"


@rule
def form_does_not_matter(evidence, claim):
    flags, text = _nearness(evidence, claim)
    return verdict(clear=all(flags), partly=any(flags)), text


@rule
def amol_ce_near_baseline(evidence, claim):
    flags, text = _nearness(evidence, claim)
    return verdict(clear=2 * sum(flags) > len(flags), partly=any(flags)), text


@rule
def clearest_effects(evidence, claim):
    gains = {name: evidence.gain(name, "QWK", "AMOL", "CE")[1] for name in claim.datasets}
    wanted = ("Wine White", "Abalone")
    if not set(wanted) <= set(gains) or len(gains) == len(wanted):
        raise CannotTest("too few data sets to rank their gains")
    rest = max(gain for name, gain in gains.items() if name not in wanted)
    flags = [gains[name] > rest for name in wanted]
    return verdict(clear=all(flags), partly=any(flags)), f"AMOL − CE: {listed_gaps(gains)}"


@rule
def linear_is_steadier(evidence, claim):
    """Standard deviations over seeds; clear beyond the 97.5 % point of an F distribution."""
    levels, texts = [], []
    for metric in claim.metrics:
        linear, other = (evidence.cell("Abalone", m, metric) for m in ("AMOL", "AMOL-exp"))
        if isnan(linear.std) or isnan(other.std):
            raise CannotTest("single runs tell no spread")
        low, high = sorted((linear.std, other.std))
        ratio = (high / low) ** 2 if low else nan
        clear = ratio > f_distribution.ppf(0.975, other.n - 1, linear.n - 1)
        sign = int(np.sign(other.std - linear.std))
        levels.append(sign * (2 if clear else 1))
        texts.append(f"{metric}: AMOL ± {linear.std:.3f}, AMOL-exp ± {other.std:.3f}")
    return weigh(levels), "; ".join(texts)


@rule
def less_certain_overall(evidence, claim):
    ours, base = (evidence.cell("Wine White", method, "entropy") for method in ("AMOL-asym", "CE"))
    return weigh([level(ours, base)]), f"entropy {ours.mean:.3f}, CE {base.mean:.3f}"


@rule
def no_longer_center(evidence, claim):
    """Of CE below 0 there is nothing to leave, which refutes nothing."""
    base, ours = (evidence.cell("Wine White", m, "center_lead") for m in claim.methods)
    ranks = [level(ZERO, ours), max(level(base), -1)]
    return weigh(ranks), f"center's lead {ours.mean:+.3f}, CE {base.mean:+.3f}"
