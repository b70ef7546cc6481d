"""Whatever works on SQLite works on PostgreSQL, and says the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

import warm
from every_kind import SUITE, record
from postgres_server import shared_server

_PLACE = re.compile(r"[^\s\"']*/(here|team|back)\d+")
_OWN = re.compile(r"\bruns(-\w+)*(?=/)|\bcopied\.db|\.benchwright/benchwright\.db")
"""Names of folders and files that differ by the store."""
_NOW = re.compile(
    r"^ {6}\"id\"|rescored|samples_per_s|_at\"|seconds|time  |\b(ms|s)\b.*per second|fetched_at|heartbeat|\"database|\"took|worked|duration|per_second"
)
"""Numbers of events, which each database gives itself, and lines about what the command itself did just now."""
COMMANDS = {
    "list": ["list", "--json"],
    "show": ["show", "1", "--json"],
    "wrong": ["show", "2", "--wrong", "--json"],
    "slices": ["show", "1", "--by", "topic", "--json"],
    "text": ["show", "1", "--text", "What is 5", "--json"],
    "sorted": ["show", "1", "--sort", "latency_s", "--json"],
    "judged": ["show", "3", "--json"],
    "load": ["show", "4", "--json"],
    "compare": ["compare", "1", "2", "--json", "--force"],
    "loads": ["compare", "4", "5", "--json", "--force"],
    "flow": ["show", "6", "--json"],
    "flows": ["compare", "6", "7", "--json", "--force"],
    "gate": ["gate", "1", "--threshold", "accuracy >= 0.5", "--json"],
    "export": ["export", "1", "-o", "out.jsonl"],
    "suite": ["show", SUITE, "--json"],
    "label": ["labels", "1", "--json"],
    "rescore": ["rescore", "1", "--json"],
    "resume": ["resume", "1", "--json"],
    "bless": ["bless", "1"],
    "tag": ["tag", "1", "team=a", "--json"],
    "doctor": ["doctor", "--json"],
    "rm": ["rm", "8", "--yes"],
    "after": ["list", "--json"],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A workspace with runs of every kind in SQLite, and copies of it in PostgreSQL and from there in SQLite again."""
    here = tmp_path_factory.mktemp("here") / "work"
    here.mkdir()
    record(here)
    url = shared_server().url("same")
    found = [here]
    for name, source, target in (("team", ".", url), ("back", url, "copied.db")):
        folder = tmp_path_factory.mktemp(name) / "work"
        shutil.copytree(here, folder)
        said = said_by(folder, ["store", "copy", source, target, "--json"])
        assert json.loads(said.stdout) == {"copied": [1, 2, 3, 4, 5, 6, 7], "known": []}, said.stderr
        again = said_by(folder, ["store", "copy", source, target, "--json"])
        assert json.loads(again.stdout)["known"] == [1, 2, 3, 4, 5, 6, 7]
        (folder / "benchwright.toml").write_text(f"store = {json.dumps(target)}\n", encoding="utf-8")
        found.append(folder)
    return found


def test_every_command_says_the_same(folders: list[Path]) -> None:
    differing = []
    for name, words in COMMANDS.items():
        sqlite, *others = (comparable(folder, words) for folder in folders)
        for other in others:
            if other != sqlite:
                parts = [(one, two) for one, two in zip_longest(sqlite, other) if one != two]
                differing.append(f"{name}: {parts[:3]}")
    assert not differing, "\n".join(differing)


def said_by(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    done = warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    return done


def comparable(folder: Path, words: list[str]) -> list[str]:
    """The lines that a command prints, without what names its place or the time of this command."""
    done = said_by(folder, words)
    text = _PLACE.sub("PLACE", done.stdout + done.stderr)
    return [
        str(done.returncode),
        *(line for line in _OWN.sub("…", text).splitlines() if not _NOW.search(line)),
    ]
