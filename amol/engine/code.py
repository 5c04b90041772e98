"""Digests of the engine's code, without comments, docstrings, layout, imports and files' names."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
# Counted by what a loss uses of them (`digest_of`, and `registry.identity` as a whole).
BY_LOSS = ("kinds.py", "meanings.py", "registry.py")
ASIDE = ("__init__.py", "cache.py", "code.py")  # nothing that a training computes with


def _statements(path: Path) -> list[ast.stmt]:
    """A module's own statements, those that import left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        if documented and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    left_out = (ast.Import, ast.ImportFrom, ast.Pass)
    return [node for node in tree.body if not isinstance(node, left_out)]


def _text(node) -> str:
    """As `ast.dump`, whose text changes between versions of Python."""
    if isinstance(node, list):
        return f"[{', '.join(map(_text, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    held = [f"{name}={_text(v)}" for name, v in ast.iter_fields(node) if v not in (None, [])]
    return f"{type(node).__name__}({', '.join(held)})"


def _digest(trees: Iterable[ast.AST]) -> str:
    return hashlib.sha256("\n".join(sorted(map(_text, trees))).encode()).hexdigest()


@cache
def engine_digest() -> str:
    """SHA-256 of what every training goes through."""
    files = [path for path in FOLDER.glob("*.py") if path.name not in (*BY_LOSS, *ASIDE)]
    return _digest(node for path in files for node in _statements(path))


@cache
def digest_of(*names: str) -> str:
    """SHA-256 of functions of `kinds` and `meanings`, and of those of them that they call."""
    functions = {
        node.name: node
        for file in ("kinds.py", "meanings.py")
        for node in _statements(FOLDER / file)
        if isinstance(node, ast.FunctionDef)
    }
    waiting, met = list(names), {}
    while waiting:
        name = waiting.pop()
        met[name] = functions[name]
        called = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
        waiting += called & functions.keys() - met.keys()
    return _digest(met.values())
