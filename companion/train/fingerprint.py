"""Digests of losses: all that a loss computes with, so that a stored run is never stale.

A function counts by its bytecode, its defaults, what it closes over, and each global that it
names; a class by its members and bases; an object by its class and its state; an array by its
values; an installed library by name and version, and those of its data that are named by value.
Where code lies, its comments, docstrings and layout don't count. What can't be read for sure (an
open file, code that looks names up at run time, a library's function that is called without an
argument) raises `Unsure`, and the run is trained anew. `changing` finds what a loss changes or
draws. A state that a library's function reads beside its arguments stays unseen.
"""

import builtins
import functools
import hashlib
import importlib
import io
import types
from collections import ChainMap, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from numbers import Number
from pathlib import PurePath
from types import CellType

import numpy as np
import torch

from companion.train.bytecode import called_bare, imported, is_docstring, with_inner
from companion.train.ownership import (
    CALLED,
    READERS,
    Unsure,
    answers_the_process,
    library,
    may_change,
    of_user,
    owned,
)

PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, type(...), PurePath)
DESCRIPTORS = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.ClassMethodDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, np.ufunc,
)  # fmt: skip
# What wraps other objects: how it is called here, and the attributes that hold them.
WRAPPERS = {
    types.MethodType: ("method", "__func__", "__self__"),
    functools.partial: ("partial", "func", "args", "keywords"),
    functools.cached_property: ("cached property", "func"),
    classmethod: ("classmethod", "__func__"),
    staticmethod: ("staticmethod", "__func__"),
    property: ("property", "fget", "fset", "fdel"),
}


def fingerprint(*things: object) -> str:
    """SHA-256, in hex, of objects and all that they rest on.

    Raises
    ------
    Unsure
        Names the object that can't be read.
    """
    try:
        return _Reader().read(things)
    except RecursionError:
        raise Unsure("objects that hold one another without end") from None


@contextmanager
def changing(*things: object) -> Iterator[list[str]]:
    """Find what keeps a computation from being the same another time.

    Yields a list that is empty until the end; then it says whether random numbers were drawn from
    the generators of PyTorch or NumPy, and whether one of the objects has changed.
    """
    found: list[str] = []

    def seen() -> str:
        try:
            return fingerprint(*things)
        except Unsure as reason:
            return str(reason)

    drawn, before = _random_state(), seen()
    yield found
    if _random_state() != drawn:
        found.append("random numbers")
    if seen() != before:
        found.append("what it changes itself")


def _random_state() -> tuple:
    _, keys, *place = np.random.get_state()
    return torch.get_rng_state().numpy().tobytes(), keys.tobytes(), *place


