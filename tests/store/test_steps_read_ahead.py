"""A resumed workflow reads the steps that it recorded in blocks, and never an old one for a new one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchwright.store import StepRequest, Store, Workspace, open_store
from counted_statements import count_selects
from stored_workflows import claimed_workflow, created_workflow

STEPS = 1000


@pytest.fixture
def selects(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    return count_selects(monkeypatch)


@pytest.fixture
def store(tmp_path: Path, selects: Callable[[], int]) -> Iterator[Store]:
    """Opened after its statements are counted."""
    with open_store(Workspace(tmp_path)) as opened:
        yield opened


def request(number: int) -> StepRequest:
    return StepRequest(f"s{number}", f"{number:064}", b"1")


def begun_again(
    store: Store, order: list[int], *, before: Callable[[], int]
) -> tuple[int, list[bytes | None]]:
    """SELECTs of a run with all steps completed that is resumed, and the outputs in the given order."""
    lease = created_workflow(store, "w")

    async def first() -> None:
        writer = store.workflow_writer()
        for number in range(len(order)):
            step = writer.begin(lease, request(number))
            await writer.complete(lease, step.step_id, step.attempt, str(number).encode())
        await writer.close()

    async def again() -> tuple[int, list[bytes | None]]:
        lease_again = claimed_workflow(store, lease.run_id)
        writer = store.workflow_writer()
        start = before()
        decisions = [writer.begin(lease_again, request(number)) for number in order]
        selects = before() - start
        await writer.close()
        assert {decision.kind for decision in decisions} == {"reuse"}
        return selects, [decision.output for decision in decisions]

    asyncio.run(first())
    store.release_run(lease.run_id)
    return asyncio.run(again())


def test_steps_of_a_resumed_workflow_are_read_in_blocks(store: Store, selects: Callable[[], int]) -> None:
    order = list(range(STEPS))
    statements, outputs = begun_again(store, order, before=selects)
    assert outputs == [str(number).encode() for number in order]
    assert statements < STEPS / 20, statements


def test_steps_in_another_order_are_found_and_cost_little_more(
    store: Store, selects: Callable[[], int]
) -> None:
    order = list(range(STEPS))
    random.Random(5).shuffle(order)
    statements, outputs = begun_again(store, order, before=selects)
    assert outputs == [str(number).encode() for number in order]
    assert statements < STEPS * 1.1, statements


def test_a_step_that_is_begun_anew_is_not_read_from_before(store: Store) -> None:
    """The second step is done again with another input; asked once more, it gives the new output."""
    lease = created_workflow(store, "w")

    async def first() -> None:
        writer = store.workflow_writer()
        for number in range(4):
            step = writer.begin(lease, request(number))
            await writer.complete(lease, step.step_id, step.attempt, b"1")
        await writer.close()

    async def again() -> list[tuple[str, bytes | None]]:
        claimed = claimed_workflow(store, lease.run_id)
        writer = store.workflow_writer()
        found = [writer.begin(claimed, request(0))]
        changed = StepRequest("s1", "f" * 64, b"2", on_input_change="rerun")
        step = writer.begin(claimed, changed)
        await writer.complete(claimed, step.step_id, step.attempt, b"2")
        found += [writer.begin(claimed, changed), writer.begin(claimed, request(2))]
        await writer.close()
        return [(decision.kind, decision.output) for decision in found]

    asyncio.run(first())
    store.release_run(lease.run_id)
    assert asyncio.run(again()) == [("reuse", b"1"), ("reuse", b"2"), ("reuse", b"1")]
