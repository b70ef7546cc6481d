"""A benchmark run at a glance: `show RUN`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchwright.core import printable
from benchwright.reports.terminal.parts import grid
from benchwright.reports.terminal.result import result_table
from benchwright.reports.views.result import result_view
from benchwright.reports.views.runs import EventView, RunDetails
from benchwright.reports.views.settings import table_of
from benchwright.reports.views.text import duration, local_time

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table


def run_overview(details: RunDetails) -> Group:
    """The result, what made it, and what happened."""
    from rich.console import Group
    from rich.text import Text

    run, result = details.run, result_view(details)
    parts: list[RenderableType] = []
    if result is None:
        model = (printable(run.model or ""), "bold")
        parts += [Text(), Text.assemble((run.name, "bold"), " on ", model, f": {run.status}")]
        parts.append(Text(_so_far(details), "yellow"))
        if run.error:
            parts.append(Text(printable(run.error), "red"))
    else:
        parts.append(result_table(result))
    parts += [Text(), grid(_facts(details))]
    if details.events:
        parts += [Text(), event_grid(details.events)]
    return Group(*parts)


def _so_far(details: RunDetails) -> str:
    """What there is of a run without a result, and what continues it."""
    run, text = details.run, "no result yet"
    if details.recorded is not None:
        rows = table_of(details.manifest.get("dataset")).get("rows")
        repeats = details.settings.get("repeats")
        whole = f" of {rows * repeats:,}" if isinstance(rows, int) and isinstance(repeats, int) else ""
        text += f"; samples recorded: {details.recorded:,}{whole}"
    if run.status == "running":
        return f"{text}. It is running"
    resumable = run.status == "interrupted" and not details.settings.get("adopted")
    return f"{text}. Resume it: benchwright resume {run.id}" if resumable else text


def event_grid(events: Sequence[EventView]) -> Table:
    """What happened, with the minute."""
    return grid((local_time(e.created_at), f"{e.kind}: {printable(e.message)}") for e in events)


def _facts(details: RunDetails) -> list[tuple[str, str]]:
    run, manifest = details.run, details.manifest
    dataset, endpoint, fewshot = (table_of(manifest.get(key)) for key in ("dataset", "endpoint", "fewshot"))
    facts = [("target", run.target), ("command", details.command)]
    if run.rescored_from is not None:
        facts.append(("rescored", f"the replies are those of run {run.rescored_from}"))
    if dataset:
        facts.append(
            ("data", f"{dataset.get('name')}, {dataset.get('rows')} rows, {dataset.get('fingerprint')}")
        )
    if endpoint:
        facts.append(("endpoint", str(endpoint.get("fingerprint"))))
    if fewshot:
        overlap = ", overlapping with the evaluated rows" if fewshot.get("overlapping") else ""
        fewest, count = fewshot.get("shown_min"), fewshot.get("count")
        shown = (
            f", {fewshot.get('shown_mean')} shown on average, at least {fewest}"
            if fewest not in (None, count)
            else ""
        )
        facts.append(("few-shot", f"{count} examples from {fewshot.get('source')}{shown}{overlap}"))
    facts.append(("started", f"{local_time(run.created_at)}, took {duration(run.seconds)}"))
    return [(label, printable(text)) for label, text in facts]
