"""The open choices: each alternative was run and is measured against the published tables."""

import pandas as pd
import pytest

from companion.paper.open_choices import CHOICES, CHOSEN, choice_grid, distances_to_paper
from companion.studies.recordings import load


def test_every_alternative_has_runs_and_a_distance():
    labels = {(entry["question"], entry["alternative"]) for entry, _ in choice_grid()}
    wanted = {(c.question, a.label) for c in CHOICES for a in c.alternatives}
    assert wanted < labels
    distances = distances_to_paper(load("choices"))
    assert len(distances) == len(wanted) and distances["cells"].min() > 0
    assert distances.filter(like="chosen").notna().all().all()


def test_a_distance_by_hand():
    question = next(c.question for c in CHOICES if c.topic == "AMOL-CE")
    other = "AMOL-CE on the Gaussian target"
    rows = [
        ("", CHOSEN.label, "AMOL-CE", 0.71, 0.031),
        (question, "the Gaussian target", other, 0.68, 0.051),
        (question, "the Gaussian target", other, 0.70, 0.071),
    ]
    columns = ["question", "alternative", "method", "QWK", "CHR_ext"]
    frame = pd.DataFrame(rows, columns=columns).assign(dataset="Abalone", CHR=0.0)
    found = distances_to_paper(frame).set_index("question").loc[question]
    # printed: QWK 0.700, CHR_ext 0.041
    assert found["QWK, alternative"] == pytest.approx(0.01)
    assert found["CHR_ext, alternative"] == pytest.approx(0.02)
    assert found["QWK, chosen"] == pytest.approx(0.01)
    assert found["CHR_ext, chosen"] == pytest.approx(0.01)
