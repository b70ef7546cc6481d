"""Who may write to a workflow run: one process at a time, whatever dies, is forced, or happens to the clock."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from backends import sqlite_only

import warm
from benchwright.core import NotFoundError, RunOwnedError
from benchwright.store import Owner, RunClosedError, StepRequest, Store, Workspace, open_store
from stored_workflows import (
    add_metric,
    begin_step,
    claimed_workflow,
    complete_step,
    created_workflow,
    finish_workflow,
)

REQUEST = StepRequest("a", "0" * 64, b"1")


TESTS = str(Path(__file__).parents[1])
OWNER = f"""
import sys, time
sys.path.insert(0, {TESTS!r})
from benchwright.store import StepRequest, open_store
from stored_workflows import begin_step, complete_step, created_workflow
store = open_store(sys.argv[1])
lease = created_workflow(store, "my_eval")
begun = begin_step(store, lease, StepRequest("done", "0" * 64, b"1"))
complete_step(store, lease, begun.step_id, 1, b"2")
begin_step(store, lease, StepRequest("open", "0" * 64, b"1"))
print(lease.run_id, lease.token, flush=True)
time.sleep(600)
"""

CLAIMER = """
import sys, time
from pathlib import Path
from benchwright.core import RunOwnedError
from benchwright.store import open_store
from benchwright.workflows import claimed_workflow
store = open_store(sys.argv[1])
time.sleep(max(0, float(sys.argv[3]) - time.time()))
try:
    claimed_workflow(store, int(sys.argv[2]))
    print("mine", flush=True)
    time.sleep(600)
except RunOwnedError as error:
    print("refused", error.exit_code, flush=True)
