"""Outputs of commands: their names are free, nothing of anybody else is overwritten."""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from companion.paths import build_dir


def reserve_output(stem: str) -> tuple[Path, Path]:
    """A notebook in ``build/runs`` that no other run has, and the folder of its results."""
    folder = build_dir() / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        name = stem if number == 1 else f"{stem}-{number}"
        output, results = folder / f"{name}.ipynb", folder / f"{name}_files"
        if results.exists():
            continue
        try:
            output.touch(exist_ok=False)
            return output, results
        except FileExistsError:
            continue


def results_beside(output: Path) -> Path:
    """Folder of the tables and figures of a notebook run to ``output``.

    Raises
    ------
    FileExistsError
        Where the notebook or the folder exists: what is there is its user's.
    """
    results = output.with_name(f"{output.stem}_files")
    for path in (output, results):
        if path.exists():
            raise FileExistsError(f"{path} exists already; choose another name or remove it")
    return results


def deliver(made: Path, results: Path, output: Path) -> Path:
    """Move a finished run from ``build/runs`` to the name that its user chose, whole or not at all.

    Returns
    -------
    Path
        The folder of its tables and figures.

    Raises
    ------
    OSError
        Where somebody took the name meanwhile, or there is no space or no right to write: says
        where the run is, which stays whole.
    """
    target = output.with_name(f"{output.stem}_files")
    try:
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=".amol-") as folder:
            notebook, files = Path(folder, output.name), Path(folder, target.name)
            shutil.copyfile(made, notebook)
            if results.exists():
                shutil.copytree(results, files)
            results_beside(output)
            if results.exists():
                files.rename(target)
            try:
                _take_name(notebook, output)
            except OSError:
                if results.exists():
                    shutil.rmtree(target)
                raise
    except OSError as error:
        why = str(error.strerror or error)
        if isinstance(error, shutil.Error):  # [Errno 28] No space left on device: 'from' -> 'to'
            why = error.args[0][0][2].partition("] ")[2].partition(":")[0]
        raise OSError(f"{output} isn't written: {why}; the whole run is in {made}") from None
    made.unlink()
    shutil.rmtree(results, ignore_errors=True)
    return target


def _take_name(made: Path, output: Path) -> None:
    """Give a file a name that must be free, in one step where the disk can."""
    try:
        os.link(made, output)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        made.rename(output)
