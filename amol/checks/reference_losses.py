"""The losses once more, slowly, at 50 digits: what `amol.losses` is checked against."""

import mpmath
from mpmath import mpf
from torch import Tensor

from amol.losses import OrdinalLoss


def oracle(name: str, loss: OrdinalLoss, logits: Tensor | list[mpf], y: int) -> mpf:
    """Loss of one sample to 50 digits, written out from its definition.

    `logits` (num_logits,) are taken as exact; `loss` lends its parameters alone.
    """
    with mpmath.workdps(50):
        return _oracle(
            name, loss, [mpf(v) if isinstance(v, mpf) else mpf(float(v)) for v in logits], y
        )


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
