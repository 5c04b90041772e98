"""Where the stacks of a study are trained: here, in processes beside this one, or on a cluster."""

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import joblib
import torch

from amol.errors import StudyError
from amol.experiments.datasets import standardize
from amol.experiments.fingerprint import fingerprint
from amol.experiments.training import train_stack

PATIENCE = 10  # seconds that a scheduler and its first worker may take to answer
GLANCE = 5  # seconds between two looks at whether a cluster has workers


class WorkerDied(Exception):
    """A process of this machine's pool was killed."""


class ClusterError(StudyError):
    """The cluster isn't there, or not fit for the study; the message says what to do."""


def each(
    function: Callable,
    tasks: list[tuple],
    losses: list[type],
    sink: Path,
    workers: int | None,
    address: str | None,
) -> Iterator:
    """What ``function(*task, sink)`` gives for each task, in the order in which they end.

    Here, tasks write to the store at ``sink`` by themselves, so that a killed study loses no more
    than the runs in hand. On a cluster ``sink`` is None, since hosts may not share a disk; there
    the code of ``losses`` must be the same as here.

    Raises
    ------
    WorkerDied
        The tasks that were given out before may have ended or not.
    ClusterError
    """
    if address:
        yield from _on_cluster(function, tasks, losses, address)
        return
    jobs = min(workers or joblib.cpu_count(), len(tasks))
    work = joblib.delayed(_beside if jobs > 1 else function)
    first = (os.getpid(), function) if jobs > 1 else ()
    calls = [work(*first, *task, sink) for task in tasks]
    # no memory maps: joblib would pickle large arrays to the disk and read them from there
    pool = joblib.Parallel(jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    with _without_interrupts():  # which new processes take over: Ctrl-C is for this one alone
        results = pool(calls)
    try:
        with closing(results):
            yield from results
    except BrokenProcessPool:
        raise WorkerDied from None


@contextmanager
def _without_interrupts():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _beside(caller: int, function: Callable, *task):
    """Call ``function`` in a process that ends as soon as ``caller`` has."""
    if not any(thread.name == "caller" for thread in threading.enumerate()):
        threading.Thread(target=_end_after, args=(caller,), name="caller", daemon=True).start()
    return function(*task)


def _end_after(caller: int) -> None:
    while os.getppid() == caller:
        time.sleep(0.2)
    os._exit(1)


def _facts(losses: list[type]) -> dict[str, str]:
    """What a host adds to a result: versions and code. A loss from elsewhere brings its own."""
    ours = [loss for loss in losses if loss.__module__.startswith("amol.losses.")]
    return {
        "torch": torch.__version__.partition("+")[0],
        "code of amol": fingerprint(train_stack, standardize, *ours)[:12],
    }


def _require_equal(host: str, there: dict[str, str] | BaseException, here: dict[str, str]) -> None:
    if isinstance(there, BaseException):
        told = str(there).partition("\n")[0]
        raise ClusterError(f"worker {host} can't run this package: {type(there).__name__}: {told}")
    for name, value in here.items():
        if there[name] != value:
            raise ClusterError(f"worker {host} has {name} {there[name]}, this host has {value}")


def _elsewhere(here: dict[str, str], losses: list[type], function: Callable, *task):
    """Call ``function`` on a worker that may have joined after the study began."""
    _require_equal(socket.gethostname(), _facts(losses), here)
    return function(*task)


def _client(address: str):
    try:
        import distributed
        from distributed.comm import parse_address, parse_host_port
    except ImportError:
        told = "a cluster needs Dask, which isn't installed: pip install distributed"
        raise ClusterError(told) from None
    for name in ("distributed", "distributed.client", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is told in one line
    try:  # a client that fails to connect leaves threads behind, so knock first
        socket.create_connection(parse_host_port(parse_address(address)[1]), PATIENCE).close()
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError):
        told = f"no Dask scheduler answers at {address!r}; wanted: an address as tcp://host:8786"
        raise ClusterError(told) from None


@contextmanager
def _told_of_absence(client, address: str):
    """Tell when the last worker has left, since work then waits for the next, and when it came."""
    over = threading.Event()

    def watch():
        before = True
        while not over.wait(GLANCE):
            with suppress(OSError, TimeoutError):  # a scheduler that is gone is told elsewhere
                now = bool(client.nthreads())
                if now != before:
                    told = "has workers again" if now else "has no workers left; the study waits"
                    print(f"\nthe scheduler at {address} {told}", file=sys.stderr, flush=True)
                before = now

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join(GLANCE)


def _on_cluster(function: Callable, tasks: list[tuple], losses: list[type], address: str):
    with closing(_client(address)) as client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            told = f"start some with: dask worker {address} --nthreads 1"
            raise ClusterError(f"the scheduler at {address} has no workers; {told}") from None
        here = _facts(losses)
        for host, there in client.run(_facts, losses, on_error="return").items():
            _require_equal(host, there, here)
        for host, threads in client.nthreads().items():
            if threads > 1:
                told = "torch's threads are set a process, so start it with --nthreads 1"
                raise ClusterError(f"worker {host} has {threads} threads; {told}")
        calls = [joblib.delayed(_elsewhere)(here, losses, function, *t, None) for t in tasks]
        with joblib.parallel_config("dask", client=client):
            pool = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        try:
            with _told_of_absence(client, address), closing(pool(calls)) as results:
                yield from results
        except ClusterError:
            raise
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                told = "a stack ended the workers that tried it, perhaps for want of memory"
            elif client.status != "running":
                told = f"the scheduler at {address} went away"
            else:
                raise
            raise ClusterError(told) from None
