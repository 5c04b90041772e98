"""Run the grid data set × method × seed: settings in, one tidy row a run out, nothing twice."""

import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from amol.errors import StudyError
from amol.experiments.runs import Run, plan
from amol.experiments.settings import StudySettings
from amol.experiments.store import Store, StoredRun
from amol.experiments.training import Arrays, Protocol, train_stack
from amol.experiments.workers import WorkerDied, each
from amol.losses import LOSSES
from amol.metrics import METRICS, PROBABILITY_METRICS
from amol.paths import store_path

DEATHS = 3  # times that workers may die before a study gives up
BATCH = 100  # runs read from the store at a time
CHUNK = 10  # runs a stack: enough to hide the cost of a call, few enough to stay in cache


T = TypeVar("T")
Keep = Callable[[Run, StoredRun], T]


def _loss(cls: type, parameters: Mapping, arrays: Arrays) -> torch.nn.Module:
    """The loss of a run; one that asks for class counts gets those of the training rows."""
    extra = {}
    if "class_counts" in inspect.signature(cls).parameters:
        counts = np.bincount(arrays.y_train, minlength=arrays.num_classes)
        extra["class_counts"] = counts.tolist()
    return cls(num_classes=arrays.num_classes, **extra | dict(parameters))


def _chunks(runs: list[Run]) -> list[list[Run]]:
    """Missing runs cut into stacks: one split, protocol and kind of head each, long ones first."""

    def kind(run: Run) -> tuple:
        loss = _loss(LOSSES[run.method], run.settings.parameters(run.method), run.data.arrays)
        shared = run.data.digest, json.dumps(asdict(run.settings.protocol), sort_keys=True)
        return -len(run.data.arrays.y_train), *shared, loss.num_logits, loss.shared_head

    chunks = []
    for _, group in groupby(sorted(runs, key=kind), key=kind):
        members = list(group)
        count = -(-len(members) // CHUNK)
        bounds = [len(members) * i // count for i in range(count + 1)]
        chunks += [members[start:stop] for start, stop in pairwise(bounds)]
    return chunks


def _train_chunk(
    losses: list[tuple[type, dict]],
    seeds: list[int],
    keys: list[tuple[str, str]],
    arrays: Arrays,
    protocol: Protocol,
    sink: Path | None,
) -> list[tuple[str, str, StoredRun]]:
    """Train one stack on one thread; each run goes to the store at ``sink``, if any, as it ends.

    Gives key, description and run of each.
    """
    modules = [_loss(cls, own, arrays) for cls, own in losses]
    for i in range(1, len(modules)):  # equal neighbors are one object, which the stack groups
        if losses[i] == losses[i - 1]:
            modules[i] = modules[i - 1]
    shares, last, done = dict.fromkeys(range(len(seeds)), 0.0), time.perf_counter(), []
    for position, outcome in train_stack(modules, seeds, arrays, protocol):
        now = time.perf_counter()
        for running in shares:
            shares[running] += (now - last) / len(shares)
        last = now
        stored = StoredRun(outcome, shares.pop(position))
        if sink:
            Store(sink).put(*keys[position], stored)
        done.append((*keys[position], stored))
    return done


def run_study(
    settings: StudySettings,
    workers: int | None = None,
    progress: bool | None = None,
    address: str | None = None,
) -> pd.DataFrame:
    """Train what the store doesn't hold yet and return one row a run.

    Parameters
    ----------
    settings : StudySettings
    workers : int, optional
        Processes, each with one torch thread; by default the number of cores. The result doesn't
        depend on it.
    progress : bool, optional
        Show runs done, time left and the data set in hand; by default where a terminal watches.
    address : str, optional
        Of a Dask scheduler, such as ``tcp://host:8786``: train on its workers, all of them,
        instead of processes of this machine.

    Returns
    -------
    DataFrame
        Columns: dataset, method, seed, split_seed, best_epoch, epochs, failed (the epoch at which
        the loss stopped being finite, else missing), n_test, `amol.metrics.METRICS` on the test
        part, validation_QWK, `PROBABILITY_METRICS` on the test part, and key, the hash of all that
        determines the run. ``attrs``: ``trained``, ``reused`` (numbers of runs) and ``seconds``
        (what training all of them took).

    Raises
    ------
    StudyError
        In one line: the store can't be read or written, workers die again and again, or the
        cluster isn't there or holds other code. What was stored is kept.
    """
    return run_studies([settings], workers, progress, address)[0]


def run_studies(
    grid: Sequence[StudySettings],
    workers: int | None = None,
    progress: bool | None = None,
    address: str | None = None,
) -> list[pd.DataFrame]:
    """`run_study` for several settings over one pool of workers; one frame for each."""
    plans = [plan(settings) for settings in grid]
    whole = list(chain.from_iterable(plans))
    rows, trained = _collect(whole, _row, workers, progress, address)
    frames = []
    for runs in plans:
        frame = pd.DataFrame([rows[run.key] for run in runs])
        frame["failed"] = frame["failed"].astype("Int64")
        new = sum(run.key in trained for run in runs)
        seconds = frame.pop("seconds").sum()
        frame.attrs.update(trained=new, reused=len(runs) - new, seconds=seconds)
        frames.append(frame)
    return frames


def predictions(
    settings: StudySettings, dataset: str, method: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Test labels and predictions of one cell of the grid, trained first where missing.

    Returns
    -------
    y_true : ndarray, shape (N,)
    y_pred : ndarray, shape (seeds, N)
    probabilities : ndarray, shape (seeds, N, K)
    """
    runs = plan(replace(settings, datasets=(dataset,), methods=(method,)))
    stored, _ = _collect(runs, lambda run, stored: stored.outcome, workers=1, progress=False)
    outcomes = [stored[run.key] for run in runs]
    return (
        runs[0].data.y_test,
        np.stack([outcome.y_pred for outcome in outcomes]),
        np.stack([outcome.probabilities for outcome in outcomes]),
    )


def _stored(runs: list[Run], keep: Keep, store: Store) -> dict[str, T]:
    """What ``keep`` makes of each run that the store holds, by key."""

    def classes(run: Run) -> int:
        return run.data.arrays.num_classes

    kept = {}
    for num_classes, group in groupby(sorted(runs, key=classes), key=classes):
        members = list(group)
        for start in range(0, len(members), BATCH):
            part = members[start : start + BATCH]
            found = store.get([run.key for run in part], num_classes)
            kept |= {run.key: keep(run, found[run.key]) for run in part if run.key in found}
    return kept


def _collect(
    runs: list[Run],
    keep: Keep,
    workers: int | None,
    progress: bool | None,
    address: str | None = None,
) -> tuple[dict[str, T], set[str]]:
    """What ``keep`` makes of each run, by key, and the keys of those that had to be trained.

    Only that stays in memory, so that a study may be as long as one likes.
    """
    store = Store(store_path())
    kept = _stored(runs, keep, store)
    missing = list({run.key: run for run in runs if run.key not in kept}.values())
    if missing:
        store.check()
        try:
            kept |= _train(missing, keep, workers, progress, store, address)
        except KeyboardInterrupt:
            held = len(_stored(runs, lambda run, stored: None, store))
            total = len({run.key for run in runs})
            raise KeyboardInterrupt(f"{held} of {total} runs are kept") from None
    return kept, {run.key for run in missing}


def _train(
    missing: list[Run],
    keep: Keep,
    workers: int | None,
    progress: bool | None,
    store: Store,
    address: str | None,
) -> dict[str, T]:
    """Train runs in stacks; those of a worker that dies are trained again."""
    run_of = {run.key: run for run in missing}
    losses = [LOSSES[method] for method in dict.fromkeys(run.method for run in missing)]
    terminal, kept = sys.stderr.isatty(), {}
    bar = tqdm(
        total=len(missing),
        unit="run",
        desc=missing[0].dataset,
        disable=not (terminal if progress is None else progress),
        mininterval=0.5 if terminal else 10,
        ascii=not terminal,
    )
    with bar:
        for _ in range(DEATHS + 1):
            tasks = [
                (
                    [(LOSSES[run.method], run.settings.parameters(run.method)) for run in chunk],
                    [run.seed for run in chunk],
                    [(run.key, run.described) for run in chunk],
                    chunk[0].data.arrays,
                    chunk[0].settings.protocol,
                )
                for chunk in _chunks(missing)
            ]
            try:
                for done in each(_train_chunk, tasks, losses, store.path, workers, address):
                    for key, described, stored in done:
                        if address:
                            store.put(key, described, stored)
                        kept[key] = keep(run_of[key], stored)
                    bar.set_description(run_of[done[0][0]].dataset, refresh=False)
                    bar.update(len(done))
                return kept
            except WorkerDied:
                kept |= _stored(missing, keep, store)
                missing = [run for run in missing if run.key not in kept]
                bar.update(len(kept) - bar.n)
                with bar.external_write_mode():
                    print(f"a worker died; {len(missing)} runs are left for a new one", flush=True)
    told = f"workers died {DEATHS + 1} times, perhaps for want of memory; try fewer"
    raise StudyError(f"{told}. {len(kept)} runs are kept")


def _row(run: Run, stored: StoredRun) -> dict:
    outcome = stored.outcome
    data, num_classes = run.data, run.data.arrays.num_classes
    y_validation = data.arrays.y_validation
    row = {
        "dataset": run.dataset,
        "method": run.method,
        "seed": run.seed,
        "split_seed": run.settings.split_seed,
        "best_epoch": outcome.best_epoch,
        "epochs": outcome.epochs,
        "failed": outcome.failed,
        "n_test": len(data.y_test),
    }
    good = outcome.failed is None
    for name, metric in METRICS.items():
        value = metric(data.y_test, outcome.y_pred, num_classes) if good else float("nan")
        row[name] = value
    row["validation_QWK"] = METRICS["QWK"](y_validation, outcome.y_pred_validation, num_classes)
    for name, metric in PROBABILITY_METRICS.items():
        row[name] = metric(data.y_test, outcome.probabilities) if good else float("nan")
    row["key"] = run.key
    row["seconds"] = stored.seconds
    return row
