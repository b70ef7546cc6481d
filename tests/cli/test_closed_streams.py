"""A command whose standard output or error is closed, or full, ends as it should, and nothing lands in its files."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = (
    "run qa.csv",
    "run qa.csv --json",
    "list",
    "list --json",
    "perf qa.csv --concurrency=1 --requests=2",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qa.csv").write_text("question,answer\n1+1=,2\n", encoding="utf-8")
    return tmp_path


def ended(folder: Path, command: str, streams: str) -> subprocess.CompletedProcess[str]:
    program = shlex.join([sys.executable, "-m", "benchwright", *command.split()])
    # A shell of its own: only a process that starts with closed streams has none.
    return subprocess.run(["sh", "-c", f"{program} {streams}"], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_change_nothing(folder: Path, streams: str) -> None:
    for command in COMMANDS:
        done = ended(folder, command, streams)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert bool(done.stdout) == (">&-" not in streams.replace("2>&-", "")), command
    assert ended(folder, "doctor", "").stdout.startswith(f"{folder}: the database is sound")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_a_full_disk_is_named_with_its_cure(folder: Path) -> None:
    for command in COMMANDS:
        done = ended(folder, command, ">/dev/full")
        assert done.returncode == 1, command
        assert done.stderr.splitlines()[-1] == (
            "error: standard output cannot be read or written: the disk is full. Free disk space and try again."
        ), command
    assert "completed" in ended(folder, "list", "").stdout, "the run is on record"
