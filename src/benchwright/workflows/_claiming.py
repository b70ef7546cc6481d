"""Creates and claims workflow runs: which of them may be resumed."""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonValue, RunKind, kind_title
from benchwright.store import Lease, RunClosedError, RunRecord, Store


def created_workflow(store: Store, name: str, *, target: str = "", **facts: Any) -> Lease:
    """Record a new workflow run, which this process owns. `facts` are those of `Store.create_run`."""
    run = store.create_run(name=name, target=target or name, kind=RunKind.WORKFLOW, message=name, **facts)
    return store.lease(run.id)


def claimed_workflow(
    store: Store, run_id: int, *, token: str | None = None, force: bool = False, data: JsonValue = None
) -> Lease:
    """Become the owner of a workflow run, to resume it or, with its `token`, because it was handed over.

    Raises `RunOwnedError` (exit 5) while a live process owns it, unless forced; that process can then record nothing more.
    Raises `RunClosedError` for a run that is complete, or not a workflow.
    """
    store.claim_run(run_id, check=_refuse_closed, token=token, force=force, start=True, data=data)
    return store.lease(run_id)


def _refuse_closed(run: RunRecord) -> None:
    if run.kind != RunKind.WORKFLOW:
        raise RunClosedError(
            f"run {run.id} is not a workflow but {kind_title(run.kind)}. Resume it with: benchwright resume {run.id}"
        )
    if run.status == "completed":
        raise RunClosedError(f"run {run.id} is complete. See: benchwright show {run.id}")
    if run.settings.get("adopted"):
        raise RunClosedError(
            f"run {run.id} cannot be resumed: its record was lost, and its folder contains neither input nor steps. "
            "Start it again"
        )
