"""The process that runs a notebook: what it starts with, and where its own messages go."""

import json

import pytest
from conftest import write_pair

from companion.book.notebooks import run_notebook
from companion.errors import NotebookError
from companion.paths import build_dir

pytestmark = pytest.mark.slow
SETTING = """# %%
import os
import matplotlib.pyplot as plt
import torch
folders = os.getcwd(), os.environ["AMOL_RESULTS"], os.environ["IPYTHONDIR"]
print(*folders, plt.get_backend(), torch.get_num_threads(), sep="\\n")
"""


def test_a_notebook_starts_in_a_setting_of_the_books(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    page, output = write_pair(tmp_path, "page", SETTING), tmp_path / "done.ipynb"
    run_notebook(page, output, results=tmp_path / "results", cwd=tmp_path)
    (printed,) = json.loads(output.read_text())["cells"][0]["outputs"]
    folder, results, profile, backend, threads = "".join(printed["text"]).split()
    assert (folder, results) == (str(tmp_path), str(tmp_path / "results"))
    assert profile == str(build_dir() / "ipython") and threads == "1"
    assert backend.endswith("inline")


def test_a_kernel_that_dies_is_reported_with_its_last_words(tmp_path):
    code = "# %%\nimport os\nos.write(2, b'out of luck\\n')\nos._exit(3)\n"
    with pytest.raises(NotebookError, match=r"^dies: [^\n]*\n  out of luck\n  partial run: "):
        run_notebook(write_pair(tmp_path, "dies", code), tmp_path / "done.ipynb")


def test_no_file_of_the_user_is_touched(tmp_path):
    page = write_pair(tmp_path, "page", "# %%\nprint(1)\n")
    logs = set(build_dir().glob("*.log"))
    (tmp_path / "mine.log").write_text("mine")
    for output in ("mine.ipynb", "mine.log.ipynb"):
        run_notebook(page, tmp_path / output)
    assert (tmp_path / "mine.log").read_text() == "mine"
    expected = {"page.ipynb", "page.py", "mine.log", "mine.ipynb", "mine.log.ipynb"}
    assert {file.name for file in tmp_path.iterdir()} == expected
    assert set(build_dir().glob("*.log")) == logs
