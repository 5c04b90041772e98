"""Text that comes from any console and that any can show, whatever its encoding."""

import codecs
import os
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


def start_in_utf8() -> None:
    """Start this command anew in Python's UTF-8 mode where it reads ASCII alone.

    So it does in the locale C with PYTHONUTF8=0: names of files and arguments then have no other
    characters.
    """
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        anew = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, anew, os.environ | {"PYTHONUTF8": "1"})
