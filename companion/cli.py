"""Command line of the companion: ``amol build | pdf | run | study | audit | check | …``."""

import json
import logging
import shutil
import signal
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from companion.book.parameters import read_parameters, read_value, study_parameters
from companion.console import print_anywhere, start_in_utf8
from companion.errors import NotebookError, StudyError, advising
from companion.paths import ROOT, build_dir

LISTED = 15  # entries that `amol check` prints without --all


class Refusal(click.ClickException):
    """What a command can't do, in one line."""

    def show(self, file=None) -> None:
        print(f"amol: {self.message}", file=sys.stderr)


@contextmanager
def _refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of these kinds into a `Refusal`."""
    try:
        yield
    except kinds as error:
        raise Refusal(str(error)) from None


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    if argv is None:
        start_in_utf8()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that workers are ended too
    print_anywhere()
    try:
        given = list(sys.argv[1:] if argv is None else argv)
        errors = _refusing(StudyError, NotebookError, OSError)
        with errors, amol.make_context("amol", given) as context:
            return amol.invoke(context) or 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt as stop:
        details = f": {stop}" if str(stop) else ""
        print(f"\nstopped{details}; the same command goes on from here", file=sys.stderr)
        return 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def amol() -> None:
    """Executable companion of AMOL, the adaptive margin ordinal loss."""


workers_option = click.option(
    "--workers", type=click.IntRange(1), default=2, show_default=True, help="Threads that train."
)
pairs_option = click.option(
    "-p", "pairs", nargs=2, multiple=True, metavar="NAME VALUE",
    help="Set a parameter; a list as a,b or '[a, \"b, c\"]'.",
)  # fmt: skip


@amol.command()
@workers_option
def build(workers: int) -> None:
    """Train and execute what changed, render the book."""
    from companion.book.build import build_book

    with _refusing(RuntimeError):
        page = build_book(workers)
    print(f"open {page}")


@amol.command()
def pdf() -> None:
    """Print the built book to _build/amol.pdf."""
    from companion.book.pdf import write_pdf

    target = ROOT / "_build" / "amol.pdf"
    with _refusing(RuntimeError):
        pages = write_pdf(ROOT / "_build" / "html", target)
    print(f"{pages} pages: {target}")


@amol.command()
@click.argument("notebook")
@click.option("--help-notebook", is_flag=True, help="List the notebook's parameters and stop.")
@pairs_option
@click.option(
    "-y", "mappings", multiple=True, metavar="YAML",
    help="Set parameters as '{seeds: 2, alpha: 1e-3}'.",
)  # fmt: skip
@click.option(
    "-f", "files", multiple=True, metavar="FILE", type=Path, help="Set parameters from YAML files."
)
@click.option(
    "-o", "output", metavar="OUT", type=Path,
    help="Executed notebook, a new file [default: a new one in build/runs].",
)  # fmt: skip
def run(notebook: str, help_notebook: bool, pairs, mappings, files, output: Path | None) -> None:
    """Execute one notebook, with parameters of your own.

    NOTEBOOK is a name such as 05_results, or a path.
    """
    from companion.book import notebooks, outputs

    with _refusing(ValueError), advising("run"):
        source = notebooks.notebook_path(notebook)
        known = notebooks.parameters_of(source)
        if help_notebook:
            return _list_parameters(known)
        texts = [file.read_text(encoding="utf-8") for file in files]
        given = read_parameters(known, pairs, [*texts, *mappings])
        values = notebooks.check_settings(known, given)
        kernel = notebooks.other_kernel(source)
    if output:
        outputs.results_beside(output)
        output.parent.mkdir(parents=True, exist_ok=True)
    shown = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    print(f"{source.stem}: {shown or 'default parameters'}", flush=True)
    if kernel:
        print(f"it asks for the kernel {kernel!r} and runs on {sys.executable}", flush=True)

    made, results = outputs.reserve_output(source.stem)
    try:
        notebooks.run_notebook(source, made, values, results, on_cell=_cell_line)
    except KeyboardInterrupt:
        logging.disable()  # what a client says of the kernel that it has just ended
        print(f"\npartial run: {made}", file=sys.stderr)
        raise
    if output:
        made, results = output, outputs.deliver(made, results, output)
    print(f"notebook: {made}")
    if results.exists():
        print(f"tables and figures: {results}")


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


def _option(name: str, known: dict) -> click.Option:
    """An option for a setting, with its true default and its description."""
    default = known["default"]
    shown = ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    text = known["help"] + (f" [default: {shown}]" if shown not in ("", "None") else "")
    return click.Option([f"--{name.replace('_', '-')}", name], metavar="VALUE", help=text)


class _StudyCommand(click.Command):
    """`amol study`: its options for the settings are made, and PyTorch loaded, when it is used."""

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        options = [_option(name, known) for name, known in study_parameters().items()]
        return [*options, *super().get_params(context)]


@amol.command(cls=_StudyCommand)
@click.option(
    "--record", metavar="NAME",
    help="Train one of the recorded studies whole and write its rows to book/recorded.",
)  # fmt: skip
@click.option(
    "--address", metavar="tcp://HOST:PORT",
    help="Train on a Dask cluster, whose scheduler is there, instead of in threads.",
)  # fmt: skip
@workers_option
def study(record: str | None, address: str | None, workers: int, **texts) -> None:
    """Train a grid of data sets, methods and seeds; print means.

    A list is written a,b or '[a, "b, c"]', a mapping '{Focal: {gamma: 3}}'.
    """
    from companion.train.study import StudySettings, run_study

    given = {name: text for name, text in texts.items() if text is not None}
    if record:
        if given:
            option = next(iter(given)).replace("_", "-")
            raise Refusal(f"--record has its own settings; leave out --{option}")
        return _record(record, workers, address)
    with _refusing(ValueError), advising("study"):
        settings = StudySettings(**read_parameters(study_parameters(), given.items()))
    runs = run_study(settings, workers, progress=True, address=address)
    means = runs.groupby(["dataset", "method"], sort=False)
    print(means[["QWK", "CHR", "CHR_ext", "accuracy", "MAE", "AMAE"]].mean().round(3).to_string())
    for row in runs[runs["failed"].notna()].itertuples():
        where = f"{row.dataset}, {row.method}, seed {row.seed}"
        print(f"failed: {where}: the loss was no finite number at epoch {row.failed}")
    print(f"{runs.attrs['trained']} runs trained, {runs.attrs['reused']} reused")


def _record(name: str, workers: int, address: str | None) -> None:
    from companion.studies.registry import study_of

    with _refusing(ValueError):
        rows = study_of(name).record(workers=workers, address=address)
    print(f"{len(rows)} rows written to book/recorded, {name}")


@amol.command()
@click.argument("predictions", type=Path)
@click.option("--true", default="true", show_default=True, help="Column of the true labels.")
@click.option(
    "--predicted", default="predicted", show_default=True, help="Column of the predicted labels."
)
@click.option(
    "--labels", default="", metavar="A,B,C",
    help="Labels from lowest to highest [default: the file's, where they are whole numbers].",
)  # fmt: skip
@click.option(
    "--prefix", default="p_", show_default=True,
    help="What a label's column of probabilities begins with.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(predictions: Path, true, predicted, labels: str, prefix: str, as_json: bool) -> None:
    """Say of any classifier whether it hedges, with metrics and intervals.

    PREDICTIONS is a CSV file with true and predicted labels and, if there are any, a column of
    probabilities per label.
    """
    from companion.data.csv_predictions import read_predictions
    from companion.page.audit import audit, text

    with _refusing(ValueError):
        order = read_value(labels, {"type": "list[str]", "default": []})
        answers = read_predictions(predictions, true, predicted, order, prefix)
    made = {"file": predictions.name} | audit(answers)
    if as_json:
        defined = json.loads(json.dumps(made), parse_constant=lambda _: None)  # no NaN in JSON
        return print(json.dumps(defined, ensure_ascii=False, indent=1))
    print(text(made))


@amol.command()
@click.option("--all", "everything", is_flag=True, help="Print every entry, not what differs.")
@click.option("--record", is_flag=True, help="Make the verdicts of now the expected ones.")
def check(everything: bool, record: bool) -> int:
    """Compare verdicts with the expected ones, runs with the recorded ones, pages with their data.

    The exit code is 1 where one differs, or a sentence of the built book doesn't hold.
    """
    from companion import StudySettings, run_study
    from companion.claims.ledger import ledger, record_expectations
    from companion.claims.tails import with_tails
    from companion.page.sentences import sentences
    from companion.studies.registry import differences

    settings = StudySettings()
    entries = ledger(with_tails(run_study(settings), settings))
    if record:
        record_expectations(entries)
        judged = (entries["verdict"] != "").sum()
        print(f"{judged} verdicts written to companion/claims/files/expected_verdicts.csv")
        return 0
    entries = entries[entries["verdict"] != ""]  # the rest, such as definitions, isn't judged
    surprises = entries[entries["verdict"] != entries["expected"]]
    shown = entries if everything else surprises[:LISTED]
    for entry in shown.itertuples():
        print(_entry_line(entry))
    if not everything and len(surprises) > LISTED:
        print(f"and {len(surprises) - LISTED} more; --all prints every entry")
    for kind, verdicts in entries.groupby("kind", sort=False)["verdict"]:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.value_counts().items())
        print(f"{len(verdicts)} {kind}s: {counts}")
    print(f"{len(entries)} entries, {len(surprises)} not as expected")
    differing = differences()
    said = sentences(build_dir() / "executed" / "notebooks")
    for page, name, holds, text in said.itertuples(index=False):
        if not holds:
            instead = f"; instead: {text}" if text else ""
            differing.append(f"{page}: the sentence {name} doesn't hold{instead}")
    for difference in differing:
        print(difference)
    return 1 if len(surprises) or differing else 0


def _entry_line(entry) -> str:
    """One entry of the ledger, in one line of the terminal."""
    verdict = entry.verdict
    if verdict != entry.expected:
        verdict += f", expected {entry.expected or 'nothing'}"
    text = f"{entry.id}: {verdict}: {entry.claim}; {entry.text}"
    return textwrap.shorten(text, shutil.get_terminal_size((100, 24)).columns, placeholder=" …")


@amol.command()
@click.option("--record", is_flag=True, help="Write the figures that the book shows.")
@click.option("--classifier", is_flag=True, help="Time OrdinalClassifier instead.")
def bench(record: bool, classifier: bool) -> None:
    """Time the engine beside its rivals and limits; takes minutes."""
    import pandas as pd

    from companion.checks import bench, classifier_bench

    if classifier:
        done = classifier_bench.bench(record=record)
        for name in ("speed", "first_fits", "large"):
            print(pd.DataFrame(done[name]).to_string(index=False, float_format="{:.3g}".format))
        return
    done = bench.bench(record=record)
    engines = pd.DataFrame(done["engines"]).set_index(["dataset", "batch_size"]).T
    print(engines.to_string(float_format="{:.3g}".format))
    for name in ("growth", "scaling"):
        print(pd.DataFrame(done[name]).to_string(index=False, float_format="{:.3g}".format))
    print(", ".join(f"{name} {value:.4g}" for name, value in done["study"].items()))
    print(f"{done['machine']}, torch {done['torch']}")


@amol.command()
@click.argument("source")
@click.argument("name")
@click.option("--part", help="Part of the book that it ends [default: that of the last notebook].")
@click.option("--title", help="The page's title [default: the words of NAME].")
@pairs_option
def fork(source: str, name: str, part: str | None, title: str | None, pairs) -> None:
    """Copy a notebook under a new name into the book.

    SOURCE is a notebook such as 05_results, NAME the new one's name, such as my_results.
    """
    from companion.book import notebooks
    from companion.book.fork import fork_notebook

    with _refusing(ValueError), advising("run"):
        original = notebooks.notebook_path(source)
        known = notebooks.parameters_of(original)
        values = notebooks.check_settings(known, read_parameters(known, pairs))
        made = fork_notebook(original, name, values, part, title)
    print(f"{made} and its .py pair made and listed in _toc.yml; `amol build` shows it")
