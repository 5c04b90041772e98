"""Agreement with released libraries at moderate logits, and their faults not shared."""

import math

import pytest
import torch
from conftest import ROOT

from amol.losses import LOSSES, SORDLoss, distances
from companion.checks import loss_grid
from companion.checks.reference_losses import REFERENCES

Z = torch.tensor(
    [[0.3, -1.2, 2.0, 0.7, -0.4], [1.5, 0.2, -0.7, 0.1, 0.9], [-2.0, 0.4, 0.0, 1.1, 0.6]],
    dtype=torch.float64,
)
Y = torch.tensor([1, 4, 0])
# means over Z, Y by dlordinal 2.7.0 in float64; it adds 1e-8 or 1e-9 inside its logarithms
DLORDINAL = [
    ("OLL-Castagnos", {}, 2.6446441352165317),
    ("CDW-CE", {}, 7.896517303056814),
    ("CDW-CE", {"margin": 0.05}, 6.199707592121211),
    ("SLACE", {}, 2.0748302133918726),
]


@pytest.mark.parametrize(("name", "own", "theirs"), DLORDINAL)
def test_dlordinal(name, own, theirs):
    assert LOSSES[name](num_classes=5, **own)(Z, Y).item() == pytest.approx(theirs, rel=2e-8)


def test_dlordinal_weighted_kappa():
    # in float32; it adds 1e-10 to the denominator
    ours = LOSSES["WK"](num_classes=5)(Z, Y)
    assert ours.item() == pytest.approx(1.284796953201294, rel=2e-7)
    assert ours.log().item() == pytest.approx(0.2506006956100464, rel=1e-6)  # use_logarithm


def test_dlordinal_corn():
    ours = LOSSES["CORN"](num_classes=5)(Z[:, :4], Y).item()
    assert ours == pytest.approx(0.49881436845327204, rel=1e-12)


def test_dlordinal_sord_has_another_target():
    loss = SORDLoss(num_classes=5)
    loss.add_table("soft_target", torch.softmax(-distances(5), -1))  # q ∝ exp(−|k − y|)
    assert loss(Z, Y).item() == pytest.approx(2.490654705332126, rel=1e-12)


def test_coral_pytorch():
    losses = pytest.importorskip("coral_pytorch.losses")
    dataset = pytest.importorskip("coral_pytorch.dataset")
    z, coral, corn = Z[:, :4], LOSSES["CORAL"](num_classes=5), LOSSES["CORN"](num_classes=5)
    levels = dataset.levels_from_labelbatch(Y, 5).double()
    torch.testing.assert_close(coral(z, Y), losses.coral_loss(z, levels))
    torch.testing.assert_close(corn(z, Y), losses.corn_loss(z, Y, 5))
    assert coral.predict(z).tolist() == dataset.proba_to_label(z.sigmoid()).tolist()
    assert corn.predict(z).tolist() == dataset.corn_label_from_logits(z).tolist()
    # a label that isn't there: they count it as the last class
    beyond = torch.tensor([1, 5, 0])
    assert losses.corn_loss(z, beyond, 5) == losses.corn_loss(z, beyond.clamp(max=4), 5)
    with pytest.raises(ValueError, match=r"target\[1\] is 5"):
        corn(z, beyond)


def test_pytorch_averages_nothing_to_nan():
    nothing = torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64)
    assert torch.nn.CrossEntropyLoss()(*nothing).isnan()
    with pytest.raises(ValueError, match="the batch is empty"):
        LOSSES["CE"](num_classes=5)(*nothing)


@pytest.mark.slow
def test_grid_of_this_package_has_no_gap():
    grid = loss_grid.conformance(["CDW-CE", "CORN"])
    assert (grid["exactness"] < 1e-12).all() and (grid["stable_to"] == 10000).all()
    assert grid[["gradcheck", "compile", "half"]].all(axis=None)
    assert (grid["weights"] == "scale-free").all() and (grid["accepts"] == "").all()


def test_grid_lists_a_loss_without_a_reference(monkeypatch):
    monkeypatch.delitem(REFERENCES, "CDW-CE")
    row = loss_grid.conformance(["CDW-CE"]).iloc[0]
    assert (row["loss"], row["formula"], row["source"]) == ("CDW-CE", "", "")
    assert math.isnan(row["exactness"]) and row["gradcheck"]


def test_each_reference_is_of_a_loss_and_has_a_formula_and_a_source():
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    assert set(REFERENCES) <= set(LOSSES)
    for found in REFERENCES.values():
        assert found.formula and f"{{{found.source}," in bibliography


def test_grid_finds_known_faults():
    def epsilon(z, y):  # −log(p + ε) caps the loss and kills the gradient
        return -(z.softmax(-1).gather(-1, y[:, None]) + 1e-8).log().mean()

    ours = LOSSES["CE"](num_classes=loss_grid.K)
    capped = loss_grid.Candidate("CE", "torch", lambda weight: epsilon, ours).measure()
    assert capped["stable_to"] == 1 and capped["weights"] == "scale-free"
    assert capped["accepts"] == "empty batch"


def test_released_libraries_fall_back_on_the_record(monkeypatch):
    def absent():
        raise ImportError

    monkeypatch.setattr(loss_grid, "LIBRARIES", {"dlordinal": absent})
    rows = loss_grid.released()
    assert set(rows["loss"]) == {"CDW-CE", "SORD", "SLACE", "CORN"}
    assert (rows["version"] == "2.7.0").all() and not rows["live"].any()
    assert rows.set_index("loss")["stable_to"]["CDW-CE"] < 100


@pytest.mark.slow
def test_speed_is_measured_for_k_logits():
    rows = loss_grid.speed(repeats=5, samples=64, classes=(5,))
    assert set(rows["loss"]) == set(LOSSES) - {"CORAL", "CORN", "CLM"}
    assert (rows["ratio"] > 0).all() and (rows["milliseconds"] > 0).all()
