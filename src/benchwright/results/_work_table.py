"""The table of a work folder: a line for each dataset and metric, a column for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field as struct_field
from msgspec.structs import replace

from benchwright.core import (
    STRATEGIES,
    JsonObject,
    JsonValue,
    Note,
    NoteGrade,
    Outcome,
    RunSummary,
    rfc3339,
)
from benchwright.results._benchmarks import recorded_benchmark
from benchwright.results._clusters import Clusters, ScoreColumns
from benchwright.results._comparing import disagreements
from benchwright.results._figures import (
    METRIC_NAMES,
    averaged,
    cost_lines,
    graded_notes,
    headline_of,
    notes_json,
)
from benchwright.results._found_runs import FoundRun
from benchwright.results._run_page import ended
from benchwright.results._runs import RunDetails
from benchwright.results._samples import RunSamples
from benchwright.results._side_by_side import Pair, SideCell, side_cell
from benchwright.results._standings import Standings, every_pair
from benchwright.store import Store

_NAMED = 3
"""The most tasks that a note names; if there are more, it gives their number."""
_HEADINGS = ("dataset", "version", "metric", "mode")
"""The columns before the models: the first fields of a `WorkLine`."""
_GRADES = [str(grade) for grade in NoteGrade]
NO_METRIC = "–"
"""The metric of a run without figures."""


class WorkTask(Pair, frozen=True):
    """One pair of a work folder."""

    run_id: int
    """The run, by its number in the workspace."""


class WorkRun(WorkTask, frozen=True):
    """A task with its run."""

    details: RunDetails
    samples: RunSamples
    found: FoundRun
    """The run as comparisons read it."""

    @classmethod
    def of(cls, store: Store, task: WorkTask) -> WorkRun:
        run = store.run(task.run_id)
        details, samples = recorded_benchmark(store, run), RunSamples(store, run)
        return cls(task.model, task.dataset, task.run_id, details, samples, FoundRun.of(run, store))


class WorkLine(Struct):
    """One dataset and metric."""

    dataset: str
    """The dataset's name."""
    version: str
    """Six digits of the prompt."""
    metric: str
    mode: str
    """How rows become requests."""
    percent: bool = True
    """Whether its figures are percentages."""
    lower_is_better: bool = False
    """Whether the smallest figure is the best."""
    score: str | None = None
    """The score of each sample that its figures are means of; None: they are not means of one score."""
    standings: Standings | None = None
    """Which model is the best, and which cannot be told apart from it; None: fewer than two can be compared."""
    cells: dict[str, SideCell] = struct_field(default_factory=dict)
    """By model."""

    @property
    def verdict(self) -> str:
        """Which model is the best and whether that can be believed, in a sentence; empty if nothing can be compared."""
        said = "" if self.standings is None else self.standings.sentence
        return f"{self.dataset}: {said}" if said else ""

    def figure(self, value: float | None) -> float | None:
        """A figure of a cell, in percent if the metric is a share."""
        return None if value is None else value * (100.0 if self.percent else 1.0)

    def text(self, value: float | None, missing: str = "–") -> str:
        """A figure of a cell in two decimals."""
        figure = self.figure(value)
        return missing if figure is None else f"{figure:.2f}"

    def interval(self, cell: SideCell) -> str:
        """`61.20 – 74.05`. An interval of zero width is not certainty and is not shown."""
        if cell.ci_low is None or cell.ci_high is None or cell.ci_low == cell.ci_high:
            return "–" if cell.value is None else cell.no_interval
        return f"{self.text(cell.ci_low)} – {self.text(cell.ci_high)}{' (too few)' * cell.too_few}"

    def to_json(self, *, scaled: bool = True) -> JsonObject:
        """`{dataset, version, metric, mode, unit, standings, models: {name: cell}}`. `scaled`: shares are percentages."""
        return {
            "dataset": self.dataset,
            "version": self.version,
            "metric": self.metric,
            "mode": self.mode,
            "unit": "percent" if self.percent and scaled else "share" if self.percent else "as scored",
            "standings": None if self.standings is None else self.standings.to_json(),
            "models": {model: self._cell_json(cell, scaled) for model, cell in self.cells.items()},
        }

    def _cell_json(self, cell: SideCell, scaled: bool) -> JsonObject:
        """Unrounded, with the run."""
        value, low, high = (
            self.figure(each) if scaled else each for each in (cell.value, cell.ci_low, cell.ci_high)
        )
        return {
            "value": value,
            METRIC_NAMES["ci_low"]: low,
            METRIC_NAMES["ci_high"]: high,
            "n": cell.n,
            "samples": cell.evaluated,
            "failed": cell.failed,
            "outcomes": dict(cell.outcomes) or None,
            "run_id": cell.run_id,
            "leading": None if self.standings is None else cell.run_id in self.standings.leading,
            "remark": cell.remark or None,
        }


