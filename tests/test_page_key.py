"""What makes an executed page stale, and what doesn't."""

import re
import shutil

import pytest
from conftest import ROOT, write_pair

from companion.book import page_key as module

PAGES = {
    "bench": "from companion.checks import bench\nbench",
    "grid": "from companion.checks.loss_grid import released",
    "losses": "import amol\namol.losses.LOSSES",
    "docs": "import inspect\nfrom amol import losses",
    "bare": "print(1)\n\n# %% [markdown]\n# Words",
    "read": "from companion.studies import recordings\nrecordings.load('splits')",
    "recorded": "from companion.studies import grids\ngrids.verify('splits', 2)",
    "data": "%matplotlib inline\npath = 'data/mine.csv'",
    "broken": "a b c",
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of the package, with one page for each kind of thing that a page may rest on."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in module.PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copytree(ROOT / "book" / "recorded", tmp_path / "book" / "recorded")
    for folder in ("notebooks", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "mine.csv").write_text("a\n1\n")
    for name, code in PAGES.items():
        write_pair(tmp_path / "notebooks", name, f"# %%\n{code}\n")
    copies = {package: tmp_path / package for package in module.PACKAGES}
    monkeypatch.setattr(module, "PACKAGES", copies)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    yield tmp_path
    module._modules.cache_clear()
    module._read_module.cache_clear()


def keys(root) -> dict[str, str]:
    """Keys of all pages, as a new process finds them."""
    module._modules.cache_clear()
    module._read_module.cache_clear()
    return {page.stem: module.page_key(page) for page in (root / "notebooks").glob("*.ipynb")}


def comment(text: str) -> str:
    return f"# why\n\n\n{text}\n\n# and why\n"


def code(text: str) -> str:
    return text + "\nADDED = 1\n"


def docstring(text: str) -> str:
    return re.sub(r'^"""', '"""Other words. ', text)


@pytest.mark.parametrize(
    ("file", "change", "stale"),
    [
        ("companion/cli.py", comment, ""),
        ("companion/cli.py", code, ""),
        ("companion/book/execute.py", code, ""),
        ("companion/book/page_key.py", code, ""),
        ("companion/checks/bench.py", comment, ""),
        ("companion/checks/bench.py", docstring, ""),
        ("companion/checks/bench.py", code, "bench"),
        ("companion/checks/baseline_loops.py", code, "bench"),  # which `bench` imports
        ("companion/checks/loss_grid.py", code, "grid"),
        ("amol/losses/base.py", comment, ""),
        ("amol/losses/base.py", docstring, "docs"),
        ("amol/losses/base.py", code, "bench docs grid losses recorded"),
        ("companion/data/files/abalone.data", code, "bench recorded"),
        ("companion/paper/files/claims.toml", code, "recorded"),
        ("book/recorded/splits.csv", code, "read recorded"),
        ("book/recorded/bench.json", code, "bench"),  # which the module names
        ("book/recorded/hundred_splits.csv", code, ""),
        ("data/mine.csv", code, "data"),
        ("notebooks/bare.ipynb", lambda text: text.replace("print(1)", "print(2)"), "bare"),
        ("notebooks/bare.ipynb", lambda text: text.replace("Words", "Other words"), ""),
    ],
)
def test_a_page_is_stale_for_what_it_rests_on(checkout, file, change, stale):
    before = keys(checkout)
    text = (checkout / file).read_text(encoding="utf-8")
    (checkout / file).write_text(change(text), encoding="utf-8")
    assert (checkout / file).read_text(encoding="utf-8") != text
    after = keys(checkout)
    assert {name for name in before if before[name] != after[name]} == set(stale.split())


def test_a_page_rests_on_the_libraries_that_it_imports(checkout, monkeypatch):
    before = keys(checkout)
    monkeypatch.setattr(module, "version", lambda name: "0" if name == "skorch" else "1")
    skorch = keys(checkout)
    monkeypatch.setattr(module, "version", lambda name: "1")
    other = keys(checkout)
    assert {name for name in before if skorch[name] != other[name]} == {"bench"}
    assert not {name for name in before if before[name] == other[name]}


def test_digest_sees_names_and_bytes(tmp_path):
    file = tmp_path / "a"
    file.write_text("x")
    first = module.digest(tmp_path)
    file.write_text("y")
    second = module.digest(tmp_path)
    file.rename(tmp_path / "b")
    assert len({first, second, module.digest(tmp_path), module.digest(tmp_path, "z")}) == 4
