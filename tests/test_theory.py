"""Every cell of the table of what losses ask for, recomputed in fractions or intervals."""

import re
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from mpmath import iv, mp
from test_losses_values import BY_SAMPLE

from amol.losses import LOSSES, PAPER_METHODS, minimize_risk, mixing_table
from companion.theory import beliefs, exact
from companion.theory.beliefs import READINGS, belief, dominating, lattice
from companion.theory.exact import DIVERGENCES, ROWS
from companion.theory.intervals import Undecided, digits, interval, nonsingular
from companion.theory.properties import COLUMNS, properties

TABLE = properties()
SOLVED = ("Focal", "SLACE", "SLACE-prox")  # without a closed form, so slow
NAMES = [pytest.param(n, marks=pytest.mark.slow) if n in SOLVED else n for n in TABLE]
SEARCHED = {3: 24, 4: 12, 5: 8, 6: 6, 7: 5}  # counts up to these


def inner(num_classes, n):
    """Beliefs of denominator n that leave no class out."""
    return [belief(*row) for row in lattice(num_classes, n).tolist() if 0 not in row]


def holds(p, eta):
    """Whether intervals hold exact fractions."""
    return all(interval(v) in x for x, v in zip(p, eta, strict=True))


def equal(p, q):
    """Whether two answers agree to 30 digits."""
    return all(abs(a - b).b < mp.mpf(10) ** -30 for a, b in zip(p, q, strict=True))


def test_every_loss_and_property_has_a_cell():
    assert set(PAPER_METHODS) < set(TABLE) <= set(BY_SAMPLE)  # a new loss may come without a row
    assert len(TABLE) == 26
    assert all(list(cells) == list(COLUMNS) for cells in TABLE.values())
    assert all(cell.why.endswith(".") for cells in TABLE.values() for cell in cells.values())


@pytest.mark.parametrize("name", TABLE)
def test_intervals_hold_what_the_library_finds(name):
    for eta in (belief(2, 1, 3), belief(1, 3, 2, 1), belief(1, 4, 2, 3, 5)):
        p = exact.probabilities(name, eta)
        ours = minimize_risk(LOSSES[name](num_classes=len(eta)), [float(v) for v in eta])
        assert [float(mp.mpf(x.mid)) for x in p] == pytest.approx(
            ours.probabilities.tolist(), abs=1e-7 if name in SOLVED else 1e-13
        )
        assert all(mp.mpf(x.delta) < mp.mpf(10) ** -25 for x in p)


# Strictly proper: p = η for all beliefs


@cache
def proper_word(name):
    with digits():
        tried = [*inner(3, 6), *inner(4, 6)]
        return "yes" if all(holds(exact.probabilities(name, v), v) for v in tried) else "no"


@pytest.mark.parametrize("name", TABLE)
def test_strictly_proper(name):
    cell = TABLE[name]["proper"]
    assert cell.word == proper_word(name)
    assert ("witness" in cell.evidence) == (cell.word == "no")
    if cell.word == "no":
        eta = belief(*cell.evidence["witness"])
        assert not holds(exact.probabilities(name, eta), eta)


# A map back: from p to η


def singular_at(name):
    """Numbers of classes at which the table of soft labels isn't invertible."""
    with digits():
        tables = {K: [[interval(v) for v in row] for row in exact.rows(name, K)]
                  for K in range(3, 11)}  # fmt: skip
        return [K for K, table in tables.items() if not nonsingular(table)]


def conditions(name, p, K):
    """The square system, linear in η (and a multiplier), for p to be the minimizer under η."""
    if name in DIVERGENCES:
        m = exact.weights(name, K, Fraction(1))
        table = []
        for k in range(K):
            row = []
            for y in range(K):
                squares = [-interval(Fraction((j - y) ** 2, 2)) for j in range(K)]
                log_q = squares[k] - iv.log(sum(iv.exp(v) for v in squares))
                row.append(m[y][k] * (1 + iv.log(p[k]) - log_q))
            table.append([*row, iv.mpf(-1)])
        return [*table, [iv.mpf(1)] * K + [iv.mpf(0)]]
    columns = []
    for y in range(K):
        sure = tuple(Fraction(int(k == y)) for k in range(K))
        columns.append(exact.slace_sums(name, sure, p)[0])
    return [[columns[y][k] for y in range(K)] for k in range(K)]


