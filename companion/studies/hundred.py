"""A hundred sets: twenty losses with one budget on the collection, ten splits, recorded by set.

On each set and split every loss trains eight `candidates` said here beforehand, the untuned one
first: two values of its own parameter (of a loss without one, two widths) and two learning rates,
or, for a loss with two parameters, two values of each; and either of them stopped by validation
loss or by validation QWK. A rule chooses one on the validation part, the first of equals: the
highest QWK, or the least MAE; "default" takes the untuned one. The chosen network is measured on
the test part by its own decision and, but for the rule MAE, by others (`DECISIONS`), whose free
numbers come from the validation part, too. Groups of rows stay whole in the splits.

A set is recorded the moment its last network is measured, in a file of its own, so that a command
that is stopped loses the sets in hand and goes on with the others. Controls and cut regressions are
recorded as the natural sets are; means leave them out.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import product

import numpy as np
import pandas as pd
from tqdm import tqdm

from amol import engine
from amol.metrics import METRICS, ranked_probability_score
from companion.data import collection
from companion.studies import fair_fight, tuned_decisions
from companion.studies.decisions import DECIMALS, label_scores, log_loss
from companion.studies.decisions import DECISIONS as PLAIN
from companion.studies.fair_fight import run_of
from companion.studies.protocol_search import digest
from companion.studies.recording_checks import Comparison
from companion.studies.recordings import folder, machine
from companion.train.runs import Run
from companion.train.workers import run_tasks

NAME = "hundred"
SPLITS = 10
MONITORS = ("loss", "QWK")
OWN = fair_fight.OWN | {
    "OLL-Castagnos": {"power": (1.0, 1.5)},
    "CDW-CE": {"power": (2.0, 5.0)},
    "Exponential": {"tau": (1.0, 0.5)},
}
METHODS = (*fair_fight.METHODS, "OLL-Castagnos", "CDW-CE", "Exponential")
RULES: dict[str, Callable[[pd.DataFrame], int]] = {  # from validation scores to a candidate
    "QWK": lambda scores: int(scores["QWK"].to_numpy().argmax()),
    "MAE": lambda scores: int(scores["MAE"].to_numpy().argmin()),
    "default": lambda scores: 0,
}
DECISIONS = ("own", "argmax", "median", "rounded mean", "thresholds", "inward")
ROW = ["dataset", "method", "split_seed", "rule", "decision"]
TEXT = {"weights": str, "key": str}  # digests, of which some look like numbers


def candidates(method: str) -> list[dict]:
    """Settings of a method's eight candidates, the untuned one first."""
    own = OWN.get(method, {})
    axes = [[{name: value} for value in values] for name, values in own.items()]
    if len(axes) < 2:
        axes.append([{"lr": rate} for rate in fair_fight.RATES])
    if len(axes) < 2:
        axes.append([{"hidden": width} for width in fair_fight.WIDTHS])
    axes.append([{"monitor": monitor} for monitor in MONITORS])
    return [{key: v for part in parts for key, v in part.items()} for parts in product(*axes)]


def rows_of(dataset: str, method: str, split: int, stop: Callable | None = None) -> list[dict]:
    """Train a method's candidates on a split: a row for each rule and decision."""
    runs = [run_of(dataset, method, split, c) for c in candidates(method)]
    outcomes = [
        engine.train(run.loss, run.seed, run.data.arrays, run.settings.protocol, stop)
        for run in runs
    ]
    arrays, key = runs[0].data.arrays, digest(run.key for run in runs)[:8]
    scores = pd.DataFrame(
        {
            name: METRICS[name](arrays.y_validation, outcome.y_pred_validation, arrays.num_classes)
            for name in ("QWK", "MAE")
        }
        for outcome in outcomes
    )
    rows = []
    for rule, choose in RULES.items():
        chosen = choose(scores)
        outcome = outcomes[chosen]
        labels = {"dataset": dataset, "method": method, "split_seed": split, "rule": rule}
        facts = {"candidate": chosen, "weights": outcome.weights_digest[:8], "key": key}
        for name, y_pred in decided(runs[chosen], outcome, DECISIONS[: 1 if rule == "MAE" else 6]):
            scored = label_scores(runs[chosen].data.y_test, y_pred, arrays.num_classes)
            if name == "own":
                scored |= probability_losses(runs[chosen].data.y_test, outcome.probabilities)
            rows.append(labels | {"decision": name} | facts | scored)
    return rows


def decided(run: Run, outcome: engine.Outcome, names: Sequence[str]) -> list[tuple]:
    """Names of decisions and the labels (n,) that they give to the test part."""
    arrays, p = run.data.arrays, outcome.probabilities
    held = arrays.y_validation, outcome.probabilities_validation
    made = {
        "own": lambda: outcome.y_pred,
        "argmax": lambda: p.argmax(axis=1),
        "median": lambda: PLAIN["median"](p, None),
        "rounded mean": lambda: PLAIN["least squares"](p, None),
        "thresholds": lambda: tuned_decisions.cut(p, tuned_decisions.thresholds(*held)),
        "inward": lambda: tuned_decisions.least_cost(p, tuned_decisions.inward_beta(*held)),
    }
    return [(name, made[name]()) for name in names]


