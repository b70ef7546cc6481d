"""Bodies that clients send and get. The OpenAPI document describes them from these classes. Times are in RFC 3339, JSON inside
JSON is text."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Meta, Struct, defstruct

from benchwright.core import JsonValue, exact_json, rfc3339
from benchwright.datasets import HubInfo
from benchwright.results import view_of
from benchwright.store import LABEL_KINDS, BeginDecision, Event, MetricPoint, RunRecord, WorkflowStep

LARGEST_NUMBER = 2**53 - 1
"""Largest number that every JSON reader keeps exactly."""

Name = Annotated[str, Meta(min_length=1, max_length=1_000)]
Number = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
Source = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=r"^(?i:hf|huggingface)://")]


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """A request body. An unknown field is refused: a misspelt one would be lost without a word."""


class CreateRun(Body, frozen=True):
    """A new workflow run."""

    workflow_name: Name
    input: str | None = None
    """The input as JSON text."""
    tags: dict[str, Any] | None = None


class ResumeRun(Body, frozen=True):
    """The process that executes a run from now on."""

    host: Name
    pid: Number
    started: Name
    """When the process started; tells it from others with the same number."""


class RunOutput(Body, frozen=True):
    """The output of a run."""

    output: str
    """JSON text."""


class CompleteRun(Body, frozen=True):
    """The end of a run that completed."""

    output: str | None = None
    """JSON text; None keeps the output that was set before."""


class FailRun(Body, frozen=True):
    """The end of a run that failed."""

    error: str
    interrupted: bool = False
    """Whether it was stopped and can be resumed."""


class Metric(Body, frozen=True):
    """One metric point."""

    metric_name: Name
    metric_value: float
    unit: str | None = None
    step_id: Number | None = None
    step_key: Name | None = None
    """Instead of `step_id`."""
    tags: dict[str, Any] | None = None
    attempt: Number = 0
    slot: Number | None = None
    """A point sent twice with the same slot is one point."""


class NewEvent(Body, frozen=True):
    """An event to record."""

    type: Name
    message: str = ""
    data: Any = None
    step_id: Number | None = None


class BeginStep(Body, frozen=True):
    """Request a decision: execute a step, or reuse its output."""

    run_id: Number
    step_key: Name
    input_hash: Annotated[str, Meta(min_length=1, max_length=200)]
    input: str | None = None
    """The input as JSON text, kept to show a difference later."""
    on_input_change: Literal["fail", "rerun"] = "fail"
    cache: bool = True
    holder: Annotated[str, Meta(max_length=200)] | None = None
    """Names this call, so that a request sent twice begins one attempt."""


class CompleteStep(Body, frozen=True):
    """A step's output."""

    step_id: Number
    output: str
    """JSON text."""
    attempt: Number | None = None


class FailStep(Body, frozen=True):
    """The failure of an attempt."""

    step_id: Number
    error: str
    attempt: Number | None = None
    interrupted: bool = False


class DatasetInit(Body, frozen=True):
    """Resolve a hub dataset."""

    source: Source
    config: Name | None = None
    split: Name | None = None
    revision: Name | None = None


class DatasetBatch(DatasetInit, frozen=True, kw_only=True):
    """Request rows by number."""

    offset: Number
    limit: Annotated[int, Meta(ge=1, le=10_000)]


class Empty(Body, frozen=True):
    """A body without content."""


class Code(Body, frozen=True):
    """A code to exchange for a token."""

    code: Annotated[str, Meta(max_length=200)]


class CreateCode(Body, frozen=True):
    """Which code to create."""

    read_only: bool = False
    """Whether the browser may only read."""


class Bless(Body, frozen=True):
    """The name of a baseline."""

    name: Name | None = None
    """None: the name of the benchmark."""
    force: bool = False
    """Whether to take a run that is not complete or comparable, or to replace a baseline of another kind."""
    accept_cached: bool = False
    """Whether to take a run with replies that are older than itself."""


