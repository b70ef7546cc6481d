"""Views of workflows and programs: the run, its steps, its metric points, and what it printed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from benchwright.core import (
    RUN_STATUSES,
    SAMPLE_STEP,
    STREAM_FILES,
    DamagedRecordError,
    JsonObject,
    JsonValue,
    Note,
    NotFoundError,
    RunSummary,
    UsageError,
    load_exact_json,
    open_artifacts,
    ready,
    rfc3339,
    suggest,
)
from benchwright.results._figures import (
    first_two,
    graded_notes,
    gravest_first,
    notes_json,
    plural,
)
from benchwright.results._labels import label_effect
from benchwright.results._runs import (
    EventView,
    RunDetails,
    RunView,
    plain_view,
    run_details,
    times_json,
)
from benchwright.results._samples import SampleList, find_samples
from benchwright.results._workflow_rows import row_scores, rows_summary, workflow_rows
from benchwright.store import (
    MetricPoint,
    MetricTotals,
    RunRecord,
    SampleFilter,
    SampleOrder,
    Store,
    WorkflowStep,
)


class StepView(Struct, frozen=True):
    """The newest generation of a step, with its metrics."""

    step: WorkflowStep
    """The recorded step."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Mean of the points it emitted, by name."""
    superseded: tuple[WorkflowStep, ...] = ()
    """Earlier generations, oldest first: executed with another input, or without the cache."""
    events: tuple[EventView, ...] | None = None
    """Its events, oldest first; None in lists."""

    @property
    def seconds(self) -> float | None:
        """How long its last attempt took."""
        return None if self.step.finished_at is None else self.step.finished_at - self.step.started_at

    @property
    def output(self) -> JsonValue:
        return value_of(self.step.output)

    @property
    def not_well(self) -> bool:
        """Whether its last attempt failed or was interrupted."""
        return RUN_STATUSES[self.step.status].troubled

    def to_json(self) -> JsonObject:
        """A step as a sample: the fields of its output, and over them `output` (all of it), `input`, `step_key`, `status`,
        `input_hash`, `error`, `started_at`, `finished_at`, `attempts`, `seconds`, `metrics`, `superseded` (earlier
        generations); in full, its `events`. A field of the output never takes the place of one of these."""
        output = self.output
        return {
            **(dict(output) if isinstance(output, dict) else {}),
            "output": output,
            "input": value_of(self.step.input),
            "step_key": self.step.key,
            **_step_json(self.step),
            "seconds": None if self.seconds is None else round(self.seconds, 6),
            "metrics": dict(self.metrics),
            "superseded": [
                {
                    "generation": earlier.generation,
                    **_step_json(earlier),
                    "input": value_of(earlier.input),
                    "output": value_of(earlier.output),
                }
                for earlier in self.superseded
            ],
            **({} if self.events is None else {"events": [event.to_json() for event in self.events]}),
        }


class StepList(Struct, frozen=True):
    """Steps of a run: the first ones, or one in full."""

    run_id: int
    steps: tuple[StepView, ...]
    """In the order in which they were first begun."""
    left_out: int = 0
    """Further steps that the limit leaves out."""
    next: int | None = None
    """Where the list continues: the `after` of the next page; None if these are all."""

    def to_json(self) -> JsonObject:
        """`{run_id, samples, next}`, as for benchmarks."""
        return {
            "run_id": self.run_id,
            "samples": [step.to_json() for step in self.steps],
            "next": self.next,
        }


class EventList(Struct, frozen=True):
    """All events of a run, oldest first."""

    run_id: int
    events: tuple[EventView, ...]

    @classmethod
    def recorded(cls, store: Store, run: RunRecord) -> EventList:
        """All events of a run of any kind, with the keys of its steps."""
        keys = {step.id: step.key for step in _all_steps(store, run.id)}
        events = (
            EventView.of(event, None if event.step_id is None else keys.get(event.step_id))
            for event in store.events(run.id)
        )
        return cls(run.id, tuple(events))

    def to_json(self) -> JsonObject:
        """`{run_id, events}`."""
        return {"run_id": self.run_id, "events": [event.to_json() for event in self.events]}


_NOTED = ("warning", "dataset.note", "dataset.rows_skipped")
"""Kinds of events that are notes."""


