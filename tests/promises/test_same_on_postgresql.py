"""Whatever works on SQLite works on PostgreSQL, and says the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm
from every_kind import SUITE, json_texts, record
from postgres_server import shared_server

TIMES = re.compile(
    r"(_s|_ms|_at|_seconds|_on)$|time|start|finish|created|took|seconds|duration|elapsed|latency|rate|per_second|folder|path|files"
    r"|headline|differ|worse|better|hash|digest|fingerprint|owner|host|pid|version|workspace|oldest|newest|ttft|e2e|sent|spent|id$"
)
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
MEASURED = ("load", "loads")
"""Documents of load tests: only their keys are the same, as time decides the figures."""
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
    """A workspace of SQLite, and one of PostgreSQL, with the same runs."""
    sqlite, postgres = tmp_path_factory.mktemp("sqlite"), tmp_path_factory.mktemp("postgres")
    record(sqlite)
    record(postgres, shared_server().url("same"))
    return [sqlite, postgres]


def test_every_command_says_the_same(folders: list[Path]) -> None:
    differing = []
    for name, words in COMMANDS.items():
        one, two = (said(folder, words) for folder in folders)
        if name in MEASURED:
            one, two = ((code, dict.fromkeys(found)) for code, found in (one, two))
        if one != two:
            differing.append(f"{name}: {difference(one, two)}")
    assert not differing, "\n".join(differing)


def said(folder: Path, words: list[str]) -> tuple[int, Any]:
    done = warm.run(
        [sys.executable, "-m", "benchwright", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    done.stdout = PORT.sub("PORT", done.stdout.replace(str(folder), "FOLDER").replace(folder.name, "NAME"))
    try:
        document = json.loads(done.stdout)
    except ValueError:
        words_only = re.sub(r"[\d.]+( ms| s|%)?|/\S+", "…", done.stdout)
        return done.returncode, words_only if "--json" not in words else done.stdout + done.stderr
    return done.returncode, {
        path: (None if TIMES.search(path) or isinstance(value, float) else value)
        for path, value in json_texts(document)
    }


def difference(one: Any, two: Any) -> str:
    if isinstance(one[1], dict) and isinstance(two[1], dict):
        paths = [
            path for path in {*one[1], *two[1]} if one[1].get(path, "absent") != two[1].get(path, "absent")
        ]
        return f"exit {one[0]}/{two[0]} " + "; ".join(
            f"{path}: {one[1].get(path, 'absent')!r} / {two[1].get(path, 'absent')!r}"
            for path in sorted(paths)[:5]
        )
    return f"{str(one)[-700:]}\n   / {str(two)[-700:]}"
