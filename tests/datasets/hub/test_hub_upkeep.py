"""Looking after the cache of hub rows by command: what is there, whether it is whole, making room."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl, numbered
from hub_server import LoopbackHub

from benchwright.cli import main
from benchwright.datasets import HubDataset


@pytest.fixture
def two(hub: LoopbackHub, cache: Path) -> list[str]:
    """Two datasets, read once."""
    for name in ("org/old", "org/new"):
        hub.repo(name).commit({"test.jsonl": jsonl(numbered(500))})
        dataset = HubDataset(f"hf://{name}")
        dataset.init()
        dataset.batch(0, 10)
    for path in (cache / "hf" / "org--old").rglob("*"):
        long_ago = time.time() - 40 * 86400
        os.utime(path, (long_ago, long_ago))
    return ["org/new", "org/old"]


def cache_command(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert main(["cache", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_info_and_prune(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = cache_command(capsys, "info")
    assert sorted(entry["dataset"] for entry in found["entries"]) == two
    assert all(entry["rows"] == 500 for entry in found["entries"])
    gone = cache_command(capsys, "prune", "--older-than", "30d")
    assert [entry["dataset"] for entry in gone["deleted"]] == ["org/old"]
    assert cache_command(capsys, "prune", "--max-size", "1GB")["deleted"] == []
    assert len(cache_command(capsys, "prune", "--max-size", "0")["deleted"]) == 1
    assert cache_command(capsys, "info")["entries"] == []
    assert len(HubDataset("hf://org/old").batch(0, 10)) == 10, "what was deleted is fetched again"


def test_verify_sets_damaged_rows_aside(
    two: list[str], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cache_command(capsys, "verify") == {"checked": 2, "damaged": [], "exit_code": 0}
    (rows,) = (cache / "hf" / "org--old").rglob("rows.parquet")
    content = rows.read_bytes()
    rows.chmod(0o644)
    rows.write_bytes(content[:-1] + b"?")
    found = cache_command(capsys, "verify", code=1)
    assert [(entry["dataset"], entry["reason"]) for entry in found["damaged"]] == [
        ("org/old", "rows.parquet does not match its checksum")
    ]
    assert cache_command(capsys, "verify")["checked"] == 1
    assert cache_command(capsys, "info")["quarantine_bytes"] > 0
    cache_command(capsys, "prune", "--max-size", "1GB")
    assert cache_command(capsys, "info")["quarantine_bytes"] == 0


def test_clear_and_an_empty_cache(two: list[str], cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(cache_command(capsys, "clear")["deleted"]) == 2
    assert cache_command(capsys, "info")["bytes"] == 0
    assert cache_command(capsys, "verify")["checked"] == 0
    assert main(["cache", "info"]) == 0
    assert "0 B in 0 files of rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["prune"], ["prune", "--max-size", "huge"], ["prune", "--older-than", "x"], ["info", "--max-size", "1"]],
)
def test_what_cannot_be_meant_is_refused(hub: LoopbackHub, words: list[str]) -> None:
    assert main(["cache", *words]) == 2


def test_verify_finds_whole_rows_in_the_place_of_others(
    two: list[str], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (old,) = (cache / "hf" / "org--old" / "rows").iterdir()
    old.rename(
        old.with_name("0" * 40)
    )  # whole, but under the key of other rows, such as those of another commit
    found = cache_command(capsys, "verify", code=1)
    assert [(entry["dataset"], entry["reason"]) for entry in found["damaged"]] == [
        ("org/old", "meta.json describes other rows than those of this place")
    ]
