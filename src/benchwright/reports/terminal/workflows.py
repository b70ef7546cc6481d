"""Workflow runs among the others: what a list and `show` say of them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from benchwright.core import RUN_STATUSES, JsonValue, RunStatus, RunSummary, exact_json, printable
from benchwright.reports.views.steps import StepView, step_table
from benchwright.reports.views.text import duration, local_time, number, plural
from benchwright.store import Event, MetricTotals, RunRecord

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

_LONGEST = 300
"""Characters of an input or output; `--json` has them whole."""
_STEPS_SHOWN = 10
_LINES_SHOWN = 10


def summary_of(run: RunRecord) -> RunSummary | None:
    """The numbers of a benchmark run; None while there are none, and for workflows, which have their own."""
    if run.summary is None or run.kind == "workflow":
        return None
    return RunSummary.from_json(run.summary)


def steps_of(run: RunRecord) -> dict[str, int]:
    """Steps of a workflow run by status, as far as it has ended."""
    steps: Any = (run.summary or {}).get("steps")
    return steps if isinstance(steps, dict) else {}


def metrics_of(run: RunRecord) -> dict[str, dict[str, Any]]:
    """Metrics of a workflow run by name: `value` (the mean of its points), `count`, `last`, `min`, `max`, `unit`."""
    metrics: Any = (run.summary or {}).get("metrics")
    return metrics if isinstance(metrics, dict) else {}


def workflow_headline(run: RunRecord) -> str:
    """At most two metrics."""
    metrics = metrics_of(run)
    parts = [f"{printable(name)} {totals['value']:.3f}" for name, totals in list(metrics.items())[:2]]
    if len(metrics) > 2:
        parts.append(f"+{len(metrics) - 2} more")
    return ", ".join(parts) or "–"


def workflow_overview(
    run: RunRecord,
    events: Sequence[Event],
    *,
    steps: Sequence[StepView] = (),
    totals: Mapping[str, MetricTotals] | None = None,
    captured: Mapping[str, str] | None = None,
) -> Group:
    """A workflow run at a glance: how it ended, its metrics, what it was given and gave; a rich renderable.

    `steps` and `totals` are those of now, for a run that goes on; `captured` is what its program printed, by file.
    """
    from rich.console import Group
    from rich.text import Text

    title = Text.assemble((printable(run.name), "bold"), f" (workflow): {run.status}")
    parts: list[RenderableType] = [Text(), title]
    counts = dict(Counter(view.step.status for view in steps)) if steps else steps_of(run)
    if counts:
        told = ", ".join(f"{count} {status}" for status, count in counts.items())
        parts.append(Text(f"{plural(sum(counts.values()), 'step')}: {told}"))
    if run.error:
        parts.append(Text(printable(run.error.rstrip()), "red"))
    metrics = metrics_of(run) if totals is None else _of_now(totals)
    if metrics:
        parts.append(_metric_table(metrics))
    if steps:
        parts.append(step_table(steps, _STEPS_SHOWN))
    parts += [Text(), _grid(_facts(run))]
    shown = [event for event in events if not event.kind.startswith("step.")]
    rows = [(local_time(event.created_at), f"{event.kind}: {printable(event.message)}") for event in shown]
    if rows:
        parts += [Text(), _grid(rows)]
    for place, text in (captured or {}).items():
        lines = printable(text.rstrip("\n")).split("\n")
        more = f", the last {_LINES_SHOWN} of {len(lines):,} lines" if len(lines) > _LINES_SHOWN else ""
        parts += [Text(), Text(f"{place}{more}", "dim"), Text("\n".join(lines[-_LINES_SHOWN:]))]
    return Group(*parts)


def _facts(run: RunRecord) -> list[tuple[str, str]]:
    facts = [("input", _short(run.input)), ("output", _short(run.output))]
    command = run.settings.get("command")
    if isinstance(command, list) and command:
        program = PurePath(str(command[0])).name  # where an interpreter lies does not matter at a glance
        words = [program, *(str(word) for word in command[1:])]
        facts.append(("command", printable(shlex.join(words))))
        facts.append(("in", printable(str(run.settings.get("cwd")))))
    if run.tags:
        facts.append(("tags", printable(", ".join(f"{name}={value}" for name, value in run.tags.items()))))
    took = None if run.finished_at is None else run.finished_at - run.created_at
    facts.append(("started", f"{local_time(run.created_at)}, took {duration(took)}"))
    if run.starts > 1:
        facts.append(("resumed", plural(run.starts - 1, "time")))
    return facts


def _of_now(totals: Mapping[str, MetricTotals]) -> dict[str, dict[str, Any]]:
    return {
        name: {"value": t.mean, "count": t.count, "min": t.min, "max": t.max, "unit": t.unit}
        for name, t in totals.items()
    }


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
    """How a program's run ended, in a few lines; a rich renderable."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    style = f"bold {RUN_STATUSES[status].style or 'yellow'}"
    title = Text.assemble("run ", (str(run_id), "bold"), f" {printable(name)}: ", (status, style))
    title.append(f" after {duration(seconds)}")
    parts: list[RenderableType] = [Text(), title]
    rows = []
    if steps:
        rows.append(("steps", ", ".join(f"{count:,} {word}" for word, count in steps.items())))
    rows += [(printable(metric), number(value)) for metric, value in metrics.items()]
    if output is not None:
        rows.append(("output", _short(output)))
    if error and status != "failed":
        rows.append(("because", printable(error.strip().rpartition("\n")[2])))
    parts.append(_grid(rows) if rows else Table.grid())
    next_step = "show" if status == "completed" else "resume"
    parts.append(Text(f"next: benchwright {next_step} {run_id}", "dim"))
    return Group(*parts)


def _metric_table(metrics: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric")
    for heading in ("value", "n", "min", "max"):
        table.add_column(heading, justify="right")
    for name, totals in metrics.items():
        unit = f" {printable(totals['unit'])}" if totals.get("unit") else ""
        table.add_row(
            Text(printable(name)),
            Text(number(totals["value"]) + unit),
            f"{totals['count']:,}",
            number(totals["min"]),
            number(totals["max"]),
        )
    return table


def _grid(rows: Sequence[tuple[str, str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(label), Text(text))
    return grid


def _short(value: Any) -> str:
    text = exact_json(value).decode()
    return printable(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
