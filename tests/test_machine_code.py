"""Machine code that is kept: damaged, unwritable or not wanted; kind 13 of `tests/README.md`."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAM = """
import numpy as np
from amol.engine import Arrays, Protocol, train
from amol.losses import LOSSES
draw = np.random.RandomState(0)
X, y = draw.randn(60, 3).astype(np.float32), np.arange(60) % 3
for name in ("CE", "AMOL"):
    made = train(LOSSES[name](3), 0, Arrays(X, y, X, y, X, 3), Protocol(hidden=4, epochs=2))
    print(made.weights_digest)
"""


def trained(cache, **environment) -> str:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "AMOL_CACHE": str(cache)}
    for name, value in environment.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=variables, cwd="/"
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with all machine code, and the digests of the weights."""
    cache = tmp_path_factory.mktemp("whole")
    return cache, trained(cache)


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
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_machine_code_is_compiled_anew(whole, tmp_path, kind):
    cache = shutil.copytree(whole[0], tmp_path / "cache")
    DAMAGED[kind](cache)
    assert trained(cache) == whole[1]
    if kind not in ("a file in the folder's place", "folders in the files' place"):
        before = {path: path.stat().st_mtime_ns for path in files(cache, "nbc")}
        assert trained(cache) == whole[1]
        assert before == {path: path.stat().st_mtime_ns for path in files(cache, "nbc")}


SURROUNDINGS = {
    "no compiler wanted": {"NUMBA_DISABLE_JIT": "1"},
    "no home": {"HOME": None, "AMOL_CACHE": None},
    "a home that isn't there": {"HOME": "/nowhere/at/all", "AMOL_CACHE": None},
    "no folder for files": {"AMOL_CACHE": "/proc/nowhere"},
    "an empty name": {"AMOL_CACHE": ""},
    "another folder of Numba's": {"NUMBA_CACHE_DIR": "/proc/nowhere"},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_the_engine_runs_in_any_surroundings(whole, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere" if kind != "no home" else str(tmp_path))
    assert trained(whole[0], **SURROUNDINGS[kind]) == whole[1]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["ro", "size=40k"])
def test_a_disk_that_is_full_or_read_only_costs_compiling(whole, tmp_path, options):
    cache = tmp_path / "cache"
    cache.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", cache]).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        assert trained(cache) == whole[1]
    finally:
        subprocess.run(["umount", cache], check=True)


def test_the_users_own_functions_keep_the_users_settings():
    program = "import numba, amol.engine; f = numba.njit(lambda x: x); print(hasattr(f, 'py_func'))"
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
    how = {"capture_output": True, "text": True, "env": variables, "check": True}
    assert subprocess.run([sys.executable, "-c", program], **how).stdout == "False\n"