class _Reader:
    """One reading: objects met before are named by the order in which they were met."""

    def __init__(self):
        self._met: dict[int, tuple[int, object]] = {}  # holds the object, so no id is used twice
        self._modules: set[tuple[str, ...]] = set()  # with the names of members that were read

    def read(self, thing: object) -> str:
        """Digest of one object."""
        if type(thing) in PLAIN or (isinstance(thing, PurePath | Number) and not owned(thing)):
            return self._hash("plain", type(thing).__name__, repr(thing))
        if type(thing) is tuple:  # equal ones may be one object or two, as Python sees fit
            return self._hash("tuple", *self._each(thing))
        if id(thing) in self._met:
            return self._hash("met", str(self._met[id(thing)][0]))
        self._met[id(thing)] = len(self._met), thing
        return self._hash(*self._parts(thing))

    @staticmethod
    def _hash(*parts: str) -> str:
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _each(self, things) -> list[str]:
        return [self.read(thing) for thing in things]

    def _pairs(self, mapping: Mapping) -> list[str]:
        return [part for key, value in mapping.items() for part in self._each((key, value))]

    def _parts(self, thing: object) -> list[str]:
        """What an object consists of, each part as text."""
        if isinstance(thing, CALLED) and thing.__name__ in READERS and not of_user(thing):
            raise Unsure(f"the answer of {thing.__name__}()")
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, types.ModuleType):
            return self._module(thing, None)
        if isinstance(thing, DESCRIPTORS):
            return self._builtin(thing)
        for wrapper, (name, *held) in WRAPPERS.items():
            if isinstance(thing, wrapper):
                return [name, *self._each([getattr(thing, part) for part in held])]
        return self._array(thing) or self._object(thing)

    def _array(self, thing: object) -> list[str] | None:
        """Arrays, tensors and tables, by their values."""
        if isinstance(thing, np.ndarray | np.generic) and thing.dtype != object:
            whole = np.ascontiguousarray(thing)
            content = hashlib.sha256(whole.tobytes()).hexdigest()
            return ["array", str(thing.dtype), str(thing.shape), content]
        if isinstance(thing, np.ndarray):
            return ["objects", str(thing.shape), *self._each(thing.ravel().tolist())]
        if isinstance(thing, np.dtype):
            return ["dtype", str(thing)]
        top = type(thing).__module__.partition(".")[0]
        if top == "pandas" and hasattr(thing, "to_numpy"):
            labels = [getattr(thing, name, None) for name in ("index", "columns", "name")]
            labels = [part for part in labels if part is not thing]
            return ["pandas", type(thing).__name__, *self._each([thing.to_numpy(), *labels])]
        if hasattr(thing, "detach") and hasattr(thing, "requires_grad"):
            return ["tensor", str(thing.dtype), *self._tensor(thing)]
        if top == "torch" and type(thing).__name__ in ("dtype", "device", "Size", "layout"):
            return ["torch", str(thing)]
        return None

    def _tensor(self, thing) -> list[str]:
        """A tensor of any type and layout, by its bytes."""
        try:
            values = thing.detach().cpu().to_dense().resolve_conj().resolve_neg()
            raw = values.contiguous().reshape(-1).view(torch.uint8).numpy()
        except (RuntimeError, TypeError) as error:
            raise Unsure(f"a tensor of {thing.dtype}: {error}".partition("\n")[0]) from None
        return [str(thing.layout), self.read(tuple(thing.shape)), self.read(raw)]

    def _object(self, thing: object) -> list[str]:
        """An instance: its class, what it contains and its state."""
        if isinstance(thing, io.IOBase):
            raise Unsure("an open file")
        parts = ["object", self.read(type(thing))]
        if isinstance(thing, list | tuple | deque):
            parts += self._each(thing)
        elif isinstance(thing, set | frozenset):
            parts += sorted(_Reader().read(item) for item in thing)
        elif isinstance(thing, dict | types.MappingProxyType):
            parts += [self.read(getattr(thing, "default_factory", None)), *self._pairs(thing)]
        elif isinstance(thing, Number | str | bytes):
            base = next(cls for cls in type(thing).__mro__ if cls in PLAIN)
            parts.append(base.__repr__(thing))
        elif not owned(thing) and not hasattr(thing, "__dict__"):
            parts.append(self.read(self._reduced(thing)))
        return [*parts, *self._state(thing)]

    @staticmethod
    def _reduced(thing: object) -> tuple:
        """What Python's own objects without attributes are made of, as pickle sees them."""
        if (library(type(thing).__module__) or "").startswith("Python"):
            with suppress(TypeError):
                return thing.__reduce_ex__(2)
        raise Unsure(f"an object of {type(thing).__module__}.{type(thing).__qualname__}")

    def _state(self, thing: object) -> list[str]:
        slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
        held = {name: getattr(thing, name) for name in slots if hasattr(thing, name)}
        return self._pairs(getattr(thing, "__dict__", {}) | held)

    def _builtin(self, thing: object) -> list[str]:
        """Compiled code of Python or of a library, and the object that it is bound to."""
        bound = getattr(thing, "__self__", None)
        owner = getattr(thing, "__objclass__", thing)
        module = getattr(owner, "__module__", None) or "builtins"
        parts = ["builtin", library(module) or module, getattr(thing, "__qualname__", repr(thing))]
        free = bound is None or isinstance(bound, types.ModuleType)
        return parts if free else [*parts, self.read(bound)]

    def _function(self, thing: types.FunctionType) -> list[str]:
        if version := library(thing.__module__ or ""):
            return ["function", version, thing.__module__, thing.__qualname__]
        cells = [cell.cell_contents for cell in thing.__closure__ or () if cell != CellType()]
        parts = [*self._code(thing.__code__), self.read(thing.__defaults__)]
        parts += [self.read(thing.__kwdefaults__), *self._each(cells)]
        parts += self._names(thing.__code__, thing.__globals__)
        return ["function", *parts, *self._pairs(vars(thing))]

    def _code(self, code: types.CodeType) -> list[str]:
        """Bytecode and constants, without names of files, lines and docstrings."""
        constants = list(code.co_consts)
        if constants and isinstance(constants[0], str) and is_docstring(code):
            constants[0] = ""
        parts = [code.co_code.hex(), str(code.co_flags), str(code.co_argcount)]
        parts += [str(code.co_kwonlyargcount), *code.co_names, *code.co_varnames]
        parts += [*code.co_freevars, *code.co_cellvars]
        for constant in constants:
            inner = isinstance(constant, types.CodeType)
            parts += self._code(constant) if inner else [self.read(constant)]
        return parts

    def _names(self, code: types.CodeType, scope: Mapping) -> list[str]:
        """The globals that code names, and the members of modules that it may reach."""
        bare = called_bare(code)
        names = {name: name in bare for part in with_inner(code) for name in part.co_names}
        for name in names:
            if name in READERS:
                raise Unsure(f"{code.co_name} calls {name}, whose result can change")
        inside = {name: _import(name, scope) for name in imported(code)}
        return self._members(ChainMap(inside, scope, vars(builtins)), names)

    def _members(
        self, scope: Mapping, names: Mapping[str, bool], of_library: bool = False
    ) -> list[str]:
        """Members by name; ``names`` says of each whether it is called without arguments."""
        parts = []
        for name, bare in names.items():
            found = scope.get(name)
            if bare and answers_the_process(found):
                raise Unsure(f"the answer of {name}()")
            if isinstance(found, types.ModuleType):
                parts += [name, *self._module(found, names)]
            elif name in scope and (not of_library or may_change(found)):
                parts += [name, self.read(found)]
        return parts

    def _module(self, module: types.ModuleType, names: Mapping[str, bool] | None) -> list[str]:
        """A library by its version; a module of the user's by the members that are named.

        Of a library also count members that may be set: functions of the user's and all data.
        """
        if version := library(module.__name__):
            known = ["module", version, module.__name__]
            if names is None or (module.__name__, *names) in self._modules:
                return known
            self._modules.add((module.__name__, *names))
            return known + self._members(vars(module), names, of_library=True)
        if names is None or {"getattr", "vars"} & names.keys():
            raise Unsure(f"members of the module {module.__name__} that are named at run time")
        if (module.__name__, *names) in self._modules:  # modules may hold one another
            return ["module met"]
        self._modules.add((module.__name__, *names))
        return ["module", *self._members(vars(module), names)]

    def _class(self, thing: type) -> list[str]:
        if version := library(thing.__module__):
            return ["class", version, thing.__module__, thing.__qualname__]
        parts = ["class", *self._each(thing.__bases__)]
        for name, member in vars(thing).items():
            if name not in _OF_NO_EFFECT:
                parts += [name, self.read(member)]
        return parts


_OF_NO_EFFECT = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__slots__",
    "__annotations__", "__firstlineno__", "__static_attributes__", "__abstractmethods__",
    "_abc_impl", "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__signature__",
}  # fmt: skip


def _import(name: str, scope: Mapping) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except (ImportError, ValueError):
        raise Unsure(f"the import of {name or '.'!r} in {scope.get('__name__')}") from None
