"""Kinds of compiled losses: each sample's value and slopes.

A loss says by name which kind it is and gives the tables, see `amol.losses.OrdinalLoss`; a new
kind takes a function here. A run's key counts the functions that its loss uses and no other, so a
new one leaves all stored runs as they are.
"""

import numpy as np

from .arithmetic import compiled, exp32, f4, inlined, log1p32, log32, logistic

# Each kind takes logits z (n, ·), labels y (n,), tables (count, K, ·), the number of outputs and
# memory p and log_p (n, ·); it fills values (n,) and slopes (n, ·), of which the loss and its
# gradient are the weighted means. Whole batches, since a call with arrays is slow; and loops over
# whole rows of p, padding too, since vectors are quick.


@compiled
def _softmax(z, n, outputs, p, log_p, values):
    """p = e/Σe and log p = (z − max z) − log Σe, with e = exp(z − max z); values is memory.

    The logarithms of all samples are taken in a loop of their own, as vectors.
    """
    for i in range(n):
        top, total = z[i, 0], f4(0)
        for k in range(1, outputs):
            top = z[i, k] if z[i, k] > top else top
        for k in range(p.shape[1]):
            log_p[i, k] = z[i, k] - top
            p[i, k] = exp32(z[i, k] - top)
        for k in range(outputs):
            total += p[i, k]
        inverse, values[i] = f4(1) / total, total
        for k in range(p.shape[1]):
            p[i, k] *= inverse
    for i in range(n):
        values[i] = log32(values[i])
    for i in range(n):
        for k in range(p.shape[1]):
            log_p[i, k] -= values[i]


@inlined
def _odds(z, i, chosen, outputs, e):
    """Log odds of a class against the others, whose e = exp(z − their largest z); and Σe."""
    second, total = f4(-np.inf), f4(0)
    for k in range(outputs):
        second = z[i, k] if k != chosen and z[i, k] > second else second
    for k in range(e.shape[1]):
        e[i, k] = exp32(z[i, k] - second)
    e[i, chosen] = 0
    for k in range(outputs):
        total += e[i, k]
    return (z[i, chosen] - second) - log32(total), total


@compiled
def weighted_divergence(z, y, tables, outputs, p, log_p, values, slopes):
    """Σ_k m_k p_k (log p_k − log q_k); tables m and −m log q.

    With v_k the terms and s_k = v_k + m_k p_k the slope is s_k − p_k Σ_j s_j.
    """
    _softmax(z, len(y), outputs, p, log_p, values)
    for i in range(len(y)):
        m, rest, value, pull = tables[0, y[i]], tables[1, y[i]], f4(0), f4(0)
        for k in range(outputs):
            term = p[i, k] * (m[k] * log_p[i, k] + rest[k])
            slope = term + m[k] * p[i, k]
            slopes[i, k] = slope
            value += term
            pull += slope
        for k in range(outputs):
            slopes[i, k] -= p[i, k] * pull
        values[i] = value


@compiled
def weighted_log(z, y, tables, outputs, p, log_p, values, slopes):
    """−Σ_k r_k log p_k; the slope is p_k Σ_j r_j − r_k."""
    _softmax(z, len(y), outputs, p, log_p, values)
    for i in range(len(y)):
        r, value, total = tables[0, y[i]], f4(0), f4(0)
        for k in range(outputs):
            value -= r[k] * log_p[i, k]
            total += r[k]
        for k in range(outputs):
            slopes[i, k] = p[i, k] * total - r[k]
        values[i] = value


@compiled
def distance_log(z, y, tables, outputs, p, log_p, values, slopes):
    """−Σ_k c_k log(1 − p_k); as `amol.losses.distance_log_loss`, with odds of the first class t.

    1 − p_t = σ(−o) with t's log odds o. Any other class has p_k = e_k σ(−o)/Σe, at most ½, and
    odds w_k = p_k/(1 − p_k). With Q = Σ_k c_k w_k its slope is
    c_k w_k − e_k (Q σ(−o) + c_t p_t)/Σe, and t's is p_t (c_t − Q).
    """
    for i in range(len(y)):
        cost, top = tables[0, y[i]], 0
        for k in range(1, outputs):
            top = k if z[i, k] > z[i, top] else top
        lead, total = _odds(z, i, top, outputs, p)
        log_rest, p_top, rest = logistic(lead)
        value, pull = cost[top] * log_rest, f4(0)
        for k in range(p.shape[1]):
            share = p[i, k] * (rest / total)
            p_odds = share / (f4(1) - share)
            log_p[i, k] = cost[k] * p_odds
            slopes[i, k] = cost[k] * log1p32(p_odds)
        for k in range(outputs):
            value += slopes[i, k]
            pull += log_p[i, k]
        back = (pull * rest + cost[top] * p_top) / total
        for k in range(outputs):
            slopes[i, k] = log_p[i, k] - p[i, k] * back
        slopes[i, top] = p_top * (cost[top] - pull)
        values[i] = value