class WorkflowDetails(Struct, frozen=True, kw_only=True):
    """One workflow run in full."""

    details: RunDetails
    """What every run has."""
    steps: tuple[StepView, ...]
    points: tuple[MetricPoint, ...]
    """Its metric points, in the order in which they came."""
    totals: dict[str, MetricTotals]
    """All points of each metric, even of a run that has not ended."""
    numbers: dict[str, int]
    """The numbers of the samples that its rows are, by the names of the rows."""
    printed: dict[str, tuple[str, str]]
    """The file of each stream that its program printed to, and its text."""

    @property
    def run(self) -> RunView:
        """As in a list."""
        return self.details.run

    @property
    def notes(self) -> list[Note]:
        """Notes on the scores of its rows, what it was warned of, and what readers of its datasets must know."""
        scores = [] if self.details.result is None else graded_notes(self.details.result)
        told = (Note.of(event.message) for event in self.details.events if event.kind in _NOTED)
        return gravest_first((*scores, *told))

    @property
    def step_counts(self) -> dict[str, int]:
        """Steps per status, without the records of rows: the current ones, else the recorded ones."""
        if self.steps:
            return dict(Counter(view.step.status for view in self.steps if not self.is_row(view)))
        return _steps(self.run.summary)

    @property
    def resume(self) -> str | None:
        """The command that resumes it; None if there is nothing to resume."""
        if self.run.status not in ("failed", "interrupted"):
            return None
        started: Any = self.details.settings
        if started.get("command"):
            return f"benchwright resume {self.run.id}"
        return f"python {self.run.target or 'my_eval.py'} --resume {self.run.id}"

    @property
    def rows(self) -> list[JsonValue]:
        """Its rows as JSON: those that failed first, then the wrong ones."""
        return workflow_rows(self.steps, self.numbers)

    def is_row(self, view: StepView) -> bool:
        """Whether a step records a row."""
        return (
            view.step.key.startswith(SAMPLE_STEP) and view.step.key.removeprefix(SAMPLE_STEP) in self.numbers
        )

    def page(self) -> JsonObject:
        """The document of its page."""
        from benchwright.results._workflow_page import workflow_page  # which draws details

        return workflow_page(self)

    def to_json(self) -> JsonObject:
        """The common JSON of runs, and `{notes, input, output, resume, rows: [those of `ctx.sample`], scores: {name: mean over the rows},
        metrics: [{metric_name, metric_value, unit, step_id, tags, created_at}], samples: [the steps], stdout, stderr}`. Events of steps
        are left out."""
        return {
            **self.details.to_json(),
            "notes": notes_json(self.notes),
            "resume": self.resume,
            "rows": self.rows,
            "scores": row_scores(self.details.result),
            "input": self.run.input,
            "output": self.run.output,
            "metrics": [_point_json(point) for point in self.points],
            "samples": [view.to_json() for view in self.steps],
            **{stream: self.printed[stream][1] if stream in self.printed else "" for stream in STREAM_FILES},
        }


def workflow_view(run: RunRecord) -> RunView:
    """A workflow run in a list."""
    model = run.input.get("model") if isinstance(run.input, dict) else None
    view = plain_view(run)
    if isinstance(model, str):
        view = replace(view, model_name=model)
    if run.summary is None:
        return view
    metrics: Any = run.summary.get("metrics") or {}
    if not isinstance(metrics, dict):
        raise DamagedRecordError("the metrics of the run cannot be read: they are no table")
    means = {name: MetricTotals.from_json(totals).mean for name, totals in metrics.items()}
    judged = {name: mean for name, mean in means.items() if not RunSummary.is_effort(name)}
    rows: Any = run.summary.get("rows") or 0
    counted = f"{rows:,}" if rows else plural(_steps(run.summary).get("completed", 0), "step")
    return replace(view, counted=counted, headline=first_two(judged or means))


def _steps(summary: JsonObject | None) -> dict[str, int]:
    """Steps per status, as the run's record has them."""
    try:
        return convert((summary or {}).get("steps") or {}, ready(dict[str, int]))
    except ValidationError as error:
        raise DamagedRecordError(f"the steps of the run cannot be counted: {error}") from None


def recorded_workflow(store: Store, run: RunRecord) -> WorkflowDetails:
    """A workflow run in full."""
    events = [event for event in store.events(run.id) if not event.kind.startswith("step.")]
    summary, numbers = rows_summary(store, run)
    details = run_details(run, workflow_view(run), summary, events)
    if (effect := label_effect(store, run, summary)) is not None:
        details = replace(details, labels=effect.to_json(run.id))
    command = run.settings.get("command")
    if isinstance(command, list):
        details = replace(details, command=shlex.join(str(word) for word in command))
    printed, files = {}, open_artifacts(run.folder)
    for stream, name in STREAM_FILES.items():
        if files.exists(name):
            printed[stream] = files.location(name), files.read(name).decode("utf-8", "replace")
    return WorkflowDetails(
        details=details,
        steps=tuple(_as_left(view, run) for view in step_views(store, run.id)),
        points=tuple(all_points(store, run.id)),
        totals=store.metric_totals(run.id),
        numbers=numbers,
        printed=printed,
    )


