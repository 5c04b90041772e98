"""One notebook: found by name, its parameters checked, executed through papermill."""

import ast
import difflib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import nbformat
import papermill
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.translators import PythonTranslator

from companion.errors import NotebookError
from companion.paths import ROOT, build_dir

WATCHING = Path(__file__).parent / "files"  # a module that Python imports as it starts
SAVED_EVERY = timedelta(seconds=1)
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
ENVIRONMENT = {
    "JUPYTER_PREFER_ENV_PATH": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",  # equal bits; pages side by side don't stall each other
    "PYTHONOPTIMIZE": "",  # pages assert what they say
    "PYTHONSTARTUP": "",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or the debugger in each of them warns
}


def notebook_path(name: str | Path) -> Path:
    """Find a notebook by name (``05_results``) or by path, with or without extension.

    Raises
    ------
    FileNotFoundError
        Names the nearest known notebooks.
    """
    for folder in (Path.cwd(), ROOT / "notebooks"):
        path = folder / name
        for found in (path.with_suffix(".ipynb"), path.with_name(path.name + ".ipynb")):
            if found.is_file():
                return found.resolve()
    known = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    near = difflib.get_close_matches(Path(name).stem, known) or known
    raise FileNotFoundError(f"no notebook {str(name)!r}; there are: {', '.join(near)}")


def _read(notebook: Path) -> nbformat.NotebookNode:
    try:
        return nbformat.read(notebook, as_version=4)
    except (ValueError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{notebook.name} is no notebook: {reason}") from None


def parameters_of(notebook: Path) -> dict[str, dict]:
    """Parameters by name, each with ``type``, ``default`` (a value) and ``help``."""
    found = {}
    cells = [c for c in _read(notebook).cells if "parameters" in c.metadata.get("tags", [])]
    for known in PythonTranslator.inspect(cells[0]) if cells else ():
        try:
            default = ast.literal_eval(known.default)
            kind = known.inferred_type_name.replace("None", type(default).__name__)
        except ValueError:  # an expression: only the notebook knows its value
            default, kind = known.default, "expression"
        found[known.name] = {"type": kind, "default": default, "help": known.help}
    return found


def other_kernel(notebook: Path) -> str:
    """Name of the kernel that the notebook asks for, where it isn't the one that runs it.

    Raises
    ------
    ValueError
        For a notebook of another language.
    """
    asked = _read(notebook).metadata.get("kernelspec", KERNEL)
    language = asked.get("language", "python")
    if language.lower() != "python":
        raise ValueError(f"{notebook.name} is written for {language}; only Python is run")
    return "" if asked.get("name") == KERNEL["name"] else asked.get("name", "")


def check_settings(parameters: Mapping[str, Mapping], given: Mapping) -> dict:
    """Check values by the study's settings, and make the paths of data files absolute.

    Checked are the parameters that are settings of a study, by name and default. A loss that the
    package doesn't know may be one that the notebook registers, so that is left to the notebook.

    Parameters
    ----------
    parameters : mapping of str to mapping
        From `parameters_of`.
    given : mapping
        From `companion.book.parameters.read_parameters`. A path in ``datasets`` starts at the
        working directory, which isn't the notebook's.

    Returns
    -------
    dict
        The values for the notebook.

    Raises
    ------
    ValueError, FileNotFoundError
    """
    if not given:
        return {}
    from amol.losses import LOSSES
    from companion import StudySettings  # which takes PyTorch's seconds to load
    from companion.data.csv_dataset import is_file

    def same_kind(name: str) -> bool:  # a page may call something else `alpha`, such as a list
        ours, theirs = getattr(StudySettings, name, {}), parameters[name]["default"]
        of_a_study = name in StudySettings.__dataclass_fields__
        return of_a_study and isinstance(ours, tuple) == isinstance(theirs, list)

    files = [name for name in given.get("datasets", ()) if is_file(name)]
    if files and "target" not in parameters:
        raise ValueError(f"datasets holds {files[0]!r}, but this page takes no files")
    values = {name: given.get(name, known["default"]) for name, known in parameters.items()}
    settings = {name: value for name, value in values.items() if same_kind(name)}
    if any(method not in LOSSES for method in settings.get("methods", ())):
        del settings["methods"]
    if settings.keys() & given.keys():
        StudySettings(**settings)
    if not isinstance(given.get("datasets"), list):
        return dict(given)
    datasets = [str(Path(name).absolute()) if Path(name).is_file() else name
                for name in given["datasets"]]  # fmt: skip
    return {**given, "datasets": datasets}


class _ReportingEngine(NBClientEngine):
    """Papermill's own engine, calling ``on_cell(number, total, cell)`` after each cell.

    The output is written every second, not before and after each cell: that takes longer than
    most cells once there are figures.
    """

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, on_cell=None, **kwargs):
        complete, save = nb_man.cell_complete, nb_man.save

        def save_when_due():
            if nb_man.now() - nb_man.last_save_time >= SAVED_EVERY:
                save()

        def cell_complete(cell, cell_index=None, **rest):
            complete(cell, cell_index=cell_index, **rest)
            on_cell(cell_index + 1, len(nb_man.nb.cells), cell)

        if on_cell:
            nb_man.cell_complete = cell_complete
        nb_man.save = save_when_due
        nb_man.nb.metadata["kernelspec"] = KERNEL  # what runs, whatever the source asked for
        try:
            return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)
        finally:
            nb_man.save = save


