"""The comparison of a suite: one row per dataset and metric, one cell per model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import JsonObject, MetricSummary, Note, NoteGrade, RunSummary, as_json
from benchwright.results._figures import (
    figures_of,
    graded_notes,
    headline_of,
    no_interval,
    number,
    outcome_counts,
    summary_of,
)
from benchwright.store import RunRecord

Mark: TypeAlias = Literal["failed", "not begun", "partial", "not comparable"]
"""Reasons why a number cannot be compared."""
_GRADES = [str(grade) for grade in NoteGrade]
SIGNS: dict[Mark, tuple[str, str]] = {
    "failed": ("!", "failed"),
    "not begun": ("·", "interrupted before it began"),
    "partial": ("~", "stopped before its end"),
    "not comparable": ("*", "too many samples failed: not comparable"),
}
"""The sign of each mark, and what it means."""


class Pair(Struct, frozen=True):
    """One model on one dataset."""

    model: str
    """The model's name in tables and files."""
    dataset: str
    """The dataset's name in tables and files."""

    @property
    def label(self) -> str:
        """`dataset on model`."""
        return f"{self.dataset} on {self.model}"


class SideRun(Pair, frozen=True):
    """One run of a suite."""

    run: RunRecord
    """The run, as it is now."""
    problem: str = ""
    """Why it has no numbers, if it has none."""


class SideCell(Struct, frozen=True):
    """One metric of one model on one dataset."""

    model: str
    """The model's name."""
    run_id: int
    value: float | None
    """The mean; None: the run has no such metric."""
    ci_low: float | None
    """Lower end of the 95 % interval."""
    ci_high: float | None
    """Upper end of the 95 % interval."""
    n: int
    """Values in the mean."""
    evaluated: int
    """Samples that have an outcome."""
    failed: int
    """Samples without a score."""
    outcomes: dict[str, int]
    """Samples per outcome, with an entry for every outcome; empty if the run has no result."""
    marks: tuple[Mark, ...]
    """Reasons why the cell cannot be compared."""
    too_few: bool = False
    """Whether there are too few rows to rely on the interval."""
    no_interval: str = "too few"
    """The text in tables if there is no interval; `–`: the metric needs none."""
    remark: str = ""
    """Why the figure is missing, or must not be compared, in the words of a work folder."""

    @property
    def text(self) -> str:
        """`0.7500 (0.41 – 0.93) *`. An interval of zero width is not certainty and is not shown."""
        signs = "".join(SIGNS[mark][0] for mark in self.marks)
        if self.value is None:
            return f"– {signs}".rstrip()
        text = number(self.value)
        if self.ci_low is not None and self.ci_high is not None and self.ci_low != self.ci_high:
            text += f" ({_short(self.ci_low)} – {_short(self.ci_high)})"
        elif self.no_interval != "–":
            text += f" ({self.no_interval})"
        return f"{text} {signs}".rstrip()

    @property
    def ended(self) -> str:
        """All outcomes with their counts; empty if the run has no result."""
        return outcome_counts(self.outcomes) if self.outcomes else ""

    @property
    def counts(self) -> str:
        """The number of samples and of failed ones, and the run."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.evaluated:,}{failed}, run {self.run_id}"


class SideRow(Struct, frozen=True):
    """One metric of one dataset, for all models."""

    dataset: str
    """The dataset's name."""
    metric: str | None
    """The metric's name; None if no run has one."""
    headline: bool
    """Whether it is the headline metric of the dataset."""
    cells: tuple[SideCell, ...]
    """One per model that the dataset ran on, in the order of the models."""


