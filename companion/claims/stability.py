"""Stability of claims: in how many worlds, other than the paper's, each of them holds.

A world is a set of runs made under another random split, another answer to an open question,
another protocol that fits the paper's tables as well as the best, or another block of seeds; all
come from recorded studies. A claim holds in a world if its comparisons
are for it there, clearly or not: a world often has one run per cell, and so no spread.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from companion.claims.evidence import CannotTest, Cell, Evidence, evidence_of_runs
from companion.claims.rules_on_runs import RULES, ranking
from companion.claims.verdicts import HOLDS, Verdict
from companion.paper.open_choices import CHOICES, CHOSEN
from companion.paper.published import CLAIMS, Claim
from companion.studies import protocol_search
from companion.studies.protocol_fit import fits_as_well, log_likelihood
from companion.studies.protocol_space import CELLS
from companion.studies.recordings import load, made

BLOCK = 5  # seeds, as many as the paper has


@dataclass(frozen=True)
class World:
    """Runs under other circumstances: ``kind`` is "splits", "protocol" or "seeds"."""

    kind: str
    name: str
    evidence: Evidence


def worlds_of_protocols(only: Iterable[int] | None = None) -> dict[int, Evidence]:
    """Evidence of each protocol that fits as well as the best, or of ``only`` some, by number.

    With three seeds, for judging claims.
    """
    tried, cells, _ = protocol_search.load()
    cells = cells[cells["stage"] == "three"]
    if only is None:
        only = fits_as_well(log_likelihood(cells, tried).sum(axis=1))
    worlds = {}
    for number in only:
        own = cells[cells["protocol"] == number]
        worlds[number] = Evidence(
            {
                (row["dataset"], row["method"], metric): Cell(
                    row[metric], row[f"{metric} std"], row["seeds"]
                )
                for _, row in own.iterrows()
                for metric in protocol_search.MEASURED
            },
            dict.fromkeys(CELLS, tried.loc[number, "split_seed"]),
            least_seeds=1,
        )
    return worlds


def _world(kind: str, name: str, runs: pd.DataFrame) -> World:
    return World(kind, name, evidence_of_runs(runs, least_seeds=1))


def split_worlds(rows: pd.DataFrame) -> list[World]:
    """One world per random split of the recording "splits"."""
    return [_world("splits", f"split {seed}", part) for seed, part in rows.groupby("split_seed")]


def protocol_worlds(rows: pd.DataFrame) -> list[World]:
    """One world per other answer of the recording "choices".

    Where an answer concerns one method, the others' runs are those of the chosen answers.
    """
    chosen = rows[rows["alternative"] == CHOSEN.label]
    worlds = []
    for choice in CHOICES:
        for answer in choice.alternatives:
            mine = rows["question"] == choice.question
            own = rows[mine & (rows["alternative"] == answer.label)]
            if own.empty:
                continue
            names = {trained: name for name, trained in answer.instead.items()}
            own = own.assign(
                method=own["method"].replace(names),
                dataset=own["dataset"].str.partition(" (")[0],  # a variant of Abalone is Abalone
            )
            replaced = pd.MultiIndex.from_frame(own[["dataset", "method"]])
            kept = ~pd.MultiIndex.from_frame(chosen[["dataset", "method"]]).isin(replaced)
            name = f"{choice.question} {answer.label}"
            worlds.append(_world("protocol", name, pd.concat([chosen[kept], own])))
    return worlds


def seed_worlds(rows: pd.DataFrame) -> list[World]:
    """One world per `BLOCK` of seeds of the recording "seeds"."""
    return [
        _world("seeds", f"seeds from {BLOCK * block}", part)
        for block, part in rows.groupby(rows["seed"] // BLOCK)
    ]


MADE_OF = {"splits": split_worlds, "choices": protocol_worlds, "seeds": seed_worlds}


@cache
def recorded_worlds() -> tuple[World, ...]:
    """The worlds of all recordings that have been made."""
    worlds = []
    for name, make in MADE_OF.items():
        if made(name):
            worlds += make(load(name))
    if made(protocol_search.NAME):
        fitting = worlds_of_protocols().items()
        worlds += [World("protocol", f"protocol {number}", e) for number, e in fitting if number]
    return tuple(worlds)


def judge(claim: Claim, evidence: Evidence) -> tuple[Verdict, str]:
    """Verdict and reason of one claim; a missing run makes it *cannot be tested*, no error."""
    if claim.verdict:
        return Verdict(claim.verdict), claim.reason
    try:
        return ranking(evidence, claim) if claim.pairs else RULES[claim.id](evidence, claim)
    except CannotTest as error:
        return Verdict.UNTESTED, str(error)


def stability(claim: Claim, worlds: Iterable[World]) -> dict[str, float]:
    """Share of worlds in which a claim holds.

    A world counts if it has the claim's methods and metrics, on whichever of its data sets.

    Returns
    -------
    dict
        ``stability`` over all worlds that count, ``worlds`` their number, and the share among
        those of each kind: ``splits``, ``protocol``, ``seeds``. NaN where none counts.
    """
    held: dict[str, list[bool]] = {"splits": [], "protocol": [], "seeds": []}
    for world in worlds if claim.metrics else ():
        there = {dataset for dataset, *_ in world.evidence.cells}
        datasets = tuple(name for name in claim.datasets if name in there)
        if not datasets:
            continue
        judged, _ = judge(replace(claim, datasets=datasets), world.evidence)
        if judged != Verdict.UNTESTED:
            held[world.kind].append(judged in HOLDS)
    every = [flag for flags in held.values() for flag in flags]
    share = {kind: float(np.mean(flags)) if flags else np.nan for kind, flags in held.items()}
    return {"stability": float(np.mean(every)) if every else np.nan, "worlds": len(every), **share}


def held_claims(worlds: dict[int, Evidence]) -> pd.DataFrame:
    """Claims in some worlds: by id, claim (in words), share in which it holds, of how many."""
    made = [World("protocol", str(name), evidence) for name, evidence in worlds.items()]
    found = {claim.id: (claim.claim, stability(claim, made)) for claim in CLAIMS}
    rows = {id: (text, s["stability"], s["worlds"]) for id, (text, s) in found.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["claim", "share", "of"])
    return frame[frame["of"] > 0]
