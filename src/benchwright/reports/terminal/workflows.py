"""A workflow run at a glance, and how a program's run ended."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from benchwright.core import RUN_STATUSES, JsonValue, RunStatus, exact_json, printable
from benchwright.reports.terminal.overview import event_grid
from benchwright.reports.terminal.parts import grid
from benchwright.reports.terminal.steps import step_table
from benchwright.reports.views.figures import MetricFigures
from benchwright.reports.views.text import duration, local_time, number, plural
from benchwright.reports.views.workflows import WorkflowDetails

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

_LONGEST = 300
"""Characters of an input or output; `--json` has them whole."""
_STEPS_SHOWN = 10
_LINES_SHOWN = 10


def workflow_overview(view: WorkflowDetails) -> Group:
    """How it ended, its metrics, what it was given and returned, and what its program printed."""
    from rich.console import Group
    from rich.text import Text

    run = view.run
    title = Text.assemble((printable(run.name), "bold"), f" (workflow): {run.status}")
    parts: list[RenderableType] = [Text(), title]
    if counts := view.step_counts:
        by_status = ", ".join(f"{count} {status}" for status, count in counts.items())
        parts.append(Text(f"{plural(sum(counts.values()), 'step')}: {by_status}"))
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
        program = PurePath(str(command[0])).name  # where an interpreter lies does not matter at a glance
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
    next_step = "show" if status == "completed" else "resume"
    return Group(Text(), title, grid(rows), Text(f"next: benchwright {next_step} {run_id}", "dim"))


def _metric_table(metrics: Mapping[str, MetricFigures]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
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
