"""The table of a work folder: a line for each dataset and metric, a column for each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchwright.core import STRATEGIES, MetricSummary, RunSummary
from benchwright.reports.files.work_names import TaskFiles
from benchwright.reports.files.work_results import averaged, version_of
from benchwright.reports.terminal.workflows import summary_of
from benchwright.reports.views.figures import headline_of, is_share
from benchwright.store import RunRecord

_NAMED = 3
"""Tasks that a note names; of more it says how many."""
NO_METRIC = "–"
"""The metric of a run without figures."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one run."""

    run_id: int
    """Where it comes from."""
    text: str
    """Two decimals; `–` where there is no figure."""
    value: float | None = None
    """In percent where the metric is a share."""
    low: float | None = None
    """Lower end of the 95 % interval."""
    high: float | None = None
    """Upper end."""
    count: int = 0
    """Values in the mean."""
    samples: int = 0
    """Samples of the run."""
    failed: int = 0
    """Samples without a score."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Samples per outcome, all eight named; empty where the run has no result."""
    remark: str = ""
    """Why the figure is missing, or must not be compared."""
    too_few: bool = False
    """Whether the rows are too few to rely on the interval."""


@dataclass(slots=True)
class Line:
    """One dataset and metric."""

    dataset: str
    """The dataset's name."""
    version: str
    """Six digits of the prompt."""
    metric: str
    """What is measured."""
    mode: str
    """How rows were asked."""
    percent: bool = True
    """Whether its figures are percentages."""
    lower_is_better: bool = False
    """Whether the smallest figure is the best."""
    cells: dict[str, Cell] = field(default_factory=dict)
    """By model."""


@dataclass(frozen=True, slots=True)
class SummaryTable:
    """All that a summary shows."""

    models: tuple[str, ...]
    """Columns."""
    lines: tuple[Line, ...]
    """Rows."""
    runs: tuple[tuple[str, RunRecord], ...]
    """Each run under its name, `model on dataset`."""
    notes: tuple[str, ...]
    """What must stand beside the numbers, each once."""


def summary_table(tasks: Sequence[tuple[TaskFiles, RunRecord]], notes: Sequence[str] = ()) -> SummaryTable:
    """One line for each dataset, prompt and metric, in the order of the tasks."""
    lines: dict[tuple[str, str, str, str], Line] = {}
    said: dict[str, list[str]] = {}
    seen: set[tuple[str, str]] = set()
    runs = []
    for files, run in tasks:
        model, dataset = files.task.model, files.task.dataset
        number = 1
        while (model, dataset) in seen:  # two tasks of equal names: both are shown
            number += 1
            dataset = f"{files.task.dataset}-{number}"
        seen.add((model, dataset))
        runs.append((f"{model} on {dataset}", run))
        summary = summary_of(run)
        facts = STRATEGIES.get(str(run.manifest.get("strategy")))
        mode = "–" if facts is None else facts.mode
        for metric, percent, cell in _cells(run, summary):
            key = (dataset, version_of(run), metric, mode)
            line = lines.setdefault(key, Line(*key, percent=percent))
            line.cells[model] = cell
            line.lower_is_better = summary is not None and headline_of(summary) in summary.lower_is_better
        for note in summary.notes if summary else ():
            said.setdefault(note, []).append(f"{model} on {dataset}")
    models = dict.fromkeys(files.task.model for files, _ in tasks)
    told = [_told(note, where, len(tasks)) for note, where in said.items()]
    return SummaryTable(tuple(models), _joined(list(lines.values())), tuple(runs), (*notes, *told))


def _joined(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines, with runs that have no figure beside those of other models that have one for the same prompt."""
    homes: dict[tuple[str, str, str], Line] = {}
    for line in lines:
        if line.metric != NO_METRIC:
            homes.setdefault((line.dataset, line.version, line.mode), line)
    for line in lines:
        if line.metric == NO_METRIC and (home := homes.get((line.dataset, line.version, line.mode))):
            home.cells.update(line.cells)
    return tuple(
        line
        for line in lines
        if line.metric != NO_METRIC or (line.dataset, line.version, line.mode) not in homes
    )


def _told(note: str, where: Sequence[str], tasks: int) -> str:
    """A note and whose it is; one of many tasks is said once."""
    if len(where) == tasks > 1:
        return f"all: {note}"
    return f"{'; '.join(where) if len(where) <= _NAMED else f'{len(where)} of {tasks} tasks'}: {note}"


def _cells(run: RunRecord, summary: RunSummary | None) -> Iterator[tuple[str, bool, Cell]]:
    """Metric, whether it is a share, and figure."""
    name = None if summary is None else headline_of(summary)
    if summary is None or name is None:
        why = run.error or run.status if summary is None else summary.unscored or "no sample gave a score"
        counts = (0, 0) if summary is None else (summary.evaluated, summary.failed)
        ends = {} if summary is None else dict(summary.outcomes)
        yield (
            NO_METRIC,
            True,
            Cell(run.id, "–", samples=counts[0], failed=counts[1], outcomes=ends, remark=why),
        )
        return
    metric = summary.metrics[name]
    share = is_share(metric)
    shown = name if share else f"{name} (not in percent)"
    yield averaged(shown, summary.repeats), share, _cell(run, summary, metric, share)
    for figure, metrics in summary.over_repeats.items():
        if name in metrics:
            yield figure, share, _cell(run, summary, metrics[name], share)


def _cell(run: RunRecord, summary: RunSummary, metric: MetricSummary, share: bool) -> Cell:
    factor = 100.0 if share else 1.0
    remark = "" if summary.comparable else "partial" if summary.partial else "not comparable"
    return Cell(
        run.id,
        f"{metric.value * factor:.2f}",
        metric.value * factor,
        None if metric.ci_low is None else metric.ci_low * factor,
        None if metric.ci_high is None else metric.ci_high * factor,
        metric.count,
        summary.evaluated,
        summary.failed,
        dict(summary.outcomes),
        remark,
        metric.too_few,
    )