_FIGURE_COLUMNS: dict[str, Callable[[str, WorkLine, SideCell], str]] = {
    "model": lambda model, line, cell: model,
    "dataset": lambda model, line, cell: line.dataset,
    "metric": lambda model, line, cell: line.metric,
    "value": lambda model, line, cell: line.text(cell.value),
    "95 % interval": lambda model, line, cell: line.interval(cell),
    "n": lambda model, line, cell: f"{cell.n:,}",
    "samples": lambda model, line, cell: f"{cell.evaluated:,}",
    "failed": lambda model, line, cell: f"{cell.failed:,}",
    "run": lambda model, line, cell: str(cell.run_id),
    "remark": lambda model, line, cell: cell.remark,
    **{
        outcome.value: lambda model, line, cell, name=outcome.value: _outcome(cell, name)  # type: ignore[misc]
        for outcome in Outcome
    },
}
"""The columns of the table of all figures, by heading: what each figure of a model and a line is based on."""


class WorkTable(Struct, frozen=True):
    """The content of a work folder's summary."""

    models: tuple[str, ...]
    """Columns."""
    lines: tuple[WorkLine, ...]
    """Rows."""
    runs: tuple[WorkRun, ...]
    """Every run, under a unique name."""
    notes: tuple[Note, ...]
    """Notes on the numbers, each once, the gravest first."""

    @classmethod
    def of(cls, runs: Sequence[WorkRun], notes: Sequence[str] = ()) -> WorkTable:
        """One line for each dataset, prompt and metric, in the order of the runs."""
        lines: dict[tuple[str, str, str, str], WorkLine] = {}
        about: dict[Note, list[str]] = {}
        shown = list(_with_own_names(runs))
        for run in shown:
            details, summary = run.details, run.details.result
            facts = STRATEGIES.get(str(details.manifest.get("strategy")))
            mode = "–" if facts is None else facts.mode
            for metric, percent, score, cell in _cells(run.model, details, summary):
                key = (run.dataset, details.prompt_version, metric, mode)
                line = lines.setdefault(key, WorkLine(*key, percent=percent, score=score))
                line.cells[run.model] = cell
                line.lower_is_better = summary is not None and headline_of(summary) in summary.lower_is_better
            for note in graded_notes(summary, details.run.error or "") if summary else ():
                about.setdefault(note, []).append(run.label)
        models = tuple(dict.fromkeys(run.model for run in runs))
        named = [
            replace(note, text=_named_note(note.text, where, len(runs))) for note, where in about.items()
        ]
        known = [*(Note("", note, NoteGrade.INFORMATION) for note in notes), *named]
        known.sort(key=lambda note: _GRADES.index(note.grade))
        joined = _joined(list(lines.values()))
        found = {run.details.run.id: run.found for run in shown}
        for line in joined:
            line.standings = _standings(line, found)
        return cls(models, joined, tuple(shown), tuple(known))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Of each dataset: which model is the best, and whether that can be believed."""
        return tuple(line.verdict for line in self.lines if line.verdict)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of the first table: what a line is about, then the models."""
        return (*_HEADINGS, *self.models)

    def tables(self) -> tuple[tuple[Sequence[str], list[list[str]]], tuple[Sequence[str], list[list[str]]]]:
        """The headings and rows of two tables: a line for each dataset and metric, and what each of its figures is based on."""
        main, based = [], []
        for line in self.lines:
            cells = [line.cells.get(model) for model in self.models]
            figures = ["–" if cell is None else line.text(cell.value) for cell in cells]
            main.append([line.dataset, line.version, line.metric, line.mode, *figures])
            based += [
                [text(model, line, cell) for text in _FIGURE_COLUMNS.values()]
                for model, cell in line.cells.items()
            ]
        return (self.headings, main), (tuple(_FIGURE_COLUMNS), based)

    def to_json(self) -> JsonObject:
        """`{models, verdicts, lines, notes}`."""
        lines: list[JsonValue] = [line.to_json() for line in self.lines]
        return {
            "models": list(self.models),
            "verdicts": list(self.verdicts),
            "lines": lines,
            "notes": notes_json(self.notes),
        }

    def page(self) -> JsonObject:
        """Everything that the page of a suite shows: the table, with its intervals in words, and how its runs ended."""
        lines: list[JsonValue] = [
            {
                **line.to_json(scaled=False),
                "too_few": {model: cell.too_few for model, cell in line.cells.items()},
                "no_interval": {model: cell.no_interval for model, cell in line.cells.items()},
            }
            for line in self.lines
        ]
        runs: list[JsonValue] = []
        costs: list[JsonValue] = []
        for run in self.runs:
            summary, recorded = run.details.result, run.details.run
            there = summary is not None and summary.evaluated
            why = "" if there else recorded.error or recorded.status
            runs.append(
                {
                    "id": recorded.id,
                    "title": run.label,
                    "status": recorded.status,
                    "started_at": rfc3339(recorded.created_at),
                    "why": why,
                    "outcomes": ended(summary) if summary and there else [],
                }
            )
            if summary is not None and (spent := cost_lines(summary.cost)):
                costs.append([run.label, [*spent]])
        return {**self.to_json(), "lines": lines, "runs": runs, "costs": costs}


