"""Sandbox of a fault trial: a folder with a store of its own, in which ``amol`` is started."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import psutil

CHECKOUT = Path(__file__).resolve().parents[2]
STUDY = ("study", "--datasets", "Wine Red", "--workers", "2", "--epochs", "20", "--seeds")
SHORT = (*STUDY, "2")
MANY = (8, 32, 128)  # seeds of a long study, and if it ended too soon
PATIENCE = 300  # seconds until a trial that waits in vain fails
ENDS = r"^\d+ runs trained"
# Ctrl-C works even where the trials themselves were started with it ignored.
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from companion.cli import main\n"
    "raise SystemExit(main())"
)


def wait_until(holds: Callable) -> None:
    """Wait until ``holds()`` is true."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.01)


def wait_until_gone(processes: list[psutil.Process]) -> None:
    """Wait until none of these processes runs; a zombie doesn't."""

    def runs(process: psutil.Process) -> bool:
        try:
            return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    wait_until(lambda: not any(runs(process) for process in processes))


class Sandbox:
    """A folder, spaces and other letters in its path, that ``amol`` takes for its home.

    ``rng`` draws the trial's random moment or place; ``study`` is the command that is given again
    in the end, and ``filled`` says how many of its runs the store was given.
    """

    def __init__(self, parent: Path, number: int = 0):
        self.folder, self.rng = parent / "größe 1 ☃", random.Random(number)
        self.store, self.log = self.folder / "build" / "trained", self.folder / "log.txt"
        self.study, self.filled = SHORT, 0
        self.store.mkdir(parents=True)
        compiled = CHECKOUT / "build" / "numba"  # compiling anew for each trial would take long
        compiled.mkdir(parents=True, exist_ok=True)
        (self.folder / "build" / "numba").symlink_to(compiled)

    def start(self, *arguments: str, program: str = PROGRAM, **options) -> subprocess.Popen:
        """Start ``amol``, by default with the study, in a session of its own."""
        arguments = arguments or self.study
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(CHECKOUT),
            "OMP_NUM_THREADS": "1",
            "AMOL_HOME": str(self.folder),
        }
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **options,
            )  # fmt: skip

    def start_long_study(self, start: Callable | None = None) -> subprocess.Popen:
        """Start a study, or what ``start`` starts; back when some of its runs are stored.

        Where all were trained before that was noticed, it is tried again with more.
        """
        for seeds in MANY:
            self.study = (*STUDY, str(seeds))
            process = (start or self.start)()
            wait_until(lambda: self.keys() or process.poll() is not None)  # noqa: B023
            if process.poll() is None:
                return process
            shutil.rmtree(self.store)
            self.store.mkdir()
        raise RuntimeError(f"it ended before it was disturbed: {self.output()}")

    def retry_command(self) -> int:
        """Give the study's command again; returns how many stored runs it reused."""
        self.start().wait()
        reused = re.findall(r"(\d+) reused", "\n".join(self.output()))
        return int(reused[-1]) if reused else 0

    def fill_store(self) -> None:
        """Give it the store of a study that has ended."""
        _write(self.store, undisturbed(SHORT)[1])
        self.filled = len(self.keys())

    def keys(self) -> set[str]:
        """Keys of the stored runs."""
        return {path.stem for path in self.store.glob("*.npz")}

    def runs(self) -> dict[str, dict[str, bytes]]:
        """Stored runs by key: all but the seconds that each took."""
        found = {}
        for path in self.store.glob("*.npz"):
            with np.load(path, allow_pickle=False) as arrays:
                found[path.stem] = {n: a.tobytes() for n, a in arrays.items() if n != "seconds"}
        return found

    def output(self) -> list[str]:
        """Lines that its commands have printed."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]


@contextmanager
def small_disk(folder: Path, size: str):
    """Mount a disk of its own at ``folder``, whose files stay; yields whether that is allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    before = _files(folder)
    if subprocess.run(mount, capture_output=True).returncode:
        yield False
        return
    try:
        _write(folder, before)
        yield True
        after = _files(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    _write(folder, after)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


@cache
def undisturbed(study: tuple[str, ...]) -> tuple[dict, dict[str, bytes]]:
    """Runs of a study that nothing happened to, and its files by name."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder))
        sandbox.start(*study).wait()
        assert re.match(ENDS, sandbox.output()[-1]), sandbox.output()
        return sandbox.runs(), _files(sandbox.store)
