"""The page "Fork this": each of its commands, data and a loss of one's own, in a small book."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html import escape, unescape
from pathlib import Path

import jupytext
import pandas as pd
import pytest
from conftest import ROOT, Book

PAGE = (ROOT / "book" / "fork.md").read_text(encoding="utf-8")
BASH, PYTHON = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("bash", "python"))
DATA, SENTENCE, LOSS, _ = PYTHON

HOSTILE = "<img src>`b` {ref}`c` $d$ _e_ é"
LABELS = ["<script>alert(1)</script>", "{ref}`mid` |", "$hi$"]
# What a notebook says of a data set and a loss of one's own, in as few words as it takes.
OWN = f"""
# %% [markdown]
# # Own

# %% tags=["parameters"]
datasets: list = ["{HOSTILE}.csv"]  # a CSV file
target: str = "$t$"  # label column
order: list[str] = {LABELS!r}  # labels, lowest first
methods: list = ["CE", "squared"]  # losses
seeds: int = 6  # enough for two stacks of runs, so for two processes

# %%
{LOSS}

# %%
from companion import StudySettings, run_study
from companion.page import figures, footer, say, show, tables
from companion.page.style import METHOD_STYLE, method_style

shown = {{"target": target, "order": order}}
settings = StudySettings(datasets, methods, seeds, epochs=2, **shown)
runs = run_study(settings, workers=2)
summary = tables.summarize(runs, ["QWK", "CHR"])
data = settings.load(settings.datasets[0])
named, lowest = map(tables.literal, (data.name, data.class_names[0]))
say(f"Data: {{named}}; lowest: {{lowest}}", (len(runs) > 1, "([Table own](#tab-own))."))
show("tab-own", tables.comparison(summary, "metric"), f"What came out of {{named}}.")
alt = f"One row per loss, one panel per metric of {{named}}."
show("fig-own", figures.dots(summary, "metric"), "Drawn.", alt, summary)
assert method_style("squared") not in METHOD_STYLE.values()

# %% tags=["remove-input"]
footer(settings, runs)
"""
STUBS = {
    "eq": "$$ a $$ ({0})\n",
    "tab": ":::{{table}} Elsewhere\n:name: {0}\n\n| a |\n|--:|\n| 1 |\n:::\n",
}


def write_stubs(book: Book, notebook: Path) -> list[str]:
    """Pages that hold whatever the notebook links to; returns their names."""
    text = "\n".join(cell.source for cell in jupytext.read(notebook).cells)
    real = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"(?m)^([\w -]+)\n {2,}\S", real)  # sentences link to more than the source
    glossary = "\n\n".join(f"{term}\n  Explained elsewhere." for term in terms)
    page = f"# Elsewhere\n\n```{{glossary}}\n{glossary}\n```\n"
    (book.root / "book" / "glossary.md").write_text(page)
    linked = defaultdict(set)
    for name, label in re.findall(r"\]\((\w+)\.ipynb(?:#([\w-]+))?\)", text):
        linked[name] |= {label} - {""}
    for name, labels in linked.items():
        made = [STUBS["eq" if label[:2] == "eq" else "tab"].format(label) for label in labels]
        cells = ["# %% [markdown]", "# # Elsewhere", *"\n".join(["", *made]).splitlines()]
        book.write(name, "\n".join(cells[:2] + [f"# {line}".rstrip() for line in cells[2:]]))
    return list(linked)


CONTENTS = """format: jb-book
root: book/index
parts:
- chapters:
  - file: notebooks/my_own
  - file: book/rerun
  - file: book/glossary
"""


def write_hostile(folder: Path) -> None:
    """A file whose name, columns and labels are markup."""
    names = ["<b>x</b>", "{eval-rst}`z`", "$t$"]
    rows = [(i % 7, i % 5 + i % 3, LABELS[i % 3]) for i in range(60)]
    pd.DataFrame(rows, columns=names).to_csv(folder / f"{HOSTILE}.csv", index=False)


def told(done: subprocess.CompletedProcess) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Book:
    """A small book with the results page to fork and a page of one's own; not to be changed."""
    book = Book.create(tmp_path_factory.mktemp("small") / "a book")
    for name in ("01_introduction", "05_results"):
        for end in (".py", ".ipynb"):
            shutil.copy(ROOT / "notebooks" / f"{name}{end}", book.root / "notebooks")
    shutil.copy(ROOT / "book" / "references.bib", book.root / "book")
    stubs = write_stubs(book, ROOT / "notebooks" / "05_results.ipynb")
    listed = "".join(f"  - file: notebooks/{name}\n" for name in stubs)
    (book.root / "_toc.yml").write_text(CONTENTS + listed)
    (book.root / "book" / "index.md").write_text("# Small book\n")
    book.write("my_own", OWN)
    write_hostile(book.root)
    return book