def _standings(line: WorkLine, found: Mapping[int, FoundRun]) -> Standings | None:
    """Every pair of models on a dataset, tested on the rows that both have. Runs that are partial, or have too many failures, are left
    out; runs on other data, or scored by other rules, are not compared."""
    compared = {
        cell.run_id: cell.model for cell in line.cells.values() if cell.value is not None and not cell.remark
    }
    if line.score is None or len(compared) < 2:
        return None
    clusters, columns = Clusters(), {run: ScoreColumns() for run in compared}
    for run, column in columns.items():
        clusters.read(found[run].samples, column)

    def why_not(a: int, b: int) -> str:
        reasons = list(disagreements(found[a].run, found[b].run))
        return f"the runs {' and '.join(reasons)}" if reasons else ""

    less = line.lower_is_better
    pairs = every_pair(columns, line.score, less=less, why_not=why_not)
    return Standings(compared, line.metric, pairs, less)


def _outcome(cell: SideCell, outcome: str) -> str:
    return f"{cell.outcomes[outcome]:,}" if outcome in cell.outcomes else "–"


def _with_own_names(runs: Sequence[WorkRun]) -> Iterator[WorkRun]:
    """The runs. If two have equal names, the second dataset gets a number, so that both are shown."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        dataset, number = run.dataset, 1
        while (run.model, dataset) in seen:
            number += 1
            dataset = f"{run.dataset}-{number}"
        seen.add((run.model, dataset))
        yield replace(run, dataset=dataset)


def _joined(lines: Sequence[WorkLine]) -> tuple[WorkLine, ...]:
    """Merge the lines of runs without figures into those of other models with figures for the same prompt."""
    homes: dict[tuple[str, str, str], WorkLine] = {}
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
        return f"each run: {note}"
    return f"{'; '.join(where) if len(where) <= _NAMED else f'{len(where)} of {runs} tasks'}: {note}"


def _cells(
    model: str, details: RunDetails, summary: RunSummary | None
) -> Iterator[tuple[str, bool, str | None, SideCell]]:
    """Metric, whether it is a share, the score of samples that it is the mean of, and figure."""
    run = details.run
    name = None if summary is None else headline_of(summary)
    if summary is None or name is None:
        why = run.error or run.status if summary is None else summary.unscored or "no sample gave a score"
        yield NO_METRIC, True, None, side_cell(model, run.id, summary, None, remark=why)
        return
    metric = summary.metrics[name]
    share = metric.is_fraction
    shown = averaged(name if share else f"{name} (not in percent)", summary.repeats)
    over = {figure: metrics[name] for figure, metrics in summary.over_repeats.items() if name in metrics}
    remark = "" if summary.comparable else "partial" if summary.partial else "not comparable"
    yield shown, share, name, side_cell(model, run.id, summary, metric, remark=remark)
    for title, found in over.items():
        yield title, share, None, side_cell(model, run.id, summary, found, remark=remark)
