"""Bad input to `amol.OrdinalClassifier`: each a clear error, before any training."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from amol import OrdinalClassifier, engine
from amol.losses import LOSSES, AMOLLoss

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 4
WORDS = np.array(["low", "mid", "high", "top"])[Y]
FRAME = pd.DataFrame(X, columns=["age", "height", "dose"])


def changed(value, row=7, column=1, kind=float):
    table = X.astype(kind)
    table[row, column] = value
    return table


def one_value(logits):
    return logits.mean()


# what: (parameters, X, y, further arguments of fit, the message)
FITS = {
    "a loss that there isn't": (dict(loss="AMOI"), X, Y, {}, "loss is 'AMOI'; allowed: .*AMOL"),
    "a loss of another kind": (dict(loss=3), X, Y, {}, "loss is 3; allowed: a name, a loss object"),
    "a class of losses": (dict(loss=AMOLLoss), X, Y, {}, "allowed: a name, a loss object or"),
    "a lambda": (dict(loss=lambda z, y, K: z), X, Y, {}, "written with def, got a lambda"),
    "a function of other arguments": (dict(loss=one_value), X, Y, {}, "one_value takes .logi"),
    "a parameter that the loss hasn't": (
        dict(loss="CE", loss_params={"alpha": 1}), X, Y, {}, "holds 'alpha'; CE takes none",
    ),
    "a parameter of the wrong size": (dict(loss_params={"alpha": -1}), X, Y, {}, "alpha is finite"),
    "parameters that are no dict": (dict(loss_params=[1]), X, Y, {}, "loss_params is .1.; allowed"),
    "a loss of other classes": (dict(loss=AMOLLoss(7)), X, Y, {}, "loss has 7 classes, y has 4"),
    "a loss object and parameters": (
        dict(loss=AMOLLoss(4), loss_params={"alpha": 1}), X, Y, {}, "leave out loss_params",
    ),
    "a masked center of two classes": (
        dict(loss="CE-masked"), X, Y % 2, {}, "leaves one class out, so it needs at least 3",
    ),
    "no rate": (dict(learning_rate_init=0), X, Y, {}, "learning_rate_init is 0; .*above 0"),
    "a rate that is no number": (dict(learning_rate_init="1"), X, Y, {}, "_init is '1'; allowed"),
    "no layer's units": (dict(hidden_layer_sizes=(8, 0)), X, Y, {}, r"is \(8, 0\); allowed: units"),
    "one number for layers": (dict(hidden_layer_sizes=8), X, Y, {}, "hidden_layer_sizes is 8"),
    "an empty batch": (dict(batch_size=0), X, Y, {}, "batch_size is 0; allowed: a whole number"),
    "half an epoch": (dict(max_iter=0.5), X, Y, {}, "max_iter is 0.5; allowed: a whole number"),
    "no patience": (dict(n_iter_no_change=0), X, Y, {}, "n_iter_no_change is 0; allowed"),
    "all dropped": (dict(dropout=1.0), X, Y, {}, "dropout is 1.0; allowed: .*below 1"),
    "negative decay": (dict(weight_decay=-1), X, Y, {}, "weight_decay is -1; allowed"),
    "a decision that there isn't": (dict(decision="mode"), X, Y, {}, "decision is 'mode'; .*'qwk'"),
    "a cost without its decision": (dict(cost=np.eye(4)), X, Y, {}, "takes a matrix as cost"),
    "a decision without its cost": (dict(decision="cost"), X, Y, {}, "takes a matrix as cost"),
    "a cost of another size": (
        dict(decision="cost", cost=np.eye(3)), X, Y, {}, r"shape \(3, 3\); allowed: \(4, 4\)",
    ),
    "a cost that isn't finite": (
        dict(decision="cost", cost=np.full((4, 4), np.nan)), X, Y, {}, "not finite",
    ),
    "an unknown monitor": (dict(monitor="MAE"), X, Y, {}, "monitor is 'MAE'; allowed: 'loss'"),
    "no networks": (dict(n_networks=0), X, Y, {}, "n_networks is 0; allowed"),
    "all for validation": (dict(validation_fraction=1), X, Y, {}, "validation_fraction is 1;"),
    "a negative seed": (dict(random_state=-1), X, Y, {}, "random_state is -1; allowed"),
    "a weight of no class": (dict(class_weight={9: 1}), X, Y, {}, "holds label 9; classes: .0, 1"),
    "a negative class weight": (dict(class_weight={1: -1}), X, Y, {}, "of 1 is -1; allowed"),
    "an unknown weighting": (dict(class_weight="rare"), X, Y, {}, "'rare'; allowed: None, 'bal"),
    "words without order": ({}, X, WORDS, {}, "'low', 'mid', 'top' are words.*lowest first"),
    "a word out of order": (
        dict(classes=["low", "mid", "high"]), X, WORDS, {}, "y holds label 'top'; classes: 'low'",
    ),
    "classes told twice": (dict(classes=[0, 1, 1, 2, 3]), X, Y, {}, "two different labels"),
    "one class": ({}, X, Y * 0, {}, r"y holds 1 class, \[0\]"),
    "labels that are measurements": ({}, X, Y + 0.5 * X[:, 0], {}, "Unknown label type: contin"),
    "labels that are missing": ({}, X, np.where(Y == 2, np.nan, Y), {}, "Input y contains NaN"),
    "labels in two columns": ({}, X, np.c_[Y, Y], {}, "y should be a 1d array"),
    "fewer labels than rows": ({}, X, Y[:-1], {}, r"inconsistent numbers of samples: \[60, 59\]"),
    "a missing value": ({}, changed(np.nan), Y, {}, "X contains NaN: column 1, row 7; fill it"),
    "one in a frame": (
        {}, FRAME.assign(age=FRAME["age"].where(FRAME.index != 4)), Y, {}, "column 'age', row 4",
    ),
    "an infinite value": ({}, changed(np.inf), Y, {}, "X contains inf: column 1, row 7"),
    "a word among features": ({}, changed("tall", kind=object), Y, {}, "column 1 holds 'tall'"),
    "a column of words": (
        {}, FRAME.assign(sex=["F", "M"] * 30), Y, {}, "column 'sex' holds 'F'; .*OneHotEncoder",
    ),
    "a value too large": ({}, changed(1e300), Y, {}, "column 1: its values are too large"),
    "one that float32 doesn't hold": (
        dict(standardize=False), changed(1e39), Y, {}, "column 1: its values are too large",
    ),
    "a sparse table": ({}, scipy.sparse.csr_array(X), Y, {}, "Sparse data was passed.*dense"),
    "complex numbers": ({}, X + 1j, Y, {}, "Complex data not supported"),
    "a table of three axes": ({}, X[..., None], Y, {}, "Found array with dim 3"),
    "no rows": ({}, X[:0], Y[:0], {}, r"0 sample\(s\)"),
    "a negative weight": ({}, X, Y, dict(sample_weight=Y - 1.0), "Negative values in data passed"),
    "no weight at all": ({}, X, Y, dict(sample_weight=Y * 0), "at least one non-zero number"),
    "weights of other rows": ({}, X, Y, dict(sample_weight=Y[:9]), r"sample_weight.shape == \(9,"),
    "weights for a batch's loss": (
        dict(loss="WK"), X, Y, dict(sample_weight=Y + 1.0), "sample_weight: WKLoss compares",
    ),
    "half a validation part": ({}, X, Y, dict(X_val=X), "X_val and y_val are given together"),
    "validation of other columns": ({}, X, Y, dict(X_val=X[:, 1:], y_val=Y), "X has 2 features"),
    "validation of other rows": ({}, X, Y, dict(X_val=X, y_val=Y[:3]), r"samples: \[60, 3\]"),
    "a class in validation alone": (
        {}, X, Y % 3, dict(X_val=X, y_val=Y), "y_val holds label 3; classes: 0, 1, 2",
    ),
    "a missing value in validation": (
        {}, X, Y, dict(X_val=changed(np.nan), y_val=Y), "Input X_val contains NaN: column 1, row 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FITS)
def test_it_is_refused_before_training(monkeypatch, what):
    parameters, features, labels, more, message = FITS[what]
    monkeypatch.setattr(engine, "fit", None)
    with pytest.raises((ValueError, TypeError), match=message):
        OrdinalClassifier(**parameters).fit(features, labels, **more)


@pytest.mark.parametrize(
    "features, message",
    [
        (X[:, :2], "X has 2 features, but OrdinalClassifier is expecting 3"),
        (FRAME.rename(columns={"age": "years"}), "feature names should match"),
        (changed(np.nan), "X contains NaN: column 'height', row 7"),
        (changed(1e300), "column 'height': its values are too large"),
        (scipy.sparse.csr_array(X), "Sparse data was passed"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_so_is_what_it_is_to_predict(features, message):
    model = OrdinalClassifier(max_iter=1).fit(FRAME, Y)
    for ask in (model.predict, model.predict_proba, model.decision_function, model.latent_score):
        with pytest.raises((ValueError, TypeError), match=message):
            ask(features)


def test_there_are_forty_cases_and_every_parameter_has_one():
    assert len(FITS) >= 40
    told = set().union(*(case[0] for case in FITS.values()))
    free = {"restore_best", "standardize"}  # True or False
    assert set(OrdinalClassifier().get_params()) - told <= free
    assert "CE-masked" in LOSSES
