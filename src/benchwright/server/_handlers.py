"""What each route does: one small function per route, on the store that the server holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.core import VERSION, JsonObject, RunKind, RunStatus, load_json
from benchwright.server import _models as m
from benchwright.server._refusals import Refusal
from benchwright.server._state import ServerState
from benchwright.server._tell import decision_told, event_told, metric_told, run_told, step_told
from benchwright.store import Owner, StepRequest


@dataclass(frozen=True, slots=True)
class Call:
    """One request, parsed and checked."""

    path: Mapping[str, int]
    """Numbers in the path."""
    query: Mapping[str, Any]
    """Query parameters, with defaults filled in."""
    body: Any
    """The body as its model; None where there is none."""

    @property
    def run_id(self) -> int:
        """The run in the path."""
        return self.path["run_id"]


async def health(state: ServerState, call: Call) -> m.Health:
    """Who answers, and for which workspace."""
    return m.Health(service="benchwright", version=VERSION, workspace_id=state.workspace_id, pid=os.getpid())


async def create_run(state: ServerState, call: Call) -> m.RunCreated:
    """Record a new workflow run, held by this server for the client."""
    body: m.CreateRun = call.body
    lease = state.store.create_workflow(
        body.workflow_name,
        input_json=_json_text("input", body.input),
        tags=body.tags,
        settings={"started_by": "rest"},
    )
    state.hold(lease)
    return m.RunCreated(run_id=lease.run_id)


async def list_runs(state: ServerState, call: Call) -> m.RunPage:
    """Runs, newest first."""
    query = call.query
    page = state.store.page_runs(
        after=query["after"], limit=query["limit"], kind=query["kind"], name=query["name"]
    )
    return m.RunPage(runs=[run_told(run) for run in page.items], next=page.next)


async def get_run(state: ServerState, call: Call) -> m.RunTold:
    """One run."""
    return run_told(state.store.run(call.run_id))


async def resume_run(state: ServerState, call: Call) -> m.Empty:
    """Go on with a run whose process is gone, or tell who executes a new one; open steps of the former are interrupted."""
    body: m.ResumeRun = call.body
    state.store.run(call.run_id)
    state.resume(call.run_id, Owner(body.host, body.pid, body.started))
    return m.Empty()


async def complete_run(state: ServerState, call: Call) -> m.Empty:
    """End a run well."""
    output = None if call.body is None else _json_text("output", call.body.output)
    return _end(state, call.run_id, "completed", output=output)


async def fail_run(state: ServerState, call: Call) -> m.Empty:
    """End a run badly; open steps are interrupted with it."""
    body: m.FailRun = call.body
    return _end(state, call.run_id, "interrupted" if body.interrupted else "failed", error=body.error)


async def set_output(state: ServerState, call: Call) -> m.Empty:
    """Keep what a run gave; it goes on."""
    body: m.RunOutput = call.body
    output = _json_text("output", body.output) or b"null"
    state.store.run(call.run_id)
    state.store.set_workflow_output(state.lease(call.run_id), output)
    return m.Empty()


async def heartbeat(state: ServerState, call: Call) -> m.Empty:
    """A sign of life of the workflow process."""
    state.store.run(call.run_id)
    state.lease(call.run_id)
    state.store.heartbeat(call.run_id)
    return m.Empty()


async def add_metric(state: ServerState, call: Call) -> m.Empty:
    """Record a metric point."""
    body: m.Metric = call.body
    state.store.run(call.run_id)
    step_id = body.step_id
    if step_id is None and body.step_key is not None:
        step = state.store.workflow_step_by_key(call.run_id, body.step_key)
        if step is None:
            raise Refusal(404, "not_found", f"run {call.run_id} has no step {body.step_key!r}")
        step_id = step.id
    elif step_id is not None:
        _step_of(state, call.run_id, step_id)
    state.store.add_metric(
        state.lease(call.run_id),
        body.metric_name,
        body.metric_value,
        unit=body.unit,
        step_id=step_id,
        attempt=body.attempt,
        tags=body.tags,
        slot=body.slot,
    )
    return m.Empty()


async def list_metrics(state: ServerState, call: Call) -> m.MetricPage:
    """Metric points of a run."""
    state.store.run(call.run_id)
    query = call.query
    page = state.store.page_metrics(
        call.run_id, after=query["after"] or 0, limit=query["limit"], name=query["name"]
    )
    return m.MetricPage(metrics=[metric_told(point) for point in page.items], next=page.next)


async def add_event(state: ServerState, call: Call) -> m.Empty:
    """Record an event."""
    body: m.NewEvent = call.body
    if body.type.startswith(("run.", "step.")):
        raise Refusal(
            422, "reserved", f"event type {body.type!r} tells of runs and steps; choose another name"
        )
    state.store.run(call.run_id)
    if body.step_id is not None:
        _step_of(state, call.run_id, body.step_id)
    state.store.add_event(
        state.lease(call.run_id), body.type, body.message, data=body.data, step_id=body.step_id
    )
    return m.Empty()


async def list_events(state: ServerState, call: Call) -> m.EventPage:
    """Events of a run, oldest first."""
    state.store.run(call.run_id)
    page = state.store.page_events(call.run_id, after=call.query["after"] or 0, limit=call.query["limit"])
    return m.EventPage(events=[event_told(event) for event in page.items], next=page.next)


async def list_steps(state: ServerState, call: Call) -> m.StepPage:
    """Steps of a workflow run."""
    state.store.run(call.run_id)
    query = call.query
    page = state.store.page_steps(
        call.run_id, after=query["after"] or 0, limit=query["limit"], status=query["status"]
    )
    return m.StepPage(steps=[step_told(step) for step in page.items], next=page.next)


async def begin_step(state: ServerState, call: Call) -> m.Decision:
    """Decide whether a step is executed or its recorded output reused."""
    body: m.BeginStep = call.body
    state.store.run(body.run_id)
    request = StepRequest(
        body.step_key,
        body.input_hash,
        _json_text("input", body.input),
        body.on_input_change,
        body.cache,
        body.holder or "",
    )
    return decision_told(state.store.begin_step(state.lease(body.run_id), request))


async def complete_step(state: ServerState, call: Call) -> m.Empty:
    """Record a step's output."""
    body: m.CompleteStep = call.body
    output = _json_text("output", body.output) or b"null"
    state.store.complete_step(state.lease_of_step(body.step_id), body.step_id, body.attempt, output)
    return m.Empty()


