"""What may befall a study: each fault provoked for real, its cost in a table.

``python -m amol.checks.faults`` tries all of them and writes ``book/recorded/faults.csv``.
"""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import torch
from nbformat import v4, writes

from amol.checks.drill import FEW, STUDY, Fault, Home, gone, try_fault, undisturbed, until
from amol.experiments import datasets, runs
from amol.losses import LOSSES, register_loss
from amol.paper.recordings import folder, keep


def _signal(number: int):
    def provoke(home: Home):
        child = home.fork()
        time.sleep(home.rng.uniform(0, undisturbed(FEW).seconds))
        os.kill(child, number)
        os.waitpid(child, 0)

    return provoke


def _parent_killed(home: Home):
    process = home.many("--workers", "2")
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill(), process.wait()
    gone(workers)


def _interrupted(home: Home):
    process = home.many("--workers", "2")
    workers = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT), process.wait()
    gone(workers)


def _worker_killed(home: Home):
    process = home.many("--workers", "2")
    busy = max(psutil.Process(process.pid).children(), key=lambda p: sum(p.cpu_times()[:2]))
    start = time.perf_counter()
    busy.kill(), process.wait()
    return time.perf_counter() - start


def _cluster_worker_killed(home: Home):
    where = home.folder / "scheduler.json"
    options = ["--scheduler-file", str(where), "--no-dashboard"]
    dask = [sys.executable, "-m", "dask"]
    worker = [*dask, "worker", *options, "--nthreads", "1", "--no-nanny"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        for command in ([*dask, "scheduler", "--port", "0", *options], worker, worker)
    ]
    until(where.exists)
    address = json.loads(where.read_text())["address"]
    try:
        process = home.many("--backend", "dask", "--address", address)
        start = time.perf_counter()
        started[1].kill(), process.wait()
        return time.perf_counter() - start
    finally:
        [process.kill() or process.wait() for process in started]


def _two_at_once(home: Home):
    for child in [home.fork(), home.fork()]:
        os.waitpid(child, 0)


def _full_disk(home: Home):
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(home.store.parent)]
    if subprocess.run(mount, capture_output=True).returncode == 0:
        home.finish()
        kept = home.store.read_bytes()
        subprocess.run(["umount", str(home.store.parent)], check=True)
        home.store.write_bytes(kept)
    else:  # no right to mount: files may not grow instead
        home.finish(change=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (90000, 90000)))


def _read_only(home: Home):
    home.fill()
    with sqlite3.connect(home.store) as connection:
        connection.execute("DELETE FROM runs WHERE rowid > 9")
    home.filled = 9
    home.store.chmod(0o444), home.store.parent.chmod(0o555)
    home.finish(change=lambda: os.getuid() or os.setuid(65534))  # root may write anywhere
    home.store.chmod(0o644), home.store.parent.chmod(0o755)


def _cut_header(home: Home):
    home.fill()
    os.truncate(home.store, 10 * home.number)


def _cut_anywhere(home: Home):
    home.fill()
    os.truncate(home.store, home.rng.randrange(100, home.store.stat().st_size))


