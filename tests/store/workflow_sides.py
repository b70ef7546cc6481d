"""The two ways to record a workflow behind one set of calls, so that a test holds for both."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from benchwright.store import BeginDecision, Lease, StepRequest, Store, WorkflowWriter
from stored_workflows import (
    add_event,
    add_metric,
    begin_step,
    complete_step,
    created_workflow,
    fail_step,
    finish_workflow,
)


class Side:
    """`direct`: one transaction a call. `writer`: groups from an event loop."""

    def __init__(self, store: Store, runner: asyncio.Runner | None) -> None:
        self.store = store
        self._runner = runner
        self._writer = runner and runner.run(self._open())
        self.lease = created_workflow(store, "my_eval")

    async def _open(self) -> WorkflowWriter:
        return self.store.workflow_writer()

    def begin(
        self, key: str, given: bytes = b"1", lease: Lease | None = None, **options: object
    ) -> BeginDecision:
        request = StepRequest(key, hashlib.sha256(given).hexdigest(), given, **options)  # type: ignore[arg-type]
        if self._writer is None:
            return begin_step(self.store, lease or self.lease, request)
        writer = self._writer
        assert self._runner is not None

        async def begin() -> BeginDecision:
            return writer.begin(lease or self.lease, request)

        return self._runner.run(begin())

    def complete(
        self, step_id: int, attempt: int | None, output: bytes = b"2", lease: Lease | None = None
    ) -> None:
        if self._writer is None:
            complete_step(self.store, lease or self.lease, step_id, attempt, output)
        else:
            assert self._runner is not None
            self._runner.run(self._writer.complete(lease or self.lease, step_id, attempt, output))

    def fail(
        self, step_id: int, attempt: int | None, error: str = "no", *, interrupted: bool = False
    ) -> None:
        if self._writer is None:
            fail_step(self.store, self.lease, step_id, attempt, error, interrupted=interrupted)
        else:
            assert self._runner is not None
            self._runner.run(self._writer.fail(self.lease, step_id, attempt, error, interrupted=interrupted))

    def emit(self, name: str, value: float, **options: object) -> None:
        if self._writer is None:
            add_metric(self.store, self.lease, name, value, **options)  # type: ignore[arg-type]
            return
        writer = self._writer
        assert self._runner is not None

        async def emit() -> None:
            writer.add_metric(self.lease, name, value, **options)  # type: ignore[arg-type]
            await writer.settled(self.lease)

        self._runner.run(emit())

    def event(self, kind: str, message: str, **options: object) -> None:
        if self._writer is None:
            add_event(self.store, self.lease, kind, message, **options)  # type: ignore[arg-type]
            return
        writer = self._writer
        assert self._runner is not None

        async def tell() -> None:
            writer.add_event(self.lease, kind, message, **options)  # type: ignore[arg-type]
            await writer.settled(self.lease)

        self._runner.run(tell())

    def finish(self, status: str, **options: object) -> None:
        if self._writer is None:
            finish_workflow(self.store, self.lease, status, **options)  # type: ignore[arg-type]
            return
        writer = self._writer
        assert self._runner is not None

        async def finish() -> None:
            writer.finish(self.lease, status, **options)  # type: ignore[arg-type]

        self._runner.run(finish())

    def settle(self) -> None:
        """Let the writer commit what it holds, events included."""
        if self._writer is not None:
            assert self._runner is not None
            self._runner.run(asyncio.sleep(0.25))

    def close(self) -> None:
        if self._writer is not None and self._runner is not None:
            self._runner.run(self._writer.close())


@contextmanager
def side_of(store: Store, kind: str) -> Iterator[Side]:
    if kind == "direct":
        yield Side(store, None)
        return
    with asyncio.Runner() as runner:
        side = Side(store, runner)
        try:
            yield side
        finally:
            side.close()
