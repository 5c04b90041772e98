"""Hash the code that a result rests on, so that a change retrains what it touches and no more."""

import ast
import hashlib
import inspect
import sys
import textwrap
from functools import cache
from types import FunctionType, ModuleType


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0] = ast.Pass()
    return tree


@cache  # losses share most of their code
def _read(thing: type | FunctionType) -> tuple[str, list[tuple[str, object]]]:
    """A function's or a class's code, and the objects that it names."""
    tree = _without_docstrings(ast.parse(textwrap.dedent(inspect.getsource(thing))))
    return ast.dump(tree), list(_named(tree, vars(sys.modules[thing.__module__])))


def _named(tree: ast.AST, scope: dict):
    """Objects that the code names, as (name, object): globals and members of named modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in scope:
            yield node.id, scope[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.get(node.value.id)
            if isinstance(owner, ModuleType) and _ours(owner.__name__):
                yield node.attr, getattr(owner, node.attr, None)


def _ours(module: str) -> bool:
    return module == "__main__" or module.partition(".")[0] == __name__.partition(".")[0]


def fingerprint(*objects: type | FunctionType) -> str:
    """SHA-256 of the code of functions and classes and of all code of ours that they name.

    Follows names through functions, classes, their bases and plain constants of this package (or
    of the notebook that defines them). Comments, docstrings and layout don't count, nor the
    module in which code lies.
    """
    parts: set[str] = set()
    seen = set()
    queue = list(objects)
    while queue:
        thing = inspect.unwrap(queue.pop())
        if thing in seen:
            continue
        seen.add(thing)
        code, named = _read(thing)
        parts.add(f"{thing.__qualname__} {code}")
        for label, found in named:
            if isinstance(found, type | FunctionType) and _ours(found.__module__):
                queue.append(found)
            elif isinstance(found, int | float | str | tuple):
                parts.add(f"{thing.__qualname__} {label} = {found!r}")
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()
