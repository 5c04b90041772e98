"""The bench compares like with like: rivals end with the engine's networks."""

import numpy as np
import pytest
import torch

from amol.engine import Protocol
from amol.losses import LOSSES
from companion import StudySettings
from companion.checks import bench
from companion.checks.baseline_loops import RIVALS
from companion.train.runs import plan


@pytest.fixture(scope="module")
def data():
    return plan(StudySettings("Wine Red", "CE", seeds=1))[0].data.arrays


@pytest.mark.parametrize("name", [n for n, r in RIVALS.items() if not r.own_start and r.available])
def test_a_rival_ends_with_the_networks_of_the_engine(name, data):
    protocol = Protocol(hidden=16, epochs=3, patience=3, lr=0.01, restore=False)
    for method in ("CE",) if RIVALS[name].only_cross_entropy else ("CE", "AMOL"):
        task = (LOSSES[method](data.num_classes), range(2), data, protocol)
        expected = bench.engine(*task)
        assert np.std(expected, axis=1).min() > 0.01, "an untrained network would pass"
        np.testing.assert_allclose(RIVALS[name].train(*task), expected, atol=1e-4)


@pytest.mark.parametrize("name", [n for n, r in RIVALS.items() if r.own_start])
def test_a_rival_with_a_start_of_its_own_returns_probabilities(name, data):
    protocol = Protocol(hidden=16, epochs=3, patience=3, lr=0.01)
    (found,) = RIVALS[name].train(LOSSES["CE"](data.num_classes), range(1), data, protocol)
    assert found.shape == (len(data.X_test), data.num_classes)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_operations_are_those_of_the_products(data):
    count = len(data.X_train)
    # 11 features, one hidden layer of 5, 6 classes: 2·(11·5·2 + 5·6·3) a sample, and validation
    expected = 2 * (count * (11 * 5 * 2 + 5 * 6 * 3) + len(data.X_validation) * (11 * 5 + 5 * 6))
    assert bench.operations(data, Protocol(hidden=5, layers=1)) == expected


def test_the_products_alone_are_all_products_of_an_epoch(data, monkeypatch):
    counted = []
    monkeypatch.setattr(torch, "mm", lambda a, b, out: counted.append(2 * a.numel() * b.shape[1]))
    protocol = Protocol(batch_size=64)
    bench.products_alone(data, protocol)()
    assert sum(counted) == bench.operations(data, protocol)


@pytest.fixture
def two_epochs(monkeypatch):
    monkeypatch.setattr(bench, "EPOCHS", 2)


def test_a_comparison_has_every_figure(two_epochs):
    row = bench.compare("Wine Red", 256, methods=("CE", "AMOL"))
    assert row["difference"] < 1e-4
    ratios = {name: row[name] for name, rival in RIVALS.items() if rival.available}
    assert row["best other"] == min(r for name, r in ratios.items() if name != "DataLoader loop")
    assert all(row[name] > 0 for name in ("engine_ms", "share", "products_share", "gflops"))


def test_ratios_are_of_sums_and_the_share_is_that_of_the_best_rate(monkeypatch, two_epochs):
    rates = iter([1e9, 3e9] + [2e9] * 100)

    def timed(work, *arguments):  # without doing it
        return None, 6.0 * len(arguments[1]) if work is bench.engine else 24.0

    monkeypatch.setattr(bench, "timed", timed)
    monkeypatch.setattr(bench, "large_product", lambda: next(rates))
    row = bench.compare("Wine Red", 256, methods=("CE", "AMOL"))
    assert row["DataLoader loop"] == 4 and row["torch.func.vmap"] == pytest.approx(0.4)
    assert row["engine_ms"] == pytest.approx(6000 / bench.EPOCHS)  # six seconds for a network
    assert row["gflops"] == 3


def test_an_aim_is_held_against_the_least_of_the_data_sets():
    rows = [
        {"batch_size": size, "share": share, "DataLoader loop": 12.0, "best other": 1.5}
        for size, share in ((64, 0.6), (64, 0.49), (256, 0.7))
    ]
    assert bench.verdicts(rows)["share"] == {64: (0.49, 0.5), 256: (0.7, 0.6)}
    assert bench.verdicts(rows)["DataLoader loop"] == {64: (12.0, 15), 256: (12.0, 10)}
