"""The built book as a Workflow Run RO-Crate: which page was made of what, by what and when.

``ro-crate-metadata.json`` at the root of the site follows RO-Crate 1.1 and the profile Workflow Run
Crate 0.5 (Leo et al. 2024, doi:10.1371/journal.pone.0309210). The build is the workflow; each
executed page is an action with its parameters, files, libraries and times. Files that pages read
are copied to ``inputs``.
"""

import json
import mimetypes
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from rocrate.model import ComputationalWorkflow, ComputerLanguage, ContextEntity, Entity, File
from rocrate.rocrate import ROCrate

import companion
from companion.book.execute import book_notebooks, executed_copy, record_of
from companion.book.notebooks import parameters_of
from companion.paths import ROOT
from companion.repository import repository

PACKAGE = Path(companion.__file__).parent
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
WORKFLOW_TERMS = "https://w3id.org/ro/terms/workflow-run/context"
FORMATS = {".ipynb": "application/x-ipynb+json", ".tex": "application/x-tex",
           ".csv": "text/csv", ".data": "text/csv", ".toml": "application/toml"}  # fmt: skip
OF_THE_STUDY = ("runs.csv", "ledger.csv", "ledger.json")
MIT = "https://spdx.org/licenses/MIT"
CC_BY = "https://creativecommons.org/licenses/by/4.0/"
DATA = "inputs/companion/data/files/"  # under CC BY, all else under MIT
DONE = {"@id": "http://schema.org/CompletedActionStatus"}
LABEL = re.compile(r"(?:\{result\} |:name: )([\w-]+)")  # of a table or figure, in an executed copy


class _Book(ROCrate):
    """The crate of a rendered site; what is added twice is there once."""

    def __init__(self, site: Path):
        super().__init__(version="1.1")
        self.site = site
        self.authors = self.entity("Organization", "#contributors", name="The contributors")
        self.python = self.add(ComputerLanguage(self, "#python", {
            "name": "Python", "version": platform.python_version(),
            "url": {"@id": "https://www.python.org"},
        }))  # fmt: skip

    def entity(self, kind: str, name: str, /, **facts) -> ContextEntity:
        held = ContextEntity(self, name, {"@type": kind} | facts)
        return self.dereference(name) or self.add(held)

    def file(self, path: Path, kind: str = "", cls: type[File] = File, **facts) -> File:
        """A file of the site."""
        where = path.relative_to(self.site).as_posix()
        form = FORMATS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
        license = {"@id": CC_BY if where.startswith(DATA) else MIT}
        facts = {"name": path.name, "encodingFormat": form, "license": license} | facts
        if kind:
            facts["@type"] = ["File", kind]
        return self.dereference(where) or self.add(cls(self, dest_path=where, properties=facts))

    def input(self, path: Path, **how) -> File:
        """A file of the repository, which the site gets a copy of."""
        base = ROOT if path.is_relative_to(ROOT) else PACKAGE.parent
        copy = self.site / "inputs" / path.relative_to(base)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        return self.file(copy, **how)

    def inputs(self, names: Iterable[str]) -> list[File]:
        """The data files of the repository among what a page read."""
        files = [ROOT / name for name in names if not name.startswith(".")]
        ours = [path for path in files if path.is_relative_to(ROOT)
                or path.is_relative_to(PACKAGE)]  # fmt: skip
        return [self.input(path) for path in ours if path.is_file() and path.suffix != ".py"]

    def outputs(self, source: Path) -> list[File]:
        """The page of a notebook, with the files of its tables and figures."""
        page = (self.site / source.relative_to(ROOT)).with_suffix(".html")
        labels = dict.fromkeys(LABEL.findall(executed_copy(source).read_text(encoding="utf-8")))
        results = self.site / "results"
        files = [file for label in labels for file in sorted(results.glob(f"*/{label}.*"))]
        return [self.file(page, name=source.stem), *map(self.file, files)]

    def execution(self, source: Path) -> Entity:
        """The execution of a notebook."""
        copy = executed_copy(source)
        ran = json.loads(copy.read_text(encoding="utf-8"))["metadata"]["papermill"]
        facts = record_of(source)
        read = facts["reads"]
        values = {name: known["default"] for name, known in parameters_of(source).items()}
        given = [
            self.entity("PropertyValue", f"#{source.stem}-{name}", name=name, value=_text(value))
            for name, value in (values | ran["parameters"]).items()
        ]
        needed = [
            self.entity("SoftwareApplication", f"#{name}-{version}", name=name, version=version)
            for name, version in {**read["libraries"], "Python": read["Python"]}.items()
        ]
        notebook = self.file(
            self.site / "_sources" / source.relative_to(ROOT), "SoftwareSourceCode",
            name=f"notebook {source.stem}", programmingLanguage=self.python,
            softwareRequirements=needed,
        )  # fmt: skip
        return self.add_action(notebook, f"#run-{source.stem}", properties={
            "name": f"execution of {source.stem}",
            "description": f"on {facts['hardware']}, at commit {facts['commit']}",
            "object": [*given, *self.inputs(read["files"])], "result": self.outputs(source),
            "startTime": ran["start_time"], "endTime": ran["end_time"],
            "actionStatus": DONE, "agent": self.authors,
        })  # fmt: skip


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _all(actions: list[Entity], of: str) -> list[Entity]:
    return list({each.id: each for action in actions for each in action[of]}.values())


def write_crate(site: Path) -> None:
    """Describe a rendered site in ``ro-crate-metadata.json``, and copy what its pages read."""
    book = _Book(site)
    book.metadata.extra_contexts.append(WORKFLOW_TERMS)
    pages = [book.execution(source) for source in book_notebooks()]

    # The workflow: the code of the build, which runs the notebooks.
    code = book.input(PACKAGE / "book" / "build.py", cls=ComputationalWorkflow)
    code["name"] = "amol build: trains the study, executes the pages, renders the book"
    code["conformsTo"] = {
        "@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
    }
    code["programmingLanguage"] = book.python
    code["hasPart"] = [page["instrument"] for page in pages]

    # Its run: all that the pages read and made, and the study's tables.
    study = [site / "results" / name for name in OF_THE_STUDY]
    end = max(page["endTime"] for page in pages)
    build = book.add_action(code, "#build", properties={
        "name": "amol build", "object": _all(pages, "object"),
        "result": [*(book.file(f) for f in study if f.exists()), *_all(pages, "result")],
        "startTime": min(page["startTime"] for page in pages), "endTime": end,
        "actionStatus": DONE, "agent": book.authors,
    })  # fmt: skip

    # The crate as a whole.
    book.name = "Adaptive Margin Ordinal Loss, Reproduced"
    book.description = (
        "An executable companion of arXiv:2609.10752: pages, tables, figures, the data behind "
        "them, and how each was made."
    )
    book.license = book.entity("CreativeWork", MIT, name="MIT License")
    book.entity("CreativeWork", CC_BY, name="CC BY 4.0")
    book.root_dataset["author"], book.mainEntity = book.authors, code
    book.root_dataset["datePublished"] = end
    book.root_dataset["mentions"] = [build, *pages]
    book.root_dataset["conformsTo"] = [
        book.entity("CreativeWork", profile, name=name, version=version)
        for profile, (name, version) in PROFILES.items()
    ]
    if address := repository(ROOT)[0]:
        book.root_dataset["url"] = address
    book.metadata["conformsTo"] = [{"@id": book.metadata.profile}, {"@id": list(PROFILES)[-1]}]
    book.metadata.write(site)
