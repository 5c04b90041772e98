"""Metrics of ordinal predictions: label arrays in, floats out.

Labels are integers 0..K-1, as anything that NumPy reads or as torch tensors (any device, this
package does not import torch). c denotes the center class ⌊(K−1)/2⌋: the lower middle at even K,
where the paper's c = (K−1)/2 is no class.

Call ``METRICS[name](y_true, y_pred, num_classes)`` and
``PROBABILITY_METRICS[name](y_true, probabilities)``. Empty input, labels outside 0..K-1 and labels
that aren't integers raise ValueError. The scale has K classes, whichever of them occur; where a
metric looks at the classes present, its docstring says so. A metric over samples that are not there
(no extreme sample, say) is nan; a constant prediction has QWK 0.

Masked entries are refused, and so are pandas objects whose rows or classes are in other orders.
Rows of probabilities sum to 1 within 0.01, whatever their type.

All take ``sample_weight`` of shape (N,), or raise ValueError where a weight is negative or not
finite, or all are 0. A weight of 2 counts as the sample twice, one of 0 as no sample: a class of
weight 0 is absent, and a rate whose samples all weigh 0 is nan.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from amol.metrics.inputs import check_labels, whole
from amol.metrics.labels import (
    accuracy,
    accuracy_within,  # noqa: F401  (takes k, so it is in no table)
    balanced_accuracy,
    center_discrimination,
    center_hedging_rate,
    center_rate,
    center_recall,
    extended_center_hedging_rate,
    extreme_recall,
    geometric_extreme_sensitivity,
    geometric_mean,
    kendall_tau,
    macro_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
    mean_extreme_sensitivity,
    minimum_sensitivity,
    off_by_one_accuracy,
    quadratic_weighted_kappa,
    spearman_rho,
)
from amol.metrics.probabilities import (
    center_mass,
    classwise_calibration_error,
    negative_log_likelihood,
    ranked_probability_score,
    top_calibration_error,
)

# A run has a column for each of the next two tables.
METRICS: dict[str, Callable] = {
    "QWK": quadratic_weighted_kappa, "CHR": center_hedging_rate,
    "CHR_ext": extended_center_hedging_rate, "accuracy": accuracy, "MAE": mean_absolute_error,
    "AMAE": macro_mean_absolute_error, "center_rate": center_rate, "center_recall": center_recall,
    "extreme_recall": extreme_recall, "J_c": center_discrimination,
}  # fmt: skip
PROBABILITY_METRICS: dict[str, Callable] = {
    "RPS": ranked_probability_score, "center_mass": center_mass,
}  # fmt: skip
MORE_METRICS: dict[str, Callable] = {
    "accuracy_1off": off_by_one_accuracy, "balanced_accuracy": balanced_accuracy,
    "MMAE": maximum_mean_absolute_error, "MS": minimum_sensitivity, "GM": geometric_mean,
    "MES": mean_extreme_sensitivity, "GMES": geometric_extreme_sensitivity,
    "tau_b": kendall_tau, "rho": spearman_rho,
}  # fmt: skip
MORE_PROBABILITY_METRICS: dict[str, Callable] = {
    "NLL": negative_log_likelihood, "ECE": top_calibration_error,
    "ECE_class": classwise_calibration_error,
}  # fmt: skip

# The center rate is absent: it should match the data, neither high nor low is better.
HIGHER_IS_BETTER = {
    "QWK": True, "CHR": False, "CHR_ext": False, "accuracy": True, "MAE": False, "AMAE": False,
    "center_recall": True, "extreme_recall": True, "J_c": True, "RPS": False,
    "center_mass": False, "accuracy_1off": True, "balanced_accuracy": True, "MMAE": False,
    "MS": True, "GM": True, "MES": True, "GMES": True, "tau_b": True, "rho": True,
    "NLL": False, "ECE": False, "ECE_class": False,
}  # fmt: skip


def scorers(num_classes: int) -> dict[str, Callable]:
    """scikit-learn scorers for the metrics of `HIGHER_IS_BETTER`, errors with negated sign.

    A classifier that never saw some of the classes has fewer columns in `predict_proba`: they
    are put in their places by its `classes_`, and the absent classes get probability 0.

    >>> sorted(scorers(num_classes=7))[:3]
    ['AMAE', 'CHR', 'CHR_ext']
    """
    from sklearn.metrics import make_scorer  # as slow to load as PyTorch, and for this alone

    num_classes = whole("num_classes", num_classes)
    of_labels = METRICS | MORE_METRICS
    of_probabilities = PROBABILITY_METRICS | MORE_PROBABILITY_METRICS
    return {
        name: make_scorer(of_labels[name], greater_is_better=higher, num_classes=num_classes)
        if name in of_labels
        else partial(_score, of_probabilities[name], 1 if higher else -1, num_classes)
        for name, higher in HIGHER_IS_BETTER.items()
    }


def _score(metric, sign, num_classes, model, X, y, sample_weight=None) -> float:
    found = model.predict_proba(X)
    probabilities = np.zeros((len(found), num_classes))
    probabilities[:, check_labels(model.classes_, num_classes, "classes_")] = found
    return sign * metric(y, probabilities, sample_weight=sample_weight)
