"""Rows on disk: verified before they are read, quarantined when damaged, never half-written."""

from __future__ import annotations

import errno
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hub_content import Repo, jsonl, numbered, parquet
from hub_server import LoopbackHub

import warm
from benchwright import load_dataset
from benchwright.core import DatasetError
from benchwright.datasets import HubDataset, open_dataset
from waiting import PATIENCE_S

ROWS = numbered(50)


@pytest.fixture(params=["jsonl", "parquet"])
def repo(hub: LoopbackHub, request: pytest.FixtureRequest) -> Repo:
    repo = hub.repo("a/data")
    content = jsonl(ROWS) if request.param == "jsonl" else parquet(ROWS)
    repo.commit({f"train.{request.param}": content, "README.md": "# x\n"})
    return repo


def row_files(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("rows.parquet") if "quarantine" not in path.parts]


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "flipped": flipped,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "empty": lambda path: path.write_bytes(b""),
    "grown": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "other rows": lambda path: path.write_bytes(parquet(numbered(50, "poison"))),
    "gone": lambda path: path.unlink(),
    "no meta": lambda path: path.with_name("meta.json").unlink(),
    "empty meta": lambda path: path.with_name("meta.json").write_bytes(b""),
    "other meta": lambda path: path.with_name("meta.json").write_text('{"rows": 1}'),
    "nonsense meta": lambda path: path.with_name("meta.json").write_text("[[["),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_quarantined_and_repaired(
    hub: LoopbackHub, repo: Repo, cache: Path, damage: str
) -> None:
    assert load_dataset("hf://a/data") == ROWS
    (path,) = row_files(cache)
    for file in path.parent.iterdir():
        file.chmod(0o644)
    DAMAGES[damage](path)
    fetched = len(hub.paths("/resolve/.*train"))
    reader = open_dataset("hf://a/data")
    assert [row for batch in reader.batches() for row in batch.rows] == ROWS
    assert len(hub.paths("/resolve/.*train")) == fetched + 1
    assert any("a cached copy was damaged" in note for note in reader.notes())
    quarantine = cache / "hf" / "quarantine"
    (note,) = quarantine.glob("*.why.txt")
    assert str(path.parent) in note.read_text()
    assert (quarantine / note.name.removesuffix(".why.txt")).is_dir()