def probability_losses(y: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """NLL and RPS."""
    found = {"NLL": log_loss(y, p), "RPS": ranked_probability_score(y, p)}
    return {name: round(float(value), DECIMALS) for name, value in found.items()}


def _state(dataset: str) -> str:
    """Digest of what a set's file rests on: data, engine, losses, candidates."""
    untuned = [run_of(dataset, method, 0, candidates(method)[0]).key for method in METHODS]
    return digest([*untuned, str([candidates(method) for method in METHODS]), str(SPLITS)])


def set_rows(dataset: str, methods, splits: int, stop: Callable | None = None) -> pd.DataFrame:
    """All rows of a set; ``attrs`` hold its name and the seconds on one core that it took."""
    started, rows = time.thread_time(), []
    for split, method in product(range(splits), methods):
        if stop and stop():  # whoever asked for it looks at no rows
            break
        rows += rows_of(dataset, method, split, stop)
    frame = pd.DataFrame(rows)
    frame.attrs = {"dataset": dataset, "seconds": round(time.thread_time() - started, 1)}
    return frame


def record(
    workers: int | None = None, address: str | None = None, sets: Sequence[str] = ()
) -> pd.DataFrame:
    """Record what isn't recorded yet of ``sets``, by default all, and return all rows there are.

    ``book/recorded/hundred`` gets a file for each set, and a note of its state and seconds.
    """
    wanted = tuple(sets) or collection.names("natural", "control", "cut")
    states = {dataset: _state(dataset) for dataset in wanted}
    todo = [name for name in wanted if _note(name).get("state") != states[name]]
    # The longest first, so that no core waits at the end for one large set.
    todo.sort(key=lambda name: -collection.descriptions()[name].rows)
    tasks = [(dataset, METHODS, SPLITS) for dataset in todo]
    if tasks:
        with closing(run_tasks(set_rows, tasks, workers, address)) as results:
            for rows in tqdm(results, total=len(tasks), unit="set"):
                _keep(rows, states[rows.attrs["dataset"]])
    return load()


def _folder():
    return folder() / NAME


def _keep(rows: pd.DataFrame, state: str) -> None:
    """Write a set's rows and then its note, which says that they are whole."""
    _folder().mkdir(parents=True, exist_ok=True)
    dataset = rows.attrs["dataset"]
    path = _folder() / f"{dataset}.csv.xz"
    rows.to_csv(path, index=False, lineterminator="\n", compression={"method": "xz", "preset": 9})
    note = machine() | {
        "state": state,
        "rows": len(rows),
        "seconds": rows.attrs["seconds"],
        "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    (_folder() / f"{dataset}.json").write_text(json.dumps(note, indent=1) + "\n")


def _note(dataset: str) -> dict:
    path = _folder() / f"{dataset}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def load() -> pd.DataFrame:
    """Recorded rows, set by set in the collection's order."""
    names = collection.names("natural", "control", "cut")
    there = [_folder() / f"{name}.csv.xz" for name in names if _note(name)]
    return pd.concat([pd.read_csv(path, dtype=TEXT) for path in there], ignore_index=True)


def verify(count: int, sample_seed: int = 0, sets: Sequence[str] = ()) -> Comparison:
    """Train all candidates of ``count`` sets, methods and splits, drawn at random, again.

    Parameters
    ----------
    count, sample_seed : int
    sets : sequence of str, optional
        Sets to draw from; by default those that are read from this project's own files and so are
        in every build.

    Returns
    -------
    Comparison
        Of the rows of what was drawn, in every column; ``keys_match`` looks at these rows.
    """
    own = [name for name, about in collection.descriptions().items() if not about.package]
    there = [name for name in sets or own if _note(name)]
    if not there:
        return Comparison(NAME, 0, 0, False)
    tasks = list(product(there, METHODS, range(SPLITS)))
    rng = np.random.default_rng(sample_seed)
    drawn = [tasks[i] for i in sorted(rng.choice(len(tasks), min(count, len(tasks)), False))]
    new = pd.DataFrame([row for task in drawn for row in rows_of(*task)])
    old = new[ROW].merge(load(), on=ROW, how="left")
    same = (old == new[old.columns]) | (old.isna() & new[old.columns].isna())
    equal, first = same.all(axis=1), ""
    if not equal.all():
        at = int((~equal).argmax())
        column = same.columns[int((~same.loc[at]).argmax())]
        where = ", ".join(map(str, old.loc[at, ROW]))
        first = f"{where}, {column} {old.loc[at, column]}, here {new.loc[at, column]}"
    notes = [_note(name) for name in there]
    made_on = ", ".join(sorted({note["processor"] for note in notes}))
    files = digest(note["sha256"] for note in notes)
    keys = bool(same["key"].all())
    return Comparison(NAME, len(new), int((~equal).sum()), keys, first, made_on, files)