class Tags(Body, frozen=True):
    """Labels of a run."""

    tags: dict[Name, Annotated[str, Meta(max_length=1_000)] | None]
    """By name; null takes one away."""


class Rename(Body, frozen=True):
    """Another name."""

    name: Name
    """The name."""


class Done(Struct, frozen=True):
    """What was changed."""

    message: str
    """One sentence."""


class NewLabel(Body, frozen=True):
    """What somebody says of a sample."""

    kind: Annotated[str, Meta(extra_json_schema={"enum": [*LABEL_KINDS]})]
    value: str | None = None
    """The right target, reading or grade; a tag, or a note."""


class AskAgain(Body, frozen=True):
    """A sample to send again: its request as it shall be now."""

    body: str
    """The body of the request as JSON text."""


class HandOver(Body, frozen=True):
    """A document for a page."""

    page: Annotated[str, Meta(min_length=1, max_length=2_000, pattern=r"^/(data|gates)")]
    """The address of the page, without `#`."""
    document: dict[str, Any]


class NewCode(Struct, frozen=True):
    """A code with which a browser opens the pages."""

    code: str
    """Open the pages at `/?code=…`; it works once."""
    valid_s: int
    """Seconds in which it must be used."""
    read_only: bool
    """Whether the browser may only read."""


class PageToken(Struct, frozen=True):
    """The token of a browser tab. It ends with this start of the server."""

    token: str
    read_only: bool
    """Whether it changes nothing."""


class Health(Struct, frozen=True):
    """Which server answers."""

    service: str
    version: str
    workspace_id: str
    pid: int


class RunCreated(Struct, frozen=True):
    """The number of a new run."""

    run_id: int


class RunBody(Struct, frozen=True):
    """A run in the form of `list --json`, and its summary."""

    id: int
    kind: str
    name: str
    workflow_name: str
    """Same as `name`."""
    target: str
    model: str | None
    model_name: str | None
    suite: str | None
    """The suite that the run is part of."""
    dataset_name: str | None
    """The dataset's name in the suite."""
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
    headline: dict[str, Any] | None
    """The main figure: `text`, and for benchmarks `name`, `value`, `ci_low`, `ci_high`, `n`."""
    progress: dict[str, Any] | None
    """How far a live run is; null if it has ended or does not tell."""
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
    data: dict[str, Any] | None
    """The rows that were evaluated: `name`, `hash`, `rows`; null if the record names none."""
    summary: dict[str, Any] | None


class HistoryPoint(Struct, frozen=True):
    """The headline of one run."""

    run_id: int
    value: float
    joined: bool
    """Whether the point before it is of the same model, data, prompt and scorer; no line joins others."""


class RunPage(Struct, frozen=True):
    """Runs, newest first unless `sort` says otherwise."""

    runs: list[RunBody]
    next: int | None
    """Pass it as `after` to get the next page; null on the last page."""
    total: int
    """Runs that pass the filter, on all pages."""
    histories: dict[str, list[HistoryPoint]]
    """The headlines of the last runs of each name on this page, oldest first: those with the metric of the newest one."""
    choices: dict[str, list[str]]
    """The values of all runs, by which they can be filtered: `name`, `model`, `suite`, `tag`, `data`."""


class LiveRuns(Struct, frozen=True):
    """What changed since the event before. The first event has the runs that are live."""

    runs: list[RunBody]
    """Runs that are new, or changed, oldest first; without `summary`, `input` and `output`."""
    removed: list[int]
    """Numbers of runs that were deleted."""
    last: int
    """The number of the newest run; 0 if there is none."""


