"""The losses once more, slowly, at 50 digits: what `amol.losses` is checked against."""

from itertools import pairwise

import mpmath
from mpmath import mpf
from torch import Tensor

from amol.losses import OrdinalLoss, beta_shapes


def oracle(name: str, loss: OrdinalLoss, logits: Tensor | list[mpf], y: int) -> mpf:
    """Loss of one sample to 50 digits, written out from its definition.

    `logits` (num_logits,) are taken as exact; `loss` lends its parameters alone.
    """
    with mpmath.workdps(50):
        return _oracle(
            name, loss, [mpf(v) if isinstance(v, mpf) else mpf(float(v)) for v in logits], y
        )


def batch_oracle(logits: Tensor | list[list[mpf]], y: list[int]) -> mpf:
    """Weighted kappa loss of a batch to 50 digits, from O and E; 1 where it is 0/0."""
    with mpmath.workdps(50):
        rows = [[mpmath.exp(v if isinstance(v, mpf) else float(v)) for v in row] for row in logits]
        p = [[v / mpmath.fsum(row) for v in row] for row in rows]
        n, classes = len(y), range(len(p[0]))
        observed, expected = mpf(0), mpf(0)
        for i in classes:
            for j in classes:
                cost = mpf(i - j) ** 2 / (len(classes) - 1) ** 2
                observed += cost * mpmath.fsum(p[k][i] for k in range(n) if y[k] == j)
                expected += cost * mpmath.fsum(row[i] for row in p) * list(y).count(j) / n
        return mpf(1) if expected == 0 else observed / expected


def _log_sum(values):
    top = max(values)
    return top + mpmath.log(mpmath.fsum(mpmath.exp(v - top) for v in values))