def run_elsewhere(small: Book, folder: Path) -> dict[str, bytes]:
    """Run the page of one's own as somebody else would, and give its tables and figures."""
    root = folder / "zwölf Bücher"
    shutil.copytree(small.root, root, symlinks=True)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "HOME"))}
    strange = {"LC_ALL": "C", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}  # and no home
    variables = kept | strange | {"AMOL_HOME": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "companion", "run", "my_own", "-o", "out.ipynb"]
    command += ["-p", "datasets", f'["{root.name}/{HOSTILE}.csv"]']
    told(subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True))
    assert all(path.read_bytes() == content for path, content in before.items())
    made = folder / "out_files"
    return {path.name: path.read_bytes() for path in made.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def forked(small, tmp_path_factory) -> tuple[Book, dict[str, str], dict[str, bytes]]:
    """The book after all commands of the page, what they printed, and a run elsewhere."""
    book = Book(tmp_path_factory.mktemp("fork") / "a book")
    shutil.copytree(small.root, book.root, symlinks=True)
    printed = {}
    with ThreadPoolExecutor(1) as pool:
        elsewhere = pool.submit(run_elsewhere, small, tmp_path_factory.mktemp("elsewhere"))
        told(book.python("-c", DATA))
        commands = "".join(BASH).strip().splitlines()
        for number, command in enumerate(commands):
            if command == "jupytext --sync notebooks/my_grades.ipynb":
                page = book.root / "notebooks" / "my_grades.py"
                before, heading, after = page.read_text().partition("# %% [markdown]\n# ## Hedging")
                assert heading
                page.write_text(f"{before}# %%\n{SENTENCE}\n{heading}{after}")
            if command == "amol build":
                if command in commands[number + 1 :]:
                    continue  # once, with all that was changed
                # without the study, which has tests of its own, and without the whole grid
                contents = (book.root / "_toc.yml").read_text()
                assert "  - file: notebooks/my_results\n" in contents
                contents = contents.replace("  - file: notebooks/my_results\n", "")
                (book.root / "_toc.yml").write_text(contents)
                printed[command] = told(book.build())
            else:
                name, *rest = shlex.split(command)
                module = {"amol": "companion"}.get(name, name)
                printed[command] = told(book.python("-m", module, *rest))
    return book, printed, elsewhere.result()


@pytest.mark.slow
def test_every_command_of_the_page_works(forked):
    book, printed, _ = forked
    assert len(printed) == 9
    assert re.search(r"\[\d/\d\] my_own ", printed["amol build"])
    study = next(text for command, text in printed.items() if "amol study" in command)
    assert "6 runs trained, 2 reused" in study and "grades" in study
    files = book.root / "build" / "runs" / "01_introduction_files"
    stored = pd.read_csv(files / "tables" / "tab-hedging.csv")
    assert set(stored["dataset"]) == {"grades"} and stored["mean"].between(-1, 1).all()


@pytest.mark.slow
def test_a_page_of_own_data_stands_in_the_book_without_the_papers_numbers(forked):
    book, _, _ = forked
    page = book.page("notebooks/my_grades")
    table = page[page.index('id="tab-qwk-my-grades"') :].split("</table>")[0]
    assert "<p>grades</p>" in table and "<p>AMOL</p>" in table
    assert "paper" not in table.partition("<thead>")[2]
    assert str(book.root) not in page
    assert "My graders first: AMOL agrees" in " ".join(re.sub("<[^>]+>", "", page).split())
    assert "'grades.csv'" in (book.root / "notebooks" / "my_grades.py").read_text()
    results = book.root / "build" / "results" / "tables" / "tab-qwk-my-grades.csv"
    assert str(book.root) not in results.read_text()


@pytest.mark.slow
def test_text_from_a_file_stays_text_in_the_book(forked):
    book, _, _ = forked
    page = book.page("notebooks/my_own")
    assert "<img src" not in page and "<script>alert" not in page
    plain = " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())
    assert f"Data: {HOSTILE}; lowest: {LABELS[0]}" in plain
    facts = page[page.index('class="provenance"') :]
    for text in (HOSTILE, "$t$", *LABELS):
        assert escape(text, quote=False) in facts


@pytest.mark.slow
def test_a_registered_loss_stands_in_table_and_figure(forked):
    book, _, _ = forked
    for data in ("tables/tab-own.csv", "figures/fig-own.csv"):
        stored = pd.read_csv(book.root / "build" / "results" / data)
        assert set(stored["method"]) == {"CE", "squared"}
    assert "<p>squared</p>" in book.page("notebooks/my_own")


@pytest.mark.slow
def test_results_know_nothing_of_the_place_they_are_made_in(forked):
    book, _, elsewhere = forked
    results = book.root / "build" / "results"
    table = ["csv", "csv-metadata.json"]
    ends = {"fig-own": [*table, "narrow.svg", "pdf", "svg"], "tab-own": [*table, "tex"]}
    assert set(elsewhere) == {f"{name}.{end}" for name in ends for end in ends[name]}
    for name, content in elsewhere.items():
        (here,) = results.rglob(name)
        assert here.read_bytes() == content, name
