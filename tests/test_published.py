"""The paper's numbers and claims are complete, consistent and point at things that exist."""

import math
import re
from pathlib import Path

import pytest

from amol.losses import LOSSES, PAPER_METHODS
from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.claims.evidence import TAIL_METRICS
from companion.data.datasets import DATASETS, MORE_DATASETS
from companion.paper.published import (
    CLAIMS,
    CONTRADICTIONS,
    KINDS,
    PLACES,
    PUBLISHED,
    STATEMENTS,
    published,
)

ROOT = Path(__file__).resolve().parents[1]


def test_numbers_are_complete():
    assert len(PUBLISHED) == 55
    counts = PUBLISHED["where"].value_counts().to_dict()
    assert counts == {"Table 2": 16, "Table 3": 16, "Table 4": 18, "Section 5.3": 2,
                      "Section 6": 2, "Section 5.1": 1}  # fmt: skip
    assert set(PUBLISHED["dataset"]) == set(DATASETS)
    assert set(PUBLISHED["method"]) == set(PAPER_METHODS)
    assert set(PUBLISHED["metric"]) <= set(METRICS)
    assert set(PUBLISHED["where"]) == set(PLACES)


def test_numbers_as_printed():
    assert published("Wine White", "AMOL", "QWK") == (0.594, 0.005)
    assert published("Wine Red", "OLL", "CHR_ext") == (0.250, 0.013)
    assert published("Abalone", "AMOL-OLL", "QWK") == (0.510, 0.040)
    mean, std = published("Abalone", "AMOL-OLL", "accuracy")
    assert mean == 0.19 and math.isnan(std)
    assert published("Abalone", "SORD", "MAE") is None
    digits = PUBLISHED.set_index("metric")["digits"]
    assert set(digits["accuracy"]) == {2} and set(digits["QWK"]) == {3}


def test_repeated_numbers_agree():
    cells = PUBLISHED.groupby(["dataset", "method", "metric"])[["mean", "std"]]
    assert (cells.nunique() <= 1).all(axis=None)
    assert (cells.size() == 2).sum() == 4


PLACE = re.compile(
    r"(Abstract|Section [1-8](\.[1-5])?)( ¶[1-9]\.[1-9]|, item [1-4])|Table [1-4]"
    r"|Figure [1-3], sentence [1-4]|Checklist, item [1-6]"
)


def test_statements_are_well_formed_and_placed_to_the_sentence():
    assert len(CLAIMS) >= 25
    assert len({each.id for each in STATEMENTS}) == len(STATEMENTS)
    for each in STATEMENTS:
        assert each.where and each.claim and each.rule and each.href
        assert all(PLACE.fullmatch(place) for place in each.where), each.where
        assert set(each.datasets) <= {*DATASETS, *MORE_DATASETS}
        assert set(each.methods) <= set(LOSSES)
        assert set(each.metrics) <= {*METRICS, *PROBABILITY_METRICS, *TAIL_METRICS}
        assert not each.verdict or each.reason
        assert not each.pairs or (each.datasets and each.metrics)
    assert {each.kind for each in STATEMENTS} == set(KINDS)


def test_contradictions_have_both_places():
    for each in CONTRADICTIONS:
        assert each.says != each.other_says
        for place in "; ".join((each.where, each.other_where)).split("; "):
            assert PLACE.fullmatch(place) or place in ("Tables 2 to 4", "Section 4"), place


@pytest.mark.parametrize("href", sorted({*PLACES.values(), *(each.href for each in STATEMENTS)}))
def test_links_point_at_labels(href):
    page, _, label = href.partition(".html")
    assert label.removeprefix("#") in (ROOT / f"{page}.py").read_text(encoding="utf-8")