async def fail_step(state: ServerState, call: Call) -> m.Empty:
    """Record why an attempt gave no output."""
    body: m.FailStep = call.body
    lease = state.lease_of_step(body.step_id)
    state.store.fail_step(lease, body.step_id, body.attempt, body.error, interrupted=body.interrupted)
    return m.Empty()


async def init_dataset(state: ServerState, call: Call) -> m.DatasetTold:
    """Resolve a hub dataset: configuration, split, commit."""
    body: m.DatasetInit = call.body
    info = (await state.dataset(body.source, body.config, body.split, body.revision)).info
    return m.DatasetTold(
        source=info.uri,
        total_rows=info.rows,
        available_splits=list(info.splits),
        selected_split=info.split,
        config=info.config,
        commit=info.commit,
        columns=list(info.columns),
        notes=list(info.notes),
    )


async def read_batch(state: ServerState, call: Call) -> JsonObject:
    """Rows of a dataset by number, exactly as they stand in it; none behind the end."""
    body: m.DatasetBatch = call.body
    dataset = await state.dataset(body.source, body.config, body.split, body.revision)
    # Told as they are, not through a model: rows are anything that JSON can hold.
    rows: JsonObject = {"rows": list(await dataset.rows(body.offset, body.limit))}
    return {**rows, "notes": list(notes)} if (notes := dataset.new_notes) else rows


def _end(
    state: ServerState,
    run_id: int,
    status: RunStatus,
    *,
    output: bytes | None = None,
    error: str | None = None,
) -> m.Empty:
    run = state.store.run(run_id)
    if run.status == status and run.finished_at is not None and run.kind == RunKind.WORKFLOW:
        return m.Empty()  # said twice
    state.store.finish_workflow(state.lease(run_id), status, output=output, error=error)
    state.drop(run_id)
    return m.Empty()


def _step_of(state: ServerState, run_id: int, step_id: int) -> None:
    if state.store.workflow_step(step_id).run_id != run_id:
        raise Refusal(404, "not_found", f"run {run_id} has no step {step_id}")


def _json_text(name: str, text: str | None) -> bytes | None:
    """JSON that is sent as text, checked to be JSON."""
    if text is None:
        return None
    try:
        load_json(text)
    except ValueError as error:
        raise Refusal(
            422,
            "not_json",
            f"{name} is not JSON text: {error}",
            f'send it as a text: {{"{name}": "{{\\"a\\": 1}}"}}',
        ) from None
    return text.encode()
