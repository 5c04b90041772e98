"""What a function's code says before it runs: what it imports and what it calls."""

import dis
from collections.abc import Iterator
from types import CodeType


def with_inner(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from with_inner(constant)


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    return (step for part in with_inner(code) for step in dis.get_instructions(part))


def imported(code: CodeType) -> list[str]:
    """Modules that code imports when it runs."""
    return [step.argval for step in _steps(code) if step.opname == "IMPORT_NAME"]


def called_bare(code: CodeType) -> set[str]:
    """Names that code calls without arguments: g of ``f.g()``, f of ``f()``."""
    found, name = set(), None
    for step in _steps(code):
        if step.opname == "CALL" and step.arg == 0:
            found.add(name)
        elif step.opname not in ("PRECALL", "PUSH_NULL"):
            name = step.argval if isinstance(step.argval, str) else None
    return found


def is_docstring(code: CodeType) -> bool:
    """Whether a function's first constant is its docstring, which no instruction loads."""
    steps = dis.get_instructions(code)
    return not any(step.opname.startswith("LOAD_CONST") and step.arg == 0 for step in steps)
