"""Execution and rendering of the book: what is redone, what fails, and what stays."""

import itertools
import json
import re
import signal
import subprocess
import tomllib

import psutil
import pytest
import yaml
from conftest import FIRST, INDEX, ROOT, SECOND, Book
from faults.sandbox import wait_until, wait_until_gone
from packaging.requirements import Requirement

from companion.repository import repository, with_address


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


@pytest.mark.slow
def test_the_page_shows_the_executed_notebook(original):
    page = original.page("notebooks/01_first")
    assert ">1.00<" in page and "Table 1" in page
    assert ">1.00<" in original.page("book/index")
    assert "As First says in Table 1 and (1)." in plain(original.page("notebooks/02_second"))
    assert "amol run 01_first -p names" in plain(page)
    assert plain(page).count("Show code") == 2  # parameters; a cell that prints
    assert (original.root / "_build/html/results/tables/tab-first.csv").read_text() == "a\n1\n"
    for foreign in ("unpkg.com", "thebe", "fontawesome.js", str(original.root), "github.com"):
        assert foreign not in page
    source = json.loads((original.root / "notebooks/01_first.ipynb").read_text())
    assert not any(cell.get("outputs") for cell in source["cells"])


@pytest.mark.slow
def test_a_path_is_no_pattern_and_no_format(tmp_path):
    """Kind 15: what else a path may hold, and texts that the contents don't list."""
    book = Book.create(tmp_path / "thesis [draft] {a} %s $HOME #1 it's ümlaut & co")
    for name in ("CONTRIBUTING.md", "notes.md", "notebooks/[x].md", "tests.md"):
        (book.root / name).write_text("# Not listed\n")
    book.write("03_unlisted", SECOND)
    done = book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 to execute" in done.stdout and ">1.00<" in book.page("notebooks/01_first")
    assert not list((book.root / "_build" / "html").rglob("*unlisted*"))
    assert "0 to execute, 2 unchanged" in book.build().stdout
    ran = book.amol("run", "01_first", "-o", "[mine] {b}.ipynb")
    assert ran.returncode == 0, ran.stderr
    assert (book.root / "[mine] {b}_files" / "tables" / "tab-first.csv").exists()


@pytest.mark.slow
def test_only_what_changed_is_redone(built):
    again = built.build()
    assert "0 to execute, 2 unchanged" in again.stdout and "book: unchanged" in again.stdout

    built.write("01_first", FIRST.replace("# Value", "# New words, value"))
    prose = built.build()
    assert "0 to execute" in prose.stdout and "book: rendering" in prose.stdout
    assert "New words" in built.page("notebooks/01_first")

    built.write("01_first", FIRST.replace("value = rate * count", "value = rate * count + 1"))
    code = built.build()
    assert "1 to execute, 1 unchanged" in code.stdout
    assert ">2.00<" in built.page("book/index")  # a number of a page follows


@pytest.mark.slow
def test_a_failing_notebook_is_named_and_the_last_good_book_stays(built):
    good = built.page("notebooks/01_first")
    broken = FIRST.replace("assert count > 0", "1 / 0  # on purpose\nassert count > 0")
    built.write("01_first", broken)
    built.write("02_second", SECOND.replace("second", "changed"))
    done = built.build()
    assert done.returncode != 0
    for told in ("01_first, cell [2]", "ZeroDivisionError", "failed/01_first.ipynb"):
        assert told in done.stderr
    assert built.page("notebooks/01_first") == good
    assert (built.root / "build/failed/01_first.ipynb").exists()

    built.write("01_first", FIRST)
    mended = built.build()
    assert mended.returncode == 0
    assert "0 to execute, 2 unchanged" in mended.stdout  # the other one had been kept
    assert ">changed" in built.page("notebooks/02_second")


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_build_leaves_no_process_and_keeps_what_was_done(built, end):
    report = built.root / "kernel.pid"
    sleep = (
        f"import os, pathlib, time\npathlib.Path({str(report)!r}).write_text(str(os.getpid()))\n"
    )
    built.write("01_first", FIRST.replace("value = rate * count", "value = rate * count + 1"))
    built.write("02_second", SECOND.replace('print("second")', f"{sleep}time.sleep(999)"))
    copy = built.root / "build/executed/notebooks/01_first.ipynb"
    before = copy.read_bytes()
    process = built.start()
    wait_until(lambda: report.exists() and report.read_text() and copy.read_bytes() != before)
    wait_until(lambda: copy.with_suffix(".json").exists())
    started = psutil.Process(process.pid).children(recursive=True)
    assert int(report.read_text()) in [child.pid for child in started]
    process.send_signal(end)
    assert process.wait(60) != 0
    wait_until_gone(started)
    assert "Table 1" in built.page("notebooks/01_first")

    built.write("02_second", SECOND.replace("second", "changed"))
    assert "1 to execute, 1 unchanged" in built.build().stdout


