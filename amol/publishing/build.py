"""Execute the book's notebooks where stale and render the book; knows nothing of their content."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path

from amol.errors import NotebookError
from amol.host import processor
from amol.paths import ROOT, build_dir
from amol.publishing import kernels
from amol.repository import commit, repository

LIBRARIES = (
    "torch",
    "numpy",
    "pandas",
    "scikit-learn",
    "matplotlib",
    "seaborn",
    "altair",
    "ipykernel",
)
NOT_PART_OF_PAGES = ("publishing", "cli", "repository")
RENDERERS = ("jupyter-book", "sphinx-book-theme", "vl-convert-python")


def book_notebooks() -> list[Path]:
    """Source notebooks of the table of contents, in its order."""
    listed = re.findall(r"^\s*-\s*file:\s*(\S+)", (ROOT / "_toc.yml").read_text(), re.MULTILINE)
    paths = [ROOT / f"{Path(name).with_suffix('')}.ipynb" for name in listed]
    return [path for path in paths if path.exists()]


def _digest(*parts: str | Path) -> str:
    """SHA-256 over texts and over the names and bytes of files and folders."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(part.encode())
            continue
        files = [part] if part.is_file() else sorted(p for p in part.rglob("*") if p.is_file())
        for file in files:
            if "__pycache__" not in file.parts:
                total.update(f"{file.relative_to(part.parent)}\0".encode())
                total.update(file.read_bytes())
    return total.hexdigest()


def _shared_key() -> str:
    """What every executed copy rests on: the package, recordings and libraries."""
    package = sorted(Path(__file__).parents[1].iterdir())
    package = [p for p in package if p.stem not in NOT_PART_OF_PAGES]
    versions = [f"{name} {version(name)}" for name in LIBRARIES]
    return _digest(*package, ROOT / "book" / "recorded", *versions, sys.version)


