"""`WorkflowClient` on this process's own workspace, so that `ctx.client` works without a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.core import VERSION, JsonObject, rfc3339
from benchwright.store import Store
from benchwright.workflows._canonical import stable_stringify
from benchwright.workflows._client import BenchwrightRun, RunRecord
from benchwright.workflows._local import LocalRecorder


class LocalClient:
    """Implements `WorkflowClient`. Runs that it creates or touches beside the workflow's own are claimed here."""

    def __init__(self, store: Store, own: LocalRecorder) -> None:
        self._store = store
        self._own = own
        self._recorders = {own.run_id: own}

    async def health(self) -> JsonObject:
        """Who answers: this process."""
        import os

        root = str(self._store.workspace.root)
        return {"service": "benchwright", "version": VERSION, "workspace": root, "pid": os.getpid()}

    async def create_run(self, name: str, input_value: Any = None) -> BenchwrightRun:
        """Record a new run, owned by this process."""
        lease = self._store.create_workflow(name, input_json=stable_stringify(input_value).encode())
        self._recorders[lease.run_id] = LocalRecorder(self._store, lease)
        return BenchwrightRun(self, lease.run_id)

    async def get_run(self, run_id: int | None = None) -> RunRecord:
        """One run; without a number the workflow's own."""
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
        """End a run well."""
        await self._recorder(run_id).finish("completed")

    async def set_run_output(self, run_id: int, value: Any) -> None:
        """Keep what a run gave."""
        await self._recorder(run_id).set_output(stable_stringify(value).encode())

    async def fail_run(self, run_id: int, error: str) -> None:
        """End a run badly."""
        await self._recorder(run_id).finish("failed", error=error)

    async def emit_metric(self, run_id: int, name: str, value: float, unit: str | None = None) -> None:
        """Record a metric point."""
        await self._recorder(run_id).emit(name, value, unit=unit)

    async def run_step(
        self, *, run_id: int, step_key: str, input_value: Any, execute: Callable[[], Awaitable[Any] | Any]
    ) -> Any:
        """Do a step once."""
        from benchwright.workflows._context import WorkflowContext

        ctx = WorkflowContext(self._recorder(run_id), "", self)
        return await ctx.step(step_key=step_key, execute=execute, input_value=input_value)

    async def close(self) -> None:
        """Release the runs beside the workflow's own."""
        for recorder in self._recorders.values():
            if recorder is not self._own:
                await recorder.close()
        self._recorders = {self._own.run_id: self._own}

    def _recorder(self, run_id: int) -> LocalRecorder:
        if run_id not in self._recorders:
            self._recorders[run_id] = LocalRecorder(self._store, self._store.claim_workflow(run_id))
        return self._recorders[run_id]
