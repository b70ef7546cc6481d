"""A copied or moved workspace is one of its own: its commands read and write its own files, and never those of the original."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.cli import main
from benchwright.store import Workspace, open_store

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset="rows.jsonl", prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.target in sample.response}
"""
QUIZ = "question,A,B,answer\nWhat is 1+1?,2,3,A\nWhat is 2+2?,3,4,B\nWhat is 3+3?,6,7,A\n"


@pytest.fixture
def original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "a"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "200")
    rows = [{"q": f"What is {k} + 1?", "target": str(k + 1)} for k in range(12)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("bench.py").write_text(BENCH)
    Path("quiz.csv").write_text(QUIZ)
    Path("benchwright.toml").write_text("")
    assert main(["run", "bench.py", "--max-requests", "5", "--quiet"]) == 3
    assert main(["run", "quiz.csv", "--max-requests", "2", "--quiet", "--no-cache"]) == 3
    assert (
        main(["run", "bench.py", "--max-requests", "5", "--no-cache", "--output-dir", "out", "--quiet"]) == 3
    )
    return place


def content(folder: Path) -> dict[str, str]:
    open_store(Workspace(folder)).close()  # the last who closes it leaves nothing outside its file
    ours = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in ours
        if not path.name.endswith(("-wal", "-shm"))
    }


def copied(a: Path, b: Path) -> None:
    shutil.copytree(a, b)


def moved(a: Path, b: Path) -> None:
    shutil.move(a, b)


@pytest.fixture(params=[copied, moved], ids=["copied", "moved"])
def elsewhere(
    request: pytest.FixtureRequest, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Copy or move the workspace, go there, and return what checks that the original was left alone."""
    place = tmp_path / "somewhere" / "b"
    place.parent.mkdir()
    before = content(original)
    monkeypatch.chdir(tmp_path)
    request.param(original, place)
    monkeypatch.chdir(place)

    def check() -> None:
        assert not original.exists() if request.param is moved else content(original) == before

    return check


COMMANDS: dict[str, tuple[str, ...]] = {
    "resume a benchmark": ("resume", "1"),
    "resume a file of questions": ("resume", "2"),
    "resume into a chosen folder": ("resume", "3"),
    "rescore": ("rescore", "1"),
    "rescore questions": ("rescore", "2"),
    "show": ("show", "1"),
    "export": ("export", "1", "-o", "samples.jsonl"),
    "report": ("report", "1", "-o", "page.html"),
    "rm": ("rm", "1", "--yes"),
    "doctor": ("doctor",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_use_the_files_of_their_own_workspace(name: str, elsewhere: Callable[[], None]) -> None:
    here = Path.cwd()
    (here / "bench.py").write_text(BENCH)
    assert main(list(COMMANDS[name])) in (0, 3)
    elsewhere()
    folders = sorted(path.name for path in (here / ".benchwright" / "runs").iterdir())
    if name == "rm":
        assert folders == ["0002-quiz"]
    if name.startswith("resume"):
        place = (
            here / "out"
            if "chosen" in name
            else next((here / ".benchwright" / "runs").glob(f"*{COMMANDS[name][1]}-*"))
        )
        assert "partial: false" in (place / "results.yml").read_text()


def test_a_copy_reads_its_own_benchmark_and_data(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(original, tmp_path / "b")
    for file in ("bench.py", "rows.jsonl", "quiz.csv"):
        (original / file).unlink()
    monkeypatch.chdir(tmp_path / "b")
    assert main(["resume", "1"]) == 0
    assert main(["resume", "2"]) == 0


def test_a_copied_work_folder_is_reused_with_its_own_runs(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite: dict[str, Any] = {"models": [{"name": "d", "type": "demo"}], "datasets": [{"path": "quiz.csv"}]}
    Path("suite.json").write_text(json.dumps(suite))
    assert main(["run", "suite.json", "--mode", "infer", "--quiet"]) == 0
    before = content(original)
    copied(original, tmp_path / "b")
    monkeypatch.chdir(tmp_path / "b")
    assert main(["run", "suite.json", "--mode", "eval", "--reuse", "--quiet"]) == 0
    assert content(original) == before
