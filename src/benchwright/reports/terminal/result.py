"""Shows the result of a run on the terminal, every number with its n and its interval."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchwright.core import (
    CallFolder,
    Note,
    NoteGrade,
    Outcome,
    RunFile,
    RunSummary,
    bridge,
    open_artifacts,
    printable,
    safe_name,
)
from benchwright.reports.blocks import Block, Grid, Lines, Pieces, Table, line, numbers
from benchwright.results import (
    RunResult,
    duration,
    figures_to_show,
    headline_of,
    interval_of,
    no_interval,
    number,
    outcome_name,
    plural,
    rate,
    usage,
    writer_of,
)


def short_path(folder: Path) -> str:
    """The path, relative to the current folder if that is shorter."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)


def result_blocks(view: RunResult) -> list[Block]:
    """The sentence, metrics, outcomes, caveats, speed and files of a run's result."""
    return [
        line(),
        line(view.sentence, "bold"),
        metric_table(view.summary) or line(),
        Grid(tuple(_remarks(view))),
    ]


def metric_table(summary: RunSummary) -> Table | None:
    """The metrics with their intervals; None if there are none."""
    headings, *rows = _metrics(summary) or [[]]
    return Table(numbers(*headings), tuple(rows)) if rows else None


def _metrics(summary: RunSummary) -> list[list[str]]:
    if not summary.metrics:
        return []
    # Both conventions are shown if they can differ: leaving failures out flatters a model that fails on hard rows.
    both = summary.failed > 0
    rows = [["metric", "value", "95 % interval", "n", *(("failures as wrong", "n") if both else ())]]
    for name, metric in figures_to_show(summary)[0].items():
        cells = [
            printable(name),
            number(metric.value),
            interval_of(metric) or no_interval(metric),
            f"{metric.count:,}",
        ]
        if both:
            known = metric.with_failures is not None and metric.with_failures_count is not None
            cells += (
                [number(metric.with_failures or 0.0), f"{metric.with_failures_count:,}"]
                if known
                else ["–", "–"]
            )
        rows.append(cells)
    return rows


_NOTE_STYLES = {NoteGrade.PROBLEM: "red", NoteGrade.CAUTION: "yellow", NoteGrade.INFORMATION: ""}
"""The style of a note of each grade."""


def note_lines(notes: Iterable[Note]) -> Lines:
    """Notes, each with its grade on a line of its own."""
    return Lines(tuple(((f"{label}: {text}", style),) for label, (text, style) in note_rows(notes)))


def note_rows(notes: Iterable[Note]) -> list[tuple[str, tuple[str, str]]]:
    """Notes, each next to its grade."""
    return [(note.label, (printable(note.text), _NOTE_STYLES[NoteGrade(note.grade)])) for note in notes]


def _remarks(view: RunResult) -> list[tuple[str, Pieces]]:
    summary = view.summary
    counts: list[tuple[str, str]] = []
    ended = [outcome for outcome in Outcome if summary.outcomes.get(outcome)]
    for outcome in ended:
        counts += [(" · ", "")] if counts else []
        name = outcome_name(outcome, unscored=bool(summary.unscored))
        count = f"{summary.outcomes[outcome]:,}"
        alone = ended == [Outcome.SCORED] and count != "1"
        told = f"all {count} {name}" if alone else f"{name} {count}"
        counts.append((told, _outcome_style(summary, outcome)))
    rows: list[tuple[str, Pieces]] = []
    if equal := figures_to_show(summary)[1]:
        rows.append(
            (
                "equal",
                ((f"{printable(', '.join(equal))}: the same as {printable(str(headline_of(summary)))}", ""),),
            )
        )
    rows.append(("outcomes", tuple(counts) or (("no samples", ""),)))

    def add(label: str, text: str, style: str = "") -> None:
        rows.append((label, ((text, style),)))

    if summary.reasons:
        add(
            "reasons",
            " · ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items()),
            "yellow",
        )
    rows += [(label, (cell,)) for label, cell in note_rows(view.notes)]
    if view.first_failure:
        add("failure", printable(view.first_failure), "red")
    if view.seconds is not None:
        add("time", _speed(view))
    if (first := view.run.first_token_times()) is not None:
        times = " · ".join(f"{name} {duration(first[name])}" for name in ("mean", "p50", "p99"))
        add("first token", f"{times} of {plural(first['count'], 'reply')}")
    for label, text in usage(summary):
        add(label, text)
    add("files", f"{short_path(view.run.folder)}/: {_files(view)}")
    add("run", _next_step(view))
    return rows


def _files(view: RunResult) -> str:
    """The existing files of the run, including those of `run_eval`; if the folder is gone, the files of every run; if another
    run has replaced them, which one."""
    writer, files = writer_of(view.run.folder), open_artifacts(view.run.folder)
    if writer is not None and writer != (view.run.id, view.run.name):
        return f"now the files of run {writer[0]} ({writer[1]}), which replaced those of this run"
    there = {name.rstrip("/") for name in files.names()} or set[str](RunFile)
    own: list[str] = [name for name in RunFile if name in there]
    calls = safe_name(view.run.model or "")
    own += [f"{name}/" for name in CallFolder if f"{name}/{calls}/" in files.names(name)]
    others = there - set(RunFile) - set(CallFolder)
    if not others:
        return ", ".join(own)
    return ", ".join(
        [
            *own,
            *(
                file.name
                for file in bridge("run_eval").EVAL_FILES
                if file.name in others and file.name[0] != "."
            ),
        ]
    )


def _speed(view: RunResult) -> str:
    parts = [duration(view.seconds)]
    if view.requests_sent is not None:
        more = [plural(view.retries, "retry")] if view.retries else []
        more += [f"{view.sent_again:,} sent again after a lost connection"] if view.sent_again else []
        parts.append(plural(view.requests_sent, "request") + (f" ({', '.join(more)})" if more else ""))
        if view.seconds and view.requests_sent:
            parts.append(f"{rate(view.requests_sent / view.seconds)} per second")
    if view.from_cache:
        parts.append(f"{plural(view.from_cache, 'reply')} from earlier runs")
    return ", ".join(parts)


_LATER = "benchwright rescore RUN"
"""The end of the reason of a run that was not meant to score."""


def _next_step(view: RunResult) -> str:
    summary, run = view.summary, view.run.id
    # A row that was skipped is skipped again: no request was made for it.
    retryable = summary.failed - summary.outcomes.get(Outcome.SKIPPED, 0)
    if summary.partial and view.resumable:
        hint = f"to resume: benchwright resume {run}"
        if retryable:
            hint += f"; with what failed: benchwright resume {run} --retry-failed"
    elif summary.unscored.endswith(_LATER):
        hint = f"score it: benchwright rescore {run}"
    elif summary.failed:
        hint = f"benchwright show {run} --failed"
        if (
            view.resumable
            and retryable
            and not any(note.startswith("rescored from") for note in summary.notes)
        ):  # no model replies again
            hint += f", benchwright resume {run} --retry-failed"
    else:
        hint = f"benchwright show {run}"
        if _some_wrong(summary):
            hint += f", benchwright show {run} --wrong"
    return f"{run} {view.run.status} ({hint})"


def _some_wrong(summary: RunSummary) -> bool:
    """Whether right-or-wrong answers make up the figure of the run, and some are wrong."""
    name = headline_of(summary)
    return name is not None and summary.metrics[name].interval == "wilson" and summary.metrics[name].value < 1


def _outcome_style(summary: RunSummary, outcome: str) -> str:
    if not summary.outcomes.get(outcome):
        return "dim"
    return Outcome(outcome).style
