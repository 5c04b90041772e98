"""A classifier for scikit-learn: networks trained by an ordinal loss, by the engine of the studies.

>>> import numpy as np
>>> X = np.random.default_rng(0).normal(size=(200, 3))
>>> y = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
>>> model = OrdinalClassifier("AMOL", random_state=0).fit(X, y)
>>> model.predict_proba(X).shape
(200, 4)
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from amol import classifier_inputs as inputs
from amol import decisions, engine, scaling
from amol.metrics import quadratic_weighted_kappa

ROWS = 1 << 16  # predicted at a time


class OrdinalClassifier(ClassifierMixin, BaseEstimator):
    """Network for classes that have an order, trained by one of the losses of `amol.losses`.

    The same settings and data give the same weights, bit for bit, on every processor, for all
    losses that `amol.engine.is_compiled` knows.

    Parameters
    ----------
    loss : str, OrdinalLoss or callable
        A name of `amol.losses.LOSSES`, a loss with as many classes as y, or a function as
        `amol.losses.register_loss` takes it. At two classes AMOL is KL, whose weight has no center
        to find, and "CE-masked" is refused.
    loss_params : dict, optional
        Parameters of a loss given by name, such as ``{"alpha": 2.0}``. Losses that ask for class
        counts get those of the training part.
    decision : {"argmax", "median", "mean", "cost", "qwk"}
        From probabilities to a class: the most probable one; the median; the one nearest to the
        mean; the one of least expected ``cost``; or by thresholds on the mean that maximize the
        quadratic weighted kappa of the validation part. CORAL's and CORN's own rule is the median.
    cost : array-like, shape (K, K), optional
        For "cost": what it costs to predict class k for label y, row y, column k.
    n_networks : int
        Networks, of successive seeds, whose probabilities are averaged.
    hidden_layer_sizes : tuple of int
        Units of each hidden layer; () makes the model linear.
    learning_rate_init, batch_size, max_iter, weight_decay, dropout
        Adam's learning rate; samples a step; most epochs; factor of the weights in the gradient;
        share of hidden values that a step leaves out.
    n_iter_no_change, monitor, restore_best
        Training stops after so many epochs in which the validation part's ``monitor``, "loss" or
        "QWK", gets no better; then the weights of the best epoch are taken back.
    validation_fraction : float, optional
        Share of the rows for validation, drawn with each class in proportion; None watches the
        training rows themselves. Unused where ``fit`` is given a validation part.
    class_weight : dict from label to float or "balanced", optional
    classes : sequence, optional
        All classes from lowest to highest. Needed for words, and for numbers of which some may be
        missing; else the classes are the numbers found, by value, each one step from the next.
    standardize : bool
        Whether features are centered and scaled by the training part.
    random_state : int, RandomState or None
        Seed of the first network (an int is the seed itself) and of the validation part.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        From lowest to highest.
    fits_ : tuple of `amol.engine.Fit`
        One for each network: its weights, with their ``network.digest``, and how it was trained.
    loss_curves_, validation_loss_curves_ : tuple of ndarray, shape (epochs,)
    n_iter_ : int
        Epochs trained, the most of all networks.
    thresholds_ : ndarray, shape (K − 1,)
        With ``decision="qwk"``: on `latent_score`.
    loss_ : OrdinalLoss
    n_features_in_, feature_names_in_
    """

    def __init__(
        self,
        loss="AMOL",
        *,
        loss_params=None,
        decision="argmax",
        cost=None,
        n_networks=1,
        hidden_layer_sizes=(128, 128),
        learning_rate_init=1e-3,
        batch_size=256,
        max_iter=200,
        n_iter_no_change=20,
        monitor="loss",
        restore_best=True,
        weight_decay=0.0,
        dropout=0.0,
        validation_fraction=0.2,
        class_weight=None,
        classes=None,
        standardize=True,
        random_state=None,
    ):
        self.loss = loss
        self.loss_params = loss_params
        self.decision = decision
        self.cost = cost
        self.n_networks = n_networks
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.monitor = monitor
        self.restore_best = restore_best
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.classes = classes
        self.standardize = standardize
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
        """Train on X (n, d) with labels y (n,).

        Parameters
        ----------
        X : array-like, shape (n, d)
            Finite numbers; a DataFrame keeps its names.
        y : array-like, shape (n,)
        sample_weight : array-like, shape (n,), optional
            Not negative; a sample of weight 0 is left out.
        X_val, y_val : array-like, shapes (m, d) and (m,), optional
            Validation part; all of X is then trained on.

        Returns
        -------
        self
            On Ctrl-C with what was reached, after a warning, if an epoch was over.
        """
        inputs.check_parameters(self)
        seed = self._seed()
        data = self._arrays(X, y, sample_weight, X_val, y_val, seed)
        protocol = engine.Protocol(
            hidden=tuple(map(int, self.hidden_layer_sizes)),
            lr=float(self.learning_rate_init),
            batch_size=int(self.batch_size),
            patience=int(self.n_iter_no_change),
            epochs=int(self.max_iter),
            monitor=self.monitor,
            restore=bool(self.restore_best),
            weight_decay=float(self.weight_decay),
            dropout=float(self.dropout),
        )
        fits = []
        for number in range(self.n_networks):
            try:
                fits.append(engine.fit(self.loss_, (seed + number) % 2**32, data, protocol))
            except KeyboardInterrupt:
                if not fits:
                    raise
                break
            if fits[-1].interrupted:
                break
        self._keep(tuple(fits))
        if self.decision == "qwk":
            p = self._mean_probabilities(data.X_validation)
            self.thresholds_ = decisions.kappa_thresholds(
                decisions.mean_class(p),
                data.y_validation,
                len(self.classes_),
                data.weights_validation,
            )
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            if not 0 <= self.random_state < 2**32:
                raise ValueError(
                    f"random_state is {self.random_state}; allowed: None, a RandomState, or a "
                    "whole number from 0 to 2³²−1"
                )
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _arrays(self, X, y, sample_weight, X_val, y_val, seed) -> engine.Arrays:
        """The data as the engine takes it; sets all attributes that need no training."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val are given together or not at all")
        labels = y
        X, y = inputs.check_features(self, X, y, reset=True)
        weights = inputs.check_weights(sample_weight, X)
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        self.classes_ = inputs.class_order(labels, self.classes, rows)
        y = inputs.ranks(labels, self.classes_)
        K = len(self.classes_)
        self._cost = None if self.cost is None else inputs.check_cost(self.cost, K)
        by_class = inputs.class_weights(self.class_weight, self.classes_, y[rows])
        if by_class is not None:  # a sample that counts for nothing might be alone in its batch
            rows = rows[np.array(by_class)[y[rows]] > 0]
        if X_val is None:
            train, validation = inputs.divide(y, rows, self.validation_fraction, seed)
            X_val, y_val, weights_val = X, y, weights
        else:
            X_val, y_val = inputs.validation_part(self, X_val, y_val, self.classes_)
            train, validation, weights_val = rows, np.arange(len(X_val)), None
        counts = np.bincount(y[train], minlength=K).tolist()
        self.loss_ = inputs.loss_of(self, K, counts, by_class)
        if weights is not None:
            inputs.refuse_weighted_batch(self.loss_)
        self._center, self._scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if self.standardize:
            self._center, self._scale = scaling.center_and_scale(X, train)
        X_train = self._scaled(X, train)
        same = X_val is X and validation is train
        X_validation = X_train if same else self._scaled(X_val, validation)
        return engine.Arrays(
            X_train,
            y[train],
            X_validation,
            y_val[validation],
            X_validation[:0],
            K,
            None if weights is None else weights[train],
            None if weights_val is None else weights_val[validation],
        )

    def _scaled(self, X, rows) -> np.ndarray:
        found = scaling.scaled(X, rows, self._center, self._scale)
        inputs.refuse_far(self, found, self._scale)
        return found

    def _keep(self, fits: tuple[engine.Fit, ...]) -> None:
        self.fits_ = fits
        self.loss_curves_ = tuple(np.array(fit.training_loss) for fit in fits)
        self.validation_loss_curves_ = tuple(np.array(fit.validation_loss) for fit in fits)
        self.n_iter_ = max(len(fit.validation_loss) for fit in fits)
        if fits[-1].interrupted or len(fits) < self.n_networks:
            warnings.warn(
                f"Training interrupted by user; kept: {len(fits)} of {self.n_networks} networks, "
                f"the last one after {len(fits[-1].validation_loss)} epochs",
                stacklevel=3,
            )
        for fit in fits:
            if fit.failed is not None:
                warnings.warn(
                    f"the loss stopped being a finite number in epoch {fit.failed}; the weights "
                    f"are those of epoch {fit.best_epoch}. Lower learning_rate_init",
                    ConvergenceWarning,
                    stacklevel=3,
                )

    def _mean_probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, K) float64 for scaled features, averaged over the networks."""
        total = sum(
            engine.read(self.loss_, fit.network, X)[1].astype(np.float64) for fit in self.fits_
        )
        return total / total.sum(axis=1, keepdims=True)

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, K) float64 of the classes, in the order of ``classes_``."""
        check_is_fitted(self)
        X = inputs.check_features(self, X)
        found = np.empty((len(X), len(self.classes_)))
        for start in range(0, len(X), ROWS):
            rows = np.arange(start, min(start + ROWS, len(X)))
            found[rows] = self._mean_probabilities(self._scaled(X, rows))
        return found

    def predict(self, X) -> np.ndarray:
        """Classes (n,), by ``decision``."""
        p = self.predict_proba(X)
        if self.decision == "qwk":
            if not hasattr(self, "thresholds_"):
                raise ValueError('decision="qwk" finds its thresholds in fit: call it again')
            found = decisions.by_thresholds(decisions.mean_class(p), self.thresholds_)
        elif self.decision == "cost":
            found = decisions.least_cost(p, inputs.check_cost(self.cost, len(self.classes_)))
        else:
            rules = {
                "argmax": decisions.most_probable,
                "median": decisions.median,
                "mean": decisions.nearest_mean,
            }
            found = rules[self.decision](p)
        return self.classes_[found]

    def latent_score(self, X) -> np.ndarray:
        """Mean class (n,) of the probabilities, classes counted from 0 to K − 1."""
        return decisions.mean_class(self.predict_proba(X))

    def decision_function(self, X) -> np.ndarray:
        """Log probabilities (n, K); for two classes the log odds (n,) of the upper one."""
        log_p = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        return log_p if len(self.classes_) > 2 else log_p[:, 1] - log_p[:, 0]

    def score(self, X, y, sample_weight=None) -> float:
        """Quadratic weighted kappa of `predict` on X (n, d) and y (n,).

        Numbers among y that no training row had count as classes too, at their place by value.
        """
        found = self.predict(X)
        classes = inputs.with_unseen(self.classes_, y) if self.classes is None else self.classes_
        y, found = inputs.ranks(y, classes), inputs.ranks(found, classes)
        return quadratic_weighted_kappa(y, found, len(classes), sample_weight=sample_weight)