@cache
def map_word(name):
    twins = TABLE[name]["map"].evidence.get("twins")
    if twins:
        with digits():
            p, q = (exact.probabilities(name, belief(*counts)) for counts in twins)
        assert belief(*twins[0]) != belief(*twins[1]) and equal(p, q)
    if proper_word(name) == "yes":
        return "itself"
    if name in ROWS:
        singular = singular_at(name)
        return {(): "linear", (3, 5, 7, 9): "at even K"}[tuple(singular)]
    if twins and len(twins[0]) < 6:
        return "none"
    with digits():
        if name == "Focal":
            for eta in [*inner(3, 5), *inner(4, 6)]:
                p = exact.probabilities(name, eta)
                odds = [1 / exact.focal_slope(x) for x in p]
                assert holds([v / sum(odds) for v in odds], eta)
            return "formula"
        for K in (3, 4, 5):
            for eta in inner(K, 6):
                assert nonsingular(conditions(name, exact.probabilities(name, eta), K))
        if twins:
            p = exact.probabilities(name, belief(1, 2, 3, 3, 2, 1))
            assert not nonsingular(conditions(name, p, 6))
    return f"up to K = {len(twins[0]) - 1}" if twins else "equations"


@pytest.mark.parametrize("name", NAMES)
def test_map_back(name):
    assert TABLE[name]["map"].word == map_word(name)
    assert ("twins" in TABLE[name]["map"].evidence) == (
        TABLE[name]["map"].word in ("none", "at even K", "up to K = 5")
    )


def test_beliefs_that_amol_cannot_tell_apart():
    """At every α and σ: what their difference d adds up to is 0 in exact fractions.

    M_k and B_k are sums of η_y m(k, y) times 1, (k − y)² and log Z_y; Z is the same at y and
    K − 1 − y. With m = 1 + α s(k, y) each power of α counts alone.
    """
    for one in ((12, 25, 0, 30, 5, 18), (3, 7, 1, 4, 7, 1, 5)):
        K = len(one)
        for other in (belief(*[1] * K), belief(*one[::-1])):
            d = [a - b for a, b in zip(belief(*one), other, strict=True)]
            assert any(d)
            assert all(d[y] + d[K - 1 - y] == 0 for y in range(K))  # so log Z drops out
            for k in range(K):
                shares = [exact.weight_shares(K, y, k) for y in range(K)]
                for factor in ([1] * K, shares):
                    assert sum(v * f for v, f in zip(d, factor, strict=True)) == 0
                    assert sum(v * f * (k - y) ** 2 for y, (v, f) in
                               enumerate(zip(d, factor, strict=True))) == 0  # fmt: skip


