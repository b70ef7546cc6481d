"""Other processes see how far a live run of any kind has come."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE_S, until

from benchwright.core import RunProgress

FLOW = """
import asyncio
from benchwright import entrypoint, workflow

async def slow(given, ctx):
    for number in range(1_000_000):
        await ctx.step(step_key=f"step {number}", execute=lambda: asyncio.sleep(0.02))

entrypoint(workflow("slow", slow))
"""
KINDS = {
    "benchmark": ("run", "quiz.jsonl", "--model", "slow", "--parallelism", "4"),
    "load": ("perf", "quiz.jsonl", "--model", "slow", "--concurrency", "4", "--requests", "5000"),
    "workflow": ("run", "flow.py"),
}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "benchwright", *words]


@pytest.mark.parametrize("kind", KINDS)
def test_another_process_sees_the_progress(kind: str, tmp_path: Path) -> None:
    rows = "".join(json.dumps({"question": f"{n} + 7?", "answer": str(n + 7)}) + "\n" for n in range(5000))
    (tmp_path / "quiz.jsonl").write_text(rows, encoding="utf-8")
    (tmp_path / "flow.py").write_text(FLOW, encoding="utf-8")
    (tmp_path / "benchwright.toml").write_text(
        '[models.slow]\ntype = "demo"\nttft_ms = 400\n', encoding="utf-8"
    )
    seen: list[dict[str, Any]] = []

    def told() -> bool:
        listed = subprocess.run(
            command("list", "--json"), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        runs = json.loads(listed.stdout)["runs"]
        if runs and runs[0]["progress"] is not None and runs[0]["progress"]["done"]:
            seen.append(runs[0])
        assert process.poll() is None, "it ended before it told anything"
        return bool(seen)

    process = subprocess.Popen(
        command(*KINDS[kind]), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(told)
        shown = subprocess.run(
            command("show", "1"), cwd=tmp_path, capture_output=True, text=True, check=False
        )
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):
            process.send_signal(number)
            try:
                process.wait(PATIENCE_S)
                break
            except subprocess.TimeoutExpired:
                continue
    (run,) = seen
    progress = run["progress"]
    assert (run["kind"], run["status"]) == (kind, "running")
    assert progress["total"] == (None if kind == "workflow" else 5000)
    assert progress["per_s"] > 0
    assert (progress["seconds_left"] is None) is (kind == "workflow")
    assert "done" in shown.stdout
    assert "per second" in shown.stdout
    ended = subprocess.run(
        command("list", "--json"), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert json.loads(ended.stdout)["runs"][0]["progress"] is None


@pytest.mark.parametrize(
    ("done", "total", "rate", "share", "left"),
    [
        (0, 0, 0.0, None, None),
        (0, 10, 0.0, 0.0, None),
        (5, 10, 2.0, 0.5, 2.5),
        (12, 10, 1.0, 1.0, 0.0),
        (3, None, 9.0, None, None),
    ],
)
def test_the_time_left_is_known_only_from_a_rate_and_a_total(
    done: int, total: int | None, rate: float, share: float | None, left: float | None
) -> None:
    progress = RunProgress.of("asking", done, total, 0, 0, rate)
    assert (progress.share, progress.seconds_left) == (share, left)
    assert RunProgress.from_json(progress.to_json()) == progress
