"""Who may write to a benchmark run: the last who claimed it, whoever slept, was forced out or comes back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from backends import sqlite_only

import warm
from benchwright.core import RunOwnedError, StepValues, step_key
from benchwright.store import Owner, Store, open_store
from stored_steps import stored_step


def new_run(store: Store) -> int:
    return store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={}).id


def score(index: int, word: bytes = b"scored") -> StepValues:
    return stored_step(step_key("score", index, 0), b"h", b"row", b'{"o":"%s"}' % word, False, 1.0, 2.0)


def outputs(store: Store, run_id: int) -> list[bytes]:
    return [output for *_, output in store.scored(run_id)]


SLEEPER = """
import asyncio, sys
from benchwright.core import RunOwnedError, step_key
from benchwright.store import open_store

def score(index):
    return (step_key("score", index, 0), b"h", b"row", b'{"o":"of the sleeper"}', False, 1.0, 2.0, None, None, None)

async def main():
    with open_store(sys.argv[1]) as store:
        run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
        writer = store.step_writer(run.id)
        await writer.append([score(0)])
        print(run.id, flush=True)
        sys.stdin.readline()
        for attempt in (
            lambda: store.finish_run(run.id, "failed", summary=None, error="by the sleeper"),
            lambda: store.update_run(run.id, manifest={"by": "the sleeper"}),
            lambda: store.forget_step(run.id, step_key("score", 0, 0)),
        ):
            try:
                attempt()
            except RunOwnedError as error:
                print("refused", error.exit_code, flush=True)
        try:
            await writer.append([score(1)])
        except RunOwnedError as error:
            print("refused", error.exit_code, flush=True)
        try:
            await writer.close()
        except RunOwnedError as error:
            print("refused", error.exit_code, flush=True)

asyncio.run(main())
"""


@sqlite_only
def test_a_process_that_was_forced_out_can_write_nothing(store: Store) -> None:
    child = warm.Popen(
        [sys.executable, "-c", SLEEPER, store.workspace.store_url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    run_id = int(child.stdout.readline())
    with pytest.raises(RunOwnedError, match=f"process {child.pid}"):
        store.claim_run(run_id)
    store.claim_run(run_id, force=True)

    async def write() -> None:
        writer = store.step_writer(run_id)
        await writer.append([score(1, b"of the new owner")])
        said, _ = await asyncio.to_thread(child.communicate, "\n")
        assert said.split("\n") == ["refused 5"] * 5 + [""]
        await writer.append([score(2, b"of the new owner")])
        await writer.close()

    asyncio.run(write())
    assert outputs(store, run_id) == [b'{"o":"of the sleeper"}', *[b'{"o":"of the new owner"}'] * 2]
    assert (store.run(run_id).status, store.run(run_id).manifest) == ("running", {})
    store.finish_run(run_id, "completed", summary={})
    assert store.run(run_id).status == "completed"


@sqlite_only
def test_an_owner_on_another_host_that_fell_silent_can_write_nothing_after_a_take_over(store: Store) -> None:
    """Its machine slept: to itself no time has passed."""
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        await writer.append([score(0)])
        elsewhere = Owner("other-host", 1, "then").to_text()
        store._connection.execute(  # type: ignore[attr-defined]
            "UPDATE runs SET owner = ?, heartbeat = ? WHERE id = ?", (elsewhere, time.time() - 3600, run_id)
        )
        with open_store(store.workspace) as second:
            second.claim_run(run_id)
            with pytest.raises(RunOwnedError, match="taken it over"):
                await writer.append([score(1)])
            with pytest.raises(RunOwnedError, match="taken it over"):  # at once now, without asking again
                writer.append([score(2)])
            store.beat(run_id)
            again = second.step_writer(run_id)
            await again.append([score(1), score(2)])
            await again.close()
        with pytest.raises(RunOwnedError):
            await writer.close()

    asyncio.run(main())
    assert len(outputs(store, run_id)) == 3


def test_a_group_of_which_the_lease_is_lost_is_written_not_even_in_part(store: Store) -> None:
    run_id = new_run(store)

    async def main() -> None:
        writer = store.step_writer(run_id)
        waiting = [writer.append([score(index)]) for index in range(200)]
        with open_store(store.workspace) as second:
            second.claim_run(run_id, force=True)
            for future in set(waiting):
                with pytest.raises(RunOwnedError):
                    await future
        with pytest.raises(RunOwnedError):
            await writer.close()

    asyncio.run(main())
    assert outputs(store, run_id) == []


def test_only_the_owner_may_record_or_end_a_run(store: Store) -> None:
    run_id = new_run(store)

    async def write(store: Store) -> None:
        store.step_writer(run_id)

    with open_store(store.workspace) as other:
        with pytest.raises(RunOwnedError, match="claim it"):
            asyncio.run(write(other))
        with pytest.raises(RunOwnedError, match="being executed"):
            other.finish_run(run_id, "canceled", summary=None)
        store.finish_run(run_id, "interrupted", summary=None)
        with pytest.raises(RunOwnedError, match="claim it"):
            asyncio.run(write(store))
        other.finish_run(run_id, "canceled", summary=None)
    assert store.run(run_id).status == "canceled"


def test_one_thread_does_not_take_the_run_of_another(store: Store) -> None:
    run_id = new_run(store)
    with (
        open_store(store.workspace) as other,
        pytest.raises(RunOwnedError, match="is being executed by process"),
    ):
        other.claim_run(run_id)


def test_two_runs_at_once_do_not_write_into_one_folder(store: Store, tmp_path: Path) -> None:
    def create(folder: Path) -> int:
        return store.create_run(
            name="b", target="b.py", model="m", folder=folder, settings={}, manifest={}
        ).id

    first = create(tmp_path / "out")
    with pytest.raises(RunOwnedError, match=f"run {first}.* choose another --output-dir"):
        create(tmp_path / "out")
    store.finish_run(first, "completed", summary={})
    second = create(tmp_path / "out")
    with pytest.raises(RunOwnedError, match=f"run {second}.* choose another --output-dir"):
        store.claim_run(first)
    assert [run.id for run in store.runs()] == [second, first], "one that was refused leaves no trace"


def test_a_run_whose_store_was_closed_is_free(store: Store) -> None:
    with open_store(store.workspace) as other:
        run_id = new_run(other)
        assert store.run(run_id).owner is not None
    assert store.run(run_id).owner is None
    store.finish_run(run_id, "canceled", summary=None)
