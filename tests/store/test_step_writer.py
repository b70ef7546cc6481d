"""The writer: groups are committed whole, in order, and a failure reaches whoever waits."""

from __future__ import annotations

import asyncio
import time
from itertools import count

import pytest
from backends import sqlite_only

from benchwright.core import StepValues, step_key
from benchwright.store import StepWriter, Store, StoreError
from benchwright.store._statements import step_writer as sqlite_writer
from stored_steps import stored_step
from waiting import PATIENCE_S


def step(key: str, output: bytes = b"{}", reusable: bool = False) -> StepValues:
    now = time.time()
    return stored_step(key, key.encode().ljust(16)[:16], b"in", output, reusable, now, now)


def new_run(store: Store) -> int:
    return store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={}).id


def reusable(store: Store, run_id: int, digest: bytes) -> bytes | None:
    return asyncio.run(store.reusable(run_id, [digest])).get(digest)


def test_appended_steps_are_on_disk_when_the_future_is_done(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        await writer.append([step(step_key("score", 0, 0), b'{"o":"scored"}')])
        assert [(*place, output) for *place, _, output in store.scored(run_id)] == [(0, 0, b'{"o":"scored"}')]
        await writer.close()

    asyncio.run(main())


def test_appending_nothing_is_done_at_once(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        await asyncio.wait_for(writer.append([]), PATIENCE_S)
        written = writer.append([step(step_key("score", 0, 0))])
        assert writer.append([]).done()
        assert not written.done()
        await written
        await asyncio.wait_for(writer.append([]), PATIENCE_S)
        await writer.close()

    asyncio.run(main())
    assert store.count_steps(run_id, "score") == 1


def test_many_appends_of_one_turn_share_a_commit(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> int:
        writer = store.step_writer(run_id)
        await asyncio.gather(*(writer.append([step(step_key("score", n, 0))]) for n in range(500)))
        await writer.close()
        return writer.commits

    assert asyncio.run(main()) <= 500 // 48 + 1
    assert store.count_steps(run_id, "score") == 500


@sqlite_only
def test_a_loop_with_time_to_spare_commits_sooner(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = new_run(store)
    clock = count()
    numbers = count()
    monkeypatch.setattr(sqlite_writer, "monotonic", lambda: float(next(clock)))

    async def turns_of_a_commit(writer: StepWriter) -> int:
        written = writer.append([step(step_key("score", next(numbers), 0))])
        turns = 0
        while not written.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    async def turns_once_known(worked: float) -> int:
        works = count(0.0, worked)
        monkeypatch.setattr(sqlite_writer, "thread_time", lambda: next(works))
        writer = store.step_writer(run_id)
        for _ in range(sqlite_writer._LOOK_EVERY):
            await turns_of_a_commit(writer)
        turns = await turns_of_a_commit(writer)
        await writer.close()
        return turns

    idle, busy = asyncio.run(turns_once_known(0.1)), asyncio.run(turns_once_known(1.0))
    assert idle < busy


def test_close_commits_what_nobody_awaited(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        writer.append([step(step_key("call", 1, 0))])
        writer.append([step(step_key("score", 1, 0))])
        await writer.close()

    asyncio.run(main())
    assert store.count_steps(run_id, "call") == 1
    assert store.count_steps(run_id, "score") == 1


def test_a_lone_record_is_committed_without_waiting_for_others(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        await asyncio.wait_for(writer.append([step(step_key("score", 0, 0))]), PATIENCE_S)
        assert store.count_steps(run_id, "score") == 1
        await writer.close()

    asyncio.run(main())


@sqlite_only
def test_the_log_stays_bounded_while_many_records_are_written(store: Store) -> None:
    run_id = new_run(store)
    log = store.workspace.database.with_name("benchwright.db-wal")

    async def main() -> int:
        writer = store.step_writer(run_id)
        largest = 0
        for start in range(0, 30_000, 500):
            await writer.append(
                [step(step_key("score", n, 0), b"x" * 400) for n in range(start, start + 500)]
            )
            largest = max(largest, log.stat().st_size)
        await writer.close()
        return largest

    assert asyncio.run(main()) < 80_000_000
    assert store.count_steps(run_id, "score") == 30_000


def test_a_step_is_recorded_once_only(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        await writer.append([step(step_key("score", 0, 0), b"1")])
        with pytest.raises(StoreError, match="could not be written"):
            await writer.append([step(step_key("score", 0, 0), b"2")])
        with pytest.raises(StoreError):
            writer.append([step(step_key("score", 1, 0))])
        with pytest.raises(StoreError):
            await writer.close()

    asyncio.run(main())
    assert [(*place, output) for *place, _, output in store.scored(run_id)] == [(0, 0, b"1")]


def test_replies_are_reusable_by_other_runs_only(store: Store) -> None:
    first, second = new_run(store), new_run(store)

    async def main() -> None:
        writer = store.step_writer(first)
        await writer.append([step(step_key("call", 0, 0), b"reply", reusable=True), step("failed", b"x")])
        await writer.close()

    asyncio.run(main())
    assert store.index_replies()
    digest = step_key("call", 0, 0).encode().ljust(16)[:16]
    assert reusable(store, second, digest) == b"reply"
    assert reusable(store, first, digest) is None
    assert reusable(store, second, b"failed".ljust(16)[:16]) is None
