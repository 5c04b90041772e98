"""Parameters of a notebook: names, types, and one meaning wherever a value comes from."""

import json

import pytest
import yaml
from conftest import FIRST, write_pair

from amol.errors import NotebookError
from amol.publishing import fork, notebooks
from amol.publishing.notebooks import notebook_path, parameters_of, parse_parameters


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


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("rate", "1e-3", 0.001),
        ("rate", "2", 2.0),
        ("loud", "true", True),
        ("loud", "No", False),
        ("title", "5", "5"),
        ("title", "yes", "yes"),
        ("names", "[x, Wine Red]", ["x", "Wine Red"]),
        ("names", "[1, 2]", ["1", "2"]),
        ("anything", "4", 4),
    ],
)
def test_a_value_means_the_same_from_the_command_line_and_from_yaml(notebook, name, text, value):
    read = yaml.load(f"{{{name}: {text}}}", yaml.BaseLoader)
    for given in ({name: text}, read):
        found = parse_parameters(notebook, given)[name]
        assert found == value and type(found) is type(value)


def test_a_list_may_be_written_with_commas(notebook):
    assert parse_parameters(notebook, {"names": "x, Wine Red"}) == {"names": ["x", "Wine Red"]}


def test_items_of_a_list_take_the_type_of_the_default(tmp_path):
    text = (
        '# %% tags=["parameters"]\nsizes: list = [1, 2]\nempty: list = []\nmixed: dict = {}\n'
        'words: list[str] = []\nseeds: "int or list" = 5  # number, or a list of seeds\n'
    )
    notebook = write_pair(tmp_path, "lists", text)
    given = {"sizes": "3,4", "empty": "3,0.5,true,x", "mixed": "{a: 1e-3, b: no, c: d}"}
    given |= {"words": "1,no", "seeds": "[0, 3]"}
    assert parse_parameters(notebook, {"seeds": ["0", "3"]}) == {"seeds": [0, 3]}
    assert parse_parameters(notebook, {"seeds": "3"}) == {"seeds": 3}
    assert parse_parameters(notebook, given) == {
        "sizes": [3, 4],
        "empty": [3, 0.5, True, "x"],
        "mixed": {"a": 0.001, "b": False, "c": "d"},
        "words": ["1", "no"],
        "seeds": [0, 3],
    }
    with pytest.raises(ValueError, match=r"sizes is '3,x'; wanted: a list"):
        parse_parameters(notebook, {"sizes": "3,x"})
    with pytest.raises(ValueError, match="seeds is 'x'; wanted: int or list, such as 5"):
        parse_parameters(notebook, {"seeds": "x"})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cout": "1"}, "no parameter 'cout'; did you mean count.*allowed: names, count"),
        ({"zzz": "1"}, "no parameter 'zzz'; allowed: names"),
        ({"count": "2.5"}, "count is '2.5'; wanted: int, such as 2"),
        ({"count": "many"}, "count is 'many'; wanted: int"),
        ({"rate": "fast"}, "rate is 'fast'; wanted: float"),
        ({"loud": "2"}, "loud is '2'; wanted: true or false"),
        ({"count": ["1"]}, "count is .*; wanted: int"),
        ({"names": {"a": "b"}}, "names is .*; wanted: a list"),
        ({"title": ["a"]}, "title is .*; wanted: str"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(notebook, given, told):
    with pytest.raises(ValueError, match=told):
        parse_parameters(notebook, given)


def test_a_notebook_without_parameters_takes_none(tmp_path):
    notebook = write_pair(tmp_path, "bare", "# %%\nprint(1)\n")
    assert parameters_of(notebook) == {}
    with pytest.raises(ValueError, match="bare has no parameter 'a'; allowed: none"):
        parse_parameters(notebook, {"a": "1"})


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
    for told in ("failing, cell [2] `# why`", "NameError: name 'missing'", str(output)):
        assert told in str(caught.value)
    assert cells == [(1, 3), (2, 3)]
    kept = output.read_text()
    assert "done" in kept and json.loads(kept)["cells"]


FORKED = """
# %% [markdown]
# (sec-mine)=
# # Mine
#
# {numref}`fig-mine`, {numref}`fig-mine-too`, {numref}`fig-other`, {eq}`eq-mine`,
# {glue:text}`mine.ipynb::value:.2f`, {glue:text}`other.ipynb::value:.2f`
#
# $$ a $$ (eq-mine)

# %% tags=["parameters"]
datasets: list = [
    "Abalone",
]  # data – sets
rate: float = 0.5  # how fast
words: list[str] = []  # some

# %%
show("tab-mine", table)

# %% [markdown]
# ```{result} tab-mine
# ```
# ```{result} fig-mine
# ```
# :::{figure} drawing.svg
# :name: fig-mine-too
# :::
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
    for own in ("(sec-mine-your-own)=", "{eq}`eq-mine-your-own`", "(eq-mine-your-own)"):
        assert own in text
    assert "datasets: list = ['Abalone', 'ö my.csv']  # data – sets\nrate: float = 0.5" in text
    assert "words: list[str] = ['a', 'b']  # some" in text
    for own in ("{result} tab-mine-your-own\n", "{result} fig-mine-your-own\n"):
        assert own in text
    assert "{numref}`fig-mine-too-your-own`" in text and ":name: fig-mine-too-your-own\n" in text
    assert 'show("tab-mine-your-own", table)' in text and "your_own.ipynb::value" in text
    assert "`fig-other`" in text and "other.ipynb::value" in text
    lines = (tmp_path / "_toc.yml").read_text().splitlines()
    assert lines[3] == "  - file: notebooks/your_own" and lines[4].endswith("# last")
    assert source.with_suffix(".py").read_text().count("your") == 0
    with pytest.raises(FileExistsError, match="your_own exists already"):
        fork.fork_notebook("mine", "your_own")
    with pytest.raises(ValueError, match="allowed: letters, digits and _"):
        fork.fork_notebook("mine", "../escape")
    monkeypatch.setattr(fork, "ROOT", tmp_path / "notebooks")
    with pytest.raises(ValueError, match=r"my\.csv lies outside the book"):
        fork.fork_notebook(source, "another", defaults)
