"""Rendering of the book from its executed pages."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import amol
import companion
from companion.book.crate import write_crate
from companion.book.execute import book_notebooks
from companion.book.reads import digest_of
from companion.paths import ROOT, build_dir
from companion.repository import repository

RENDERERS = ("jupyter-book", "sphinx-book-theme", "vl-convert-python")
RENDER = "from jupyter_book.cli.main import main; main()"


def _rendering_key() -> str:
    """Digest of all that the site is made of."""
    code = [Path(package.__file__).parent for package in (amol, companion)]
    made = [build_dir() / "executed", build_dir() / "results"]
    files = [ROOT / "book", ROOT / "_config.yml", ROOT / "_toc.yml", *book_notebooks()]
    return digest_of(*code, *files, *made, *map(version, RENDERERS), *repository(ROOT))


def render_book() -> Path:
    """Render the book into a folder of its own, which takes the last site's place if all is well.

    Returns
    -------
    Path
        The first page.

    Raises
    ------
    RuntimeError
        Holds Jupyter Book's warnings and errors.
    """
    site, mark = ROOT / "_build" / "html", build_dir() / "rendered.key"
    key = _rendering_key()
    if (site / "index.html").exists() and mark.exists() and mark.read_text() == key:
        print("book: unchanged")
        return site / "index.html"
    print("book: rendering", flush=True)
    with tempfile.TemporaryDirectory(dir=build_dir(), prefix="render-") as folder:
        options = ["-W", "-n", "--keep-going", "--all", "--path-output", folder]
        done = subprocess.run(
            [sys.executable, "-c", RENDER, "build", str(ROOT), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        if done.returncode:
            lines = re.sub(r"\x1b\[[\d;]*m", "", done.stdout).splitlines()
            faults = [line for line in lines if re.search("WARNING|ERROR|rror:", line)]
            faults = "\n".join(faults or lines[-20:])
            raise RuntimeError(f"the book has faults; the last good one is kept\n{faults}")

        write_crate(Path(folder, "_build", "html"))
        # Swap; without its mark a half-moved site is rendered again.
        mark.unlink(missing_ok=True)
        site.parent.mkdir(exist_ok=True)
        if site.exists():
            site.rename(Path(folder, "old"))
        shutil.move(Path(folder, "_build", "html"), site)
    mark.write_text(key)
    return site / "index.html"
