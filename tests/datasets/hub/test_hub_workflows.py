"""The documented workflow over a hub dataset: by command, by plain Python, over REST only, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

import warm
from benchwright.store import Workspace, open_store
from waiting import PATIENCE_S

ROWS = 60
SCRIPT = """
from pydantic import BaseModel
from benchwright import collect_async_iter, dataset, entrypoint, map_dataset, workflow


class Row(BaseModel):
    sample_id: str
    question: str
    context: str
    gold_answer: str


async def handler(input_value, ctx):
    ds = await dataset(
        ctx,
        source="huggingface://quantiles/PubMedQA",
        row_type=Row,
        batch_size=25,
        max_rows=100,
        on_error="skip",
    )

    async def evaluate(row: Row):
        return {
            "sample_id": row.sample_id,
            "has_context": row.context != "",
        }

    results = await collect_async_iter(
        map_dataset(
            ds,
            evaluate,
            max_concurrency=8,
            yield_order="input",
        )
    )
    return {"rows_evaluated": len(results)}


pubmedqa = workflow("my_eval", handler)

if __name__ == "__main__":
    entrypoint(pubmedqa)
"""
CONFIG = """
[benchmarks.my_eval]
type = "custom_code"
command = ["python", "my_eval.py"]

[benchmarks.by_http]
type = "custom_code"
command = ["env", "-u", "BENCHWRIGHT_WORKSPACE", "BENCHWRIGHT_WORKFLOW_NAME=my_eval", "python", "my_eval.py"]
"""
KEYS = ["dataset-init", "dataset-batch-0", "dataset-batch-25", "dataset-batch-50"]


@pytest.fixture
def folder(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [
        {"sample_id": f"s{n}", "question": f"q{n}", "context": "c" * (n % 2), "gold_answer": "yes" if n % 9 else None}
        for n in range(ROWS)
    ]  # fmt: skip
    hub.repo("quantiles/PubMedQA").commit({"test.jsonl": jsonl(rows), "train.jsonl": jsonl(rows[:3])})
    place = tmp_path / "project"
    place.mkdir()
    (place / "my_eval.py").write_text(SCRIPT)
    (place / "benchwright.toml").write_text(CONFIG)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return place


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return warm.Popen(
        [sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    command = start(folder, *words)
    out, err = command.communicate(timeout=PATIENCE_S)
    return command.returncode, out, err


def steps(folder: Path, run_id: int) -> dict[str, Any]:
    store = open_store(Workspace(folder))
    found = {step.key: (step.status, step.output) for step in store.page_steps(run_id).items}
    assert all(status == "completed" for status, _ in found.values())
    return {key: json.loads(output or b"") for key, (_, output) in found.items()}


def test_the_documented_example_runs_in_all_three_ways(folder: Path, hub: LoopbackHub) -> None:
    for words in (
        ["-m", "benchwright", "run", "my_eval"],
        ["my_eval.py"],
        ["-m", "benchwright", "run", "by_http"],
    ):
        code, _, err = run(folder, *words)
        assert code == 0, err
    store = open_store(Workspace(folder))
    good = ROWS - len(range(0, ROWS, 9))
    assert [record.output for record in store.runs()] == [{"rows_evaluated": good}] * 3
    for number in (1, 2, 3):
        assert list(steps(folder, number)) == KEYS
    assert steps(folder, 1)["dataset-init"] == steps(folder, 2)["dataset-init"]


@pytest.mark.parametrize("name", ["my_eval", "by_http"])
def test_a_run_killed_between_batches_goes_on_from_the_commit_it_began_with(
    folder: Path, hub: LoopbackHub, name: str
) -> None:
    waits = SCRIPT.replace(
        "    async def evaluate(row: Row):\n",
        "    async def evaluate(row: Row):\n"
        "        import asyncio, pathlib, sys\n"
        "        if row.sample_id == 's30' and not pathlib.Path('go').exists():\n"
        "            print('waiting', flush=True)\n"
        "            await asyncio.sleep(60)\n",
    )
    (folder / "my_eval.py").write_text(waits)
    command = start(folder, "-m", "benchwright", "run", name)
    assert command.stdout is not None
    line = command.stdout.readline()
    assert line == "waiting\n", line + command.communicate()[1]
    command.send_signal(signal.SIGKILL)
    command.communicate(timeout=PATIENCE_S)
    hub.repos["quantiles/PubMedQA"].commit({"other.csv": "sample_id\n1\n"})  # the branch moves on
    (folder / "go").touch()
    deadline = time.monotonic() + PATIENCE_S
    while True:  # the program dies with its command, in a moment
        code, _, err = run(folder, "-m", "benchwright", "resume", "1")
        if code != 5 or time.monotonic() > deadline:
            break
    assert code == 0, err
    record = open_store(Workspace(folder)).run(1)
    assert record.output == {"rows_evaluated": ROWS - len(range(0, ROWS, 9))}
    assert list(steps(folder, 1)) == KEYS
    shown = json.loads(run(folder, "-m", "benchwright", "show", "1", "--json")[1])
    assert shown["run"]["status"] == "completed"
