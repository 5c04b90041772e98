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

    def epoch(self, memory, X, y, settings):
        for start in range(0, len(y), settings.batch):
            part = slice(start, start + settings.batch)
            network.begin_step(memory, X[part], settings)
            z = self._tensor(memory.logits[: len(X[part])]).requires_grad_()
            values, weights = self.loss.terms(z, torch.from_numpy(y[part]))
            (slopes,) = torch.autograd.grad(values.sum() / weights.detach().sum(), z)
            memory.logit_slopes[: len(z), : z.shape[1]] = slopes.numpy()
            network.end_step(memory, X[part], settings)

    @torch.no_grad()
    def mean(self, logits, y):
        values, weights = self.loss.terms(self._tensor(logits), torch.from_numpy(y))
        return float(values.double().sum() / weights.double().sum())

    @torch.no_grad()
    def read(self, logits):
        z = self._tensor(logits)
        return self.loss.predict(z).numpy(), self.loss.probabilities(z).numpy()
