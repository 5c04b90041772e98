"""The five recipes of CONTRIBUTING.md, carried out in a scratch copy of the project.

Each changes the files that it names and no others. Then the tests of what they touched run, and
the whole book is built.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT, tracked

pytestmark = pytest.mark.slow

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (.+)\n\n((?:\d\. .+\n)+)", TEXT, re.MULTILINE))
TRAINED = ["study", "--datasets", "Wine Red", "--methods", "CE", "--seeds", "1"]

LOSSES = '''

@register_loss("Distance")
class DistanceLoss(OrdinalLoss):
    """Σ_k |k − y| p_k: the expected distance from the label (`Distance`).

    >>> DistanceLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.)
    """

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        self.add_table("cost", distances(num_classes))

    def values(self, logits, target):
        cost = F.embedding(target, self.table("cost", logits))
        return (cost * torch.softmax(logits, -1)).sum(-1)


@register_loss("Falling")
class FallingLoss(TableLoss):
    """Cross-entropy to a soft label that falls evenly with the distance (`Falling`).

    >>> FallingLoss(num_classes=3)(torch.zeros(1, 3), torch.tensor([0]))
    tensor(1.0986)
    """

    def __init__(self, num_classes, *, reduction="mean", weight=None, ignore_index=-100):
        super().__init__(num_classes, reduction=reduction, weight=weight, ignore_index=ignore_index)
        near = closeness(num_classes)
        self.add_table("soft_target", near / near.sum(-1, keepdim=True))
'''
METRIC = '''

def far_rate(y_true, y_pred, num_classes, *, sample_weight=None) -> float:
    """Share of samples whose predicted label is three or more classes off.

    >>> far_rate([0, 6, 2], [3, 6, 3], 7)
    0.3333333333333333
    """
    counts = confusion(y_true, y_pred, num_classes, sample_weight)
    return float(np.triu(counts, 3).sum() + np.tril(counts, -3).sum()) / float(counts.sum())
'''
METRIC_TEST = """

def test_far_rate_by_hand():
    assert METRICS["far"]([0, 6, 2, 4], [3, 6, 3, 1], 7) == 2 / 4