def _execution_key(source: Path, shared: str) -> str:
    """What an executed copy rests on: code, data named in it, and what all rest on."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    named = re.findall(r"""["']([^"'\n]+\.csv)["']""", "\n".join(code), re.IGNORECASE)
    data = [ROOT / path for path in named if (ROOT / path).exists()]
    return _digest(shared, json.dumps(code), *data)


def _key_file(copy: Path) -> Path:
    return copy.with_suffix(".key")


def _execute_copy(job: tuple[Path, Path, str]) -> tuple[str, float, str]:
    """Execute one notebook of the book and replace its copy if all went well.

    Returns its name, the seconds it took, and what went wrong.
    """
    from amol.publishing.notebooks import (
        run_notebook,  # papermill's half second, but not before `warm`
    )

    source, copy, key = job
    start = time.perf_counter()
    partial = build_dir() / "failed" / source.name
    try:
        results = build_dir() / "results"
        run_notebook(source, partial, results=results, cwd=copy.parent)
    except NotebookError as error:
        return source.stem, time.perf_counter() - start, str(error)
    _key_file(copy).unlink(missing_ok=True)
    partial.replace(copy)
    seconds = time.perf_counter() - start
    told = {"seconds": round(seconds, 1), "hardware": processor(), "commit": commit(ROOT)}
    copy.with_suffix(".json").write_text(json.dumps(told))
    _key_file(copy).write_text(key)
    return source.stem, seconds, ""


def stale_notebooks() -> list[tuple[Path, Path, str]]:
    """Notebooks whose executed copy is missing or stale, each as source, copy and key."""
    stale, shared = [], _shared_key()
    for source in book_notebooks():
        copy = build_dir() / "executed" / source.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        key = _execution_key(source, shared)
        fresh = copy.exists() and _key_file(copy).exists() and _key_file(copy).read_text() == key
        if not (fresh and (build_dir() / "results").exists()):
            stale.append((source, copy, key))
    return stale


def execute_book(stale: list[tuple[Path, Path, str]], workers: int = 2) -> None:
    """Execute notebooks from `stale_notebooks`, several at a time.

    One more than ``workers``, since each waits a while for its kernel to start and to end.

    Raises
    ------
    NotebookError
        After all others had their turn; names every notebook that failed.
    """
    print(f"notebooks: {len(stale)} to execute, {len(book_notebooks()) - len(stale)} unchanged")
    if not stale:
        return
    failures = []
    jobs = stale[::-1]  # the last pages measure and train again, so they take longest
    with kernels.pool(workers + 1) as pool:
        for number, done in enumerate(pool.imap_unordered(_execute_copy, jobs), start=1):
            name, seconds, error = done
            print(
                f"  [{number}/{len(stale)}] {name}  {'failed' if error else f'{seconds:.1f} s'}",
                flush=True,
            )
            failures += [error] if error else []
    if failures:
        raise NotebookError("\n".join(failures))


def list_executions(training: float) -> None:
    """Write ``results/executions.md``: how long each page took, where, at which commit.

    Parameters
    ----------
    training : float
        Seconds that training the default study took, for the last row.
    """
    rows = []
    for source in book_notebooks():
        copy = build_dir() / "executed" / source.relative_to(ROOT)
        told = json.loads(copy.with_suffix(".json").read_text())
        page = f"{{doc}}`../{source.relative_to(ROOT).with_suffix('')}`"
        rows.append(f"| {page} | {told['seconds']:.1f} | {told['hardware']} | {told['commit']} |")
    made = f"{training:.0f} | {processor()} | {commit(ROOT)}"
    rows.append(f"| training of the default study | {made} |")
    head = ["| page | seconds | hardware | commit |", "|:--|--:|:--|:--|"]
    (build_dir() / "results" / "executions.md").write_text("\n".join([*head, *rows, ""]))


class Renderer:
    """Jupyter Book, rendering into a folder of its own.

    It loads at once what it needs, which takes seconds, and begins with the pages when told to.
    It ends with its block; one that waits, with this process.
    """

    def __init__(self):
        build_dir().mkdir(exist_ok=True)
        self.set_up_as = _set_up()
        self._folder = tempfile.TemporaryDirectory(dir=build_dir(), prefix="render-")
        # a process this short needs no search for cycles, which takes a quarter of its time
        command = "import gc; gc.disable(); from jupyter_book.cli.main import main; main()"
        options = ["-W", "-n", "--keep-going", "--all", "--path-output", self._folder.name]
        self._process = subprocess.Popen(
            [sys.executable, "-c", command, "build", str(ROOT), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "AMOL_PAGES": "on stdin"},
        )

    def __enter__(self) -> "Renderer":
        return self

    def __exit__(self, *_) -> None:
        with self._folder, self._process:
            self._process.kill()

    def render(self) -> Path:
        """The finished site's folder, which goes with the block.

        Raises
        ------
        RuntimeError
            Holds Jupyter Book's warnings and errors.
        """
        told = self._process.communicate("begin\n")[0]
        if self._process.returncode:
            lines = re.sub(r"\x1b\[[\d;]*m", "", told).splitlines()
            faults = [line for line in lines if re.search("WARNING|ERROR|rror:", line)]
            faults = "\n".join(faults or lines[-20:])
            raise RuntimeError(f"the book has faults; the last good one is kept\n{faults}")
        return Path(self._folder.name, "_build", "html")


def _set_up() -> str:
    """Digest of what rendering rests on besides the notebooks and their results."""
    versions = [version(name) for name in RENDERERS]
    files = [ROOT / "_config.yml", ROOT / "_toc.yml", ROOT / "book"]
    return _digest(*files, *repository(ROOT), *versions)


def render_book(renderer: Renderer | None = None) -> Path:
    """Render the book from an empty folder; the last good one stays until this one is good.

    Parameters
    ----------
    renderer : Renderer, optional
        One that got ready meanwhile; what it rests on may have changed since, then it is left.

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
    set_up = _set_up()
    key = _digest(set_up, *book_notebooks(), build_dir() / "executed", build_dir() / "results")
    page = site / "index.html"
    if page.exists() and mark.exists() and mark.read_text() == key:
        print("book: unchanged")
        return page
    print("book: rendering", flush=True)
    ready = renderer is not None and renderer.set_up_as == set_up
    with nullcontext(renderer) if ready else Renderer() as chosen:
        made = chosen.render()
        mark.unlink(missing_ok=True)
        site.parent.mkdir(exist_ok=True)
        if site.exists():
            site.rename(made.with_name("old"))
        shutil.move(made, site)
    mark.write_text(key)
    return page


def make_book(stale: list[tuple[Path, Path, str]], workers: int, training: float) -> Path:
    """Execute what is stale while Jupyter Book gets ready, and render.

    Parameters
    ----------
    stale, workers
        As in `execute_book`.
    training : float
        As in `list_executions`.

    Returns
    -------
    Path
        The first page.

    Raises
    ------
    NotebookError
        From `execute_book`; the last good book stays.
    RuntimeError
        From `render_book`.
    """
    with Renderer() if stale else nullcontext() as renderer:
        execute_book(stale, workers)
        list_executions(training)
        return render_book(renderer)
