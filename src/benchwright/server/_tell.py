"""Records of the store as the REST interface tells them: times in RFC 3339, JSON as text."""

from __future__ import annotations

from benchwright.core import JsonValue, exact_json, rfc3339
from benchwright.sdk import view_of
from benchwright.server._models import Decision, EventTold, MetricTold, RunTold, StepTold
from benchwright.store import BeginDecision, Event, MetricPoint, RunRecord, WorkflowStep


def time_told(seconds: float | None) -> str | None:
    """A wall-clock time, where there is one."""
    return None if seconds is None else rfc3339(seconds)


def run_told(run: RunRecord) -> RunTold:
    """A run in the shape of `list --json`, with JSON inside JSON as text."""
    shape = {**view_of(run).to_json(), "input": _text(run.input), "output": _text(run.output)}
    return RunTold.model_validate({**shape, "summary": run.summary})


def step_told(step: WorkflowStep) -> StepTold:
    """A step."""
    return StepTold(
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
        started_at=time_told(step.started_at) or "",
        finished_at=time_told(step.finished_at),
    )


def event_told(event: Event) -> EventTold:
    """An event."""
    return EventTold(
        id=event.id,
        step_id=event.step_id,
        type=event.kind,
        message=event.message,
        data=event.data,
        created_at=time_told(event.created_at) or "",
    )


def metric_told(point: MetricPoint) -> MetricTold:
    """A metric point."""
    return MetricTold(
        id=point.id,
        metric_name=point.name,
        metric_value=point.value,
        unit=point.unit,
        step_id=point.step_id,
        tags=point.tags,
        created_at=time_told(point.created_at) or "",
    )


def decision_told(decision: BeginDecision) -> Decision:
    """What to do about a step."""
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
