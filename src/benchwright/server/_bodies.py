"""Bodies that clients send and get. The OpenAPI document describes them from these classes. Times are in RFC 3339, JSON inside
JSON is text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from benchwright.core import exact_json, rfc3339
from benchwright.sdk import view_of
from benchwright.store import BeginDecision, Event, MetricPoint, RunRecord, WorkflowStep

Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Number = Annotated[int, Field(ge=0, le=2**53 - 1)]
Source = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^(?i:hf|huggingface)://")]


class Body(BaseModel):
    """A request body. The server ignores unknown fields, so that newer clients can talk to older servers."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, strict=True)


class CreateRun(Body):
    """A new workflow run."""

    workflow_name: Name
    input: str | None = None
    """The input as JSON text."""
    tags: dict[str, JsonValue] | None = None


class ResumeRun(Body):
    """The process that executes a run from now on."""

    host: Name
    pid: Number
    started: Name
    """When the process started; tells it from others with the same number."""


class RunOutput(Body):
    """The output of a run."""

    output: str
    """JSON text."""


class CompleteRun(Body):
    """The end of a run that completed."""

    output: str | None = None
    """JSON text; None keeps the output that was set before."""


class FailRun(Body):
    """The end of a run that failed."""

    error: str
    interrupted: bool = False
    """Whether it was stopped and can be resumed."""


class Metric(Body):
    """One metric point."""

    metric_name: Name
    metric_value: float
    unit: str | None = None
    step_id: Number | None = None
    step_key: Name | None = None
    """Instead of `step_id`."""
    tags: dict[str, JsonValue] | None = None
    attempt: Number = 0
    slot: Number | None = None
    """A point sent twice with the same slot is one point."""


class NewEvent(Body):
    """An event to record."""

    type: Name
    message: str = ""
    data: JsonValue = None
    step_id: Number | None = None


class BeginStep(Body):
    """Request a decision: execute a step, or reuse its output."""

    run_id: Number
    step_key: Name
    input_hash: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    input: str | None = None
    """The input as JSON text, kept to show a difference later."""
    on_input_change: Literal["fail", "rerun"] = "fail"
    cache: bool = True
    holder: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Names this call, so that a request sent twice begins one attempt."""


class CompleteStep(Body):
    """A step's output."""

    step_id: Number
    output: str
    """JSON text."""
    attempt: Number | None = None


class FailStep(Body):
    """The failure of an attempt."""

    step_id: Number
    error: str
    attempt: Number | None = None
    interrupted: bool = False


class DatasetInit(Body):
    """Resolve a hub dataset."""

    source: Source
    config: Name | None = None
    split: Name | None = None
    revision: Name | None = None


class DatasetBatch(Body):
    """Request rows by number."""

    source: Source
    config: Name | None = None
    split: Name | None = None
    revision: Name | None = None
    offset: Number
    limit: Annotated[int, Field(ge=1, le=10_000)]


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
    cost: dict[str, Any] | None
    """What the replies cost; null if no price is known."""
    reused: dict[str, Any] | None
    """Replies that came from earlier runs, and when they were requested; null while there is no result."""
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
