"""What losses ask for in interval arithmetic: written from the definitions, at their defaults.

Beliefs are exact fractions. A probability comes as an interval that holds it for sure (`mpmath.iv`,
40 digits); a label is told only where the intervals leave one class. Nothing here is shared with
`amol.losses` but the published shapes of `Beta`.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb

import mpmath
from mpmath import iv, mp

from amol.losses import beta_shapes
from companion.theory.beliefs import Belief
from companion.theory.intervals import DIGITS, Undecided, digits, enclosed, interval

HALF = Fraction(1, 2)


def probabilities(name: str, belief: Belief, alpha=Fraction(1), sigma=Fraction(1)) -> list:
    """p (K,) that the loss asks for, each an interval; exact ones have width near 1e-40.

    Raises
    ------
    Undecided
        No root was enclosed: a belief at which the minimizer lies at a boundary.
    """
    with digits():
        if name in ITSELF:
            return [interval(v) for v in belief]
        if name == "CE-masked":
            rest = [0 if k == (len(belief) - 1) // 2 else v for k, v in enumerate(belief)]
            return [interval(v / sum(rest)) for v in rest]
        if name in ROWS:
            mixed = mixture(name, belief, alpha)
            return [v / sum(mixed) for v in mixed]
        if name in DIVERGENCES:
            return _divergence(name, belief, alpha, sigma)
        if name in POWERS:
            return [interval(v) for v in least_cost(belief, POWERS[name])]
        return _focal(belief) if name == "Focal" else _slace(name, belief)


def label(name: str, belief: Belief, **own) -> int:
    """The class that the loss answers, for sure.

    Raises
    ------
    Undecided
        Two classes tie, or can't be told apart.
    """
    if name in ("CORAL", "CORN"):
        above = [sum(belief[k + 1 :]) for k in range(len(belief) - 1)]
        if HALF in above:
            raise Undecided(f"{name}: a threshold at exactly 1/2")
        return sum(v > HALF for v in above)
    p = probabilities(name, belief, **own)
    top = max(range(len(p)), key=lambda k: p[k].mid)
    if not all(p[top].a > v.b for k, v in enumerate(p) if k != top):
        raise Undecided(f"{name} at {belief}: classes tie")
    return top


ITSELF = ("CE", "CE-balanced", "LogitAdj", "EMD2", "CORN", "CORAL", "CLM")  # p = η
DIVERGENCES = ("KL", "AMOL", "AMOL-asym", "AMOL-exp")
POWERS = {"OLL-Castagnos": 1, "CDW-CE": 2}


# Tables of soft labels: entry (y, k) of K classes


def _gaussian(K, y, k, alpha):
    return iv.exp(-interval(Fraction((k - y) ** 2, 2))) / sum(
        iv.exp(-interval(Fraction((j - y) ** 2, 2))) for j in range(K)
    )


def _exponential(K, y, k, alpha):
    return iv.exp(-abs(k - y)) / sum(iv.exp(-abs(j - y)) for j in range(K))


def _poisson(K, y, k, alpha):
    def odds(j):
        return iv.exp(iv.exp(-(y + 1)) * iv.mpf(y + 1) ** j / mpmath.factorial(j))

    return odds(k) / sum(odds(j) for j in range(K))


def _binomial(K, y, k, alpha):
    p = Fraction(1, 10) + Fraction(8 * y, 10 * (K - 1))
    return comb(K - 1, k) * p**k * (1 - p) ** (K - 1 - k)


def _beta(K, y, k, alpha):
    a, b = beta_shapes(K)[y]
    n = a + b - 1

    def upto(x):  # of a beta distribution with whole shapes, a binomial tail
        return sum(comb(n, i) * x**i * (1 - x) ** (n - i) for i in range(a, n + 1))

    return upto(Fraction(k + 1, K)) - upto(Fraction(k, K))


def _triangular(K, y, k, alpha):
    a = Fraction(1, 20)
    s = iv.sqrt(interval(2 * a))
    c = s * (1 - s) * (1 - s * s)
    if y == K - 1:
        c = c * interval(Fraction(K - 1, K) ** 2)
    beside = (2 * c / (1 + iv.sqrt(1 + 4 * c))) ** 2 if y in (0, K - 1) else interval(a)
    if abs(k - y) == 1:
        return beside
    return (1 - (1 if y in (0, K - 1) else 2) * beside) if k == y else iv.mpf(0)


def weight_shares(K: int, y: int, k: int) -> Fraction:
    """(1 − |k − c|/c) |y − c|/c, what α is multiplied with in m(k, y)."""
    c = Fraction(K - 1, 2)
    return (1 - abs(k - c) / c) * abs(y - c) / c


def _closeness(K, y, k, alpha):
    return 1 - Fraction(abs(k - y), K - 1)


def _weighted_closeness(K, y, k, alpha):
    return (1 + alpha * weight_shares(K, y, k)) * _closeness(K, y, k, alpha)


def _weighted_label(K, y, k, alpha):
    return (1 + alpha * weight_shares(K, y, k)) if k == y else Fraction(0)


ROWS: dict[str, Callable] = {
    "OLL": _closeness,
    "AMOL-OLL": _weighted_closeness,
    "AMOL-CE": _weighted_label,
    "SORD": _gaussian,
    "Triangular": _triangular,
    "Binomial": _binomial,
    "Poisson": _poisson,
    "Exponential": _exponential,
    "Beta": _beta,
}


def rows(name: str, num_classes: int, alpha=Fraction(1)) -> list[list]:
    """The table of soft labels, row y; fractions where they are rational, else intervals."""
    classes = range(num_classes)
    with digits():
        return [[ROWS[name](num_classes, y, k, alpha) for k in classes] for y in classes]


def mixture(name: str, belief: Belief, alpha=Fraction(1)) -> list:
    """W'η as intervals."""
    table = rows(name, len(belief), alpha)
    return [
        sum(interval(v) * interval(table[y][k]) for y, v in enumerate(belief))
        for k in range(len(belief))
    ]


