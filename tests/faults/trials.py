"""Faults that a study must survive, and the trial that provokes one and counts what was lost."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from nbformat import v4, writes

from companion.data import datasets

from .sandbox import (
    CHECKOUT,
    ENDS,
    PROGRAM,
    SHORT,
    STUDY,
    Sandbox,
    small_disk,
    undisturbed,
    wait_until,
    wait_until_gone,
)


class Untried(Exception):
    """A fault that can't be provoked with the rights that this process has."""


@dataclass(frozen=True)
class Fault:
    """A fault and what it may cost.

    ``provoke`` takes a `Sandbox`; ``says`` is a pattern for the line that its user must see;
    ``costs`` is how many stored runs may have to be trained again; ``times`` how often it is tried
    for the recording.
    """

    name: str
    provoke: Callable[[Sandbox], None]
    says: str
    times: int = 1
    costs: int = 0


def try_fault(fault: Fault, number: int = 0) -> dict:
    """Provoke ``fault`` once, give the study's command again, and count what was lost.

    Parameters
    ----------
    fault : Fault
    number : int
        Of the trial: seeds its random moment or place.

    Returns
    -------
    dict
        fault, says (the line), kept (stored runs before the fault or at its moment), again (how
        many of these were trained a second time), lost (runs that are missing or not the same
        bytes in the end).

    Raises
    ------
    AssertionError
        If no line says what happened, or there is a traceback.
    Untried
    """
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder), number)
        fault.provoke(sandbox)
        wanted = undisturbed(sandbox.study)[0]
        kept = sandbox.filled or len(wanted.keys() & sandbox.keys())
        reused = sandbox.retry_command()
        runs, output = sandbox.runs(), sandbox.output()
    lines = [line for line in output if re.search(fault.says, line)]
    assert lines and not any("Traceback" in line for line in output), (fault.name, output)
    return {
        "fault": fault.name,
        "says": lines[0].replace(f"{folder}/", ""),
        "kept": kept,
        "again": max(0, kept - reused),
        "lost": sum(runs.get(key) != run for key, run in wanted.items()),
    }


def _end(process: subprocess.Popen, number: int, group: bool = False) -> None:
    """Send a signal, to all of the process's group as a terminal does, and see that all end."""
    started = psutil.Process(process.pid).children(recursive=True)
    (os.killpg if group else os.kill)(process.pid, number)
    process.wait()
    wait_until_gone(started)


def _signal(number: int):
    """A signal when a random number of runs are stored."""

    def provoke(sandbox: Sandbox):
        wanted = sandbox.rng.randrange(len(undisturbed(SHORT)[0]))
        process = sandbox.start()
        wait_until(lambda: len(sandbox.keys()) >= wanted or process.poll() is not None)
        if process.poll() is None:
            _end(process, number)

    return provoke


def _interrupted(sandbox: Sandbox):
    _end(sandbox.start_long_study(), signal.SIGINT, group=True)


def _two_at_once(sandbox: Sandbox):
    for process in [sandbox.start(), sandbox.start()]:
        process.wait()


def _notebook(number: int):
    def provoke(sandbox: Sandbox):
        page = sandbox.folder / "page.ipynb"

        def start():
            code = (
                "from companion import StudySettings, run_study\n"
                f"settings = StudySettings('Wine Red', epochs=20, seeds={sandbox.study[-1]})\n"
                "run_study(settings, workers=2)"
            )
            kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
            cells = [v4.new_code_cell(code)]
            page.write_text(writes(v4.new_notebook(cells=cells, metadata=kernel)))
            return sandbox.start("run", str(page), "-o", str(sandbox.folder / "out.ipynb"))

        process = sandbox.start_long_study(start)
        _end(process, number)

    return provoke


def _build_ended(sandbox: Sandbox):
    for entry in ("_config.yml", "_toc.yml", "book", "notebooks"):
        (sandbox.folder / entry).symlink_to(CHECKOUT / entry)
    sandbox.study = ("study", "--datasets", "Wine White", "--methods", "CE", "--seeds", "2")
    wanted = undisturbed(sandbox.study)[0].keys()
    process = sandbox.start("build")
    wait_until(lambda: wanted & sandbox.keys() or process.poll() is not None)
    assert process.poll() is None, sandbox.output()
    _end(process, signal.SIGTERM)


@contextmanager
def _cluster(sandbox: Sandbox):
    """A Dask scheduler and two workers; yields these processes and a function that starts a study.

    It is ready when both workers have said so.
    """
    where, said = sandbox.folder / "scheduler.json", sandbox.folder / "cluster.txt"
    options = ["--scheduler-file", str(where), "--no-dashboard"]
    worker = ["worker", *options, "--nthreads", "1", "--no-nanny"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(CHECKOUT)}
    with open(said, "ab") as log:
        processes = [
            subprocess.Popen([sys.executable, "-m", "dask", *c], env=environment, stderr=log)
            for c in (["scheduler", "--port", "0", *options], worker, worker)
        ]
    try:
        wait_until(lambda: said.read_text().count("Registered to:") == 2)
        address = json.loads(where.read_text())["address"]
        cluster = ("--address", address)
        yield processes, lambda: sandbox.start(*sandbox.study, *cluster)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _cluster_member_killed(member: int):
    """The scheduler (0) or one of two workers killed."""

    def provoke(sandbox: Sandbox):
        with _cluster(sandbox) as (processes, start):
            process = sandbox.start_long_study(start)
            processes[member].kill()
            process.wait()

    return provoke


