"""Every command in odd surroundings: it works or says why in a line, and never shows a traceback.

Kinds 10, 12, 14 and 16 of `tests/README.md`.
"""

import contextlib
import os
import stat
import subprocess
import sys

import pytest
from conftest import ROOT, Book

from companion.console import _plainer, print_anywhere

pytestmark = pytest.mark.slow
PREDICTIONS = "true,predicted\n1,1\n1,3\n2,3\n3,3\n4,4\n5,3\n5,4\n5,5\n"
SHORT = ("study", "--datasets", "Wine Red", "--methods", "CE", "--seeds", "1", "--epochs", "1")
COMMANDS = {  # and the exit code where nothing hinders them
    ("--help",): 0,
    ("study", "--help"): 0,
    ("run", "01_first", "--help-notebook"): 0,
    ("audit", "größe.csv"): 0,
    ("audit", "größe.csv", "--json"): 0,
    ("audit", "gröβe − 2.csv"): 1,
    SHORT: 0,
    ("study", "--alpha", "−1"): 1,
    ("run", "01_first", "-p", "title", "größe − ☃"): 0,
    ("run", "01_first", "-o", "größe.ipynb"): 0,
    ("run", "01_first", "-p", "count", "0"): 1,
    ("run", "01_first", "-p", "title", "gr\udcf6"): 1,  # a byte that isn't UTF-8
    ("run", "01_first", "-y", r'{title: "\ud800"}'): 1,
    ("fork", "01_first", "mine"): 0,
    ("pdf",): 1,
}
SURROUNDINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "cp437, strict": {"PYTHONIOENCODING": "cp437:strict"},
    "optimized": {"PYTHONOPTIMIZE": "2"},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a home that can't be written": {"HOME": "/proc/1/x", "XDG_CACHE_HOME": "/proc/1/x"},
}


@pytest.fixture
def home(tmp_path):
    """A book with a file to audit."""
    book = Book.create(tmp_path / "a book")
    furnish(book)
    return book


def furnish(book: Book) -> None:
    (book.root / "größe.csv").write_text(PREDICTIONS)
    (book.root / "build").mkdir()
    (book.root / "build" / "numba").symlink_to(ROOT / "build" / "numba")


def given(book: Book, command: tuple[str, ...], **how) -> tuple[int, str]:
    """Exit code and output of a command, which must show no traceback."""
    environment = how.pop("environment", {})
    variables = os.environ | {"AMOL_HOME": str(book.root), "PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(
        [sys.executable, "-m", "companion", *command],
        cwd=book.root, env=variables, capture_output=True, **how,
    )  # fmt: skip
    shown = (done.stdout + done.stderr).decode(errors="replace")
    assert "Traceback" not in shown, shown
    return done.returncode, shown


@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_each_command_works_in_any_surroundings(home, kind):
    for command, code in COMMANDS.items():
        found = given(home, command, environment=SURROUNDINGS[kind])
        assert found[0] == code, (command, found)
        assert code == 0 or "amol: " in found[1]


def test_a_bench_whose_rival_reads_docstrings_says_so(home):
    code, shown = given(home, ("bench",), environment=SURROUNDINGS["optimized"])
    assert code == 1 and "amol: skorch" in shown


@contextlib.contextmanager
def disk(folder, options: str):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


HINDERED = [*COMMANDS, ("build",), ("run", "01_first", "-o", "b.ipynb")]


@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_each_command_says_in_a_line_that_the_disk_is_full_or_read_only(tmp_path, kind):
    folder = tmp_path / "disk"
    folder.mkdir()
    with disk(folder, "size=2m"):
        book = Book.create(folder / "book")
        furnish(book)
        if kind == "full":
            with contextlib.suppress(OSError), open(folder / "filler", "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        else:
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        before = {path: path.read_bytes() for path in book.root.rglob("*.*") if path.is_file()}
        for command in HINDERED:
            code, shown = given(book, command)
            if "--help" in command or "--help-notebook" in command or "größe.csv" in command:
                assert code == 0
            elif code:
                said = [line for line in shown.splitlines() if line.startswith("amol: ")]
                assert len(said) == 1, (command, shown)
        for path, content in before.items():
            assert path.read_bytes() == content


@pytest.mark.parametrize(("umask", "mode"), [(0o002, 0o664), (0o077, 0o600), (0o027, 0o640)])
def test_files_have_the_rights_that_the_umask_leaves(home, umask, mode):
    for command in (SHORT, ("run", "01_first", "-o", "out.ipynb"), ("fork", "01_first", "mine")):
        code, shown = given(home, command, preexec_fn=lambda: os.umask(umask))
        assert code == 0, shown
    made = [*(home.root / "build" / "trained").iterdir(), home.root / "out.ipynb",
            home.root / "out_files" / "tables" / "tab-first.csv", home.root / "_toc.yml",
            *(home.root / "notebooks").glob("mine.*")]  # fmt: skip
    assert len(made) == 6
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == mode, path
    folders = [home.root / "out_files", home.root / "out_files" / "tables"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o777 & ~umask}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("−0.5 – 1…", "-0.5 - 1..."),
        ("größe", "gro\\xdfe"),
        ("é", "e"),
        ("2³²", "2\\xb3\\xb2"),
        ("☃ 低", "\\u2603 \\u4f4e"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_an_encoding_lacks_is_shown_plainer(text, shown):
    print_anywhere()  # which makes the handler known
    assert text.encode("ascii", "plainer").decode() == shown
    with pytest.raises(UnicodeDecodeError):
        _plainer(UnicodeDecodeError("ascii", b"\xff", 0, 1, "no"))