@compiled
def focal(z, y, tables, outputs, p, log_p, values, slopes):
    """−(1 − p_y)^γ log p_y; table γ.

    With y's log odds o and L = log(1 + e^−o) the slope at o is −(1 − p_y)^γ (γ p_y L + 1 − p_y).
    """
    gamma = tables[0, 0, 0]
    for i in range(len(y)):
        odds, total = _odds(z, i, y[i], outputs, p)
        log_rest, p_y, rest = logistic(odds)
        log_p_y = logistic(-odds)[0]
        factor = exp32(-gamma * log_rest)
        slope = -factor * (gamma * p_y * log_p_y + rest)
        for k in range(outputs):
            slopes[i, k] = -slope * (p[i, k] / total)
        slopes[i, y[i]] = slope
        values[i] = factor * log_p_y


@compiled
def accumulated_log(z, y, tables, outputs, p, log_p, values, slopes):
    """−Σ_j mass_j log P_j, P_j the sum of the first j + 1 of p in y's order; tables order, mass.

    With o_j the log odds of the class at place j against all before it, −log P_j sums
    log(1 + e^o) over the places behind j. Slopes are p_j − σ(o_j) G_j, where
    G_j = mass_j + σ(−o_{j+1}) G_{j+1}; at the first place σ(o) is 1.
    """
    _softmax(z, len(y), outputs, p, log_p, values)
    for i in range(len(y)):
        order, masses = tables[0, y[i]], tables[1, y[i]]
        first = int(order[0])
        reached, mass, value = f4(0), masses[0], f4(0)  # reached: log Σ exp(z − z_first)
        for j in range(1, outputs):
            k = int(order[j])
            ahead = z[i, k] - z[i, first]
            step, joins, stays = logistic(ahead - reached)
            log_p[i, j], slopes[i, k] = stays, joins
            value += mass * step
            mass += masses[j]
            reached = ahead + (step - (ahead - reached)) if ahead > reached else reached + step
        pull = f4(0)
        for j in range(outputs - 1, 0, -1):
            k = int(order[j])
            pull = masses[j] + pull
            slopes[i, k] = p[i, k] - slopes[i, k] * pull
            pull = log_p[i, j] * pull
        slopes[i, first] = p[i, first] - (masses[0] + pull)
        values[i] = value


@compiled
def binary_tasks(z, y, tables, outputs, p, log_p, values, slopes):
    """−Σ_k log σ(s_k z_k) over the tasks entered; table of signs s, 0 where not entered."""
    for i in range(len(y)):
        signs, value = tables[0, y[i]], f4(0)
        for k in range(p.shape[1]):
            loss, miss, _ = logistic(-signs[k] * z[i, k])
            p[i, k] = abs(signs[k]) * loss
            log_p[i, k] = -signs[k] * miss
        for k in range(outputs):
            value += p[i, k]
            slopes[i, k] = log_p[i, k]
        values[i] = value


@compiled
def adjusted_log(z, y, tables, outputs, p, log_p, values, slopes):
    """−log p_y of the logits z + a; table a."""
    shift = tables[0, 0]
    for i in range(len(y)):
        for k in range(p.shape[1]):
            slopes[i, k] = z[i, k] + shift[k]
    _softmax(slopes, len(y), outputs, p, log_p, values)
    for i in range(len(y)):
        values[i] = -log_p[i, y[i]]
        for k in range(outputs):
            slopes[i, k] = p[i, k]
        slopes[i, y[i]] -= f4(1)


