"""Faults provoked for real: nothing is lost, and one clear line says what happened."""

import re

import pytest
import yaml
from conftest import ROOT
from faults.trials import FAULTS, Untried, try_fault

UNPICKLING = (
    "companion/data/collection.py",  # a file with the recorded SHA-256
    "notebooks/use_it.py",  # what it has just written itself
)
PICKLES = r"\bpickle\b\.|joblib\.(load|Memory)|torch\.load|read_pickle\("
# What a job may do beyond reading the repository.
RIGHTS = {"deploy": {"pages": "write", "id-token": "write"}, "colab": {"contents": "write"}}
TRIALS = 3  # of each fault at most; the recorded trials are more


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_nothing_is_lost_and_one_line_says_what_happened(fault):
    for number in range(min(fault.times, TRIALS)):
        try:
            trial = try_fault(fault, number)
        except Untried as reason:
            pytest.skip(str(reason))
        assert trial["lost"] == 0 and trial["again"] <= fault.costs, trial


def test_no_pickle_is_read_and_yaml_makes_no_objects():
    folders = ("amol", "companion", "book/_ext", "notebooks")
    for path in (path for folder in folders for path in ROOT.glob(f"{folder}/**/*.py")):
        text = path.read_text(encoding="utf-8")
        assert path.relative_to(ROOT).as_posix() in UNPICKLING or not re.search(PICKLES, text), path
        for call in re.findall(r"yaml\.\w*load\w*\([^\n]*", text):
            safe = "from ruamel.yaml import" in text and "unsafe" not in text
            assert safe or "BaseLoader" in call or "safe_load" in call, (path, call)


def test_workflows_have_least_rights_and_pinned_actions():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}, path
        for name, job in workflow["jobs"].items():
            assert job.get("permissions") == RIGHTS.get(name), (path, name)
        for used in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", used), (path, used)
        pushing = "colab" in workflow["jobs"]  # the one job that needs its credentials afterwards
        without = text.count("persist-credentials: false")
        assert text.count("actions/checkout@") == without + pushing, path
