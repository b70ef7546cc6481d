"""Workflows whose process, or whose server, ends and starts again: nothing is lost, and nobody prints a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import warm
from benchwright.store import Store, Workspace, open_store
from waiting import PATIENCE_S, kept_port, until

SCRIPT = """
import asyncio, os
from pathlib import Path
from benchwright import entrypoint, workflow
from benchwright.workflows import _client

if "TRIES" in os.environ:  # how often a server that is gone is tried, whatever the half minute of users is on this machine
    _client._PAUSES_S = (0.1,) * int(os.environ["TRIES"])

async def held(word):
    print(word, flush=True)
    while Path("hold").exists():
        await asyncio.sleep(0.005)

async def handler(given, ctx):
    given = given or {}
    await ctx.event("sampling.done", "ten rows", {"rows": [1, None], "seed": 7})
    tries = 0

    async def shaky():
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("the first try fails")
        await held("shaky")
        return tries

    async def one(number):
        await held(f"step {number}")
        await ctx.emit("number", number)
        return number

    if given.get("shaky"):
        await ctx.step(step_key="shaky", execute=shaky, retries=2, backoff=0.0)
    steps = (ctx.step(step_key=f"s{n}", execute=lambda n=n: one(n)) for n in range(given.get("steps", 0)))
    return await asyncio.gather(*steps)

