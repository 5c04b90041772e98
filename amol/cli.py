"""Command line of the companion: ``amol build | pdf | run | study | check | bench | fork``."""

import argparse
import gc
import logging
import re
import signal
import sys
from pathlib import Path

from amol.errors import StudyError

STUDY_OPTIONS = {
    "datasets": (str, "names or CSV files, such as 'Abalone,my.csv' (default: the paper's four)"),
    "target": (str, "label column of the CSV files"),
    "order": (str, "their labels, lowest first, such as 'low,mid,high' (default: whole numbers)"),
    "methods": (str, "names, such as 'CE,AMOL' (default: the paper's eight)"),
    "seeds": (int, "how many (default: 5)"),
    "alpha": (float, "strength of the weight m(k, y) (default: 1)"),
    "sigma": (float, "width of the Gaussian target (default: 1)"),
    "split_seed": (int, "seed of the split (default: 42)"),
    "epochs": (int, "most epochs a run may take (default: 200)"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command; give its exit code."""
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that workers are ended too
    try:
        return arguments.command(arguments) or 0
    except KeyboardInterrupt as stop:
        told = f": {stop}" if str(stop) else ""
        print(f"\nstopped{told}; the same command goes on from here", file=sys.stderr)
        return 130
    except (StudyError, OSError) as error:
        raise _fail(error) from None
    finally:
        gc.freeze()  # or Python searches all for garbage once more, a second, before it ends


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="amol",
        description="Executable companion of AMOL, the adaptive margin ordinal loss.",
        epilog="`amol COMMAND --help` tells more.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function, summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(command=function)
        return added

    build = command("build", _build, "Train and execute what changed, render the book.")
    command("pdf", _pdf, "Print the built book to _build/amol.publishing.pdf.")
    run = command("run", _run, "Execute one notebook, with parameters of your own.")
    study = command("study", _study, "Train a grid of data sets, methods and seeds; print means.")
    check = command(
        "check", _check, "Print each published claim with its verdict; fail on a surprise."
    )
    bench = command("bench", _bench, "Time the engine against usual loops; takes minutes.")
    fork = command("fork", _fork, "Copy a notebook under a new name into the book.")

    run.add_argument("notebook", help="a name such as 05_results, or a path")
    run.add_argument("--parameters", action="store_true", help="list its parameters and stop")
    for taker in (run, fork):
        taker._negative_number_matcher = re.compile(r"-\.?\d")  # -1e-3 too is a value, no option
        taker.add_argument(
            "-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="pairs",
            type=_unquoted, help="set a parameter; a list as a,b",
        )  # fmt: skip
    add = run.add_argument
    add("-y", metavar="YAML", dest="text", help="set parameters as '{seeds: 2, alpha: 1e-3}'")
    add("-f", metavar="FILE", dest="file", type=Path, help="set parameters from a YAML file")
    add("-o", metavar="OUT", dest="output", type=Path,
        help="executed notebook (default: build/runs/NOTEBOOK.ipynb)")  # fmt: skip
    for name, (kind, text) in STUDY_OPTIONS.items():
        study.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text)
    study.add_argument(
        "--record",
        metavar="NAME",
        help="train one of the long studies whole and write its rows to book/recorded: "
        "grid, controls, choices, ranking, splits, losses, seeds",
    )
    study.add_argument(
        "--backend",
        choices=("loky", "dask"),
        default="loky",
        help="train in processes of this machine (loky, default) or on a Dask cluster",
    )
    study.add_argument("--address", help="of the cluster's scheduler, such as tcp://host:8786")
    for parser_with_workers, more in ((build, "; pages are executed by one more"), (study, "")):
        parser_with_workers.add_argument(
            "--workers", type=int, default=2, help=f"processes that train (default: 2){more}"
        )
    check.add_argument(
        "--record", action="store_true", help="make the verdicts of now the expected ones"
    )
    bench.add_argument(
        "--record", action="store_true", help="write the figures that the book shows"
    )
    fork.add_argument("source", help="a notebook, such as 05_results")
    fork.add_argument("name", help="the new one's name, such as my_results")
    return parser


def _fail(error: Exception) -> SystemExit:
    return SystemExit(f"amol: {error}")


def _build(arguments: argparse.Namespace) -> None:
    from amol.publishing import build
    from amol.publishing.kernels import warm

    stale = build.stale_notebooks()
    if stale:
        warm()  # first of all, since it takes seconds beside the study's
    gc.disable()  # nothing is garbage while modules are loaded, and searching takes a second

    import pandas as pd

    from amol.errors import NotebookError
    from amol.experiments.study import StudySettings, run_studies
    from amol.paper.ledger import ledger
    from amol.paper.recording_checks import compare_runs, write_notes
    from amol.paper.recordings import TRAINED_BY_BUILD, grid_of
    from amol.paper.tails import with_tails
    from amol.paths import build_dir

    gc.enable()
    print("study: the default grid and its controls", flush=True)
    grid = [settings for name in TRAINED_BY_BUILD for _, settings in grid_of(name)]
    frames = run_studies(grid, workers=arguments.workers, progress=True)
    trained, reused = (sum(frame.attrs[k] for frame in frames) for k in ("trained", "reused"))
    print(f"study: {trained} runs trained, {reused} reused", flush=True)
    runs = frames[0]
    results = build_dir() / "results"
    results.mkdir(parents=True, exist_ok=True)
    runs.to_csv(results / "runs.csv", index=False, lineterminator="\n")
    controls = pd.concat(frames[1:], ignore_index=True)
    compared = compare_runs("grid", runs), compare_runs("controls", controls)
    write_notes(results, *compared)
    print(*(f"study: {comparison}" for comparison in compared), sep="\n", flush=True)
    entries = ledger(with_tails(runs, StudySettings()))
    entries.to_csv(results / "ledger.csv", index=False)
    try:
        page = build.make_book(stale, arguments.workers, runs.attrs["seconds"])
    except (NotebookError, RuntimeError) as error:
        raise _fail(error) from None
    print(f"open {page}")


def _pdf(arguments: argparse.Namespace) -> None:
    from amol.paths import ROOT
    from amol.publishing.pdf import write_pdf

    target = ROOT / "_build" / "amol.pdf"
    try:
        pages = write_pdf(ROOT / "_build" / "html", target)
    except RuntimeError as error:
        raise _fail(error) from None
    print(f"{pages} pages: {target}")


def _run(arguments: argparse.Namespace) -> None:
    import yaml

    from amol.paths import build_dir
    from amol.publishing import notebooks

    try:
        notebook = notebooks.notebook_path(arguments.notebook)
        if arguments.parameters:
            return _list_parameters(notebooks.parameters_of(notebook))
        given = {}
        texts = [arguments.file.read_text(encoding="utf-8")] if arguments.file else []
        for text in [*texts, arguments.text]:
            read = yaml.load(text or "{}", yaml.BaseLoader)
            if not isinstance(read, dict):
                raise ValueError(f"{text!r} is no mapping; write {{name: value}}")
            given |= read
        given |= dict(arguments.pairs)
        told = notebooks.parse_parameters(notebook, given)
        parameters = notebooks.judge(notebook, told)
    except (ValueError, OSError, yaml.YAMLError) as error:
        raise _fail(error) from None

    output = arguments.output or build_dir() / "runs" / notebook.name
    results = output.with_name(f"{output.stem}_files")
    told = ", ".join(f"{name} = {value!r}" for name, value in told.items())
    print(f"{notebook.stem}: {told or 'default parameters'}", flush=True)
    try:
        notebooks.run_notebook(notebook, output, parameters, results, on_cell=_cell_line)
    except (notebooks.NotebookError, ValueError) as error:
        raise _fail(error) from None
    except KeyboardInterrupt:
        logging.disable()  # what a client says of the kernel that it has just ended
        print(f"\npartial run: {output}", file=sys.stderr)
        raise
    print(f"notebook: {output}")
    if results.exists():
        print(f"tables and figures: {results}")


def _unquoted(text: str) -> str:
    """A value in quotes is what is between them, as in YAML."""
    quoted = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    return text[1:-1] if quoted else text


def _list_parameters(parameters: dict[str, dict]) -> None:
    for name, known in parameters.items():
        print(f"{name}: {known['type']} = {known['default']!r}\n    {known['help']}")
    if not parameters:
        print("this notebook has no parameters")


def _cell_line(number: int, total: int, cell) -> None:
    if cell.cell_type == "code":
        first = next((line for line in cell.source.splitlines() if line.strip()), "")
        seconds = cell.metadata.papermill["duration"] or 0
        print(f"  [{number:2}/{total}] {seconds:5.1f} s  {first[:70]}", flush=True)


def _study(arguments: argparse.Namespace) -> None:
    from amol.experiments.study import StudySettings, run_study

    if (arguments.backend == "dask") != bool(arguments.address):
        raise _fail(ValueError("--backend dask and --address tcp://host:port belong together"))
    if arguments.record:
        return _record(arguments)
    chosen = {name: getattr(arguments, name) for name in STUDY_OPTIONS}
    try:
        settings = StudySettings(**{name: v for name, v in chosen.items() if v is not None})
    except (ValueError, OSError) as error:
        raise _fail(error) from None
    runs = run_study(settings, arguments.workers, progress=True, address=arguments.address)
    means = runs.groupby(["dataset", "method"], sort=False)
    print(means[["QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE"]].mean().round(3).to_string())
    for row in runs[runs["failed"].notna()].itertuples():
        where = f"{row.dataset}, {row.method}, seed {row.seed}"
        print(f"failed: {where}: the loss was no finite number at epoch {row.failed}")
    print(f"{runs.attrs['trained']} runs trained, {runs.attrs['reused']} reused")


def _record(arguments: argparse.Namespace) -> None:
    from amol.paper.recordings import record

    other = [name for name in STUDY_OPTIONS if getattr(arguments, name) is not None]
    if other:
        raise _fail(ValueError(f"--record has its own settings; leave out --{other[0]}"))
    try:
        rows = record(arguments.record, arguments.workers, True, arguments.address)
    except ValueError as error:
        raise _fail(error) from None
    print(f"{len(rows)} runs written to book/recorded/{arguments.record}.csv")


def _check(arguments: argparse.Namespace) -> int:
    from amol.experiments.study import StudySettings, run_study
    from amol.paper.ledger import ledger, record_expectations
    from amol.paper.recording_checks import differences
    from amol.paper.tails import with_tails

    settings = StudySettings()
    entries = ledger(with_tails(run_study(settings), settings))
    if arguments.record:
        record_expectations(entries)
        print(f"{len(entries)} verdicts written to amol/paper/data/expected_verdicts.csv")
        return 0
    surprises = entries[entries["verdict"] != entries["expected"]]
    print(entries.to_string(index=False))
    print(f"{len(entries)} entries, {len(surprises)} not as expected")
    differing = differences()
    print(*differing, sep="\n")
    return 1 if len(surprises) or differing else 0


def _bench(arguments: argparse.Namespace) -> None:
    import pandas as pd

    from amol.checks.bench import bench

    done = bench(record=arguments.record)
    for name in ("engines", "scaling"):
        print(pd.DataFrame(done[name]).to_string(index=False, float_format="{:.3g}".format))
    print(", ".join(f"{name} {value:.4g}" for name, value in done["study"].items()))
    print(f"{done['machine']}, torch {done['torch']}")


def _fork(arguments: argparse.Namespace) -> None:
    from amol.publishing import notebooks
    from amol.publishing.fork import fork_notebook

    try:
        source = notebooks.notebook_path(arguments.source)
        given = notebooks.parse_parameters(source, dict(arguments.pairs))
        defaults = notebooks.judge(source, given)
        made = fork_notebook(source, arguments.name, defaults)
    except (ValueError, OSError) as error:
        raise _fail(error) from None
    print(f"{made} and its .py pair made and listed in _toc.yml; `amol build` shows it")
