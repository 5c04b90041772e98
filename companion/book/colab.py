"""Copies of the notebooks for Colab, which begin with a cell that installs the project.

Colab opens notebooks from GitHub alone and brings no checkout along. When the book is published,
``.github/workflows/publish.yml`` pushes the copies to the branch `BRANCH`, where the book's Colab
buttons lead; the committed notebooks stay as they are.
"""

import json
import sys
from pathlib import Path

from companion.paths import ROOT
from companion.repository import repository, with_address

BRANCH = "colab"
INSTALL = """\
# Fetch and install the project that this notebook belongs to.
import sys

!git clone -q {address} companion && git -C companion checkout -q {branch}
%pip install -q ./companion/amol ./companion
sys.path.insert(0, "companion")"""


def write_copies(target: Path) -> list[Path]:
    """Write each notebook with the cell that installs the project to ``<target>/notebooks``.

    Raises
    ------
    ValueError
        If the repository's address isn't known, or isn't on GitHub.
    """
    address, branch = repository(ROOT)
    if "github" not in address:
        raise ValueError(f"the repository is {address or 'unknown'}; Colab opens GitHub's alone")
    source = INSTALL.format(address=address, branch=branch).splitlines(keepends=True)
    cell = {"cell_type": "code", "execution_count": None, "id": "install", "metadata": {}}
    cell |= {"outputs": [], "source": source}
    copies = []
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        copy = json.loads(notebook.read_text(encoding="utf-8"))
        for shown in copy["cells"]:
            if shown["cell_type"] == "markdown":
                shown["source"] = [with_address(line, address) for line in shown["source"]]
        copy["cells"].insert(0, cell)
        copies.append(target / "notebooks" / notebook.name)
        copies[-1].parent.mkdir(parents=True, exist_ok=True)
        copies[-1].write_text(json.dumps(copy, indent=1, ensure_ascii=False), encoding="utf-8")
    return copies


if __name__ == "__main__":
    for path in write_copies(Path(sys.argv[1])):
        print(path)
