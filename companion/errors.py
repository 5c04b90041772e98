"""Errors that stop a study or a notebook, and a hint for their messages."""

import difflib
from collections.abc import Iterable


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