@compiled
def squared_cumulative(z, y, tables, outputs, p, log_p, values, slopes):
    """Σ_k (P_k − 1[y ≤ k])², P_k the sum of p up to k.

    With e_k = 2 (P_k − 1[y ≤ k]) and h_j = Σ_{k≥j} e_k, counted from the most probable class, the
    slope is p_j (h_j − Σ_i p_i h_i).
    """
    _softmax(z, len(y), outputs, p, log_p, values)
    for i in range(len(y)):
        value, upto, beyond, top = f4(0), f4(0), f4(0), 0
        for k in range(y[i]):
            upto += p[i, k]
            value += upto * upto
            log_p[i, k] = upto + upto
        for k in range(outputs - 1, y[i], -1):
            beyond += p[i, k]
            value += beyond * beyond
            log_p[i, k - 1] = -(beyond + beyond)
        for k in range(1, outputs):
            top = k if p[i, k] > p[i, top] else top
        ahead, pull = f4(0), f4(0)
        slopes[i, top] = 0
        for k in range(top - 1, -1, -1):
            ahead += log_p[i, k]
            slopes[i, k] = ahead
        ahead = f4(0)
        for k in range(top + 1, outputs):
            ahead -= log_p[i, k - 1]
            slopes[i, k] = ahead
        for k in range(outputs):
            pull += p[i, k] * slopes[i, k]
        for k in range(outputs):
            slopes[i, k] = p[i, k] * (slopes[i, k] - pull)
        values[i] = value


@compiled
def ordered_cuts(z, y, tables, outputs, p, log_p, values, slopes):
    """−log(σ(t_{y−1}) − σ(t_y)), t_k = z_0 − Σ_{j=1}^{k} log(1 + e^{u_j}), u_j = z_j − z_0.

    It is −log σ(t_{y−1}) − log σ(−t_y) − log σ(u_y), and at either end the one term with a cut.
    With A and B the slopes at t_{y−1} and t_y, that at u_j is −σ(u_j)(A + B) for j < y and
    −σ(u_y) B − σ(−u_y) for j = y; z_0 takes A + B and gives back the slopes of all u_j.
    """
    for i in range(len(y)):
        first, last = z[i, 0], min(y[i], outputs - 1)
        cut, value, before, at = first, f4(0), f4(0), f4(0)  # before, at: A and B
        for k in range(last + 1):
            if k > 0:
                step, p[i, k], _ = logistic(z[i, k] - first)
                cut -= step
            if k == y[i] - 1:
                loss, miss, _ = logistic(-cut)
                value += loss
                before = -miss
            elif k == y[i]:
                loss, at, _ = logistic(cut)
                value += loss
        back = before + at
        for k in range(1, outputs):
            slopes[i, k] = 0
        for k in range(1, last + 1):
            if k < y[i]:
                slopes[i, k] = -p[i, k] * (before + at)
            else:
                loss, miss, _ = logistic(first - z[i, k])
                value += loss
                slopes[i, k] = -p[i, k] * at - miss
            back -= slopes[i, k]
        slopes[i, 0] = back
        values[i] = value


@compiled
def weighted_kappa(z, y, tables, outputs, p, log_p, values, slopes):
    """Σ_k c_k p_k over the batch's mean of Σ_k e_k p_k, e its mean of c; tables c, class weights.

    With R the batch's loss and D that mean the slope is p_k (g_k − Σ_j p_j g_j), where
    g_k = (c_k − R e_k)/D is counted from its value at the most probable class. A batch with one
    label, where an e_k is 0, has value 1 and slopes 0. Sums over the batch are in float64.
    """
    _softmax(z, len(y), outputs, p, log_p, values)
    expected, total, observed, chance = log_p[0], 0.0, 0.0, 0.0
    for i in range(len(y)):
        total += tables[1, y[i], 0]
    alone = False
    for k in range(outputs):
        mean = 0.0
        for i in range(len(y)):
            mean += tables[1, y[i], 0] * tables[0, y[i], k]
        expected[k] = f4(mean / total)
        alone = alone or mean == 0.0
    for i in range(len(y)):
        weight, own, others = tables[1, y[i], 0], f4(0), f4(0)
        for k in range(outputs):
            own += p[i, k] * tables[0, y[i], k]
            others += p[i, k] * expected[k]
        values[i] = own
        observed += weight * own
        chance += weight * others
    ratio = f4(1) if alone else f4(observed / chance)
    inverse = f4(0) if alone else f4(total / chance)
    for i in range(len(y)):
        cost, top, pull = tables[0, y[i]], 0, f4(0)
        for k in range(1, outputs):
            top = k if p[i, k] > p[i, top] else top
        base = cost[top] - ratio * expected[top]
        for k in range(outputs):
            slopes[i, k] = ((cost[k] - ratio * expected[k]) - base) * inverse
            pull += p[i, k] * slopes[i, k]
        for k in range(outputs):
            slopes[i, k] = p[i, k] * (slopes[i, k] - pull)
        values[i] = f4(1) if alone else values[i] * inverse