@pytest.mark.slow
def test_broken_references_fail_the_build_and_are_all_named(built):
    text = FIRST.replace("[(first)](#eq-first)", "[(missing)](#eq-missing)")
    built.write("01_first", text)
    built.write("02_second", SECOND.replace("# As", "# [Nobody (1900)](https://doi.org/10/0)"))
    (built.root / "book" / "index.md").write_text(INDEX.replace("value", "lost"))
    gone = '<a href="../results/tables/gone.csv" download>CSV</a>'
    (built.root / "book" / "rerun.md").write_text(f"# Again\n\n{gone}\n")
    good = built.page("notebooks/01_first")
    done = built.build()
    assert done.returncode != 0
    for told in ("eq-missing", "lost", "Nobody (1900)", "gone.csv"):
        assert told in done.stderr
    assert built.page("notebooks/01_first") == good


@pytest.mark.slow
def test_rendering_refuses_copies_that_are_missing_or_of_other_code(built):
    (built.root / "build/executed/notebooks/01_first.ipynb").unlink()
    built.write("02_second", SECOND.replace("second", "other"))
    done = built.python("-c", "from companion.book.render import render_book; render_book()")
    assert done.returncode != 0
    assert "not executed yet" in done.stderr and "other code" in done.stderr


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://github.com/someone/fork", "https://github.com/someone/fork"),
        ("https://github.com/someone/fork.git", "https://github.com/someone/fork"),
        ("git@github.com:someone/fork.git", "https://github.com/someone/fork"),
        ("ssh://git@gitlab.com:22/group/sub/fork.git", "https://gitlab.com/group/sub/fork"),
        ("https://user:secret@github.com/someone/fork", "https://github.com/someone/fork"),
        ("/srv/git/fork", ""),
        ("file:///srv/git/fork.git", ""),
        ("https://example.org/someone/fork", ""),
    ],
)
def test_address_of_the_repository(monkeypatch, tmp_path, address, shown):
    for name in ("AMOL_REPOSITORY_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    for command in (["init", "-q", "-b", "main"], ["remote", "add", "origin", address]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    assert repository(tmp_path)[0] == shown
    monkeypatch.setenv("AMOL_REPOSITORY_URL", "https://github.com/given/name")
    assert repository(tmp_path)[0] == "https://github.com/given/name"


def test_the_install_line_has_the_address_or_needs_none():
    line = 'pip install "amol[classifier] @ git+REPOSITORY_URL#subdirectory=amol"'
    assert line in (ROOT / "notebooks" / "use_it.py").read_text(encoding="utf-8")
    there = with_address(line, "https://github.com/someone/fork")
    assert there == line.replace("REPOSITORY_URL", "https://github.com/someone/fork")
    assert with_address(line, "") == 'pip install "./amol[classifier]"'
    assert with_address("git clone REPOSITORY_URL", "") == "git clone ADDRESS-OF-THIS-REPOSITORY"


@pytest.mark.slow
def test_buttons_lead_to_committed_sources(built):
    done = built.build(AMOL_REPOSITORY_URL="https://github.com/someone/fork")
    assert done.returncode == 0, done.stderr
    page = built.page("notebooks/01_first")
    assert "https://github.com/someone/fork/blob/" in page and "notebooks/01_first.ipynb" in page
    assert "mybinder.org/v2/gh/someone/fork/" in page
    assert "colab.research.google.com/github/someone/fork/blob/colab/notebooks/01_first" in page
    assert "git clone https://github.com/someone/fork" in plain(built.page("book/rerun"))
    assert "book: rendering" in built.build().stdout  # another address, another book
    page = built.page("notebooks/01_first")
    assert "mybinder" not in page and "colab" not in page


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {name.lower().replace("_", "-").replace(".", "-"): version for name, version in pins}


def test_lock_pins_what_the_package_asks_for():
    pins = locked()
    assert pins["torch"] == "2.13.0"
    projects = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in ("amol", ".")
    ]
    needs = [project["dependencies"] for project in projects]
    extras = {name: needed for p in projects for name, needed in p["optional-dependencies"].items()}
    for text in (*extras.pop("sets"), *extras.pop("rivals")):  # installed apart, pinned by name
        assert "==" in text
    for text in itertools.chain(*needs, *extras.values()):
        wanted = Requirement(text)
        if wanted.name not in ("amol", "amol-companion"):
            assert wanted.specifier.contains(pins[wanted.name.lower().replace(".", "-")]), text


def test_conda_environment_uses_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pytorch, _, nested = environment["dependencies"]
    assert python == "python=3.11"
    assert pytorch == f"pytorch-cpu={locked()['torch']}"  # without it pip brings CUDA's build
    assert nested["pip"] == [
        "--requirement requirements.lock",
        "--editable ./amol",
        "--editable .",
    ]


def test_contents_list_pages_that_exist():
    listed = yaml.safe_load((ROOT / "_toc.yml").read_text())
    files = [listed["root"]]
    files += [chapter["file"] for part in listed["parts"] for chapter in part["chapters"]]
    for name in files:
        assert any((ROOT / f"{name}{end}").exists() for end in (".md", ".ipynb")), name


def test_bibliography_entries_can_be_found_by_a_reader():
    from pybtex.database import parse_file

    entries = parse_file(str(ROOT / "book/references.bib")).entries
    for key, entry in entries.items():
        assert {"title", "year"} <= set(entry.fields), key
        assert {"doi", "eprint", "url"} & set(entry.fields), key
        assert entry.persons["author"], key