def stopped_at(notebook: nbformat.NotebookNode) -> str:
    """The code cell that ended an executed notebook, or the first that never ran; else empty."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.strip():
            errors = [each for each in cell.outputs if each.output_type == "error"]
            if cell.execution_count is None or any(e.ename == "SystemExit" for e in errors):
                return f"[{cell.execution_count or ' '}] `{_first_line(cell.source)}`"
    return ""


def _first_line(source: str) -> str:
    return next((line.strip() for line in source.splitlines() if line.strip()), "")


papermill_engines.register("amol", _ReportingEngine)
logging.getLogger("papermill").setLevel(logging.CRITICAL)  # `NotebookError` says it


@contextmanager
def _environment(**further: str) -> Iterator[None]:
    """Environment variables that a kernel starts with."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT, **further)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _kernel_manager(log) -> type:
    """Jupyter's kernel manager, with a file for what the kernel's process writes to stderr.

    It starts this Python, whatever kernels are installed under the same name.
    """

    class Manager(AsyncKernelManager):
        kernel_spec = KernelSpec(**get_kernel_dict())

        async def start_kernel(self, **options):
            await super().start_kernel(stderr=log, **options)

    return Manager


def _surroundings(results: Path | None, watched: Path | None) -> dict[str, str]:
    """Variables of the environment for a notebook; see `run_notebook`."""
    profile = build_dir() / "ipython"  # not the user's, whose start-up files could change results
    profile.mkdir(parents=True, exist_ok=True)
    given = {"IPYTHONDIR": str(profile)}
    if results:
        given["AMOL_RESULTS"] = str(results.resolve())
    if watched:
        path = [str(WATCHING), *filter(None, [os.environ.get("PYTHONPATH")])]
        given |= {"AMOL_WATCHED": str(watched.resolve()), "PYTHONPATH": os.pathsep.join(path)}
    return given


def _reason(error: Exception, log) -> str:
    """Why a notebook failed: its cell, the file, or the last word of its kernel."""
    if isinstance(error, PapermillExecutionError):
        where = f", cell [{error.exec_count}] `{_first_line(error.source)}`"
        return f"{where}\n  {error.ename}: {error.evalue}"
    if isinstance(error, OSError):
        return f": {error.strerror or error}"
    log.seek(0)  # a kernel that doesn't start or dies
    last = "".join(log.read().decode(errors="replace").strip().splitlines()[-1:])
    return f": {error}" + (f"\n  {last}" if last else "")


def run_notebook(
    source: Path,
    output: Path,
    parameters: Mapping | None = None,
    results: Path | None = None,
    on_cell: Callable | None = None,
    cwd: Path | None = None,
    watched: Path | None = None,
) -> None:
    """Execute a notebook into ``output``, which keeps what was done when a cell fails.

    It runs on the Python of this process, whichever kernel its metadata name.

    Parameters
    ----------
    source, output : Path
    parameters : mapping, optional
        Checked values (`companion.book.parameters.read_parameters`, `check_settings`).
    results : Path, optional
        Where the notebook writes its tables and figures.
    on_cell : callable, optional
        Called with number, total and cell after each cell.
    cwd : Path, optional
        Working directory of the notebook.
    watched : Path, optional
        A new file that lists what is opened; `companion.book.reads` reads it.

    Raises
    ------
    NotebookError
    """
    if output.resolve() == source.resolve():
        raise ValueError(f"{output} is the notebook itself; choose another output")
    output.parent.mkdir(parents=True, exist_ok=True)
    # papermill fills braces in paths with parameters; doubled they are themselves
    paths = [str(path).replace("{", "{{").replace("}", "}}") for path in (source, output)]
    with tempfile.TemporaryFile() as log, _environment(**_surroundings(results, watched)):
        try:
            papermill.execute_notebook(
                *paths,
                parameters=dict(parameters or {}),
                engine_name="amol",
                kernel_name=KERNEL["name"],
                language=KERNEL["language"],
                progress_bar=False,
                extra_arguments=["--log-level=CRITICAL", "--HistoryManager.enabled=False"],
                on_cell=on_cell,
                kernel_manager_class=_kernel_manager(log),
                cwd=cwd,
            )
        except (PapermillExecutionError, OSError, RuntimeError) as error:
            reason = f"{source.stem}{_reason(error, log)}"
            raise NotebookError(f"{reason}\n  partial run: {output}") from None
        except UnicodeEncodeError as error:
            foreign = error.object[error.start : error.end]
            reason = f"{source.stem}: its path or a parameter holds {foreign!r}, which isn't UTF-8"
            raise NotebookError(reason) from None
    if stopped := stopped_at(_read(output)):
        where = f"{source.stem}, cell {stopped}"
        raise NotebookError(f"{where}\n  the notebook ended itself here\n  partial run: {output}")
