"""The registry of studies, and that a study which is over stays what it was.

In a process of its own a data set, a loss and a metric join their registries before any module of
the studies is loaded. Then each recording is loaded, made again and shown by the pages that rest on
it.
"""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

from companion.studies.recordings import load, made, note
from companion.studies.registry import STUDIES, study_of

JOINED = """
import companion.data.datasets as data
data.MORE_DATASETS += ("Toy",)
data._FILES["Toy"] = data._FILES["ESL"]

import amol.losses
def toy_loss(logits, target, num_classes):
    return -logits.log_softmax(-1).gather(1, target[:, None])[:, 0]
amol.losses.register_loss("toy")(toy_loss)

from amol import metrics
far = lambda y_true, y_pred, num_classes, sample_weight=None: 0.25
metrics.METRICS["far"], metrics.MORE_METRICS["far also"] = far, far
metrics.HIGHER_IS_BETTER |= {"far": False, "far also": True}

import json, os, runpy, sys
"""
IN_DEFAULTS = """
data.DATASETS += ("Toy",)
amol.losses.PAPER_METHODS += ("toy",)
"""


PAGES = [
    file.stem
    for file in sorted((ROOT / "notebooks").glob("*.py"))
    if "from companion.studies" in file.read_text(encoding="utf-8")
]


def joined(code: str) -> list:
    """What the code prints last, as JSON, after a data set, a loss and a metric have joined."""
    command = [sys.executable, "-W", "ignore", "-c", JOINED + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_study_is_recorded():
    for name in STUDIES:
        assert made(name) and {"processor", "torch", "recorded"} <= set(note(name))


def test_an_unknown_study_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=f"'spilts'; allowed: {', '.join(STUDIES)}"):
        study_of("spilts")


PLANNED = """
from companion.studies import fair_fight, grids, grouped_splits
found = {name: repr(make()) for name, make in grids.GRIDS.items()}
found |= {study.name: study.tasks for study in (fair_fight.STUDY, grouped_splits.STUDY)}
print(json.dumps(found))
"""


@pytest.mark.slow
def test_no_study_that_is_over_plans_anything_else(capsys):
    """Not even if the defaults of a study grow."""
    exec("import json\n" + PLANNED, {})
    assert joined(IN_DEFAULTS + PLANNED) == json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_every_recording_is_read_and_made_again_as_it_was():
    found = joined(f"""{IN_DEFAULTS}
from companion.studies import recordings
from companion.studies.registry import STUDIES
from companion.train.settings import StudySettings
from companion.train.study import run_study
assert StudySettings().datasets[-1] == "Toy" and StudySettings().methods[-1] == "toy"
assert run_study(StudySettings("Toy", "toy", seeds=1, epochs=1))["far"].tolist() == [0.25]
found = {{}}
for name, study in STUDIES.items():
    compared = study.check()
    found[name] = [list(recordings.load(name)), compared.compared, compared.first]
print(json.dumps(found))
""")
    assert list(found) == list(STUDIES)
    for name, (columns, compared, first) in found.items():
        assert columns == list(load(name)) and compared and not first, (name, first)


@pytest.mark.slow
def test_pages_show_the_recordings_as_before(tmp_path):
    said = joined(f"""
os.environ["AMOL_RESULTS"] = {str(tmp_path)!r}
import companion.page
from companion.page.sentences import chosen
said = {{}}
for page in {PAGES}:
    said[page] = []
    companion.page.say = lambda *sentences, **how: said[page].extend(
        (record["sentence"], record["holds"]) for record in chosen(sentences)[1]
    )
    runpy.run_path(f"notebooks/{{page}}.py")
print()
print(json.dumps(said))
""")
    false = [(page, name) for page in said for name, holds in said[page] if not holds]
    assert not false and list(said) == PAGES
