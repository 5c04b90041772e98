"""Losses whose gradient is compiled: a sample's value and slopes, kind by kind.

A kind is a function of `KINDS`; `FORMULAS` says which loss is of which kind, with which tables.
To add a loss of a known kind takes a line there; a new kind takes a function in `KINDS`, too.
"""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from amol import losses
from amol.losses import OrdinalLoss

from .arithmetic import TINY, compiled, entry, exp32, f4, log1p32, log32, logistic

# Each kind takes sample i of the logits z (n, ·), its label y, tables (count, K, outputs), memory
# p and log_p (n, ·) and the number of outputs; it fills slopes[i] and returns the value.


@compiled
def _softmax(i, z, p, log_p, outputs):
    """p = e/Σe and log p = (z − max z) − log Σe, with e = exp(z − max z)."""
    top, total = z[i, 0], f4(0)
    for k in range(1, outputs):
        top = z[i, k] if z[i, k] > top else top
    for k in range(p.shape[1]):  # whole vectors: what lies behind the outputs isn't read
        log_p[i, k] = z[i, k] - top
        p[i, k] = exp32(log_p[i, k])
    for k in range(outputs):
        total += p[i, k]
    inverse, log_total = f4(1) / total, log32(total)
    for k in range(p.shape[1]):
        log_p[i, k] -= log_total
        p[i, k] *= inverse


@compiled
def _odds(i, z, chosen, e, outputs):
    """Log odds of a class against the others, whose e = exp(z − their largest z); and Σ e."""
    second, total = f4(-np.inf), f4(0)
    for k in range(outputs):
        if k != chosen and z[i, k] > second:
            second = z[i, k]
    for k in range(outputs):
        e[i, k] = exp32(z[i, k] - second) if k != chosen else f4(0)
        total += e[i, k]
    return (z[i, chosen] - second) - log32(total), total


@compiled
def weighted_divergence(i, y, z, tables, p, log_p, slopes, outputs):
    """Σ_k m_k p_k (log p_k − log q_k); tables m and −m log q.

    With v_k the terms and s_k = v_k + m_k p_k the slope is s_k − p_k Σ_j s_j.
    """
    _softmax(i, z, p, log_p, outputs)
    value, pull = f4(0), f4(0)
    for k in range(outputs):
        m = tables[0, y, k]
        term = p[i, k] * (m * log_p[i, k] + tables[1, y, k])
        slopes[i, k] = term + m * p[i, k]
        value += term
        pull += slopes[i, k]
    for k in range(outputs):
        slopes[i, k] -= p[i, k] * pull
    return value


@compiled
def weighted_log(i, y, z, tables, p, log_p, slopes, outputs):
    """−Σ_k r_k log p_k; the slope is p_k Σ_j r_j − r_k."""
    _softmax(i, z, p, log_p, outputs)
    value, total = f4(0), f4(0)
    for k in range(outputs):
        value -= tables[0, y, k] * log_p[i, k]
        total += tables[0, y, k]
    for k in range(outputs):
        slopes[i, k] = p[i, k] * total - tables[0, y, k]
    return value


@compiled
def distance_log(i, y, z, tables, p, log_p, slopes, outputs):
    """−Σ_k c_k log(1 − p_k); as `amol.losses.distance_log_loss`, with odds of the first class t.

    1 − p_t = σ(−o) with t's log odds o. Any other class has p_k = e_k σ(−o)/Σe, at most ½, and
    odds w_k = p_k/(1 − p_k). With Q = Σ_k c_k w_k its slope is
    c_k w_k − e_k (Q σ(−o) + c_t p_t)/Σe, and t's is p_t (c_t − Q).
    """
    top = 0
    for k in range(1, outputs):
        top = k if z[i, k] > z[i, top] else top
    lead, total = _odds(i, z, top, p, outputs)
    log_rest, p_top, rest = logistic(lead)
    value, pull = tables[0, y, top] * log_rest, f4(0)
    for k in range(outputs):
        cost = tables[0, y, k]
        share = p[i, k] * (rest / total)
        odds = share / (f4(1) - share)
        slopes[i, k] = odds * cost
        value += cost * log1p32(odds)
        pull += slopes[i, k]
    back = (pull * rest + tables[0, y, top] * p_top) / total
    for k in range(outputs):
        slopes[i, k] -= p[i, k] * back
    slopes[i, top] = p_top * (tables[0, y, top] - pull)
    return value


