"""One notebook: its parameters with one meaning wherever they come from, its run, its fork."""

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import FIRST, write_pair

from companion.book import fork, notebooks, outputs
from companion.book.fork import add_to_contents
from companion.book.notebooks import check_settings, notebook_path, other_kernel, parameters_of
from companion.book.parameters import read_parameters
from companion.errors import NotebookError


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    return write_pair(tmp_path_factory.mktemp("notebooks"), "01_first", FIRST)


def test_parameters_are_read_with_type_default_and_meaning(notebook):
    assert parameters_of(notebook) == {
        "names": {"type": "list", "default": ["a", "b"], "help": "some names"},
        "count": {"type": "int", "default": 2, "help": "how many"},
        "rate": {"type": "float", "default": 0.5, "help": "how fast"},
        "loud": {"type": "bool", "default": False, "help": "whether to shout"},
        "title": {"type": "str", "default": "none", "help": "what to call it"},
        "anything": {"type": "int", "default": 3, "help": ""},
    }


def read(notebook, pairs=(), *mappings):
    return read_parameters(parameters_of(notebook), pairs, mappings)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("rate", "1e-3", 0.001),
        ("rate", "2", 2.0),
        ("loud", "true", True),
        ("title", "5", "5"),
        ("title", "yes", "yes"),
        ("title", "007", "007"),
        ("title", "'a: b'", "a: b"),
        ("names", "[x, Wine Red]", ["x", "Wine Red"]),
        ("names", '["a, b", c]', ["a, b", "c"]),
        ("names", "[1, 2.0, no]", ["1", "2.0", "no"]),
        ("names", "x", ["x"]),
        ("anything", "4", 4),
    ],
)
def test_a_value_means_the_same_from_the_command_line_and_from_yaml(notebook, name, text, value):
    for given in (read(notebook, [(name, text)]), read(notebook, (), f"{{{name}: {text}}}")):
        assert given == {name: value} and type(given[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("names", "x, Wine Red", ["x", "Wine Red"]),
        ("names", "1,007", ["1", "007"]),
        ("names", "'a, b', c", ["a, b", "c"]),
        ("names", "", []),
        ("title", "a: b # {c}", "a: b # {c}"),
        ("title", "a,b", "a,b"),
        ("title", "[x", "[x"),
    ],
)
def test_the_command_line_needs_no_quotes_within_a_text(notebook, name, text, value):
    assert read(notebook, [(name, text)]) == {name: value}


def test_the_command_line_wins_over_yaml_and_the_last_yaml_over_others(notebook):
    first, second = "{count: 3, title: a, rate: 1}", "{count: 4, title: b}"
    given = read(notebook, [("count", "5")], first, second)
    assert given == {"count": 5, "title": "b", "rate": 1.0}


def test_items_of_a_list_are_texts_only_where_texts_are_wanted(tmp_path):
    text = (
        '# %% tags=["parameters"]\nsizes: list = [1, 2]\nempty: list = []\nmixed: dict = {}\n'
        'words: list[str] = []\nseeds: "int or list" = 5  # number, or a list of seeds\n'
        "third = 1 / 3  # only the notebook knows\n"
    )
    notebook = write_pair(tmp_path, "lists", text)
    given = {"sizes": "3,4", "empty": "3,0.5,true,x", "mixed": "{a: 1e-3, b: no}", "third": "2"}
    given |= {"words": "1,no", "seeds": "[0, 3]"}
    assert read(notebook, given.items()) == {
        "sizes": [3, 4],
        "empty": [3, 0.5, True, "x"],
        "mixed": {"a": 0.001, "b": "no"},
        "words": ["1", "no"],
        "seeds": [0, 3],
        "third": 2,
    }
    assert read(notebook, [("seeds", "3")]) == {"seeds": 3}
    with pytest.raises(ValueError, match="seeds is 'x'; wanted: int or list, such as 5"):
        read(notebook, [("seeds", "x")])


