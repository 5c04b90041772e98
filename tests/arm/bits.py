"""Trainings from prepared arrays, and a digest of each: the same on every processor.

python bits.py prepare FILE    write the cases (needs PyTorch, for the losses' tables)
python bits.py FILE            train them and print a line each (needs NumPy and Numba alone)
"""

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

# loss, K, features, samples, changes of the protocol; class weights where K is 5
CASES = [
    ("AMOL", 7, 10, 300, {"batch_size": 64}),
    ("AMOL-exp", 2, 3, 60, {"batch_size": 1, "hidden": 16, "layers": 4, "epochs": 2}),
    ("CE", 5, 4, 200, {"dropout": 0.3, "weight_decay": 0.01, "layers": 1}),
    ("CDW-CE", 20, 33, 150, {"batch_size": 300, "hidden": 100, "layers": 3}),
    ("Focal", 5, 5, 77, {"batch_size": 10, "hidden": 40, "monitor": "QWK"}),
    ("SLACE", 3, 1, 90, {"hidden": 1}),
    ("CORAL", 5, 8, 200, {"dropout": 0.5, "batch_size": 50}),
    ("CORN", 7, 8, 200, {"batch_size": 50, "patience": 1, "lr": 0.1}),
    ("OLL", 250, 30, 300, {"hidden": 256, "batch_size": 96, "layers": 1, "epochs": 2}),
    ("CLM", 5, 6, 120, {"batch_size": 40}),
    ("EMD2", 6, 11, 200, {"batch_size": 64, "hidden": 24}),
    ("LogitAdj", 4, 7, 150, {"batch_size": 32, "hidden": 48}),
    ("WK", 5, 9, 180, {"batch_size": 60, "layers": 3}),
]


def prepare(path):
    """Write the cases' arrays and the tables of their losses."""
    from amol.engine.registry import rule
    from amol.losses import LOSSES

    arrays, others = {}, []
    for at, (name, K, features, n, changes) in enumerate(CASES):
        rng = np.random.default_rng(at)
        weight = [1.0, 2.0, 1.0, 0.5, 3.0] if K == 5 else None
        loss = LOSSES[name](num_classes=K, weight=weight)
        found = rule(loss)
        tables, counted, terms, outputs = found.formula
        X, y = rng.normal(size=(n, features)), rng.integers(0, K, n)
        X[:, 0] += y / K
        X = X.astype(np.float32)
        for key, value in dict(X=X, y=y, tables=tables, counted=counted, terms=terms).items():
            arrays[f"{key}{at}"] = value
        functions = found.kind.__name__, found.meaning.__name__
        rest = dict(num_classes=K, without=None, shared_head=loss.shared_head)
        others.append([*functions, outputs, rest, changes, name])
    np.savez(path, others=json.dumps(others), **arrays)


def without_torch():
    """Stand-ins for the packages above the engine's modules, which import PyTorch."""
    sys.path.insert(0, str(ROOT))
    for name in ("amol.engine",):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(ROOT / name.replace(".", "/"))]


def main(path):
    without_torch()
    from amol.engine.cache import kept_machine_code

    with kept_machine_code():
        from amol.engine import kinds, meanings
        from amol.engine.gradients import Formula
        from amol.engine.kernels import WIDTH, aligned
        from amol.engine.training import Arrays, Compiled, Protocol, run

    print(f"vectors of {WIDTH}", file=sys.stderr)
    cases = np.load(path)
    for at, case in enumerate(json.loads(str(cases["others"]))):
        kind, meaning, outputs, rest, changes, name = case
        X, y, given, counted, terms = (
            cases[f"{key}{at}"] for key in ("X", "y", "tables", "counted", "terms")
        )
        tables = aligned(*given.shape)
        tables[:] = given
        n = len(X) * 2 // 3
        data = Arrays(X[:n], y[:n], X[n:], y[n:], X[n:], rest["num_classes"])
        protocol = replace(Protocol(epochs=4), **changes)
        functions = getattr(kinds, kind), getattr(meanings, meaning)
        rule = Compiled(*functions, Formula(tables, counted, terms, outputs), **rest)
        found = run(rule, at, data, protocol)
        digest = hashlib.sha256(found.weights_digest.encode())
        for part in (found.y_pred, found.probabilities):
            digest.update(part.astype(part.dtype.newbyteorder("<")).tobytes())
        print(name, found.best_epoch, found.epochs, digest.hexdigest()[:16], flush=True)


if __name__ == "__main__":
    prepare(sys.argv[2]) if sys.argv[1] == "prepare" else main(sys.argv[1])
