"""A run in a process that may open few files: fewer requests at once, and no row lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import benchwright
from recording_server import recording
from waiting import PATIENCE_S


def test_a_run_sends_no_more_at_once_than_it_can_have_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("benchwright.engine._perform.most_connections", lambda: 3)
    Path("qa.jsonl").write_text(
        "\n".join(json.dumps({"question": f"{n}?", "answer": "x"}) for n in range(40))
    )
    lock, now, most = threading.Lock(), 0, 0

    def answer(body: dict[str, Any]) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        with lock:
            now -= 1
        return "x"

    with recording(answer) as server:
        result = benchwright.run("qa.jsonl", model_url=server.url, model_id="m", parallelism=50)
    assert result.summary.outcomes["scored"] == 40
    assert most <= 3
    assert any(note.startswith("the parallelism is 3 instead of 50") for note in result.summary.notes)


def test_connections_are_what_the_limit_of_open_files_leaves() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 60));"
        "from benchwright.engine._open_files import most_connections; print(most_connections());"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)); print(most_connections())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    many, few = map(int, done.stdout.split())
    assert 30 < many < 60  # the limit was raised
    assert few == 1