class SideBySide(Struct, frozen=True):
    """All runs of a suite."""

    models: tuple[str, ...]
    """Models, in order."""
    rows: tuple[SideRow, ...]
    """Datasets in order, the headline of each first."""
    notes: tuple[Note, ...]
    """Notes below the numbers, each with its runs, the gravest first."""
    verdicts: tuple[str, ...] = ()
    """Of each dataset: which model is the best, and whether that can be believed."""

    @classmethod
    def of(
        cls, runs: Sequence[SideRun], *, all_metrics: bool = True, verdicts: Sequence[str] = ()
    ) -> SideBySide:
        """Put runs side by side, with all metrics or only the headline of each dataset."""
        models = tuple(dict.fromkeys(run.model for run in runs))
        rows: list[SideRow] = []
        for dataset in dict.fromkeys(run.dataset for run in runs):
            here = [(run, summary_of(run.run)) for run in runs if run.dataset == dataset]
            metrics = _metric_names([summary for _, summary in here])
            for place, metric in enumerate(metrics if all_metrics else metrics[:1]):
                cells = tuple(_cell(run, summary, metric) for run, summary in here)
                rows.append(SideRow(dataset, metric, place == 0, cells))
            if not metrics:
                cells = tuple(_cell(run, summary, None) for run, summary in here)
                rows.append(SideRow(dataset, None, True, cells))
        return cls(models, tuple(rows), tuple(_notes(runs)), tuple(verdicts))

    @property
    def legend(self) -> str:
        """The meaning of the numbers and their signs."""
        found = dict.fromkeys(mark for row in self.rows for cell in row.cells for mark in cell.marks)
        return " · ".join(["mean (95 % interval)", *(" ".join(SIGNS[mark]) for mark in found)])

    def to_json(self) -> list[JsonObject]:
        """`[{dataset, metric, headline, cells: [{model, run_id, value, ci_low, ci_high, n, evaluated, failed,
        outcomes, marks, too_few}]}]`."""
        rows: list[Any] = [as_json(row) for row in self.rows]
        for row in rows:
            for cell in row["cells"]:
                del cell["no_interval"], cell["remark"]  # words of tables
        return rows


def _short(value: float) -> str:
    return f"{value:.2f}" if abs(value) <= 1 else f"{value:,.1f}"


def _metric_names(summaries: Iterable[RunSummary | None]) -> list[str]:
    """Names of all metrics, the headline first."""
    names: dict[str, None] = {}
    headlines: dict[str, None] = {}
    for summary in summaries:
        if summary is not None:
            names |= dict.fromkeys(figures_of(summary))
            headline = headline_of(summary)
            if headline is not None:
                headlines[headline] = None
    return list({**dict.fromkeys(list(headlines)[:1]), **names})


def _cell(run: SideRun, summary: RunSummary | None, metric: str | None) -> SideCell:
    figures: Mapping[str, MetricSummary] = {} if summary is None else figures_of(summary)
    found = None if metric is None else figures.get(metric)
    return side_cell(run.model, run.run.id, summary, found, marks=_marks(run, summary))


def side_cell(
    model: str,
    run_id: int,
    summary: RunSummary | None,
    metric: MetricSummary | None,
    *,
    marks: tuple[Mark, ...] = (),
    remark: str = "",
) -> SideCell:
    """One metric of a run, with the counts of its samples; None: the run has no figures, or not this metric."""
    return SideCell(
        model=model,
        run_id=run_id,
        value=None if metric is None else metric.value,
        ci_low=None if metric is None else metric.ci_low,
        ci_high=None if metric is None else metric.ci_high,
        n=0 if metric is None else metric.count,
        evaluated=0 if summary is None else summary.evaluated,
        failed=0 if summary is None else summary.failed,
        outcomes={} if summary is None else dict(summary.outcomes),
        marks=marks,
        too_few=metric is not None and metric.too_few,
        no_interval="–" if metric is None else no_interval(metric),
        remark=remark,
    )


def _marks(run: SideRun, summary: RunSummary | None) -> tuple[Mark, ...]:
    if run.run.status in ("queued", "interrupted") and summary is None:
        return ("not begun",)
    if run.problem or summary is None or run.run.status == "failed":
        return ("failed",) if run.problem or run.run.status == "failed" else ("partial",)
    marks: list[Mark] = []
    if summary.partial:
        marks.append("partial")
    elif not summary.comparable:
        marks.append("not comparable")
    return tuple(marks)


def _notes(runs: Sequence[SideRun]) -> list[Note]:
    """The notes of all runs, each once, with its runs unless it applies to all. A count that all have is no sum."""
    about: dict[Note, list[str]] = {}
    for run in runs:
        summary = summary_of(run.run)
        reason = run.problem or (run.run.error or "" if run.run.status in ("failed", "interrupted") else "")
        if summary is not None:
            notes = graded_notes(summary, reason)
        else:
            notes = [Note("", reason, NoteGrade.PROBLEM)] if reason else []
        for note in dict.fromkeys(notes):
            about.setdefault(note, []).append(f"{run.dataset} on {run.model}")
    found = []
    for note, where in sorted(about.items(), key=lambda each: _GRADES.index(each[0].grade)):
        of_all = len(where) == len(runs) > 1
        place = "each run" if of_all else ", ".join(where)
        plain = of_all and not note.text[:1].isdigit()
        found.append(note if plain else replace(note, text=f"{place}: {note.text}"))
    return found
