"""Records workflows in the workspace directly, without a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.core import VERSION, JsonObject, JsonValue, RunStatus, rfc3339
from benchwright.store import BeginDecision, Lease, StepRequest, Store
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._claiming import claimed_workflow, created_workflow
from benchwright.workflows._client import BenchwrightRun, RunRecord
from benchwright.workflows._recorder import StepCounts


class LocalRecorder:
    """Implements `Recorder` on the store."""

    def __init__(self, store: Store, lease: Lease) -> None:
        self._store = store
        self._lease = lease
        self._writer = store.workflow_writer()
        self._steps = StepCounts()
        self.run_id = lease.run_id

    async def begin(self, request: StepRequest) -> BeginDecision:
        decision = self._writer.begin(self._lease, request)
        self._steps.begun(decision)
        return decision

    async def complete(self, step_id: int, attempt: int, output: bytes) -> None:
        self._steps.ended()
        await self._writer.complete(self._lease, step_id, attempt, output)

    async def fail(self, step_id: int, attempt: int, error: str, *, interrupted: bool = False) -> None:
        self._steps.ended(failed=True)
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
        self._writer.add_metric(
            self._lease, name, value, unit=unit, tags=tags, step_id=step_id, attempt=attempt, slot=slot
        )
        if step_id is None:  # the end of a step is awaited anyway, and its points are committed with it
            await self._writer.settled(self._lease)

    async def event(
        self, kind: str, message: str, *, data: JsonValue = None, step_id: int | None = None
    ) -> None:
        self._writer.add_event(self._lease, kind, message, data=data, step_id=step_id)
        await self._writer.settled(self._lease)

    async def set_output(self, output: bytes) -> None:
        self._store.update_run(self.run_id, output=output)

    async def finish(
        self, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        self._writer.finish(self._lease, status, output=output, error=error)

    async def heartbeat(self) -> None:
        if not self._store.beat(self.run_id, self._steps.told()):
            self._store.update_run(self.run_id)  # raises the reason

    async def close(self) -> None:
        """Release the lease and close the writer."""
        self._store.release_run(self.run_id)
        await self._writer.close()


class LocalClient:
    """Implements `WorkflowClient`. It claims other runs than the workflow's that it creates or changes."""

    def __init__(self, store: Store, own: LocalRecorder) -> None:
        self._store = store
        self._own = own
        self._recorders = {own.run_id: own}

    async def health(self) -> JsonObject:
        """Identify this process."""
        import os

        root = str(self._store.workspace.root)
        return {"service": "benchwright", "version": VERSION, "workspace": root, "pid": os.getpid()}

    async def create_run(self, name: str, input_value: Any = None) -> BenchwrightRun:
        """Record a new run, owned by this process."""
        lease = created_workflow(self._store, name, input_json=stable_stringify(input_value).encode())
        self._recorders[lease.run_id] = LocalRecorder(self._store, lease)
        return BenchwrightRun(self, lease.run_id)

    async def get_run(self, run_id: int | None = None) -> RunRecord:
        """One run; without a number, the run of the workflow."""
        run = self._store.run(self._own.run_id if run_id is None else run_id)
        return RunRecord(
            id=run.id,
            workflow_name=run.name,
            status=run.status,
            input=run.input,
            started_at=rfc3339(run.created_at),
            finished_at=None if run.finished_at is None else rfc3339(run.finished_at),
            error=run.error,
            output=run.output,
        )

    async def complete_run(self, run_id: int) -> None:
        """End a run as completed."""
        await self._recorder(run_id).finish("completed")

    async def set_run_output(self, run_id: int, value: Any) -> None:
        """Record the output of a run."""
        await self._recorder(run_id).set_output(stable_stringify(value).encode())

    async def fail_run(self, run_id: int, error: str) -> None:
        """End a run as failed."""
        await self._recorder(run_id).finish("failed", error=error)

    async def emit_metric(self, run_id: int, name: str, value: float, unit: str | None = None) -> None:
        """Record a metric point."""
        await self._recorder(run_id).emit(name, value, unit=unit)

    async def run_step(
        self, *, run_id: int, step_key: str, input_value: Any, execute: Callable[[], Awaitable[Any] | Any]
    ) -> Any:
        """Execute a step once."""
        from benchwright.workflows._context import WorkflowContext

        ctx = WorkflowContext(self._recorder(run_id), "", self)
        return await ctx.step(step_key=step_key, execute=execute, input_value=input_value)

    async def close(self) -> None:
        """Release all runs except that of the workflow."""
        for recorder in self._recorders.values():
            if recorder is not self._own:
                await recorder.close()
        self._recorders = {self._own.run_id: self._own}

    def _recorder(self, run_id: int) -> LocalRecorder:
        if run_id not in self._recorders:
            self._recorders[run_id] = LocalRecorder(self._store, claimed_workflow(self._store, run_id))
        return self._recorders[run_id]
