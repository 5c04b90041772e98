"""Studies: the grid data set × method × seed, one tidy row per run, nothing trained twice."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from amol import engine
from amol.losses import OrdinalLoss
from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.paths import store_path
from companion.train.fingerprint import changing
from companion.train.runs import Run, plan
from companion.train.settings import StudySettings
from companion.train.store import Store, StoredRun
from companion.train.workers import run_tasks

ANEW = "{} is trained anew each time, since its loss reads {}"


def run_study(
    settings: StudySettings,
    workers: int | None = None,
    progress: bool | None = None,
    address: str | None = None,
) -> pd.DataFrame:
    """Train what the store doesn't hold yet and return one row per run.

    Parameters
    ----------
    settings : StudySettings
    workers : int, optional
        Threads that train; by default one per core. The result doesn't depend on it.
    progress : bool, optional
        Show runs done, time left and the data set in hand; by default where a terminal watches.
    address : str, optional
        Of a Dask scheduler, such as ``tcp://host:8786``: train on its workers, all of them,
        instead of threads of this process.

    Returns
    -------
    DataFrame
        Columns: dataset, method, seed, split_seed, best_epoch, epochs, failed (the epoch at which
        the loss stopped being finite, else missing), n_test, `amol.metrics.METRICS` on the test
        part, validation_QWK, `PROBABILITY_METRICS` on the test part, weights (the first 16 digits
        of the trained weights' SHA-256) and key, the hash of all that determines the run.
        ``attrs``: ``trained``, ``reused`` (numbers of runs), ``seconds`` (what training all of
        them took) and ``uncompiled`` (methods whose bits are this machine's).

    Raises
    ------
    StudyError
        In one line: the store can't be read or written, or the cluster isn't there or holds other
        code. What was stored is kept.
    """
    return run_studies([settings], workers, progress, address)[0]


def run_studies(
    grid: Sequence[StudySettings],
    workers: int | None = None,
    progress: bool | None = None,
    address: str | None = None,
) -> list[pd.DataFrame]:
    """`run_study` for several settings at once; one frame for each."""
    plans = [plan(settings) for settings in grid]
    rows, trained = _collect(list(chain.from_iterable(plans)), _row, workers, progress, address)
    frames, rest = [], iter(rows)
    for runs in plans:
        frame = pd.DataFrame([next(rest) for _ in runs])
        frame["failed"] = frame["failed"].astype("Int64")
        new = sum(run.key in trained for run in runs)
        seconds, compiled = frame.pop("seconds").sum(), frame.pop("compiled")
        uncompiled = tuple(frame.loc[~compiled, "method"].unique())
        frame.attrs.update(
            trained=new, reused=len(runs) - new, seconds=seconds, uncompiled=uncompiled
        )
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
    runs, outcomes = outcomes_of(settings, dataset, method)
    return (
        runs[0].data.y_test,
        np.stack([outcome.y_pred for outcome in outcomes]),
        np.stack([outcome.probabilities for outcome in outcomes]),
    )


def outcomes_of(
    settings: StudySettings, dataset: str, method: str
) -> tuple[list[Run], list[engine.Outcome]]:
    """Runs of one cell of the grid and what each left, trained first where missing."""
    runs = plan(replace(settings, datasets=(dataset,), methods=(method,)))
    outcomes, _ = _collect(runs, lambda run, stored: stored.outcome, None, progress=False)
    return runs, outcomes


def _collect(
    runs: list[Run],
    keep: Callable[[Run, StoredRun], object],
    workers: int | None,
    progress: bool | None,
    address: str | None = None,
) -> tuple[list, set[str]]:
    """What ``keep`` makes of each run, and the keys of those that had to be trained.

    Only that stays in memory, so that a study may be as long as one likes.
    """
    store, kept = Store(store_path()), {}
    waiting: dict[str, list[int]] = {}  # places of the runs that wait for each key
    for place, run in enumerate(runs):
        stored = None if run.unsure or run.key in waiting else store.get(run.key)
        if stored:
            kept[place] = keep(run, stored)
        else:
            waiting.setdefault(run.key, []).append(place)
    trained = set(waiting)
    if waiting:
        store.check()
        unsure = {run.method: run.unsure for run in runs if run.unsure}
        for method, why in unsure.items():
            print(ANEW.format(method, why), flush=True)
        try:
            missing = [runs[places[0]] for places in waiting.values()]
            with closing(_train(missing, workers, progress, address)) as results:
                for run, stored, why in results:
                    if why and run.method not in unsure:
                        unsure[run.method] = why
                        print(ANEW.format(run.method, why), flush=True)
                    if not (run.unsure or why):
                        store.put(run.key, run.described, stored)
                    kept |= {place: keep(runs[place], stored) for place in waiting[run.key]}
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{len(kept)} of {len(runs)} runs are kept") from None
    return [kept[place] for place in range(len(runs))], trained


def _train(missing: list[Run], workers: int | None, progress: bool | None, address: str | None):
    """Yield runs as they end, long ones started first.

    Each with what it left and, if it wouldn't leave the same another time, the reason.
    """
    terminal = sys.stderr.isatty()
    shown = terminal if progress is None else progress
    if shown and (seconds := engine.compile_engine()) > 1:
        print(f"engine: compiled in {seconds:.0f} s; later runs take it from build", flush=True)
    order = sorted(missing, key=lambda run: -len(run.data.arrays.y_train))
    tasks = [
        (number, run.loss, run.seed, run.data.arrays, run.settings.protocol)
        for number, run in enumerate(order)
    ]
    bar = tqdm(
        total=len(order),
        unit="run",
        desc=order[0].dataset,
        disable=not shown,
        mininterval=0.5 if terminal else 10,
        ascii=not terminal,
    )
    with bar, closing(run_tasks(_train_one, tasks, workers, address)) as results:
        for number, stored, why in results:
            yield order[number], stored, why
            bar.set_description(order[number].dataset, refresh=False)
            bar.update()


def _train_one(
    number: int,
    loss: OrdinalLoss,
    seed: int,
    arrays: engine.Arrays,
    protocol: engine.Protocol,
    stop: Callable[[], bool],
) -> tuple[int, StoredRun, str]:
    start = time.perf_counter()
    with nullcontext([]) if engine.is_compiled(loss) else changing(loss) as changes:
        outcome = engine.train(loss, seed, arrays, protocol, stop)
    if not (outcome.compiled or changes) and _differs(loss):
        changes.append("random numbers")
    return number, StoredRun(outcome, time.perf_counter() - start), " and ".join(changes)


def _differs(loss: OrdinalLoss) -> bool:
    """Whether a loss has two values for the same logits, drawn from a generator of its own."""
    labels = torch.arange(loss.num_classes)
    logits = torch.linspace(-1, 1, len(labels) * loss.num_logits).view(len(labels), -1)
    # So often that even a tossed coin falls both ways.
    first, *others = (loss(logits.clone().requires_grad_(), labels).detach() for _ in range(20))
    same = partial(torch.allclose, first, rtol=0, atol=0, equal_nan=True)
    return not all(map(same, others))


def _row(run: Run, stored: StoredRun) -> dict:
    """A run's row: what it is, how it went, its metrics."""
    outcome, y_test = stored.outcome, run.data.y_test
    num_classes, good = run.data.arrays.num_classes, outcome.failed is None
    row = {
        "dataset": run.dataset,
        "method": run.method,
        "seed": run.seed,
        "split_seed": run.settings.split_seed,
        "best_epoch": outcome.best_epoch,
        "epochs": outcome.epochs,
        "failed": outcome.failed,
        "n_test": len(y_test),
    }
    for name, metric in METRICS.items():
        row[name] = metric(y_test, outcome.y_pred, num_classes) if good else float("nan")
    y_validation = run.data.arrays.y_validation
    row["validation_QWK"] = METRICS["QWK"](y_validation, outcome.y_pred_validation, num_classes)
    for name, metric in PROBABILITY_METRICS.items():
        row[name] = metric(y_test, outcome.probabilities) if good else float("nan")
    row["weights"] = outcome.weights_digest[:16]
    row["key"] = run.key
    return row | {"seconds": stored.seconds, "compiled": outcome.compiled}
