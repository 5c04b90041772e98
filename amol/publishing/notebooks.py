"""Run one notebook through papermill, its parameters checked before any work."""

import ast
import difflib
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import papermill
import yaml
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from amol.errors import NotebookError
from amol.paths import ROOT, build_dir
from amol.publishing.kernels import ForkedKernel, environment, manager

WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
JUDGED = {
    "datasets",
    "target",
    "order",
    "methods",
    "seeds",
    "alpha",
    "sigma",
    "split_seed",
    "epochs",
}
SAVED_EVERY = timedelta(seconds=1)
KINDS = {"bool": bool, "int": int, "float": float, "str": str}


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


def _scalar(text: str, kind: type):
    """A value of the given kind from its text; of the most telling kind where that is None."""
    if kind is bool:
        if str(text).lower() not in WORDS:
            raise ValueError("true or false")
        return WORDS[str(text).lower()]
    if kind in (int, float, str):
        return kind(text)
    for guess in (int, float, bool):
        try:
            return _scalar(text, guess)
        except ValueError:
            continue
    return text


def _convert(value, kind: str, default):
    """A parameter's value from text, or from lists and mappings of texts."""
    if kind == "int or list":
        several = not isinstance(value, str) or value.strip().startswith("[")
        kind, default = ("list", [0]) if several else ("int", default)
    if kind.startswith("list"):
        kinds = {type(item) for item in default or ()}
        item_kind = kinds.pop() if len(kinds) == 1 else KINDS.get(kind[5:-1])
        if isinstance(value, str):
            is_yaml = value.strip().startswith("[")
            value = yaml.load(value, yaml.BaseLoader) if is_yaml else value.split(",")
        if not isinstance(value, list):
            raise ValueError(value)
        return [_scalar(item.strip(), item_kind) for item in value]
    if kind == "dict":
        if isinstance(value, str):
            value = yaml.load(value, yaml.BaseLoader)
        return {key: _scalar(item, None) for key, item in value.items()}
    if not isinstance(value, str):
        raise ValueError(value)
    return _scalar(value, KINDS.get(kind))


def parameters_of(notebook: Path) -> dict[str, dict]:
    """Parameters by name, each with ``type``, ``default`` (a value) and ``help``."""
    found = {}
    for name, known in papermill.inspect_notebook(notebook).items():
        default = ast.literal_eval(known["default"])
        kind = known["inferred_type_name"].replace("None", type(default).__name__)
        found[name] = {"type": kind, "default": default, "help": known["help"]}
    return found


def parse_parameters(notebook: Path, given: Mapping[str, object]) -> dict:
    """Check names and types of what was asked for against the notebook's parameters cell.

    Parameters
    ----------
    notebook : Path
    given : mapping of str to str, list or dict
        Values as text, from the command line or from YAML read without types, so that a value
        means the same wherever it comes from.

    Raises
    ------
    ValueError
        Names the parameter, the value and what is allowed.
    """
    known = parameters_of(notebook)
    values = {}
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            allowed = ", ".join(known) or "none"
            raise ValueError(f"{notebook.stem} has no parameter {name!r}; {hint}allowed: {allowed}")
        kind, default = known[name]["type"], known[name]["default"]
        try:
            values[name] = _convert(value, kind, default)
        except (ValueError, AttributeError, TypeError, yaml.YAMLError):
            wanted = "true or false" if kind == "bool" else kind
            wanted = "a list: a,b or [a, b]" if kind.startswith("list") else wanted
            raise ValueError(
                f"parameter {name} is {value!r}; wanted: {wanted}, such as {default!r}"
            ) from None
    return values


def judge(notebook: Path, given: dict) -> dict:
    """Check values against the study's settings, and say where a CSV file is.

    What the notebook itself registers, such as a loss, is left to the notebook.

    Parameters
    ----------
    notebook : Path
    given : dict
        From `parse_parameters`. A path in ``datasets`` starts at the working directory, which is
        not the notebook's; it is made absolute.

    Returns
    -------
    dict
        The values for the notebook.

    Raises
    ------
    ValueError, FileNotFoundError
    """
    if not JUDGED.intersection(given):
        return given
    from amol.experiments.settings import StudySettings
    from amol.losses import LOSSES, PAPER_METHODS  # which take PyTorch's seconds to load

    known = {name: parameter["default"] for name, parameter in parameters_of(notebook).items()}
    told = {name: value for name, value in {**known, **given}.items() if name in JUDGED}
    if "methods" in told:
        code = notebook.read_text(encoding="utf-8")
        if "amol.paper.open_choices" in code:
            from amol.paper.open_choices import register_readings

            register_readings()
        own = [name for name in told["methods"] if "register_loss" in code or name in code]
        judged = [name for name in told["methods"] if name in LOSSES or name not in own]
        told["methods"] = judged or PAPER_METHODS
    StudySettings(**told)
    if "datasets" not in given:
        return given
    here = [str(Path(name).absolute()) if Path(name).is_file() else name
            for name in given["datasets"]]  # fmt: skip
    return {**given, "datasets": here}


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
        try:
            return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)
        finally:
            nb_man.save = save


papermill_engines.register("amol", _ReportingEngine)
logging.getLogger("papermill").setLevel(logging.CRITICAL)  # errors are told in our own words


def run_notebook(
    source: Path,
    output: Path,
    parameters: Mapping | None = None,
    results: Path | None = None,
    on_cell: Callable | None = None,
    cwd: Path | None = None,
    kernel: ForkedKernel | None = None,
) -> None:
    """Execute a notebook into ``output``, which keeps what was done when a cell fails.

    Parameters
    ----------
    source, output : Path
    parameters : mapping, optional
        Checked values (`parse_parameters`).
    results : Path, optional
        Where the notebook writes its tables and figures.
    on_cell : callable, optional
        Called with number, total and cell after each cell.
    cwd : Path, optional
        Working directory of the notebook.
    kernel : ForkedKernel, optional
        Runs the notebook instead of a process that first loads everything.

    Raises
    ------
    NotebookError
    """
    if output.resolve() == source.resolve():
        raise ValueError(f"{output} is the notebook itself; choose another output")
    output.parent.mkdir(parents=True, exist_ok=True)
    log = output.with_suffix(".log")
    profile = build_dir() / "ipython"  # not the user's, whose start-up files could change results
    profile.mkdir(parents=True, exist_ok=True)
    variables = {"JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(profile)}
    variables |= {"AMOL_RESULTS": str(results.resolve())} if results else {}
    try:
        with environment(**variables):
            papermill.execute_notebook(
                source,
                output,
                parameters=dict(parameters or {}),
                engine_name="amol",
                kernel_name="python3",
                progress_bar=False,
                extra_arguments=["--log-level=CRITICAL", "--HistoryManager.enabled=False"],
                on_cell=on_cell,
                kernel_manager_class=manager(log, kernel),
                cwd=cwd,
            )
    except PapermillExecutionError as error:
        line = next((line for line in error.source.splitlines() if line.strip()), "")
        raise NotebookError(
            f"{source.stem}, cell [{error.exec_count}] `{line.strip()}`\n"
            f"  {error.ename}: {error.evalue}\n  partial run: {output}"
        ) from None
    except RuntimeError as error:  # a kernel that doesn't start or dies
        told = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
        last = f"\n  {told[-1]}" if told else ""
        raise NotebookError(f"{source.stem}: {error}{last}\n  partial run: {output}") from None
    finally:
        log.unlink(missing_ok=True)
