"""The paper's numbers and claims are complete, consistent and point at things that exist."""

import math
from pathlib import Path

import pytest

from amol.losses import LOSSES, PAPER_METHODS
from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.claims.evidence import TAIL_METRICS
from companion.data.datasets import DATASETS, MORE_DATASETS
from companion.paper.published import CLAIMS, PLACES, PUBLISHED, published

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


def test_claims_are_well_formed():
    assert len(CLAIMS) >= 25
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert claim.where and claim.claim and claim.rule and claim.href
        assert set(claim.datasets) <= {*DATASETS, *MORE_DATASETS}
        assert set(claim.methods) <= set(LOSSES)
        assert set(claim.metrics) <= {*METRICS, *PROBABILITY_METRICS, *TAIL_METRICS}
        assert bool(claim.verdict) == bool(claim.reason)
        assert not claim.pairs or (claim.datasets and claim.metrics)
    kinds = {claim.kind for claim in CLAIMS}
    assert kinds == {"comparison", "property", "data", "literature", "reading"}


@pytest.mark.parametrize("href", sorted({*PLACES.values(), *(claim.href for claim in CLAIMS)}))
def test_links_point_at_labels(href):
    page, _, label = href.partition(".html")
    assert label.removeprefix("#") in (ROOT / f"{page}.py").read_text(encoding="utf-8")
