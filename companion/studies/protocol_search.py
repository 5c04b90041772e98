"""Search for the paper's protocol: stages of ever fewer protocols, cells and seeds, recorded.

1. *screen*: `RANDOM` random protocols, the default, the default with three hidden layers, and all
   that differ from one of these two in one choice; CE and AMOL on Wine Red, one seed.
2. *wines*: the best `WINES` of them, and all that differ from the best one in one choice; CE and
   AMOL on both wines, one seed.
3. *whole*: the best `WHOLE_TABLES`, every printed cell, one seed.
4. *three*: the best `THREE`, and all that differ from the best of these in one choice, three
   seeds, so that a choice is judged by protocols that nothing but luck could have dropped.
5. *forms*: under the best protocol, other forms of single losses, three seeds, and the hedging
   rates of Wine Red with other middle classes.

The default is in every stage. "Best" is `companion.studies.protocol_fit.best`: each criterion, such
as Table 2 alone, has its own best, so that a protocol chosen on some numbers was not picked by the
others. Every run is stored the moment it ends; a command that is stopped goes on where it was.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from amol.metrics import center_hedging_rate
from companion.paper.open_choices import CHOICES, register_readings
from companion.studies import recordings
from companion.studies.protocol_fit import PRINTED_METRICS, best, log_likelihood
from companion.studies.protocol_space import CELLS, CandidateProtocol, random_protocols
from companion.studies.recording_checks import Comparison, compare, never_made, sample
from companion.studies.recordings import DECIMALS, joint_key
from companion.train.runs import plan
from companion.train.settings import StudySettings
from companion.train.study import outcomes_of, run_studies

NAME = "protocol_cells"
SCREEN = {"Wine Red": ("CE", "AMOL")}
BOTH = SCREEN | {"Wine White": ("CE", "AMOL")}
WINES, WHOLE_TABLES, THREE = 60, 32, 9
MEASURED = (*PRINTED_METRICS, "accuracy")
ROW = ["stage", "form", "protocol", "dataset", "method"]
Protocols = dict[int, CandidateProtocol]  # by number
Task = tuple[dict, list[StudySettings], dict]  # labels, settings, published names of methods


def tasks(stage: str, protocols: Protocols, cells: dict, seeds: int) -> list[Task]:
    """What to run in a stage, one task per protocol and data set."""
    return [
        ({"stage": stage, "form": "", "protocol": number}, p.settings(dataset, names, seeds), {})
        for number, p in protocols.items()
        for dataset, names in cells.items()
    ]


def form_tasks(number: int, protocol: CandidateProtocol, seeds: int) -> list[Task]:
    """Other forms of single losses under one protocol."""
    register_readings()
    found = []
    for choice in CHOICES:
        for other in (a for a in choice.alternatives if a.instead):
            labels = {"stage": "forms", "form": other.label, "protocol": number}
            trained = tuple(other.instead.values())
            for dataset in other.datasets:
                if not set(other.instead) <= set(CELLS[dataset]):
                    continue
                made = protocol.settings(dataset, trained, seeds)
                made = [replace(settings, **other.settings) for settings in made]
                found.append((labels, made, {t: name for name, t in other.instead.items()}))
    return found


def run(todo: list[Task], **how) -> tuple[pd.DataFrame, dict]:
    """Train ``todo`` (see `run_studies` for ``how``): rows by cell, and runs with their seconds."""
    frames = iter(run_studies([s for _, grid, _ in todo for s in grid], **how))
    rows, facts = [], {"runs": 0, "training seconds": 0.0}
    for labels, grid, names in todo:
        for frame in (next(frames) for _ in grid):
            facts["runs"] += len(frame)
            facts["training seconds"] += frame.attrs["seconds"]
            rows.append(frame.assign(**labels, method=frame["method"].replace(names)))
    return aggregate(pd.concat(rows, ignore_index=True)), facts


def aggregate(rows: pd.DataFrame) -> pd.DataFrame:
    """Means and standard deviations (NaN for one seed) of each cell, and a digest of its keys."""
    cells = rows.groupby(ROW, sort=False)
    parts = {"seeds": cells["seed"].count()}
    for metric in MEASURED:
        parts[metric] = cells[metric].mean().round(DECIMALS)
        parts[f"{metric} std"] = cells[metric].std().round(DECIMALS)
    parts["key"] = cells["key"].agg(joint_key)
    return pd.DataFrame(parts).reset_index()


def other_centers(number: int, protocol: CandidateProtocol, seeds: int) -> pd.DataFrame:
    """CHR_ext on Wine Red with the upper middle class, or either, as the center; rows as of `run`.

    The upper middle is the lower one of the reversed scale. Either one: the sum of both rates,
    since a prediction is one class.
    """
    found = []
    for method in CELLS["Wine Red"]:
        rates, keys = [], []
        for settings in protocol.settings("Wine Red", (method,), seeds):
            runs, outcomes = outcomes_of(settings, "Wine Red", method)
            last = runs[0].data.arrays.num_classes - 1
            y = runs[0].data.y_test
            keys += [run.key for run in runs]
            for outcome in outcomes:
                pairs = ((y, outcome.y_pred), (last - y, last - outcome.y_pred))
                rates.append([center_hedging_rate(*pair, last + 1, extremes=2) for pair in pairs])
        lower, upper = np.array(rates).T
        for form, values in {"upper": upper, "either": lower + upper}.items():
            labels = ("forms", f"center: {form}", number, "Wine Red", method)
            found.append(dict(zip(ROW, labels, strict=True)) | {
                "seeds": len(values), "CHR_ext": values.mean().round(DECIMALS),
                "CHR_ext std": values.std(ddof=1).round(DECIMALS), "key": joint_key(keys),
            })  # fmt: skip
    return pd.DataFrame(found)


def around(cells: pd.DataFrame, pool: Protocols) -> Protocols:
    """Protocols that differ in one choice from the best of ``cells`` and aren't among them.

    Those that ``pool`` lacks get the numbers after its last.
    """
    top = log_likelihood(cells, tried_frame(pool)).sum(axis=1).idxmax()
    numbers = {protocol: number for number, protocol in pool.items()}
    near = [p for p in pool[top].neighbors() if numbers.get(p) not in set(cells["protocol"])]
    new = (p for p in near if p not in numbers)
    numbers |= {protocol: number for number, protocol in enumerate(new, start=len(pool))}
    return {numbers[protocol]: protocol for protocol in near}


def tried_frame(protocols: Protocols) -> pd.DataFrame:
    """Settings by protocol."""
    return pd.DataFrame.from_dict(
        {number: p._asdict() for number, p in protocols.items()}, orient="index"
    ).rename_axis("protocol")


def search(**how) -> tuple[pd.DataFrame, pd.DataFrame, dict]:
    """Run all stages (``how`` as for `run_studies`).

    Returns
    -------
    tried : DataFrame
        Settings by protocol; 0 is the default.
    cells : DataFrame
        One row per stage, form, protocol, data set and method: seeds, mean and std of each metric,
        digest of the runs' keys.
    facts : dict
        Runs and the seconds that their training took.
    """
    near = [CandidateProtocol(), CandidateProtocol(layers=3)]
    pool = [*near, *random_protocols(), *near[0].neighbors(), *near[1].neighbors()]
    pool = dict(enumerate(dict.fromkeys(pool)))
    done, facts = [], {"runs": 0, "training seconds": 0.0}

    def stage(todo: list[Task]) -> pd.DataFrame:
        cells, own = run(todo, **how)
        for name, value in own.items():
            facts[name] += value
        done.append(cells)
        return cells

    def fittest(cells: pd.DataFrame, count: int) -> Protocols:
        """The best and the default."""
        chosen = best(log_likelihood(cells, tried_frame(pool)), count)
        return {number: pool[number] for number in dict.fromkeys([0, *chosen])}

    cells = stage(tasks("screen", pool, SCREEN, 1))
    cells = stage(tasks("wines", fittest(cells, WINES), BOTH, 1))
    more = {n: p for n, p in around(cells, pool).items() if n not in pool}
    pool |= more
    if more:
        cells = pd.concat([cells, stage(tasks("wines", more, BOTH, 1))])
    for name, count, seeds in (("whole", WHOLE_TABLES, 1), ("three", THREE, 3)):
        cells = stage(tasks(name, fittest(cells, count), CELLS, seeds))
    more = around(cells, pool)
    pool |= more
    cells = pd.concat([cells, stage(tasks("three", more, CELLS, 3))])
    winner = log_likelihood(cells, tried_frame(pool)).sum(axis=1).idxmax()
    stage(form_tasks(winner, pool[winner], 3))
    done.append(other_centers(winner, pool[winner], 3))
    facts["training seconds"] = round(facts["training seconds"])
    return tried_frame(pool), pd.concat(done, ignore_index=True), facts


def record(workers: int | None = None, address: str | None = None) -> pd.DataFrame:
    """Search and write ``protocols.csv`` (settings) and ``protocol_cells.csv`` (results)."""
    tried, cells, facts = search(workers=workers, address=address, progress=True)
    recordings.write_rows(recordings.folder() / "protocols.csv", tried.reset_index())
    recordings.keep(NAME, cells, facts)
    return cells


def load() -> tuple[pd.DataFrame, pd.DataFrame, dict]:
    """What `record` wrote: settings by protocol, results, facts."""
    tried = pd.read_csv(recordings.folder() / "protocols.csv", index_col="protocol")
    cells = recordings.load("protocol_cells")
    cells["form"] = cells["form"].fillna("")
    return tried, cells, recordings.note(NAME)


def protocol_of(row: pd.Series) -> CandidateProtocol:
    """A protocol from its row of settings."""
    kinds = {name: type(value) for name, value in CandidateProtocol()._asdict().items()}
    return CandidateProtocol(**{name: kind(row[name]) for name, kind in kinds.items()})


def verify(count: int, sample_seed: int = 0) -> tuple[pd.DataFrame, Comparison]:
    """Train ``count`` random rows of one seed again; see `recording_checks.compare`.

    ``keys_match`` looks at the keys of all rows but *forms*.
    """
    label = ["protocol", "dataset", "method"]
    if not recordings.made(NAME):
        return never_made(NAME, label)
    tried, cells, _ = load()
    cells = cells[cells["stage"] != "forms"]
    protocols = {number: protocol_of(row) for number, row in tried.iterrows()}

    def task(cell) -> Task:
        """What a recorded row came from, its own method alone."""
        grid = protocols[cell.protocol].settings(cell.dataset, (cell.method,), cell.seeds)
        return {"stage": cell.stage, "form": cell.form, "protocol": cell.protocol}, grid, {}

    planned = (task(cell)[1] for cell in cells.itertuples())
    keys = [joint_key(run.key for settings in grid for run in plan(settings)) for grid in planned]
    chosen = sample(cells[cells["seeds"] == 1], count, sample_seed)
    new, _ = run([task(cell) for cell in chosen.itertuples()])
    return compare(NAME, chosen[[*label, *MEASURED]], new, label, keys == cells["key"].tolist())
