"""The process that runs a notebook: what it starts with, and where its own messages go."""

import json
import sys

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


ELSEWHERE = {"JUPYTER_PATH": "", "JUPYTER_DATA_DIR": "", "HOME": ".local/share/jupyter"}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_the_python_of_this_process_runs_whatever_kernel_has_the_name(tmp_path, monkeypatch, where):
    """Kind 4: another Python's kernel under the same name, in each place that Jupyter looks at."""
    kernel = tmp_path / "home" / ELSEWHERE[where] / "kernels" / "python3"
    kernel.mkdir(parents=True)
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "x", "language": "python",
            "env": {"PYTHONPATH": "/nowhere"}}  # fmt: skip
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv(where, str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    page = write_pair(tmp_path, "page", "# %%\nimport sys\nprint(sys.executable)\n")
    run_notebook(page, tmp_path / "done.ipynb")
    (printed,) = json.loads((tmp_path / "done.ipynb").read_text())["cells"][0]["outputs"]
    assert "".join(printed["text"]).strip() == sys.executable


ENDS = {
    "sys.exit()": "import sys\n\n# %%\n\n# why\nsys.exit()\n\n# %%\nprint('never')",
    "raise SystemExit": "print('some')\nraise SystemExit",
    "os._exit": "import os; os._exit(0)\n\n# %%\nprint('never')",
    "exit": "exit()\n\n# %%\nimport time; time.sleep(2)\n\n# %%\nprint('never')",
    "the kernel's own end": (
        "get_ipython().kernel.do_shutdown(False)\n\n# %%\nimport time; time.sleep(2)\n\n# %%\n1"
    ),
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n\n# %%\n1",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_run_is_complete_only_if_its_last_cell_ran(tmp_path, end):
    """Kind 5: every way in which a notebook can end before its end."""
    page = write_pair(tmp_path, "page", f"# %%\n{ENDS[end]}\n")
    with pytest.raises(NotebookError, match=r"(?s)^page(, cell \[\d\] `|: ).*\n  partial run: "):
        run_notebook(page, tmp_path / "done.ipynb")


def test_cells_without_code_need_not_run(tmp_path):
    page = write_pair(tmp_path, "page", "# %%\n1\n\n# %%\n# a comment\n\n# %%\n\n# %%\n2\n")
    run_notebook(page, tmp_path / "done.ipynb")
