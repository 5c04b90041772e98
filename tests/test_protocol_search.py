"""The search for the paper's protocol: likelihood by hand, weights of choices, resumability."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from companion.claims.stability import worlds_of_protocols
from companion.studies import protocol_fit as fits
from companion.studies import protocol_search as search
from companion.studies.protocol_space import (
    CELLS,
    PER_RUN,
    RANDOM,
    SPACE,
    CandidateProtocol,
    random_protocols,
)
from companion.train import study


@settings(deadline=None, max_examples=20)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.005, 0.3))
def test_a_printed_mean_counts_by_the_area_over_its_rounding(x, mean, se):
    if abs(x - mean) > 7 * se:
        return
    area, _ = integrate.quad(stats.norm(mean, se).pdf, x - 0.0005, x + 0.0005)
    assert float(fits.log_mean(x, 0.0005, mean, se)) == pytest.approx(np.log(area), rel=1e-5)


def test_a_mean_far_away_is_finite_and_falls():
    far = fits.log_mean(np.array([0.1, 0.2, 0.4, 0.9]), 0.0005, 0.0, 0.001)
    assert np.isfinite(far).all() and (np.diff(far) < 0).all()


@settings(deadline=None, max_examples=20)
@given(st.floats(0.0, 0.06), st.floats(0.003, 0.05))
def test_a_printed_std_counts_by_the_share_of_samples_of_five(s, sigma):
    low, high = max(s - 0.0005, 0), s + 0.0005
    # density of the std of five: chi with 4 degrees of freedom, scaled
    area, _ = integrate.quad(stats.chi(4, scale=sigma / 2).pdf, low, high)
    wanted = max(np.log(area), -50) if area > 0 else -50
    assert float(fits.log_std(s, 0.0005, sigma)) == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def rows_at_the_paper(protocol: int, shift: float = 0.0) -> pd.DataFrame:
    """Cells whose means are the printed ones, moved by ``shift``, three seeds each."""
    wide = fits.numbers().pivot(index=["dataset", "method"], columns="metric", values="mean")
    wide = wide.reindex(columns=list(fits.PRINTED_METRICS)) + shift
    spreads = wide.add_suffix(" std") * 0 + 0.01
    return pd.concat([wide, spreads], axis=1).reset_index().assign(protocol=protocol, seeds=3)


def toy() -> tuple[pd.DataFrame, pd.DataFrame]:
    cells = pd.concat([rows_at_the_paper(0, 0.05), rows_at_the_paper(1), rows_at_the_paper(2, 0.1)])
    tried = search.tried_frame(
        {0: CandidateProtocol(), 1: CandidateProtocol(layers=3), 2: CandidateProtocol(layers=1)}
    )
    return cells, tried


def test_likelihood_against_a_slow_one():
    cells, tried = toy()
    found = fits.log_likelihood(cells, tried)
    assert found.shape == (3, len(fits.numbers()))
    runs = fits.recordings.load("grid")
    for place, number in fits.numbers().iterrows():
        mine = runs[(runs["dataset"] == number["dataset"]) & (runs["method"] == number["method"])]
        usual = mine[number["metric"]].std()
        sigma = max(np.sqrt((4 * usual**2 + 2 * 0.01**2) / 6), 0.0005)
        se = np.sqrt(max(number["std"], 0.0005) ** 2 / 5 + sigma**2 / 3)
        normal = stats.norm(number["mean"], se)
        mean = np.log(normal.cdf(number["mean"] + 0.0005) - normal.cdf(number["mean"] - 0.0005))
        chi = stats.chi(4, scale=sigma / 2)
        edges = chi.cdf([max(number["std"] - 0.0005, 0), number["std"] + 0.0005])
        wanted = mean + max(np.log(max(edges[1] - edges[0], 1e-300)), -50)
        assert found.loc[1, place] == pytest.approx(wanted, rel=1e-4)


def test_the_paper_counts_each_number_of_its_real_tables_once():
    table = fits.numbers()
    assert not table.duplicated(fits.NUMBER).any()
    assert set(table["dataset"]) == set(CELLS)
    printed = {(d, m) for d, names in CELLS.items() for m in names}
    assert set(zip(table["dataset"], table["method"], strict=True)) == printed


def test_weights_and_marginals_by_hand():
    weight = fits.weights(pd.Series({0: -1002.0, 1: -1000.0, 2: -1002.0}))
    assert weight[1] == pytest.approx(1 / (1 + 2 * np.exp(-2)))
    table = fits.marginals(weight, toy()[1])
    layers = table[table["choice"] == "layers"].set_index("value")
    assert layers["tried"].tolist() == pytest.approx([1 / 3] * 3)
    assert layers.loc[3, "probability"] == pytest.approx(weight[1])
    assert table.groupby("choice")["probability"].sum().to_numpy() == pytest.approx(1.0)
    dropped = fits.marginals(fits.weights(pd.Series({0: -1.0})), toy()[1])
    assert dropped[dropped["choice"] == "layers"]["probability"].tolist() == [0, 1, 0]
    assert fits.fits_as_well(pd.Series({4: -3.0, 5: -1.0, 6: -3.1})) == [4, 5]


def test_held_out_judges_by_the_other_numbers():
    cells, tried = toy()
    judged = fits.held_out(fits.log_likelihood(cells, tried), cells)
    assert (judged["protocol"] == 1).all() and fits.clearly_better(judged)
    assert judged["QWK"].dropna().to_numpy() == pytest.approx(0, abs=1e-12)
    assert judged["CHR_ext, default"].dropna().to_numpy() == pytest.approx(0.05)
    total = len(fits.numbers())
    assert judged["judged"].iloc[:2].sum() == total and judged["judged"].iloc[2:].sum() == total
    assert not fits.clearly_better(judged.assign(gain=[3.0, 3.0, 3.0, 3.0, 2.0]))


def test_each_criterion_keeps_its_own_best():
    part = fits.divisions()["Table 2"]
    fit = pd.DataFrame(-10.0, index=range(5), columns=range(len(part)))
    fit.loc[3] += 1.0
    fit.loc[4, part] += 5.0
    fit.loc[4, ~part] -= 50.0
    assert set(fits.best(fit, 2)) == {3, 4}


def test_random_protocols_use_every_value_equally_often():
    protocols = random_protocols()
    frame = search.tried_frame(dict(enumerate(protocols)))
    for choice, values in SPACE.items():
        assert (frame[choice].value_counts() == RANDOM // len(values)).all()
    assert random_protocols() == protocols


def test_neighbors_differ_in_one_choice():
    default = CandidateProtocol()
    near = default.neighbors()
    assert len(near) == sum(len(values) - 1 for values in SPACE.values())
    frame = search.tried_frame(dict(enumerate([default, *near])))
    assert (frame.iloc[1:] != frame.iloc[0]).sum(axis=1).eq(1).all()


def test_a_split_per_run_goes_with_the_seed():
    made = CandidateProtocol(split_seed=PER_RUN).settings("Abalone", ("CE",), 3)
    assert [(s.seeds, s.split_seed) for s in made] == [((n,), n) for n in range(3)]


def test_the_recording_has_every_stage_and_the_default_first():
    tried, cells, _ = search.load()
    assert search.protocol_of(tried.loc[0]) == CandidateProtocol()
    assert not cells.duplicated([*search.ROW]).any()
    for stage in ("screen", "wines", "whole", "three"):
        assert 0 in set(cells.loc[cells["stage"] == stage, "protocol"])
    for evidence in worlds_of_protocols().values():
        cell = evidence.cell("Abalone", "AMOL-asym", "CHR_ext")
        assert cell.n == 3 and cell.std >= 0


def test_a_stopped_search_goes_on_where_it_was(tmp_path, monkeypatch):
    """The stored runs of a part are taken for the whole, with the same rows."""
    monkeypatch.setattr(study, "store_path", lambda: tmp_path)
    changes = ({}, {"layers": 1}, {"epochs": 2})
    few = {n: CandidateProtocol(**{"epochs": 1} | own) for n, own in enumerate(changes)}
    todo = search.tasks("screen", few, {"Wine Red": ("CE",)}, 2)
    part, facts = search.run(todo[:2], progress=False)
    stored = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npz")}
    assert len(stored) == facts["runs"] == 4
    whole, facts = search.run(todo, progress=False)
    assert facts["runs"] == 6 and whole.head(len(part)).to_csv() == part.to_csv()
    assert all(file.stat().st_mtime_ns == time for file, time in stored.items())
    assert len(list(tmp_path.rglob("*.npz"))) == 6
