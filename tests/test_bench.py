"""The bench compares like with like: every engine gives the stack's results."""

import pandas as pd
import pytest
import torch

from amol.checks import baseline_loops, bench
from amol.experiments.training import Protocol
from amol.losses import LOSSES


def test_every_loop_gives_the_networks_of_the_stack():
    data = bench.prepare("Wine Red", 42).arrays
    protocol = Protocol(hidden=16, epochs=3, patience=3, lr=0.01)
    chunk = [
        baseline_loops.Job(LOSSES[name](num_classes=data.num_classes), 1) for name in ("CE", "AMOL")
    ]
    for job, expected in zip(chunk, bench.stack(chunk, data, protocol), strict=True):
        assert expected.std(dim=0).min() > 0.01, "an untrained network would pass"
        for loop in baseline_loops.LOOPS.values():
            torch.testing.assert_close(loop(job, data, protocol), expected, atol=1e-4, rtol=0)


def test_operations_are_those_of_the_products():
    data = bench.prepare("Wine Red", 42).arrays
    count = len(data.X_train)
    # 11 features, one hidden layer of 5, 6 classes: 2·(11·5·2 + 5·6·3) a sample, and validation
    expected = 2 * (count * (11 * 5 * 2 + 5 * 6 * 3) + len(data.X_validation) * (11 * 5 + 5 * 6))
    assert bench.operations(data, Protocol(hidden=5, layers=1)) == expected


def test_a_comparison_has_every_figure():
    row = bench.compare("Wine Red", 256, seeds=1, epochs=1)
    assert row["runs"] == 8 and row["difference"] < 1e-4
    for name in ("dataloader_ratio", "index_ratio", "skorch_ratio", "gemm_share_beside"):
        assert row[name] > 0
    operations = bench.operations(bench.prepare("Wine Red", 42).arrays, Protocol())
    limit_ms = operations / row["gemm_gflops"] / 1e6
    assert row["gemm_share"] == pytest.approx(limit_ms / row["stack_ms"])


def test_memory_is_that_of_a_process_of_its_own():
    ballast = torch.ones(2**28)  # 1 GB that it doesn't hold
    held = [bench.peak_mb("Abalone", size) for size in (64, 4096)]
    activations = 4 * 10 * 128 * 2496 * 3 / 2**20  # float32, ten networks of two layers, one spare
    assert 100 < held[0] < ballast.nbytes / 2**20 and held[1] - held[0] == pytest.approx(
        activations, rel=0.5
    )


def test_a_stack_timed_less_often_counts_for_as_many_runs(monkeypatch):
    calls = []

    def timed(work, *arguments):
        calls.append(work)
        return work(*arguments), {bench.stack: 8.0, bench.torch.mm: 1.0}.get(work, 2.0)

    monkeypatch.setattr(bench, "_timed", timed)
    for every, times in ((1, 24), (3, 9), (10, 3)):
        calls.clear()
        row = bench.compare("Wine Red", 256, seeds=1, epochs=1, every=every)
        assert calls.count(bench.stack) == times
        # eight runs as one stack take 8 s, each alone 2 s
        assert row["dataloader_ratio"] == row["skorch_ratio"] == pytest.approx(2)


def test_the_share_of_the_limit_is_that_of_the_best_rate_and_of_each_moment(monkeypatch):
    stacks = []

    def timed(work, *arguments):
        if work is bench.torch.mm:
            return None, 1.0 if len(stacks) % 2 else 3.0  # every other moment is a slow one
        stacks.extend([work] if work is bench.stack else [])
        return work(*arguments), 8.0

    monkeypatch.setattr(bench, "_timed", timed)
    row = bench.compare("Wine Red", 256, seeds=1, epochs=1)
    work = bench.operations(bench.prepare("Wine Red", 42).arrays, Protocol())
    assert row["gemm_share"] == pytest.approx(work / (2 * 512**3) / 1.0)  # eight runs in 8 s
    assert row["gemm_share_beside"] == pytest.approx(work / (2 * 512**3) / 0.5)


def test_an_aim_is_reached_where_every_repeat_reaches_it():
    columns = ["dataset", "batch_size", "dataloader_ratio", "index_ratio", "gemm_share"]
    once = [("Abalone", 64, 10.0, 4.0, 0.36), ("Abalone", 256, 9.0, 3.0, 0.35)]
    again = [("Abalone", 64, 9.9, 4.1, 0.35), ("Abalone", 256, 9.5, 3.5, 0.34)]
    rows = pd.DataFrame(once + again, columns=columns)
    assert bench.span(rows, "dataloader_ratio").loc[("Abalone", 64)] == "9.9–10.0"
    texts = bench.span(rows, "gemm_share", 0, 100).tolist()
    assert texts == ["35–36", "34–35"]
    assert bench.verdicts(rows) == {
        "dataloader_ratio": "0 of 2",
        "index_ratio": "1 of 2",
        "gemm_share": "1 of 2",
    }
