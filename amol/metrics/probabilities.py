"""Metrics of predicted distributions."""

import math

import numpy as np

from amol.metrics.inputs import NAN, check_probabilities, check_weights, mean

BINS = 10


def center_mass(y_true, probabilities, *, sample_weight=None) -> float:
    """Mean probability given to the center class over the samples that CHR_ext counts.

    The soft companion of CHR_ext and the center bar of the paper's Figure 2; nan where CHR_ext is.

    >>> center_mass([0, 3], [[0.5, 0, 0.5, 0, 0], [0, 0, 0.1, 0, 0.9]])
    0.3
    """
    y_true, p = check_probabilities(y_true, probabilities)
    weights = check_weights(sample_weight, len(p))
    center = (p.shape[1] - 1) // 2
    if center < 2:
        return NAN
    extreme = (y_true < 2) | (y_true >= p.shape[1] - 2)
    return mean(p[extreme, center], weights if weights is None else weights[extreme])


def ranked_probability_score(y_true, probabilities, *, sample_weight=None) -> float:
    """Mean of Σ_k (F̂(k) − 1[y ≤ k])² / (K−1), with F̂ the predicted cumulative distribution (RPS).

    Divided by K−1, so that 0 is a sure hit and 1 all mass at the opposite end of the scale.

    >>> ranked_probability_score([1], [[0.5, 0.25, 0.25]])
    0.15625
    """
    y_true, p = check_probabilities(y_true, probabilities)
    reached = y_true[:, None] <= np.arange(p.shape[1])  # (N, K)
    squares = (p.cumsum(axis=1) - reached)[:, :-1] ** 2
    return mean(squares.mean(axis=1), check_weights(sample_weight, len(p)))


def negative_log_likelihood(y_true, probabilities, *, sample_weight=None) -> float:
    """Mean of −ln p_y (NLL), with no p_y below 2^−1022, so that a label ruled out costs 708.4.

    >>> round(negative_log_likelihood([0, 1], [[0.5, 0.5], [0.75, 0.25]]), 6)
    1.039721
    """
    y_true, p = check_probabilities(y_true, probabilities)
    costs = -np.log(np.maximum(p[np.arange(len(p)), y_true], np.finfo(np.float64).tiny))
    return mean(costs, check_weights(sample_weight, len(p)))


def calibration_error(hit: np.ndarray, p: np.ndarray, sample_weight=None) -> float:
    """Expected calibration error over `BINS` bins of equal mass, in order of the probability.

    Σ_b n_b/n |mean of hit − mean of p in bin b| (Naeini, Cooper and Hauskrecht, AAAI 2015; here
    with quantiles as edges). ``hit`` (N,) says whether what has probability ``p`` (N,) happened.
    With weights all bins are of the same weight, and a sample on an edge belongs to both in part;
    without, the first bins have one sample more where N is no multiple of `BINS`.

    >>> calibration_error(np.array([True] * 10 + [False] * 10), np.full(20, 0.5))
    0.5
    """
    weights = check_weights(sample_weight, len(p))
    order = np.argsort(p.round(6), kind="stable")  # so that no last bit moves a sample
    gaps = (hit - p.astype(np.float64))[order]
    if weights is None:
        return sum(abs(float(gap.sum())) for gap in np.array_split(gaps, BINS)) / len(p)
    mass, total = (np.r_[0, np.cumsum(each)] for each in (weights[order], weights[order] * gaps))
    edges = np.interp(np.linspace(0, mass[-1], BINS + 1), mass, total)
    return math.fsum(np.abs(np.diff(edges))) / float(mass[-1])


def top_calibration_error(y_true, probabilities, *, sample_weight=None) -> float:
    """`calibration_error` of the most probable class, the first of equals (ECE).

    >>> top_calibration_error([0, 1], [[0.75, 0.25], [0.75, 0.25]])
    0.5
    """
    y_true, p = check_probabilities(y_true, probabilities)
    return calibration_error(y_true == p.argmax(axis=1), p.max(axis=1), sample_weight)


def classwise_calibration_error(y_true, probabilities, *, sample_weight=None) -> float:
    """Mean of `calibration_error` over the K classes (ECE_class; Kull et al., NeurIPS 2019).

    >>> classwise_calibration_error([0, 1], [[1, 0], [0.5, 0.5]])
    0.25
    """
    y_true, p = check_probabilities(y_true, probabilities)
    errors = [calibration_error(y_true == k, q, sample_weight) for k, q in enumerate(p.T)]
    return sum(errors) / len(errors)
