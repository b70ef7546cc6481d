"""Bodies of responses, and how records become such bodies: times in RFC 3339, JSON as text."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from benchwright.core import exact_json, rfc3339
from benchwright.sdk import view_of
from benchwright.store import BeginDecision, Event, MetricPoint, RunRecord, WorkflowStep


class Empty(BaseModel):
    """A response without content."""


class Health(BaseModel):
    """Which server answers."""

    service: str
    version: str
    workspace_id: str
    pid: int


class RunCreated(BaseModel):
    """The number of a new run."""

    run_id: int


class RunBody(BaseModel):
    """A run in the form of `list --json`, and its summary."""

    id: int
    kind: str
    name: str
    workflow_name: str
    """Same as `name`."""
    target: str
    model: str | None
    model_name: str | None
    rescored_from: int | None
    demo: bool
    status: str
    error: str | None
    folder: str
    created_at: str
    started_at: str
    """Same as `created_at`."""
    finished_at: str | None
    duration_s: float | None
    evaluated: int | None
    failed: int | None
    outcomes: dict[str, int] | None
    comparable: bool | None
    partial: bool | None
    metrics: dict[str, Any] | None
    """The value of each metric."""
    input: str | None
    """JSON text."""
    output: str | None
    """JSON text."""
    tags: dict[str, Any] | None
    starts: int
    summary: dict[str, Any] | None


class RunPage(BaseModel):
    """Runs, newest first."""

    runs: list[RunBody]
    next: int | None
    """Pass it as `after` to get the next page; null on the last page."""


class StepBody(BaseModel):
    """A step."""

    id: int
    run_id: int
    step_key: str
    generation: int
    attempt: int
    input_hash: str
    input: str | None
    status: str
    output: str | None
    error: str | None
    started_at: str
    finished_at: str | None


class StepPage(BaseModel):
    """Steps in the order in which they were begun."""

    steps: list[StepBody]
    next: int | None


class EventBody(BaseModel):
    """An event."""

    id: int
    step_id: int | None
    type: str
    message: str
    data: JsonValue
    created_at: str


class EventPage(BaseModel):
    """Events, oldest first."""

    events: list[EventBody]
    next: int | None


class MetricBody(BaseModel):
    """A metric point."""

    id: int
    metric_name: str
    metric_value: float
    unit: str | None
    step_id: int | None
    tags: dict[str, Any] | None
    created_at: str


class MetricPage(BaseModel):
    """Metric points in the order of their arrival."""

    metrics: list[MetricBody]
    next: int | None


class Decision(BaseModel):
    """Whether to execute a step."""

    decision: Literal["run", "reuse"]
    step_id: int
    attempt: int
    generation: int
    output: str | None = None
    """JSON text of the recorded output to reuse."""
    failures: int = 0
    """Failed earlier attempts, each of which used a retry."""


class DatasetBody(BaseModel):
    """A dataset, resolved."""

    source: str
    """The URI with commit, configuration and split, which always gives the same rows."""
    total_rows: int | None
    available_splits: list[str]
    selected_split: str
    config: str
    commit: str
    columns: list[str]
    notes: list[str] = []
    """Notes on the rows."""


class Rows(BaseModel):
    """Rows of a dataset."""

    rows: list[dict[str, Any]]
    notes: list[str] = []
    """Notes added since the dataset was resolved; absent if there are none."""


class ErrorDetail(BaseModel):
    """The reason for a refusal."""

    code: str
    message: str
    hint: str | None
    retryable: bool


class ErrorBody(BaseModel):
    """Every refusal has this body."""

    error: ErrorDetail


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(seconds)


def run_body(run: RunRecord) -> RunBody:
    """Describe a run in the form of `list --json`, with JSON inside JSON as text."""
    described = {**view_of(run).to_json(), "input": _text(run.input), "output": _text(run.output)}
    return RunBody.model_validate({**described, "summary": run.summary})


def step_body(step: WorkflowStep) -> StepBody:
    """Describe a step."""
    return StepBody(
        id=step.id,
        run_id=step.run_id,
        step_key=step.key,
        generation=step.generation,
        attempt=step.attempt,
        input_hash=step.input_hash,
        input=None if step.input is None else step.input.decode(),
        status=step.status,
        output=None if step.output is None else step.output.decode(),
        error=step.error,
        started_at=_time(step.started_at) or "",
        finished_at=_time(step.finished_at),
    )


def event_body(event: Event) -> EventBody:
    """Describe an event."""
    return EventBody(
        id=event.id,
        step_id=event.step_id,
        type=event.kind,
        message=event.message,
        data=event.data,
        created_at=_time(event.created_at) or "",
    )


def metric_body(point: MetricPoint) -> MetricBody:
    """Describe a metric point."""
    return MetricBody(
        id=point.id,
        metric_name=point.name,
        metric_value=point.value,
        unit=point.unit,
        step_id=point.step_id,
        tags=point.tags,
        created_at=_time(point.created_at) or "",
    )


def decision_body(decision: BeginDecision) -> Decision:
    """Describe a decision about a step."""
    return Decision(
        decision=decision.kind,
        step_id=decision.step_id,
        attempt=decision.attempt,
        generation=decision.generation,
        output=None if decision.output is None else decision.output.decode(),
        failures=decision.failures,
    )


def _text(value: JsonValue) -> str | None:
    return None if value is None else exact_json(value).decode()
