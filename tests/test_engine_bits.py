"""The engine's bits under other instruction sets: real processes of Numba."""

import pytest
from arm.record import PROCESSORS, environment, printed


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("bits")


@pytest.fixture(scope="module")
def prepared(cache):
    path = cache / "cases.npz"
    printed("prepare", path, cache=str(cache))
    return path


@pytest.fixture(scope="module")
def here(prepared, cache):
    return printed(prepared, cache=str(cache))


@pytest.mark.slow
def test_a_second_process_has_the_same_bits(prepared, here, cache):
    changes = {"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2", "LC_ALL": "C"}
    assert printed(prepared, cache=str(cache), **changes) == here
    assert len(set(here.splitlines())) == len(here.splitlines()) > 5


@pytest.mark.slow
@pytest.mark.parametrize("processor", [name for name, told in PROCESSORS.items() if told])
def test_another_instruction_set_has_the_same_bits(prepared, here, cache, processor):
    variables = environment(processor)
    if variables is None:
        pytest.skip(f"this processor can't run {processor}")
    assert printed(prepared, cache=str(cache), **variables) == here