def _full_disk(sandbox: Sandbox):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with small_disk(sandbox.store, "96k") as allowed:  # else files may not grow instead
        sandbox.start(preexec_fn=None if allowed else small_files).wait()


def _read_only(sandbox: Sandbox):
    sandbox.fill_store()
    for path in sorted(sandbox.store.iterdir())[9:]:
        path.unlink()
    sandbox.filled = 9
    with small_disk(sandbox.store, "9m") as allowed:
        if allowed:
            subprocess.run(["mount", "-o", "remount,ro", str(sandbox.store)], check=True)
        elif os.getuid() == 0:
            raise Untried("root may write anywhere")
        else:
            sandbox.store.chmod(0o555)
        sandbox.start().wait()
    sandbox.store.chmod(0o755)


def _damaged(damage: Callable):
    """One stored run damaged: ``damage`` takes its bytes and a random generator."""

    def provoke(sandbox: Sandbox):
        sandbox.fill_store()
        path = sandbox.rng.choice(sorted(sandbox.store.iterdir()))
        path.write_bytes(damage(path.read_bytes(), sandbox.rng))

    return provoke


def _cut(content: bytes, rng) -> bytes:
    return content[: rng.randrange(len(content))]


def _changed(content: bytes, rng) -> bytes:
    start = rng.randrange(len(content) - 512)
    return content[:start] + rng.randbytes(512) + content[start + 512 :]


OWN_LOSS = """
from torch.nn.functional import cross_entropy
from amol.losses import register_loss
calls = []
@register_loss("mine")
def mine(logits, target, num_classes):
    return cross_entropy(logits, target, reduction="none") * FACTOR
"""
MIXED = (*STUDY, "1", "--methods", "CE,mine,AMOL")


def _not_finite(sandbox: Sandbox):
    breaking = OWN_LOSS.replace(
        "FACTOR", "(float('nan') if calls.append(1) or len(calls) > 6 else 1)"
    )
    sandbox.start(*MIXED, program=breaking + PROGRAM).wait()


def _loss_changed(sandbox: Sandbox):
    for factor in ("1", "2"):
        sandbox.start(*MIXED, program=OWN_LOSS.replace("FACTOR", factor) + PROGRAM).wait()


def _data_changed(sandbox: Sandbox):
    copy = Path(shutil.copytree(datasets.DATA, sandbox.folder / "data"))
    file, whole = copy / "winequality-red.csv", (copy / "winequality-red.csv").read_bytes()
    program = (
        "from pathlib import Path\nfrom companion.data import datasets\n"
        f"datasets.DATA = Path({str(copy)!r})\n"
    )

    def start():
        return sandbox.start(*sandbox.study, program=program + PROGRAM)

    process = sandbox.start_long_study(start)
    file.write_bytes(whole.replace(b"5", b"6", 1))
    process.wait()
    start().wait()  # refused: these aren't the data that the book is about


DAMAGED = "^the stored run .* is damaged; it is trained again"
STOPPED = "^stopped: .* runs are kept; the same command goes on from here"
FAULTS = (
    Fault("killed (SIGKILL) at a random moment", _signal(signal.SIGKILL), ENDS, 5),
    Fault("ended (SIGTERM) at a random moment", _signal(signal.SIGTERM), "^stopped|" + ENDS, 5),
    Fault("Ctrl-C", _interrupted, STOPPED),
    Fault("notebook run killed (SIGKILL)", _notebook(signal.SIGKILL), ENDS),
    Fault("notebook run ended (SIGTERM)", _notebook(signal.SIGTERM), "^stopped"),
    Fault("build ended (SIGTERM)", _build_ended, "^stopped"),
    Fault("one of two Dask workers killed", _cluster_member_killed(1), ENDS),
    Fault("Dask scheduler killed", _cluster_member_killed(0), "^amol: the scheduler .* went away"),
    Fault("two studies on one store at once", _two_at_once, ENDS, 3),
    Fault("disk full", _full_disk, "^amol: .*(No space left|too large|full)"),
    Fault("store read-only", _read_only, "^amol: .*([Rr]ead-?only|Permission denied)"),
    Fault("stored run cut off at a random place", _damaged(_cut), DAMAGED, 5, costs=1),
    Fault(
        "stored run changed at a random place", _damaged(_changed), f"{DAMAGED}|{ENDS}", 5, costs=1
    ),
    Fault("loss of one run not a number", _not_finite, "^failed: Wine Red, mine, seed 0: .* epoch"),
    Fault("loss changed between two studies", _loss_changed, "^1 runs trained, 2 reused"),
    Fault("data file changed under a running study", _data_changed, "^amol: Wine Red: .* changed"),
)