# Weighted divergences, least expected cost


def weights(name: str, K: int, alpha: Fraction) -> list[list]:
    """m(k, y) as intervals, row y."""
    c = Fraction(K - 1, 2)

    def m(k, y):
        share = (0 if name == "KL" else alpha) * weight_shares(K, y, k)
        if name == "AMOL-asym" and not (y < k <= c or c <= k < y):
            share = Fraction(0)
        return iv.exp(interval(share)) if name == "AMOL-exp" else interval(1 + share)

    return [[m(k, y) for k in range(K)] for y in range(K)]


def _divergence(name, belief, alpha, sigma):
    """p_k = exp((B_k + λ)/M_k − 1): λ between two numbers at which Σ p lies below and above 1."""
    K, m = len(belief), weights(name, len(belief), alpha)
    squares = [[-interval(Fraction((k - y) ** 2) / (2 * sigma**2)) for k in range(K)]
               for y in range(K)]  # fmt: skip
    logs = [iv.log(sum(iv.exp(v) for v in row)) for row in squares]
    eta = [interval(v) for v in belief]
    M = [sum(eta[y] * m[y][k] for y in range(K)) for k in range(K)]
    B = [sum(eta[y] * m[y][k] * (squares[y][k] - logs[y]) for y in range(K)) for k in range(K)]

    def asked(level):
        return [iv.exp((B[k] + level) / M[k] - 1) for k in range(K)]

    low, high = mp.mpf(-1000), mp.mpf(1000)
    while high - low > mp.mpf(10) ** (8 - DIGITS):
        middle = (low + high) / 2
        total = sum(asked(iv.mpf(middle)))
        if total.a > 1:
            high = middle
        elif total.b < 1:
            low = middle
        else:
            break
    return asked(iv.mpf([low, high]))


def least_cost(belief: Belief, power: int) -> list[Fraction]:
    """p_k = max(0, 1 − C_k/λ), C_k = E|k − Y|^power, as fractions."""
    K = len(belief)
    C = [sum(v * abs(k - y) ** power for y, v in enumerate(belief)) for k in range(K)]
    if min(C) == 0:
        return [Fraction(int(v == 0)) for v in C]
    ordered = sorted(C)
    for count in range(2, K + 1):
        level = sum(ordered[:count]) / (count - 1)
        if count == K or ordered[count] >= level:
            return [max(Fraction(0), 1 - v / level) for v in C]


# No closed form: roots of the conditions


def _log(x):
    return iv.log(x) if isinstance(x, iv.mpf) else mp.log(x)


