"""The result of a run on the terminal: every number with its n, its interval, and what was not measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.core import OUTCOMES, MetricSummary, RunSummary, known_outcome, printable
from benchwright.reports.files.run_files import RUN_FILES
from benchwright.reports.terminal.workflows import summary_of
from benchwright.reports.views.figures import headline_of, too_few_notes
from benchwright.reports.views.settings import is_demo
from benchwright.reports.views.text import duration, number, plural, tokens
from benchwright.store import RunRecord

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """What the table of one result shows."""

    run_id: int
    """Number in the workspace."""
    name: str
    """Benchmark."""
    model: str
    """Model id."""
    demo: bool
    """Whether the embedded demo model answered."""
    status: str
    """Where the run stands."""
    folder: Path
    """Where its files are."""
    summary: RunSummary
    """The numbers."""
    stopped_because: str = ""
    """Why it stopped early."""
    first_failure: str = ""
    """The commonest failure in plain words."""
    requests_sent: int | None = None
    """Requests of the last start; None: not known any more."""
    retries: int = 0
    """How many of them repeated a failed attempt."""
    from_cache: int | None = None
    """Replies of the last start that came from earlier runs."""
    seconds: float | None = None
    """Time the last start spent asking."""


def result_view(run: RunRecord) -> ResultView | None:
    """The result of a recorded run; None while there is none."""
    summary = summary_of(run)
    if summary is None:
        return None
    return ResultView(
        run_id=run.id,
        name=run.name,
        model=run.model,
        demo=is_demo(run),
        status=run.status,
        folder=run.folder,
        summary=summary,
        stopped_because=(run.error or "") if run.status != "failed" else "",
        first_failure=(run.error or "") if run.status == "failed" else "",
    )


def result_table(view: ResultView) -> Group:
    """Title, metrics, outcomes, caveats, speed and files; a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    summary = view.summary
    size = plural(summary.rows, "row")
    if summary.repeats != 1:
        size += f" × {plural(summary.repeats, 'repeat')}"
    title = Text.assemble((view.name, "bold"), " on ", (printable(view.model), "bold"), f": {size}")
    return Group(Text(), title, _metrics(summary), _remarks(view))


def _metrics(summary: RunSummary) -> Table | str:
    from rich import box
    from rich.table import Table

    if not summary.metrics:
        return "\nno scores\n" if summary.unscored else "\nno sample gave a score\n"
    # Both conventions wherever they can differ: leaving failures out flatters a model that fails on hard rows.
    both = summary.failed > 0
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric", overflow="fold")
    for heading in ("value", "95 % interval", "n", *(("failures as wrong", "n") if both else ())):
        table.add_column(heading, justify="right", no_wrap=True)
    over_repeats = {
        f"{name}, {figure}": metric
        for figure, metrics in summary.over_repeats.items()
        for name, metric in metrics.items()
    }
    for name, metric in {**_headline_first(summary), **over_repeats}.items():
        cells = [printable(name), number(metric.value)]
        cells += [_interval(metric), f"{metric.count:,}"]
        if both:
            known = metric.with_failures is not None and metric.with_failures_count is not None
            cells += (
                [number(metric.with_failures or 0.0), f"{metric.with_failures_count:,}"]
                if known
                else ["–", "–"]
            )
        table.add_row(*map(_plain, cells))
    return table


def _headline_first(summary: RunSummary) -> dict[str, MetricSummary]:
    """The metric that stands for the run on top, the others by name."""
    return dict(sorted(summary.metrics.items(), key=lambda named: named[0] != summary.headline))


def _interval(metric: MetricSummary) -> str:
    """Runs of earlier versions may have an interval of no width: that came of too few values, not of certainty."""
    if metric.ci_low is None or metric.ci_high is None or metric.ci_low == metric.ci_high:
        return "too few"
    return f"{number(metric.ci_low)} – {number(metric.ci_high)}"


def _remarks(view: ResultView) -> Table:
    from rich.table import Table
    from rich.text import Text

    summary = view.summary
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    counts = Text(" · ").join(
        Text(f"{outcome} {summary.outcomes.get(outcome, 0):,}", _outcome_style(summary, outcome))
        for outcome in OUTCOMES
    )
    grid.add_row("outcomes", counts)
    if summary.reasons:
        told = " · ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items())
        grid.add_row("reasons", Text(told, "yellow"))
    for note in _warnings(view):
        grid.add_row("note", Text(printable(note), "yellow"))
    if view.first_failure:
        grid.add_row("failure", Text(printable(view.first_failure), "red"))
    if view.seconds is not None:
        grid.add_row("time", _speed(view))
    if told := tokens(summary):
        grid.add_row("tokens", told)
    grid.add_row("files", _plain(f"{_short(view.folder)}/: {', '.join(RUN_FILES)}"))
    grid.add_row("run", _plain(_next_step(view)))
    return grid


def _warnings(view: ResultView) -> list[str]:
    summary = view.summary
    notes = list(summary.notes)
    if view.stopped_because and view.stopped_because not in notes:
        notes.append(view.stopped_because)
    if not summary.comparable and not notes:
        notes.append("not comparable with other runs")
    return [*notes, *too_few_notes(summary)]


def _speed(view: ResultView) -> str:
    parts = [f"{duration(view.seconds)} asking"]
    if view.requests_sent is not None:
        retries = f" ({plural(view.retries, 'retry')})" if view.retries else ""
        parts.append(plural(view.requests_sent, "request") + retries)
        if view.seconds and view.requests_sent:
            parts.append(f"{view.requests_sent / view.seconds:,.0f} per second")
    if view.from_cache:
        parts.append(f"{plural(view.from_cache, 'reply')} from earlier runs")
    return ", ".join(parts)


_LATER = "benchwright rescore RUN"
"""How the reason of a run ends that was only to ask."""


def _next_step(view: ResultView) -> str:
    if view.summary.partial and view.summary.failed:
        return (
            f"{view.run_id} {view.status} (go on: benchwright resume {view.run_id}; "
            f"with what failed: benchwright resume {view.run_id} --retry-failed)"
        )
    if view.summary.partial:
        return f"{view.run_id} {view.status} (go on: benchwright resume {view.run_id})"
    if view.summary.unscored.endswith(_LATER):
        return f"{view.run_id} {view.status} (score it: benchwright rescore {view.run_id})"
    if view.summary.failed and any(note.startswith("rescored from") for note in view.summary.notes):
        return f"{view.run_id} {view.status} (benchwright show {view.run_id} --failed)"  # nothing can be asked again
    if view.summary.failed:
        return (
            f"{view.run_id} {view.status} (benchwright show {view.run_id} --failed, "
            f"benchwright resume {view.run_id} --retry-failed)"
        )
    wrong = f", benchwright show {view.run_id} --wrong" if _some_wrong(view.summary) else ""
    return f"{view.run_id} {view.status} (benchwright show {view.run_id}{wrong})"


def _some_wrong(summary: RunSummary) -> bool:
    """Whether right-or-wrong answers stand behind the figure of the run, and some are wrong."""
    name = headline_of(summary)
    return name is not None and summary.metrics[name].interval == "wilson" and summary.metrics[name].value < 1


def _outcome_style(summary: RunSummary, outcome: str) -> str:
    if not summary.outcomes.get(outcome):
        return "dim"
    return known_outcome(outcome).style


def _plain(text: str) -> Text:
    """A cell that is never read as markup: names come from users."""
    from rich.text import Text

    return Text(text)


def _short(folder: Path) -> str:
    """Relative to the current folder where that is shorter to read."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
