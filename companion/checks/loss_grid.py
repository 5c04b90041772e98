"""What each loss withstands, measured live, and the same grid on the libraries that release it.

`conformance` checks the losses of this package against their definitions at 50 digits,
`released` puts other libraries through the same grid, `speed` compares with PyTorch's
cross-entropy. Each gives a tidy frame for the book.
"""

import importlib
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import pandas as pd
import torch
import torch.nn.functional as F
from mpmath import mpf

from amol.losses import LOSSES, BatchLoss, OrdinalLoss
from companion.checks.reference_losses import REFERENCES, Reference, oracle
from companion.paths import ROOT

RECORDED = ROOT / "book" / "recorded" / "released_losses.csv"
MAGNITUDES = (1, 10, 100, 1000, 10000)
K = 7
TOLERANCE = 1e-3  # the spacing of float32 numbers near 10⁴


def exactness(name: str, samples: int = 2, classes=(2, 7, 21), magnitudes=MAGNITUDES) -> float:
    """Worst relative error in float64 against `oracle`, over K and |logits| up to 10⁴.

    Not a number for a loss that isn't in `REFERENCES`.
    """
    if name not in REFERENCES:
        return math.nan
    generator = torch.Generator().manual_seed(0)
    worst = 0.0
    for num_classes in classes:
        loss = LOSSES[name](num_classes=num_classes, reduction="none")
        for magnitude in magnitudes:
            count = 8 if isinstance(loss, BatchLoss) else samples
            shape = (count, loss.num_logits)
            z = (torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1) * magnitude
            y = torch.randint(num_classes, (count,), generator=generator)
            for value, exact in _values_and_exact(name, loss, z, y):
                scale = max(abs(exact), mpf(10) ** -300)  # below, float64 holds no value
                worst = max(worst, float(abs(mpf(value.item()) - exact) / scale))
    return worst


def _values_and_exact(name, loss, z, y):
    """Of each sample, or of the whole batch where the loss is one of batches."""
    values = loss(z, y)
    if isinstance(loss, BatchLoss):
        return [(values.mean(), oracle(name, loss, z, y.tolist()))]
    exact = [oracle(name, loss, row, label) for row, label in zip(z, y.tolist(), strict=True)]
    return list(zip(values, exact, strict=True))


