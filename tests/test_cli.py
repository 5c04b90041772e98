"""The command line as a person uses it."""

import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, SECOND

from amol.cli import main


def test_help_is_quick_and_names_the_commands(capsys):
    start = time.perf_counter()
    loaded = "import sys, amol.cli; sys.exit(bool({'torch', 'papermill'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", loaded]).returncode == 0
    assert time.perf_counter() - start < 5
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("build", "run", "study", "check", "fork"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "nothing"], "no notebook 'nothing'"),
        (["run", "05_results", "-p", "alhpa", "2"], "did you mean alpha"),
        (["run", "05_results", "-p", "alpha", "big"], "alpha is 'big'; wanted: float"),
        (["run", "05_results", "-p", "alpha", "-1e-3"], "alpha is -0.001; allowed: .*at least 0"),
        (["run", "05_results", "-p", "seeds", "'0'"], "seeds is 0; allowed"),
        (["run", "05_results", "-p", "datasets", "Whine"], "Whine.*did you mean Wine Red"),
        (["run", "05_results", "-p", "methods", "AMOOL"], "AMOOL.*did you mean AMOL"),
        (["run", "05_results", "-p", "datasets", "no.csv", "-p", "target", "y"], "no file no.csv"),
        (["run", "06_ablation", "-p", "target", "y"], "target is 'y', but datasets names no"),
        (["run", "05_results", "-y", "alpha"], "no mapping"),
        (["run", "05_results", "-f", "nowhere.yml"], "nowhere.yml"),
        (["study", "--datasets", "Wine Blue"], "Wine Blue.*Wine Red"),
        (["study", "--methods", "AMOOL"], "AMOOL.*AMOL"),
        (["study", "--alpha", "-1"], "alpha is -1"),
        (["study", "--datasets", "no.csv", "--target", "y"], "no file no.csv"),
        (["fork", "05_results", "mine", "-p", "alpha", "-1"], "alpha is -1"),
        (["fork", "05_results", "01_introduction"], "exists already"),
    ],
)
def test_mistakes_stop_before_any_work_with_one_line(arguments, told):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    message = str(stopped.value.code)
    assert message.startswith("amol: ") and "\n" not in message
    assert re.search(told, message)


def test_run_lists_the_parameters(capsys):
    main(["run", "05_results", "--parameters"])
    shown = capsys.readouterr().out
    assert "alpha: float = 1.0" in shown and "seeds: int or list = 5" in shown


@pytest.mark.slow
def test_run_takes_values_from_file_yaml_and_command_line(book):
    (book.root / "some.yml").write_text("rate: 1e-3\nloud: true\ntitle: file\n")
    arguments = ["-f", "some.yml", "-y", "{title: yaml, count: 3}", "-p", "names", "x,Wine Red"]
    done = book.amol("run", "01_first", *arguments, "-o", "mine.ipynb")
    assert done.returncode == 0, done.stderr
    assert "rate = 0.001, loud = True, title = 'yaml', count = 3" in done.stdout
    assert re.search(r"\[ *\d+/\d+\] +[\d.]+ s  import os", done.stdout)
    assert "notebook: mine.ipynb" in done.stdout
    assert "['x', 'Wine Red'] 3 0.001 True yaml 3" in (book.root / "mine.ipynb").read_text()
    assert (book.root / "mine_files/tables/tab-first.csv").exists()


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
def test_ctrl_c_keeps_the_notebook_as_far_as_it_came(book):
    begun = book.root / "begun"
    wait = f"# %%\nimport pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(99)\n"
    book.write("02_second", f"{SECOND}\n{wait}")
    program = (
        "from amol.cli import main; raise SystemExit(main(['run', '02_second', '-o', 'o.ipynb']))"
    )
    process = book.start(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    shown = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert "partial run: o.ipynb" in shown and "Traceback" not in shown
    assert "second" in (book.root / "o.ipynb").read_text()


def test_every_command_of_the_how_to_pages_is_one_that_exists():
    text = "".join((ROOT / "book" / name).read_text() for name in ("rerun.md", "fork.md"))
    commands = re.findall(r"^amol (\w+)", text, re.MULTILINE)
    assert set(commands) == {"run", "study", "check", "fork", "build"}
    for command in set(commands):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0


def test_code_of_the_how_to_pages_runs(tmp_path):
    text = (ROOT / "book" / "fork.md").read_text() + (ROOT / "README.md").read_text()
    given = "import torch\nlogits = torch.randn(5, 7)\ntarget = torch.arange(5)\n"
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 4
    check = "assert 'squared' in LOSSES and value.isfinite() and labels.shape == (5,)"
    program = given + "\n".join([*blocks, check])
    (tmp_path / "program.py").write_text(program)  # a registered loss is hashed from its file
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
