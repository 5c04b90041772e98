"""Errors that stop a study or a notebook, and advice for their messages."""

import difflib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_command = ContextVar("command", default="")


class StudyError(RuntimeError):
    """A study can't go on; the message is one line that tells its user why.

    What it had stored is kept, and the same call goes on from there.
    """


class NotebookError(Exception):
    """A notebook that failed: its name, the cell, the error, and where the partial run is."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A question that names what is spelled nearly like ``name``, or nothing."""
    lower = {other.lower(): other for other in known}
    near = [lower[other] for other in difflib.get_close_matches(str(name).lower(), lower)]
    return f"did you mean {' or '.join(near)}? " if near else ""


@contextmanager
def advising(command: str) -> Iterator[None]:
    """Let `option` name options as a command takes them: ``run`` and ``fork``, or ``study``."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def option(name: str, value: str | Sequence[str] | Mapping) -> str:
    """How the command at hand is given a setting; without a command, how Python is.

    >>> option("csv_options", {"sep": ";", "header": False})
    "sep=';', header=False"
    >>> with advising("study"):
    ...     print(option("csv_options", {"sep": ";"}), option("order", ["low", "high"]))
    --csv-options '{"sep": ";"}' --order low,high
    >>> with advising("run"):
    ...     print(option("order", ["a, b", "c"]))
    -p order '["a, b", "c"]'
    """
    if not _command.get():
        values = value if isinstance(value, Mapping) else {name: value}
        return ", ".join(f"{key}={each!r}" for key, each in values.items())
    if isinstance(value, Mapping):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = value if isinstance(value, str) else listing(value)
    given = f"--{name.replace('_', '-')}" if _command.get() == "study" else f"-p {name}"
    return f"{given} {shlex.quote(text)}"


def listing(labels: Sequence[str]) -> str:
    """Labels as an option takes them: between commas, or as a list where that isn't clear."""
    plain = all(label and not set(label) & set(" ,;:[]\"'") for label in labels)
    return ",".join(labels) if plain else json.dumps(list(labels), ensure_ascii=False)
