"""Machine code that is kept: damaged, unwritable or not wanted; kind 13 of `tests/README.md`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

# Compiled as the engine's functions are, in a second instead of a minute.
PROGRAM = """
from numba import cfunc, njit
from amol.engine.cache import kept_machine_code

with kept_machine_code() as kept:

    @njit(cache=kept)
    def one(x):
        return 2 * x + 1

    @njit(cache=kept)
    def two(x):
        return one(x) * one(x)

    @cfunc("float64(float64)", cache=kept)
    def three(x):
        return x / 3

print(one(1), one(2.5), two(3), two(0.5), three.ctypes(4.0), hasattr(one, "py_func"))
"""
ENGINE = """
import numpy as np
from amol.engine import Arrays, Protocol, train
from amol.losses import LOSSES
X, y = np.ones((9, 2), np.float32), np.arange(9) % 3
print(train(LOSSES["AMOL"](3), 0, Arrays(X, y, X, y, X, 3), Protocol(hidden=4, epochs=2)).epochs)
"""


def printed(cache, program=PROGRAM, **environment) -> str:
    """What the program prints, which must be a file to be kept."""
    path = Path(cache).parent / "program.py"
    path.write_text(program)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "AMOL_CACHE": str(cache)}
    for name, value in environment.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env=variables, cwd="/"
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with all machine code, and the what the program prints."""
    cache = tmp_path_factory.mktemp("whole") / "cache"
    return cache, printed(cache)


def files(cache, ending: str):
    found = sorted(cache.rglob(f"*.{ending}"))
    assert found
    return found


def rewrite(ending: str, change):
    def damage(cache):
        for path in files(cache, ending):
            path.write_bytes(change(path.read_bytes()))

    return damage


def flip(content: bytes) -> bytes:
    """A bit changed in the machine code, at the middle and near the end."""
    changed = bytearray(content)
    for at in (len(changed) // 2, len(changed) - 60):
        changed[at] ^= 4
    return bytes(changed)


def exchange(cache):
    """Each file of machine code takes the place of the next."""
    found = files(cache, "nbc")
    contents = [path.read_bytes() for path in found]
    for path, content in zip(found, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)


def blocked(cache):
    """A file where a folder should be."""
    shutil.rmtree(cache)
    cache.write_text("mine")


def folders(cache):
    for path in [*files(cache, "nbi"), *files(cache, "nbc")]:
        path.unlink()
        path.mkdir()


def sums(text: str, damage=lambda cache: None):
    """Other sums than those that were noted, and what is damaged beside."""

    def change(cache):
        (found,) = cache.rglob("sums.json")
        found.write_text(text)
        damage(cache)

    return change


DAMAGED = {
    "empty index": rewrite("nbi", lambda content: b""),
    "index cut off": rewrite("nbi", lambda content: content[: len(content) // 2]),
    "index of nonsense": rewrite("nbi", lambda content: b"nonsense"),
    "changed index": rewrite("nbi", flip),
    "empty code": rewrite("nbc", lambda content: b""),
    "code cut off": rewrite("nbc", lambda content: content[:-9]),
    "changed code": rewrite("nbc", flip),
    "code of another function": exchange,
    "no code": lambda cache: [path.unlink() for path in files(cache, "nbc")],
    "a file in the folder's place": blocked,
    "folders in the files' place": folders,
    "empty index of a killed process": sums("{}", rewrite("nbi", lambda content: b"")),
    "code cut off of a killed process": sums("{}", rewrite("nbc", lambda content: content[:-9])),
    "sums cut off": sums('{"a'),
    "sums of another kind": sums("[1, 2]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_machine_code_is_compiled_anew(whole, tmp_path, kind):
    cache = shutil.copytree(whole[0], tmp_path / "cache")
    DAMAGED[kind](cache)
    assert printed(cache) == whole[1]
    if kind not in ("a file in the folder's place", "folders in the files' place"):
        before = {path: path.stat().st_mtime_ns for path in files(cache, "nbc")}
        assert printed(cache) == whole[1]
        assert before == {path: path.stat().st_mtime_ns for path in files(cache, "nbc")}


SURROUNDINGS = {
    "no compiler wanted": {"NUMBA_DISABLE_JIT": "1"},
    "no home": {"HOME": None, "AMOL_CACHE": None},
    "a home that isn't there": {"HOME": "/nowhere/at/all", "AMOL_CACHE": None},
    "no folder for files": {"AMOL_CACHE": "/proc/nowhere"},
    "an empty name": {"AMOL_CACHE": ""},
    "the name of a file": {"AMOL_CACHE": __file__},
    "a name from the working folder": {"AMOL_CACHE": "proc/nowhere"},
    "another folder of Numba's": {"NUMBA_CACHE_DIR": "/proc/nowhere"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_the_engine_runs_in_any_surroundings(whole, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere" if kind != "no home" else str(tmp_path))
    assert printed(whole[0], **SURROUNDINGS[kind]) == whole[1]


@pytest.mark.slow
def test_the_engine_is_compiled_whatever_is_wanted_of_other_functions(tmp_path):
    assert printed(tmp_path / "cache", ENGINE, AMOL_CACHE=str(ROOT / "build"),
                   NUMBA_DISABLE_JIT="1") == "2\n"  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("options", ["ro", "size=40k"])
def test_a_disk_that_is_full_or_read_only_costs_compiling(whole, tmp_path, options):
    cache = tmp_path / "cache"
    cache.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", cache]).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        assert printed(cache) == whole[1]
    finally:
        subprocess.run(["umount", cache], check=True)
