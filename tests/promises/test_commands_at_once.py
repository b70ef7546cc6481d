"""Commands that write what others share, two and four at a time, some of them killed: each ends in its own words, nothing that
is named is missing, and what comes afterwards works."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

import warm
from benchwright.cli import main
from benchwright.results import Baselines
from benchwright.store import Workspace
from waiting import PATIENCE_S

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(30)], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""
POLICY = '[[threshold]]\nmetric = "correct"\nmin = 0.0\nbound = "value"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    Path("benchwright.toml").write_text("")
    Path("bench.py").write_text(BENCH)
    Path("policy.toml").write_text(POLICY)
    for skill in ("0.9", "0.5", "0.2"):
        assert main(["run", "bench.py", "--quiet", "--demo-skill", skill]) == 0
    return place


def at_once(commands: list[list[str]], killed: int = 0) -> list[int]:
    """Start all, kill some at any moment, and return the exit codes of the others. No output may show a defect."""
    dice = random.Random(len(commands) + killed)
    started = [
        warm.Popen(
            [warm.COMMAND, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        for words in commands
    ]
    for process in started[:killed]:
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.0, 0.15))
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
    codes = []
    for number, process in enumerate(started):
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert b"Traceback" not in errors, errors.decode()
        assert b"defect" not in errors, errors.decode()
        if number >= killed:
            codes.append(process.returncode)
    return codes


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 0), (4, 2)])
def test_a_blessed_name_always_has_its_file(folder: Path, count: int, killed: int) -> None:
    for _ in range(3):
        runs = [str(1 + number % 3) for number in range(count)]
        assert set(at_once([["bless", run, "--as", "main"] for run in runs], killed)) == {0}
        found = Baselines(Workspace(folder)).named("main")
        assert found is not None
        place = folder / ".benchwright" / "baselines" / "main"
        history = [json.loads(line) for line in (place / "history.jsonl").read_text().splitlines()]
        assert all((place / move["file"]).is_file() for move in history)
        assert main(["gate", "1", "--policy", "policy.toml", "--baseline", "main"]) == 0


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 2)])
def test_an_exported_file_is_whole(folder: Path, count: int, killed: int) -> None:
    for words in (["export", "1", "--baseline", "base.jsonl"], ["export", "1", "-o", "samples.jsonl"]):
        assert set(at_once([words] * count, killed)) == {0}
    assert len(Path("samples.jsonl").read_text().splitlines()) == 30
    assert main(["gate", "1", "--policy", "policy.toml", "--baseline", "base.jsonl"]) == 0


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 2)])
def test_a_starter_is_whole(folder: Path, count: int, killed: int) -> None:
    assert set(at_once([["init", "new"]] * count, killed)) <= {0, 2}
    assert main(["init", "new"]) in (0, 2)
    assert main(["check", "new/my_bench.py"]) == 0


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 2)])
def test_runs_share_no_folder(folder: Path, count: int, killed: int) -> None:
    words = ["run", "bench.py", "--output-dir", "out", "--overwrite", "--no-cache", "--quiet"]
    assert set(at_once([words] * count, killed)) <= {0, 5}
    assert main([*words]) == 0
    assert "evaluated: 30" in Path("out/results.yml").read_text()
    assert main(["doctor"]) == 0


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 2)])
def test_a_deleted_run_stays_deleted(folder: Path, count: int, killed: int) -> None:
    assert set(at_once([["rm", "2", "--yes"]] * count, killed)) <= {0, 4}
    assert main(["rm", "2", "--yes"]) in (0, 4)
    assert main(["doctor"]) == 0
    assert main(["show", "2"]) == 4
    assert main(["show", "1"]) == 0


@pytest.mark.parametrize(("count", "killed"), [(2, 0), (4, 2)])
@pytest.mark.parametrize("lost", ["database", "page", "nothing"])
def test_a_workspace_is_repaired_once(folder: Path, count: int, killed: int, lost: str) -> None:
    database = folder / ".benchwright" / "benchwright.db"
    if lost == "database":
        database.unlink()
        for end in ("-wal", "-shm"):
            Path(f"{database}{end}").unlink(missing_ok=True)
    elif lost == "page":
        content = bytearray(database.read_bytes())
        middle = len(content) // 2 // 4096 * 4096
        content[middle : middle + 4096] = random.Random(2).randbytes(4096)
        database.write_bytes(content)
    assert set(at_once([["doctor"]] * count, killed)) <= {0}
    assert main(["doctor"]) == 0
    for run in ("1", "2", "3"):
        assert main(["gate", run, "--policy", "policy.toml"]) == 0


def test_cached_rows_are_cleared_beside_one_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    assert set(at_once([["cache", "clear"]] * 4, 1)) == {0}
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    assert main(["cache", "info"]) == 0
