"""Where the runs of a study are trained: threads of this process, or the workers of a cluster."""

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager

import torch

from amol.engine import engine_digest
from companion.errors import StudyError

CONNECT_SECONDS = 10  # that a scheduler and its first worker may take to answer


class ClusterError(StudyError):
    """The cluster isn't there, or not fit for the study; the message says what to do."""


def run_tasks(
    function: Callable, tasks: list[tuple], workers: int | None, address: str | None
) -> Iterator:
    """What ``function(*task, stop)`` returns for each task, in the order in which they end.

    Parameters
    ----------
    function : callable
        ``stop`` is a callable that asks whether to end early.
    tasks : list of tuple
    workers : int, optional
        Threads; by default one per core.
    address : str, optional
        Of a Dask scheduler: run on its workers instead of threads of this process.

    Raises
    ------
    ClusterError
    """
    return _on_cluster(function, tasks, address) if address else _here(function, tasks, workers)


def _here(function: Callable, tasks: list[tuple], workers: int | None) -> Iterator:
    """Compiled functions hold no lock, so threads use all cores and share the memory."""
    over = threading.Event()
    pool = ThreadPoolExecutor(min(workers or os.cpu_count() or 1, len(tasks)))
    with _settled_torch():
        try:
            futures = [pool.submit(function, *task, over.is_set) for task in tasks]
            for future in as_completed(futures):
                yield future.result()
        finally:  # also on Ctrl-C: runs end after the epoch in hand
            over.set()
            pool.shutdown(cancel_futures=True)


@contextmanager
def _settled_torch() -> Iterator[None]:
    """Settings of PyTorch that a loss without a compiled gradient may rest on, always the same.

    One thread, since losses train side by side.
    """
    settings = (
        (torch.get_num_threads, torch.set_num_threads, 1),
        (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
        (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    )
    before = [get() for get, *_ in settings]
    try:
        for _, set_to, value in settings:
            set_to(value)
        yield
    finally:
        for (_, set_to, _), value in zip(settings, before, strict=True):
            set_to(value)


def _facts() -> dict[str, str]:
    """What a host adds to a result: its code, and PyTorch for losses that aren't compiled."""
    return {"engine": engine_digest()[:12], "torch": torch.__version__.partition("+")[0]}


def _require_equal(host: str, there: dict[str, str] | BaseException, here: dict[str, str]) -> None:
    if isinstance(there, BaseException):
        first = str(there).partition("\n")[0]
        raise ClusterError(f"worker {host} can't run this package: {type(there).__name__}: {first}")
    for name, value in here.items():
        if there[name] != value:
            raise ClusterError(f"worker {host} has {name} {there[name]}, this host has {value}")


def _elsewhere(function: Callable, here: dict[str, str], *task):
    """Call ``function`` on a worker, which may have joined after the study began."""
    _require_equal(socket.gethostname(), _facts(), here)
    with _settled_torch():
        return function(*task, lambda: False)


def _client(address: str):
    try:
        import distributed
        from distributed.comm import parse_address, parse_host_port
    except ImportError:
        message = "a cluster needs Dask, which isn't installed: pip install distributed"
        raise ClusterError(message) from None
    for name in ("distributed", "distributed.client", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in one line
    try:  # a client that fails to connect leaves threads behind, so knock first
        host = parse_host_port(parse_address(address)[1])
        socket.create_connection(host, CONNECT_SECONDS).close()
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError):
        message = f"no Dask scheduler answers at {address!r}; wanted: an address as tcp://host:8786"
        raise ClusterError(message) from None


def _on_cluster(function: Callable, tasks: list[tuple], address: str) -> Iterator:
    with closing(_client(address)) as client:
        from distributed import as_completed as as_dask_completes
        from distributed.scheduler import KilledWorker

        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            hint = f"start some with: dask worker {address} --nthreads 1"
            raise ClusterError(f"the scheduler at {address} has no workers; {hint}") from None
        here = _facts()
        for host, there in client.run(_facts, on_error="return").items():
            _require_equal(host, there, here)
        futures = [client.submit(_elsewhere, function, here, *t, pure=False) for t in tasks]
        try:
            for future in as_dask_completes(futures, loop=client.loop):
                yield future.result()
        except KilledWorker:
            message = "a run ended the workers that tried it, perhaps for want of memory"
            raise ClusterError(message) from None
        except Exception:
            if client.status == "running":
                raise
            raise ClusterError(f"the scheduler at {address} went away") from None
