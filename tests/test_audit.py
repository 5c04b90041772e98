"""The audit of anyone's predictions: its numbers, and what it says of bad files."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from amol.metrics import METRICS, PROBABILITY_METRICS
from companion.cli import main
from companion.data.csv_predictions import Predictions, read_predictions
from companion.page.audit import audit, draws, interval
from companion.train.settings import StudySettings
from companion.train.study import predictions

BY_HAND = "true,predicted\n1,1\n1,3\n2,3\n3,3\n4,4\n5,3\n5,4\n5,5\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="my.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def random_file(seed: int, k: int, rows: int = 60) -> str:
    """Text of a file with probabilities, labels from 1 to k, all of them among the true ones."""
    random = np.random.default_rng(seed)
    y_true = np.concatenate([np.arange(k), random.integers(0, k, rows)])
    p = random.dirichlet(np.ones(k), len(y_true)).round(6)
    lines = ["true,predicted," + ",".join(f"p_{label + 1}" for label in range(k))]
    for y, row in zip(y_true, p, strict=True):
        lines.append(f"{y + 1},{row.argmax() + 1}," + ",".join(map(str, row)))
    return "\n".join(lines) + "\n"


def test_a_file_counted_by_hand(write):
    made = audit(read_predictions(write(BY_HAND)))
    values = {name: each["value"] for name, each in made["metrics"].items()}
    assert values["CHR"] == 2 / 5 and values["CHR_ext"] == 3 / 7 and values["center_recall"] == 1
    assert values["extreme_recall"] == 2 / 5 and values["MAE"] == 6 / 8
    assert values["AMAE"] == (1 + 1 + 0 + 0 + 1) / 5 and values["J_c"] == 1 - 3 / 7
    assert made["hedging"] is None and made["asked"] is None
    assert made["answers"] == {
        "lowest": [1, 0, 0, 1, 0], "highest": [1, 1, 0, 1, 0], "both": [2, 1, 0, 2, 0]
    }  # fmt: skip
    assert made["labels"] == list("12345") and made["assumed"] and made["center"] == "3"
    assert made["sentence"].startswith("Whether it hedges can't be told from labels alone; ")
    assert "the center, for 42.9 % of the samples of 1, 2, 4 and 5" in made["sentence"]


@pytest.mark.parametrize("k", [3, 4, 5, 9])
def test_numbers_are_those_of_the_metrics(write, k):
    answers = read_predictions(write(random_file(k, k)))
    made = audit(answers, resamples=40)
    for name, each in made["metrics"].items():
        if name in METRICS:
            exact = METRICS[name](answers.y_true, answers.y_pred, k)
        else:
            exact = PROBABILITY_METRICS[name](answers.y_true, answers.probabilities)
        assert each["value"] == pytest.approx(exact, abs=1e-12, nan_ok=True)
        assert np.isnan(exact) or each["low"] <= each["high"]
    assert np.isnan(made["metrics"]["J_c"]["value"]) == (k < 5)


def test_draws_are_splitmix_and_spread_evenly():
    def by_definition(i, n):
        z = (2026 + (i + 1) * 0x9E3779B9) % 2**32
        z = (z ^ z >> 16) * 0x85EBCA6B % 2**32
        z = (z ^ z >> 13) * 0xC2B2AE35 % 2**32
        return (z ^ z >> 16) * n >> 32

    found = np.array(list(draws(7, resamples=3000)))
    assert found.shape == (3000, 7)
    assert found[:30].ravel().tolist() == [by_definition(i, 7) for i in range(210)]
    counts = np.bincount(found.ravel())
    assert np.abs(counts / 3000 - 1).max() < 0.1
    # the variance of a resampled share is p (1 − p) / n
    assert (found < 2).mean(1).var() == pytest.approx(2 / 7 * 5 / 7 / 7, rel=0.1)


def test_interval_leaves_out_one_in_forty_at_each_end():
    values = np.random.default_rng(0).permutation(2000).astype(float)
    assert interval(values) == (50, 1949)
    assert interval(np.append(values, np.nan)) == (50, 1949)
    assert np.isnan(interval(np.array([np.nan]))).all()


def test_rows_in_another_order_give_the_same_intervals(write):
    header, *rows = BY_HAND.splitlines()
    turned = "\n".join([header, *rows[::-1]])
    made = [audit(read_predictions(write(text)), resamples=200) for text in (BY_HAND, turned)]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("share", "said"),
    [  # half of the samples are answered with the center, and extreme with this probability
        (0.5, "no more and no less than its belief asks for"),
        (0.1, "more than its belief asks for"),
        (1.0, "less than its belief asks for"),
    ],
)
def test_the_sentence_compares_with_the_belief(share, said):
    y_true, y_pred = np.tile([0, 4], 400), np.repeat([0, 2], 400)
    p = np.zeros((800, 5))
    p[:400, 0] = p[:400, 2] = 0.5
    p[400:, 0], p[400:, 2] = share, 1 - share
    made = audit(Predictions(y_true, y_pred, tuple("abcde"), p, False), resamples=200)
    asked = share / (share + p[0, 0])
    assert made["asked"]["value"] == pytest.approx(asked)
    assert made["hedging"]["value"] == pytest.approx(0.5 - asked)
    assert said in made["sentence"]
    assert f"{100 * (0.5 - asked):+.1f}".replace("-", "−") + " points" in made["sentence"]


def test_without_extreme_samples_it_says_so(write, capsys):
    path = write("true,predicted\n3,3\n3,3\n3,2\n")
    assert main(["audit", str(path), "--labels", "1,2,3,4,5"]) == 0
    shown = capsys.readouterr().out
    assert "No sample is of class 1, 2, 4 and 5" in shown and "CHR" in shown and "nan" not in shown


def test_words_decimal_commas_and_names_of_columns(write):
    text = "who;is;says;q_lo;q_mid;q_hi\nx;lo;mid;0,25;0,5;0,25\ny;hi;hi;0;0;1\n\nz;mid;mid;0;1;0\n"
    answers = read_predictions(write("\ufeff" + text), "is", "says", ("lo", "mid", "hi"), "q_")
    assert answers.y_true.tolist() == [0, 2, 1] and answers.y_pred.tolist() == [1, 2, 1]
    assert answers.probabilities.tolist() == [[0.25, 0.5, 0.25], [0, 0, 1], [0, 1, 0]]
    assert not answers.assumed


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "my.csv: the file is empty"),
        ("true,predicted\n", [], "it has 0 rows; allowed: 1 to"),
        ("y,p\n1,2\n", [], "line 1: no column 'true'; allowed: y, p"),
        ("true,predictd\n1,2\n", [], "no column 'predictd'|did you mean predictd"),
        ("true,true,predicted\n1,1,2\n", [], "line 1: 2 columns 'true'"),
        (BY_HAND + "6,3,1\n", [], "my.csv: line 10 has 3 cells; allowed: 2, as in the first row"),
        (BY_HAND + "NA,3\n", [], "line 10, column 'true': 'NA' is no whole number; allowed"),
        (BY_HAND + "3,\n", [], "line 10, column 'predicted': '' is no whole number"),
        (BY_HAND + "7,3\n", [], "no label lies between 5 and 7"),
        (BY_HAND, ["--labels", "1,2,3,4"], "line 7, column 'true': '5' is no label; allowed: 1,2"),
        (BY_HAND, ["--labels", "1,1,2"], "the labels are 1,1,2; allowed: 3 to 256 different"),
        ("true,predicted\n0,1\n", [], "the labels are 0,1; allowed: 3 to 256"),
        ("true,predicted,p_1,p_2\n1,2,.5,.5\n3,3,0,1\n", [], "no column 'p_3'; allowed: none"),
        ("true,predicted,p_1,p_2,p_3,p_4\n1,2,0,0,1,0\n3,3,0,0,1,0\n", [], "a column 'p_4'"),
        ("true,predicted,p_1,p_2,p_3\n1,2,0,0,1\n3,3,0,0,x\n", [],
         "line 3, column 'p_3': 'x' is no probability; allowed: numbers from 0 to 1"),
        ("true,predicted,p_1,p_2,p_3\n1,2,0,0,1\n3,3,0,0.5,0.4\n", [],
         "line 3, columns 'p_1' to 'p_3': they sum to 0.900; allowed: 1"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_one_line(write, text, options, message, capsys):
    assert main(["audit", str(write(text)), *options]) == 1
    printed, shown = capsys.readouterr()
    assert not printed and shown.startswith("amol: ") and shown.count("\n") == 1
    assert re.search(message, shown)


def rounded_file(k: int, digits: int) -> str:
    """Probabilities rounded to so many digits, as `to_csv(float_format=…)` writes them."""
    p = np.random.default_rng(k).dirichlet(np.ones(k), 400)
    lines = ["true,predicted," + ",".join(f"p_{j}" for j in range(k))]
    lines += [f"{i % k},{i % k}," + ",".join(f"{x:.{digits}f}" for x in row)
              for i, row in enumerate(p)]  # fmt: skip
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("k", [3, 5, 9, 20])
def test_probabilities_rounded_to_two_digits_are_taken(write, k):
    coarse, fine = (
        read_predictions(write(rounded_file(k, digits), f"{digits}.csv")) for digits in (2, 6)
    )
    assert np.abs(coarse.probabilities.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(coarse.probabilities - fine.probabilities).max() < 0.02


def test_a_pipe_is_read_as_a_file_is(write, capsys):
    command = [sys.executable, "-m", "companion", "audit", "/dev/stdin"]
    run = {"input": BY_HAND, "capture_output": True, "encoding": "utf-8", "check": True}
    shown = subprocess.run(command, **run).stdout
    assert main(["audit", str(write(BY_HAND))]) == 0
    assert shown == capsys.readouterr().out and "8 samples" in shown


def test_a_missing_file_is_named(capsys):
    assert main(["audit", "nowhere.csv"]) == 1
    assert "nowhere.csv" in capsys.readouterr().err


def test_what_is_printed_is_what_json_holds(write, capsys, monkeypatch):
    monkeypatch.chdir(write(random_file(1, 6)).parent)
    assert main(["audit", "my.csv"]) == 0
    shown = capsys.readouterr().out
    assert main(["audit", "my.csv", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    for name in ("QWK", "RPS"):
        figures = [f"{made['metrics'][name][key]:.3f}".replace("-", "−")
                   for key in ("value", "low", "high")]  # fmt: skip
        line = next(line for line in shown.splitlines() if line.startswith(name))
        assert line.split() == [name, figures[0], figures[1], "to", figures[2]]
    assert made["file"] == "my.csv" and made["sentence"] in shown


@pytest.mark.slow
def test_a_recorded_run_is_audited_with_its_recorded_numbers(write):
    recorded = pd.read_csv(ROOT / "book" / "recorded" / "grid.csv")
    cell = recorded.query("dataset == 'Wine Red' and method == 'CE'").iloc[0]
    settings = StudySettings(seeds=(int(cell["seed"]),))
    y_true, y_pred, shares = predictions(settings, "Wine Red", "CE")
    table = pd.DataFrame({"true": y_true, "predicted": y_pred[0]})
    table[[f"p_{k}" for k in range(shares.shape[2])]] = shares[0]
    made = audit(read_predictions(write(table.to_csv(index=False))), resamples=200)
    for name, each in made["metrics"].items():
        assert each["value"] == pytest.approx(cell[name], abs=1e-6), name
        assert each["low"] <= each["value"] <= each["high"]
