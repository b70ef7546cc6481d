"""The lists that a server reads do not stop its event loop: steps of workflows are recorded meanwhile."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from benchwright.core import RunKind
from benchwright.server._state import ServerState
from benchwright.store import Store, Workspace, open_store


def test_the_loop_goes_on_while_a_list_is_read(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(store: Store) -> list[int]:
        begun.set()
        go_on.wait()
        return [run.id for run in store.runs()]

    async def both(state: ServerState) -> list[int]:
        reading = asyncio.create_task(state.read(slow))
        await asyncio.to_thread(begun.wait)
        state.store.create_run(name="meanwhile", target="meanwhile", kind=RunKind.WORKFLOW)
        go_on.set()
        return await reading

    with open_store(Workspace(tmp_path)) as store:
        state = ServerState(store, cast("Any", None))
        assert asyncio.run(both(state)) == [1]
        state.close()


def test_lists_go_on_while_whole_runs_are_read(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(store: Store) -> int:
        begun.set()
        go_on.wait()
        return len(store.runs())

    async def both(state: ServerState) -> tuple[int, int]:
        whole = asyncio.create_task(state.read_whole(slow))
        await asyncio.to_thread(begun.wait)
        meanwhile = await state.read(lambda store: len(store.runs()))
        go_on.set()
        return meanwhile, await whole

    with open_store(Workspace(tmp_path)) as store:
        state = ServerState(store, cast("Any", None))
        assert asyncio.run(both(state)) == (0, 0)
        state.close()


@pytest.mark.parametrize("fails", [False, True])
def test_a_question_that_is_being_answered_is_not_read_again(tmp_path: Path, fails: bool) -> None:
    begun, go_on = threading.Event(), threading.Event()
    times: list[int] = []

    def slow(store: Store) -> int:
        times.append(1)
        begun.set()
        go_on.wait()
        if fails:
            raise LookupError("not there")
        return len(times)

    async def many(state: ServerState) -> tuple[int, list[Any], int]:
        asked = [asyncio.create_task(state.read_once(("slices", 1), slow)) for _ in range(5)]
        await asyncio.to_thread(begun.wait)
        other = await state.read_once(("slices", 2), lambda store: 7)  # a thread is left for it
        asked[0].cancel()  # whoever goes away takes the answer from nobody
        go_on.set()
        answers = await asyncio.gather(*asked[1:], return_exceptions=True)
        again = 0 if fails else await state.read_once(("slices", 1), slow)
        return other, [each if isinstance(each, int) else str(each) for each in answers], again

    with open_store(Workspace(tmp_path)) as store:
        state = ServerState(store, cast("Any", None))
        other, answers, again = asyncio.run(many(state))
        state.close()
    assert other == 7
    assert answers == (["not there"] * 4 if fails else [1] * 4)
    assert again == (0 if fails else 2)
