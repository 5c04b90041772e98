"""Copy of a notebook of the book under a new name, with labels and defaults of its own."""

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import jupytext
import nbformat
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from companion.book.notebooks import notebook_path
from companion.paths import ROOT

DEVICE = re.compile("con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)  # of Windows
DEFINED = re.compile(r'"((?:fig|tab|eq)-[a-z0-9-]+)"')  # show("fig-…", <a id="eq-…">
# A page in _toc.yml: its line, and further ones that are indented more, those of pages under it
# among them; a notebook's end at another notebook.
PAGE = re.compile(r"^( *)- +(?:file|url):.*(?:\n\1 +\S.*)*", re.MULTILINE)
_NOTEBOOK = r"- +file: *[\"']?notebooks/"
NOTEBOOK = re.compile(rf"^( *){_NOTEBOOK}.*(?:\n\1 +(?!{_NOTEBOOK})\S.*)*", re.MULTILINE)
TITLE = re.compile(r"^# .+", re.MULTILINE)


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


def _renamed(original: Path, name: str, title: str, defaults: Mapping) -> nbformat.NotebookNode:
    """The notebook under its title, its own labels and links to them suffixed by its name."""
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
    headed = (c for c in notebook.cells if c.cell_type == "markdown" and TITLE.search(c.source))
    if cell := next(headed, None):
        cell.source = TITLE.sub(lambda _: f"# {title}", cell.source, count=1)
    return notebook


def _part(text: str, caption: str) -> tuple[int, int]:
    """Where the text of a part of the table of contents begins and ends."""
    try:
        parts = YAML().load(text).get("parts", [])
    except (YAMLError, AttributeError):
        raise ValueError("_toc.yml is no table of contents") from None
    captions = [part.get("caption") for part in parts]
    if caption not in captions:
        known = ", ".join(f'"{name}"' for name in captions if name)
        raise ValueError(f"_toc.yml has no part {caption!r}; allowed: {known or 'none'}")
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    ends = [*(starts[part.lc.line] for part in parts), len(text)]
    at = captions.index(caption)
    return ends[at], ends[at + 1]


def add_to_contents(text: str, name: str, part: str | None = None) -> str:
    """The table of contents, the text of ``_toc.yml``, with one notebook more.

    It comes after the last page of the part, without one after the last notebook of all.

    Raises
    ------
    ValueError
        If there is no such part, or no page in it; the message has the parts' captions.
    """
    start, end = _part(text, part) if part else (0, len(text))
    pages = [*(PAGE if part else NOTEBOOK).finditer(text[start:end])]
    if not pages:
        where = f"in the part {part!r}" if part else "of the folder notebooks"
        raise ValueError(f"_toc.yml lists no page {where}")
    indent, at = pages[-1][1], start + pages[-1].end()
    return f"{text[:at]}\n{indent}- file: notebooks/{name}{text[at:]}"


def fork_notebook(
    source: str | Path,
    name: str,
    defaults: Mapping | None = None,
    part: str | None = None,
    title: str | None = None,
) -> Path:
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
    part : str, optional
        Caption of the part of the book that the page is put at the end of; see `add_to_contents`.
    title : str, optional
        The page's title; without, the words of its name.

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
    if not re.fullmatch(r"[A-Za-z0-9_]{1,100}", name) or DEVICE.fullmatch(name):
        raise ValueError(
            f"the name is {name!r}; allowed: up to 100 letters, digits and _, but no name of a "
            "device, such as con"
        )
    # Some file systems take names for equal that differ in case.
    for path in sorted(target.parent.glob("*.*")):
        if path.suffix in (".ipynb", ".py") and path.stem.lower() == name.lower():
            raise FileExistsError(f"{path.stem} exists already")
    title = title or name.replace("_", " ").capitalize()
    notebook = _renamed(original, name, title, _in_the_book(defaults or {}))
    texts = {
        target: jupytext.writes(notebook, fmt="ipynb"),
        target.with_suffix(".py"): jupytext.writes(notebook, fmt="py:percent"),
    }
    _write(texts, contents, lambda text: add_to_contents(text, name, part))
    return target


def _write(texts: Mapping[Path, str], contents: Path, change: Callable[[str], str]) -> None:
    """Write new files and change the table of contents, or nothing at all."""
    listed = contents.with_name("_toc.yml.new")  # also keeps a second fork from changing it
    try:
        listed.touch(exist_ok=False)
    except FileExistsError:
        raise FileExistsError(f"{listed} exists: another fork is at work, or was ended") from None
    written = []
    try:
        text = change(contents.read_text(encoding="utf-8"))
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
