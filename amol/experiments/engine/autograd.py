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

    def epoch(self, memory, X, y, order, settings):
        for start in range(0, len(order), settings.batch):
            chosen = order[start : start + settings.batch]
            network.begin_step(memory, X, chosen, settings)
            z = self._tensor(memory.logits[: len(chosen)]).requires_grad_()
            values, weights = self.loss.terms(
                z, torch.from_numpy(y[start : start + settings.batch])
            )
            (slopes,) = torch.autograd.grad(values.sum() / weights.detach().sum(), z)
            memory.logit_slopes[: len(chosen), : z.shape[1]] = slopes.numpy()
            network.end_step(memory, len(chosen), settings)

    @torch.no_grad()
    def mean(self, logits, y):
        values, weights = self.loss.terms(self._tensor(logits), torch.from_numpy(y))
        return float(values.double().sum() / weights.double().sum())

    @torch.no_grad()
    def read(self, logits):
        z = self._tensor(logits)
        return self.loss.predict(z).numpy(), self.loss.probabilities(z).numpy()