if __name__ == "__main__":
    entrypoint(workflow("my_eval", handler))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".benchwright").mkdir()
    (tmp_path / "my_eval.py").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start commands in the folder; those that a failed test leaves behind are killed."""
    children: list[subprocess.Popen[str]] = []

    def begin(*words: str | Path, **variables: str) -> subprocess.Popen[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("BENCHWRIGHT_", "QUANTILES_"))}
        child = warm.Popen(
            [sys.executable, *words],
            cwd=folder, env=kept | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        children.append(child)
        return child

    yield begin
    for child in children:
        if child.poll() is None:
            child.kill()
        child.communicate()


def lines_of(child: subprocess.Popen[str], count: int) -> set[str]:
    assert child.stdout is not None
    return {child.stdout.readline().strip() for _ in range(count)}


def ended(child: subprocess.Popen[str]) -> str:
    """Its standard error, once it has ended."""
    return child.communicate(timeout=PATIENCE_S)[1]


def benchwright(start: Start, *words: str) -> Any:
    child = start("-m", "benchwright", *words, "--json")
    out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, out + err
    return json.loads(out)


def store_of(folder: Path) -> Store:
    return open_store(Workspace(folder))


def test_attempts_and_their_events_survive_a_kill(folder: Path, start: Start) -> None:
    hold = folder / "hold"
    hold.touch()
    first = start("my_eval.py", "--input", '{"shaky": true}')
    assert lines_of(first, 1) == {"shaky"}  # the second attempt is under way
    store = store_of(folder)
    until(lambda: [step.attempt for step in store.page_steps(1).items] == [2], "its record")
    store.close()
    first.kill()
    first.communicate()
    hold.unlink()
    resumed = start("my_eval.py", "--resume", "1")
    told = ended(resumed)
    assert resumed.returncode == 0, told
    (step,) = benchwright(start, "show", "1", "shaky")["samples"]
    assert step["attempts"] == 4
    assert [(event["kind"], event["message"]) for event in step["events"]] == [
        ("step.started", "shaky"),
        ("step.failed", "shaky: ValueError: the first try fails"),
        ("step.started", "shaky, attempt 2: a retry"),
        ("step.interrupted", "attempt 2: its process died"),
        ("step.started", "shaky, attempt 3: a retry"),
        ("step.failed", "shaky, attempt 3: ValueError: the first try fails"),
        ("step.started", "shaky, attempt 4: a retry"),
        ("step.completed", "shaky, attempt 4"),
    ]


def test_json_of_a_run_has_the_data_of_its_events(start: Start) -> None:
    child = start("my_eval.py")
    told = ended(child)
    assert child.returncode == 0, told
    events = benchwright(start, "show", "1")["events"]
    assert [event["data"] for event in events if event["kind"] == "sampling.done"] == [
        {"rows": [1, None], "seed": 7}
    ]


def test_a_configuration_that_was_edited_since_the_start_is_noted_by_the_resume(
    folder: Path, start: Start
) -> None:
    config = folder / "benchwright.toml"
    table = '[benchmarks.my_eval]\ntype = "custom_code"\ncommand = ["python", "my_eval.py"]\n'
    config.write_text(table + "input = { steps = 1 }\n")
    hold = folder / "hold"
    hold.touch()
    child = start("-m", "benchwright", "run", "my_eval", "--no-server")
    assert lines_of(child, 1) == {"step 0"}
    child.send_signal(signal.SIGINT)
    told = ended(child)
    assert child.returncode == 130, told
    hold.unlink()
    config.write_text(table + "input = { steps = 2 }\n")
    resumed = start("-m", "benchwright", "resume", "1", "--no-server")
    told = ended(resumed)
    assert resumed.returncode == 0, told
    assert "note: benchwright.toml has another input now than when run 1 was started" in told
    assert "--use-current-config" in told
    assert store_of(folder).run(1).input == {"steps": 1}


FIFTY = ("--input", '{"steps": 50}')


@pytest.mark.parametrize(
    ("words", "code"),
    [(("my_eval.py",), 143), (("-m", "benchwright", "run", "my_eval.py", "--no-server"), 130)],
    ids=["script", "command"],
)
def test_a_signal_to_fifty_open_steps_prints_no_traceback(
    folder: Path, start: Start, words: tuple[str, ...], code: int
) -> None:
    (folder / "hold").touch()
    child = start(*words, *FIFTY)
    assert len(lines_of(child, 50)) == 50
    child.send_signal(signal.SIGTERM)
    told = ended(child)
    assert child.returncode == code, told
    assert "Traceback" not in told
    assert store_of(folder).workflow_step_counts(1) == {"interrupted": 50}


class Server:
    """`benchwright serve` as a process, at the same address whenever it starts."""

    def __init__(self, start: Start, port: int) -> None:
        self._start, self._port = start, port
        self.variables = {
            "BENCHWRIGHT_BASE_URL": f"http://127.0.0.1:{self._port}",
            "BENCHWRIGHT_TOKEN": "a-token-of-this-test",
        }
        self.process = self.begin()

    def begin(self) -> subprocess.Popen[str]:
        token = {"BENCHWRIGHT_TOKEN": self.variables["BENCHWRIGHT_TOKEN"]}
        self.process = self._start("-m", "benchwright", "serve", "--port", str(self._port), **token)
        assert lines_of(self.process, 3) - {""}, "the server ended while starting"
        return self.process

    def end(self, number: signal.Signals) -> str:
        self.process.send_signal(number)
        return ended(self.process)


@pytest.fixture
def server(folder: Path, start: Start) -> Iterator[Server]:
    with kept_port() as port:
        yield Server(start, port)


def test_a_workflow_outlives_the_servers_that_record_it(folder: Path, start: Start, server: Server) -> None:
    hold = folder / "hold"
    hold.touch()
    child = start("my_eval.py", *FIFTY, **server.variables, TRIES="3000")
    assert len(lines_of(child, 50)) == 50
    server.end(signal.SIGKILL)
    server.begin()  # a second one, which is stopped in the usual way
    assert "Traceback" not in server.end(signal.SIGTERM)
    assert server.process.returncode == 0
    hold.unlink()  # all fifty want to record their ends, and nobody listens
    server.begin()
    told = ended(child)
    assert child.returncode == 0, told
    assert "Traceback" not in told
    assert server.end(signal.SIGTERM) == ""
    store = store_of(folder)
    assert (store.run(1).status, store.run(1).output) == ("completed", list(range(50)))
    steps = store.page_steps(1, limit=99).items
    assert Counter(step.status for step in steps) == {"completed": 50}
    assert {step.attempt for step in steps} == {1}, "no step was executed twice"
    assert sorted(point.value for point in store.page_metrics(1, limit=99).items) == list(range(50))


def test_a_signal_while_the_server_is_gone_prints_no_traceback(
    folder: Path, start: Start, server: Server
) -> None:
    hold = folder / "hold"
    hold.touch()
    child = start("my_eval.py", *FIFTY, **server.variables, TRIES="5")
    assert len(lines_of(child, 50)) == 50
    server.end(signal.SIGKILL)
    hold.unlink()
    child.send_signal(signal.SIGTERM)
    told = ended(child)
    assert child.returncode == 143, told
    assert "Traceback" not in told
    server.begin()
    assert store_of(folder).run(1).status == "interrupted"
    resumed = start("my_eval.py", "--resume", "1", **server.variables)
    told = ended(resumed)
    assert resumed.returncode == 0, told
