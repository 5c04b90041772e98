"""Settings of the user that must not reach a result: kind 17 of `tests/README.md`."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT, write_pair

SETTINGS = """
axes.grid: True
lines.linewidth: 9
lines.markersize: 20
font.size: 30
axes.prop_cycle: cycler(color=["red"])
figure.dpi: 50
savefig.dpi: 30
savefig.bbox: tight
savefig.transparent: True
svg.fonttype: none
pdf.compression: 0
pdf.fonttype: 42
path.simplify: False
axes.formatter.use_locale: True
axes.unicode_minus: False
legend.frameon: False
xtick.direction: in
text.usetex: False
hist.bins: 50
"""
DRAW = """
import hashlib, os, pathlib
import pandas as pd
from companion.page import figures
rows = [{"dataset": d, "method": m, "metric": "QWK", "mean": 0.6 + i / 9, "std": 0.1, "count": 5,
         "paper_mean": 0.65, "paper_std": 0.1}
        for d in ("A", "B") for i, m in enumerate(("CE", "OLL", "AMOL"))]
frame = pd.DataFrame(rows)
figures.save("fig-a", figures.dots(frame, "metric"), frame)
for path in sorted(pathlib.Path(os.environ["AMOL_RESULTS"]).rglob("*.*")):
    print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
"""
# How a matplotlibrc is found: by a variable that names it, by one that names its folder, by place.
WAYS = {
    "MATPLOTLIBRC": "matplotlibrc",
    "MPLCONFIGDIR": "",
    "XDG_CONFIG_HOME": "..",
    "working directory": "",
}


def drawn(folder, **environment) -> str:
    variables = os.environ | {"PYTHONPATH": str(ROOT), "AMOL_RESULTS": str(folder / "results")}
    how = {"capture_output": True, "text": True, "cwd": folder}
    command = [sys.executable, "-c", DRAW]
    done = subprocess.run(command, env=variables | environment, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_matplotlibrc_changes_a_figure(tmp_path):
    for name in ("plain", "matplotlib"):
        (tmp_path / name).mkdir()
    first = drawn(tmp_path / "plain")
    assert first.count("\n") >= 5
    folder = tmp_path / "matplotlib"
    (folder / "matplotlibrc").write_text(SETTINGS)
    for way, place in WAYS.items():
        inside = folder if way == "working directory" else tmp_path / "plain"
        given = {} if way == "working directory" else {way: str(folder / place)}
        assert drawn(inside, **given) == first, way


STARTED = """# %%
import sys
print(hasattr(sys, "mine"), __debug__, sys.flags.optimize)
"""


@pytest.mark.slow
def test_no_start_up_file_and_no_optimization_reaches_a_page(tmp_path, monkeypatch):
    from companion.book.notebooks import run_notebook

    startup = tmp_path / "home" / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    for path in (tmp_path / "startup.py", startup / "00.py"):
        path.write_text("import sys; sys.mine = 1\n")
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "startup.py"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "home" / ".ipython"))
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    run_notebook(write_pair(tmp_path, "page", STARTED), tmp_path / "done.ipynb")
    assert "False True 0" in (tmp_path / "done.ipynb").read_text()
