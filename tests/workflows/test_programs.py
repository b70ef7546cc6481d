"""Programs as evaluations: what is recognised, what is started, what is told, without starting any."""

from __future__ import annotations

import importlib.util
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli._cache import size_of, size_text
from benchwright.cli._flags import server_next_to
from benchwright.cli._list import since
from benchwright.core import UsageError, open_artifacts
from benchwright.runs import list_evaluations
from benchwright.runs._child import KEPT_BYTES, Captured
from benchwright.runs._programs import ProgramPlan, entry_file, find_script, plan_program
from benchwright.runs._run_program import frozen_plan
from benchwright.store import Workspace, open_store
from stored_workflows import created_workflow

STARTS = "from benchwright import entrypoint, workflow\nentrypoint(workflow('a', print))\n"


def script(folder: Path, text: str) -> Any:
    (folder / "it.py").write_text(text)
    return find_script("it.py", folder)


def test_workflow_files_are_recognised_by_their_text(tmp_path: Path) -> None:
    found, name = script(tmp_path, STARTS)
    assert (found.names, found.starts_itself, name) == (("a",), True, None)
    found, _ = script(tmp_path, "import benchwright as b\nx = b.workflow(name='n', handler=print)\n")
    assert (found.names, found.starts_itself) == (("n",), False)
    found, _ = script(tmp_path, "from benchwright import workflow as w\nx = w(f'n{1}', print)\n")
    assert found.names == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def workflow(): ...\nworkflow()\n",
        "from other import workflow\nworkflow('a', print)\n",
        "from benchwright import benchmark, workflow\nw = workflow('a', print)\n@benchmark(name='b')\ndef f(): ...\n",
        "models = []\ndatasets = []\n",
        "from benchwright import workflow\nthis is not Python\n",
        "\x00",
    ],
)
def test_other_files_are_left_to_others(tmp_path: Path, text: str) -> None:
    assert script(tmp_path, text) is None


def test_a_file_with_several_workflows_wants_a_name(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(STARTS + "workflow('b', print)\n")
    with pytest.raises(UsageError, match=r"several workflows \(a, b\); name one, as in two.py:a"):
        plan_program("two.py", None, tmp_path, None)
    plan = plan_program("two.py:b", None, tmp_path, {"x": 1})
    assert plan is not None
    assert (plan.name, plan.workflow, plan.input) == ("b", "b", {"x": 1})
    assert plan_program("test.csv", None, tmp_path, None) is None
    assert ("two.py", "workflow a, b") in [(e.name, e.description) for e in list_evaluations(tmp_path)]


def executable(command: str, cwd: Path, *more: str) -> str:
    return ProgramPlan("x", None, "x", (command, *more), cwd, None, {}).executable()


def test_python_is_that_of_the_active_environment_or_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert executable("python", tmp_path, "x.py") == sys.executable
    mine = tmp_path / "bin" / "python"
    mine.parent.mkdir()
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    monkeypatch.setenv("PATH", str(mine.parent))
    assert executable("python", tmp_path) == str(mine)
    assert executable("python3", tmp_path) == sys.executable, "there is no other"
    assert executable("./bin/python", tmp_path) == str(tmp_path / "./bin/python")
    with pytest.raises(UsageError, match="not a program"):
        executable("./x.py", tmp_path)


def test_the_entry_is_the_first_argument_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("1")
    found = entry_file(["python", "-u", "x.py", "y" * 5000], tmp_path)
    assert found is not None
    assert found["path"] == str(tmp_path / "x.py")
    assert entry_file(["python", "-c", "print(1)\x00"], tmp_path) is None


def test_runs_that_no_command_started_cannot_be_resumed_by_one(tmp_path: Path) -> None:
    store = open_store(Workspace(tmp_path))
    created_workflow(store, "by_rest", settings={"started_by": "rest"})
    with pytest.raises(UsageError, match="was not started by a command"):
        frozen_plan(store.run(1))
    created_workflow(store, "gone", settings={"command": ["x"], "cwd": str(tmp_path / "gone")})
    with pytest.raises(UsageError, match="no longer there"):
        frozen_plan(store.run(2))
    store.close()


def test_without_the_packages_there_is_no_server_and_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert server_next_to(Namespace(no_server=False), notes.append) is None
    assert "pip install 'benchwright[server]'" in notes[0]
    assert server_next_to(Namespace(no_server=True), notes.append) is None
    assert len(notes) == 1


@pytest.mark.usefixtures("any_place")
def test_captured_output_holds_no_secret_however_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYKEY", "zQ8kT3-vWx7LmN/p4+Rt9Ys=")
    captured = Captured(open_artifacts(tmp_path), "stdout.txt")
    for piece in (
        b"with zQ8kT3-vWx7",
        b"LmN/p4+Rt9Ys= in it\nand 7a51386b54332d7657",
        b"78374c6d4e2f70342b52743959733d",
    ):
        captured.add(piece)
    captured.close()
    kept = open_artifacts(tmp_path).read("stdout.txt").decode()
    assert kept == captured.text() == "with [redacted] in it\nand [redacted]"


@pytest.mark.usefixtures("any_place")
def test_captured_output_follows_that_of_former_starts(tmp_path: Path) -> None:
    for text in (b"first\n", b"second\n"):
        captured = Captured(open_artifacts(tmp_path / "run"), "stdout.txt")
        captured.add(text)
        captured.close()
        assert captured.text() == text.decode()
    assert open_artifacts(tmp_path / "run").read("stdout.txt") == b"first\nsecond\n"
    captured = Captured(open_artifacts(tmp_path / "run"), "stderr.txt")
    captured.close()
    assert not open_artifacts(tmp_path / "run").exists("stderr.txt"), "nothing was said"
    captured = Captured(open_artifacts(tmp_path / "run"), "big.txt")
    for _ in range(5):
        captured.add(b"x" * KEPT_BYTES)
    captured.add(b"end")
    captured.close()
    assert len(open_artifacts(tmp_path / "run").read("big.txt")) == KEPT_BYTES
    assert captured.text().endswith("xend")


def test_times_and_sizes_are_read() -> None:
    assert since("1h") - since("2h") == pytest.approx(3600, abs=5)
    assert since("2026-03-01") < since("2026-03-01T12:00")
    for wrong in ("", "h", "1y", "yesterday", "-3d"):
        with pytest.raises(UsageError, match="--since"):
            since(wrong)
    assert [size_of(text) for text in ("0", "1kB", "2.5 MB", "1G")] == [0, 1000, 2_500_000, 1_000_000_000]
    with pytest.raises(UsageError, match="--max-size"):
        size_of("-1")
    assert size_text(2_500_000_000) == "2.5 GB"
