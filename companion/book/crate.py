"""The built book as a Workflow Run RO-Crate: which page was made of what, by what and when.

``ro-crate-metadata.json`` at the root of the site is JSON-LD after RO-Crate 1.1 and the profile
Workflow Run Crate 0.5 (Leo et al. 2024, doi:10.1371/journal.pone.0309210). The build is the
workflow; each executed page is an action with its parameters, files, libraries and times. Files
that pages read are copied to ``inputs``.
"""

import json
import mimetypes
import platform
import re
import shutil
from pathlib import Path

from companion.book.execute import book_notebooks, executed_copy
from companion.book.notebooks import parameters_of
from companion.book.page_key import PACKAGES, ground
from companion.paths import ROOT
from companion.repository import repository

CRATE = "ro-crate-metadata.json"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
FORMATS = {
    ".ipynb": "application/x-ipynb+json",
    ".tex": "application/x-tex",
    ".csv": "text/csv",
    ".data": "text/csv",
    ".toml": "application/toml",
    ".json": "application/json",
}
OF_THE_STUDY = ("runs.csv", "ledger.csv", "ledger.json")
LICENSES = {"inputs/companion/data/files/": "https://creativecommons.org/licenses/by/4.0/"}
MIT = "https://spdx.org/licenses/MIT"
RESULT = re.compile(r"```\{result\} ([\w-]+)")


class _Graph:
    """Entities by ``@id``; each method adds one and gives a reference to it."""

    def __init__(self, site: Path):
        self.site, self.entities = site, {}

    def add(self, name: str, kind: str | list[str], /, **facts) -> dict:
        self.entities.setdefault(name, {"@id": name, "@type": kind} | facts)
        return {"@id": name}

    def file(self, path: Path, *kinds: str, **facts) -> dict:
        """A file of the site."""
        where = path.relative_to(self.site).as_posix()
        form = FORMATS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
        license = next((each for start, each in LICENSES.items() if where.startswith(start)), MIT)
        facts = {"name": path.name, "encodingFormat": form, "license": {"@id": license}} | facts
        return self.add(where, ["File", *kinds] if kinds else "File", **facts)

    def inputs(self, files: list[Path]) -> list[dict]:
        """Files and folders of the repository, which the site gets copies of."""
        found = []
        for part in files:
            base = ROOT if part.is_relative_to(ROOT) else PACKAGES["companion"].parent
            for file in [part] if part.is_file() else sorted(part.rglob("*.*")):
                if "__pycache__" in file.parts or not file.is_relative_to(base):
                    continue
                copy = self.site / "inputs" / file.relative_to(base)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                found.append(self.file(copy))
        return found

    def outputs(self, source: Path) -> list[dict]:
        """The page of a notebook, with the files of its tables and figures."""
        page = (self.site / source.relative_to(ROOT)).with_suffix(".html")
        labels = RESULT.findall("\n".join(_markdown(source)))
        results = self.site / "results"
        files = [file for label in labels for file in sorted(results.glob(f"*/{label}.*"))]
        return [self.file(page, name=source.stem), *map(self.file, files)]

    def action(self, source: Path) -> dict:
        """The execution of a notebook."""
        ran = json.loads(executed_copy(source).read_text(encoding="utf-8"))["metadata"]["papermill"]
        facts = json.loads(executed_copy(source).with_suffix(".json").read_text(encoding="utf-8"))
        on = ground(source)
        values = {name: known["default"] for name, known in parameters_of(source).items()}
        values |= ran["parameters"]
        given = [
            self.add(f"#{source.stem}-{name}", "PropertyValue", name=name, value=_text(value))
            for name, value in values.items()
        ]
        libraries = [text.split(" ") for text in on.libraries]
        libraries.append(["Python", platform.python_version()])
        needed = [
            self.add(f"#{name}-{version}", "SoftwareApplication", name=name, version=version)
            for name, version in libraries
        ]
        notebook = self.site / "_sources" / source.relative_to(ROOT)
        instrument = self.file(
            notebook, "SoftwareSourceCode", name=f"notebook {source.stem}",
            programmingLanguage={"@id": "#python"}, softwareRequirements=needed,
        )  # fmt: skip
        return self.add(
            f"#run-{source.stem}", "CreateAction", name=f"execution of {source.stem}",
            description=f"on {facts['hardware']}, at commit {facts['commit']}",
            instrument=instrument, object=[*given, *self.inputs(on.files)],
            result=self.outputs(source), startTime=ran["start_time"], endTime=ran["end_time"],
            actionStatus={"@id": "http://schema.org/CompletedActionStatus"},
            agent={"@id": "#contributors"},
        )  # fmt: skip


def _markdown(source: Path) -> list[str]:
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_crate(site: Path) -> None:
    """Describe a rendered site in ``ro-crate-metadata.json``, and copy what its pages read."""
    graph = _Graph(site)
    actions = [graph.action(source) for source in book_notebooks()]
    runs = [graph.entities[action["@id"]] for action in actions]
    start, end = min(r["startTime"] for r in runs), max(r["endTime"] for r in runs)
    code = graph.inputs([PACKAGES["companion"] / "book" / "build.py"])[0]
    notebooks = [run["instrument"] for run in runs]
    graph.entities[code["@id"]] |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "amol build: trains the study, executes the pages, renders the book",
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        "programmingLanguage": {"@id": "#python"},
        "hasPart": notebooks,
    }
    study = [site / "results" / name for name in OF_THE_STUDY]
    whole = graph.add(
        "#build", "CreateAction", name="amol build", instrument=code,
        object=_once(each for run in runs for each in run["object"]),
        result=[graph.file(file) for file in study if file.exists()]
        + _once(each for run in runs for each in run["result"]),
        startTime=start, endTime=end,
        actionStatus={"@id": "http://schema.org/CompletedActionStatus"},
        agent={"@id": "#contributors"},
    )  # fmt: skip
    graph.add("#contributors", "Organization", name="The contributors")
    version = platform.python_version()
    graph.add("#python", "ComputerLanguage", name="Python", url={"@id": "https://www.python.org"},
              version=version)  # fmt: skip
    for license, name in {
        MIT: "MIT License",
        **dict.fromkeys(LICENSES.values(), "CC BY 4.0"),
    }.items():
        graph.add(license, "CreativeWork", name=name)
    for profile, (name, version) in PROFILES.items():
        graph.add(profile, "CreativeWork", name=name, version=version)
    files = [{"@id": name} for name, each in graph.entities.items() if "File" in each["@type"]]
    address = repository(ROOT)[0]
    root = {
        "@id": "./", "@type": "Dataset", "name": "Adaptive Margin Ordinal Loss, Reproduced",
        "description": "An executable companion of arXiv:2609.10752: pages, tables, figures, "
        "the data behind them, and how each was made.",
        "datePublished": end, "license": {"@id": MIT}, "author": {"@id": "#contributors"},
        "conformsTo": [{"@id": profile} for profile in PROFILES],
        "mainEntity": code, "mentions": [whole, *actions], "hasPart": files,
    } | ({"url": address} if address else {})  # fmt: skip
    descriptor = {
        "@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"},
        "conformsTo": [{"@id": "https://w3id.org/ro/crate/1.1"}, {"@id": [*PROFILES][-1]}],
    }  # fmt: skip
    context = [f"https://w3id.org/ro/{name}" for name in
               ("crate/1.1/context", "terms/workflow-run/context")]  # fmt: skip
    made = {"@context": context, "@graph": [descriptor, root, *graph.entities.values()]}
    (site / CRATE).write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")


def _once(references) -> list[dict]:
    return list({each["@id"]: each for each in references}.values())
