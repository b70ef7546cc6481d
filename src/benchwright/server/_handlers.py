"""One function per route. Its docstring is the summary of the route in the OpenAPI document."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from benchwright.core import VERSION, RunKind, RunProgress, RunStatus, load_exact_json
from benchwright.server import _bodies as bodies
from benchwright.server._bodies import run_body
from benchwright.server._guard import Refusal
from benchwright.server._keys import CODE_VALID_S
from benchwright.server._people import Access, Person
from benchwright.server._state import ServerState
from benchwright.store import Event, MetricPoint, Owner, Page, StepRequest, WorkflowStep
from benchwright.workflows import created_workflow


class RestCall(Struct, frozen=True):
    """One request, parsed and checked."""

    path: Mapping[str, int]
    """Numbers in the path."""
    query: Mapping[str, Any]
    """Query parameters, with defaults filled in."""
    body: Any
    """The body as its Struct; None if the route has none."""
    who: str = ""
    """Who asks, if the route changes something."""
    person: Person | None = None
    """Whose token it has; None: the server's own."""

    @property
    def run_id(self) -> int:
        """The run in the path."""
        return self.path["run_id"]


async def health(state: ServerState, call: RestCall) -> bodies.Health:
    """Get the version of the server and the id of its workspace."""
    return bodies.Health(
        service="benchwright", version=VERSION, workspace_id=state.workspace_id, pid=os.getpid()
    )


async def create_code(state: ServerState, call: RestCall) -> bodies.NewCode:
    """Create a code that opens the pages in a browser, once."""
    body: bodies.CreateCode = call.body
    access = Access.READ if body.read_only else Access.FULL
    return bodies.NewCode(state.keys.new_code(access, call.person), CODE_VALID_S, body.read_only)


async def exchange_code(state: ServerState, call: RestCall) -> bodies.PageToken:
    """Exchange a code, or the token of a person, for a token of this start of the server."""
    body: bodies.Code = call.body
    session = state.keys.exchange(body.code)
    return bodies.PageToken(session.token, session.access < Access.FULL)


async def create_run(state: ServerState, call: RestCall) -> bodies.RunCreated:
    """Create a workflow run, which the server writes to for the client."""
    body: bodies.CreateRun = call.body
    lease = created_workflow(
        state.store,
        body.workflow_name,
        input_json=_json_text("input", body.input),
        tags=body.tags,
        settings={"started_by": "rest"},
    )
    state.hold(lease)
    return bodies.RunCreated(run_id=lease.run_id)


async def get_run(state: ServerState, call: RestCall) -> bodies.RunBody:
    """Get a run."""
    return run_body(state.store.run(call.run_id))


async def resume_run(state: ServerState, call: RestCall) -> bodies.Empty:
    """Resume a run whose process has ended, or name the process of a new one; steps left open are interrupted."""
    body: bodies.ResumeRun = call.body
    state.store.run(call.run_id)
    state.resume(call.run_id, Owner(body.host, body.pid, body.started))
    return bodies.Empty()


async def complete_run(state: ServerState, call: RestCall) -> bodies.Empty:
    """Complete a run."""
    output = None if call.body is None else _json_text("output", call.body.output)
    return _end(state, call.run_id, "completed", output=output)


async def fail_run(state: ServerState, call: RestCall) -> bodies.Empty:
    """Fail or interrupt a run; its open steps are interrupted."""
    body: bodies.FailRun = call.body
    return _end(state, call.run_id, "interrupted" if body.interrupted else "failed", error=body.error)


async def set_output(state: ServerState, call: RestCall) -> bodies.Empty:
    """Set the output of a run without ending it."""
    body: bodies.RunOutput = call.body
    output = _json_text("output", body.output) or b"null"
    state.store.run(call.run_id)
    state.lease(call.run_id)
    state.store.update_run(call.run_id, output=output)
    return bodies.Empty()


async def heartbeat(state: ServerState, call: RestCall) -> bodies.Empty:
    """Report that the workflow process is alive."""
    state.store.run(call.run_id)
    state.lease(call.run_id)
    counts = state.store.workflow_step_counts(call.run_id)
    done = sum(counts.values()) - counts.get("running", 0)
    failed = counts.get("failed", 0) + counts.get("interrupted", 0)
    progress = RunProgress.of("steps", done, None, failed, counts.get("running", 0), 0.0)
    state.store.beat(call.run_id, progress)
    return bodies.Empty()


async def add_metric(state: ServerState, call: RestCall) -> bodies.Empty:
    """Record a metric point."""
    body: bodies.Metric = call.body
    state.store.run(call.run_id)
    step_id = body.step_id
    if step_id is None and body.step_key is not None:
        step_id = state.store.workflow_step((call.run_id, body.step_key)).id
    elif step_id is not None:
        _step_of(state, call.run_id, step_id)
    lease = state.lease(call.run_id)
    state.writer.add_metric(
        lease,
        body.metric_name,
        body.metric_value,
        unit=body.unit,
        step_id=step_id,
        attempt=body.attempt,
        tags=body.tags,
        slot=body.slot,
    )
    await state.writer.settled(lease)
    return bodies.Empty()


