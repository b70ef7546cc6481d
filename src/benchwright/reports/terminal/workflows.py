"""Shows workflow runs on the terminal: at a glance, their steps, and how a program's run ended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from benchwright.core import RUN_STATUSES, RunSummary, exact_json, printable, rfc3339
from benchwright.reports.blocks import (
    Block,
    Cell,
    Grid,
    Heading,
    Lines,
    Sections,
    Table,
    labelled,
    line,
    lines,
)
from benchwright.reports.terminal.result import metric_table, note_lines
from benchwright.reports.terminal.runs import event_grid, local_time
from benchwright.results import (
    EventList,
    EventView,
    MetricFigures,
    StepList,
    StepView,
    WorkflowDetails,
    duration,
    number,
    plural,
    result_sentence,
    value_of,
)

_LONGEST = 300
"""Characters of an input or output; `--json` has them whole."""
_STEPS_SHOWN = 10
_LINES_SHOWN = 10
_ANSWER = 60
"""Characters of an answer in the table of rows."""


def step_list_blocks(view: StepList) -> Iterable[Block]:
    """The steps as a table, or one in full."""
    for step in view.steps:
        if step.events is not None:
            return _in_full(step)
    return step_table(view.steps, view.left_out)


def step_table(views: Sequence[StepView], left_out: int) -> Iterator[Block]:
    """Steps with status, attempts and seconds."""
    if not views:
        yield line("no steps")
        return
    figures = (Heading(text, right=True) for text in ("attempts", "took"))
    rows: list[Sequence[Cell]] = []
    for view in views:
        step = view.step
        remark = ", ".join(f"{name} {value:.4g}" for name, value in view.metrics.items())
        if view.not_well and step.error:
            remark = step.error.strip().rpartition("\n")[2]
        status = step.status, RUN_STATUSES[step.status].style
        rows.append(
            (printable(step.key), status, str(step.attempt), duration(view.seconds), printable(remark))
        )
    yield Table((Heading("step"), Heading("status"), *figures, Heading("metrics or error")), tuple(rows))
    if left_out:
        yield line(f"{left_out:,} more steps; see them with --steps --limit N", "dim")


def event_list_blocks(view: EventList) -> list[Block]:
    """Everything that happened, oldest first."""
    return [_events(view.events)]


def _events(events: Sequence[EventView]) -> Grid:
    kinds = [printable(event.kind) for event in events]
    numbers, names = (max(map(len, each), default=0) for each in ([str(event.id) for event in events], kinds))
    rows = []
    for event, kind in zip(events, kinds, strict=True):
        message = printable(event.message.strip().replace("\n", " "))
        if event.data is not None:
            message += f" {printable(json.dumps(event.data, ensure_ascii=False))}"
        label = f"{event.id:<{numbers}}  {rfc3339(event.created_at)}"
        rows.append((label, f"{kind:<{names}}  {message.strip()}".rstrip()))
    return labelled(rows)


def _in_full(view: StepView) -> list[Block]:
    """Everything recorded of one step."""
    step = view.step
    title = f"step {printable(step.key)}: {step.status}, attempt {step.attempt}, {duration(view.seconds)}"
    sections = Sections(title, f"bold {RUN_STATUSES[step.status].style}")
    sections.add("input", _lines(step.input))
    sections.add("output", _lines(step.output))
    sections.add("error", step.error, "red")
    sections.add("metrics", "\n".join(f"{name}  {number(value)}" for name, value in view.metrics.items()))
    for earlier in view.superseded:
        name = f"superseded: generation {earlier.generation}, {earlier.status}"
        sections.add(f"{name}, input", _lines(earlier.input))
        sections.add(f"{name}, output", _lines(earlier.output))
        sections.add(f"{name}, error", earlier.error, "red")
    if view.events:
        sections.add_block("events", _events(view.events))
    return sections.blocks


def _lines(recorded: bytes | None) -> str | None:
    value: Any = value_of(recorded)
    return None if recorded is None else json.dumps(value, ensure_ascii=False, indent=2)


def workflow_blocks(view: WorkflowDetails) -> Iterator[Block]:
    """How it ended, its metrics, its input and output, and what its program printed."""
    run = view.run
    yield line()
    yield Lines((((printable(run.name), "bold"), (f" (workflow): {run.status}", "")),))
    rows = view.details.result
    if rows is None:
        yield from _step_counts(view)
    if (
        run.status in ("interrupted", "failed")
        and "command" in view.details.settings
        and not _is_over(run.error)
    ):
        yield line(f"Resume it: benchwright resume {run.id}")
    if run.so_far is not None:
        yield line(run.so_far)
    if run.error:
        yield line(printable(run.error.rstrip()), "red")
    if rows is not None:
        yield line(result_sentence(run.title, rows))
        yield line(_rows_sentence(rows), "dim")
        if (scores := metric_table(rows)) is not None:
            yield scores
        yield from _row_table(view)
    emitted = {name: each for name, each in view.totals.items() if rows is None or name not in rows.metrics}
    if emitted:
        yield _metric_table(emitted)
    if rows is not None:
        yield line()
        yield from _step_counts(view)
    elif view.steps:
        yield from step_table(view.steps[:_STEPS_SHOWN], max(0, len(view.steps) - _STEPS_SHOWN))
    yield line()
    if view.notes:
        yield note_lines(view.notes)
    yield labelled(_facts(view))
    if view.details.events:
        yield line()
        yield event_grid(view.details.events)
    for place, text in view.printed.values():
        printed = printable(text.rstrip("\n")).split("\n")
        more = f", the last {_LINES_SHOWN} of {len(printed):,} lines" if len(printed) > _LINES_SHOWN else ""
        yield line()
        yield line(f"{place}{more}", "dim")
        yield lines(printed[-_LINES_SHOWN:])
    if run.status == "completed":
        yield line()
        yield line(
            f"next: benchwright report {run.id} -o page.html, benchwright export {run.id} -o rows.xlsx, benchwright compare A {run.id}",
            "dim",
        )


def _step_counts(view: WorkflowDetails) -> Iterator[Block]:
    if counts := view.step_counts:
        by_status = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        yield line(
            f"{plural(sum(counts.values()), 'step')}: {by_status}"
            + ("" if view.details.result is None else "; see --steps")
        )


def _rows_sentence(rows: RunSummary) -> str:
    """How many rows there are, and how they ended."""
    ended = [f"{count:,} {name}" for name, count in rows.outcomes.items() if count]
    told = "all scored" if rows.outcomes["scored"] == rows.evaluated else ", ".join(ended)
    return f"{plural(rows.evaluated, 'row')}, {told}; list them with --text, --wrong or --where, slice them with --by"


def _row_table(view: WorkflowDetails) -> Iterator[Block]:
    """The first rows: those that failed, then the wrong ones."""
    rows: list[Any] = view.rows
    cells: list[Sequence[Cell]] = []
    for row in rows[:_STEPS_SHOWN]:
        scores = ", ".join(
            f"{name} {value if isinstance(value, bool | int) else number(value)}"
            for name, value in (row["scores"] or {}).items()
        )
        error = (row["error"] or "").strip().rpartition("\n")[2]
        answer = row["response"] if isinstance(row["response"], str | None) else _short(row["response"])
        status = row["status"], RUN_STATUSES[row["status"]].style
        cells.append((printable(row["id"]), status, printable(error or scores), _cut(answer or "")))
    yield Table(tuple(map(Heading, ("row", "status", "scores or error", "answer"))), tuple(cells))
    if len(rows) > len(cells):
        yield line(
            f"{len(rows) - len(cells):,} more rows; see one with benchwright show {view.run.id} NAME", "dim"
        )


def _cut(text: str) -> str:
    words = printable(" ".join(text.split()))
    return words if len(words) <= _ANSWER else words[: _ANSWER - 1] + "…"


def _facts(view: WorkflowDetails) -> list[tuple[str, str]]:
    run, settings = view.run, view.details.settings
    facts = [("input", _short(run.input)), ("output", _short(run.output))]
    command = settings.get("command")
    if isinstance(command, list) and command:
        program = PurePath(str(command[0])).name  # the folder of an interpreter does not matter here
        words = [program, *(str(word) for word in command[1:])]
        facts.append(("command", printable(shlex.join(words))))
        facts.append(("in", printable(str(settings.get("cwd")))))
    if moved := (view.details.labels or {}).get("text"):
        facts.append(("labels", str(moved)))
    if run.tags:
        facts.append(("tags", printable(", ".join(f"{name}={value}" for name, value in run.tags.items()))))
    facts.append(("started", f"{local_time(run.created_at)}, took {duration(run.seconds)}"))
    if run.starts > 1:
        facts.append(("resumed", plural(run.starts - 1, "time")))
    return facts


def program_blocks(ended: Any) -> list[Block]:
    """How a program's run ended, in a few lines; `ended` is the `ProgramResult`."""
    run_id, status, error = ended.run_id, ended.status, ended.error
    style = f"bold {RUN_STATUSES[status].style or 'yellow'}"
    title = ("run ", ""), (str(run_id), "bold"), (f" {printable(ended.workflow_name)}: ", ""), (status, style)
    after = f" after {duration(ended.duration_seconds)}", ""
    rows = [("rows", f"{ended.rows:,}")] if ended.rows else []
    if ended.steps:
        rows.append(("steps", ", ".join(f"{count:,} {word}" for word, count in ended.steps.items())))
    rows += [(printable(metric), number(value)) for metric, value in ended.metrics.items()]
    if ended.output is not None:
        rows.append(("output", _short(ended.output)))
    if error and status != "failed":
        rows.append(("because", printable(error.strip().rpartition("\n")[2])))
    over = status == "completed" or _is_over(error)
    hint = line(f"next: benchwright {'show' if over else 'resume'} {run_id}", "dim")
    return [line(), Lines(((*title, after),)), labelled(rows), hint]


def _is_over(error: str | None) -> bool:
    """Whether a run cannot be resumed: a change that was refused would be refused again."""
    return "start a new run" in (error or "").lower()


def _metric_table(metrics: Mapping[str, MetricFigures]) -> Table:
    rows = (
        (
            printable(name),
            number(totals.mean) + (f" {printable(totals.unit)}" if totals.unit else ""),
            f"{totals.count:,}",
            number(totals.min),
            number(totals.max),
        )
        for name, totals in metrics.items()
    )
    figures = (Heading(text, right=True) for text in ("value", "n", "min", "max"))
    return Table((Heading("metric"), *figures), tuple(rows))


def _short(value: Any) -> str:
    text = exact_json(value).decode()
    return printable(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