def _number(x: Fraction, like):
    return interval(x) if isinstance(like, iv.mpf) else mp.mpf(x.numerator) / x.denominator


def focal_slope(p):
    """−φ'(p) of φ(p) = −(1 − p)² log p."""
    return (1 - p) ** 2 / p - 2 * (1 - p) * _log(p)


def _focal(belief):
    """η_k (−φ'(p_k)) = λ on the classes that have any belief, Σ p = 1."""
    support = [k for k, v in enumerate(belief) if v]
    if len(support) == 1:
        return [interval(v) for v in belief]
    n = len(support)

    def F(x):
        eta = [_number(belief[k], x[0]) for k in support]
        return [*(eta[i] * focal_slope(x[i]) - x[n] for i in range(n)), sum(x[:n]) - 1]

    def J(x):
        table = [[x[0] * 0 for _ in range(n + 1)] for _ in range(n + 1)]
        for i in range(n):
            p = x[i]
            second = -2 * _log(p) + 4 * (1 - p) / p + (1 - p) ** 2 / p**2
            table[i][i] = -_number(belief[support[i]], p) * second
            table[i][n], table[n][i] = x[0] * 0 - 1, x[0] * 0 + 1
        return table

    start = [_number(belief[k], mp.mpf(1)) for k in support]
    found = enclosed(F, J, [*start, start[0] * focal_slope(start[0])])
    return [found[support.index(k)] if k in support else iv.mpf(0) for k in range(len(belief))]


def slace_masses(name: str, K: int, y: int) -> list:
    """The soft label's mass at each distance 0, 1, … from y."""
    if name == "SLACE":
        own = [iv.exp(-abs(k - y)) for k in range(K)]
    else:  # exp(prox) with equal counts is K over half a class and those between
        own = [interval(1 / (HALF + abs(k - y))) for k in range(K)]
    far = max(y, K - 1 - y)
    return [sum(own[k] for k in range(K) if abs(k - y) == r) / sum(own) for r in range(far + 1)]


def slace_sums(name: str, belief: Belief, p: list) -> tuple[list, list[list]]:
    """Σ_y η_y A_ky(p) for each class k, and its derivatives by p.

    A_ky = Σ over distances r from |k − y| on of mass_yr / (probability within r of y). At the
    minimizer it is 1 where p_k > 0 and at most 1 where p_k = 0.
    """
    K, zero = len(p), p[0] * 0
    sums, slopes = [zero] * K, [[zero] * K for _ in range(K)]
    for y in range(K):
        for r, mass in enumerate(slace_masses(name, K, y)):
            near = [k for k in range(K) if abs(k - y) <= r]
            within = sum(p[j] for j in near)
            if belief[y] == 0:
                continue
            share = _number(belief[y], within) * _like(mass, within)
            for k in near:
                sums[k] += share / within
                for j in near:
                    slopes[k][j] -= share / within**2
    return sums, slopes


def _like(x, like):
    return x if isinstance(like, iv.mpf) else mp.mpf(x.mid)


def _slace(name, belief):
    """Classes without belief are tried at 0 first; what meets the conditions is the minimizer."""
    K, idle = len(belief), [k for k, v in enumerate(belief) if v == 0]
    for count in range(len(idle), -1, -1):
        for outside in combinations(idle, count):
            inside = [k for k in range(K) if k not in outside]

            def spread(x, inside=inside):
                return [x[inside.index(k)] if k in inside else x[0] * 0 for k in range(K)]

            def F(x, inside=inside, spread=spread):
                sums = slace_sums(name, belief, spread(x))[0]
                return [sums[k] - 1 for k in inside]

            def J(x, inside=inside, spread=spread):
                slopes = slace_sums(name, belief, spread(x))[1]
                return [[slopes[k][j] for j in inside] for k in inside]

            start = [_number(belief[k], mp.mpf(1)) or mp.mpf("0.01") for k in inside]
            try:
                p = spread(enclosed(F, J, start))
            except (Undecided, ZeroDivisionError):
                continue
            sums = slace_sums(name, belief, p)[0]
            if all(p[k].a > 0 for k in inside) and all(sums[k].b <= 1 for k in outside):
                return p
    raise Undecided(f"{name} at {belief}: no minimizer enclosed")
