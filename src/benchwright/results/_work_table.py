"""The table of a work folder: a line for each dataset and metric, a column for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field as struct_field
from msgspec.structs import replace

from benchwright.core import (
    OUTCOMES,
    STRATEGIES,
    JsonObject,
    JsonValue,
    MetricSummary,
    RunSummary,
)
from benchwright.results._benchmarks import recorded_benchmark
from benchwright.results._figures import (
    METRIC_NAMES,
    averaged,
    cost_lines,
    headline_of,
    is_fraction,
    no_interval,
)
from benchwright.results._run_page import ended
from benchwright.results._runs import RunDetails
from benchwright.results._samples import RunSamples
from benchwright.store import Store

_NAMED = 3
"""The most tasks that a note names; if there are more, it gives their number."""
HEADINGS = ("dataset", "version", "metric", "mode")
"""The columns before the models: the first fields of a `Line`."""
NO_METRIC = "–"
"""The metric of a run without figures."""


class WorkTask(Struct, frozen=True):
    """One model on one dataset."""

    model: str
    """The model's name, as files and tables show it."""
    dataset: str
    """The dataset's name, as files and tables show it."""
    run_id: int
    """The run, by its number in the workspace."""


class WorkRun(Struct, frozen=True):
    """A task with its run."""

    task: WorkTask
    """Model, dataset and number of the run."""
    details: RunDetails
    """The run."""
    samples: RunSamples
    """Its samples."""

    @property
    def title(self) -> str:
        """`dataset on model`."""
        return f"{self.task.dataset} on {self.task.model}"


class Cell(Struct, frozen=True):
    """One figure of one run."""

    run_id: int
    """Where it comes from."""
    text: str
    """Two decimals; `–` if there is no figure."""
    value: float | None = None
    """In percent if the metric is a share."""
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
    outcomes: dict[str, int] = struct_field(default_factory=dict)
    """Samples per outcome, with an entry for every outcome; empty if the run has no result."""
    remark: str = ""
    """Why the figure is missing, or must not be compared."""
    too_few: bool = False
    """Whether there are too few rows to rely on the interval."""
    no_interval: str = "too few"
    """The text in tables if there is no interval."""

    @property
    def interval(self) -> str:
        """`61.20 – 74.05`. An interval of zero width is not certainty and is not shown."""
        if self.low is None or self.high is None or self.low == self.high:
            return "–" if self.value is None else self.no_interval
        return f"{self.low:.2f} – {self.high:.2f}{' (too few)' * self.too_few}"

    def to_json(self) -> JsonObject:
        """Unrounded, with the run."""
        return {
            "value": self.value,
            METRIC_NAMES["ci_low"]: self.low,
            METRIC_NAMES["ci_high"]: self.high,
            "n": self.count,
            "samples": self.samples,
            "failed": self.failed,
            "outcomes": dict(self.outcomes) or None,
            "run_id": self.run_id,
            "remark": self.remark or None,
        }


class Line(Struct):
    """One dataset and metric."""

    dataset: str
    """The dataset's name."""
    version: str
    """Six digits of the prompt."""
    metric: str
    """The metric."""
    mode: str
    """How rows become requests."""
    percent: bool = True
    """Whether its figures are percentages."""
    lower_is_better: bool = False
    """Whether the smallest figure is the best."""
    cells: dict[str, Cell] = struct_field(default_factory=dict)
    """By model."""

    @property
    def best(self) -> float | None:
        """The best figure of all models."""
        chosen = min if self.lower_is_better else max
        return chosen((cell.value for cell in self.cells.values() if cell.value is not None), default=None)

    def to_json(self) -> JsonObject:
        """`{dataset, version, metric, mode, unit, models: {name: cell}}`."""
        return {
            "dataset": self.dataset,
            "version": self.version,
            "metric": self.metric,
            "mode": self.mode,
            "unit": "percent" if self.percent else "as scored",
            "models": {model: cell.to_json() for model, cell in self.cells.items()},
        }


FIGURE_COLUMNS: dict[str, Callable[[str, Line, Cell], str]] = {
    "model": lambda model, line, cell: model,
    "dataset": lambda model, line, cell: line.dataset,
    "metric": lambda model, line, cell: line.metric,
    "value": lambda model, line, cell: cell.text,
    "95 % interval": lambda model, line, cell: cell.interval,
    "n": lambda model, line, cell: f"{cell.count:,}",
    "samples": lambda model, line, cell: f"{cell.samples:,}",
    "failed": lambda model, line, cell: f"{cell.failed:,}",
    "run": lambda model, line, cell: str(cell.run_id),
    "remark": lambda model, line, cell: cell.remark,
    **{
        outcome.value: lambda model, line, cell, name=outcome.value: _outcome(cell, name)  # type: ignore[misc]
        for outcome in OUTCOMES
    },
}
"""The columns of the table of all figures, by heading: what each figure of a model and a line is based on."""