def _softplus(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 0 else x + mpmath.log1p(mpmath.exp(-x))


def _oracle(name, loss, z, y):
    n, classes = loss.num_classes, range(loss.num_classes)
    if name == "CORAL":
        return mpmath.fsum(_softplus(-v if y > k else v) for k, v in enumerate(z))
    if name == "CORN":
        return mpmath.fsum(_softplus(-v if y > k else v) for k, v in enumerate(z) if k <= y)

    if name in RIVALS:
        return RIVALS[name](loss, z, y)

    exponentials = [mpmath.exp(v) for v in z]  # of any size: mpf has no largest exponent

    def mass(ks):
        return mpmath.fsum(exponentials[k] for k in ks)

    def log_p(*inside):  # log of the probability of a set of classes
        return -mpmath.log1p(mass(set(classes).difference(inside)) / mass(inside))

    def others(k):
        return [j for j in classes if j != k]

    c = mpf(n - 1) / 2
    near = [1 - abs(k - c) / c for k in classes]
    closeness = [1 - abs(k - y) / mpf(n - 1) for k in classes]
    product = [mpf(getattr(loss, "alpha", 0)) * near[k] * abs(y - c) / c for k in classes]
    if name == "AMOL-asym":
        product = [v if y < k <= c or c <= k < y else 0 for k, v in enumerate(product)]
    m = [mpmath.exp(v) if name == "AMOL-exp" else 1 + v for v in product]
    gauss = [-(mpf(k - y) ** 2) / (2 * mpf(getattr(loss, "sigma", 1)) ** 2) for k in classes]
    scale = _log_sum(gauss)
    log_q = [v - scale for v in gauss]

    if name in ("CE", "CE-masked"):
        return -log_p(y)
    if name == "AMOL-CE":
        return -m[y] * log_p(y)
    if name == "Focal":
        return -mpmath.exp(mpf(loss.gamma) * log_p(*others(y))) * log_p(y)
    if name in ("OLL", "AMOL-OLL"):
        return -mpmath.fsum(m[k] * closeness[k] * log_p(k) for k in classes)
    if name == "SORD":
        return -mpmath.fsum(mpmath.exp(log_q[k]) * log_p(k) for k in classes)
    if name in ("KL", "AMOL", "AMOL-asym", "AMOL-exp"):
        log_y = [log_p(k) for k in classes]
        return mpmath.fsum(m[k] * mpmath.exp(log_y[k]) * (log_y[k] - log_q[k]) for k in classes)
    if name in ("OLL-Castagnos", "CDW-CE"):
        far = others(y)
        return -mpmath.fsum(mpf(abs(k - y)) ** mpf(loss.power) * log_p(*others(k)) for k in far)
    if name in ("SLACE", "SLACE-prox"):
        counts = (getattr(loss, "class_counts", None) or [1] * n) if name == "SLACE-prox" else None
        d = _dissimilarity(counts, y) if counts else [mpf(abs(k - y)) for k in classes]
        soft = [-mpf(loss.slope) * v for v in d]
        total = _log_sum(soft)
        nearer = [[j for j in classes if d[j] <= d[i] + mpf(10) ** -40] for i in classes]
        return -mpmath.fsum(mpmath.exp(soft[i] - total) * log_p(*nearer[i]) for i in classes)
    raise KeyError(f"no definition to check {name!r} against")


def _dissimilarity(counts, y):
    def proximity(c, y):
        between = counts[c + 1 : y + 1] if c < y else counts[y:c]
        return -mpmath.log((mpf(counts[c]) / 2 + sum(between)) / sum(counts))

    classes = range(len(counts))
    largest = max(proximity(a, b) for a in classes for b in classes)
    return [largest - proximity(k, y) for k in classes]


def _minus_log_p(z, y):
    return mpmath.log1p(mpmath.fsum(mpmath.exp(v - z[y]) for k, v in enumerate(z) if k != y))


def _balanced(loss, z, y):
    counts = loss.class_counts or [1] * len(z)
    return mpf(sum(counts)) / (sum(c > 0 for c in counts) * counts[y]) * _minus_log_p(z, y)


def _adjusted(loss, z, y):
    counts = [max(c, 1) for c in loss.class_counts or [1] * len(z)]
    return _minus_log_p([v + mpf(loss.tau) * mpmath.log(counts[k]) for k, v in enumerate(z)], y)


def _squared_distance(loss, z, y):
    e = [mpmath.exp(v) for v in z]
    sides = [e[: k + 1] if k < y else e[k + 1 :] for k in range(len(z) - 1)]
    return mpmath.fsum((mpmath.fsum(side) / mpmath.fsum(e)) ** 2 for side in sides)


def _cumulative_link(loss, z, y):
    t, steps = z[0], [_softplus(v - z[0]) for v in z[1:]]
    cuts = [t - mpmath.fsum(steps[:k]) for k in range(len(z))]
    if y == 0:
        return _softplus(cuts[0])
    if y == len(z):
        return _softplus(-cuts[-1])
    # σ(a) − σ(a − d) = σ(a) σ(d − a) (1 − exp(−d)), d kept apart since a swallows it
    return _softplus(-cuts[y - 1]) + _softplus(cuts[y]) - mpmath.log(-mpmath.expm1(-steps[y - 1]))


def _soft_label(row):
    def value(loss, z, y):
        eta = mpf(loss.eta)
        target = [eta * v + (k == y) * (1 - eta) for k, v in enumerate(row(loss, y))]
        return mpmath.fsum(v * _minus_log_p(z, k) for k, v in enumerate(target))

    return value


def _normalized(logs):
    total = _log_sum(logs)
    return [mpmath.exp(v - total) for v in logs]


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


def _binomial(loss, y):
    n = loss.num_classes - 1
    p = mpf(1) / 10 + mpf(8) / 10 * y / n
    return [mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def _poisson(loss, y):
    rate = mpf(y + 1)
    return _normalized(
        [mpmath.exp(-rate) * rate**k / mpmath.factorial(k) for k in range(loss.num_classes)]
    )


def _exponential(loss, y):
    far = [mpf(abs(k - y)) ** mpf(loss.power) for k in range(loss.num_classes)]
    return _normalized([-v / mpf(loss.tau) for v in far])


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


RIVALS = {
    "Triangular": _soft_label(_triangular),
    "Binomial": _soft_label(_binomial),
    "Poisson": _soft_label(_poisson),
    "Exponential": _soft_label(_exponential),
    "Beta": _soft_label(_beta),
    "CLM": _cumulative_link,
    "EMD2": _squared_distance,
    "LogitAdj": _adjusted,
    "CE-balanced": _balanced,
}
