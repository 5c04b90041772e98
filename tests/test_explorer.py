"""The live charts as Vega itself draws them, set against the package."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
import vl_convert

from amol.losses import LOSSES, center_weight
from companion.page import live_charts

SETTINGS = [
    {"classes": 7, "label": 0, "alpha": 1.0, "sigma": 1.0, "share": 0.8},
    {"classes": 6, "label": 4, "alpha": 2.5, "sigma": 0.4, "share": 0.5},
    {"classes": 3, "label": 9, "alpha": 0.5, "sigma": 3.0, "share": 0.99},
]


def told(spec: dict, **parameters) -> list[str]:
    """What every dot says, once the inputs are set."""
    inputs = {each["name"]: each for each in spec["params"]}
    assert set(parameters) <= set(inputs)
    changed = [
        each | {"value": parameters.get(name, each.get("value"))} if "bind" in each else each
        for name, each in inputs.items()
    ]
    spec = spec | {"params": changed}
    svg = vl_convert.vegalite_to_svg(spec, vl_version=live_charts.VERSION)
    return re.findall(r'aria-label="([^"]*)"[^>]*aria-roledescription="circle"', svg)


@pytest.fixture(scope="module")
def weights():
    return live_charts.weight_explorer().to_dict()


def expected(variant, classes, label, alpha, sigma, share) -> list[str]:
    """What every dot of the loss explorer ought to say, by the package's own losses."""
    label = min(label, classes - 1)
    p = torch.full((classes, classes), (1 - share) / (classes - 1), dtype=torch.float64)
    logits, target = p.fill_diagonal_(share).log(), torch.full((classes,), label)
    own = {} if variant in ("AMOL-CE", "AMOL-OLL") else {"sigma": sigma}
    losses, plain = (
        LOSSES[variant](classes, reduction="none", alpha=strength, **own)(logits, target)
        for strength in (alpha, 0)
    )
    form = "exponential" if variant == "AMOL-exp" else "linear"
    direction = "inward" if variant == "AMOL-asym" else "both"
    m = center_weight(classes, alpha, form, direction)[label]
    shown = [label] if variant == "AMOL-CE" else range(classes)
    pairs = enumerate(zip(losses, plain, strict=True))
    return [f"class {k}: weight {m[k]:.3f}" for k in shown] + [
        f"answer {k}: loss {loss:.4f}, at α = 0 {bare:.4f}".replace("-", "−")
        for k, (loss, bare) in pairs
    ]


@pytest.mark.parametrize("variant", live_charts.VARIANTS)
def test_loss_explorer_shows_what_the_package_computes(weights, variant):
    for setting in SETTINGS:
        assert told(weights, variant=variant, **setting) == expected(variant, **setting)


def test_results_explorer_filters():
    keys = [(d, m, s) for d in ("Abalone", "Other") for m in ("CE", "AMOL") for s in (0, 1)]
    runs = pd.DataFrame(keys, columns=["dataset", "method", "seed"])
    runs["QWK"] = np.arange(8) / 10
    runs["CHR"] = [0.25, np.nan] * 4
    chart = live_charts.results_explorer(runs).to_dict()
    other = ["CE, seed 0: 0.400", "CE, seed 1: 0.500", "AMOL, seed 0: 0.600", "AMOL, seed 1: 0.700"]
    assert told(chart) == other
    assert told(chart, method_0=False) == other[2:]
    assert told(chart, dataset="Abalone", method_1=False, metric="CHR") == ["CE, seed 0: 0.250"]


def test_saved_figure_is_the_same_each_time(tmp_path, monkeypatch, weights):
    kept = []
    for name in ("one", "two"):
        monkeypatch.setenv("AMOL_RESULTS", str(tmp_path / name))
        live_charts.save("fig-x", live_charts.weight_explorer(), live_charts.weight_data())
        files = sorted((tmp_path / name / "figures").iterdir())
        kept.append({file.name: file.read_bytes() for file in files})
    assert kept[0] == kept[1]
    assert set(kept[0]) == {
        "fig-x.csv", "fig-x.csv-metadata.json", "fig-x.pdf", "fig-x.svg", "fig-x.vl.json"
    }  # fmt: skip
    data = pd.read_csv(tmp_path / "one" / "figures" / "fig-x.csv")
    assert told(weights)[3] == f"class 3: weight {data['weight'][3]:.3f}"
    assert live_charts.VERSION in vl_convert.get_vegalite_versions()
