"""What makes an executed page stale, and what doesn't: kind 1 of `tests/README.md`."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from conftest import ROOT

from companion.book import reads as module
from companion.book.notebooks import WATCHING

HELPER = '"""Words."""\n\nWEIGHT = 2  # why\n'


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with one file of each kind."""
    made = tmp_path_factory.mktemp("files") / "data"
    (made / "many").mkdir(parents=True)
    for name in ("a.csv", "other.csv", "many/1.csv"):
        (made / name).write_text("a\n1\n")
    (made / "link.csv").symlink_to("a.csv")
    (made / "helper.py").write_text(HELPER)
    subprocess.run([sys.executable, "-c", MAKE], cwd=made, check=True)
    return made


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """A copy of it for a page's data, outside the book."""
    monkeypatch.setattr(module, "build_dir", lambda: tmp_path / "build")
    (tmp_path / "build").mkdir()
    made = shutil.copytree(files, tmp_path / "data", symlinks=True)
    old = time.time() - 60
    for path in made.rglob("*"):
        os.utime(path, (old, old))
    return made


MAKE = """
import sqlite3, gzip, numpy as np
np.save("a.npy", np.arange(3))
gzip.open("a.csv.gz", "wt").write("a\\n1\\n")
with sqlite3.connect("a.db") as db:
    db.execute("create table t (x)")
"""


def executed(folder, code: str) -> dict:
    """What a page with this code reads, run in ``folder`` as a kernel is."""
    page = {"cells": [{"cell_type": "code", "source": [code]}]}
    (folder.parent / "page.ipynb").write_text(json.dumps(page))
    log, since = folder.parent / "log", time.time()
    path = os.pathsep.join([str(WATCHING), str(folder), str(ROOT)])
    variables = os.environ | {"PYTHONPATH": path, "AMOL_WATCHED": str(log), "HOME": str(folder)}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=variables, check=True)
    return module.reads(folder.parent / "page.ipynb", log, since)


def is_stale(folder, read: dict) -> bool:
    """Whether a process that starts now finds the page stale."""
    module._digest.cache_clear()
    module._code_digest.cache_clear()
    return not module.is_unchanged(folder.parent / "page.ipynb", read)


def rewrite(name: str, content: str = "a\n2\n"):
    def change(folder):
        (folder / name).write_text(content)

    return change


def relink(folder):
    (folder / "link.csv").unlink()
    (folder / "link.csv").symlink_to("many/1.csv")
    (folder / "many/1.csv").write_text("another")


def comment(folder):
    (folder / "helper.py").write_text(HELPER.replace("# why", "# for another reason"))


CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', {!r}], check=True)"
FRAME = "import pandas as pd; pd.read_csv({})"
READ = {
    "a name that is put together": ("open('a' + '.csv').read()", rewrite("a.csv")),
    "the folder of the user": ("import os; open(os.path.expanduser('~/a.csv'))", rewrite("a.csv")),
    "pandas": (FRAME.format("'a.csv'"), rewrite("a.csv")),
    "packed": (FRAME.format("'a.csv.gz'"), rewrite("a.csv.gz")),
    "array": ("import numpy as np; np.load('a.npy')", rewrite("a.npy")),
    "raw numbers": ("import numpy as np; np.fromfile('a.npy')", rewrite("a.npy")),
    "mapped": ("import numpy as np; np.memmap('a.npy', mode='r')", rewrite("a.npy")),
    "database": ("import sqlite3; sqlite3.connect('a.db').execute('select * from t')",
                 rewrite("a.db")),
    "database by its URI": (
        "import sqlite3; sqlite3.connect('file:a.db?mode=ro', uri=True).execute('select * from t')",
        rewrite("a.db")),
    "link": ("open('link.csv')", relink),
    "by number": ("import os; os.read(os.open('a.csv', os.O_RDONLY), 9)", rewrite("a.csv")),
    "thread": ("import threading; threading.Thread(target=open, args=['a.csv']).start()",
               rewrite("a.csv")),
    "other program": ("import subprocess; subprocess.run(['cat', 'a.csv'])", rewrite("a.csv")),
    "shell": ("import os; os.system('cat a.csv >/dev/null')", rewrite("a.csv")),
    "pattern of a shell": ("import os; os.system('cat many/*.csv >/dev/null')",
                           rewrite("many/1.csv")),
    "forked": ("import os; os.fork() or open('a.csv').read() and os._exit(0); os.wait()",
               rewrite("a.csv")),
    "module by its path": ("import runpy; runpy.run_path('helper.py')",
                           rewrite("helper.py", HELPER.replace("2", "3"))),
    "data of a module": ("import pkgutil, helper; pkgutil.get_data('helper', 'a.csv')",
                         rewrite("a.csv")),
    "other Python": (CHILD.format("open('a.csv')"), rewrite("a.csv")),
    "other Python of another": (CHILD.format(CHILD.format("open('a.csv')")), rewrite("a.csv")),
    "listed": ("import os; os.listdir('many')", rewrite("many/2.csv")),
    "pattern": ("import glob; glob.glob('many/*.csv')", rewrite("many/2.csv")),
    "walked": ("import os; list(os.walk('.'))", rewrite("many/2.csv")),
    "taken away": ("open('a.csv')", lambda folder: (folder / "a.csv").unlink()),
    "not there yet": ("try: open('b.csv')\nexcept OSError: pass", rewrite("b.csv")),
    "module": ("import helper", rewrite("helper.py", HELPER.replace("2", "3"))),
    "words of a module": ("import helper; print(helper.__doc__)",
                          rewrite("helper.py", HELPER.replace("Words", "Others"))),
    "source that is shown": ("import helper, inspect; inspect.getsource(helper)", comment),
    "its own code": ("1", lambda folder: rewrite("page.ipynb", json.dumps(
        {"cells": [{"cell_type": "code", "source": ["2"]}]}))(folder.parent)),
}  # fmt: skip
NOT_READ = {
    "another file": ("open('a.csv')", rewrite("other.csv")),
    "comment of a module": ("import helper", comment),
    "what it writes": ("open('new.csv', 'w').write('1'); open('new.csv').read()",
                       rewrite("new.csv")),
    "what is made by the companion": (
        "import pathlib; p = pathlib.Path('../build/a'); p.write_text('1'); p.read_text()",
        rewrite("../build/a")),
    "its words": ("1", lambda folder: rewrite("page.ipynb", json.dumps({"cells": [
        {"cell_type": "markdown", "source": ["w"]}, {"cell_type": "code", "source": ["1"]}]}))(
            folder.parent)),
}  # fmt: skip


# A row of each mechanism; the others start as many processes again.
QUICK = {"a name that is put together", "database", "link", "other program", "shell",
         "other Python", "listed", "not there yet", "module", "source that is shown",
         "its own code", *NOT_READ}  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in READ | NOT_READ],
)
def test_a_page_is_stale_for_what_its_run_read_and_for_nothing_else(folder, kind):
    code, change = (READ | NOT_READ)[kind]
    read = executed(folder, code)
    assert not is_stale(folder, read)
    change(folder)
    assert is_stale(folder, read) == (kind in READ)


def test_a_file_that_changes_while_the_page_is_executed_leaves_it_stale(folder):
    read = executed(folder, "open('a.csv').read(); import os; os.system('echo 3 > a.csv')")
    assert is_stale(folder, read)


def test_a_page_rests_on_python_and_on_the_libraries_that_were_loaded(folder, monkeypatch):
    read = executed(folder, "import numpy")
    assert "numpy" in read["libraries"] and "skorch" not in read["libraries"]
    assert not is_stale(folder, read)
    monkeypatch.setattr(module, "version", lambda name: "0")
    assert is_stale(folder, read)
    monkeypatch.undo()
    assert not is_stale(folder, read)
    monkeypatch.setattr(module.platform, "python_version", lambda: "4.0.0")
    assert is_stale(folder, read)


@pytest.mark.slow
def test_modules_of_the_book_count_where_they_were_loaded(folder):
    read = executed(folder, "from companion.data.datasets import load_dataset as l; l('Wine Red')")
    assert "companion/data/csv_table.py" in read["modules"] | read["files"]
    assert "companion/data/files/winequality-red.csv" in read["files"]
    assert not any("abalone" in name or "cli.py" in name for name in read["files"])


def test_the_users_own_module_of_that_name_is_imported_too(folder):
    (folder / "sitecustomize.py").write_text("import sys; sys.mine = 1\n")
    read = executed(folder, "import sys; assert sys.mine; open('a.csv')")
    assert any(name.endswith("a.csv") for name in read["files"])


def test_digest_sees_names_and_bytes(tmp_path):
    def digest(*more):
        module._digest.cache_clear()
        return module.digest_of(tmp_path, *more)

    file = tmp_path / "a"
    file.write_text("x")
    first = digest()
    file.write_text("y")
    second = digest()
    file.rename(tmp_path / "b")
    assert len({first, second, digest(), digest("z")}) == 4
