"""The losses for boosted trees: gradient and Hessian as LightGBM and XGBoost ask for them."""

import numpy as np
import torch

from amol.losses import BatchLoss, OrdinalLoss
from amol.losses.registry import loss_class

LEAST = 1e-6  # of the Hessian, so that no step is endless where the loss is flat
NUMBERS = 1 << 20  # second derivatives at a time


def objective(loss, num_classes: int, **parameters) -> "Objective":
    """A loss as custom objective of LightGBM and XGBoost.

    Parameters
    ----------
    loss : str, OrdinalLoss or callable
        A name of `amol.losses.LOSSES`, a loss object, or a function as
        `amol.losses.register_loss` takes it; no loss of a batch.
    num_classes : int
        K.
    **parameters
        Of a loss given by name, such as ``alpha=2.0``.

    Raises
    ------
    ValueError, TypeError
        Unknown names, parameters that the loss hasn't.

    Examples
    --------
    >>> import numpy as np
    >>> amol_ = objective("AMOL", num_classes=3, alpha=2.0)
    >>> gradient, hessian = amol_(np.array([0, 2]), np.zeros((2, 3)))
    >>> gradient.round(3).tolist(), (hessian > 0).all().item()
    ([[-0.49, 0.314, 0.176], [0.176, 0.314, -0.49]], True)
    """
    if not isinstance(loss, OrdinalLoss):
        loss = loss_class(loss)(num_classes=num_classes, **parameters)
    elif parameters or loss.num_classes != num_classes:
        raise ValueError(f"{loss} has its own parameters; num_classes is {num_classes}")
    if isinstance(loss, BatchLoss):
        raise ValueError(f"{type(loss).__name__} compares the samples of a batch: it has no sum")
    return Objective(loss)


class Objective:
    """What `objective` gives: called with labels and raw scores, or scores and a data set.

    The trees' raw scores (n, outputs) are the loss's logits; ``outputs`` is K, or K − 1 for CORAL,
    CORN and CLM: LightGBM and XGBoost call it num_class. Labels are 0..K−1. With two classes scores
    (n,) are the log odds of the upper one. `probabilities` and `predict` read raw scores.

    The gradient is exact. In place of the Hessian H of a sample comes the diagonal of
    h_k = Σ_j |H_kj|, at least `LEAST`: positive where H isn't, and never less than H, since
    diag(h) − H has dominant diagonals. For cross-entropy it is 2 p_k (1 − p_k), as in XGBoost.
    """

    def __init__(self, loss: OrdinalLoss):
        self.loss, self.outputs = loss, loss.num_logits

    def __call__(self, y_true, y_pred, sample_weight=None) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and bound of the Hessian, both of the scores' shape, of the sum over samples.

        Parameters
        ----------
        y_true : ndarray, shape (n,)
        y_pred : ndarray, shape (n, outputs)
            Or scores first and then a LightGBM Dataset or XGBoost DMatrix, which has the labels.
        sample_weight : ndarray, shape (n,), optional
        """
        if hasattr(y_pred, "get_label"):
            y_true, y_pred, sample_weight = y_pred.get_label(), y_true, y_pred.get_weight()
        scores = np.asarray(y_pred)
        z, y = self._logits(scores), torch.from_numpy(np.asarray(y_true).astype(np.int64))
        if len(y) and not 0 <= y.min() <= y.max() < self.loss.num_classes:
            raise ValueError(
                f"labels are 0 to {self.loss.num_classes - 1}, got {y.unique().tolist()}"
            )
        rows = max(1, NUMBERS // self.outputs**2)
        parts = [
            self._derivatives(z[start : start + rows], y[start : start + rows])
            for start in range(0, len(z), rows)
        ]
        gradient, hessian = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
        if scores.ndim == 1:
            gradient, hessian = gradient[:, -1], hessian[:, -1]
        if sample_weight is not None and len(sample_weight):
            w = np.asarray(sample_weight, np.float64).reshape(-1, *[1] * (scores.ndim - 1))
            gradient, hessian = gradient * w, hessian * w
        return gradient, hessian

    def _logits(self, scores: np.ndarray) -> torch.Tensor:
        """Logits (n, outputs) float64; scores (n,) are log odds of the upper of two classes."""
        z = torch.from_numpy(np.array(scores, np.float64))
        if z.ndim == 1 and self.loss.num_classes == 2:
            z = torch.stack([torch.zeros_like(z), z], dim=1)[:, -self.outputs :]
        if z.ndim != 2 or z.shape[1] != self.outputs:
            raise ValueError(
                f"scores have shape (n, {self.outputs}), got {scores.shape}; "
                f"set num_class to {self.outputs}"
            )
        return z

    def _derivatives(self, z: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = z.requires_grad_()
        (gradient,) = torch.autograd.grad(self.loss.terms(z, y)[0].sum(), z, create_graph=True)
        bound = torch.stack([
            torch.autograd.grad(column.sum(), z, retain_graph=True)[0].abs().sum(dim=1)
            for column in gradient.T
        ], dim=1)  # fmt: skip
        return gradient.detach(), bound.clamp(min=LEAST)

    @torch.no_grad()
    def probabilities(self, scores) -> np.ndarray:
        """Class probabilities (n, K) of raw scores."""
        return self.loss.probabilities(self._logits(np.asarray(scores))).numpy()

    @torch.no_grad()
    def predict(self, scores) -> np.ndarray:
        """Labels (n,) of raw scores."""
        return self.loss.predict(self._logits(np.asarray(scores))).numpy()