@pytest.mark.parametrize(
    ("pairs", "mapping", "message"),
    [
        ([("cout", "1")], "", "no parameter 'cout'; did you mean count.*allowed: names, count"),
        ([("zzz", "1")], "", "no parameter 'zzz'; allowed: names"),
        ([], "{cout: 1}", "no parameter 'cout'; did you mean count"),
        ([("count", "2.5")], "", "count is 2.5; wanted: int, such as 2"),
        ([("count", "many")], "", "count is 'many'; wanted: int"),
        ([("rate", "fast")], "", "rate is 'fast'; wanted: float"),
        ([("loud", "2")], "", "loud is 2; wanted: true or false"),
        ([("count", "true")], "", "count is True; wanted: int"),
        ([], "{count: [1]}", r"count is \[1\]; wanted: int"),
        ([], "{names: {a: b}}", "names is .*; wanted: list"),
        ([], "{title: [a]}", "title is .*; wanted: str"),
        ([], "{count: 1, count: 2}", "no YAML: found duplicate key"),
        ([], "[count]", "no mapping; write {name: value}"),
        ([], "{count", "is no YAML"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(notebook, pairs, mapping, message):
    with pytest.raises(ValueError, match=message):
        read(notebook, pairs, mapping)


def test_a_notebook_without_parameters_takes_none(tmp_path):
    notebook = write_pair(tmp_path, "bare", "# %%\nprint(1)\n")
    assert parameters_of(notebook) == {}
    with pytest.raises(ValueError, match="no parameter 'a'; allowed: none"):
        read(notebook, [("a", "1")])


SETTINGS = """
# %% tags=["parameters"]
datasets: list = ["Abalone"]
methods: list = ["CE", "mine"]
alpha: list = [0.5, 1]
seeds: int = 2
"""


def test_settings_are_checked_unless_the_notebook_alone_knows_them(tmp_path):
    known = parameters_of(write_pair(tmp_path, "page", SETTINGS))
    given = {"alpha": [-1, 2], "methods": ["mine", "yours"], "seeds": 3}
    assert check_settings(known, given) == given
    with pytest.raises(ValueError, match="seeds is 0"):
        check_settings(known, {"seeds": 0})
    with pytest.raises(ValueError, match="'Whine'; did you mean Wine Red"):
        check_settings(known, {"datasets": ["Whine"]})


def test_the_kernel_asked_for_is_named_where_another_one_runs(tmp_path):
    notebook = write_pair(tmp_path, "page", "# %%\n1\n")
    assert other_kernel(notebook) == ""
    content = json.loads(notebook.read_text())
    for spec, expected in (
        ({"name": "conda-env-foo", "display_name": "foo"}, "conda-env-foo"),
        ({"name": "python3", "display_name": "Python 3"}, ""),
    ):
        content["metadata"]["kernelspec"] = spec
        notebook.write_text(json.dumps(content))
        assert other_kernel(notebook) == expected
    del content["metadata"]["kernelspec"]
    notebook.write_text(json.dumps(content))
    assert other_kernel(notebook) == "" and parameters_of(notebook) == {}
    content["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    notebook.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="written for R; only Python is run"):
        other_kernel(notebook)


def test_a_file_that_is_no_notebook_is_refused(tmp_path):
    for content in ("nonsense", "[]", "{}"):
        (tmp_path / "page.ipynb").write_text(content)
        with pytest.raises(ValueError, match=r"page\.ipynb is no notebook"):
            parameters_of(tmp_path / "page.ipynb")


@pytest.mark.parametrize("name", ["01_first", "01_first.ipynb", "01_first.py"])
def test_a_notebook_is_found_by_name_or_path(notebook, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    assert notebook_path(notebook.parent / name) == notebook
    monkeypatch.chdir(notebook.parent)
    assert notebook_path(name) == notebook


def test_an_unknown_notebook_gets_the_nearest_known(monkeypatch, tmp_path):
    (tmp_path / "notebooks").mkdir()
    write_pair(tmp_path / "notebooks", "05_results", "# %%\n1\n")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    with pytest.raises(FileNotFoundError, match="no notebook '05_result'; there are: 05_results"):
        notebook_path("05_result")
    with pytest.raises(FileNotFoundError, match="there are: 05_results"):
        notebook_path("nothing/like/it")


def test_the_source_is_never_the_output(notebook):
    before = notebook.read_bytes()
    with pytest.raises(ValueError, match="choose another output"):
        notebooks.run_notebook(notebook, notebook)
    assert notebook.read_bytes() == before


@pytest.mark.slow
def test_a_failing_cell_is_named_and_the_partial_notebook_kept(tmp_path):
    text = "# %%\nprint('done')\n\n# %%\n# why\nmissing + 1\n\n# %%\nprint('never')\n"
    notebook = write_pair(tmp_path, "failing", text)
    output = tmp_path / "out" / "failing.ipynb"
    cells = []
    with pytest.raises(NotebookError) as caught:
        notebooks.run_notebook(notebook, output, on_cell=lambda *seen: cells.append(seen[:2]))
    for part in ("failing, cell [2] `# why`", "NameError: name 'missing'", str(output)):
        assert part in str(caught.value)
    assert cells == [(1, 3), (2, 3)]
    kept = output.read_text()
    assert "done" in kept and json.loads(kept)["cells"]


@pytest.mark.slow
def test_a_run_says_what_ran_and_a_dead_kernel_what_it_said_last(tmp_path):
    dies = "import os, sys\n# %%\nos.write(2, b'out of luck'); os._exit(3)\n"
    notebook = write_pair(tmp_path, "{page}", f"# %%\n{dies}")
    content = json.loads(notebook.read_text())
    content["metadata"]["kernelspec"] = {"name": "conda-env-foo", "display_name": "foo"}
    notebook.write_text(json.dumps(content))
    with pytest.raises(NotebookError, match=r"Kernel died.*\n.*out of luck\n  partial run: "):
        notebooks.run_notebook(notebook, tmp_path / "out.ipynb")
    ran = json.loads((tmp_path / "out.ipynb").read_text())["metadata"]["kernelspec"]
    assert ran["name"] == "python3"
    assert {path.name for path in tmp_path.iterdir()} == {"{page}.ipynb", "{page}.py", "out.ipynb"}


def test_no_two_runs_share_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "build_dir", lambda: tmp_path)
    names = []
    threads = [
        threading.Thread(target=lambda: names.append(outputs.reserve_output("page")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 8
    (tmp_path / "runs" / "other_files").mkdir()
    assert outputs.reserve_output("other")[0].name == "other-2.ipynb"


def test_a_finished_run_replaces_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "build_dir", lambda: tmp_path)
    made, results = outputs.reserve_output("page")
    made.write_text("a run")
    results.mkdir()
    (tmp_path / "mine.ipynb").write_text("mine")
    for taken in ("mine.ipynb", "yours_files"):
        (tmp_path / taken).exists() or (tmp_path / taken).mkdir()
        output = tmp_path / taken.replace("_files", ".ipynb")
        with pytest.raises(OSError, match=rf"{taken} exists already.*the whole run is in .*page"):
            outputs.deliver(made, results, output)
        assert made.read_text() == "a run" and results.is_dir()
    assert (tmp_path / "mine.ipynb").read_text() == "mine"
    assert outputs.deliver(made, results, tmp_path / "new.ipynb") == tmp_path / "new_files"
    assert (tmp_path / "new.ipynb").read_text() == "a run" and (tmp_path / "new_files").is_dir()
    assert not made.exists() and not list(tmp_path.glob(".*"))


FILES = {"tables/tab-a.csv": 50_000, "figures/fig-a.svg": 50_000}
HINDERED = {  # kind 10: what happens, and the reason that is said
    "full at the notebook": ("tmpfs 16k", "No space left on device"),
    "full at the tables": ("tmpfs 64k", "No space left on device"),
    "read-only": ("ro", "Read-only file system"),
    "no such folder": ("gone", "No such file or directory"),
    "the name taken meanwhile": ("taken", "File exists"),
    "no hard links, no rename": ("rename", "not permitted"),
}


@pytest.mark.parametrize("kind", HINDERED)
def test_a_run_is_delivered_whole_or_not_at_all(tmp_path, monkeypatch, kind):
    how, reason = HINDERED[kind]
    monkeypatch.setattr(outputs, "build_dir", lambda: tmp_path)
    made, results = outputs.reserve_output("page")
    made.write_text("a run" * 9000)
    for name, size in FILES.items():
        (results / name).parent.mkdir(parents=True)
        (results / name).write_text("x" * size)
    disk = tmp_path / "disk"
    disk.mkdir()
    if how[:2] in ("tm", "ro"):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={how[6:] or '1m'}", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("no disk may be mounted here")
        if how == "ro":
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    if how == "gone":
        disk.rmdir()
    if how in ("taken", "rename"):

        def refuse(*arguments):
            raise FileExistsError(17, reason) if how == "taken" else PermissionError(1, reason)

        monkeypatch.setattr(os, "link", refuse)
        if how == "rename":
            rename = Path.rename
            monkeypatch.setattr(
                Path, "rename",
                lambda p, to: refuse() if p.suffix == ".ipynb" else rename(p, to))  # fmt: skip
    try:
        with pytest.raises(OSError, match=f"isn't written: .*{reason}; the whole run is in {made}"):
            outputs.deliver(made, results, disk / "mine.ipynb")
        assert not disk.exists() or not list(disk.iterdir())
    finally:
        subprocess.run(["umount", str(disk)], capture_output=True)
    assert made.stat().st_size == 45_000
    assert all((results / name).stat().st_size == size for name, size in FILES.items())
    (tmp_path / "elsewhere").mkdir()
    if how not in ("taken", "rename"):
        outputs.deliver(made, results, tmp_path / "elsewhere" / "mine.ipynb")
        delivered = [path for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()]
        assert sorted(path.stat().st_size for path in delivered) == [45_000, 50_000, 50_000]
        assert not made.exists() and not results.exists()


FORKED = """
# %% [markdown]
# # Mine
#
# [Figure mine](#fig-mine), [Figure
# mine-too](#fig-mine-too), [Figure other](other.ipynb#fig-other), [(mine)](#eq-mine)
#
# <a id="eq-mine"></a>
#
# $$
# a \\tag{mine}
# $$

# %% tags=["parameters"]
datasets: list = [
    "Abalone",
]  # data – sets
rate: float = 0.5  # how fast
words: list[str] = []  # some

# %%
show("fig-mine", figure, "As [Table shown](#tab-shown).", "A mine.")
show("fig-mine-too", figure, "Of mine.", "A mine.")
show("tab-shown", table, "A table.")
"""


def test_a_fork_gets_labels_of_its_own_and_a_place_in_the_contents(monkeypatch, tmp_path):
    for module in (notebooks, fork):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    source = write_pair(tmp_path / "notebooks", "mine", FORKED)
    contents = "root: a\nchapters:\n  - file: notebooks/mine\n  - file: book/fork  # last\n"
    (tmp_path / "_toc.yml").write_text(contents)
    (tmp_path / "ö my.csv").touch()
    monkeypatch.chdir(tmp_path / "notebooks")
    defaults = {"datasets": ["Abalone", "../ö my.csv"], "words": ["a", "b"]}
    made = fork.fork_notebook("mine", "your_own", defaults)
    text = made.with_suffix(".py").read_text()
    for own in ("[Figure mine-your-own](#fig-mine-your-own)", "mine-too-your-own](#fig-mine-too-y",
                "[(mine-your-own)](#eq-mine-your-own)", '<a id="eq-mine-your-own"></a>',
                r"\tag{mine-your-own}", "[Figure other](other.ipynb#fig-other)"):  # fmt: skip
        assert own in text
    assert "datasets: list = ['Abalone', 'ö my.csv']  # data – sets\nrate: float = 0.5" in text
    assert "words: list[str] = ['a', 'b']  # some" in text
    assert (
        'show("fig-mine-your-own", figure, "As [Table shown-your-own](#tab-shown-your-own' in text
    )
    assert '"fig-mine-too-your-own", figure, "Of mine."' in text and '"tab-shown-your-own"' in text
    lines = (tmp_path / "_toc.yml").read_text().splitlines()
    assert lines[3] == "  - file: notebooks/your_own" and lines[4].endswith("# last")
    assert source.with_suffix(".py").read_text().count("your") == 0
    with pytest.raises(FileExistsError, match="your_own exists already"):
        fork.fork_notebook("mine", "your_own")
    for taken in ("Your_Own", "MINE"):  # kind 11: equal where case doesn't count
        with pytest.raises(FileExistsError, match=r"your_own exists already|mine exists already"):
            fork.fork_notebook("mine", taken)
    for name in ("../escape", "con", "Aux", "LPT1", "", "a.b", "größe", "a" * 200):
        with pytest.raises(ValueError, match="allowed: up to 100 letters, digits and _"):
            fork.fork_notebook("mine", name)
    monkeypatch.setattr(fork, "ROOT", tmp_path / "notebooks")
    with pytest.raises(ValueError, match=r"my\.csv lies outside the book"):
        fork.fork_notebook(source, "another", defaults)


CONTENTS = """# mine
format: jb-book
root: book/index
parts:
  - caption: Paper  # of 2026
    chapters:
      - file: "notebooks/01"
        title: 'One: a title that is longer than any line should be, and yet it is one line'  # t

      # more
      - file: book/rerun
  - caption: Use it
"""
NESTED = "chapters:\n- file: notebooks/a\n  sections:\n  - file: notebooks/b\n- url: x\n"


@pytest.mark.parametrize(
    ("text", "line", "added"),
    [
        (CONTENTS, 8, "      - file: notebooks/mine"),
        ("root: a\nchapters:\n- file: notebooks/a   # why\n\n# end\n", 3, "- file: notebooks/mine"),
        (NESTED, 4, "  - file: notebooks/mine"),
        (NESTED.replace("notebooks/b", "book/b"), 4, "- file: notebooks/mine"),
    ],
)
def test_the_contents_gain_one_line_and_lose_nothing(text, line, added):
    lines = text.splitlines()
    assert add_to_contents(text, "mine").splitlines() == [*lines[:line], added, *lines[line:]]


PARTS = """parts:
- caption: Paper
  chapters:
  - file: notebooks/01
  - file: notebooks/02
    sections:
    - file: notebooks/03
# more
- chapters:
  - file: book/a
  - url: https://example.org
    title: b
  caption: "Use: it"  # for all
- caption: Empty
"""


@pytest.mark.parametrize(("part", "line"), [("Paper", 7), ("Use: it", 12)])
def test_a_fork_ends_the_part_that_its_author_names(part, line):
    lines = PARTS.splitlines()
    expected = [*lines[:line], "  - file: notebooks/mine", *lines[line:]]
    assert add_to_contents(PARTS, "mine", part).splitlines() == expected


@pytest.mark.parametrize(
    ("text", "part", "message"),
    [
        (PARTS, "paper", 'has no part \'paper\'; allowed: "Paper", "Use: it", "Empty"'),
        (NESTED, "Paper", "has no part 'Paper'; allowed: none"),
        (PARTS, "Empty", "lists no page in the part 'Empty'"),
        ("root: [a", "Paper", "is no table of contents"),
    ],
)
def test_a_part_that_is_not_there_is_named(text, part, message):
    with pytest.raises(ValueError, match=message):
        add_to_contents(text, "mine", part)


@pytest.mark.parametrize(
    ("title", "heading"), [(None, "# Your own"), (r"A & \1 _b_", r"# A & \1 _b_")]
)
def test_a_fork_has_a_title_of_its_own(monkeypatch, tmp_path, title, heading):
    for module in (notebooks, fork):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    write_pair(tmp_path / "notebooks", "first", FIRST)
    (tmp_path / "_toc.yml").write_text("- file: notebooks/first\n")
    made = fork.fork_notebook("first", "your_own", title=title)
    text = made.with_suffix(".py").read_text()
    assert f"\n# {heading}\n" in text and "# # First\n" not in text


@pytest.mark.parametrize("contents", ["root: a\n", "root: [a\n", "- file: book/a\n"])
def test_a_fork_that_has_no_place_leaves_nothing(monkeypatch, tmp_path, contents):
    for module in (notebooks, fork):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    write_pair(tmp_path / "notebooks", "source", FORKED)
    (tmp_path / "_toc.yml").write_text(contents)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=r"_toc\.yml"):
        fork.fork_notebook("source", "copy")
    (tmp_path / "_toc.yml").write_text("- file: notebooks/source\n")
    (tmp_path / "_toc.yml.new").touch()
    with pytest.raises(FileExistsError, match="another fork is at work"):
        fork.fork_notebook("source", "copy")
    (tmp_path / "_toc.yml.new").unlink()
    (tmp_path / "_toc.yml").write_text(contents)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
