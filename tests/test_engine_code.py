"""Digests of the engine's code: what a run rests on counts, what it doesn't use doesn't."""

import shutil

import pytest

from amol.engine import code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for path in code.FOLDER.glob("*.py"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(code, "FOLDER", tmp_path)
    return tmp_path


def digests():
    """Of the engine, of cross-entropy's function, and of CORN's."""
    code.engine_digest.cache_clear()
    code.digest_of.cache_clear()
    of = code.digest_of
    return code.engine_digest(), of("weighted_log"), of("binary_tasks", "conditional_labels")


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("kinds.py", "# Each kind", "# Every kind", []),
        ("kinds.py", '"""p = e/Σe', '"""q = e/Σe', []),
        ("kinds.py", "@compiled\ndef focal", "def more():\n    pass\n\n\n@compiled\ndef focal", []),
        ("kinds.py", "value -= r[k] * log_p[i, k]", "value -= log_p[i, k] * r[k]", [1]),
        ("kinds.py", "total += p[i, k]", "total += f4(1) * p[i, k]", [1]),  # in _softmax
        ("meanings.py", "passed > f4(0.5)", "passed >= f4(0.5)", [2]),
        ("training.py", "epoch - best_epoch >=", "epoch - best_epoch >", [0]),
        ("arithmetic.py", "TINY = f4(1e-30)", "TINY = f4(1e-29)", [0]),
    ],
)  # fmt: skip
def test_a_digest_changes_with_what_it_stands_for(folder, file, old, new, changed):
    before, text = digests(), (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    after = digests()
    assert [i for i in range(3) if before[i] != after[i]] == changed


def test_a_digest_is_the_same_wherever_the_code_lies(folder):
    before = digests()
    (folder / "gradients.py").rename(folder / "means.py")
    assert digests() == before
