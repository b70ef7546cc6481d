"""Shows runs on the terminal: a workspace as a table, and one run at a glance."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from benchwright.core import RUN_STATUSES, Outcome, RunKind, printable
from benchwright.reports.blocks import Block, Cell, Fitting, Grid, Lines, Table, labelled, line
from benchwright.results import (
    EventView,
    RunDetails,
    RunResult,
    RunView,
    duration,
    money,
    outcome_name,
    table_of,
)


def local_time(seconds: float) -> str:
    """A wall-clock time in the local time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def run_list(runs: Sequence[RunView]) -> list[Block]:
    """Runs in the given order. If one line per run is too wide, cells have several lines."""
    known = [f"of samples: {', '.join(Outcome)}"] if any(run.outcomes for run in runs) else []
    if any(run.kind == RunKind.LOAD and run.summary for run in runs):
        from benchwright.perf import RequestOutcome

        known.append(f"of requests: {', '.join(RequestOutcome)}")
    about = f"outcomes {'; '.join(known)}. Outcomes with a count of zero are omitted."
    tables = Fitting((_table(runs, " "), _table(runs, "\n")))
    return [tables, line(about, "dim italic")] if known else [tables]


def _table(runs: Sequence[RunView], break_: str) -> Table:
    loads = [run.kind == RunKind.LOAD for run in runs]
    counted = "requests" if all(loads) else f"samples,{break_}requests" if any(loads) else "samples"
    narrow = break_ == "\n"
    headings = [
        "run",
        "benchmark",
        "model",
        "status",
        counted,
        "result",
        "started",
        *([] if narrow else ["took"]),
    ]
    right = ("run", counted, "took")
    whole = (*right, "status", "started")
    found = Table.of(headings, (_row(run, break_) for run in runs), right=right, whole=whole)
    return replace(found, padding="tight")


def _row(run: RunView, break_: str) -> list[Cell]:
    took, narrow = duration(run.seconds), break_ == "\n"
    status = _status(run, break_)
    if narrow and run.finished_at is not None:
        status += f"\nin {took}"
    unscored = bool((run.summary or {}).get("unscored"))
    counted = table_of((run.summary or {}).get("outcomes"))
    outcomes = {outcome_name(name, unscored=unscored): count for name, count in counted.items()}
    return [
        str(run.id),
        printable(run.name),
        printable(run.model_title) or "–",
        (status, RUN_STATUSES[run.status].style),
        "\n".join([run.counted, *([_ends(outcomes)] if outcomes else []), *_reused(run)]),
        "\n".join([run.headline, *_cost(run)]),
        local_time(run.created_at).replace(" ", break_),
        *([] if narrow else [took]),
    ]


def _cost(run: RunView) -> list[str]:
    """The cost of the run, if it is known."""
    cost: Any = (run.summary or {}).get("cost") or {}
    return [] if cost.get("amount") is None else [money(cost["amount"], cost["currency"])]


def _reused(run: RunView) -> list[str]:
    """The number of replies from earlier runs, and the age of the oldest at the start of the run."""
    reused: Any = (run.summary or {}).get("reused") or {}
    if not reused.get("replies"):
        return []
    said = [f"{reused['replies']:,} reused"]
    if reused.get("oldest"):
        age = run.created_at - datetime.fromisoformat(reused["oldest"]).timestamp()
        said.append(f"{duration(max(age, 0.0))} old")
    return said


def _ends(outcomes: Mapping[str, int]) -> str:
    """How samples or requests ended, one line per outcome that occurred.

    >>> _ends({"scored": 40, "empty": 0}), _ends({"scored": 1038, "truncated": 2}), _ends({"ok": 7, "http_4xx": 1})
    ('all scored', '1,038 scored\\n2 truncated', '7 ok\\n1 http_4xx')
    """
    named = [(count, outcome) for outcome, count in outcomes.items() if count]
    if len(named) == 1:
        return f"all {named[0][1]}"
    return "\n".join(f"{count:,} {outcome}" for count, outcome in named)


def _status(run: RunView, break_: str) -> str:
    source = run.rescored_from
    parts = [run.status, *([] if source is None else [f"rescored{break_}from {source}"])]
    if run.status == "completed" and run.comparable is False:
        parts.append(f"not{break_}comparable")
    return f",{break_}".join([*parts, *run.so_far_words])


def run_blocks(details: RunDetails) -> Iterator[Block]:
    """The result, its settings and its events."""
    run, result = details.run, RunResult.recorded(details)
    if result is None:
        name, model = (printable(run.name), "bold"), (printable(run.model_title), "bold")
        yield line()
        yield Lines(((name, (" on ", ""), model, (f": {run.status}", "")),))
        yield line(_so_far(details), "yellow")
        if run.error:
            yield line(printable(run.error), "red")
    else:
        from benchwright.reports.terminal.result import result_blocks  # not for lists

        yield from result_blocks(result)
    yield line()
    yield labelled(_facts(details))
    if details.events:
        yield line()
        yield event_grid(details.events)


def _so_far(details: RunDetails) -> str:
    """The state of a run without a result, and the command that continues it."""
    run, text = details.run, "no result yet"
    if run.so_far is not None:
        return run.so_far
    if details.recorded is not None:
        rows = table_of(details.manifest.get("dataset")).get("rows")
        repeats = details.settings.get("repeats")
        whole = f" of {rows * repeats:,}" if isinstance(rows, int) and isinstance(repeats, int) else ""
        text += f"; samples recorded: {details.recorded:,}{whole}"
    if run.status == "running":
        return f"{text}. It is running"
    resumable = run.status == "interrupted" and not details.settings.get("adopted")
    return f"{text}. Resume it: benchwright resume {run.id}" if resumable else text


def event_grid(events: Sequence[EventView]) -> Grid:
    """The events, with the minute of each."""
    return labelled((local_time(e.created_at), f"{e.kind}: {printable(e.message)}") for e in events)


def _facts(details: RunDetails) -> list[tuple[str, str]]:
    run, manifest = details.run, details.manifest
    dataset, endpoint, fewshot = (table_of(manifest.get(key)) for key in ("dataset", "endpoint", "fewshot"))
    facts = [("target", run.target), ("command", details.command)]
    if run.rescored_from is not None:
        facts.append(("rescored", f"from the replies of run {run.rescored_from}"))
    if moved := (details.labels or {}).get("text"):
        facts.append(("labels", str(moved)))
    if checked := (details.judged or {}).get("text"):
        facts.append(("calibration", str(checked)))
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
