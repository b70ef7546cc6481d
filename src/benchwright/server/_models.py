"""Bodies of the REST interface: what clients send, and what they are told. The OpenAPI document is made of these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Number = Annotated[int, Field(ge=0, le=2**53 - 1)]
Source = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^(?i:hf|huggingface)://")]


class Body(BaseModel):
    """What clients send. Unknown fields are ignored, so that newer clients can talk to older servers."""

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
    """When the process started, as no other process of that number did."""


class RunOutput(Body):
    """What a run gave."""

    output: str
    """JSON text."""


class CompleteRun(Body):
    """A run ended well."""

    output: str | None = None
    """JSON text; None: as set before."""


class FailRun(Body):
    """A run ended badly."""

    error: str
    interrupted: bool = False
    """It was stopped and can go on."""


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
    """Something that happened."""

    type: Name
    message: str = ""
    data: JsonValue = None
    step_id: Number | None = None


class BeginStep(Body):
    """Ask whether a step is to be executed."""

    run_id: Number
    step_key: Name
    input_hash: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    input: str | None = None
    """The input as JSON text, kept so that a difference can be shown."""
    on_input_change: Literal["fail", "rerun"] = "fail"
    cache: bool = True
    holder: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Names this call: sent twice, it begins one attempt."""


class CompleteStep(Body):
    """A step's output."""

    step_id: Number
    output: str
    """JSON text."""
    attempt: Number | None = None


class FailStep(Body):
    """Why an attempt gave no output."""

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
    """Ask for rows by number."""

    source: Source
    config: Name | None = None
    split: Name | None = None
    revision: Name | None = None
    offset: Number
    limit: Annotated[int, Field(ge=1, le=10_000)]


class Empty(BaseModel):
    """Nothing to tell."""


class Health(BaseModel):
    """Who answers."""

    service: str
    version: str
    workspace_id: str
    pid: int


class RunCreated(BaseModel):
    """The number of a new run."""

    run_id: int


class RunTold(BaseModel):
    """A run: the shape of `list --json`, and its summary."""

    id: int
    kind: str
    name: str
    workflow_name: str
    """As `name`."""
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
    """As `created_at`."""
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

    runs: list[RunTold]
    next: int | None
    """Give this as `after` for the next page; null: that was all."""


class StepTold(BaseModel):
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

    steps: list[StepTold]
    next: int | None


class EventTold(BaseModel):
    """An event."""

    id: int
    step_id: int | None
    type: str
    message: str
    data: JsonValue
    created_at: str


class EventPage(BaseModel):
    """Events, oldest first."""

    events: list[EventTold]
    next: int | None


class MetricTold(BaseModel):
    """A metric point."""

    id: int
    metric_name: str
    metric_value: float
    unit: str | None
    step_id: int | None
    tags: dict[str, Any] | None
    created_at: str


class MetricPage(BaseModel):
    """Metric points in the order in which they came."""

    metrics: list[MetricTold]
    next: int | None


class Decision(BaseModel):
    """What to do about a step."""

    decision: Literal["run", "reuse"]
    step_id: int
    attempt: int
    generation: int
    output: str | None = None
    """JSON text of the recorded output, to be reused."""
    failures: int = 0
    """Earlier attempts that failed: as many retries are used up."""


class DatasetTold(BaseModel):
    """A dataset, resolved."""

    source: str
    """The dataset with commit, configuration and split: gives the same rows for ever."""
    total_rows: int | None
    available_splits: list[str]
    selected_split: str
    config: str
    commit: str
    columns: list[str]
    notes: list[str] = []
    """What a reader of the rows must know."""


class Rows(BaseModel):
    """Rows of a dataset."""

    rows: list[dict[str, Any]]
    notes: list[str] = []
    """What has become known since the dataset was resolved; absent where there is nothing."""


class ErrorTold(BaseModel):
    """What went wrong."""

    code: str
    message: str
    hint: str | None
    retryable: bool


class ErrorBody(BaseModel):
    """The one shape of every refusal."""

    error: ErrorTold
