"""A loss without a compiled gradient: PyTorch computes it, the engine does the rest."""

import torch

from . import network


class Autograd:
    """A loss whose value, slopes and predictions PyTorch computes."""

    compiled = False

    def __init__(self, loss):
        self.loss, self.outputs, self.shared_head = loss, loss.num_logits, loss.shared_head

    def _tensor(self, logits):
        return torch.from_numpy(logits[:, : self.outputs].copy())

    def _sums(self, z, y, w):
        """Numerator and denominator of the mean, which weights of 1 leave as they are."""
        values, terms = self.loss.terms(z, torch.from_numpy(y))
        w = torch.from_numpy(w)
        return values * w.to(values.dtype), terms * w.to(terms.dtype)

    def epoch(self, memory, X, y, w, order, settings):
        value, total = 0.0, 0.0
        for start in range(0, len(order), settings.batch):
            part = order[start : start + settings.batch]
            inputs = X[part]
            network.forward(memory, inputs, memory.logits, settings)
            z = self._tensor(memory.logits[: len(part)]).requires_grad_()
            values, terms = self._sums(z, y[part], w[part])
            (slopes,) = torch.autograd.grad(values.sum() / terms.detach().sum(), z)
            memory.logit_slopes[: len(z), : z.shape[1]] = slopes.numpy()
            network.end_step(memory, inputs, settings)
            value += float(values.detach().double().sum())
            total += float(terms.detach().double().sum())
        return value / total

    @torch.no_grad()
    def mean(self, logits, y, w):
        values, terms = self._sums(self._tensor(logits), y, w)
        return float(values.double().sum() / terms.double().sum())

    @torch.no_grad()
    def read(self, logits):
        z = self._tensor(logits)
        return self.loss.predict(z).numpy(), self.loss.probabilities(z).numpy()
