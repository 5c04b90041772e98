"""Copy of a notebook of the book under a new name, with labels and defaults of its own."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import jupytext
import nbformat

from companion.book.notebooks import notebook_path
from companion.paths import ROOT

DEFINED = re.compile(r'"((?:fig|tab|eq)-[a-z0-9-]+)"')  # show("fig-…", <a id="eq-…">
# A notebook in _toc.yml: its line, and further ones that are indented more, up to another notebook.
NOTEBOOK = r"- +file: *[\"']?notebooks/"
ENTRY = re.compile(rf"^( *){NOTEBOOK}.*(?:\n\1 +(?!{NOTEBOOK})\S.*)*", re.MULTILINE)


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
    """The notebook with its own labels, and links to them, suffixed by the new name."""
    notebook = nbformat.read(original, as_version=4)
    own = {label for cell in notebook.cells for label in DEFINED.findall(cell.source)}
    own = sorted(own, key=len, reverse=True)
    suffix = name.lower().replace("_", "-")
    labels = re.compile(rf"(?<![\w-])({'|'.join(own)})(?![\w-])")
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = _with_defaults(cell.source, defaults)
        for label in own:  # what it is called: [Figure name](#fig-name), \tag{name}
            called = label.partition("-")[2]
            words = rf"(?<![\w-]){called}(?=\)?\]\(#{label}\))"
            cell.source = re.sub(words, f"{called}-{suffix}", cell.source)
            cell.source = cell.source.replace(f"\\tag{{{called}}}", f"\\tag{{{called}-{suffix}}}")
        if own:
            cell.source = labels.sub(rf"\1-{suffix}", cell.source)
    return notebook


def add_to_contents(text: str, name: str) -> str:
    """The table of contents, the text of ``_toc.yml``, with a notebook after the last one.

    Raises
    ------
    ValueError
        If the text lists no notebook.
    """
    entries = [*ENTRY.finditer(text)]
    if not entries:
        raise ValueError("_toc.yml lists no page of the folder notebooks")
    indent, end = entries[-1][1], entries[-1].end()
    return f"{text[:end]}\n{indent}- file: notebooks/{name}{text[end:]}"


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
        Checked values (`companion.book.notebooks.check_settings`) that the copy's parameters
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
            with path.open("x", encoding="utf-8", newline="\n") as file:
                written.append(path)
                file.write(content)
        listed.replace(contents)
    except BaseException:
        for path in [*written, listed]:
            path.unlink(missing_ok=True)
        raise
    return target