def _as_left(view: StepView, run: RunRecord) -> StepView:
    """A step of a run whose process ended without recording it: no longer running."""
    if view.step.status != "running" or run.status == "running":
        return view
    return replace(view, step=replace(view.step, status="interrupted"))


def workflow_steps(
    store: Store, run: RunRecord, where: SampleFilter, after: int | None, limit: int, order: SampleOrder
) -> StepList | SampleList:
    """A page of the steps; or, for a filter that only samples have, of the rows. Of filters, only that for what failed has a meaning for
    steps."""
    given = {
        "wrong": where.verdict,
        "outcome": where.outcome,
        "where": where.metric or where.column,
        "text": where.text,
        "changed-from": where.places,
        "sort": order.by,
    }
    if any(value is not None for value in given.values()):
        from benchwright.results._benchmarks import filtered_samples  # lists of steps do without

        summary, numbers = rows_summary(store, run)
        if summary is not None:
            return filtered_samples(store, run, summary, where, after, limit, order).named(numbers)
    for flag, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{flag}: run {run.id} is a workflow without rows, and steps are not judged; see --steps or --failed-only, and "
                "ctx.sample in docs/workflows.md for rows"
            )
    views = list(enumerate(_as_left(view, run) for view in step_views(store, run.id)))[
        0 if after is None else after + 1 :
    ]
    if where.scored is False:
        views = [(place, view) for place, view in views if view.not_well]
    shown = views[:limit]
    left = len(views) - len(shown)
    return StepList(run.id, tuple(view for _, view in shown), left, shown[-1][0] if left else None)


def workflow_step(store: Store, run: RunRecord, key: str) -> StepList | SampleList:
    """One step in full, by its key; or a row, by its name or its number. Raises `NotFoundError` with similar keys."""
    views = {view.step.key: _as_left(view, run) for view in step_views(store, run.id)}
    if key not in views:
        _, numbers = rows_summary(store, run)
        row = str(numbers[key]) if key in numbers else key
        if numbers and row.partition("/")[0].isdigit():
            return find_samples(store, run.id, row).named(numbers)
        raise NotFoundError(
            f"there is no step {key!r}.{suggest(key, views)} See: benchwright show RUN --steps"
        )
    step = views[key].step
    events = [EventView.of(event, key) for event in store.events(run.id) if event.step_id == step.id]
    return StepList(run.id, (replace(views[key], events=tuple(events)),))


def step_views(store: Store, run_id: int) -> list[StepView]:
    """The steps of a run, in the order in which they were first begun."""
    metrics: dict[int, dict[str, list[float]]] = {}
    for point in all_points(store, run_id):
        if point.step_id is not None:
            metrics.setdefault(point.step_id, {}).setdefault(point.name, []).append(point.value)
    generations: dict[str, list[WorkflowStep]] = {}
    for step in _all_steps(store, run_id):
        generations.setdefault(step.key, []).append(step)
    return [
        StepView(
            newest,
            {name: sum(values) / len(values) for name, values in metrics.get(newest.id, {}).items()},
            tuple(earlier),
        )
        for *earlier, newest in generations.values()
    ]


def all_points(store: Store, run_id: int) -> Iterator[MetricPoint]:
    """Every metric point of a run, in the order in which they came."""
    after: int | None = 0
    while after is not None:
        page = store.page_metrics(run_id, after=after, limit=5000)
        yield from page.items
        after = page.next


def value_of(text: bytes | None) -> JsonValue:
    """A recorded input or output as a value; None if there is none."""
    return None if text is None else load_exact_json(text)


def _all_steps(store: Store, run_id: int) -> Iterator[WorkflowStep]:
    after: int | None = 0
    while after is not None:
        page = store.page_steps(run_id, after=after, limit=5000)
        yield from page.items
        after = page.next


def _step_json(step: WorkflowStep) -> JsonObject:
    """The fields of every generation of a step."""
    return {
        "status": step.status,
        "input_hash": step.input_hash,
        "error": step.error,
        **times_json(step.started_at, step.finished_at),
        "attempts": step.attempt,
    }


def _point_json(point: MetricPoint) -> JsonObject:
    return {
        "metric_name": point.name,
        "metric_value": point.value,
        "unit": point.unit,
        "step_id": point.step_id,
        "tags": point.tags,
        "created_at": rfc3339(point.created_at),
    }