"""


def start(code: str, *words: object) -> subprocess.Popen[str]:
    return warm.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True)


def first_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def end(*children: subprocess.Popen[str]) -> None:
    for child in children:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


@sqlite_only
def test_a_run_of_a_live_process_is_refused_and_of_a_killed_one_resumed(store: Store) -> None:
    child = start(OWNER, store.workspace.store_url)
    run_id = int(first_line(child).split()[0])
    with pytest.raises(RunOwnedError, match=f"process {child.pid}") as refused:
        claimed_workflow(store, run_id)
    assert refused.value.exit_code == 5
    os.kill(child.pid, signal.SIGKILL)
    end(child)
    assert store.run(run_id).status == "interrupted"
    lease = claimed_workflow(store, run_id)
    run = store.run(run_id)
    assert (run.status, run.starts) == ("running", 2)
    steps = {step.key: step for step in store.page_steps(run_id).items}
    assert (steps["done"].status, steps["open"].status) == ("completed", "interrupted")
    again = begin_step(store, lease, REQUEST._replace(key="open"))
    assert (again.kind, again.attempt) == ("run", 2)
    assert begin_step(store, lease, REQUEST._replace(key="done")).output == b"2"
    kinds = [event.kind for event in store.events(run_id)]
    assert kinds[-3:] == ["step.interrupted", "run.resumed", "step.started"]


@sqlite_only
def test_force_takes_a_run_from_a_live_process(store: Store) -> None:
    child = start(OWNER, store.workspace.store_url)
    run_id = int(first_line(child).split()[0])
    claimed_workflow(store, run_id, force=True)
    assert store.events(run_id)[-1].message == "taken over by force"
    end(child)


@sqlite_only
@pytest.mark.parametrize("round_", range(3))
def test_of_two_processes_that_resume_at_once_exactly_one_wins(store: Store, round_: int) -> None:
    lease = created_workflow(store, "my_eval")
    store.release_run(lease.run_id)
    at = time.time() + 1.0
    children = [start(CLAIMER, store.workspace.store_url, lease.run_id, at) for _ in range(3)]
    told = sorted(first_line(child) for child in children)
    end(*children)
    assert told == ["mine", "refused 5", "refused 5"]
    assert [event.kind for event in store.events(lease.run_id)].count("run.resumed") == 1


@sqlite_only
def test_processes_that_create_runs_at_once_get_one_each(workspace: Workspace) -> None:
    # Each also finds no database, and makes or migrates it.
    children = [start(OWNER, workspace.store_url) for _ in range(4)]
    ids = {first_line(child).split()[0] for child in children}
    end(*children)
    assert len(ids) == 4


def test_within_a_process_a_run_is_held_once_and_free_when_let_go(store: Store) -> None:
    lease = created_workflow(store, "my_eval")
    with pytest.raises(RunOwnedError, match=f"process {os.getpid()}"):
        claimed_workflow(store, lease.run_id)
    store.release_run(lease.run_id)
    assert claimed_workflow(store, lease.run_id).token != lease.token


@sqlite_only
def test_a_run_is_handed_over_by_its_token(store: Store) -> None:
    child = start(OWNER, store.workspace.store_url)
    run_id, token = first_line(child).split()
    lease = claimed_workflow(store, int(run_id), token=token)
    assert lease.token == token
    steps = {step.key: step.status for step in store.page_steps(int(run_id)).items}
    assert steps["open"] == "running", "a run that is handed over goes on"
    assert "run.resumed" not in [event.kind for event in store.events(int(run_id))]
    with pytest.raises(RunOwnedError):
        claimed_workflow(store, int(run_id), token="another")
    end(child)
    assert store.run(int(run_id)).status == "running", "the new owner lives"


def test_a_queued_run_waits_for_who_executes_it(store: Store) -> None:
    lease = created_workflow(store, "my_eval", status="queued")
    assert store.run(lease.run_id).status == "queued"
    claimed_workflow(store, lease.run_id, token=lease.token)
    assert store.run(lease.run_id).status == "running"


def test_a_complete_run_is_not_claimed_and_other_ends_are(store: Store) -> None:
    for status in ("failed", "canceled", "interrupted"):
        lease = created_workflow(store, "my_eval")
        finish_workflow(store, lease, status)  # type: ignore[arg-type]
        assert claimed_workflow(store, lease.run_id).run_id == lease.run_id
    lease = created_workflow(store, "my_eval")
    finish_workflow(store, lease, "completed", output=b"1")
    with pytest.raises(RunClosedError, match="complete"):
        claimed_workflow(store, lease.run_id)
    with pytest.raises(NotFoundError):
        claimed_workflow(store, 99)


def test_benchmark_runs_are_not_claimed_as_workflows(store: Store) -> None:
    run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
    with pytest.raises(RunClosedError, match="not a workflow"):
        claimed_workflow(store, run.id, force=True)


def test_a_run_that_has_ended_takes_no_other_end(store: Store) -> None:
    """A server answers the same request twice in the same way; the writer has ended its lease."""
    lease = created_workflow(store, "my_eval")
    finish_workflow(store, lease, "completed", output=b'{"n":1}')
    for status in ("completed", "failed"):
        with pytest.raises(RunOwnedError, match=r"ended.*completed"):
            finish_workflow(store, lease, status, error="late")  # type: ignore[arg-type]
    assert (store.run(lease.run_id).output, store.run(lease.run_id).error) == ({"n": 1}, None)
    assert [e.kind for e in store.events(lease.run_id)] == ["run.started", "run.completed"]


@sqlite_only
def test_runs_of_dead_processes_are_marked_with_their_steps(store: Store) -> None:
    child = start(OWNER, store.workspace.store_url)
    run_id = int(first_line(child).split()[0])
    mine = created_workflow(store, "alive")
    assert store.interrupt_dead("workflow") == []
    end(child)
    assert store.interrupt_dead("workflow") == [run_id]
    assert store.interrupt_dead("workflow") == []
    connection = sqlite3.connect(store.workspace.database)
    assert connection.execute("SELECT status FROM runs ORDER BY id").fetchall() == [
        ("interrupted",),
        ("running",),
    ]
    connection.close()
    assert store.workflow_step_counts(run_id) == {"completed": 1, "interrupted": 1}
    assert store.run(mine.run_id).status == "running"
    assert claimed_workflow(store, run_id).run_id == run_id


@sqlite_only
@pytest.mark.parametrize("jump_s", [-1e6, 1e6])
def test_a_clock_that_jumps_disturbs_neither_leases_nor_order(
    store: Store, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    child = start(OWNER, store.workspace.store_url)
    run_id = int(first_line(child).split()[0])
    mine = created_workflow(store, "mine")
    first = begin_step(store, mine, REQUEST)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump_s)
    assert store.run(run_id).status == "running"
    with pytest.raises(RunOwnedError):
        claimed_workflow(store, run_id)
    second = begin_step(store, mine, REQUEST._replace(key="b"))
    complete_step(store, mine, second.step_id, 1, b"2")
    complete_step(store, mine, first.step_id, 1, b"1")
    add_metric(store, mine, "m", 1.0)
    finish_workflow(store, mine, "completed")
    steps = store.page_steps(mine.run_id).items
    assert [step.key for step in steps] == ["a", "b"]
    assert all(step.finished_at is not None and step.finished_at >= step.started_at for step in steps)
    run = store.run(mine.run_id)
    assert run.finished_at is not None
    assert run.finished_at >= run.created_at
    events = [event.kind for event in store.events(mine.run_id)]
    assert events[0] == "run.started"
    assert events[-1] == "run.completed"
    end(child)
    assert store.run(run_id).status == "interrupted"


def test_a_step_takes_the_time_of_a_clock_that_does_not_jump(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = created_workflow(store, "my_eval")

    async def main() -> int:
        writer = store.workflow_writer()
        begun = writer.begin(lease, REQUEST)
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() - 1e6)
        await writer.complete(lease, begun.step_id, 1, b"2")
        await writer.close()
        return begun.step_id

    step = store.workflow_step(asyncio.run(main()))
    assert step.finished_at is not None
    assert 0 <= step.finished_at - step.started_at < 1e5, "the clock jumped back by a million seconds"


@sqlite_only
def test_an_owner_elsewhere_counts_as_alive_while_it_gives_signs_of_life(store: Store) -> None:
    lease = created_workflow(store, "my_eval")
    elsewhere = Owner("another-host", 1, "x").to_text()
    connection = sqlite3.connect(store.workspace.database)
    connection.execute("UPDATE runs SET owner = ?, heartbeat = ?", (elsewhere, time.time() - 30))
    connection.commit()
    with pytest.raises(RunOwnedError, match="another-host"):
        claimed_workflow(store, lease.run_id)
    connection.execute("UPDATE runs SET heartbeat = ?", (time.time() - 90,))
    connection.commit()
    connection.close()
    assert claimed_workflow(store, lease.run_id).run_id == lease.run_id


def test_heartbeats_are_kept_and_refused_to_who_lost_the_run(store: Store) -> None:
    lease = created_workflow(store, "my_eval")
    assert store.beat(lease.run_id)
    with open_store(store.workspace) as other:
        claimed_workflow(other, lease.run_id, force=True)
        assert not store.beat(lease.run_id)
        assert other.beat(lease.run_id)
        with pytest.raises(RunOwnedError, match=f"process {Owner.here().pid}"):
            store.update_run(lease.run_id)
        with pytest.raises(RunOwnedError, match=f"process {Owner.here().pid}"):
            begin_step(store, lease, REQUEST)
    assert store.page_steps(lease.run_id).items == []