def test_damage_cannot_be_repaired_offline(
    hub: LoopbackHub, repo: Repo, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_dataset("hf://a/data")
    (path,) = row_files(cache)
    path.chmod(0o644)
    flipped(path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        DatasetError, match=r"train.* are damaged \(rows.parquet does not match its checksum\).*quarantine"
    ):
        load_dataset("hf://a/data")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert load_dataset("hf://a/data") == ROWS


def test_damaged_records_are_learned_again(hub: LoopbackHub, repo: Repo, cache: Path) -> None:
    load_dataset("hf://a/data")
    records = [path for path in cache.rglob("*.json") if path.name != "meta.json"]
    assert len(records) == 2
    for damage in (b"", b"{", b'{"version": 1, "hash": "x", "body": {"files": []}}'):
        for path in records:
            path.write_bytes(damage)
        assert load_dataset("hf://a/data") == ROWS


def test_kept_files_are_read_only_and_made_once(hub: LoopbackHub, repo: Repo, cache: Path) -> None:
    load_dataset("hf://a/data")
    (path,) = row_files(cache)
    assert [file.stat().st_mode & 0o777 for file in path.parent.iterdir()] == [0o444, 0o444]
    before = path.stat().st_mtime_ns
    requests = len(hub.seen)
    commit = repo.refs["main"]
    assert load_dataset(f"hf://a/data?revision={commit}") == ROWS
    assert len(hub.seen) == requests, "a pinned dataset in the cache needs no request at all"
    assert path.stat().st_mtime_ns == before
    meta = json.loads(path.with_name("meta.json").read_text())
    assert meta["about"]["commit"] == commit
    assert meta["rows"] == 50
    leftovers = [
        p
        for p in cache.rglob("*")
        if p.is_file() and p.suffix not in (".parquet", ".json") and p.parent.name != "locks"
    ]
    assert leftovers == []


def test_a_full_disk_is_told_and_leaves_nothing(
    hub: LoopbackHub, repo: Repo, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf import row_cache

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(row_cache, "flush_file", full)
    with pytest.raises(DatasetError, match=r"the disk is full.*BENCHWRIGHT_CACHE"):
        load_dataset("hf://a/data")
    assert not list(cache.rglob("rows.parquet"))
    monkeypatch.undo()


def test_a_cache_that_cannot_be_written(
    hub: LoopbackHub, repo: Repo, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache.parent / "file").write_text("x")
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(cache.parent / "file"))
    (cache.parent / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(cache.parent / "temporary"))
    reader = open_dataset("hf://a/data")
    assert [row for batch in reader.batches() for row in batch.rows] == ROWS
    (note,) = reader.notes()
    assert "the rows cannot be kept in" in note
    assert "Not a directory" in note
    requests = len(hub.paths("resolve/"))
    assert [row for batch in reader.batches() for row in batch.rows] == ROWS
    assert len(hub.paths("resolve/")) == requests, "fetched once for one reader"
    del reader
    gc.collect()
    assert not list((cache.parent / "temporary").iterdir())


def test_a_disk_that_is_full_fails_no_run_while_there_is_room_elsewhere(
    hub: LoopbackHub, repo: Repo, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf import hub as hub_files

    whole = hub_files._append

    def full_there(*args: Any) -> None:
        if args[-1].is_relative_to(cache):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(*args)

    monkeypatch.setattr(hub_files, "_append", full_there)
    assert load_dataset("hf://a/data") == ROWS
    assert not list(cache.rglob("rows.parquet"))
    dataset = HubDataset("hf://a/data")
    assert dataset.init().rows == 50
    assert dataset.batch(40, 20) == ROWS[40:]
    assert [note for note in dataset.notes if "the disk is full" in note]


def test_a_dataset_without_rows_is_kept_as_such(hub: LoopbackHub, cache: Path) -> None:
    hub.repo("a/none").commit({"train.jsonl": "\n\n"})
    assert load_dataset("hf://a/none") == []
    assert load_dataset("hf://a/none") == []
    assert len(row_files(cache)) == 1
    assert HubDataset("hf://a/none").init().rows == 0


def test_an_interrupted_download_goes_on_where_it_stopped(hub: LoopbackHub, cache: Path) -> None:
    hub.repo("a/data").commit({"train.jsonl": jsonl(ROWS)}, large=["train.jsonl"])
    hub.fault("/objects/", times=1, cut=700)
    hub.fault("/objects/", times=99, status=503)
    with pytest.raises(DatasetError, match="answered 503"):
        load_dataset("hf://a/data")
    hub.faults.clear()
    before = len(hub.seen)
    assert load_dataset("hf://a/data") == ROWS
    assert [seen.range for seen in hub.seen[before:] if "/objects/" in seen.path] == ["bytes=700-"]
    assert not list((cache / "hf" / "a--data" / "partial").iterdir())


def test_a_disk_that_fills_while_downloading_is_left_as_it_was(
    hub: LoopbackHub, repo: Repo, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.datasets._hf import hub as hub_files

    def full(*args: Any) -> None:
        args[-1].write_bytes(b"a part of it")
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(hub_files, "_append", full)
    with pytest.raises(DatasetError, match="the disk is full"):
        load_dataset("hf://a/data")
    assert not [path for path in (cache / "hf" / "a--data" / "partial").rglob("*") if path.is_file()]


LOADER = """
import json, sys
from benchwright import load_dataset
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(load_dataset("hf://a/data")))
"""


def test_processes_share_one_fetch(hub: LoopbackHub, repo: Repo, cache: Path) -> None:
    """All ask at once; one fetches, the others wait for it."""
    hub.fault("resolve/.*train", times=1, delay_s=0.5)
    loaders = [
        warm.Popen([sys.executable, "-c", LOADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for loader in loaders:
        assert loader.stdout is not None
        assert loader.stdout.readline() == "ready\n"
    for loader in loaders:
        assert loader.stdin is not None
        loader.stdin.write("\n")
        loader.stdin.flush()
    for loader in loaders:
        assert json.loads(loader.communicate(timeout=PATIENCE_S)[0]) == ROWS
    assert len(hub.paths("resolve/.*train")) == 1
    assert len(row_files(cache)) == 1


def test_the_cache_has_its_own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from benchwright.datasets._hf.settings import hub_settings

    assert hub_settings({"BENCHWRIGHT_CACHE": "~/x", "HOME": "/h"}).cache == Path("~/x").expanduser()
    assert hub_settings({"XDG_CACHE_HOME": "/c"}).cache == Path("/c/benchwright")
    assert hub_settings({}).cache == Path("~/.cache/benchwright").expanduser()
    assert hub_settings({"XDG_CACHE_HOME": "/c"}).hub_cache == Path("/c/huggingface/hub")
