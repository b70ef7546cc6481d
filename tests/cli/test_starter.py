"""init: a starter that runs as it is and never overwrites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.cli import main
from benchwright.config._files import read_config


def test_a_starter_is_written_and_the_next_command_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my demo"]) == 0
    assert "next: cd 'my demo' && benchwright run my_bench.py" in capsys.readouterr().out
    folder = tmp_path / "my demo"
    assert sorted(path.name for path in folder.iterdir()) == ["benchwright.toml", "my_bench.py", "qa.jsonl"]
    rows = [json.loads(line) for line in (folder / "qa.jsonl").read_text().splitlines()]
    assert len(rows) == 12
    assert all(set(row) == {"question", "answer"} for row in rows)
    assert read_config(folder / "benchwright.toml").benchmarks["my_bench"].file == f"{folder}/my_bench.py"


def test_nothing_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.jsonl").write_text("mine")
    assert main(["init"]) == 2
    assert "already has qa.jsonl; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["qa.jsonl"]
    assert main(["init", "qa.jsonl"]) == 2
    assert "is a file" in capsys.readouterr().err


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(tmp_path),
        "files": ["benchwright.toml", "my_bench.py", "qa.jsonl"],
        "next": "benchwright run my_bench.py",
    }
