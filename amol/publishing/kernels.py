"""Kernels for notebooks: as processes of their own, or forked where much is loaded already.

A kernel of this book loads PyTorch, pandas and Matplotlib, which takes longer than most of its
pages. A build of many pages loads them once, in a server from which the processes that execute a
page, and their kernels, are forked.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.pool import Pool
from pathlib import Path

ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",  # equal bits; pages side by side don't stall each other
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or the debugger in each of them warns
}
PRELOADED = "amol.publishing.preloaded"
FORKS = sys.platform == "linux"  # elsewhere libraries may not survive it
PATH = [part for part in sys.path if part]  # in a server the interpreter's own


@contextmanager
def environment(**further: str):
    """Hold the environment variables that kernels, and what they are forked from, start with."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT, **further)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def warm() -> None:
    """Begin to load, in the background, what the processes of `pool` are forked from."""
    if not FORKS:
        return
    with environment():
        forkserver.set_forkserver_preload([PRELOADED])
        forkserver.ensure_running()


def _wait(told: Connection, tell: Connection) -> None:
    """Be a kernel as soon as told how, until told to stop or until the caller is gone."""
    os.setsid()
    tell.close()  # the caller's end, so that its own end is noticed
    try:
        argv, environment, cwd, log = told.recv()
    except EOFError:
        return
    told.close()
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(cwd)
    with log.open("wb") as stderr:
        os.dup2(stderr.fileno(), 2)
    threading.Thread(target=_end_with_caller, daemon=True).start()
    from ipykernel.kernelapp import launch_new_instance

    sys.argv, sys.path[:] = argv, PATH
    launch_new_instance(argv[argv.index("-f") :])


def _end_with_caller() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


class ForkedKernel:
    """A kernel forked from this process, with what Jupyter uses of `subprocess.Popen`.

    Make it before this process starts any thread; it waits until a manager begins it.
    """

    stdin = stdout = stderr = None

    def __init__(self):
        told, self._tell = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_wait, args=(told, self._tell))
        self._process.start()
        told.close()
        self.pid = self._process.pid
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def begin(self, argv: list[str], environment: dict[str, str], cwd: str, log: Path) -> None:
        self._tell.send((argv, environment, cwd, log))

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("kernel", timeout)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def pool(workers: int) -> Pool:
    """Processes that each execute one notebook, forked with everything loaded where that works.

    Ctrl-C is for the caller alone, which ends them and, with them, their kernels.
    """
    warm()
    context = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    return context.Pool(workers, _begin, maxtasksperchild=1)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    multiprocessing.current_process().daemon = False  # or it could start no kernels


def forked() -> ForkedKernel | None:
    """A kernel forked from this process, of a `pool`, before it has threads; else None."""
    return ForkedKernel() if FORKS else None


def manager(log: Path, kernel: ForkedKernel | None) -> type:
    """A class of kernel managers, Jupyter's `AsyncKernelManager` but for how a kernel begins.

    Parameters
    ----------
    log : Path
        Takes what the kernel's process would else write among our own errors.
    kernel : ForkedKernel, optional
        What to begin instead of a process of its own.
    """

    from jupyter_client.manager import AsyncKernelManager  # takes a while, but not before `warm`

    class Manager(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd, **options):
            if kernel:
                kernel.begin(kernel_cmd, options["env"], options.get("cwd") or os.getcwd(), log)
                self.provisioner.process = kernel
                self.provisioner.pid = self.provisioner.pgid = kernel.pid
                self._reconcile_connection_info(self.provisioner.connection_info)
                return
            with log.open("wb") as stderr:
                await super()._async_launch_kernel(kernel_cmd, stderr=stderr, **options)

    return Manager