class SamplePage(Struct, frozen=True):
    """Samples in the order of rows and repeats unless another is asked for, with the columns of `samples.parquet`."""

    samples: list[dict[str, Any]]
    next: int | None
    total: int | None = None
    """How many samples pass the filter; null if only looking at each would tell."""
    looked: int | None = None
    """How many samples were looked at for this page, if the filter needs that; null if an index led to them."""
    indexed: list[int] | None = None
    """The page has no samples because `patience_s` ended while their figure was indexed: how many are indexed, of how many. Ask again."""
    note: str | None = None
    """With a filter by verdict: how many samples are neither right nor wrong, and how to see them; null if there are none."""


class Rows(Struct, frozen=True, omit_defaults=True):
    """Rows of a dataset."""

    rows: list[dict[str, Any]]
    notes: list[str] = []
    """Notes added since the dataset was resolved; absent if there are none."""


class ErrorDetail(Struct, frozen=True):
    """The reason for a refusal."""

    code: str
    message: str
    hint: str | None
    retryable: bool


class ErrorBody(Struct, frozen=True):
    """Every refusal has this body."""

    error: ErrorDetail


class RecordForm:
    """A record in JSON: its fields, some under other names, with times in RFC 3339 and bytes as text. Every field is there, null or not.

    Args:
        name: Its name in the OpenAPI document.
        doc: One sentence.
        record: The class of the record.
        fields: Names of its fields in order; `field=name` has another name in JSON.
    """

    def __init__(self, name: str, doc: str, record: type, fields: str) -> None:
        hints = get_type_hints(record, localns={"JsonObject": dict[str, Any], "JsonValue": Any})
        named = [
            (field, shown or field) for field, _, shown in (each.partition("=") for each in fields.split())
        ]
        typed = [(shown, *_in_json(field, hints[field])) for field, shown in named]
        self.body = defstruct(
            name, [(shown, kind) for shown, kind, _ in typed], namespace={"__doc__": doc}, frozen=True
        )
        self._read = [(field, change) for (field, _), (*_, change) in zip(named, typed, strict=True)]

    def of(self, record: object) -> Struct:
        """The body of a record."""
        found = ((getattr(record, field), change) for field, change in self._read)
        return self.body(
            *(value if change is None or value is None else change(value) for value, change in found)
        )


def _in_json(field: str, kind: Any) -> tuple[Any, Callable[[Any], object] | None]:
    """The type of a field in JSON, and what makes its value."""
    parts = get_args(kind)
    kept = next((part for part in parts if part is not NoneType), kind) if NoneType in parts else kind
    change = bytes.decode if kept is bytes else rfc3339 if kept is float and field.endswith("_at") else None
    shown = str if change else kept
    return shown if kept is kind else shown | None, change


STEP = RecordForm(
    "StepBody",
    "A step.",
    WorkflowStep,
    "id run_id key=step_key generation attempt input_hash input status output error started_at finished_at",
)
EVENT = RecordForm("EventBody", "An event.", Event, "id step_id kind=type message data created_at")
METRIC = RecordForm(
    "MetricBody",
    "A metric point.",
    MetricPoint,
    "id name=metric_name value=metric_value unit step_id tags created_at",
)
DECISION = RecordForm(
    "Decision",
    "Whether to execute a step.",
    BeginDecision,
    "kind=decision step_id attempt generation output failures",
)
DATASET = RecordForm(
    "DatasetBody",
    "A dataset, resolved.",
    HubInfo,
    "uri=source rows=total_rows splits=available_splits split=selected_split config commit columns notes",
)


def run_body(run: RunRecord, *, brief: bool = False) -> RunBody:
    """Describe a run in the form of `list --json`, with JSON inside JSON as text; `brief`: without what may be long."""
    if brief:
        shown: dict[str, Any] = {**view_of(run).to_json(), "input": None, "output": None}
        return RunBody(**shown, summary=None)
    described: dict[str, Any] = {
        **view_of(run).to_json(),
        "input": _text(run.input),
        "output": _text(run.output),
    }
    return RunBody(**described, summary=run.summary)


def _text(value: JsonValue) -> str | None:
    return None if value is None else exact_json(value).decode()
