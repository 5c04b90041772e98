"""The engine's bits under other instruction sets: real processes of Numba."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

SCRIPT = Path(__file__).parent / "arm" / "bits.py"
AVX2 = "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt"
PROCESSORS = {
    "generic": ("generic", ""),
    "haswell": ("haswell", AVX2),
    "znver3": ("znver3", AVX2),
    "half a vector": ("sandybridge", "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx"),
}


def printed(*arguments, **changes):
    """What the script prints; all processes share a cache, which Numba keys by processor."""
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    cache = str(Path(arguments[-1]).parent / "cache")
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2]), "NUMBA_CACHE_DIR": cache}
    environment |= changes
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    path = tmp_path_factory.mktemp("bits") / "cases.npz"
    printed("prepare", path)
    return path


@pytest.fixture(scope="module")
def here(prepared):
    return printed(prepared)


def test_a_second_process_has_the_same_bits(prepared, here):
    assert printed(prepared, PYTHONHASHSEED="7", OMP_NUM_THREADS="2", LC_ALL="C") == here
    assert len(set(here.splitlines())) == len(here.splitlines()) > 5


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
def test_another_instruction_set_has_the_same_bits(prepared, here, processor):
    name, features = PROCESSORS[processor]
    has = binding.get_host_cpu_features()
    if not all(has.get(feature.lstrip("+")) for feature in features.split(",") if feature):
        pytest.skip(f"this processor lacks one of {features}")
    assert printed(prepared, NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features) == here
