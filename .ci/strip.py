"""Removal of what isn't committed from notebooks: `python .ci/strip.py notebooks/*.ipynb`.

Takes outputs out of each, and jupytext's version out of the header of its `.py` twin.
"""

import re
import sys
from pathlib import Path

import nbformat

VERSION = re.compile(r"#     text_representation:\n(?:#       .*\n)+")

for path in map(Path, sys.argv[1:]):
    notebook = nbformat.read(path, as_version=4)
    ran = [c for c in notebook.cells if c.cell_type == "code" and (c.outputs or c.execution_count)]
    for cell in ran:
        cell.update(outputs=[], execution_count=None)
        cell.metadata.pop("execution", None)
    if ran:
        nbformat.write(notebook, path)
    twin = path.with_suffix(".py")
    text = twin.read_text(encoding="utf-8")
    if VERSION.search(text):
        twin.write_text(VERSION.sub("", text, count=1), encoding="utf-8")