@dataclass(frozen=True)
class Candidate:
    """An implementation on trial.

    `make(weight)` gives f(logits (N, num_logits), target (N,)) -> mean over N, or raises
    TypeError where it takes no class weights; `ours` is this package's loss with the same
    parameters.
    """

    loss: str
    library: str
    make: Callable
    ours: OrdinalLoss

    def measure(self) -> dict:
        """One row of the grid."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f = self.make(None)
            return {
                "loss": self.loss,
                "library": self.library,
                "version": version(self.library),
                "stable_to": self._stable_to(f),
                "gradcheck": self._gradcheck(f),
                "compile": self._compiles(f),
                "half": all(self._half(f, dtype) for dtype in (torch.float16, torch.bfloat16)),
                "weights": self._weights(),
                "accepts": ", ".join(self._accepts(f)),
            }

    def _stable_to(self, f) -> int:
        """Largest |logit| up to which float32 values and gradients agree with the exact ones."""
        reached = 0
        for magnitude in MAGNITUDES:
            if not all(self._agrees(f, z * magnitude, y) for z, y in _probes(self.ours)):
                break
            reached = magnitude
        return reached

    def _agrees(self, f, z, y) -> bool:
        pairs = []
        for g, dtype in ((f, torch.float32), (self.ours, torch.float64)):
            leaf = z.to(dtype).requires_grad_()
            value = g(leaf, y)
            pairs.append((value.double(), torch.autograd.grad(value, leaf)[0].double()))
        return all(
            bool((a - b).abs().max() <= TOLERANCE * b.abs().max().clamp(min=1))
            for a, b in zip(*pairs, strict=True)
        )

    def _gradcheck(self, f) -> bool:
        z, y = _sample(self.ours, torch.float64)
        return _succeeds(lambda: torch.autograd.gradcheck(lambda v: f(v, y), z.requires_grad_()))

    def _compiles(self, f) -> bool:
        torch.compiler.reset()
        compiled = torch.compile(f, fullgraph=True, backend="eager")
        return _succeeds(lambda: compiled(*_sample(self.ours, torch.float32)))

    def _half(self, f, dtype) -> bool:
        z, y = _sample(self.ours, torch.float32)
        z = (1e4 * z.sign()).to(dtype).requires_grad_()

        def finite():
            with torch.autocast("cpu", dtype=dtype):
                value = f(z, y)
            return value.isfinite() and torch.autograd.grad(value, z)[0].isfinite().all()

        return _succeeds(finite)

    def _weights(self) -> str:
        weight = torch.linspace(1, 2, K)
        try:
            light, heavy = self.make(weight), self.make(weight * 10)
        except TypeError:
            return "none"
        z, y = _sample(self.ours, torch.float32)
        return "scale-free" if torch.allclose(light(z, y), heavy(z, y)) else "rescale the loss"

    def _accepts(self, f) -> list[str]:
        """Bad inputs that give a number instead of an error."""
        z, y = _sample(self.ours, torch.float32)
        bad = {
            "label K": (z, y.masked_fill(y == y.max(), K)),
            "label −1": (z, y.masked_fill(y == y.max(), -1)),
            "float labels": (z, y + 0.5),
            "labels (N, 1)": (z, y[:, None]),
            "empty batch": (z[:0], y[:0]),
        }
        return [name for name, (z, y) in bad.items() if _succeeds(lambda z=z, y=y: [f(z, y)])]


def _succeeds(call) -> bool:
    try:
        return bool(call())
    except Exception:
        return False


def _sample(ours, dtype):
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(10, ours.num_logits, generator=generator, dtype=torch.float64).to(dtype)
    return z, torch.arange(10) % K


def _probes(ours):
    """Batches with logits in [−1, 1]: one sample each, or all of them for a loss of batches."""
    if isinstance(ours, BatchLoss):
        return [tuple(map(torch.cat, zip(*_samples(ours), strict=True)))]
    return list(_samples(ours))


def _samples(ours):
    """Logits (1, num_logits) and a label: drawn at random, surely right, surely wrong."""
    generator = torch.Generator().manual_seed(2)
    for y in (0, 1, 3, 6):
        label = torch.tensor([y])
        yield torch.rand(1, ours.num_logits, generator=generator) * 2 - 1, label
        for k in (0, 3, ours.num_logits - 1):
            yield F.one_hot(torch.tensor([k]), ours.num_logits) * 2.0 - 1, label


def conformance(names=None) -> pd.DataFrame:
    """One row per registered loss: formula, source, `exactness` and the grid of `Candidate`.

    Without a definition in `REFERENCES` the first two are empty, and exactness is no number.
    `stable_to` is the largest |logit| of those tried up to which float32 values and gradients
    hold, `accepts` lists bad input that passes silently.
    """
    rows = []
    for name in _registered() if names is None else names:
        found, made = REFERENCES.get(name, Reference("", "", None)), _ours(name)
        row = Candidate(name, "amol", lambda w, name=name: _ours(name, w), made).measure()
        formula = found.formula and f"${found.formula}$"
        known = {"formula": formula, "source": found.source, "exactness": exactness(name)}
        rows.append({"loss": name} | known | row)
    return pd.DataFrame(rows)


def _registered() -> list[str]:
    """Names of all losses, in the order of `REFERENCES`, the others behind."""
    return sorted(LOSSES, key=[*REFERENCES, *LOSSES].index)


def _ours(name, weight=None):
    return LOSSES[name](num_classes=K, weight=weight)


def _torch():
    yield "CE", _ours("CE"), lambda w: torch.nn.CrossEntropyLoss(weight=w)


def _coral_pytorch():
    losses = importlib.import_module("coral_pytorch.losses")
    levels = importlib.import_module("coral_pytorch.dataset").levels_from_labelbatch

    def unweighted(f):
        def make(weight):
            if weight is not None:
                raise TypeError
            return f

        return make

    coral = unweighted(lambda z, y: losses.coral_loss(z, levels(y, K).to(z.dtype)))
    yield "CORAL", _ours("CORAL"), coral
    yield "CORN", _ours("CORN"), unweighted(lambda z, y: losses.corn_loss(z, y, K))


def _dlordinal():
    losses = importlib.import_module("dlordinal.losses")
    sord = _ours("SORD")  # theirs has q ∝ exp(−|k − y|)
    labels = torch.arange(K, dtype=torch.float64)
    sord.add_table("soft_target", torch.softmax(-(labels - labels[:, None]).abs(), -1))
    yield "CDW-CE", _ours("CDW-CE"), lambda w: losses.CDWCELoss(K, alpha=2.0, weight=w)
    yield "SORD", sord, lambda w: losses.SORDLoss(1.0, K, torch.arange(K), weight=w)
    yield "SLACE", _ours("SLACE"), lambda w: losses.SLACELoss(1.0, K, weight=w)
    yield "CORN", _ours("CORN"), lambda w: losses.CORNLoss(K, **({} if w is None else {"w": w}))


LIBRARIES = {"torch": _torch, "coral-pytorch": _coral_pytorch, "dlordinal": _dlordinal}


def released() -> pd.DataFrame:
    """The grid on released libraries: those that import here live, the others as recorded.

    Column `live` tells which.
    """
    recorded = pd.read_csv(RECORDED, keep_default_na=False) if RECORDED.exists() else None
    frames = []
    for library, candidates in LIBRARIES.items():
        try:
            rows = [Candidate(n, library, make, o).measure() for n, o, make in candidates()]
            frames.append(pd.DataFrame(rows).assign(live=True))
        except ImportError:
            if recorded is not None:
                frames.append(recorded[recorded["library"] == library].assign(live=False))
    return pd.concat(frames, ignore_index=True)


def speed(repeats: int = 30, samples: int = 4096, classes=(7, 101)) -> pd.DataFrame:
    """Forward and backward time of `loss(logits, target)` over that of `F.cross_entropy`.

    Processor time in float32 on one thread, the two timed in turn; `ratio` is that of the
    medians, `milliseconds` the loss's median. Losses on K logits only.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rows = []
    for num_classes in classes:
        z = torch.randn(samples, num_classes, requires_grad=True)
        y = torch.randint(num_classes, (samples,))
        for name in _registered():
            loss = LOSSES[name](num_classes=num_classes)
            if loss.num_logits != num_classes:
                continue
            times = [[_seconds(f, z, y) for f in (loss, F.cross_entropy)] for _ in range(repeats)]
            ours, base = pd.DataFrame(times).iloc[repeats // 5 :].median()  # after warming up
            row = {"loss": name, "K": num_classes, "milliseconds": 1e3 * ours}
            rows.append(row | {"ratio": ours / base})
    torch.set_num_threads(threads)
    return pd.DataFrame(rows)


def _seconds(f, z, y) -> float:
    start = time.process_time()
    torch.autograd.grad(f(z, y), z)
    return time.process_time() - start


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    released().drop(columns="live").to_csv(RECORDED, index=False)
