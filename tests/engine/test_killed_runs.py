"""Real SIGKILLs at random moments; then `resume`; then everything must be as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import benchwright
import warm
from benchwright.demo import DemoSettings, demo_server
from stored_records import count_runs, statuses, step_keys, steps_in_order
from waiting import PATIENCE_S, until

ROWS = 2000
PARALLELISM = 16
LATENCY_MS = 20 if os.environ.get("BENCHWRIGHT_KILLS") is None else 60
KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "6"))
"""The full exercise is BENCHWRIGHT_KILLS=25; a few are enough to notice a broken promise."""

BENCH = """
import time
from benchwright import ScorerInput, benchmark, scorer
from benchwright.scorers import gsm8k_answer

@benchmark(name="sums", dataset="rows.jsonl", prompt="What is {a} + {b}?", target_field="sum",
           num_fewshot=2, fewshot_dataset="shots.jsonl")
@scorer
def check(sample: ScorerInput) -> dict:
    return gsm8k_answer(sample)
"""
START = """
import sys, benchwright
benchwright.run(sys.argv[1], model_url=sys.argv[2], model_id="demo", parallelism=int(sys.argv[3]),
                workspace=sys.argv[4], output_dir=sys.argv[5], max_tokens=50)
"""
RESUME = """
import sys, benchwright
result = benchwright.resume(1, workspace=sys.argv[1])
print(result.requests_sent)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    rows = [{"a": n, "b": 7 * n % 50, "sum": str(n + 7 * n % 50)} for n in range(ROWS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shots = [{"a": n, "b": 1, "sum": str(n + 1)} for n in range(5000, 5400)]
    (tmp_path / "shots.jsonl").write_text("".join(json.dumps(row) + "\n" for row in shots), encoding="utf-8")
    path = tmp_path / "bench.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_and_resumed_equals_undisturbed(bench: Path, tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    disturbed, calm = tmp_path / "disturbed", tmp_path / "calm"
    with demo_server(DemoSettings(ttft_ms=LATENCY_MS)) as server:
        child = start(START, bench, server.url, PARALLELISM, calm, calm / "out")
        _, errors = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == 0, errors
        asked_calmly = server.stats()["requests"]
        child = start(START, bench, server.url, PARALLELISM, disturbed, disturbed / "out")
        kills = 0
        while kills < KILLS:
            time.sleep(chance.uniform(0.05, 1.2))
            if child.poll() is not None and (disturbed / "out" / "results.yml").exists():
                break  # it finished before its time came
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()
            kills += 1
            if count_runs(disturbed):
                child = start(RESUME, disturbed)
            else:  # killed before the run was recorded: nothing to resume, nothing lost
                child = start(START, bench, server.url, PARALLELISM, disturbed, disturbed / "out")
        _, errors = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == 0, f"seed {seed}: {errors}"
        asked = int(server.stats()["requests"]) - int(asked_calmly)  # type: ignore[call-overload]
    assert results_of(disturbed) == results_of(calm).replace(str(calm), str(disturbed)), f"seed {seed}"
    assert ROWS <= asked <= ROWS + kills * PARALLELISM, f"seed {seed}: {asked} requests after {kills} kills"
    print(f"{kills} kills, {asked - ROWS} requests repeated")
    keys = step_keys(disturbed)
    assert len(keys) == len(set(keys))
    scored, called = (
        {key.partition("/")[2] for key in keys if key.startswith(kind)} for kind in ("score/", "call/")
    )
    beside = {step[0].partition("/")[2] for step in steps_in_order(disturbed) if step[-1] is not None}
    assert len(scored) == ROWS
    assert called | beside == scored
    assert not called & beside, "a call stands in the row of its score or in one of its own"


def results_of(workspace: Path) -> str:
    return (workspace / "out" / "results.yml").read_text(encoding="utf-8")


SLOW_SHOTS = """
import os, pathlib, time
from benchwright import ScorerInput, benchmark, scorer

def shots():
    pathlib.Path(__file__).with_name("loading").touch()
    time.sleep(float(os.environ.get("SHOTS_TAKE_S", "0")))
    return [{"a": n, "b": 1, "sum": str(n + 1)} for n in range(500, 540)]

@benchmark(name="slow shots", dataset="rows.jsonl", prompt="What is {a} + {b}?", target_field="sum",
           num_fewshot=2, fewshot_dataset=shots)
@scorer
def check(sample: ScorerInput) -> dict:
    return {"correct": str(sample.target) in sample.response}
"""


def test_a_run_killed_while_its_examples_load_can_be_resumed(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write_text(SLOW_SHOTS, encoding="utf-8")
    workspace = tmp_path / "w"
    with demo_server(DemoSettings()) as server:
        monkeypatch.setenv("SHOTS_TAKE_S", "3000")
        child = start(START, bench, server.url, PARALLELISM, workspace, workspace / "out")
        until(lambda: count_runs(workspace))
        until(bench.with_name("loading").exists)
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert server.stats()["requests"] == 0
        monkeypatch.setenv("SHOTS_TAKE_S", "0")
        child = start(RESUME, workspace)
        sent, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, errors
    assert int(sent) == ROWS
    assert (workspace / "out" / "results.yml").exists()


WRITTEN = """
import os, sys, benchwright
from benchwright import reports
from benchwright.runs import _benchmark_work

def killed(*_, **__):
    os.kill(os.getpid(), 9)

_benchmark_work.write_run_files = reports.write_load_files = killed
place = {"workspace": sys.argv[3], "output_dir": sys.argv[4], "model_url": sys.argv[2], "model_id": "demo"}
if sys.argv[5] == "run":
    benchwright.run(sys.argv[1], limit=4, **place)
else:
    benchwright.perf(sys.argv[1], requests=4, server_metrics=False, **place)
"""


@pytest.mark.parametrize("command", ["run", "perf"])
def test_what_is_killed_while_its_files_are_written_is_not_complete(
    bench: Path, tmp_path: Path, command: str
) -> None:
    workspace = tmp_path / "w"
    with demo_server(DemoSettings()) as server:
        child = start(WRITTEN, bench, server.url, workspace, workspace / "out", command)
        _, errors = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == -signal.SIGKILL, errors
        assert statuses(workspace) == ["running"], "of a process that is gone"
        sent = server.stats()["requests"]
        if command == "run":
            result = benchwright.resume(1, workspace=workspace)
            assert (result.status, result.requests_sent) == ("completed", 0)
            assert (workspace / "out" / "results.yml").exists()
        assert server.stats()["requests"] == sent
