"""A miniature book in a temporary folder, for the tests of building and running."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    """The project's files, without what is built or ignored, as paths from its folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = map(Path, listed.rstrip("\0").split("\0"))
    return [path for path in paths if (ROOT / path).is_file()]


# Shows what `companion.page` would, which takes seconds to import.
FIRST = """
# %% [markdown]
# # First
#
# Value of [Table first](#tab-first) by [(first)](#eq-first).
#
# <a id="eq-first"></a>
#
# $$
# a = b \\tag{first}
# $$

# %% tags=["parameters"]
names: list = ["a", "b"]  # some names
count: int = 2  # how many
rate: float = 0.5  # how fast
loud: bool = False  # whether to shout
title: str = "none"  # what to call it
anything = 3

# %%
import os
from pathlib import Path
from IPython.display import display
from myst_nb import glue
assert count > 0, f"count is {count}; allowed: above 0"
folder = Path(os.environ["AMOL_RESULTS"], "tables")
folder.mkdir(parents=True, exist_ok=True)
folder.joinpath("tab-first.csv").write_text("a\\n1\\n")
value = rate * count
glue("value", value, display=False)
about = {"label": "tab-first", "caption": "Caption"}
table = {"text/markdown": "**Table first.** Caption\\n\\n| a |\\n|--:|\\n| 1 |"}
display(table, metadata={"result": about, "sentences": []}, raw=True)
display({"text/markdown": f"**{value:.2f}**"}, metadata={"sentences": []}, raw=True)
print(names, count, rate, loud, title, anything)
"""
SECOND = """
# %% [markdown]
# # Second
#
# As [First](01_first.ipynb) says in [Table first](01_first.ipynb#tab-first) and
# [(first)](01_first.ipynb#eq-first).

# %%
print("second")
"""
INDEX = """# Small book

About hedging, {glue:text}`../notebooks/01_first.ipynb::value:.2f`.
"""
CONTENTS = """format: jb-book
root: book/index
parts:
- caption: Paper
  chapters:
  - file: notebooks/01_first
  - file: notebooks/02_second
- caption: Use it
  chapters:
  - file: book/rerun
"""
BUILD = """
from companion.book.execute import execute_book
from companion.book.render import render_book
if __name__ == "__main__":
    execute_book(workers=2, training_seconds=0)
    render_book()
"""


def write_pair(folder: Path, name: str, text: str) -> Path:
    """Write a notebook as the pair that the book keeps."""
    import jupytext  # here, since the process that only deals out tests needs none of it

    notebook = jupytext.reads(text.lstrip(), fmt="py:percent")
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    jupytext.write(notebook, folder / f"{name}.ipynb")
    jupytext.write(notebook, folder / f"{name}.py", fmt="py:percent")
    return folder / f"{name}.ipynb"


class Book:
    """A small book and the commands that a person would run in it."""

    def __init__(self, root: Path):
        self.root = root

    @classmethod
    def create(cls, root: Path) -> "Book":
        self = cls(root)
        for name in ("notebooks", "book/_static"):
            (root / name).mkdir(parents=True)
        (root / "book" / "_ext").symlink_to(ROOT / "book" / "_ext")
        for name in ("custom.css", "favicon.svg", "previews.js", "tables.js"):
            (root / "book" / "_static" / name).write_bytes(
                (ROOT / "book" / "_static" / name).read_bytes()
            )
        (root / "_config.yml").write_text((ROOT / "_config.yml").read_text())
        (root / "_toc.yml").write_text(CONTENTS)
        (root / "book" / "index.md").write_text(INDEX)
        (root / "book" / "rerun.md").write_text("# Again\n\n`git clone REPOSITORY_URL`\n")
        (root / "book" / "references.bib").write_text("")
        self.write("01_first", FIRST)
        self.write("02_second", SECOND)
        return self

    def write(self, name: str, text: str) -> Path:
        return write_pair(self.root / "notebooks", name, text)

    def _how(self, **environment: str) -> dict:
        variables = {**os.environ, "AMOL_HOME": str(self.root), "OMP_NUM_THREADS": "1"}
        for name in ("AMOL_REPOSITORY_URL", "GITHUB_REPOSITORY"):
            variables.pop(name, None)
        return {"cwd": self.root, "env": variables | environment, "text": True}

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, **self._how(**environment))

    def start(self, program: str = BUILD, **streams) -> subprocess.Popen:
        # Ctrl-C works even where the tests themselves were started with it ignored
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        return subprocess.Popen([sys.executable, "-c", heed + program], **self._how(), **streams)

    def build(self, **environment: str) -> subprocess.CompletedProcess:
        # the study has tests of its own; here only what `amol build` does after it
        return self.python("-c", BUILD, **environment)

    def amol(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.python("-m", "companion", *arguments)

    def page(self, name: str) -> str:
        return (self.root / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def original(tmp_path_factory) -> Book:
    """A book built once; not to be changed."""
    made = Book.create(tmp_path_factory.mktemp("original") / "a book")
    done = made.build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 to execute" in done.stdout
    return made


@pytest.fixture
def built(original: Book, tmp_path: Path) -> Book:
    """A copy of the built book, to be changed."""
    shutil.copytree(original.root, tmp_path / "a book", symlinks=True)
    return Book(tmp_path / "a book")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book that was never built."""
    return Book.create(tmp_path / "a book")
