"""Outputs of commands: their names are free, nothing of anybody else is overwritten."""

import itertools
import shutil
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
    """Move a finished run from ``build/runs`` to the name that its user chose.

    Returns
    -------
    Path
        The folder of its tables and figures.

    Raises
    ------
    FileExistsError
        Where somebody took the name meanwhile; the run stays where it is.
    """
    target = results_beside(output)
    with output.open("xb") as file:  # fails where the name is taken
        file.write(made.read_bytes())
    if results.exists():
        shutil.move(results, target)
    made.unlink()
    return target
