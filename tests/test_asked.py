"""Pictures and words of what losses ask for, and the studies behind "Asked and answered"."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

from amol import engine
from amol.losses import LOSSES, minimize_risk
from companion.page import asked
from companion.studies import known_beliefs, recordings, remedies
from companion.theory.properties import COLUMNS, properties


def test_beliefs_fill_the_triangle_evenly():
    cells = asked.three_class_beliefs(4)
    assert len(cells) == 16 and (cells > 0).all()
    np.testing.assert_allclose(cells.sum(1), 1)
    np.testing.assert_allclose(cells.mean(0), 1 / 3)  # none of the corners is favored
    assert len({tuple(np.round(12 * row).astype(int)) for row in cells}) == 16


def test_shares_of_three_classes_are_those_that_are_exact():
    cells = asked.three_class_beliefs()
    found = asked.answers(cells, ["CE", "CORN", "KL"])
    center = asked.shares(found, 3)["center"]
    exact = {"fewest errors": 1 / 3, "least |error|": 1 / 2, "least error²": 3 / 4, "CE": 1 / 3,
             "CORN": 1 / 2, "KL": 3 / 4}  # fmt: skip
    assert center.to_dict() == pytest.approx(exact, abs=0.01)
    assert asked.shares(found, 3)["ends"].to_dict() == pytest.approx(
        {name: 1 - share for name, share in exact.items()}, abs=0.01
    )


def test_figures_have_a_panel_for_each_answer():
    cells = asked.three_class_beliefs(8)
    found = asked.answers(cells, ["CE", "AMOL"])
    figure = asked.triangles(found, cells)
    titles = [ax.get_title(loc="center").split("\n")[0] for ax in figure.axes]
    assert titles == [*asked.DECISIONS, "CE", "AMOL"]
    assert figure.narrow.get_figwidth() < figure.get_figwidth()


def test_every_word_of_the_table_has_its_proof():
    cells, folds = asked.cells(), asked.proofs().split("</details>")
    assert list(cells.index) == list(properties()) and list(cells.columns) == [*COLUMNS.values()]
    for name, fold in zip(cells.index, folds, strict=False):
        assert f"<summary>{name}</summary>" in fold
        assert fold.count("\n- *") == len(COLUMNS)
        assert all(f"**{word}**" in fold for word in cells.loc[name])
        assert "  " not in fold
    amol = next(fold for fold in folds if "<summary>AMOL</summary>" in fold)
    assert "(3, 5, 2, 0)/10 is answered 1, (3, 5, 0, 2)/10, which lies above it, 0." in amol


# Known beliefs


def test_generated_beliefs():
    X = np.array([[0.0, 0, -1, 0], [0.8, -1, -1, 0.5], [0.8, -1, 1, -0.5]])
    p = known_beliefs.known_beliefs(X)
    np.testing.assert_allclose(p.sum(1), 1)
    near = 1 / (1 + (np.array([2, 1, 0, 1, 2]) / 0.8) ** 2) ** 2  # at 2, 0.8 wide
    np.testing.assert_allclose(p[0], near / near.sum())
    assert p[1].argmax() == 4 and p[1][0] < 0.01  # one peak at 4, 0.3 wide
    np.testing.assert_allclose(p[2], (p[1] + p[1][::-1]) / 2)  # half of it at the other end


def test_labels_are_drawn_from_their_beliefs():
    X, y, beliefs = known_beliefs.drawn(20_000, 5)
    assert X.dtype == np.float32 and np.abs(X).max() <= 1
    shares = np.bincount(y, minlength=5) / len(y)
    np.testing.assert_allclose(shares, beliefs.mean(0), atol=0.012)
    high = beliefs[:, 4] > 0.5
    assert (y[high] == 4).mean() == pytest.approx(beliefs[high, 4].mean(), abs=0.03)


@pytest.mark.parametrize("method", known_beliefs.METHODS)
def test_logits_of_a_network_s_probabilities(method):
    loss = LOSSES[method](num_classes=5)
    p = np.random.default_rng(0).dirichlet(np.ones(5), 20).astype(np.float32)
    logits = known_beliefs.logits_of(loss, p)
    torch.testing.assert_close(loss.probabilities(logits).numpy(), p.astype(float), rtol=1e-5,
                               atol=1e-6)  # fmt: skip


@pytest.mark.slow
def test_recorded_networks_of_known_beliefs_are_trained_again():
    rows = recordings.load("known_beliefs")
    assert len(rows) == len(known_beliefs.STUDY.tasks)
    small = known_beliefs.STUDY.rows_of("250 rows", "AMOL", 1)
    there = rows[(rows["data"] == "250 rows") & (rows["method"] == "AMOL") & (rows["seed"] == 1)]
    assert small.iloc[0].to_dict() == there.iloc[0].to_dict()


# Remedies


@pytest.mark.parametrize("K", [3, 6])
def test_variants_are_their_formulas(K):
    y = torch.arange(K)
    z = torch.randn(K, K, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p, log_p = z.softmax(-1), z.log_softmax(-1)
    amol = LOSSES["AMOL"](num_classes=K)
    m, log_q = amol.table("m", z), amol.table("log_target", z)
    k = torch.arange(K).double()
    stretched = (-m * (k - k[:, None]) ** 2 / 2).log_softmax(-1)
    values = {
        "Bregman": (m * (p * (log_p - log_q) - p)).sum(-1),  # but for Σ m q
        "KL to q'": (p * (log_p - stretched)).sum(-1),
        "CE to q'": -(stretched.exp() * log_p).sum(-1),
        "forward": -(m * log_q.exp() * log_p).sum(-1),
    }
    for name, expected in values.items():
        loss = remedies.VARIANTS[name](K)
        torch.testing.assert_close(loss.values(z, y), expected)
        assert engine.is_compiled(loss)


def test_a_bregman_divergence_is_least_at_its_target():
    loss = remedies.VARIANTS["Bregman"](7)
    asked_for = minimize_risk(loss, torch.eye(7)).probabilities
    target = LOSSES["AMOL"](num_classes=7).table("log_target", asked_for).exp()
    torch.testing.assert_close(asked_for, target)


def test_runs_of_variants_are_told_apart():
    keys = {json.dumps(sorted(remedies.keys_of("ESL", m, 0).values())) for m in remedies.METHODS}
    assert len(keys) == len(remedies.METHODS)


def test_the_rule_takes_the_largest_strength_that_is_good_enough():
    qwk = {"β = 0": (0.70, 0.70), "β = 0.5": (0.71, 0.695), "β = 2": (0.699, 0.68)}
    amol = {"AMOL α = 0": (0.5, 0.5), "AMOL α = 1": (0.4, 0.49), "AMOL α = 4": (0.2, 0.5)}
    rows = [("CE", way, split, values[split]) for way, values in qwk.items() for split in (0, 1)]
    rows += [("EMD2", *row[1:]) for row in rows]
    rows += [(name, remedies.TRAINED, split, values[split])
             for name, values in amol.items() for split in (0, 1)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["method", "way", "split_seed", "validation_QWK"])
    found = remedies.chosen(frame.assign(dataset="d")).set_index(["method", "split_seed"])
    assert found.loc["CE, β by the rule", "way"].tolist() == ["β = 0.5", "β = 0.5"]
    assert found.loc["AMOL, α by the rule", "alpha"].tolist() == [0, 4]


def test_recorded_remedies():
    rows = recordings.load("remedies")
    expected = sum(len(remedies.ways(method)) for _, method, _ in remedies.STUDY.tasks)
    assert len(rows) == expected
    assert remedies.STUDY.verify(1, among={"dataset": ("ESL",)})[1].holds  # the smallest set
