"""Runs of a workspace as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchwright.core import OUTCOMES, RUN_STATUSES, printable
from benchwright.reports.views.runs import RunView
from benchwright.reports.views.text import duration, local_time

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table


class RunTable:
    """Runs in the order given; a rich renderable that suits the width it is given.

    Where there is no room for one line each, the table breaks cells itself: rich would crop the last columns.
    """

    def __init__(self, runs: Sequence[RunView]) -> None:
        self._runs = runs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        table = _table(self._runs, narrow=False)
        wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
        yield table if wide <= options.max_width else _table(self._runs, narrow=True)


def _table(runs: Sequence[RunView], *, narrow: bool) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    if any(run.outcomes for run in runs):
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
        took = duration(run.seconds)
        status = _status(run, break_)
        if narrow and run.finished_at is not None:
            status += f"\nin {took}"
        ends = f"\n{'/'.join(map(str, run.outcomes))}" if run.outcomes else ""
        table.add_row(
            str(run.id),
            Text(printable(run.name)),
            Text(printable(run.model_title) or "–"),
            Text(status, RUN_STATUSES[run.status].style),
            f"{run.counted}{ends}",
            Text(run.headline),
            local_time(run.created_at).replace(" ", break_),
            *([] if narrow else [took]),
        )
    return table


def _status(run: RunView, break_: str) -> str:
    source = run.rescored_from
    parts = [run.status, *([] if source is None else [f"rescored{break_}from {source}"])]
    if run.status == "completed" and run.comparable is False:
        parts.append(f"not{break_}comparable")
    return f",{break_}".join(parts)