"""
ROWS = [(i % 7, i * i % 5, min(i % 7 // 2, 2)) for i in range(70)]
TABLE = "70,2,low,mid,high\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS)
CLAIM = """
[[claim]]
id = "recipe-claim"
where = ["Section 5.1 ¶1.2"]
claim = "OLL has a higher QWK than AMOL-OLL."
datasets = ["Wine Red", "Abalone"]
pairs = [["OLL", "AMOL-OLL"]]
metrics = ["QWK"]
href = "notebooks/05_results.html#tab-qwk"
"""


class Scratch:
    """A copy of the project in a repository of its own, and what a recipe does in it."""

    def __init__(self, root: Path):
        self.root = root
        for path in tracked():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)
        self.git("init", "-q")
        self.commit("all")
        if (ROOT / "build" / "trained").exists():
            shutil.copytree(ROOT / "build" / "trained", root / "build" / "trained")

    def run(self, *command: str) -> str:
        variables = os.environ | {"PYTHONPATH": str(self.root), "AMOL_HOME": str(self.root)}
        done = subprocess.run(command, cwd=self.root, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def git(self, *arguments: str) -> str:
        return self.run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments)

    def commit(self, name: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", name)

    def amol(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "companion", *arguments)

    def tests(self, *names: str) -> str:
        files = [f"tests/{name}.py" for name in names]
        return self.run(sys.executable, "-m", "pytest", "-x", "-rs", "-m", "not slow", *files)

    def changed(self) -> set[str]:
        """Files that the last commit changed, one of a folder that is new."""
        return set(self.git("show", "--name-only", "--format=", "HEAD").split())

    def append(self, path: str, text: str) -> None:
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def insert(self, path: str, after: str, text: str) -> None:
        """Add text behind a text that stands once in a file."""
        old = (self.root / path).read_text(encoding="utf-8")
        assert old.count(after) == 1, f"{path}: {after!r}"
        (self.root / path).write_text(old.replace(after, after + text), encoding="utf-8")


def add_losses(scratch: Scratch) -> None:
    scratch.append("amol/losses/pointwise.py", LOSSES)
    by_hand = '    "Distance": 0.25 + 2 * 0.25,\n    "Falling": (2 * log(2) + log(4)) / 3,\n'
    scratch.insert("tests/test_losses_values.py", "\nBY_HAND = {\n", by_hand)


def add_metric(scratch: Scratch) -> None:
    scratch.append("amol/metrics/labels.py", METRIC)
    init = "amol/metrics/__init__.py"
    scratch.insert(init, "    extreme_recall,\n", "    far_rate,\n")
    scratch.insert(init, "\nMETRICS: dict[str, Callable] = {\n", '    "far": far_rate,\n')
    scratch.insert(init, "\nHIGHER_IS_BETTER = {\n", '    "far": False,\n')
    scratch.append("tests/test_metrics.py", METRIC_TEST)


def add_data_set(scratch: Scratch) -> None:
    folder, module = "companion/data/files", "companion/data/datasets.py"
    (scratch.root / folder / "toy.csv").write_text(TABLE)
    digest = hashlib.sha256(TABLE.encode()).hexdigest()
    scratch.append(f"{folder}/README.md", f"\n`toy.csv` is made up, in the public domain; {digest}")
    scratch.insert(module, "\nMORE_DATASETS = (", '"Toy", ')
    entry = f'    "Toy": ("toy.csv", "{digest}", _headed, "made up"),\n'
    scratch.insert(module, "\n_FILES = {\n", entry)
    repeated = len(ROWS) - len({row[:2] for row in ROWS})
    counts = [sum(y == k for *_, y in ROWS) for k in range(3)]
    fact = f'    "Toy": (70, 2, {counts}, ("low", "high"), {repeated}),\n'
    scratch.insert("tests/test_datasets.py", "\nFACTS = {\n", fact)


def add_claim(scratch: Scratch) -> None:
    scratch.append("companion/paper/files/claims.toml", CLAIM)
    assert "verdicts written" in scratch.amol("check", "--record")


def add_page(scratch: Scratch) -> None:
    (command,) = re.findall(r"`amol (fork .+?)`", RECIPES["A page"])
    scratch.amol(*shlex.split(command))


DONE = {
    "A loss": add_losses,
    "A metric": add_metric,
    "A data set": add_data_set,
    "A claim": add_claim,
    "A page": add_page,
}


@pytest.fixture(scope="module")
def carried_out(tmp_path_factory) -> tuple[Scratch, dict[str, set[str]]]:
    """The project after all five recipes, and the files that each changed."""
    scratch, files = Scratch(tmp_path_factory.mktemp("recipes") / "a book"), {}
    scratch.amol(*TRAINED)
    for name, carry_out in DONE.items():
        carry_out(scratch)
        scratch.commit(name)
        files[name] = scratch.changed()
    return scratch, files


@pytest.fixture(scope="module")
def built(carried_out) -> Scratch:
    scratch, _ = carried_out
    scratch.amol("build")
    return scratch


def test_there_are_five_recipes():
    assert RECIPES.keys() == DONE.keys() and "## Five recipes" in TEXT


@pytest.mark.parametrize("name", DONE)
def test_a_recipe_names_each_file_that_it_takes(name, carried_out):
    _, files = carried_out
    steps = RECIPES[name] + TEXT.partition(RECIPES[name])[2].partition("\n#")[0]
    quoted = re.findall(r"`([^`]+)`", steps)
    for path in files[name]:
        folder, file = os.path.split(path)
        known = path in quoted or file in quoted or f".{file.rpartition('.')[2]}" in quoted
        assert known or f"{folder}/" in quoted, path


def test_the_tests_take_what_joined(carried_out):
    scratch, _ = carried_out
    told = scratch.tests("test_losses_values", "test_losses_api", "test_engine_losses")
    assert "Distance has no definition at 50 digits" in told
    scratch.tests("test_losses_targets", "test_losses_weight", "test_minimizers", "test_classifier")
    scratch.tests("test_metrics", "test_more_metrics", "test_metrics_weights", "test_datasets")
    scratch.tests("test_published", "test_ledger", "test_collection")
    scratch.tests("test_fingerprint", "test_objectives")


def test_what_was_trained_is_not_trained_again(carried_out):
    scratch, _ = carried_out
    assert "0 runs trained, 1 reused" in scratch.amol(*TRAINED)


def test_a_study_takes_the_losses_and_the_data_set_and_has_the_metric(carried_out):
    scratch, _ = carried_out
    methods = ["--methods", "CE,Distance,Falling", "--seeds", "1", "--epochs", "3"]
    told = scratch.amol("study", "--datasets", "Toy,Wine Red", *methods)
    assert re.search(r"Toy +CE\b", told) and "6 runs trained" in told
    code = """
from amol.engine import is_compiled
from amol.losses import DistanceLoss, FallingLoss
from companion import StudySettings, run_study
assert is_compiled(FallingLoss(5)) and not is_compiled(DistanceLoss(5))
print(run_study(StudySettings(["Toy"], ["CE"], 1, epochs=3))["far"].tolist())
"""
    assert scratch.run(sys.executable, "-c", code) == "[0.0]\n"


def test_the_book_shows_what_joined(built):
    tables = built.root / "build" / "results" / "tables"
    exact = pd.read_csv(tables / "tab-conformance.csv").set_index("loss")["exactness"]
    assert (
        exact[["Distance", "Falling"]].isna().all()
        and (exact.drop(["Distance", "Falling"]) < 1e-12).all()
    )
    ledger = pd.read_csv(built.root / "build" / "results" / "ledger.csv").set_index("id")
    assert ledger.loc["recipe-claim", "verdict"] == ledger.loc["recipe-claim", "expected"]
    html = built.root / "_build" / "html"
    assert "far_rate" in (html / "notebooks" / "api.html").read_text(encoding="utf-8")


def test_the_page_stands_where_its_author_wants_it(built):
    first = (built.root / "_build" / "html" / "book" / "index.html").read_text(encoding="utf-8")
    captions = re.split(r'class="caption-text">', first)
    part = next(text for text in captions if text.startswith("Beyond the paper"))
    last = re.findall(r">\s*([^<>]+?)\s*</a>", part.partition("</ul>")[0])[-1]
    assert re.fullmatch(r"\d+\. My page", last)