def test_weighted_closeness_is_singular_by_a_row():
    """The center's row of AMOL-OLL is the mean of both ends' rows at α = 1 and every odd K."""
    for K in (3, 5, 7, 9, 21, 51):
        table = exact.rows("AMOL-OLL", K)
        middle = [(a + b) / 2 for a, b in zip(table[0], table[-1], strict=True)]
        assert table[(K - 1) // 2] == middle
        x = Fraction(1, 4)  # where (1 + 2x)(1 − x) of a sure end is largest
        if K > 3:
            assert max(range(K), key=lambda k: table[0][k]) in (
                int(x * (K - 1)), int(x * (K - 1)) + 1)  # fmt: skip
            assert max(table[0]) > table[0][0]


def test_closeness_determinants():
    found = {}
    for K in (3, 4, 5):
        rows = [list(row) for row in exact.rows("OLL", K)]
        determinant = Fraction(1)
        for i in range(K):  # Gauss without a zero pivot
            determinant *= rows[i][i]
            for j in range(i + 1, K):
                factor = rows[j][i] / rows[i][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
        found[K] = determinant
    assert found == {3: Fraction(1, 2), 4: Fraction(4, 27), 5: Fraction(1, 32)}


def test_condition_numbers_of_the_texts():
    def cond(name, K):
        table = mixing_table(LOSSES[name](num_classes=K)).numpy()
        return np.linalg.cond(table / table.sum(1, keepdims=True))

    expected = {
        "SORD": (10, 24, 36, 48),
        "Binomial": (3, 26, 254, 8500),
        "Poisson": (105, 2600, 39000, 4.5e7),
        "Triangular": (1.2, 1.2, 1.2, 1.2),
        "Exponential": (3, 3.9, 4.3, 4.5),
        "Beta": (2.1, 2.4, 2.5, 2.7),
    }
    for name, values in expected.items():
        assert [cond(name, K) for K in (3, 5, 7, 10)] == pytest.approx(values, rel=0.06)


# The label elicited


@cache
def answers(name, K, n):
    return beliefs.labels(name, lattice(K, n))


@cache
def label_word(name):
    fits = []
    for reading, read in READINGS.items():
        pairs = [(answers(name, K, n), read(lattice(K, n))) for K, n in
                 ((3, 15), (4, 11), (5, 10))]  # fmt: skip
        if all((a == b)[(a >= 0) & (b >= 0)].all() for a, b in pairs):
            fits.append(reading)
    assert len(fits) <= 1
    if fits:
        return fits[0]
    others = {"CE-masked": "mode of the rest"} | dict.fromkeys(ROWS, "mode of the mixture")
    return others.get(name, "none of these")


@pytest.mark.parametrize("name", NAMES)
def test_label(name):
    cell = TABLE[name]["label"]
    assert cell.word == label_word(name)
    assert ("not" in cell.evidence) == (cell.word not in READINGS)
    for reading, counts in cell.evidence.get("not", {}).items():
        read = READINGS[reading](np.array([counts]))[0]
        assert read >= 0
        try:
            assert exact.label(name, belief(*counts)) != read
        except Undecided:  # a tie of others, above the one that is read
            p = exact.probabilities(name, belief(*counts))
            assert any((x - p[read]).a > 0 for x in p)
    if cell.word in READINGS:  # for sure, at some beliefs that tell the readings apart
        for counts in ([2, 1, 3], [5, 1, 3], [1, 4, 2, 2], [3, 1, 0, 2, 0] if name not in SOLVED
                       else [3, 1, 2, 2, 1]):  # fmt: skip
            read = READINGS[cell.word](np.array([counts]))[0]
            if read >= 0:
                assert exact.label(name, belief(*counts)) == read


def test_readings_by_hand():
    counts = np.array([[2, 1, 3], [1, 2, 1], [3, 0, 0], [1, 1, 0]])
    assert READINGS["mode"](counts).tolist() == [2, 1, 0, -1]
    assert READINGS["median"](counts).tolist() == [-1, 1, 0, -1]  # 2 | 1 + 3 ties at 1 and 2
    assert READINGS["rounded mean"](counts).tolist() == [1, 1, 0, -1]


# Monotone under first-order stochastic dominance


@cache
def first_violation(name):
    """(upper, lower, labels) of the smallest K, then the smallest n; None up to `SEARCHED`."""
    for K, most in SEARCHED.items():
        for n in range(2, most + 1):
            counts, found = lattice(K, n), answers(name, K, n)
            sure = (found[:, None] >= 0) & (found[None] >= 0)
            fault = dominating(counts) & sure & (found[:, None] < found[None])
            if fault.any():
                i, j = np.argwhere(fault)[0]
                return counts[i].tolist(), counts[j].tolist(), [int(found[i]), int(found[j])]
    return None


@pytest.mark.parametrize("name", NAMES)
def test_monotone(name):
    cell = TABLE[name]["monotone"]
    fault = first_violation(name)
    assert cell.word == ("no" if fault else "yes")
    if not fault:
        assert not cell.evidence
        return
    shown = cell.evidence["witness"]
    assert (shown["upper"], shown["lower"], shown["labels"]) == fault
    upper, lower = belief(*shown["upper"]), belief(*shown["lower"])
    sums = [(sum(upper[: k + 1]), sum(lower[: k + 1])) for k in range(len(upper))]
    assert all(a <= b for a, b in sums) and upper != lower
    assert [exact.label(name, upper), exact.label(name, lower)] == shown["labels"]
    assert shown["labels"][0] < shown["labels"][1]


def test_monotone_where_proved():
    """The inequality of the proofs, in fractions: a step up never lowers what is compared."""
    for K in (3, 4, 5, 7):
        for power in (1, 2):
            for k in range(K - 1):
                # E[c(k + 1, Y) − c(k, Y)] falls as Y moves up (Topkis)
                gains = [abs(k + 1 - y) ** power - abs(k - y) ** power for y in range(K)]
                assert all(a >= b for a, b in pairwise(gains))


# The share answered "center" though an end is most probable


@cache
def center_percent(name):
    found = []
    for K in (3, 5, 7, 10):
        answered = beliefs.labels(name, beliefs.ends_lead(K, 20_000))
        assert (answered < 0).sum() <= 1
        found.append(100 * np.mean(answered == (K - 1) // 2))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_center_share(name):
    cell, found = TABLE[name]["center"], center_percent(name)
    assert cell.evidence["percent"] == pytest.approx(found, abs=0.00501)
    assert cell.word == " · ".join(f"{v:.0f}" for v in found)
    again = [
        100 * np.mean(beliefs.labels(name, beliefs.ends_lead(K, 2_000, seed=1)) == (K - 1) // 2)
        for K in (3, 5, 7, 10)
    ]
    assert again == pytest.approx(found, abs=3.5)


def clipped_area(corners, *bounds):
    """Twice the area of a polygon where every a·x ≤ b, in fractions."""
    for (u, v), b in bounds:
        kept = []
        for (x, y), (s, t) in zip(corners, corners[1:] + corners[:1], strict=True):
            here, there = u * x + v * y - b, u * s + v * t - b
            if here <= 0:
                kept.append((x, y))
            if here * there < 0:
                share = Fraction(here) / (here - there)
                kept.append((x + share * (s - x), y + share * (t - y)))
        corners = kept
    sides = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum(x * t - s * y for (x, y), (s, t) in sides))


def test_center_share_of_three_classes_is_exact():
    """In the coordinates (η_0, η_2), where end 0 is most probable."""
    simplex = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    leads = [((-1, 1), 0), ((-2, -1), -1)]  # η_2 ≤ η_0, η_1 ≤ η_0
    median = [((1, 0), Fraction(1, 2)), ((0, 1), Fraction(1, 2))]
    mean = [((1, -1), Fraction(1, 2)), ((-1, 1), Fraction(1, 2))]  # |η_2 − η_0| ≤ 1/2
    whole = clipped_area(simplex, *leads)
    assert whole == Fraction(1, 3)
    assert clipped_area(simplex, *leads, *median) / whole == Fraction(1, 4)
    assert clipped_area(simplex, *leads, *mean) / whole == Fraction(5, 8)
    for name in ("OLL", "OLL-Castagnos", "CORN", "CORAL"):
        assert TABLE[name]["center"].evidence["percent"][0] == pytest.approx(25, abs=1)
    for name in ("KL", "CDW-CE"):
        assert TABLE[name]["center"].evidence["percent"][0] == pytest.approx(62.5, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "percent"), [("SLACE", (98, 96, 96)), ("SLACE-prox", (99, 95, 93))]
)
def test_slace_is_near_the_mode(name, percent):
    for K, share in zip((3, 5, 7), percent, strict=True):
        drawn = np.random.default_rng(0).dirichlet(np.ones(K), 4000)
        same = beliefs.labels(name, drawn) == drawn.argmax(1)
        assert 100 * same.mean() == pytest.approx(share, abs=1)


def other_words(column, word):
    """Every other word of a column; of percentages, each one off by one as well."""
    if column == "center":
        shares = [int(v) for v in word.split(" · ")]
        for i in range(len(shares)):
            for step in (-1, 1):
                yield " · ".join(str(v + step * (j == i)) for j, v in enumerate(shares))
    yield from {row[column].word for row in TABLE.values()} - {word}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_word_fails(name, column, monkeypatch):
    test = {
        "proper": test_strictly_proper,
        "map": test_map_back,
        "label": test_label,
        "monotone": test_monotone,
        "center": test_center_share,
    }[column]
    row = TABLE[name]
    words = list(other_words(column, row[column].word))
    assert words
    for word in words:
        monkeypatch.setitem(TABLE, name, row | {column: row[column]._replace(word=word)})
        with pytest.raises(AssertionError, match=re.escape(repr(word))):
            test(name)
