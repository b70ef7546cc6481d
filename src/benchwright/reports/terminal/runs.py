"""Lists on the terminal: runs of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchwright.core import OUTCOMES, RUN_STATUSES, RunSummary, printable
from benchwright.reports.terminal.workflows import steps_of, summary_of, workflow_headline
from benchwright.reports.views.settings import model_of
from benchwright.reports.views.text import duration, local_time
from benchwright.store import RunRecord

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table


class RunTable:
    """Runs as a table, in the order given; a rich renderable that suits the width it is given.

    Where there is no room for one line each, cells are broken by hand: rich would crop the last columns.
    """

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        self._runs = runs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        table = _table(self._runs, narrow=False)
        wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
        yield table if wide <= options.max_width else _table(self._runs, narrow=True)


def _table(runs: Sequence[RunRecord], *, narrow: bool) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    if any(run.kind == "benchmark" and run.summary is not None for run in runs):
        table.caption = f"samples, and how they ended: {' / '.join(OUTCOMES)}"
    break_ = "\n" if narrow else " "
    table.add_column("run", justify="right", no_wrap=True)
    for heading in ("benchmark", "model"):
        table.add_column(heading, overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("result", overflow="fold")
    table.add_column("started", no_wrap=True)
    if not narrow:
        table.add_column("took", justify="right", no_wrap=True)
    for run in runs:
        summary = summary_of(run)
        took = duration(None if run.finished_at is None else run.finished_at - run.created_at)
        status = _status(run, summary, break_)
        if narrow and run.finished_at is not None:
            status += f"\nin {took}"
        cells = [printable(run.name), printable(model_of(run)) or "–"]
        table.add_row(
            str(run.id),
            *(Text(cell) for cell in cells),
            Text(status, RUN_STATUSES[run.status].style),
            _samples(run, summary),
            Text(workflow_headline(run) if run.kind == "workflow" else _headline(summary)),
            local_time(run.created_at).replace(" ", break_),
            *([] if narrow else [took]),
        )
    return table


def _samples(run: RunRecord, summary: RunSummary | None) -> str:
    """Samples evaluated, and below them the eight outcomes; of a workflow its completed steps."""
    if run.kind == "workflow" and run.summary is not None:
        return f"{steps_of(run).get('completed', 0):,}"
    if summary is None:
        return "–"
    return f"{summary.evaluated:,}\n{'/'.join(str(summary.outcomes.get(outcome, 0)) for outcome in OUTCOMES)}"


def _status(run: RunRecord, summary: RunSummary | None, break_: str) -> str:
    source = run.settings.get("rescored_from")
    parts = [run.status, *([] if source is None else [f"rescored{break_}from {source}"])]
    if run.status == "completed" and summary is not None and not summary.comparable:
        parts.append(f"not{break_}comparable")
    return f",{break_}".join(parts)


def _headline(summary: RunSummary | None) -> str:
    """The metric that stands for the run, else at most two: a list is for finding a run, not for reading it."""
    if summary is None or not summary.metrics:
        return "not scored" if summary is not None and summary.unscored else "–"
    if summary.headline in summary.metrics:
        return f"{printable(summary.headline)} {summary.metrics[summary.headline].value:.3f}"
    shown = list(summary.metrics.items())
    parts = [f"{printable(name)} {metric.value:.3f}" for name, metric in shown[:2]]
    if len(shown) > 2:
        parts.append(f"+{len(shown) - 2} more")
    return ", ".join(parts)
