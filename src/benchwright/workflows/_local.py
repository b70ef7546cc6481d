"""Records a run in the workspace's database, from this process: no server is needed."""

from __future__ import annotations

from benchwright.core import JsonObject, JsonValue, RunStatus
from benchwright.store import BeginDecision, Lease, StepRequest, Store, WorkflowWriter


class LocalRecorder:
    """Implements `Recorder` on the store."""

    def __init__(self, store: Store, lease: Lease, writer: WorkflowWriter | None = None) -> None:
        """`writer` may be shared by several runs of one event loop; without one the recorder opens its own."""
        self._store = store
        self._lease = lease
        self._shared = writer is not None
        self._writer = writer or store.workflow_writer()
        self.run_id = lease.run_id

    async def begin(self, request: StepRequest) -> BeginDecision:
        """Decide about a step."""
        return self._writer.begin(self._lease, request)

    async def complete(self, step_id: int, attempt: int, output: bytes) -> None:
        """Record a step's output."""
        await self._writer.complete(self._lease, step_id, attempt, output)

    async def fail(self, step_id: int, attempt: int, error: str, *, interrupted: bool = False) -> None:
        """Record why an attempt gave no output."""
        await self._writer.fail(self._lease, step_id, attempt, error, interrupted=interrupted)

    async def emit(
        self,
        name: str,
        value: float,
        *,
        unit: str | None = None,
        tags: JsonObject | None = None,
        step_id: int | None = None,
        attempt: int = 0,
        slot: int | None = None,
    ) -> None:
        """Record a metric point."""
        self._writer.add_metric(
            self._lease, name, value, unit=unit, tags=tags, step_id=step_id, attempt=attempt, slot=slot
        )
        if step_id is None:  # the end of a step is awaited anyhow, and its points are committed with it
            await self._writer.settled(self._lease)

    async def event(
        self, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        """Record an event."""
        self._writer.add_event(self._lease, kind, message, data=data, step_id=step_id)
        await self._writer.settled(self._lease)

    async def set_output(self, output: bytes) -> None:
        """Keep what the handler returned."""
        self._writer.set_output(self._lease, output)

    async def finish(
        self, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """End the run."""
        self._writer.finish(self._lease, status, output=output, error=error)

    async def heartbeat(self) -> None:
        """A sign of life."""
        self._writer.heartbeat(self._lease)

    async def close(self) -> None:
        """Release the lease and, if it is our own, the writer."""
        self._store.release_workflow(self._lease)
        if not self._shared:
            await self._writer.close()
