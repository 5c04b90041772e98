"""The command line as a person uses it."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import fields

import pandas as pd
import pytest
from conftest import ROOT, SECOND

from companion.book.parameters import read_parameters, study_parameters
from companion.cli import main
from companion.train.settings import StudySettings


def test_help_is_quick_and_names_the_commands(capsys):
    start = time.perf_counter()
    loaded = "import sys, companion.cli; sys.exit(bool({'torch', 'papermill'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", loaded]).returncode == 0
    assert time.perf_counter() - start < 5
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("build", "run", "study", "audit", "check", "fork"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nothing"], "no notebook 'nothing'"),
        (["run", "05_results", "-p", "alhpa", "2"], "did you mean alpha"),
        (["run", "05_results", "-p", "alpha", "big"], "alpha is 'big'; wanted: float"),
        (["run", "05_results", "-p", "alpha", "-1e-3"], "alpha is -0.001; allowed: .*at least 0"),
        (["run", "05_results", "-p", "seeds", "0"], "seeds is 0; allowed"),
        (["run", "05_results", "-p", "datasets", "Whine"], "Whine.*did you mean Wine Red"),
        (["run", "05_results", "-p", "datasets", "no.csv", "-p", "target", "y"], "no file no.csv"),
        (["run", "06_ablation", "-p", "target", "y"], "target is 'y', but datasets names no"),
        (["run", "05_results", "-y", "alpha"], "no mapping"),
        (["run", "05_results", "-f", "nowhere.yml"], "nowhere.yml"),
        (["run", "05_results", "-o", "README.md"], "README.md exists already; choose another"),
        (["study", "--datasets", "Wine Blue"], "Wine Blue.*Wine Red"),
        (["study", "--methods", "AMOOL"], "AMOOL.*AMOL"),
        (["study", "--alpha", "-1"], "alpha is -1"),
        (["study", "--datasets", "no.csv", "--target", "y"], "no file no.csv"),
        (["fork", "05_results", "mine", "-p", "alpha", "-1"], "alpha is -1"),
        (["fork", "05_results", "01_introduction"], "exists already"),
    ],
)
def test_mistakes_stop_before_any_work_with_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(arguments) == 1
    printed, shown = capsys.readouterr()
    assert shown.startswith("amol: ") and shown.count("\n") == 1 and not printed
    assert re.search(message, shown)


def test_run_lists_the_parameters(capsys):
    main(["run", "05_results", "--help-notebook"])
    shown = capsys.readouterr().out
    assert "alpha: float = 1.0" in shown and "seeds: int or list = 5" in shown


def test_the_options_of_a_study_are_its_settings_with_their_true_defaults(capsys):
    assert main(["study", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for setting in fields(StudySettings):
        assert setting.name == "own" or f"--{setting.name.replace('_', '-')} VALUE" in shown
        if type(setting.default) in (int, float, str, bool) and setting.default != "":
            option = shown.partition(f"--{setting.name.replace('_', '-')} ")[2]
            assert f"[default: {setting.default}]" in option.partition(" --")[0]


def test_a_study_reads_text_as_a_notebook_does():
    given = {"order": '["a, b", c]', "seeds": "[0, 3]", "alpha": "1e-3", "restore": "false"}
    given |= {"datasets": "Wine Red,my.csv", "target": "5", "split_order": "halves"}
    given |= {"loss_parameters": "{Focal: {gamma: 3}}"}
    assert read_parameters(study_parameters(), given.items()) == {
        "order": ["a, b", "c"],
        "seeds": [0, 3],
        "alpha": 0.001,
        "restore": False,
        "datasets": ["Wine Red", "my.csv"],
        "target": "5",
        "split_order": "halves",
        "loss_parameters": {"Focal": {"gamma": 3}},
    }


def test_check_prints_what_differs_on_less_than_a_screen(monkeypatch, capsys, tmp_path):
    count = 60
    entries = pd.DataFrame(
        {
            "id": [f"entry-{i}" for i in range(count)],
            "kind": ["number", "claim"] * (count // 2),
            "claim": "what the paper says " * 20,
            "text": "because of this " * 20,
            "verdict": "reproduced",
            "expected": "reproduced",
        }
    )
    monkeypatch.setattr("companion.run_study", lambda settings: None)
    monkeypatch.setattr("companion.claims.tails.with_tails", lambda runs, settings: None)
    monkeypatch.setattr("companion.studies.registry.differences", list)
    monkeypatch.setattr("companion.claims.ledger.ledger", lambda runs: entries)
    monkeypatch.setattr("companion.cli.build_dir", lambda: tmp_path)  # without a built book
    monkeypatch.setenv("COLUMNS", "90")
    assert main(["check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "30 numbers: 30 reproduced",
        "30 claims: 30 reproduced",
        "60 entries, 0 not as expected",
    ]
    entries.loc[entries.index[:40], "verdict"] = "contradicted"
    assert main(["check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24 and max(map(len, lines)) <= 90
    assert lines[0].startswith("entry-0: contradicted, expected reproduced: what the paper says")
    assert "and 25 more; --all prints every entry" in lines
    assert main(["check", "--all"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == count + 3


@pytest.mark.slow
def test_run_takes_values_from_file_yaml_and_command_line(book):
    (book.root / "some.yml").write_text("rate: 1e-3\nloud: true\ntitle: file\n")
    (book.root / "mine.log").write_text("the user's")
    arguments = ["-f", "some.yml", "-y", "{title: yaml, count: 3}", "-p", "names", "x,Wine Red"]
    done = book.amol("run", "01_first", *arguments, "-o", "mine.ipynb")
    assert done.returncode == 0, done.stderr
    assert "rate = 0.001, loud = True, title = 'yaml', count = 3" in done.stdout
    assert re.search(r"\[ *\d+/\d+\] +[\d.]+ s  import os", done.stdout)
    assert "notebook: mine.ipynb" in done.stdout
    assert "['x', 'Wine Red'] 3 0.001 True yaml 3" in (book.root / "mine.ipynb").read_text()
    assert (book.root / "mine_files/tables/tab-first.csv").exists()
    assert (book.root / "mine.log").read_text() == "the user's"
    assert not list((book.root / "build" / "runs").iterdir())
    kept = (book.root / "mine.ipynb").read_bytes()
    again = book.amol("run", "01_first", *arguments, "-o", "mine.ipynb")
    assert again.returncode == 1 and "mine.ipynb exists already" in again.stderr
    assert (book.root / "mine.ipynb").read_bytes() == kept


@pytest.mark.slow
def test_run_tells_the_failing_cell_and_leaves_the_source_alone(book):
    source = book.root / "notebooks" / "01_first.ipynb"
    before = source.read_bytes()
    done = book.amol("run", "01_first", "-p", "count", "0")
    assert done.returncode == 1
    assert "AssertionError: count is 0; allowed: above 0" in done.stderr
    assert "partial run: " in done.stderr and "Traceback" not in done.stderr
    assert (book.root / "build/runs/01_first.ipynb").exists()
    assert source.read_bytes() == before


@pytest.mark.slow
def test_two_runs_at_once_are_two_results_and_the_kernel_that_ran_is_printed(book):
    source = book.root / "notebooks" / "01_first.ipynb"
    source.write_text(source.read_text().replace('"name": "python3"', '"name": "conda-env-foo"'))
    program = "from companion.cli import main; raise SystemExit(main(['run', '01_first']))"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    processes = [book.start(program, **streams) for _ in range(2)]
    shown = [process.communicate(timeout=200)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], shown
    assert all(f"'conda-env-foo' and runs on {sys.executable}" in text for text in shown)
    runs = book.root / "build" / "runs"
    names = ["01_first", "01_first-2"]
    assert sorted(path.stem for path in runs.glob("*.ipynb")) == sorted(names)
    for name in names:
        assert any(f"notebook: {runs / name}.ipynb" in text for text in shown)
        assert (runs / f"{name}_files" / "tables" / "tab-first.csv").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_the_notebook_as_far_as_it_came(book):
    begun = book.root / "begun"
    wait = f"# %%\nimport pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(99)\n"
    book.write("02_second", f"{SECOND}\n{wait}")
    program = (
        "from companion.cli import main; "
        "raise SystemExit(main(['run', '02_second', '-o', 'o.ipynb']))"
    )
    process = book.start(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    shown = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    partial = book.root / "build" / "runs" / "02_second.ipynb"
    assert f"partial run: {partial}" in shown and "Traceback" not in shown
    assert "second" in partial.read_text() and not (book.root / "o.ipynb").exists()


def test_every_command_of_the_how_to_pages_is_one_that_exists():
    text = "".join((ROOT / "book" / name).read_text() for name in ("rerun.md", "fork.md"))
    commands = re.findall(r"^amol (\w+)", text, re.MULTILINE)
    assert set(commands) == {"run", "study", "audit", "check", "fork", "build"}
    for command in set(commands):
        assert main([command, "--help"]) == 0


@pytest.mark.slow
def test_code_of_the_how_to_pages_runs(tmp_path):
    text = (ROOT / "book" / "fork.md").read_text() + (ROOT / "README.md").read_text()
    given = (
        "import torch\nlogits = torch.randn(5, 7)\ntarget = weights = torch.arange(5)\n"
        "X = X_test = torch.randn(60, 3).numpy()\ny = y_test = (torch.arange(60) % 3).numpy()\n"
    )
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 7
    blocks = [block for block in blocks if "say(" not in block]  # a cell of a page: test_fork
    check = "assert 'squared' in LOSSES and value.isfinite() and labels.shape == (5,)"
    program = given + "\n".join([*blocks, check])
    (tmp_path / "program.py").write_text(program)  # a registered loss is hashed from its file
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