class WorkTable(Struct, frozen=True):
    """The content of a work folder's summary."""

    models: tuple[str, ...]
    """Columns."""
    lines: tuple[Line, ...]
    """Rows."""
    runs: tuple[WorkRun, ...]
    """Every run, under a unique name."""
    notes: tuple[str, ...]
    """Notes on the numbers, each once."""

    def figures(self) -> Iterator[list[str]]:
        """What each figure is based on: a cell for each of `FIGURE_COLUMNS`."""
        for line in self.lines:
            for model, cell in line.cells.items():
                yield [text(model, line, cell) for text in FIGURE_COLUMNS.values()]

    def to_json(self) -> JsonObject:
        """`{models, lines, notes}`."""
        lines: list[JsonValue] = [line.to_json() for line in self.lines]
        return {"models": list(self.models), "lines": lines, "notes": list(self.notes)}


def work_page(table: WorkTable) -> JsonObject:
    """Everything that the page of a suite shows: the table, with its intervals in words, and how its runs ended."""
    lines: list[JsonValue] = [
        {
            **line.to_json(),
            "best": line.best,
            "intervals": {model: cell.interval for model, cell in line.cells.items()},
        }
        for line in table.lines
    ]
    runs: list[JsonValue] = []
    costs: list[JsonValue] = []
    for run in table.runs:
        summary, recorded = run.details.result, run.details.run
        there = summary is not None and summary.evaluated
        why = "" if there else recorded.error or recorded.status
        runs.append({"title": run.title, "why": why, "outcomes": ended(summary) if summary and there else []})
        if summary is not None and (spent := cost_lines(summary.cost)):
            costs.append([run.title, [*spent]])
    return {**table.to_json(), "lines": lines, "runs": runs, "costs": costs}


def work_runs(store: Store, tasks: Sequence[WorkTask]) -> list[WorkRun]:
    """The tasks with their runs, from the store."""
    found = []
    for task in tasks:
        run = store.run(task.run_id)
        found.append(WorkRun(task, recorded_benchmark(store, run), RunSamples(store, run)))
    return found


def work_table(runs: Sequence[WorkRun], notes: Sequence[str] = ()) -> WorkTable:
    """One line for each dataset, prompt and metric, in the order of the runs."""
    lines: dict[tuple[str, str, str, str], Line] = {}
    about: dict[str, list[str]] = {}
    shown = list(_with_own_names(runs))
    for run in shown:
        details, summary = run.details, run.details.result
        facts = STRATEGIES.get(str(details.manifest.get("strategy")))
        mode = "–" if facts is None else facts.mode
        for metric, percent, cell in _cells(details, summary):
            key = (run.task.dataset, details.prompt_version, metric, mode)
            line = lines.setdefault(key, Line(*key, percent=percent))
            line.cells[run.task.model] = cell
            line.lower_is_better = summary is not None and headline_of(summary) in summary.lower_is_better
        for note in summary.notes if summary else ():
            about.setdefault(note, []).append(run.title)
    models = tuple(dict.fromkeys(run.task.model for run in runs))
    named = [_named_note(note, where, len(runs)) for note, where in about.items()]
    return WorkTable(models, _joined(list(lines.values())), tuple(shown), (*notes, *named))


def _outcome(cell: Cell, outcome: str) -> str:
    return f"{cell.outcomes[outcome]:,}" if outcome in cell.outcomes else "–"


def _with_own_names(runs: Sequence[WorkRun]) -> Iterator[WorkRun]:
    """The runs. If two have equal names, the second dataset gets a number, so that both are shown."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        task, number = run.task, 1
        while (task.model, task.dataset) in seen:
            number += 1
            task = replace(task, dataset=f"{run.task.dataset}-{number}")
        seen.add((task.model, task.dataset))
        yield replace(run, task=task)


def _joined(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Merge the lines of runs without figures into those of other models with figures for the same prompt."""
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


def _named_note(note: str, where: Sequence[str], runs: int) -> str:
    """A note with its runs; a note of many runs is given once."""
    if len(where) == runs > 1:
        return f"all: {note}"
    return f"{'; '.join(where) if len(where) <= _NAMED else f'{len(where)} of {runs} tasks'}: {note}"


def _cells(details: RunDetails, summary: RunSummary | None) -> Iterator[tuple[str, bool, Cell]]:
    """Metric, whether it is a share, and figure."""
    run = details.run
    name = None if summary is None else headline_of(summary)
    if summary is None:
        yield NO_METRIC, True, Cell(run.id, "–", remark=run.error or run.status)
        return
    counts = Cell(
        run.id, "–", samples=summary.evaluated, failed=summary.failed, outcomes=dict(summary.outcomes)
    )
    if name is None:
        yield NO_METRIC, True, replace(counts, remark=summary.unscored or "no sample gave a score")
        return
    metric = summary.metrics[name]
    share = is_fraction(metric)
    shown = name if share else f"{name} (not in percent)"
    yield averaged(shown, summary.repeats), share, _cell(counts, summary, metric, share)
    for figure, metrics in summary.over_repeats.items():
        if name in metrics:
            yield figure, share, _cell(counts, summary, metrics[name], share)


def _cell(counts: Cell, summary: RunSummary, metric: MetricSummary, share: bool) -> Cell:
    factor = 100.0 if share else 1.0
    return replace(
        counts,
        text=f"{metric.value * factor:.2f}",
        value=metric.value * factor,
        low=None if metric.ci_low is None else metric.ci_low * factor,
        high=None if metric.ci_high is None else metric.ci_high * factor,
        count=metric.count,
        too_few=metric.too_few,
        no_interval=no_interval(metric),
        remark="" if summary.comparable else "partial" if summary.partial else "not comparable",
    )
