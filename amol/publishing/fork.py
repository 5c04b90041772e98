"""Copy a notebook of the book under a new name, with names and defaults of its own."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import jupytext
import nbformat

from amol.paths import ROOT
from amol.publishing.notebooks import notebook_path

LABEL = r"(?:fig|tab|eq|sec)-[a-z0-9-]+"
DEFINED = re.compile(rf"(?:^\(|\$\$ \(|:name: |{{result}} )({LABEL})", re.MULTILINE)


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


def fork_notebook(source: str | Path, name: str, defaults: Mapping | None = None) -> Path:
    """Copy a notebook and its .py pair to ``notebooks/<name>`` and list it in ``_toc.yml``.

    The copy's own labels (and with them the names of its tables and figures) get the new name as
    a suffix, since a label may stand once in the book; its other references stay as they are.

    Parameters
    ----------
    source : str or Path
    name : str
    defaults : mapping, optional
        Checked values (`judge`) that the copy's parameters start from. CSV files must lie in the
        folder of the book.

    Returns
    -------
    Path
        The new notebook.

    Raises
    ------
    ValueError, FileNotFoundError, FileExistsError
    """
    original = notebook_path(source)
    target = ROOT / "notebooks" / f"{name}.ipynb"
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise ValueError(f"the name is {name!r}; allowed: letters, digits and _")
    if target.exists() or target.with_suffix(".py").exists():
        raise FileExistsError(f"{target.stem} exists already")
    text = original.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    own = {label for cell in notebook.cells for label in DEFINED.findall(cell.source)}
    suffix = name.lower().replace("_", "-")
    renamed = re.compile(rf"(?<![\w-])({'|'.join(sorted(own, key=len, reverse=True))})(?![\w-])")
    defaults = _in_the_book(defaults or {})
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = _with_defaults(cell.source, defaults)
        cell.source = cell.source.replace(f"{original.name}::", f"{target.name}::")
        if own:
            cell.source = renamed.sub(rf"\1-{suffix}", cell.source)
    jupytext.write(notebook, target)
    jupytext.write(notebook, target.with_suffix(".py"), fmt="py:percent")

    contents = ROOT / "_toc.yml"
    lines = contents.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if "file: notebooks/" in line)
    lines.insert(last + 1, re.sub(r"notebooks/\S+", f"notebooks/{name}", lines[last]))
    contents.write_text("".join(lines), encoding="utf-8")
    return target
