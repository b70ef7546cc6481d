"""Steps and events of a run on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchwright.core import STEP_STATUSES, printable, rfc3339
from benchwright.reports.terminal.parts import Sections
from benchwright.reports.views.runs import EventList, EventView
from benchwright.reports.views.text import duration, number
from benchwright.reports.views.workflows import StepDetails, StepList, StepView, value_of

if TYPE_CHECKING:
    from rich.console import Group, RenderableType


def step_list(view: StepList) -> Group:
    """The steps as a table, or one in full."""
    from rich.console import Group

    for step in view.steps:
        if isinstance(step, StepDetails):
            return _in_full(step)
    listed = [step for step in view.steps if isinstance(step, StepView)]
    return Group(*step_table(listed, view.left_out))


def step_table(views: Sequence[StepView], left_out: int) -> list[RenderableType]:
    """Steps with status, attempts and seconds."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not views:
        return [Text("no steps")]
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("step", overflow="fold")
    table.add_column("status")
    for heading in ("attempts", "took"):
        table.add_column(heading, justify="right")
    table.add_column("metrics or error", overflow="fold")
    for view in views:
        step = view.step
        remark = ", ".join(f"{name} {value:.4g}" for name, value in view.metrics.items())
        if view.not_well and step.error:
            remark = step.error.strip().rpartition("\n")[2]
        table.add_row(
            Text(printable(step.key)),
            Text(step.status, STEP_STATUSES[step.status].style),
            str(step.attempt),
            duration(view.seconds),
            Text(printable(remark)),
        )
    if not left_out:
        return [table]
    return [table, Text(f"{left_out:,} more steps; see them with --steps --limit", "dim")]


def event_table(view: EventList) -> RenderableType:
    """Everything that happened, oldest first."""
    return _events(view.events)


def _events(events: Sequence[EventView]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for style in ("dim", "dim", "", ""):
        grid.add_column(style=style, overflow="fold")
    for event in events:
        message = printable(event.message.strip().replace("\n", " "))
        if event.data is not None:
            message += f" {printable(json.dumps(event.data, ensure_ascii=False))}"
        grid.add_row(
            str(event.id), rfc3339(event.created_at), Text(printable(event.kind)), Text(message.strip())
        )
    return grid


def _in_full(details: StepDetails) -> Group:
    """Everything recorded of one step."""
    view, step = details.view, details.view.step
    title = f"step {printable(step.key)}: {step.status}, attempt {step.attempt}, {duration(view.seconds)}"
    sections = Sections(title, f"bold {STEP_STATUSES[step.status].style}")
    sections.add("input", _lines(step.input))
    sections.add("output", _lines(step.output))
    sections.add("error", step.error, "red")
    sections.add("metrics", "\n".join(f"{name}  {number(value)}" for name, value in view.metrics.items()))
    for earlier in view.superseded:
        name = f"superseded: generation {earlier.generation}, {earlier.status}"
        sections.add(f"{name}, input", _lines(earlier.input))
        sections.add(f"{name}, output", _lines(earlier.output))
        sections.add(f"{name}, error", earlier.error, "red")
    if details.events:
        sections.add_view("events", _events(details.events))
    return sections.group()


def _lines(recorded: bytes | None) -> str | None:
    value: Any = value_of(recorded)
    return None if recorded is None else json.dumps(value, ensure_ascii=False, indent=2)
