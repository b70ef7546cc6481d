"""The group-committing writer of workflows: what shares a commit, what is on disk when, and what a full disk does."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from backends import sqlite_only

import warm
from benchwright.store import Lease, StepRequest, Store, StoreError, WorkflowWriter, Workspace, open_store
from stored_workflows import claimed_workflow, created_workflow, finish_workflow
from waiting import until_in_loop


def request(key: str) -> StepRequest:
    return StepRequest(key, "0" * 64, b"1")


async def do(writer: WorkflowWriter, lease: Lease, key: str, output: bytes = b"2") -> None:
    begun = writer.begin(lease, request(key))
    await asyncio.sleep(0)
    await writer.complete(lease, begun.step_id, begun.attempt, output)


def test_a_step_that_is_over_at_once_is_one_commit(store: Store) -> None:
    lease = created_workflow(store, "w")

    async def main() -> int:
        writer = store.workflow_writer()
        for number in range(50):
            begun = writer.begin(lease, request(f"s{number}"))
            await writer.complete(lease, begun.step_id, 1, b"2")
            assert store.workflow_step(begun.step_id).status == "completed"
        commits = writer.commits
        await writer.close()
        return commits

    assert asyncio.run(main()) == 50


def test_a_step_under_way_is_on_record_before_it_ends(store: Store) -> None:
    lease = created_workflow(store, "w")

    def recorded(step_id: int) -> bool:
        return step_id in {step.id for step in store.page_steps(lease.run_id).items}

    async def main() -> None:
        writer = store.workflow_writer()
        begun = writer.begin(lease, request("slow"))
        await until_in_loop(lambda: recorded(begun.step_id))
        assert store.workflow_step(begun.step_id).status == "running"
        await writer.complete(lease, begun.step_id, 1, b"2")
        await writer.close()

    asyncio.run(main())


def test_steps_that_end_together_share_commits(store: Store) -> None:
    lease = created_workflow(store, "w")

    async def main() -> int:
        writer = store.workflow_writer()
        await asyncio.gather(*(do(writer, lease, f"s{number}") for number in range(400)))
        await writer.close()
        return writer.commits

    assert asyncio.run(main()) < 20
    assert store.workflow_step_counts(lease.run_id) == {"completed": 400}


def test_one_caller_that_is_cancelled_does_not_disturb_the_others(store: Store) -> None:
    lease = created_workflow(store, "w")

    async def main() -> None:
        writer = store.workflow_writer()
        writer.begin(lease, request("open"))
        tasks = [asyncio.create_task(do(writer, lease, f"s{number}")) for number in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[0].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert done[1:] == [None, None]
        await writer.close()

    asyncio.run(main())


def test_many_steps_in_a_row_leave_the_loop_its_turns(store: Store) -> None:
    lease = created_workflow(store, "w")

    async def main() -> int:
        writer = store.workflow_writer()
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        task = asyncio.create_task(other())
        for number in range(1000):
            begun = writer.begin(lease, request(f"s{number}"))
            await writer.complete(lease, begun.step_id, 1, b"2")
        task.cancel()
        await writer.close()
        return turns

    assert asyncio.run(main()) >= 10


def test_runs_do_not_disturb_each_other(store: Store) -> None:
    first, second = created_workflow(store, "a"), created_workflow(store, "b")

    async def main() -> None:
        writer = store.workflow_writer()
        claimed_workflow(store, first.run_id, force=True)
        done = await asyncio.gather(
            *(do(writer, lease, f"s{number}") for number in range(5) for lease in (first, second)),
            return_exceptions=True,
        )
        assert sum(one is None for one in done) == 5
        await writer.close()

    asyncio.run(main())
    assert store.workflow_step_counts(first.run_id) == {}
    assert store.workflow_step_counts(second.run_id) == {"completed": 5}


KILLED = """
import asyncio, os, signal, sys
from benchwright.store import StepRequest, open_store
from benchwright.workflows import created_workflow