@compiled
def focal(i, y, z, tables, p, log_p, slopes, outputs):
    """−(1 − p_y)^γ log p_y; table γ.

    With y's log odds o and L = log(1 + e^−o) the slope at o is −(1 − p_y)^γ (γ p_y L + 1 − p_y).
    """
    gamma = tables[0, 0, 0]
    odds, total = _odds(i, z, y, p, outputs)
    log_rest, p_y, rest = logistic(odds)
    log_p_y = logistic(-odds)[0]
    factor = exp32(-gamma * log_rest)
    slope = -factor * (gamma * p_y * log_p_y + rest)
    for k in range(outputs):
        slopes[i, k] = -slope * (p[i, k] / total)
    slopes[i, y] = slope
    return factor * log_p_y


@compiled
def accumulated_log(i, y, z, tables, p, log_p, slopes, outputs):
    """−Σ_j mass_j log P_j, P_j the sum of the first j + 1 of p in y's order; tables order, mass.

    With o_j the log odds of the class at place j against all before it, −log P_j sums
    log(1 + e^o) over the places behind j. Slopes are p_j − σ(o_j) G_j, where
    G_j = mass_j + σ(−o_{j+1}) G_{j+1}; at the first place σ(o) is 1.
    """
    _softmax(i, z, p, log_p, outputs)
    first = z[i, int(tables[0, y, 0])]
    reached, mass, value = f4(0), tables[1, y, 0], f4(0)  # reached: log Σ exp(z − first)
    for j in range(1, outputs):
        k = int(tables[0, y, j])
        above = (z[i, k] - first) - reached
        step, joins, stays = logistic(above)
        log_p[i, j], slopes[i, k] = stays, joins
        value += mass * step
        mass += tables[1, y, j]
        reached = z[i, k] - first + logistic(-above)[0] if above > f4(0) else reached + step
    pull = f4(0)
    for j in range(outputs - 1, 0, -1):
        k = int(tables[0, y, j])
        pull = tables[1, y, j] + pull
        slopes[i, k] = p[i, k] - slopes[i, k] * pull
        pull = log_p[i, j] * pull
    k = int(tables[0, y, 0])
    slopes[i, k] = p[i, k] - (tables[1, y, 0] + pull)
    return value


@compiled
def binary_tasks(i, y, z, tables, p, log_p, slopes, outputs):
    """−Σ_k log σ(s_k z_k) over the tasks entered; table of signs s, 0 where not entered."""
    value = f4(0)
    for k in range(outputs):
        sign = tables[0, y, k]
        loss, miss, _ = logistic(-sign * z[i, k])
        value += loss if sign != f4(0) else f4(0)
        slopes[i, k] = -sign * miss
    return value


KINDS = (weighted_divergence, weighted_log, distance_log, focal, accumulated_log, binary_tasks)
SOFTMAX, CUMULATIVE, CONDITIONAL = range(3)  # what the outputs mean, for `read`


def _rows(*names):
    def tables(loss):
        return [loss.table(name, torch.empty(0, dtype=torch.float64)) for name in names]

    return tables


def _divergence(loss):
    m, log_target = _rows("m", "log_target")(loss)
    return [m, -m * log_target]


def _one_hot(loss):
    return [torch.eye(loss.num_classes)]


def _distance(loss):
    return None if loss.margin else _rows("cost")(loss)


def _accumulated(loss):
    return [loss.order, *_rows("mass")(loss)]


def _entered_signs(loss):
    signs, entered = _rows("signs", "entered")(loss)
    return [signs * entered]


FORMULAS: dict[type, tuple[Callable, Callable, int]] = {
    # class of loss, exactly: its kind, its tables (None where they don't do), its outputs' meaning
    losses.AMOLLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.AMOLAsymLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.AMOLExpLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.KLLoss: (weighted_divergence, _divergence, SOFTMAX),
    losses.CrossEntropyLoss: (weighted_log, _one_hot, SOFTMAX),
    losses.MaskedCenterLoss: (weighted_log, _one_hot, SOFTMAX),
    losses.OLLLoss: (weighted_log, _rows("closeness"), SOFTMAX),
    losses.SORDLoss: (weighted_log, _rows("soft_target"), SOFTMAX),
    losses.AMOLOLLLoss: (weighted_log, _rows("reward"), SOFTMAX),
    losses.AMOLCELoss: (weighted_log, lambda loss: [_rows("m")(loss)[0].diag()], SOFTMAX),
    losses.DistanceLogLoss: (distance_log, _distance, SOFTMAX),
    losses.CDWCELoss: (distance_log, _distance, SOFTMAX),
    losses.FocalLoss: (focal, lambda loss: [torch.full((1, 1), loss.gamma)], SOFTMAX),
    losses.SLACELoss: (accumulated_log, _accumulated, SOFTMAX),
    losses.SLACEProxLoss: (accumulated_log, _accumulated, SOFTMAX),
    losses.CORALLoss: (binary_tasks, _rows("signs"), CUMULATIVE),
    losses.CORNLoss: (binary_tasks, _entered_signs, CONDITIONAL),
}

