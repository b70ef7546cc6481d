"""Commands say what there is: no workspace, part of a run, every option, every format."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import benchwright
import warm
from benchwright.cli import main
from benchwright.cli._commands import COMMANDS, EXPORT_FORMATS, help_text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("flags", [[], ["--dry-run"]])
def test_doctor_says_that_there_is_no_workspace(capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    shown = said(capsys, "doctor", *flags)
    assert "there is no workspace in" in shown
    assert "sound" not in shown
    assert json.loads(said(capsys, "doctor", "--json", *flags))["exists"] is False


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_help_all(capsys: pytest.CaptureFixture[str], command: str) -> None:
    every = said(capsys, command, "--help-all")
    assert every.startswith("usage: benchwright")
    if command not in ("run", "check", "perf"):
        assert every == said(capsys, command, "--help")


def test_help_names_every_format_of_export(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(title in help_text() for title in EXPORT_FORMATS.values())
    assert all(name in said(capsys, "export", "--help") for name in EXPORT_FORMATS)


ERRORS = [
    value
    for name in benchwright.__all__
    if isinstance(value := getattr(benchwright, name), type) and issubclass(value, BaseException)
]


@pytest.mark.parametrize("error", ERRORS)
def test_errors_are_shown_under_the_name_that_is_imported(error: type[BaseException]) -> None:
    assert error.__module__ == "benchwright"
    assert pickle.loads(pickle.dumps(error)) is error


KILLED = """
import os, signal, benchwright
count = 0
def answer(request):
    global count
    count += 1
    if count == 250:
        print("waiting", flush=True)
        import sys
        sys.stdin.readline()
    return "A"
benchwright.run("mc.csv", endpoint=benchwright.ScriptedEndpoint(answer), parallelism=1)
"""


def test_a_killed_run_shows_what_it_recorded_and_how_to_resume(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{n}+1=,1,2,B\n" for n in range(300))
    (folder / "mc.csv").write_text(f"question,A,B,answer\n{rows}", encoding="utf-8")
    process = warm.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        live = said(capsys, "show", "1")
        assert "asking: " in live
        assert "benchwright resume" not in live
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    shown = said(capsys, "show", "1")
    assert "of 300. Resume it: benchwright resume 1" in shown
    count = shown.partition("samples recorded: ")[2].partition(" ")[0]
    assert f" {count} " in said(capsys, "list")


def test_ls_lists_suites_and_no_other_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mc.csv").write_text("question,A,B,answer\n1+1=,1,2,B\n", encoding="utf-8")
    (folder / "suite.toml").write_text('models = ["demo"]\ndatasets = ["mc.csv"]\n', encoding="utf-8")
    (folder / "suite.yaml").write_text("models: [demo]\ndatasets: [mc.csv]\n", encoding="utf-8")
    (folder / "other.toml").write_text("[tool]\ndatasets = 3\n", encoding="utf-8")
    (folder / "broken.yaml").write_text("datasets: [", encoding="utf-8")
    listed = json.loads(said(capsys, "ls", "--json"))
    files = [each["name"] for each in listed["evaluations"] if each["kind"] == "file"]
    assert files == ["mc.csv", "suite.toml", "suite.yaml"]
    assert main(["check", "suite.toml"]) == 0
