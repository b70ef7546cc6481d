"""The steps of a workflow run: as `show` lists them, as JSON, and one in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchwright.core import (
    STEP_STATUSES,
    JsonObject,
    JsonValue,
    NotFoundError,
    load_exact_json,
    printable,
    suggest,
)
from benchwright.reports.files.run_files import iso_time
from benchwright.reports.views.text import duration, number
from benchwright.store import Event, MetricPoint, Store, WorkflowStep

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class StepView:
    """A step with its metrics: of each key the newest generation."""

    step: WorkflowStep
    """As recorded."""
    metrics: dict[str, float] = field(default_factory=dict)
    """Mean of the points it emitted, by name."""
    superseded: tuple[WorkflowStep, ...] = ()
    """Earlier generations, oldest first: executed with another input, or without the cache."""

    @property
    def seconds(self) -> float | None:
        """How long its last attempt took."""
        return None if self.step.finished_at is None else self.step.finished_at - self.step.started_at

    @property
    def output(self) -> JsonValue:
        """What it gave."""
        return _json(self.step.output)

    @property
    def not_well(self) -> bool:
        """Whether its last attempt failed or was interrupted."""
        return STEP_STATUSES[self.step.status].troubled


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


def find_step(views: Sequence[StepView], key: str) -> StepView:
    """A step by its key."""
    for view in views:
        if view.step.key == key:
            return view
    keys = [view.step.key for view in views]
    raise NotFoundError(f"there is no step {key!r}.{suggest(key, keys)} See: benchwright show RUN --steps")


def all_points(store: Store, run_id: int) -> Iterator[MetricPoint]:
    """Every metric point of a run, as they came."""
    after: int | None = 0
    while after is not None:
        page = store.page_metrics(run_id, after=after, limit=5000)
        yield from page.items
        after = page.next


def _all_steps(store: Store, run_id: int) -> Iterator[WorkflowStep]:
    after: int | None = 0
    while after is not None:
        page = store.page_steps(run_id, after=after, limit=5000)
        yield from page.items
        after = page.next


def step_json(view: StepView) -> JsonObject:
    """A step as a sample: the fields of its output, and over them `step_key`, `status`, `input_hash`, `error`,
    `started_at`, `finished_at`, `attempts`, `seconds`, `metrics`, `superseded` (earlier generations); an output that is no object is `output`."""
    step, output = view.step, view.output
    fields: JsonObject = dict(output) if isinstance(output, dict) else {"output": output}
    return {
        **fields,
        "step_key": step.key,
        "status": step.status,
        "input_hash": step.input_hash,
        "error": step.error,
        "started_at": iso_time(step.started_at),
        "finished_at": iso_time(step.finished_at),
        "attempts": step.attempt,
        "seconds": None if view.seconds is None else round(view.seconds, 6),
        "metrics": dict(view.metrics),
        "superseded": [_superseded_json(earlier) for earlier in view.superseded],
    }


def _superseded_json(step: WorkflowStep) -> JsonObject:
    return {
        "generation": step.generation,
        "status": step.status,
        "attempts": step.attempt,
        "input_hash": step.input_hash,
        "input": _json(step.input),
        "output": _json(step.output),
        "error": step.error,
        "started_at": iso_time(step.started_at),
        "finished_at": iso_time(step.finished_at),
    }


def metric_json(point: MetricPoint) -> JsonObject:
    """A metric point: `metric_name`, `metric_value`, `unit`, `step_id`, `tags`, `created_at`."""
    return {
        "metric_name": point.name,
        "metric_value": point.value,
        "unit": point.unit,
        "step_id": point.step_id,
        "tags": point.tags,
        "created_at": iso_time(point.created_at),
    }


def event_json(event: Event, keys: Mapping[int, str] | None = None) -> JsonObject:
    """An event: `id`, `kind`, `message`, `created_at`, `step_id`, `step_key`, `data`."""
    return {
        "id": event.id,
        "kind": event.kind,
        "message": event.message,
        "created_at": iso_time(event.created_at),
        "step_id": event.step_id,
        "step_key": None if event.step_id is None else (keys or {}).get(event.step_id),
        "data": event.data,
    }


def step_table(views: Sequence[StepView], limit: int) -> Group:
    """Steps with status, attempts and seconds; a rich renderable."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if not views:
        return Group(Text("no steps"))
    table: Table = Table(box=box.SIMPLE_HEAD)
    table.add_column("step", overflow="fold")
    table.add_column("status")
    for heading in ("attempts", "took"):
        table.add_column(heading, justify="right")
    table.add_column("metrics or error", overflow="fold")
    for view in views[:limit]:
        step = view.step
        said = ", ".join(f"{name} {value:.4g}" for name, value in view.metrics.items())
        if view.not_well and step.error:
            said = step.error.strip().rpartition("\n")[2]
        table.add_row(
            Text(printable(step.key)),
            Text(step.status, STEP_STATUSES[step.status].style),
            str(step.attempt),
            duration(view.seconds),
            Text(printable(said)),
        )
    if len(views) <= limit:
        return Group(table)
    return Group(table, Text(f"{len(views) - limit:,} more steps; see them with --steps --limit", "dim"))


def event_table(events: Sequence[Event]) -> RenderableType:
    """Everything that happened, oldest first; a rich renderable."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for style in ("dim", "dim", "", ""):
        grid.add_column(style=style, overflow="fold")
    for event in events:
        told = printable(event.message.strip().replace("\n", " "))
        if event.data is not None:
            told += f" {printable(_text(event.data))}"
        grid.add_row(str(event.id), str(iso_time(event.created_at)), Text(printable(event.kind)), Text(told))
    return grid


def step_in_full(view: StepView, events: Sequence[Event]) -> Group:
    """Everything recorded of one step; a rich renderable."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    step = view.step
    title = f"step {printable(step.key)}: {step.status}, attempt {step.attempt}, {duration(view.seconds)}"
    parts: list[RenderableType] = [Text(), Text(title, f"bold {STEP_STATUSES[step.status].style}")]

    def section(heading: str, text: str | None, style: str = "") -> None:
        if text:
            parts.extend([Rule(heading, align="left", style="dim"), Text(printable(text), style)])

    section("input", None if step.input is None else _lines(_json(step.input)))
    section("output", None if step.output is None else _lines(view.output))
    section("error", step.error, "red")
    section("metrics", "\n".join(f"{name}  {number(value)}" for name, value in view.metrics.items()))
    for earlier in view.superseded:
        name = f"superseded: generation {earlier.generation}, {earlier.status}"
        section(f"{name}, input", None if earlier.input is None else _lines(_json(earlier.input)))
        section(f"{name}, output", None if earlier.output is None else _lines(_json(earlier.output)))
        section(f"{name}, error", earlier.error, "red")
    if events:
        parts += [Rule("events", align="left", style="dim"), event_table(events)]
    return Group(*parts)


def _json(text: bytes | None) -> JsonValue:
    return None if text is None else load_exact_json(text)


def _text(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _lines(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)
