"""Removal of outputs from notebooks: `python .ci/strip.py notebooks/*.ipynb`."""

import sys

import nbformat

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    ran = [c for c in notebook.cells if c.cell_type == "code" and (c.outputs or c.execution_count)]
    for cell in ran:
        cell.update(outputs=[], execution_count=None)
        cell.metadata.pop("execution", None)
    if ran:
        nbformat.write(notebook, path)
