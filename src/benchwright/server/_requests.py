"""Bodies that clients of the REST interface send. The OpenAPI document describes them from these classes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

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
