"""Whose an object is, the user's or a library's; and what of a library may change."""

import inspect
import sys
import types
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version

import torch

# Names of functions that read what no digest of the code can see.
READERS = {
    "open", "eval", "exec", "globals", "__import__", "import_module", "input", "environ", "getenv",
    "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv", "read_text", "read_bytes",
    "read_parquet", "read_pickle", "read_excel", "urandom", "listdir", "stat", "initial_seed",
    "seed", "get_rng_state", "get_state", "getstate", "hash", "id", "argv", "home", "cwd", "exists",
    "is_file",
}  # fmt: skip
# Modules of Python whose answers are never the same.
CHANGING = {"random", "secrets", "time", "datetime", "uuid", "socket", "getpass", "gc", "resource",
            "threading", "locale", "_thread", "_random", "_datetime", "_locale"}  # fmt: skip
CALLED = types.FunctionType | types.BuiltinFunctionType
CONSTANT = torch.dtype | torch.layout | torch.memory_format


class Unsure(Exception):
    """What a loss reads can't be digested; the message says what."""


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def library(module: str) -> str | None:
    """Name and version of the installed library that a module belongs to; None for the user's."""
    top = module.partition(".")[0]
    if top in CHANGING:
        raise Unsure(f"the module {top.lstrip('_')}")
    if top in sys.stdlib_module_names and top != "__main__":
        return f"Python {sys.version_info[:2]}"
    if top in ("amol", "companion", "__main__") or top not in _distributions():
        return None
    path = getattr(sys.modules.get(top), "__file__", None) or ""
    if "site-packages" not in path and "dist-packages" not in path and path:
        return None  # installed in place for editing, so the user's own
    try:
        return ", ".join(f"{name} {version(name)}" for name in sorted(set(_distributions()[top])))
    except PackageNotFoundError:
        return None


def owned(thing: object) -> bool:
    """Whether an object's class is the user's or these packages'."""
    return library(type(thing).__module__) is None


def of_user(thing: types.FunctionType | types.BuiltinFunctionType | type) -> bool:
    """Whether a function or class is the user's or these packages'."""
    return library(thing.__module__ or "builtins") is None


def answers_the_process(member: object) -> bool:
    """Whether a library's function needs no argument: its answer is a constant or a state.

    PyTorch's are left out, for a study sets what they say.
    """
    if not isinstance(member, CALLED) or of_user(member):
        return False
    try:
        arguments = inspect.signature(member).parameters.values()
    except ValueError:  # compiled, and it doesn't say
        return False
    needs_none = all(argument.default is not argument.empty for argument in arguments)
    return needs_none and (member.__module__ or "").partition(".")[0] != "torch"


def may_change(member: object) -> bool:
    """Whether a member of a library's module may be its user's, or is data."""
    if isinstance(member, types.FunctionType | type):
        return of_user(member)
    return not callable(member) and not isinstance(member, CONSTANT)
