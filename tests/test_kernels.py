"""A forked kernel is like any other: same outputs, and gone when its work or its caller is."""

import json
import os
import subprocess
import sys
import time

import psutil
import pytest
from conftest import write_pair

from amol.publishing.kernels import ENVIRONMENT
from amol.publishing.notebooks import run_notebook

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone"),
]
PAGE = """# %%
import os
import sys

import matplotlib.pyplot as plt
import torch

figure = plt.figure(figsize=(1, 1))
lines = figure.add_subplot().plot([1, 2])

# %%
print(os.getcwd(), os.environ["AMOL_RESULTS"], plt.get_backend(), torch.get_num_threads())
print(sys.path, __name__, os.getpid() == os.getpgid(0))
"""


def outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [output for cell in cells for output in cell["outputs"]]


def start(code: str, **options) -> subprocess.Popen:
    """A process in which everything is loaded when the kernel is forked, as in a build."""
    program = "import amol.publishing.preloaded\nfrom pathlib import Path\n"
    program += "from amol.errors import NotebookError\n"
    program += "from amol.publishing.notebooks import run_notebook\n"
    program += f"from amol.publishing.kernels import ForkedKernel\n{code}"
    environment = os.environ | ENVIRONMENT
    return subprocess.Popen([sys.executable, "-c", program], text=True, env=environment, **options)


def test_a_forked_kernel_gives_what_an_ordinary_one_gives(tmp_path):
    page = write_pair(tmp_path, "page", PAGE)
    ordinary, forked = tmp_path / "ordinary.ipynb", tmp_path / "forked.ipynb"
    run_notebook(page, ordinary, results=tmp_path, cwd=tmp_path)
    there = f"results=Path({str(tmp_path)!r}), cwd=Path({str(tmp_path)!r})"
    paths = f"Path({str(page)!r}), Path({str(forked)!r})"
    assert start(f"run_notebook({paths}, {there}, kernel=ForkedKernel())").wait() == 0
    assert outputs(forked) == outputs(ordinary)
    assert [output["output_type"] for output in outputs(forked)].count("display_data") == 1


def test_a_forked_kernel_that_dies_is_told_of(tmp_path):
    code = "# %%\nimport os\nos.write(2, b'out of luck\\n')\nos._exit(3)\n"
    page = write_pair(tmp_path, "dies", code)
    paths = f"Path({str(page)!r}), Path({str(tmp_path / 'done.ipynb')!r})"
    told = start(
        f"try: run_notebook({paths}, kernel=ForkedKernel())\n"
        "except NotebookError as error: print(error)",
        stdout=subprocess.PIPE,
    ).communicate()[0]
    assert told.startswith("dies: ") and "out of luck" in told


@pytest.mark.parametrize("begun", [True, False])
def test_a_forked_kernel_ends_with_its_caller(tmp_path, begun):
    mark = tmp_path / "pid"
    code = f"import os, pathlib, time\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))"
    page = write_pair(tmp_path, "waits", f"# %%\n{code}\ntime.sleep(600)\n")
    paths = f"Path({str(page)!r}), Path({str(tmp_path / 'done.ipynb')!r})"
    caller = start(
        f"run_notebook({paths}, kernel=ForkedKernel())"
        if begun
        else f"kernel = ForkedKernel()\nPath({str(mark)!r}).write_text(str(kernel.pid))\ninput()",
        stdin=subprocess.PIPE,
    )
    while not (mark.exists() and mark.read_text()):
        assert caller.poll() is None, "the caller ended before the kernel began"
        time.sleep(0.1)
    kernel = psutil.Process(int(mark.read_text()))
    caller.kill()
    _, left = psutil.wait_procs([kernel], timeout=20)
    assert not left, f"still there: {left}"


def test_what_is_preloaded_registers_nothing():
    program = (
        "from amol.losses import LOSSES\nbefore = list(LOSSES)\nimport amol.publishing.preloaded\n"
    )
    program += "assert list(LOSSES) == before, set(LOSSES) - set(before)"
    subprocess.run([sys.executable, "-c", program], check=True)