Formula = namedtuple("Formula", "kind tables counted terms outputs")


def formula(loss: OrdinalLoss) -> Formula | None:
    """What the compiled functions need of a loss; None for one that they don't know.

    tables (count, K, outputs) float32; counted and terms (K,) float64: a label's weight before its
    value, and in the mean's denominator.
    """
    kind, tables, _ = FORMULAS.get(type(loss), (None, lambda loss: None, None))
    found = tables(loss)
    if found is None:
        return None
    labels = torch.arange(loss.num_classes)
    terms = loss.terms(torch.zeros(len(labels), loss.num_logits, dtype=torch.float64), labels)[1]
    counted = torch.ones(len(labels)) if loss.weight is None else loss.weight
    return Formula(
        KINDS.index(kind),
        np.ascontiguousarray(np.stack([table.numpy() for table in found]), dtype=f4),
        counted.numpy().astype(np.float64),
        terms.numpy().astype(np.float64),
        loss.num_logits,
    )


@compiled
def _sample(kind, i, y, z, tables, p, log_p, slopes, outputs):
    if kind == 0:
        return weighted_divergence(i, y, z, tables, p, log_p, slopes, outputs)
    if kind == 1:
        return weighted_log(i, y, z, tables, p, log_p, slopes, outputs)
    if kind == 2:
        return distance_log(i, y, z, tables, p, log_p, slopes, outputs)
    if kind == 3:
        return focal(i, y, z, tables, p, log_p, slopes, outputs)
    if kind == 4:
        return accumulated_log(i, y, z, tables, p, log_p, slopes, outputs)
    return binary_tasks(i, y, z, tables, p, log_p, slopes, outputs)


@compiled
def mean_slopes(formula, z, y, chosen, p, log_p, slopes):
    """Slopes of the mean loss of the samples ``chosen``, whose logits are the rows of z."""
    total = 0.0
    for i in range(len(chosen)):
        total += formula.terms[y[chosen[i]]]
    for i in range(len(chosen)):
        label = y[chosen[i]]
        _sample(formula.kind, i, label, z, formula.tables, p, log_p, slopes, formula.outputs)
        share = f4(formula.counted[label] / total)
        for k in range(formula.outputs):
            slope = slopes[i, k] * share
            slopes[i, k] = f4(0) if abs(slope) < TINY else slope


@entry
def mean_value(formula, z, y, p, log_p, slopes):
    """Mean loss of samples with logits z (n, ·) and labels y (n,); the rest is memory, (n, ·)."""
    value, total = 0.0, 0.0
    for i in range(len(y)):
        for k in range(formula.outputs):
            if not np.isfinite(z[i, k]):
                return np.nan
        of_one = _sample(formula.kind, i, y[i], z, formula.tables, p, log_p, slopes, formula.outputs)
        value += formula.counted[y[i]] * of_one
        total += formula.terms[y[i]]
    return value / total


@entry
def read(meaning, z, without, probabilities, labels):
    """Probabilities (n, K) and labels (n,) from logits z (n, ·); class ``without`` never occurs."""
    K = probabilities.shape[1]
    for i in range(len(labels)):
        if meaning == SOFTMAX:
            top, total = 1 if without == 0 else 0, f4(0)
            for k in range(top + 1, K):
                top = k if k != without and z[i, k] > z[i, top] else top
            for k in range(K):
                e = exp32(z[i, k] - z[i, top]) if k != without else f4(0)
                probabilities[i, k] = e
                total += e
            for k in range(K):
                probabilities[i, k] /= total
            labels[i] = top
            continue
        labels[i] = 0
        passed = f4(1)  # P(y > k − 1)
        for k in range(K - 1):
            _, above, below = logistic(z[i, k])
            if meaning == CONDITIONAL:
                probabilities[i, k] = passed * below
                passed = passed * above
                labels[i] += passed > f4(0.5)
            else:
                least = above if above < passed else passed
                probabilities[i, k] = passed - least
                passed = least
                labels[i] += z[i, k] > f4(0)
        probabilities[i, K - 1] = passed