async def list_metrics(state: ServerState, call: RestCall) -> Page[MetricPoint]:
    """List the metric points of a run."""
    state.store.run(call.run_id)
    query = call.query
    return await state.read(
        lambda store: store.page_metrics(
            call.run_id, after=query["after"] or 0, limit=query["limit"], name=query["name"]
        )
    )


async def add_event(state: ServerState, call: RestCall) -> bodies.Empty:
    """Record an event."""
    body: bodies.NewEvent = call.body
    if body.type.startswith(("run.", "step.")):
        raise Refusal(
            422, "reserved", f"event type {body.type!r} is reserved for runs and steps; choose another name"
        )
    state.store.run(call.run_id)
    if body.step_id is not None:
        _step_of(state, call.run_id, body.step_id)
    lease = state.lease(call.run_id)
    state.writer.add_event(lease, body.type, body.message, data=body.data, step_id=body.step_id)
    await state.writer.settled(lease)
    return bodies.Empty()


async def list_events(state: ServerState, call: RestCall) -> Page[Event]:
    """List the events of a run, oldest first."""
    state.store.run(call.run_id)
    limit = call.query["limit"]
    found = await state.read(
        lambda store: store.events(call.run_id, after=call.query["after"] or 0, limit=limit + 1)
    )
    return Page(found[:limit], found[limit - 1].id if len(found) > limit else None)


async def list_steps(state: ServerState, call: RestCall) -> Page[WorkflowStep]:
    """List the steps of a workflow run."""
    state.store.run(call.run_id)
    query = call.query
    return await state.read(
        lambda store: store.page_steps(
            call.run_id, after=query["after"] or 0, limit=query["limit"], status=query["status"]
        )
    )


async def begin_step(state: ServerState, call: RestCall) -> Struct:
    """Decide whether a step is executed or its recorded output reused."""
    body: bodies.BeginStep = call.body
    state.store.run(body.run_id)
    request = StepRequest(
        body.step_key,
        body.input_hash,
        _json_text("input", body.input),
        body.on_input_change,
        body.cache,
        body.holder or "",
    )
    lease = state.lease(body.run_id)
    decision = state.writer.begin(lease, request)
    await state.writer.settled(lease, events=True)
    return bodies.DECISION.of(decision)


async def complete_step(state: ServerState, call: RestCall) -> bodies.Empty:
    """Record a step's output."""
    body: bodies.CompleteStep = call.body
    output = _json_text("output", body.output) or b"null"
    await state.writer.complete(state.lease_of_step(body.step_id), body.step_id, body.attempt, output)
    return bodies.Empty()


async def fail_step(state: ServerState, call: RestCall) -> bodies.Empty:
    """Record the failure of an attempt."""
    body: bodies.FailStep = call.body
    lease = state.lease_of_step(body.step_id)
    await state.writer.fail(lease, body.step_id, body.attempt, body.error, interrupted=body.interrupted)
    return bodies.Empty()


async def init_dataset(state: ServerState, call: RestCall) -> Struct:
    """Resolve a hub dataset: configuration, split, commit."""
    body: bodies.DatasetInit = call.body
    return bodies.DATASET.of((await state.dataset(body.source, body.config, body.split, body.revision)).info)


async def read_batch(state: ServerState, call: RestCall) -> bodies.Rows:
    """Read rows of a dataset by number, exactly as they are in it; none after the end."""
    body: bodies.DatasetBatch = call.body
    dataset = await state.dataset(body.source, body.config, body.split, body.revision)
    rows = await dataset.rows(body.offset, body.limit)
    return bodies.Rows(rows, list(dataset.new_notes))


def _end(
    state: ServerState,
    run_id: int,
    status: RunStatus,
    *,
    output: bytes | None = None,
    error: str | None = None,
) -> bodies.Empty:
    run = state.store.run(run_id)
    if run.status == status and run.finished_at is not None and run.kind == RunKind.WORKFLOW:
        return bodies.Empty()  # the request was sent twice
    state.writer.finish(state.lease(run_id), status, output=output, error=error)
    state.drop(run_id)
    return bodies.Empty()


def _step_of(state: ServerState, run_id: int, step_id: int) -> None:
    if state.store.workflow_step(step_id).run_id != run_id:
        raise Refusal(404, "not_found", f"run {run_id} has no step {step_id}")


def _json_text(name: str, text: str | None) -> bytes | None:
    """The bytes of JSON that was sent as text. Raises Refusal for text that is not JSON."""
    if text is None:
        return None
    try:
        load_exact_json(text)
    except ValueError as error:
        raise Refusal(
            422,
            "not_json",
            f"{name} is not JSON text: {error}",
            f'send it as a text: {{"{name}": "{{\\"a\\": 1}}"}}',
        ) from None
    return text.encode()
