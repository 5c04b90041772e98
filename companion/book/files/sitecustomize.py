"""Notes the files that a page's run opens, and the folders that it lists, in ``AMOL_WATCHED``.

Python imports a module of this name as it starts. `companion.book.notebooks` puts this folder on
the path of a kernel, so that the kernel and each Python process that it starts are watched.
"""

import os
import sys
from glob import glob
from urllib.parse import unquote, urlsplit

LOG = os.environ["AMOL_WATCHED"]
FOLDERS = {"os.listdir", "os.scandir"}
BY_COMPILED_CODE = {"sqlite3.connect", "ctypes.dlopen"}
COMMANDS = {"subprocess.Popen": 1, "os.exec": 1, "os.posix_spawn": 1, "os.system": 0}
IMPORTER = "<frozen importlib._bootstrap_external>"
_noted = set()


def _note(kind: bytes, path, folder: str = "") -> None:
    """Add one entry: ``r`` for read or listed, ``i`` imported, ``w`` written, and the path."""
    if not isinstance(path, str | bytes | os.PathLike):
        return
    entry = kind + os.fsencode(os.path.abspath(os.path.join(folder, os.fsdecode(path))))
    if entry not in _noted:
        _noted.add(entry)
        log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, entry + b"\0")
        os.close(log)


def _note_command(words, folder: str) -> None:
    """Files among the words of a command are taken for read, and what a shell's patterns match."""
    words = [words] if isinstance(words, str | bytes | os.PathLike) else [*words]
    words = [os.fsdecode(word) for word in words]
    shell = len(words) == 1 or words[0].endswith("sh")
    for word in {*words, *" ".join(words).split()}:
        path = os.path.join(folder, word)
        for found in [path] if os.path.isfile(path) or not shell else glob(path):
            if os.path.isfile(found):
                _note(b"r", found)


def _database(name):
    """Path of a database that SQLite knows by a name or a URI."""
    return unquote(urlsplit(name).path) if str(name).startswith("file:") else name


def watch(event: str, given: tuple) -> None:
    """An audit hook; https://docs.python.org/3/library/audit_events.html lists the events."""
    if event == "open":
        path, _, flags = given
        if path == LOG:
            return
        if flags & (os.O_WRONLY | os.O_RDWR):
            _note(b"w", path)
        if not flags & os.O_WRONLY:
            imported = sys._getframe(1).f_code.co_filename == IMPORTER
            _note(b"i" if imported else b"r", path)
    elif event in FOLDERS:
        if sys._getframe(1).f_code.co_filename != IMPORTER:  # which lists the folders of its path
            _note(b"r", "." if given[0] is None else given[0])
    elif event in BY_COMPILED_CODE:
        _note(b"r", _database(given[0]))
    elif event in COMMANDS:
        _note_command(given[COMMANDS[event]], (event == "subprocess.Popen" and given[2]) or "")


_note(b"i", __file__)
sys.addaudithook(watch)

# The module of this name that would have been imported otherwise.
sys.path.remove(os.path.dirname(__file__))
this = sys.modules.pop(__name__)
try:
    import sitecustomize  # noqa: F401
except ImportError:
    sys.modules[__name__] = this
