"""Shows workflow runs on the terminal: at a glance, their steps, and how a program's run ended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from benchwright.core import RUN_STATUSES, STEP_STATUSES, JsonValue, RunStatus, exact_json, printable, rfc3339
from benchwright.reports.terminal.result import Sections, grid
from benchwright.reports.terminal.runs import event_grid
from benchwright.results import (
    EventList,
    EventView,
    MetricFigures,
    StepDetails,
    StepList,
    StepView,
    WorkflowDetails,
    duration,
    local_time,
    number,
    plural,
    progress_sentence,
    value_of,
)

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

_LONGEST = 300
"""Characters of an input or output; `--json` has them whole."""
_STEPS_SHOWN = 10
_LINES_SHOWN = 10


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
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    if not views:
        return [Text("no steps")]
    table = WholeTable(box=box.SIMPLE_HEAD)
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


def workflow_overview(view: WorkflowDetails) -> Group:
    """How it ended, its metrics, its input and output, and what its program printed."""
    from rich.console import Group
    from rich.text import Text

    run = view.run
    title = Text.assemble((printable(run.name), "bold"), f" (workflow): {run.status}")
    parts: list[RenderableType] = [Text(), title]
    if counts := view.step_counts:
        by_status = ", ".join(f"{count} {status}" for status, count in counts.items())
        parts.append(Text(f"{plural(sum(counts.values()), 'step')}: {by_status}"))
    if run.progress is not None:
        parts.append(Text(progress_sentence(run.progress)))
    if run.error:
        parts.append(Text(printable(run.error.rstrip()), "red"))
    if view.totals:
        parts.append(_metric_table(view.totals))
    if view.steps:
        parts += step_table(view.steps[:_STEPS_SHOWN], max(0, len(view.steps) - _STEPS_SHOWN))
    parts += [Text(), grid(_facts(view))]
    if view.details.events:
        parts += [Text(), event_grid(view.details.events)]
    for place, text in view.printed.values():
        lines = printable(text.rstrip("\n")).split("\n")
        more = f", the last {_LINES_SHOWN} of {len(lines):,} lines" if len(lines) > _LINES_SHOWN else ""
        parts += [Text(), Text(f"{place}{more}", "dim"), Text("\n".join(lines[-_LINES_SHOWN:]))]
    return Group(*parts)


def _facts(view: WorkflowDetails) -> list[tuple[str, str]]:
    run, settings = view.run, view.details.settings
    facts = [("input", _short(run.input)), ("output", _short(run.output))]
    command = settings.get("command")
    if isinstance(command, list) and command:
        program = PurePath(str(command[0])).name  # the folder of an interpreter does not matter here
        words = [program, *(str(word) for word in command[1:])]
        facts.append(("command", printable(shlex.join(words))))
        facts.append(("in", printable(str(settings.get("cwd")))))
    if run.tags:
        facts.append(("tags", printable(", ".join(f"{name}={value}" for name, value in run.tags.items()))))
    facts.append(("started", f"{local_time(run.created_at)}, took {duration(run.seconds)}"))
    if run.starts > 1:
        facts.append(("resumed", plural(run.starts - 1, "time")))
    return facts


def code_result(
    *,
    run_id: int,
    name: str,
    status: RunStatus,
    error: str | None,
    steps: Mapping[str, int],
    metrics: Mapping[str, float],
    output: JsonValue,
    seconds: float,
) -> Group:
    """How a program's run ended, in a few lines."""
    from rich.console import Group
    from rich.text import Text

    style = f"bold {RUN_STATUSES[status].style or 'yellow'}"
    title = Text.assemble("run ", (str(run_id), "bold"), f" {printable(name)}: ", (status, style))
    title.append(f" after {duration(seconds)}")
    rows = []
    if steps:
        rows.append(("steps", ", ".join(f"{count:,} {word}" for word, count in steps.items())))
    rows += [(printable(metric), number(value)) for metric, value in metrics.items()]
    if output is not None:
        rows.append(("output", _short(output)))
    if error and status != "failed":
        rows.append(("because", printable(error.strip().rpartition("\n")[2])))
    # A change that was refused would be refused again.
    ended = status == "completed" or "start a new run" in (error or "").lower()
    next_step = "show" if ended else "resume"
    return Group(Text(), title, grid(rows), Text(f"next: benchwright {next_step} {run_id}", "dim"))


def _metric_table(metrics: Mapping[str, MetricFigures]) -> RenderableType:
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    table.add_column("metric")
    for heading in ("value", "n", "min", "max"):
        table.add_column(heading, justify="right")
    for name, totals in metrics.items():
        unit = f" {printable(totals.unit)}" if totals.unit else ""
        table.add_row(
            Text(printable(name)),
            Text(number(totals.mean) + unit),
            f"{totals.count:,}",
            number(totals.min),
            number(totals.max),
        )
    return table


def _short(value: Any) -> str:
    text = exact_json(value).decode()
    return printable(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
