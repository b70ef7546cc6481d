"""kill -9 of a workflow at random moments, then resume: the results of an undisturbed run, and little done twice.

BENCHWRIGHT_KILLS sets how many runs are killed (6; 25 for a thorough look).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S, until

KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "6"))
ROWS = 40
AT_ONCE = 4

# Every execution of a step leaves a line in a file of its own, so that work done twice can be counted.
SCRIPT = f"""
import asyncio, hashlib, os
from benchwright import entrypoint, workflow

ROWS, AT_ONCE = {ROWS}, {AT_ONCE}
LOG = open("executed.log", "a", buffering=1)

def done(key):
    LOG.write(f"{{os.getpid()}} {{key}}\\n")

async def handler(given, ctx):
    async def load():
        done("load")
        await ctx.emit("rows_loaded", ROWS)
        return [{{"id": n, "text": None if n % 7 == 0 else f"row {{n}}"}} for n in range(ROWS)]

    rows = await ctx.step(step_key="load", input_value={{"rows": ROWS}}, execute=load)
    gate = asyncio.Semaphore(AT_ONCE)

    async def score(row):
        async def execute():
            done(f"row-{{row['id']}}")
            await asyncio.sleep(0.002 * (row["id"] % 4))
            value = int(hashlib.sha256(repr(row).encode()).hexdigest(), 16) % 100 / 100
            await ctx.emit("score", value, tags={{"row": row["id"]}})
            await ctx.emit("length", len(row["text"] or ""))
            return (value, row["text"])
        async with gate:
            return await ctx.step(step_key=f"row-{{row['id']}}", input_value=row, execute=execute)

    pairs = await asyncio.gather(*(score(row) for row in rows))
    mean = sum(value for value, _ in pairs) / len(pairs)
    for value, _ in pairs[:5]:
        await ctx.emit("first_five", value)
    await ctx.event("scored", "all rows")
    await ctx.emit("mean", mean)
    return {{"mean": mean, "pairs": pairs, "nothing": None}}

if __name__ == "__main__":
    entrypoint(workflow("killed", handler))
"""


def command(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BENCHWRIGHT_", "QUANTILES_"))}
    return warm.Popen(
        [sys.executable, "eval.py", *words],
        cwd=folder, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def results(folder: Path) -> dict[str, Any]:
    """All that must be equal: output, steps with inputs and outputs, metrics."""
    store = open_store(Workspace(folder))
    run = store.run(1)
    steps = {s.key: (s.status, s.input, s.output, s.generation) for s in store.page_steps(1, limit=999).items}
    points = Counter(
        (p.name, p.value, str(p.tags), p.step_id is None) for p in store.page_metrics(1, limit=9999).items
    )
    store.close()
    return {"status": run.status, "output": run.output, "steps": steps, "points": points}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], float]:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "eval.py").write_text(SCRIPT)
    began = time.monotonic()
    child = command(folder)
    _, told = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, told
    return results(folder), time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_workflow_resumes_to_the_same_results(
    tmp_path: Path, undisturbed: tuple[dict[str, Any], float], number: int
) -> None:
    expected, seconds = undisturbed
    rng = random.Random(number)
    (tmp_path / "eval.py").write_text(SCRIPT)
    database = Workspace(tmp_path).database
    log = tmp_path / "executed.log"
    kills, resumed = 0, False
    while True:
        child = command(tmp_path, *(["--resume", "1"] if resumed else []))
        # Killed from before the run is made to after it has ended, more often in between.
        executed = rng.randrange(ROWS + 5)
        lines_before = _lines(log)
        deadline = time.monotonic() + 20 * seconds
        while child.poll() is None and kills < 3:
            if _lines(log) - lines_before >= executed or time.monotonic() > deadline:
                time.sleep(rng.random() * 0.01)
                child.kill()
                kills += 1
                break
            time.sleep(0.001)
        _, told = child.communicate(timeout=PATIENCE_S)
        if child.returncode == 0:
            break
        assert child.returncode == -9, told
        resumed = database.exists() and _has_run(tmp_path)
    assert results(tmp_path) == expected
    executions = Counter(line.split()[1] for line in log.read_text().splitlines())
    repeated = sum(count - 1 for count in executions.values())
    assert repeated <= kills * AT_ONCE, "only steps that were open when it was killed are done again"


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _has_run(folder: Path) -> bool:
    store = open_store(Workspace(folder))
    try:
        return bool(store.runs())
    finally:
        store.close()


def test_of_two_resumes_at_once_one_goes_on_and_the_other_is_refused(tmp_path: Path) -> None:
    held = 'while row["id"] > 3 and not os.path.exists("go"): await asyncio.sleep(0.005)\n            await asyncio.sleep(0.002'
    (tmp_path / "eval.py").write_text(SCRIPT.replace("await asyncio.sleep(0.002", held))
    first = command(tmp_path)
    log = tmp_path / "executed.log"
    until(lambda: _lines(log) > 5 or first.poll() is not None, "its fifth row")
    assert first.poll() is None
    first.kill()
    first.communicate()
    both = [command(tmp_path, "--resume", "1") for _ in range(2)]
    until(lambda: any(child.poll() is not None for child in both), "one of them to be refused")
    (tmp_path / "go").touch()
    told = [child.communicate(timeout=PATIENCE_S)[1].decode() for child in both]
    assert sorted(child.returncode for child in both) == [0, 5], told
    assert any("is being executed by process" in text for text in told)
    found = results(tmp_path)
    assert found["status"] == "completed"
    executions = Counter(line.split()[1] for line in log.read_text().splitlines())
    assert sum(count - 1 for count in executions.values()) <= AT_ONCE


FLAKY = """
import os, signal
from benchwright import entrypoint, workflow

LOG = open("executed.log", "a", buffering=1)

async def handler(given, ctx):
    async def flaky():
        LOG.write("tried\\n")
        if open("executed.log").read().count("tried") == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        raise ConnectionError("no")

    return await ctx.step(step_key="flaky", execute=flaky, retries=3, backoff=0)

if __name__ == "__main__":
    entrypoint(workflow("flaky", handler))
"""


def ended(folder: Path, *words: str) -> int:
    child = command(folder, *words)
    child.communicate(timeout=PATIENCE_S)
    return child.returncode


def test_a_killed_run_resumes_with_the_retries_that_were_left(tmp_path: Path) -> None:
    (tmp_path / "eval.py").write_text(FLAKY)
    log = tmp_path / "executed.log"
    assert ended(tmp_path) == -9
    assert _lines(log) == 3, "two failures, and the attempt that was killed, which is none"
    assert ended(tmp_path, "--resume", "1") == 1
    assert _lines(log) == 5, "four failures in all: the first attempt and three retries"
    assert ended(tmp_path, "--resume", "1") == 1
    assert _lines(log) == 9, "whoever resumes a failed run wants it tried again, as often as ever"
