"""Copy of a notebook of the book under a new name, with labels and defaults of its own."""

import ast
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import jupytext
import nbformat
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import CommentToken
from ruamel.yaml.util import load_yaml_guess_indent

from amol.paths import ROOT
from amol.publishing.notebooks import notebook_path
from amol.publishing.outputs import write_new

LABEL = r"(?:fig|tab|eq|sec)-[a-z0-9-]+"
# (label)=   $$ (label)   :name: label   :label: label   "label"   ```{result} label
DEFINED = re.compile(
    rf'(?:^\(|\$\$ \(|:name: |:label: |"|\{{result\}} )({LABEL})(?=\)|"|\s|$)', re.MULTILINE
)


def _in_the_book(values: Mapping) -> dict:
    """The values, with paths of CSV files relative to the folder of the book."""
    datasets = []
    for name in values.get("datasets", ()):
        if Path(name).is_file():
            path = Path(name).parent.resolve() / Path(name).name
            if not path.is_relative_to(ROOT):
                raise ValueError(f"{name} lies outside the book; copy it to {ROOT}")
            name = path.relative_to(ROOT).as_posix()
        datasets.append(name)
    return {**values, **({"datasets": datasets} if datasets else {})}


def _with_defaults(cell: str, values: Mapping) -> str:
    """A parameters cell whose named parameters have other defaults."""
    lines = cell.splitlines()
    for node in reversed(ast.parse(cell).body):
        if isinstance(node, ast.AnnAssign) and (name := node.target.id) in values:
            comment = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
            kind = ast.unparse(node.annotation)
            text = f"{name}: {kind} = {values[name]!r}{comment}"
            lines[node.lineno - 1 : node.end_lineno] = [text]
    return "\n".join(lines)


def _renamed(original: Path, name: str, defaults: Mapping) -> nbformat.NotebookNode:
    """The notebook with its own labels, and references to them, suffixed by the new name."""
    notebook = nbformat.read(original, as_version=4)
    own = {label for cell in notebook.cells for label in DEFINED.findall(cell.source)}
    suffix = name.lower().replace("_", "-")
    labels = re.compile(rf"(?<![\w-])({'|'.join(sorted(own, key=len, reverse=True))})(?![\w-])")
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = _with_defaults(cell.source, defaults)
        cell.source = cell.source.replace(f"{original.name}::", f"{name}.ipynb::")
        if own:
            cell.source = labels.sub(rf"\1-{suffix}", cell.source)
    return notebook


def _pages(contents) -> Iterator[tuple[list, int]]:
    """Lists of the table of contents that hold pages, with the place of each, in its order."""
    if isinstance(contents, list):
        for position, item in enumerate(contents):
            if isinstance(item, dict) and "file" in item:
                yield contents, position
            yield from _pages(item)
    elif isinstance(contents, dict):
        for value in contents.values():
            yield from _pages(value)


def add_to_contents(text: str, name: str) -> str:
    """The table of contents with a notebook after the last one; comments and order stay.

    Parameters
    ----------
    text : str
        Of ``_toc.yml``.
    name : str
        Of a notebook in ``notebooks``.

    Raises
    ------
    ValueError
        If the text is no YAML or lists no notebook.
    """
    try:
        _, indent, offset = load_yaml_guess_indent(text)
        yaml = YAML()
        yaml.preserve_quotes, yaml.width = True, 1 << 16
        yaml.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
        contents = yaml.load(text)
    except YAMLError as error:
        raise ValueError(f"_toc.yml is no YAML: {getattr(error, 'problem', error)}") from None
    notebooks = [(pages, position) for pages, position in _pages(contents)
                 if str(pages[position]["file"]).startswith("notebooks/")]  # fmt: skip
    if not notebooks:
        raise ValueError("_toc.yml lists no page of the folder notebooks")
    pages, position = notebooks[-1]
    last, added = pages[position], CommentedMap(file=f"notebooks/{name}")
    # What stands below the last page, such as a blank line, belongs below the new one.
    comment = last.ca.items.get(list(last)[-1], [None] * 3)[2]
    if comment:
        beside, _, below = comment.value.partition("\n")
        comment.value = f"{beside}\n"
        if below:
            mark = comment.start_mark
            added.ca.items["file"] = [None, None, CommentToken(f"\n{below}", mark, None), None]
    pages.insert(position + 1, added)
    made = io.StringIO()
    yaml.dump(contents, made)
    return made.getvalue()


def fork_notebook(source: str | Path, name: str, defaults: Mapping | None = None) -> Path:
    """Copy a notebook and its .py pair to ``notebooks/<name>`` and list it in ``_toc.yml``.

    The copy's own labels (and with them the names of its tables and figures) get the new name as
    a suffix, since a label may stand once in the book; its other references stay as they are.
    Nothing is written unless all can be.

    Parameters
    ----------
    source : str or Path
    name : str
    defaults : mapping, optional
        Checked values (`amol.publishing.notebooks.check_settings`) that the copy's parameters
        start from. CSV files must lie in the folder of the book.

    Returns
    -------
    Path
        The new notebook.

    Raises
    ------
    ValueError, FileNotFoundError, FileExistsError
    """
    original, contents = notebook_path(source), ROOT / "_toc.yml"
    target = ROOT / "notebooks" / f"{name}.ipynb"
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise ValueError(f"the name is {name!r}; allowed: letters, digits and _")
    if target.exists() or target.with_suffix(".py").exists():
        raise FileExistsError(f"{target.stem} exists already")
    notebook = _renamed(original, name, _in_the_book(defaults or {}))
    texts = {
        target: jupytext.writes(notebook, fmt="ipynb"),
        target.with_suffix(".py"): jupytext.writes(notebook, fmt="py:percent"),
    }
    listed = contents.with_name("_toc.yml.new")  # also keeps a second fork from changing it
    try:
        listed.touch(exist_ok=False)
    except FileExistsError:
        raise FileExistsError(f"{listed} exists: another fork is at work, or was ended") from None
    written = []
    try:
        text = add_to_contents(contents.read_text(encoding="utf-8"), name)
        listed.write_text(text, encoding="utf-8")
        for path, content in texts.items():
            write_new(path, content)
            written.append(path)
        listed.replace(contents)
    except BaseException:
        for path in [*written, listed]:
            path.unlink(missing_ok=True)
        raise
    return target
