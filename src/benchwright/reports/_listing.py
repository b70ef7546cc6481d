"""Lists on the terminal: runs of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.core import OUTCOMES, RunSummary, printable
from benchwright.reports._settings import model_of
from benchwright.reports._text import duration, local_time
from benchwright.reports._workflows import steps_of, summary_of, workflow_headline
from benchwright.store import RunRecord

if TYPE_CHECKING:
    from rich.table import Table

_STYLES = {"completed": "green", "failed": "red", "interrupted": "yellow", "running": "cyan"}


def run_table(runs: Sequence[RunRecord]) -> Table:
    """Runs as a table, in the order given; a rich renderable."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    # Narrow gaps: eight columns and a result have to fit into eighty characters.
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    if any(run.kind == "benchmark" and run.summary is not None for run in runs):
        table.caption = f"samples and how they ended: {'/'.join(OUTCOMES)}"
    table.add_column("run", justify="right", no_wrap=True)
    for heading in ("benchmark", "model"):
        table.add_column(heading, overflow="fold", min_width=len(heading))
    table.add_column("status", min_width=max(map(len, _STYLES)))
    table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("result", overflow="fold", min_width=8)
    table.add_column("started", min_width=10)
    table.add_column("took", justify="right", no_wrap=True)
    for run in runs:
        summary = summary_of(run)
        cells = [printable(run.name), printable(model_of(run)) or "–"]
        table.add_row(
            str(run.id),
            *(Text(cell) for cell in cells),
            Text(_status(run, summary), _STYLES.get(run.status, "")),
            _samples(run, summary),
            Text(workflow_headline(run) if run.kind == "workflow" else _headline(summary)),
            local_time(run.created_at),
            duration(None if run.finished_at is None else run.finished_at - run.created_at),
        )
    return table


def _samples(run: RunRecord, summary: RunSummary | None) -> str:
    """Samples evaluated, and below them the eight outcomes; of a workflow its completed steps."""
    if run.kind == "workflow" and run.summary is not None:
        return f"{steps_of(run).get('completed', 0):,}"
    if summary is None:
        return "–"
    return f"{summary.evaluated:,}\n{'/'.join(str(summary.outcomes.get(outcome, 0)) for outcome in OUTCOMES)}"


def _status(run: RunRecord, summary: RunSummary | None) -> str:
    source = run.settings.get("rescored_from")
    parts = [run.status, *([] if source is None else [f"rescored from {source}"])]
    if run.status == "completed" and summary is not None and not summary.comparable:
        parts.append("not comparable")
    return ", ".join(parts)


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
