"""What a user would write instead of the stack: the usual loops, on the same batches.

Each gives the same networks from the same first weights, orders and epochs as
`amol.experiments.training.train_stack`, for the bench to time and the tests to compare.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

from amol.experiments.training import Arrays, Protocol
from amol.losses import LOSSES, PAPER_METHODS

Batches = Iterable[tuple[Tensor, Tensor]]


def layers(data: Arrays, protocol: Protocol) -> list[tuple[int, int]]:
    """Inputs and outputs of each layer of a network."""
    widths = [data.X_train.shape[1], *[protocol.hidden] * protocol.layers, data.num_classes]
    return list(pairwise(widths))


@dataclass(frozen=True)
class Job:
    """One run to time: a loss and a seed."""

    loss: nn.Module
    seed: int

    def start(self, data: Arrays, protocol: Protocol) -> tuple[nn.Sequential, torch.Generator]:
        """The network with its first weights, and the generator that goes on to draw orders."""
        generator = torch.Generator().manual_seed(self.seed)
        modules = []
        for wide, narrow in layers(data, protocol):
            linear = nn.Linear(wide, narrow)
            for parameter in linear.parameters():
                nn.init.uniform_(parameter, -(wide**-0.5), wide**-0.5, generator=generator)
            modules += [linear, nn.ReLU()]
        return nn.Sequential(*modules[:-1]), generator


@dataclass(frozen=True)
class _Order(Sampler):
    """An epoch's order, drawn as the stack draws it (``RandomSampler`` draws twice)."""

    length: int
    generator: torch.Generator

    def __len__(self):
        return self.length

    def __iter__(self):
        return iter(torch.randperm(self.length, generator=self.generator).tolist())


def _loop(job: Job, data: Arrays, protocol: Protocol, batches: Callable[..., Batches]) -> Tensor:
    """The usual loop with the best epoch kept; `batches(generator)` is an epoch's (X, y)."""
    model, generator = job.start(data, protocol)
    optimizer = torch.optim.Adam(model.parameters(), lr=protocol.lr)
    X_val, y_val = torch.from_numpy(data.X_validation), torch.from_numpy(data.y_validation)
    best, kept = float("inf"), None
    for _ in range(protocol.epochs):
        for X, y in batches(generator):
            optimizer.zero_grad()
            job.loss(model(X), y).backward()
            optimizer.step()
        with torch.no_grad():
            score = job.loss(model(X_val), y_val).item()
        if score < best:
            best, kept = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    with torch.no_grad():
        return model(torch.from_numpy(data.X_test)).softmax(-1)


def dataloader_loop(job: Job, data: Arrays, protocol: Protocol) -> Tensor:
    """Test probabilities (n, K) after the loop over a ``DataLoader``."""
    rows = TensorDataset(torch.from_numpy(data.X_train), torch.from_numpy(data.y_train))

    def batches(generator: torch.Generator) -> Batches:
        order = _Order(len(rows), generator)
        return DataLoader(rows, batch_size=protocol.batch_size, sampler=order)

    return _loop(job, data, protocol, batches)


def index_loop(job: Job, data: Arrays, protocol: Protocol) -> Tensor:
    """Test probabilities (n, K) after the loop over batches taken by index."""
    X, y = torch.from_numpy(data.X_train), torch.from_numpy(data.y_train)

    def batches(generator: torch.Generator) -> Batches:
        order = torch.randperm(len(X), generator=generator)
        return ((X[rows], y[rows]) for rows in order.split(protocol.batch_size))

    return _loop(job, data, protocol, batches)


def skorch_fit(job: Job, data: Arrays, protocol: Protocol) -> Tensor:
    """Test probabilities (n, K) after skorch's own loop."""
    from skorch import NeuralNet
    from skorch.callbacks import EarlyStopping
    from skorch.dataset import Dataset
    from skorch.helper import predefined_split

    model, generator = job.start(data, protocol)
    net = NeuralNet(
        model,
        criterion=job.loss,
        optimizer=torch.optim.Adam,
        lr=protocol.lr,
        max_epochs=protocol.epochs,
        batch_size=protocol.batch_size,
        iterator_train__sampler=_Order(len(data.X_train), generator),
        train_split=predefined_split(Dataset(data.X_validation, data.y_validation)),
        callbacks=[EarlyStopping(patience=protocol.patience, load_best=True)],
        verbose=0,
    )
    net.fit(data.X_train, data.y_train)
    return net.forward(data.X_test).softmax(-1)


LOOPS = {"dataloader": dataloader_loop, "index": index_loop, "skorch": skorch_fit}


def jobs(num_classes: int, seeds: int = 5) -> list[Job]:
    """The paper's eight methods, each with these many seeds."""
    losses = [LOSSES[method](num_classes=num_classes) for method in PAPER_METHODS]
    return [Job(loss, seed) for loss in losses for seed in range(seeds)]
