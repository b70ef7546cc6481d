"""Shows the result of a run on the terminal, every number with its n and its interval; and has the grids and sections of
all tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from benchwright.core import (
    OUTCOMES,
    CallFolder,
    MetricSummary,
    Outcome,
    RunFile,
    RunSummary,
    known_outcome,
    printable,
    safe_name,
)
from benchwright.reports.views.benchmarks import ResultView
from benchwright.reports.views.figures import (
    cost_lines,
    duration,
    figures_to_show,
    headline_of,
    judge_lines,
    no_interval,
    number,
    outcome_name,
    plural,
    rate,
    tokens,
    too_few_notes,
)
from benchwright.reports.views.runs import first_token_times, writer_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType
    from rich.table import Table


def grid(rows: Iterable[tuple[str, str | RenderableType]] = ()) -> Table:
    """Labels in a dim column, with a text or view next to each."""
    from rich.table import Table
    from rich.text import Text

    found = Table.grid(padding=(0, 2))
    found.add_column(style="dim", no_wrap=True)
    found.add_column(overflow="fold")
    for label, value in rows:
        found.add_row(Text(label), Text(value) if isinstance(value, str) else value)
    return found


HEAVY = 9
"""The weight of a column that a fitted table never leaves out."""


class FittedTable:
    """Columns with cells and weights. If they do not fit, those without values are left out, then the lightest; a cell is never
    cut. If the heavy ones alone do not fit, each row is a block of lines."""

    def __init__(self, columns: Sequence[tuple[str, Sequence[str], int]]) -> None:
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        columns = list(self._columns)
        table = _lined(columns)
        while _width(Measurement, console, options, table) > options.max_width:
            lightest = min(reversed(columns), key=_weight)
            if _weight(lightest) >= HEAVY:
                table = _lined([column for column in self._columns if _weight(column) >= 0])
                break
            columns.remove(lightest)
            table = _lined(columns)
        yield table


def _weight(column: tuple[str, Sequence[str], int]) -> int:
    return -1 if set(column[1]) == {"–"} else column[2]


def _width(measurement: Any, console: Console, options: ConsoleOptions, table: Table) -> int:
    return int(measurement.get(console, options.update(max_width=10_000), table).maximum)


def _lined(columns: Sequence[tuple[str, Sequence[str], int]]) -> Table:
    """The first column to the left, the others to the right."""
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, (heading, _, _) in enumerate(columns):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in zip(*(cells for _, cells, _ in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def short_path(folder: Path) -> str:
    """The path, relative to the current folder if that is shorter."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)


class Sections:
    """A title, and texts under headings; sections without text are left out."""

    def __init__(self, title: str, style: str) -> None:
        from rich.text import Text

        self._parts: list[RenderableType] = [Text(), Text(title, style)]

    def add(self, heading: str, text: str | None, style: str = "") -> None:
        """Add a text; nothing in it is read as markup."""
        from rich.text import Text

        if text:
            self.add_view(heading, Text(printable(text), style))

    def add_view(self, heading: str, view: RenderableType) -> None:
        """Add a table or another view."""
        from rich.rule import Rule

        self._parts += [Rule(heading, align="left", style="dim"), view]

    def group(self) -> Group:
        """All of it; a rich renderable."""
        from rich.console import Group

        return Group(*self._parts)


Pieces: TypeAlias = tuple[tuple[str, str], ...]
"""A text in pieces, each with its style."""


class ResultParts(Struct, frozen=True):
    """The texts of a run's result, before they are drawn."""

    title: Pieces
    """Benchmark, model and number of rows."""
    metrics: list[list[str]]
    """The headings, and a row for each metric; empty if there are no scores."""
    remarks: list[tuple[str, Pieces]]
    """Labels and texts below the table."""
    no_metrics: str = ""
    """Why there are no scores."""


def result_parts(view: ResultView) -> ResultParts:
    """Title, metrics, outcomes, caveats, speed and files."""
    summary = view.summary
    size = plural(summary.rows, "row")
    if summary.repeats != 1:
        size += f" × {plural(summary.repeats, 'repeat')}"
    title = (
        (view.run.name, "bold"), (" on ", ""), (printable(view.run.model_title), "bold"), (f": {size}", ""),
    )  # fmt: skip
    missing = "no scores" if summary.unscored else "no sample gave a score"
    return ResultParts(title, _metrics(summary), _remarks(view), "" if summary.metrics else missing)


