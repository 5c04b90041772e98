"""Key of an executed page: a digest of everything that it rests on.

A page rests on its own code, on the modules of these packages that it imports, directly or through
others, with their data files, on the data files and the recordings that it names, and on the
versions of the libraries that all of these import. Nothing else makes it stale.
"""

import ast
import hashlib
import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

import amol
import companion
from companion.paths import ROOT

PACKAGES = {"amol": Path(amol.__file__).parent, "companion": Path(companion.__file__).parent}
LONGEST_PATH = 250  # characters; a longer text in a page's code is no file's name
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Code:
    """What a module, or a page's code, says without running it."""

    digest: str  # of the code, whatever its comments and its layout
    imports: frozenset[str]  # dotted names, of modules or of what is taken from them
    texts: frozenset[str]  # its string constants
    arguments: frozenset[str]  # those that are arguments of a call


def digest(*parts: str | Path) -> str:
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


@dataclass(frozen=True)
class Ground:
    """What the executed copy of a notebook rests on."""

    code: list[str]  # of its cells
    modules: dict[str, str]  # of these packages: their digests by name
    libraries: list[str]  # name and version
    files: list[Path]  # and folders


def page_key(source: Path) -> str:
    """Digest of what the executed copy of a notebook rests on."""
    on = ground(source)
    text = json.dumps([on.code, on.modules, on.libraries, platform.python_version()])
    return digest(text, *on.files)


def ground(source: Path) -> Ground:
    """What the executed copy of a notebook rests on."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = _read_cells(code)

    reached = _reached_modules(page.imports)
    modules = [_read_module(name) for name in reached]
    docstrings = "inspect" in page.imports  # such a page prints them
    digests = module_digests(page.imports, docstrings)
    libraries = _versions(name for part in [page, *modules] for name in part.imports)

    # Files: named by the page, or in the data folder of a reached module's room.
    recordings = _recordings(page.texts, [page, *modules])
    named = (ROOT / text for text in page.texts if text.isprintable() and len(text) < LONGEST_PATH)
    data = {_modules()[name].parent / "files" for name in reached}
    files = sorted(recordings | set(filter(Path.is_file, named)) | set(filter(Path.is_dir, data)))
    return Ground(code, digests, libraries, files)


def module_digests(imports: Iterable[str], docstrings: bool = False) -> dict[str, str]:
    """Digests of the modules of these packages behind imported names, by their names."""
    return {name: _read_module(name, docstrings).digest for name in _reached_modules(imports)}


def _reached_modules(imports: Iterable[str]) -> list[str]:
    """Modules of these packages behind imported names, with all that they import, sorted."""
    reached, waiting = set(), set(imports)
    while waiting:
        name = waiting.pop()
        package, _, offered = name.partition(".")
        if package == "companion":  # loads what it offers on first use
            name = companion.OFFERED.get(offered, name)
        while name and name not in _modules():  # a function's name ends in that of its module
            name = name.rpartition(".")[0]
        if name and name not in reached:
            reached.add(name)
            # to import a module runs the packages that hold it
            waiting |= {name.rpartition(".")[0], *_read_module(name).imports}
    return sorted(reached)


@cache
def _modules() -> dict[str, Path]:
    """Files of these packages, by the name of the module."""
    found = {}
    for folder in PACKAGES.values():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = file
    return found


@cache
def _read_module(name: str, docstrings: bool = False) -> Code:
    file = _modules()[name]
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    return read_code(file, package, docstrings)


def read_code(file: Path, package: str = "", docstrings: bool = False) -> Code:
    """Scan a file that lies in a package, with or without its docstrings."""
    return _scan(ast.parse(file.read_text(encoding="utf-8")), package, docstrings)


def _read_cells(code: list[str]) -> Code:
    """Scan a page's cells; one that is no Python fails when the page is executed, not here."""
    tree = ast.Module([], [])
    for text in code:
        try:
            tree.body += ast.parse(TransformerManager().transform_cell(text)).body
        except SyntaxError:
            continue
    return _scan(tree)


def _scan(tree: ast.Module, package: str = "", docstrings: bool = True) -> Code:
    imports, texts, arguments = set(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: 1 - node.level or None] if node.level else []
            base = ".".join(filter(None, [*parents, node.module]))
            imports |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in PACKAGES:  # `amol.losses` after `import amol`
                imports.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call):
            arguments |= {a.value for a in node.args if isinstance(a, ast.Constant)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, DOCUMENTED) and not docstrings and ast.get_docstring(node):
            del node.body[0]
    code = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return Code(code, frozenset(imports), frozenset(texts), frozenset(arguments & texts))


def _recordings(page_texts: frozenset[str], parts: list[Code]) -> set[Path]:
    """Files of ``book/recorded`` that a page names, or a module by file or in a call."""
    files = {file for file in (ROOT / "book" / "recorded").glob("*") if file.is_file()}
    names = page_texts.union(*(part.arguments for part in parts))
    texts = frozenset().union(*(part.texts for part in parts))
    return {file for file in files if file.stem in names or file.name in texts}


_distributions = cache(packages_distributions)


def _versions(imports: Iterable[str]) -> list[str]:
    """Name and version of the libraries behind imported names, and of what executes pages."""
    tops = {name.partition(".")[0] for name in imports} - PACKAGES.keys()
    libraries = {"ipykernel"}.union(*(_distributions().get(top, ()) for top in tops))
    return [f"{library} {version(library)}" for library in sorted(libraries)]
