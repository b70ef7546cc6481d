"""A real SIGKILL in the middle of a sample of several turns; then `resume`; then all is as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import benchwright
import warm
from recording_server import recording
from stored_records import recorded_calls
from waiting import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks/ stands beside the package and is not installed

from benchmarks.replay import Knowing, verdicts  # noqa: E402

from benchwright.bfcl import Definition  # noqa: E402

NAME = "bfcl_multi_turn_base"
ROWS = 2
START = """
import sys, benchwright
benchwright.run(sys.argv[1], model_url=sys.argv[2], model_id="m", parallelism=1, workspace=sys.argv[3], limit=int(sys.argv[4]))
"""


def test_a_sample_killed_between_its_turns_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    definition = Definition.of(NAME, {}, tmp_path)
    assert definition is not None
    knowing = Knowing(definition.load())
    killed, asked = threading.Event(), threading.Event()
    hold = False

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if hold and not asked.is_set() and len(server.received) == middle:
            asked.set()
            killed.wait(PATIENCE_S)
        return knowing(body)[1]

    with recording(answer) as server:
        calm = benchwright.run(
            NAME, model_url=server.url, model_id="m", workspace=tmp_path / "calm", limit=ROWS
        )
        wanted = [json.dumps(request.body) for request in server.take()]
        middle = len(wanted) - 1  # of the last sample, after some of its turns
        hold = True
        workspace = tmp_path / "disturbed"
        command = [sys.executable, "-c", START, NAME, server.url, str(workspace), str(ROWS)]
        child = warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert asked.wait(PATIENCE_S)
        until(lambda: recorded_calls(workspace) >= middle - 1)
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        killed.set()
        before = [json.dumps(request.body) for request in server.take()]
        resumed = benchwright.resume(1, workspace=workspace)
        after = [json.dumps(request.body) for request in server.take()]
    assert len(before) == middle
    assert sorted(before[:-1] + after) == sorted(wanted), "what was answered is not asked again"
    assert after[0] == before[-1], "what was under way is asked again, with all that was said before"
    assert resumed.requests_sent == len(after) == 2
    assert Counter(before + after) - Counter(wanted) == Counter([before[-1]])
    assert verdicts(resumed) == verdicts(calm)
    assert resumed.metrics == calm.metrics
