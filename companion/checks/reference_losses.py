"""The losses once more, slowly, at 50 digits: what `amol.losses` is checked against.

`REFERENCES` has, for each loss by its name, the formula as the book prints it, its source, and
the function that computes it. A loss that isn't there has nothing to be checked against.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mpmath
from mpmath import mpf
from torch import Tensor

from amol.losses import OrdinalLoss, beta_shapes


@dataclass(frozen=True)
class Reference:
    """A loss's definition: LaTeX, key of its source in the bibliography, and value at 50 digits.

    ``value(loss, z, y)`` takes the logits of a sample and its label; of a loss of batches, a list
    of such logits and one of labels. ``loss`` lends its parameters alone.
    """

    formula: str
    source: str
    value: Callable


REFERENCES: dict[str, Reference] = {}


def reference(name: str, formula: str, source: str):
    """Enter a function in `REFERENCES`."""

    def enter(value):
        REFERENCES[name] = Reference(formula, source, value)
        return value

    return enter


def oracle(name: str, loss: OrdinalLoss, logits: Tensor | list, y: int | list[int]) -> mpf:
    """Loss of one sample, or of a batch for a loss of batches, to 50 digits.

    Parameters
    ----------
    name : str
        One of `REFERENCES`.
    loss : OrdinalLoss
        Lends its parameters alone.
    logits : (num_logits,), or (n, num_logits) of a batch
        Taken as exact.
    y : int, or n of them
    """
    with mpmath.workdps(50):
        return REFERENCES[name].value(loss, _exact(logits), y)


def _exact(values):
    if isinstance(values, list) or getattr(values, "ndim", 0):
        return [_exact(value) for value in values]
    return values if isinstance(values, mpf) else mpf(float(values))


def _log_sum(values):
    top = max(values)
    return top + mpmath.log(mpmath.fsum(mpmath.exp(v - top) for v in values))


def _normalized(logs):
    total = _log_sum(logs)
    return [mpmath.exp(v - total) for v in logs]


def _softplus(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 0 else x + mpmath.log1p(mpmath.exp(-x))


def _log_p(z, *inside):
    """Log of the probability of a set of classes."""
    e = [mpmath.exp(v) for v in z]  # of any size: mpf has no largest exponent
    rest = mpmath.fsum(v for k, v in enumerate(e) if k not in inside)
    return -mpmath.log1p(rest / mpmath.fsum(e[k] for k in inside))


def _others(z, k):
    return [j for j in range(len(z)) if j != k]


def _closeness(z, y):
    return [1 - abs(k - y) / mpf(len(z) - 1) for k in range(len(z))]


def _pull(loss, z, y):
    """α (1 − |k − c|/c) (|y − c|/c), c = (K − 1)/2: what m adds to 1."""
    c = mpf(len(z) - 1) / 2
    return [mpf(loss.alpha) * (1 - abs(k - c) / c) * abs(y - c) / c for k in range(len(z))]


def _m(loss, z, y):
    return [1 + v for v in _pull(loss, z, y)]


def _gauss(loss, z, y):
    """Logarithms of the Gaussian target."""
    logs = [-(mpf(k - y) ** 2) / (2 * mpf(loss.sigma) ** 2) for k in range(len(z))]
    total = _log_sum(logs)
    return [v - total for v in logs]


@reference("CE", r"-\log \hat y_y", "paszke2019")
def _cross_entropy(loss, z, y):
    return -_log_p(z, y)


@reference("OLL", r"-\sum_k (1 - d_k/(K-1)) \log \hat y_k", "kandel2026")
def _ordinal_log(loss, z, y):
    return -mpmath.fsum(v * _log_p(z, k) for k, v in enumerate(_closeness(z, y)))


@reference("SORD", r"-\sum_k p_k \log \hat y_k", "diaz2019")
def _sord(loss, z, y):
    return -mpmath.fsum(mpmath.exp(v) * _log_p(z, k) for k, v in enumerate(_gauss(loss, z, y)))


_DIVERGENCE = r"\sum_k m(k,y)\, \hat y_k \log (\hat y_k / p_k)"


def _divergence(m, loss, z, y):
    log_y, log_q = [_log_p(z, k) for k in range(len(z))], _gauss(loss, z, y)
    return mpmath.fsum(w * mpmath.exp(v) * (v - q) for w, v, q in zip(m, log_y, log_q, strict=True))


@reference("AMOL", _DIVERGENCE, "kandel2026")
def _amol(loss, z, y):
    return _divergence(_m(loss, z, y), loss, z, y)


@reference("AMOL-asym", _DIVERGENCE + r",\ m \text{ inward only}", "kandel2026")
def _amol_asym(loss, z, y):
    c = mpf(len(z) - 1) / 2
    m = [v if y < k <= c or c <= k < y else 1 for k, v in enumerate(_m(loss, z, y))]
    return _divergence(m, loss, z, y)


@reference("AMOL-exp", _DIVERGENCE + r",\ m = e^{\alpha(1-|k-c|/c)|y-c|/c}", "kandel2026")
def _amol_exp(loss, z, y):
    return _divergence([mpmath.exp(v) for v in _pull(loss, z, y)], loss, z, y)


@reference("AMOL-OLL", r"-\sum_k m(k,y)\, (1 - d_k/(K-1)) \log \hat y_k", "kandel2026")
def _amol_oll(loss, z, y):
    weights = zip(_m(loss, z, y), _closeness(z, y), strict=True)
    return -mpmath.fsum(m * near * _log_p(z, k) for k, (m, near) in enumerate(weights))


@reference("AMOL-CE", r"-m(y,y) \log \hat y_y", "kandel2026")
def _amol_ce(loss, z, y):
    return -_m(loss, z, y)[y] * _log_p(z, y)


@reference("KL", r"\sum_k \hat y_k \log (\hat y_k / p_k)", "kandel2026")
def _kl(loss, z, y):
    return _divergence([1] * len(z), loss, z, y)


reference("CE-masked", r"-\log \hat y_y,\ \arg\max_{k \ne c}", "paszke2019")(_cross_entropy)

_DISTANCE = r"-\sum_k d_k^{\,a} \log (1 - \hat y_k)"


@reference("CDW-CE", _DISTANCE + r",\ a = 2", "polat2024")
@reference("OLL-Castagnos", _DISTANCE + r",\ a = 1", "castagnos2022")
def _distance_log(loss, z, y):
    power = mpf(loss.power)
    return -mpmath.fsum(mpf(abs(k - y)) ** power * _log_p(z, *_others(z, k)) for k in _others(z, y))


@reference("Focal", r"-(1 - \hat y_y)^\gamma \log \hat y_y", "lin2017")
def _focal(loss, z, y):
    return -mpmath.exp(mpf(loss.gamma) * _log_p(z, *_others(z, y))) * _log_p(z, y)


@reference("CORAL", r"-\sum_k \log s(\pm z_k)", "cao2020")
def _coral(loss, z, y):
    return mpmath.fsum(_softplus(-v if y > k else v) for k, v in enumerate(z))


@reference("CORN", r"-\sum_{k \le y} \log s(\pm z_k)", "shi2023")
def _corn(loss, z, y):
    return mpmath.fsum(_softplus(-v if y > k else v) for k, v in enumerate(z) if k <= y)


_ACCUMULATED = r"-\sum_i q_i \log \sum_{j:\, d_j \le d_i} \hat y_j"


@reference("SLACE", _ACCUMULATED, "nachmani2025")
def _slace(loss, z, y):
    return _accumulated_log(loss, z, [mpf(abs(k - y)) for k in range(len(z))])


@reference("SLACE-prox", _ACCUMULATED + r",\ d \text{ from class counts}", "nachmani2025")
def _slace_prox(loss, z, y):
    return _accumulated_log(loss, z, _dissimilarity(loss.class_counts or [1] * len(z), y))


def _accumulated_log(loss, z, d):
    q = _normalized([-mpf(loss.slope) * v for v in d])
    nearer = [[j for j, v in enumerate(d) if v <= limit + mpf(10) ** -40] for limit in d]
    return -mpmath.fsum(v * _log_p(z, *near) for v, near in zip(q, nearer, strict=True))


def _dissimilarity(counts, y):
    def proximity(c, y):
        between = counts[c + 1 : y + 1] if c < y else counts[y:c]
        return -mpmath.log((mpf(counts[c]) / 2 + sum(between)) / sum(counts))

    classes = range(len(counts))
    largest = max(proximity(a, b) for a in classes for b in classes)
    return [largest - proximity(k, y) for k in classes]


def _soft_label(name, which, source):
    """Enter the cross-entropy to a soft label, of which the function gives the row for a label."""

    def enter(row):
        @reference(name, r"-\sum_k p_k \log \hat y_k" + which, source)
        def value(loss, z, y):
            eta = mpf(loss.eta)
            target = [eta * v + (k == y) * (1 - eta) for k, v in enumerate(row(loss, y))]
            return -mpmath.fsum(v * _log_p(z, k) for k, v in enumerate(target))

        return row

    return enter


@_soft_label("Triangular", r",\ p \text{ triangular}", "vargas2023triangular")
def _triangular(loss, y):
    n, a = loss.num_classes, mpf(loss.neighbor)
    s = mpmath.sqrt(2 * a)
    width = mpf(1) / 2 / (1 - s)  # of half an inner triangle that leaves a on either side
    if 0 < y < n - 1:
        beside = (width - mpf(1) / 2) ** 2 / (2 * width**2)
        return [beside if abs(k - y) == 1 else (k == y) * (1 - 2 * beside) for k in range(n)]
    c = (1 - 2 * a) * (2 * a - s) * (1 if y == 0 else (mpf(n - 1) / n) ** 2)
    beside = ((1 - mpmath.sqrt(1 - 4 * c)) / 2) ** 2
    return [beside if abs(k - y) == 1 else (k == y) * (1 - beside) for k in range(n)]


@_soft_label("Binomial", r",\ p \text{ binomial}", "liu2020")
def _binomial(loss, y):
    n = loss.num_classes - 1
    p = mpf(1) / 10 + mpf(8) / 10 * y / n
    return [mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@_soft_label("Poisson", r",\ p \propto e^{\text{Poisson}}", "liu2020")
def _poisson(loss, y):
    rate = mpf(y + 1)
    return _normalized(
        [mpmath.exp(-rate) * rate**k / mpmath.factorial(k) for k in range(loss.num_classes)]
    )


@_soft_label("Exponential", r",\ p_k \propto e^{-d_k}", "vargas2023exponential")
def _exponential(loss, y):
    far = [mpf(abs(k - y)) ** mpf(loss.power) for k in range(loss.num_classes)]
    return _normalized([-v / mpf(loss.tau) for v in far])


@_soft_label("Beta", r",\ p \text{ beta}", "vargas2022")
def _beta(loss, y):
    n = loss.num_classes
    a, b = beta_shapes(n)[y]
    upto = [mpf(0), *(_beta_upto(a, b, mpf(k) / n) for k in range(1, n)), mpf(1)]
    return [above - below for below, above in pairwise(upto)]


def _beta_upto(a, b, x):
    """P(X ≤ x), by parts: Σ_{i ≥ a} (n over i) x^i (1 − x)^(n − i), n = a + b − 1."""
    n, total = a + b - 1, mpf(0)
    term, odds = mpmath.binomial(n, a) * x**a * (1 - x) ** (b - 1), x / (1 - x)
    for i in range(a, n + 1):
        total += term
        term *= odds * (n - i) / (i + 1)
        if i > n * x and term < total * mpf(10) ** -60:
            break
    return total


@reference("CLM", r"-\log (s(t_{y-1}) - s(t_y))", "mccullagh1980")
def _cumulative_link(loss, z, y):
    t, steps = z[0], [_softplus(v - z[0]) for v in z[1:]]
    cuts = [t - mpmath.fsum(steps[:k]) for k in range(len(z))]
    if y == 0:
        return _softplus(cuts[0])
    if y == len(z):
        return _softplus(-cuts[-1])
    # σ(a) − σ(a − d) = σ(a) σ(d − a) (1 − exp(−d)), d kept apart since a swallows it
    return _softplus(-cuts[y - 1]) + _softplus(cuts[y]) - mpmath.log(-mpmath.expm1(-steps[y - 1]))


@reference("EMD2", r"\sum_k (\sum_{j \le k} \hat y_j - [y \le k])^2", "hou2016")
def _squared_distance(loss, z, y):
    e = [mpmath.exp(v) for v in z]
    sides = [e[: k + 1] if k < y else e[k + 1 :] for k in range(len(z) - 1)]
    return mpmath.fsum((mpmath.fsum(side) / mpmath.fsum(e)) ** 2 for side in sides)


@reference("WK", r"\sum_{ij} (i-j)^2 O_{ij} / \sum_{ij} (i-j)^2 E_{ij}", "delatorre2018")
def _weighted_kappa(loss, rows, labels):
    """From O and E of the batch; 1 where it is 0/0."""
    p = [_normalized(row) for row in rows]
    n, classes = len(labels), range(loss.num_classes)
    observed, expected = mpf(0), mpf(0)
    for i in classes:
        for j in classes:
            cost = mpf(i - j) ** 2 / (len(classes) - 1) ** 2
            observed += cost * mpmath.fsum(p[k][i] for k in range(n) if labels[k] == j)
            expected += cost * mpmath.fsum(row[i] for row in p) * list(labels).count(j) / n
    return mpf(1) if expected == 0 else observed / expected


@reference("LogitAdj", r"-\log \hat y_y,\ z + \tau \log \pi", "menon2021")
def _adjusted(loss, z, y):
    counts = [max(c, 1) for c in loss.class_counts or [1] * len(z)]
    return -_log_p([v + mpf(loss.tau) * mpmath.log(counts[k]) for k, v in enumerate(z)], y)


@reference("CE-balanced", r"-\frac{n}{K n_y} \log \hat y_y", "pedregosa2011")
def _balanced(loss, z, y):
    counts = loss.class_counts or [1] * len(z)
    return -mpf(sum(counts)) / (sum(c > 0 for c in counts) * counts[y]) * _log_p(z, y)
