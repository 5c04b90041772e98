"""Studies whose rows come task by task, such as one method on one split of a data set.

A task trains and measures what it likes and leaves a few rows; the networks aren't stored. Its rows
are kept in ``build/studies`` the moment they are known, so a command that is stopped goes on where
it was. The recording grows data set by data set, and one that is unfinished, from another machine
perhaps, is gone on with; a whole one is made anew and replaced at once.

Kept rows are taken where there is one for each planned label with the planned key. Keys know data,
settings and engine, not what is measured: to measure something else, delete ``build/studies``.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from companion.paths import build_dir
from companion.studies.recording_checks import Comparison, compare, never_made, sample
from companion.studies.recordings import TYPES, keep, load, made, note, write_rows
from companion.train.workers import run_tasks


@dataclass(frozen=True)
class TaskStudy:
    """A study that is recorded and checked task by task.

    Parameters
    ----------
    name : str
        Of the recording.
    task : tuple of str
        Columns that name a task, its data set first; each task's own row has its values.
    label : tuple of str
        Columns that tell rows apart; ``task`` is among them.
    tasks : tuple of tuple
        Values of ``task``, in the order of the recording; those of a data set stand together.
    keys : callable
        ``keys(*task)``: by label, in order, the key of all that a row rests on.
    measure : callable
        ``measure(*task, stop)``: the task's rows, each a dict, QWK among its results, all but the
        key. ``stop`` asks whether to end early; None is never.
    trainings : callable
        ``trainings(*task)``: how many networks a task trains.
    facts : callable
        What else the note says, such as versions of libraries.
    """

    name: str
    task: tuple[str, ...]
    label: tuple[str, ...]
    tasks: tuple[tuple, ...]
    keys: Callable[..., dict[tuple, str]]
    measure: Callable[..., list[dict]]
    trainings: Callable[..., int] = lambda *task: 1
    facts: Callable[[], dict] = dict

    def rows_of(self, *task, stop: Callable[[], bool] | None = None) -> pd.DataFrame:
        """Train and measure a task."""
        rows, keys = self.measure(*task, stop), self.keys(*task)
        labels = [tuple(row[column] for column in self.label) for row in rows]
        if len(labels) != len(keys) or set(labels) != set(keys):
            raise ValueError(f"{self.name}: {task} left rows {labels}; planned: {list(keys)}")
        return pd.DataFrame(rows).assign(key=[keys[label] for label in labels])

    def run(
        self,
        tasks: Sequence[tuple],
        workers: int | None = None,
        address: str | None = None,
        progress: bool = False,
        begun: pd.DataFrame | None = None,
    ) -> tuple[pd.DataFrame, float]:
        """Rows of some tasks, and the seconds on one core that those not in ``begun`` took.

        ``begun`` are rows of an unfinished recording, indexed by ``label``.
        """
        kept = {task: frame for task in tasks if (frame := self._kept(task, begun)) is not None}
        missing = [task for task in tasks if task not in kept]
        if missing:
            bar = tqdm(total=len(missing), unit="task", desc=str(missing[0][0]), mininterval=5,
                       disable=not progress)  # fmt: skip
            with bar, closing(run_tasks(self._timed, missing, workers, address)) as results:
                for task, frame in results:
                    file = self._file(task)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    write_rows(file, frame)
                    kept[task] = self._kept(task)
                    bar.update()
        rows = pd.concat([kept[task] for task in tasks], ignore_index=True)
        seconds = float(rows.pop("seconds").sum())
        return self._in_order(rows), seconds

    def record(self, workers: int | None = None, address: str | None = None) -> pd.DataFrame:
        """Run all tasks that aren't kept, nor in an unfinished recording, and write the rows."""
        begun, seconds = None, {}
        unfinished = not made(self.name) or len(self._recorded()) < len(self.tasks)
        if unfinished and made(self.name):
            begun = load(self.name).set_index(list(self.label), drop=False)
            seconds = note(self.name).get("seconds", {})
        done, waiting = [], list(dict.fromkeys(task[0] for task in self.tasks))
        for dataset, tasks in groupby(self.tasks, key=itemgetter(0)):
            rows, spent = self.run(list(tasks), workers, address, True, begun)
            seconds[dataset] = seconds.get(dataset, 0.0) + spent
            done.append(rows)
            waiting.remove(dataset)
            if (unfinished and spent) or not waiting:
                rest = [] if begun is None else [begun[begun[self.task[0]].isin(waiting)]]
                self._keep(pd.concat([*done, *rest], ignore_index=True), seconds)
        return load(self.name)

    def verify(
        self, count: int, sample_seed: int = 0, among: Mapping[str, Sequence] | None = None
    ) -> tuple[pd.DataFrame, Comparison]:
        """Do ``count`` random tasks of the recording again; see `recording_checks.compare`.

        ``keys_match`` looks at the rows of these tasks. They are drawn from those with one of the
        values of ``among`` in each of its columns, by default from all.
        """
        label = list(self.label)
        if not made(self.name):
            return never_made(self.name, label)
        rows = load(self.name)
        there = self._recorded()
        for column, values in (among or {}).items():
            there = there[there[column].isin(values)]
        if there.empty:
            return never_made(self.name, label)
        chosen = sample(there, count, sample_seed).itertuples(index=False)
        new = pd.concat([self.rows_of(*task) for task in chosen], ignore_index=True)
        return compare(self.name, new[label].merge(rows, "left", on=label), new, label)

    def _recorded(self) -> pd.DataFrame:
        """Tasks that the recording has rows of."""
        found = load(self.name)[list(self.task)].drop_duplicates()
        known = set(self.tasks)
        return found[[task in known for task in found.itertuples(index=False, name=None)]]

    def _keep(self, rows: pd.DataFrame, seconds: dict[str, float]) -> None:
        there = set(rows[list(self.task)].itertuples(index=False, name=None))
        done = [task for task in self.tasks if task in there]
        facts = {"trainings": sum(self.trainings(*task) for task in done),
                 "training seconds": round(sum(seconds.values())), "seconds": seconds}  # fmt: skip
        keep(self.name, self._in_order(rows), facts | self.facts())

    def _in_order(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows by the columns of ``task``, the values of each in the order they first come in."""
        places = [pd.factorize(rows[column])[0] for column in self.task]
        return rows.iloc[np.lexsort(places[::-1])].reset_index(drop=True)

    def _timed(self, *task_and_stop) -> tuple[tuple, pd.DataFrame]:
        *task, stop = task_and_stop
        started = time.thread_time()
        rows = self.rows_of(*task, stop=stop)
        return tuple(task), rows.assign(seconds=(time.thread_time() - started) / len(rows))

    def _file(self, task: tuple) -> Path:
        name = hashlib.sha256(json.dumps(task).encode()).hexdigest()[:16]
        return build_dir() / "studies" / self.name / f"{name}.csv"

    def _kept(self, task: tuple, begun: pd.DataFrame | None = None) -> pd.DataFrame | None:
        """Rows of a task from ``begun`` or ``build``, if they are those planned."""
        file = self._file(task)
        stored = [pd.read_csv(file, dtype=TYPES)] if file.exists() else []
        if begun is None and not stored:
            return None
        keys = self.keys(*task)
        if begun is not None and all(label in begun.index for label in keys):
            stored.insert(0, begun.loc[list(keys)].assign(seconds=0.0))
        for rows in stored:
            labels = rows[list(self.label)].itertuples(index=False, name=None)
            if dict(zip(labels, rows["key"], strict=True)) == keys:
                return rows
        return None
