"""Numbers and claims of the paper, and numbers of a benchmark beside it, as data.

Numbers are in ``files/published.csv`` as printed, claims and other statements in
``files/claims.toml`` in our own words, claims with the rule by which `companion.claims.ledger`
judges them, and sentences that don't agree with each other in ``files/contradictions.toml``.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

PAPER_SEEDS = 5
NUMBER = ["dataset", "method", "metric"]  # what makes a printed number a distinct one
_DATA = Path(__file__).parent / "files"

RANKING = (
    "Reproduced if every comparison named is clearly for it, by more than two standard errors of "
    "the difference, 2·sqrt(s₁²/n₁ + s₂²/n₂); direction only if every one is for it, but not "
    "clearly; not reproduced if one is clearly against it; else undecided."
)

# Label of the table, figure or section that shows a number of each place.
PLACES = {
    "Table 2": "notebooks/05_results.html#tab-qwk",
    "Table 3": "notebooks/05_results.html#tab-chr",
    "Table 4": "notebooks/06_ablation.html#tab-ablation",
    "Section 5.1": "notebooks/05_results.html",
    "Section 5.3": "notebooks/05_results.html",
    "Section 6": "notebooks/06_ablation.html",
}


def _numbers() -> pd.DataFrame:
    table = pd.read_csv(_DATA / "published.csv", dtype=str)
    digits = table["mean"].str.partition(".")[2].str.len()
    numbers = {name: table[name].astype(float) for name in ("mean", "std")}
    return table.assign(**numbers, digits=digits.astype(int))


# One row per printed number: where, dataset, method, metric, mean, std (NaN where none is printed),
# digits (decimals printed). Table 4 repeats four numbers of Tables 2 and 3.
PUBLISHED = _numbers()


@cache
def published(dataset: str, method: str, metric: str) -> tuple[float, float] | None:
    """The printed mean and std (NaN where none is printed), or None for a cell not in the paper."""
    found = PUBLISHED[
        (PUBLISHED["dataset"] == dataset)
        & (PUBLISHED["method"] == method)
        & (PUBLISHED["metric"] == metric)
    ]
    if found.empty:
        return None
    return float(found["mean"].iloc[0]), float(found["std"].iloc[0])


@dataclass(frozen=True)
class Revision:
    """One change of rules after results were known: the day, what changed, why, and its effect.

    ``changed`` has, for each claim or number whose verdict moved on the same runs, its id and the
    verdicts before and after; instead of one "entered", "dropped", or the kind of a statement
    that was no claim yet or is none any more.
    """

    date: str
    what: str
    why: str
    claims: tuple[str, ...] = ()
    changed: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True)
class Contradiction:
    """Two sentences of the paper that don't agree, each with its place, in our words."""

    where: str
    says: str
    other_where: str
    other_says: str


CLAIM = "claim"
KINDS = (CLAIM, "definition", "other work", "limitation", "open question")


@dataclass(frozen=True)
class Claim:
    """One statement of the paper: a claim, with what would count as reproducing it, or another.

    Attributes
    ----------
    id, claim : str
    where : tuple of str
        Its places, to the sentence; ``claims.toml`` says how they are counted.
    kind : str
        One of `KINDS`. Only a `CLAIM`, which runs or data can decide, has a verdict.
    rule : str
        What counts as reproduced; of another kind, what we compute beside it.
    datasets, methods, metrics : tuple of str
        What it is about; with metrics, the runs that it needs.
    pairs : tuple of (better, worse) or (better, worse, data set)
        Methods to compare, for a claim judged by `RANKING`; on every data set, or on one.
    verdict, reason : str
        Set for a claim that no computation settles; of another kind, ``reason`` alone.
    href : str
        Page and label that show it, relative to the book's root.
    """

    id: str
    where: tuple[str, ...]
    claim: str
    href: str
    kind: str = CLAIM
    rule: str = RANKING
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    pairs: tuple[tuple[str, ...], ...] = ()
    verdict: str = ""
    reason: str = ""

    @property
    def comparisons(self) -> list[tuple[str, str, str, str]]:
        """What `pairs` compare: data set, metric, better and worse method."""
        return [
            (dataset, metric, better, worse)
            for dataset in self.datasets
            for metric in self.metrics
            for better, worse, *only in self.pairs
            if dataset in (only or self.datasets)
        ]


def _read(name: str, kind: type) -> tuple:
    """Entries of one of the files, lists as tuples."""
    (entries,) = tomllib.loads((_DATA / name).read_text(encoding="utf-8")).values()
    return tuple(
        kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()})
        for entry in entries
    )


def _claim(**entry) -> Claim:
    pairs = tuple(tuple(pair) for pair in entry.pop("pairs", ()))
    if pairs:
        entry["methods"] = tuple(dict.fromkeys(name for pair in pairs for name in pair[:2]))
    if "reason" in entry:
        entry["rule"] = "None: see the reason."
    return Claim(**entry, pairs=pairs)


STATEMENTS = _read("claims.toml", _claim)
CLAIMS = tuple(each for each in STATEMENTS if each.kind == CLAIM)
REVISIONS = _read("revisions.toml", Revision)
CONTRADICTIONS = _read("contradictions.toml", Contradiction)

TOCUCO_MLPS = ("MLP", "MLP-CLM", "MLP-T")


def tocuco_means() -> pd.DataFrame:
    """Means of the benchmark TOC-UCO on the sets that it shares with the fair fight.

    Columns dataset, method, QWK and AMAE: means over 30 partitions of 70/30 (Ayllón-Gavilán et
    al., Neurocomputing 684 (2026) 133528, arXiv 2507.17348).
    """
    return pd.read_csv(_DATA / "tocuco.csv")


def tocuco_scores() -> pd.DataFrame:
    """Scores of TOC-UCO's eight methods on its 46 data sets and 30 partitions, as released.

    Columns dataset, method, partition, QWK, MAE, AMAE and MES (the lower recall of the two end
    classes), three decimals each: file results/final_metrics_report.xlsx of the repository
    ayrna/tocuco (Ayllón-Gavilán et al., Neurocomputing 684 (2026) 133528).
    """
    return pd.read_csv(_DATA / "tocuco_scores.csv.gz")
