"""Every page over odd inputs: it executes, and says nothing that isn't so of what was run."""

import re
import sys

import nbformat
import numpy as np
import pytest
from conftest import ROOT

from amol.losses import LOSSES
from companion.book.notebooks import check_settings, parameters_of, run_notebook

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from results import EMPTY

pytestmark = pytest.mark.slow
FEW = {"seeds": 1, "epochs": 2}
TAKE_FILES = ["01_introduction", "04_experiments", "05_results", "06_ablation", "07_discussion"]
LATIN = "abcdefghijklmnopqr"  # K = 18
FIXED = {"fig-strength", "fig-explorer-loss"}  # no parameter changes which losses they show
NAMES = {**{name: name for name in LOSSES}, "cross-entropy": "CE"}


def table(folder, name: str, labels: list[str], columns: list[str]) -> dict:
    """Parameters for a file with twelve rows per label."""
    draw = np.random.default_rng(0)
    lines = [
        ",".join([*(f"{x:.3f}" for x in draw.normal(k / len(labels), 1, 3)), label])
        for k, label in enumerate(labels)
        for _ in range(12)
    ]
    file = folder / f"{name}.csv"
    file.write_text("\n".join([",".join(columns), *lines, ""]), encoding="utf-8")
    return {"datasets": [str(file)], "target": columns[-1], "order": labels}


def executed(folder, name: str, given: dict, fails: bool = False):
    """The page run over what it takes of ``given``."""
    source, output = ROOT / "notebooks" / f"{name}.ipynb", folder / f"{name}.ipynb"
    if fails:
        page = nbformat.read(source, as_version=4)
        for cell in page.cells:
            absurd = "StudySettings(lr=4e9, layers=6, "
            cell.source = cell.source.replace("StudySettings(", absurd)
        source = folder / "source" / f"{name}.ipynb"
        source.parent.mkdir()
        nbformat.write(page, source)
    known = parameters_of(source)
    values = check_settings(known, {n: value for n, value in given.items() if n in known})
    run_notebook(source, output, values, folder / "results", cwd=ROOT / "notebooks")
    return nbformat.read(output, as_version=4)


def said(page) -> dict[str, str]:
    """What the page computed for its readers: sentences, captions, alternative texts."""
    found = {}
    for output in (output for cell in page.cells for output in cell.get("outputs", ())):
        assert output.get("name") != "stderr", output.text
        about = output.get("metadata", {})
        if "sentences" not in about:
            continue
        text = output.data["text/markdown"]
        if result := about.get("result"):
            _, _, grid = text.partition("\n\n")
            assert not grid or not EMPTY.fullmatch(grid.split("\n", 2)[2])
            found[result["label"]] = " ".join([result["caption"], result.get("alt", "")])
        else:
            found[f"paragraph {len(found)}"] = text
    return found


def check(texts: dict[str, str], methods: list[str]) -> None:
    """Nothing is missing in a text, and no sentence with a number names a loss that wasn't run."""
    for name, text in texts.items():
        text = re.sub(r"\$[^$]+\$|The paper prints none\.", "", text)
        assert not re.search(r"\b(nan|None|none(?! of)|inf)\b|\{", text), f"{name}: {text}"
        if name in FIXED:
            continue
        for sentence in re.split(r"(?<=[.:;])\s", re.sub(r"\]\([^()]*\)", "", text)):
            for word, loss in NAMES.items():
                named = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", sentence)
                if named and re.search(r"\d", sentence):
                    assert loss in methods, f"{name}: {sentence}"


@pytest.mark.parametrize("name", TAKE_FILES)
def test_few_classes_with_names_in_other_letters(tmp_path, name):
    given = table(tmp_path, "葡萄酒 品質 評分", ["低", "中", "高"], ["酸味", "糖", "色", "等級"])
    methods = ["CE", "AMOL"]
    texts = said(executed(tmp_path, name, {**FEW, **given, "methods": methods}))
    check(texts, methods)
    about = {label: text for label, text in texts.items() if label not in FIXED}
    assert name == "04_experiments" or not [text for text in about.values() if "CHR_ext" in text]
    drawings = [file.read_text() for file in tmp_path.glob("results/figures/*.svg")]
    if name in ("04_experiments", "05_results"):
        assert any("葡萄酒" in drawing for drawing in drawings)  # a browser has the letters


@pytest.mark.parametrize("name", TAKE_FILES)
def test_many_classes_with_long_names_and_one_loss(tmp_path, name):
    long = [f"{'דירוג'} {letter * 63} {letter * 62}" for letter in LATIN]
    assert {len(label) for label in long} == {132}
    given = table(tmp_path, long[0][:128], long, ["חמיצות", *long[1:4]])
    check(said(executed(tmp_path, name, {**FEW, **given, "methods": ["SORD"]})), ["SORD"])


@pytest.mark.parametrize("name", ["first_page", *TAKE_FILES, "ledger", "explorer"])
def test_every_run_fails(tmp_path, name):
    methods = ["CE", "OLL", "KL", "AMOL", "AMOL-asym"]
    given = {**FEW, "datasets": ["Wine Red"], "methods": methods}
    page = executed(tmp_path, name, given, fails=True)
    texts = said(page)
    if name in TAKE_FILES:
        check(texts, methods)
    if name not in ("first_page", "04_experiments"):  # these show no runs of their own
        assert re.search(
            r"\*\*(\d+) of \1 runs failed", page.cells[-1].outputs[-1].data["text/markdown"]
        )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("02_background", {"methods": ["SORD"]}),
        ("08_conclusion", {"datasets": ["Abalone"]}),
        ("explorer", {**FEW, "datasets": ["Wine Red"], "methods": ["AMOL"]}),
        ("browser", {**FEW, "datasets": ["Wine Red"], "methods": ["AMOL"]}),
    ],
)
def test_one_loss_or_one_data_set(tmp_path, name, given):
    check(said(executed(tmp_path, name, given)), given.get("methods", list(LOSSES)))


@pytest.mark.parametrize("name", TAKE_FILES)
def test_two_classes_have_no_center_and_are_refused(tmp_path, name):
    given = table(tmp_path, "two", ["1", "2"], list("abcy"))
    with pytest.raises(ValueError, match=r"2 different ones; allowed: 3 to 256 classes"):
        executed(tmp_path, name, {**FEW, **given})


def test_no_other_page_takes_data_or_losses():
    odd = {"datasets", "methods"}
    pages = {
        page.stem for page in (ROOT / "notebooks").glob("*.ipynb") if odd & set(parameters_of(page))
    }
    assert pages == {
        *TAKE_FILES,
        "first_page",
        "02_background",
        "08_conclusion",
        "explorer",
        "browser",
    }
