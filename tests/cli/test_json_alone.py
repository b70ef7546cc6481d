"""With --json standard output holds one JSON document, whatever the user's code prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from benchwright.cli import main
from benchwright.cli._output import Output
from benchwright.reports import line

CHATTY = """
import atexit, os, subprocess, sys
from benchwright import benchmark, scorer

print("printed at import")

@benchmark(name="chatty", dataset="rows.jsonl", prompt="What is {a} + {a}?", target_field="sum")
@scorer
def chatty(sample):
    if "pytest" not in sys.modules:
        atexit.register(print, "printed at the end")
    print("printed by the scorer")
    sys.__stdout__.write("written past sys.stdout\\n")
    sys.__stdout__.buffer.write(b"written as bytes\\n")
    os.write(1, b"written by C code\\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    if "pytest" not in sys.modules:
        sys.__stdout__.write("written without an end of line")
    return {"correct": True}
"""

SAYS = (
    "printed at import",
    "printed by the scorer",
    "written past sys.stdout",
    "written as bytes",
    "written by C code",
    "written without an end of line",
    "printed by a child",
    "printed at the end",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bench.py").write_text(CHATTY, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"a": 1, "sum": 2}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm.run(
        [sys.executable, "-m", "benchwright", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_what_user_code_prints_goes_to_standard_error_of_the_command(folder: Path) -> None:
    ended = command(folder, "run", "bench.py", "--json")
    assert json.loads(ended.stdout)["exit_code"] == ended.returncode == 0
    for said in SAYS:
        assert said in ended.stderr
    again = command(folder, "rescore", "1", "--json")
    assert json.loads(again.stdout)["exit_code"] == again.returncode == 0, again.stderr
    assert "printed by the scorer" in again.stderr


def test_without_json_prints_stay_where_they_were(folder: Path) -> None:
    ended = command(folder, "run", "bench.py")
    assert ended.returncode == 0
    for said in SAYS:
        assert said in ended.stdout
        assert said not in ended.stderr


def test_what_user_code_leaves_in_a_pipe_reaches_the_reader(folder: Path) -> None:
    """The process ends without taking Python apart; what it would have written then must not be lost."""
    text = 'out = os.fdopen(os.dup(1), "w")\nto_child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, text=True).stdin\n'
    text = CHATTY.replace("@benchmark", text + "@benchmark").replace(
        "    return", '    out.write("left in a copy")\n    to_child.write("left for a child")\n    return'
    )
    (folder / "bench.py").write_text(text, encoding="utf-8")
    line = [sys.executable, "-m", "benchwright", "run", "bench.py", "--json"]
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert json.loads(ended.stdout)["exit_code"] == ended.returncode == 0
    assert "left in a copy" in ended.stderr
    assert "left for a child" in ended.stderr


@pytest.mark.parametrize("words", [["check", "bench.py"], ["ls"], ["run", "bench.py:nothing"]])
def test_prints_at_import_do_not_disturb_any_command(
    folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.stdout
    main([*words, "--json"])
    assert sys.stdout is before  # a caller's process gets its own back
    shown = capsys.readouterr()
    assert isinstance(json.loads(shown.out), dict)
    if words != ["ls"]:  # ls need not import
        assert "printed at import" in shown.err


def test_a_closed_pipe_and_a_closed_standard_error_are_survived(folder: Path) -> None:
    line = f"{sys.executable} -m benchwright"
    quiet = subprocess.run(
        f"{line} check bench.py --json 2>&-", cwd=folder, shell=True, capture_output=True, check=False
    )
    assert json.loads(quiet.stdout)["exit_code"] == quiet.returncode == 0
    left = subprocess.run(
        f"set -o pipefail; {line} check bench.py --json | true",
        cwd=folder,
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert left.returncode == 0
    assert "BrokenPipe" not in left.stderr


def test_words_never_reach_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that only have something to say, and forms that write elsewhere."""
    assert main(["perf", "--explain", "ttft", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["key"], found["better"]) == ("ttft", "ttft_ms", "lower")
    assert main(["perf", "--explain", "tttf", "--json"]) == 2
    assert "Did you mean 'ttft'" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["run", "bench.py", "--json"]) == 0
    capsys.readouterr()
    assert main(["export", "last", "-o", "-", "--json"]) == 2
    assert "both use standard output" in json.loads(capsys.readouterr().out)["error"]["message"]
    output = Output(json=True)
    with output.alone(ours=False):
        output.line("a word")
        output.show([line("a table")])
        output.json({"one": 1})
    said = capsys.readouterr()
    assert json.loads(said.out) == {"one": 1}
    assert "a word" in said.err
    assert "a table" in said.err
