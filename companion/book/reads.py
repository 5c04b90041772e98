"""What the run of a page read, and whether all of that is as it was.

The kernel and each Python process that it starts note the files that they open and the folders
that they list (``files/sitecustomize.py``). Recorded beside the executed copy is the state of each:
the names in a folder, the bytes of a file, the code of an imported module whatever its comments and
layout; also the page's own code and the versions of Python and the libraries. A page is stale once
one of these differs.

Not seen is what is no file, such as variables of the environment, what a compiled library opens by
itself, and a file that is looked for but not opened, or opened by the number of its folder.
"""

import ast
import hashlib
import importlib.util
import json
import os
import platform
import sysconfig
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from companion.paths import ROOT, build_dir

CHANGED = "changed while the page was executed"
LIBRARIES = {"site-packages", "dist-packages"}  # folders of installed libraries
NO_FILES = (Path("/proc"), Path("/sys"), Path("/dev"))


@cache
def _digest(path: Path) -> str:
    """SHA-256 of a file's bytes or of the names in a folder; empty where there is neither."""
    try:
        names = sorted({*os.listdir(path)} - {"__pycache__"}) if path.is_dir() else None
        content = path.read_bytes() if names is None else os.fsencode("\n".join(names))
    except OSError:
        return ""
    return hashlib.sha256(content).hexdigest()


@cache
def _code_digest(path: Path) -> str:
    """SHA-256 of what Python makes of a module's text; empty where there is none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return _digest(path)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def digest_of(*parts: str | Path) -> str:
    """SHA-256 over texts, and over files and folders with all that is in them."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(f"{part}\0".encode())
            continue
        digest = _code_digest(part) if part.suffix == ".py" else _digest(part)
        total.update(f"{part.name}\0{digest}\0".encode())
        if part.is_dir():
            inside = (path for path in part.iterdir() if path.name != "__pycache__")
            total.update(digest_of(*sorted(inside)).encode())
    return total.hexdigest()


def _cells(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return digest_of(*code)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def state(
    notebook: Path, files: Iterable[str], modules: Iterable[str], libraries: Iterable[str]
) -> dict:
    """A notebook's code and the things of these names, all as they are now.

    Parameters
    ----------
    notebook : Path
    files, modules : iterable of str
        Names of files and folders, and of files that were imported; those of the book as paths
        from its root.
    libraries : iterable of str

    Returns
    -------
    dict
        ``code`` and ``Python``; by name digests of ``files`` and ``modules`` and versions of
        ``libraries``.
    """
    return {
        "code": _cells(notebook),
        "Python": platform.python_version(),
        "files": {name: _digest(ROOT / name) for name in files},
        "modules": {name: _code_digest(ROOT / name) for name in modules},
        "libraries": {library: _version(library) for library in libraries},
    }


def is_unchanged(notebook: Path, recorded: dict) -> bool:
    """Whether all that was recorded by `reads` is as it was."""
    names = (recorded.get(kind, ()) for kind in ("files", "modules", "libraries"))
    return recorded == state(notebook, *names)


def reads(copy: Path, log: Path, since: float) -> dict:
    """`state` of what an execution read.

    Left out is what it wrote itself, and what the companion makes: all in the folder ``build``.

    Parameters
    ----------
    copy : Path
        The executed copy.
    log : Path
        What was noted while it was executed.
    since : float
        When it began, in seconds of `time.time`. A file that has changed since then is recorded as
        such, and the page stays stale: nobody knows what it has read.
    """
    noted = {"r": set(), "w": set(), "i": set()}  # paths read, written, imported
    for entry in log.read_bytes().split(b"\0")[:-1]:
        noted[chr(entry[0])].add(_source(Path(os.fsdecode(entry[1:]))))

    apart = (build_dir(), Path(sysconfig.get_path("stdlib")), *NO_FILES)
    distributions, libraries = packages_distributions(), set()
    found = {"r": {}, "i": {}}  # by name whether it has changed
    for kind, names in found.items():
        for path in sorted(noted[kind]):
            installed = LIBRARIES & set(path.parts)
            if installed:
                top = path.parts[path.parts.index(installed.pop()) + 1 :][:1]
                libraries |= {d for name in top for d in distributions.get(name.split(".")[0], ())}
            elif not any(map(path.is_relative_to, apart)):
                new = path.is_file() and path.stat().st_mtime >= since
                if path not in noted["w"] or (path.exists() and not new):
                    names[_name(path)] = new
    files, modules = found["r"], found["i"].keys() - found["r"].keys()
    made = state(copy, files, sorted(modules), sorted(libraries))
    made["files"] |= {name: CHANGED for name, changed in files.items() if changed}
    made["modules"] |= {name: CHANGED for name in modules if found["i"][name]}
    return made


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def _source(path: Path) -> Path:
    """The module that a file of bytecode was compiled from; any other path as it is."""
    try:
        return Path(importlib.util.source_from_cache(path))
    except ValueError:
        return path
