"""Output that any console can show, whatever its encoding."""

import codecs
import sys
import unicodedata

PLAINER = str.maketrans({"−": "-", "–": "-", "—": "-", "…": "...", "’": "'", "×": "x"})


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an output's encoding lacks: by plainer ones, else by their numbers.

    A handler of errors as `codecs.register_error` takes it.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    shown = []
    for character in error.object[error.start : error.end]:
        plain = unicodedata.normalize("NFD", character.translate(PLAINER)).encode("ascii", "ignore")
        shown.append(plain.decode() or character.encode("ascii", "backslashreplace").decode())
    return "".join(shown), error.end


def print_anywhere() -> None:
    """Have this process print what its console lacks in plainer characters, instead of failing."""
    codecs.register_error("plainer", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plainer")
