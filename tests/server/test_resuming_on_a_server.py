"""Workflows whose record is on a server: killed, and resumed while that server goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import warm
from benchwright.core import RunOwnedError
from benchwright.server import ServerAddress, serving
from benchwright.server._state import Clients
from benchwright.store import Owner, Workspace, open_store
from waiting import PATIENCE_S

SCRIPT = """
import asyncio, os
from benchwright import entrypoint, workflow

async def handler(given, ctx):
    out = []
    for n in range(3):
        async def work(n=n):
            print("doing", n, flush=True)
            await asyncio.sleep(60 if n == 1 and os.environ.get("HANG") else 0)
            return n
        out.append(await ctx.step(step_key=f"s{n}", input_value=n, execute=work))
        await ctx.emit("m", n)
    return {"out": out, "given": given}

entrypoint(workflow("wf", handler))
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[ServerAddress]:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "wf.py").write_text(SCRIPT)
    with serving(Workspace(tmp_path / "workspace")) as (address, _):
        yield address


@pytest.fixture
def script(address: ServerAddress, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWRIGHT_")}

    def start(*words: str, **variables: str) -> subprocess.Popen[str]:
        said = {"BENCHWRIGHT_BASE_URL": address.url, "BENCHWRIGHT_TOKEN": address.token, **variables}
        return warm.Popen(
            [sys.executable, "wf.py", *words],
            cwd=tmp_path / "elsewhere",
            env=plain | said,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


def test_a_killed_workflow_goes_on_and_a_live_one_is_left_alone(
    script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    first = script("--input", '{"k": null}', HANG="1")
    assert first.stdout is not None
    while "doing 1" not in first.stdout.readline():
        assert first.poll() is None
    second = script("--resume", "last")
    told, _ = second.communicate(timeout=PATIENCE_S)
    assert (second.returncode, f"executed by process {first.pid} " in told) == (5, True), told
    managed = script(BENCHWRIGHT_RUN_ID="1", BENCHWRIGHT_WORKFLOW_NAME="wf")
    assert managed.communicate(timeout=PATIENCE_S)[0]
    assert managed.returncode == 5
    store = open_store(Workspace(tmp_path / "workspace"))
    assert store.run(1).status == "running", "who is refused does not end the run of the other"

    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=PATIENCE_S)
    other = script("--resume", "1", "--input", "5")
    assert "started with another input" in other.communicate(timeout=PATIENCE_S)[0]
    third = script("--resume", "last")
    told, _ = third.communicate(timeout=PATIENCE_S)
    assert third.returncode == 0, told
    assert [line for line in told.splitlines() if line.startswith("doing")] == ["doing 1", "doing 2"]
    run = store.run(1)
    assert (run.status, run.output) == ("completed", {"out": [0, 1, 2], "given": {"k": None}})
    steps = store.page_steps(1).items
    assert [(step.key, step.status, step.attempt) for step in steps] == [
        ("s0", "completed", 1),
        ("s1", "completed", 2),
        ("s2", "completed", 1),
    ]
    assert [point.value for point in store.page_metrics(1).items] == [0.0, 1.0, 2.0]
    store.close()
    again = script("--resume", "wf")
    assert "complete already" in again.communicate(timeout=PATIENCE_S)[0]
    missing = script("--resume", "7")
    missing.communicate(timeout=PATIENCE_S)
    assert missing.returncode == 4


def test_a_process_that_the_kernel_does_not_know_is_dead_after_a_silence() -> None:
    now = [0.0]
    clients = Clients(now=lambda: now[0])
    elsewhere, here = Owner("a-container", 7, "boot:1"), Owner.here()
    clients.remember(1, elsewhere)
    with pytest.raises(RunOwnedError, match="process 7 on a-container"):
        clients.gone(1, here)
    now[0] = Owner.dead_after_s - 1
    clients.heard_of(1)
    now[0] += Owner.dead_after_s - 1
    with pytest.raises(RunOwnedError):
        clients.gone(1, here)
    now[0] += 2
    assert clients.gone(1, here)
    assert not clients.gone(1, elsewhere), "itself again"
    assert not clients.gone(2, here), "nobody has named himself"
    clients.remember(3, Owner(here.host, 2**22 + 5, f"{time.time()}"))
    assert clients.gone(3, here), "no such process"