def result_table(view: ResultView) -> Group:
    """The same, drawn for a terminal; a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    parts = result_parts(view)
    table = _drawn(parts.metrics) if parts.metrics else f"\n{parts.no_metrics}\n"
    remarks = [(label, Text.assemble(*pieces)) for label, pieces in parts.remarks]
    return Group(Text(), Text.assemble(*parts.title), table, grid(remarks))


def _drawn(metrics: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.text import Text

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD)
    (first, *others), *rows = metrics
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))  # never read as markup: names come from users
    return table


def _metrics(summary: RunSummary) -> list[list[str]]:
    if not summary.metrics:
        return []
    # Both conventions are shown if they can differ: leaving failures out flatters a model that fails on hard rows.
    both = summary.failed > 0
    rows = [["metric", "value", "95 % interval", "n", *(("failures as wrong", "n") if both else ())]]
    for name, metric in figures_to_show(summary)[0].items():
        cells = [printable(name), number(metric.value), _interval(metric), f"{metric.count:,}"]
        if both:
            known = metric.with_failures is not None and metric.with_failures_count is not None
            cells += (
                [number(metric.with_failures or 0.0), f"{metric.with_failures_count:,}"]
                if known
                else ["–", "–"]
            )
        rows.append(cells)
    return rows


def _interval(metric: MetricSummary) -> str:
    """The interval. Runs of earlier versions may have one of zero width, which is not certainty and is not shown."""
    if metric.ci_low is None or metric.ci_high is None or metric.ci_low == metric.ci_high:
        return no_interval(metric)
    return f"{number(metric.ci_low)} – {number(metric.ci_high)}"


def _remarks(view: ResultView) -> list[tuple[str, Pieces]]:
    summary = view.summary
    counts: list[tuple[str, str]] = []
    for outcome in OUTCOMES:
        counts += [(" · ", "")] if counts else []
        name = outcome_name(outcome, unscored=bool(summary.unscored))
        counts.append((f"{name} {summary.outcomes.get(outcome, 0):,}", _outcome_style(summary, outcome)))
    rows: list[tuple[str, Pieces]] = []
    if equal := figures_to_show(summary)[1]:
        rows.append(
            (
                "equal",
                ((f"{printable(', '.join(equal))}: the same as {printable(str(headline_of(summary)))}", ""),),
            )
        )
    rows.append(("outcomes", tuple(counts)))

    def add(label: str, text: str, style: str = "") -> None:
        rows.append((label, ((text, style),)))

    if summary.reasons:
        add(
            "reasons",
            " · ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items()),
            "yellow",
        )
    for note in _warnings(view):
        add("note", printable(note), "yellow")
    if view.first_failure:
        add("failure", printable(view.first_failure), "red")
    if view.seconds is not None:
        add("time", _speed(view))
    if (first := first_token_times(view.run)) is not None:
        times = " · ".join(f"{name} {duration(first[name])}" for name in ("mean", "p50", "p99"))
        add("first token", f"{times} of {plural(first['count'], 'reply')}")
    if counted := tokens(summary):
        add("tokens", counted)
    for line in cost_lines(summary.cost):
        add("cost", line)
    for line in judge_lines(summary):
        add("judge", line)
    add("files", f"{short_path(view.run.folder)}/: {_files(view)}")
    add("run", _next_step(view))
    return rows


def _files(view: ResultView) -> str:
    """The existing files of the run, including those of `run_eval`; if the folder is gone, the files of every run; if another
    run has replaced them, which one."""
    folder = view.run.folder
    writer = writer_of(folder)
    if writer is not None and writer != (view.run.id, view.run.name):
        return f"now the files of run {writer[0]} ({writer[1]}), which replaced those of this run"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str](RunFile)
    own: list[str] = [name for name in RunFile if name in there]
    calls = safe_name(view.run.model or "")
    own += [f"{name}/" for name in CallFolder if name in there and (folder / name / calls).is_dir()]
    others = there - set(RunFile) - set(CallFolder)
    if not others:
        return ", ".join(own)
    from benchwright.reports.files.eval_folder import EVAL_FILES  # not for runs that write none of them

    return ", ".join(
        [*own, *(file.name for file in EVAL_FILES if file.name in others and file.name[0] != ".")]
    )


def _warnings(view: ResultView) -> list[str]:
    summary = view.summary
    notes = list(summary.notes)
    if view.stopped_because and view.stopped_because not in notes:
        notes.append(view.stopped_because)
    if not summary.comparable and not notes:
        notes.append("not comparable with other runs")
    return [*notes, *too_few_notes(summary)]


def _speed(view: ResultView) -> str:
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


def _next_step(view: ResultView) -> str:
    summary, run = view.summary, view.run.id
    # A row that was skipped is skipped again: no request was made for it.
    retryable = summary.failed - summary.outcomes.get(Outcome.SKIPPED, 0)
    if summary.partial:
        hint = f"to resume: benchwright resume {run}"
        if retryable:
            hint += f"; with what failed: benchwright resume {run} --retry-failed"
    elif summary.unscored.endswith(_LATER):
        hint = f"score it: benchwright rescore {run}"
    elif summary.failed:
        hint = f"benchwright show {run} --failed"
        if retryable and not any(
            note.startswith("rescored from") for note in summary.notes
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
    return known_outcome(outcome).style