async def main():
    store = open_store(sys.argv[1])
    lease = created_workflow(store, "w")
    writer = store.workflow_writer()
    for number in range(5):
        begun = writer.begin(lease, StepRequest(f"s{number}", "0" * 64, b"1"))
        await writer.complete(lease, begun.step_id, 1, b"2")
    writer.begin(lease, StepRequest("open", "0" * 64, b"1"))
    await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@sqlite_only
def test_events_that_a_killed_writer_still_held_are_written_by_who_resumes(store: Store) -> None:
    done = warm.run([sys.executable, "-c", KILLED, store.workspace.store_url], check=False)
    assert done.returncode == -signal.SIGKILL
    before = [event.kind for event in store.events(1)]
    assert "step.completed" not in before
    claimed_workflow(store, 1)
    kinds = [event.kind for event in store.events(1)]
    assert kinds.count("step.started") == 6
    assert kinds.count("step.completed") == 5
    assert kinds[-2:] == ["step.interrupted", "run.resumed"]
    assert store.workflow_step_counts(1) == {"completed": 5, "interrupted": 1}


# -- a full disk --


def check_full(error: StoreError) -> None:
    assert "the disk is full" in str(error)
    assert "Everything recorded before is safe" in str(error)
    assert "benchwright resume" in str(error)


async def fill(store: Store, lease: Lease, writer: WorkflowWriter) -> int:
    """Steps until the disk is full; how many were recorded."""
    number = 0
    while True:
        try:
            await do(writer, lease, f"s{number}", b'"' + b"x" * 4000 + b'"')
        except StoreError as error:
            check_full(error)
            return number
        number += 1
        assert number < 5000, "the disk never filled up"


def create_many(store: Store) -> None:
    for _ in range(1000):
        created_workflow(store, "x" * 2000)


@sqlite_only
def test_a_database_that_may_not_grow_says_what_is_safe(store: Store) -> None:
    lease = created_workflow(store, "w")

    async def main() -> int:
        writer = store.workflow_writer()
        pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
        writer._connection.execute(f"PRAGMA max_page_count = {pages + 60}")
        recorded = await fill(store, lease, writer)
        with pytest.raises(StoreError):
            writer.begin(lease, request("further"))
        with pytest.raises(StoreError):
            writer.finish(lease, "failed", error="full")
        await writer.close()
        return recorded

    recorded = asyncio.run(main())
    assert recorded > 5
    assert store.workflow_step_counts(lease.run_id)["completed"] == recorded
    store.release_run(lease.run_id)

    async def resume() -> None:
        again = claimed_workflow(store, lease.run_id)
        writer = store.workflow_writer()
        assert writer.begin(again, request("s0")).kind == "reuse"
        await do(writer, again, f"s{recorded}")
        writer.finish(again, "completed", output=b"1")
        await writer.close()

    asyncio.run(resume())
    assert store.run(lease.run_id).status == "completed"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB, where the machine lets us have one."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_loses_nothing_that_was_recorded(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 500_000)
    store = open_store(Workspace(small_disk))
    lease = created_workflow(store, "w")

    async def main() -> int:
        writer = store.workflow_writer()
        recorded = await fill(store, lease, writer)
        await writer.close()
        return recorded

    recorded = asyncio.run(main())
    store.release_run(lease.run_id)
    with pytest.raises(StoreError) as refused:
        create_many(store)
    check_full(refused.value)
    store.close()
    ballast.unlink()
    again = open_store(Workspace(small_disk))
    assert again.workflow_step_counts(lease.run_id)["completed"] == recorded
    resumed = claimed_workflow(again, lease.run_id, force=True)
    finish_workflow(again, resumed, "completed", output=b"1")
    assert again.run(lease.run_id).output == 1
    again.close()
    connection = sqlite3.connect(Workspace(small_disk).database)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
