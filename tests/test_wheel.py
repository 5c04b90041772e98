"""The library alone: its wheel where nothing of the companion is, and `pip install` by git."""

import re
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from conftest import ROOT, tracked
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

TRIAL = """
import importlib.util
import sys
from importlib.metadata import distribution

import numpy as np
import torch

import amol
from amol import metrics
from amol.losses import LOSSES

absent = ["companion", "click", "pandas", "sklearn", "numba", "pytest"]
assert not any(map(importlib.util.find_spec, absent))
assert amol.__file__.startswith(sys.prefix), amol.__file__
assert not distribution("amol").entry_points
try:
    amol.OrdinalClassifier
except ModuleNotFoundError as error:
    assert "install amol with its extra classifier" in str(error)
else:
    raise AssertionError("the classifier works without its extra")

X, y = torch.eye(5).repeat(6, 1), torch.arange(5).repeat(6)
for name, made in LOSSES.items():
    torch.manual_seed(0)
    loss = made(num_classes=5)
    model = torch.nn.Linear(5, loss.num_logits)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    before = loss(model(X), y).item()
    for _ in range(30):
        optimizer.zero_grad()
        loss(model(X), y).backward()
        optimizer.step()
    assert loss(model(X), y).item() < before, name
    labels, probabilities = loss.predict(model(X)), loss.probabilities(model(X)).detach()
    for metric in (metrics.METRICS | metrics.MORE_METRICS).values():
        assert isinstance(metric(y, labels, 5), float), (name, metric)
    for metric in (metrics.PROBABILITY_METRICS | metrics.MORE_PROBABILITY_METRICS).values():
        assert np.isfinite(metric(y, probabilities)), (name, metric)
print(len(LOSSES))
"""


def told(*command, **how) -> str:
    done = subprocess.run(map(str, command), capture_output=True, text=True, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed(*names: str) -> set[str]:
    """Distributions, and all that they require here."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            requirements = map(Requirement, distribution(name).requires or ())
            waiting += [
                need.name
                for need in requirements
                if need.marker is None or need.marker.evaluate({"extra": ""})
            ]
    return found


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    """The project's files in a repository of its own."""
    root = tmp_path_factory.mktemp("wheel") / "amol"
    for path in tracked():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((ROOT / path).read_bytes())
    git = ["git", "-C", root, "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        told(*git, *command)
    return root


@pytest.fixture(scope="module")
def wheel(scratch) -> Path:
    """What `make wheel` makes, beside what earlier builds left."""
    for left in (".venv/installed", "amol/build/lib/amol/gone.py", "build/wheel/old.whl"):
        (scratch / left).parent.mkdir(parents=True)
        (scratch / left).touch()
    told("make", "wheel", f"BIN={sys.executable}", cwd=scratch)
    (made,) = (scratch / "build" / "wheel").iterdir()
    return made


def library() -> set[str]:
    return {str(path) for path in tracked() if path.parts[0] == "amol" and path.suffix == ".py"}


def test_the_wheel_holds_the_library_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == library()


def installed_alone(wheel: Path, root: Path, *needs: str) -> Path:
    """The interpreter of a new environment with the wheel and what these distributions need."""
    alone = root / "alone"
    venv.create(alone, with_pip=False)
    folder = "Scripts" if sys.platform == "win32" else "bin"
    python = alone / folder / Path(sys.executable).name
    told(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel)
    (site,) = alone.rglob("site-packages")
    linked = root / "linked"  # PyTorch has hundreds of megabytes
    linked.mkdir()
    for name in needed(*needs):
        files = distribution(name).files
        for part in {path.parts[0] for path in files} - {"..", "__pycache__"}:
            (linked / part).symlink_to(distribution(name).locate_file(part))
    (site / "linked.pth").write_text(f"{linked}\n")
    assert not list((alone / folder).glob("amol*"))
    return python


def test_the_wheel_works_where_nothing_of_the_companion_is(wheel, tmp_path):
    python = installed_alone(wheel, tmp_path, "torch", "numpy")
    assert int(told(python, "-I", "-c", TRIAL)) >= 27


def test_the_ten_lines_run_beside_the_wheel_and_its_extra(wheel, tmp_path):
    lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    assert len(list(filter(None, lines.splitlines()))) == 10
    page = (ROOT / "notebooks" / "use_it.py").read_text()
    assert lines in page, "README and page show the same lines"
    extra = [need for need in map(Requirement, distribution("amol").requires) if need.marker]
    python = installed_alone(wheel, tmp_path, "torch", *(need.name for need in extra))
    absent = "import importlib.util as u; assert not u.find_spec('companion')\n"
    said = told(python, "-I", "-c", absent + lines)
    found = dict(re.findall(r"cross-validated (\w+): ([\d.]+)", said))
    assert list(found) == ["QWK", "MAE", "CHR", "center_rate"] and float(found["QWK"]) > 0.4


def test_pip_installs_the_library_from_the_repository(scratch, tmp_path):
    address = f"git+{scratch.as_uri()}#subdirectory=amol"
    options = ["-q", "--no-deps", "--no-build-isolation", "--target", tmp_path / "there"]
    told(sys.executable, "-m", "pip", "install", *options, address)
    found = {p.relative_to(tmp_path / "there").as_posix() for p in tmp_path.rglob("*.py")}
    assert found == library()
    tops = {path.name for path in (tmp_path / "there").iterdir()}
    assert {name.partition("-")[0] for name in tops} == {"amol"}
