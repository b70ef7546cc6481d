"""Workflow records for tests that have no event loop: each call opens the writer of the store, writes, and closes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from benchwright.core import RunStatus
from benchwright.store import BeginDecision, Lease, StepRequest, Store, WorkflowWriter
from benchwright.workflows import claimed_workflow, created_workflow

__all__ = [
    "add_event", "add_metric", "begin_step", "claimed_workflow", "complete_step", "created_workflow", "fail_step",
    "finish_workflow",
]  # fmt: skip

T = TypeVar("T")


def written(store: Store, act: Callable[[WorkflowWriter], Awaitable[T]]) -> T:
    """What `act` returns, when all that it has written is committed."""

    async def main() -> T:
        writer = store.workflow_writer(alone=False)
        try:
            return await act(writer)
        finally:
            await writer.close()

    return asyncio.run(main())


def begin_step(store: Store, lease: Lease, request: StepRequest) -> BeginDecision:
    async def act(writer: WorkflowWriter) -> BeginDecision:
        decision = writer.begin(lease, request)
        await writer.settled(lease, events=True)
        return decision

    return written(store, act)


def complete_step(store: Store, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
    written(store, lambda writer: writer.complete(lease, step_id, attempt, output))


def fail_step(
    store: Store, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
) -> None:
    written(store, lambda writer: writer.fail(lease, step_id, attempt, error, interrupted=interrupted))


def add_metric(store: Store, lease: Lease, name: str, value: float, **options: Any) -> None:
    async def act(writer: WorkflowWriter) -> None:
        writer.add_metric(lease, name, value, **options)
        await writer.settled(lease)

    written(store, act)


def add_event(store: Store, lease: Lease, kind: str, message: str, **options: Any) -> None:
    async def act(writer: WorkflowWriter) -> None:
        writer.add_event(lease, kind, message, **options)
        await writer.settled(lease)

    written(store, act)


def finish_workflow(
    store: Store, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
) -> None:
    async def act(writer: WorkflowWriter) -> None:
        writer.finish(lease, status, output=output, error=error)

    written(store, act)