def _changed_page(home: Home):
    home.fill()
    with open(home.store, "r+b") as file:
        file.seek(4096 * home.rng.randrange(home.store.stat().st_size // 4096))
        file.write(home.rng.randbytes(4096))


def _older_schema(home: Home):
    home.fill()
    with sqlite3.connect(home.store) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN digest")
        connection.execute("PRAGMA user_version = 0")


def _data_changed(home: Home):
    copy = Path(shutil.copytree(datasets.DATA, home.folder / "data"))
    file, whole = copy / "winequality-red.csv", (copy / "winequality-red.csv").read_bytes()

    def change():
        runs.forget()
        datasets.DATA = copy

    child = home.fork(change=change)
    until(lambda: home.rows() or psutil.Process(child).status() == "zombie")
    file.write_bytes(whole.replace(b"5", b"6", 1))
    os.waitpid(child, 0)
    home.finish(change=change)  # refused: these aren't the data that the book is about
    file.write_bytes(whole)


def _nan(home: Home):
    @register_loss("breaks")
    def breaks(logits, target, num_classes, calls=[]):  # noqa: B006
        calls.append(1)
        values = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        return values * (float("nan") if len(calls) > 6 else 1)

    runs.forget()
    mixed = (*STUDY, "1", "--workers", "1", "--methods", "CE,breaks,AMOL")
    home.finish(*mixed)
    LOSSES.pop("breaks")


def _bare(**environment):
    def provoke(home: Home):
        home.command(*STUDY, str(FEW), "--workers", "1", **environment).wait()

    return provoke


def _clock_back(home: Home):
    def change():
        ticks, now = iter(range(10**9)), time.time()
        time.time = tqdm_module.time = lambda: now - 3600.0 * next(ticks)

    from tqdm import std as tqdm_module

    home.finish(change=change)


def _notebook(number: int):
    code = (
        "from amol.experiments import StudySettings, run_study\n"
        f"run_study(StudySettings('Wine Red', seeds={FEW}, epochs=3), workers=1)"
    )

    def provoke(home: Home):
        file, output = (home.folder / name for name in ("page.ipynb", "out.ipynb"))
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        file.write_text(writes(v4.new_notebook(cells=[v4.new_code_cell(code)], metadata=kernel)))
        home.again = ("run", str(file), "-o", str(output))
        child = home.fork(*home.again)
        time.sleep(home.rng.uniform(0.5, 6))
        kernels = psutil.Process(child).children(recursive=True)
        os.kill(child, number), os.waitpid(child, 0)
        gone(kernels)

    return provoke


ENDS = r"^\d+ runs trained"
ASIDE = r"^runs.sqlite can't be used \(.*\); kept as runs.sqlite.aside-1$"
STOPPED = "^stopped: .* runs are kept; the same command goes on from here"
ODD = "pfad mit größen ☃"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FAULTS = (
    Fault("killed (SIGKILL) at a random moment", _signal(signal.SIGKILL), ENDS, 10),
    Fault("ended (SIGTERM) at a random moment", _signal(signal.SIGTERM), "^stopped|" + ENDS, 10),
    Fault("killed with two workers at work", _parent_killed, ENDS),
    Fault("Ctrl-C with two workers at work", _interrupted, STOPPED),
    Fault("one of two workers killed", _worker_killed, "^a worker died; .* are left for a new one"),
    Fault("one of two Dask workers killed", _cluster_worker_killed, ENDS),
    Fault("notebook run killed (SIGKILL)", _notebook(signal.SIGKILL), "^notebook: "),
    Fault("notebook run ended (SIGTERM)", _notebook(signal.SIGTERM), "^stopped"),
    Fault("two studies on one store at once", _two_at_once, ENDS, 3),
    Fault("disk full", _full_disk, "^amol: can't use the runs store runs.sqlite: .*(full|error)"),
    Fault("store read-only", _read_only, "^amol: can't use the runs store .* readonly database"),
    Fault("store cut off in its header", _cut_header, ASIDE + "|" + ENDS, 11),
    Fault("store cut off at a random place", _cut_anywhere, ASIDE, 10),
    Fault("random page of the store changed", _changed_page, ASIDE + "|" + ENDS, 5),
    Fault("store of an older schema", _older_schema, ASIDE),
    Fault("loss of one run not a number", _nan, "^failed: Wine Red, breaks, seed 0: .* epoch 2"),
    Fault("data file changed under a running study", _data_changed, "^amol: Wine Red: .* changed"),
    Fault("no HOME", _bare(HOME=None), ENDS),
    Fault("path with spaces and other letters", _bare(), ENDS, folder=ODD),
    Fault("C locale, ASCII output", _bare(**ASCII), ENDS, folder=ODD),
    Fault("clock set back during the study", _clock_back, ENDS),
)


def summarize(trials: pd.DataFrame) -> pd.DataFrame:
    """One row a fault: says, tried, again, lost, seconds (the longest)."""
    faults = trials.groupby("fault", sort=False)
    return faults.agg(
        says=("says", "first"),
        tried=("lost", "size"),
        again=("again", "sum"),
        lost=("lost", "sum"),
        seconds=("seconds", "max"),
    ).reset_index()


def load() -> pd.DataFrame:
    """The recorded trials, one row each, as `amol.checks.drill.try_fault` tells them."""
    return pd.read_csv(folder() / "faults.csv")


def main(names: list[str]) -> None:
    """Try the named faults once and print the trials as JSON, or record all trials of all."""
    if names:
        print(json.dumps([try_fault(fault) for fault in FAULTS if fault.name in names]))
        return
    start = time.perf_counter()
    trials = pd.DataFrame(
        try_fault(fault, number) for fault in FAULTS for number in range(fault.times)
    )
    told = {"trials": len(trials), "seconds": round(time.perf_counter() - start)}
    keep("faults", trials.round({"seconds": 2}), told)
    print(summarize(trials).to_string(index=False))


if __name__ == "__main__":
    main(sys.argv[1:])
