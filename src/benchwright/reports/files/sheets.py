"""Workbooks of runs, suites, load tests and workflows: a summary, and a sheet with every sample, request or step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from benchwright.core import known_secrets, replacing
from benchwright.perf import Requests, file_table
from benchwright.reports.files.export import csv_writer, plain_cell, sample_records, table_columns
from benchwright.reports.files.load import COLUMNS as LOAD_COLUMNS, figure_rows
from benchwright.reports.files.workbook import note_table, write_workbook
from benchwright.results import (
    LoadView,
    RunDetails,
    RunSamples,
    WorkflowDetails,
    WorkTable,
    figures_of,
    graded_notes,
    result_sentence,
    without_formula,
)

SamplesOf: TypeAlias = tuple[Mapping[str, str], RunDetails, RunSamples]
"""The samples of a run, and cells that each of its rows begins with."""
_MOST_OWN = 200
"""The most columns of the data that get a column of their own; the others stay in `row`, as JSON."""
_SUMMARY = ("what", "name", "value", "ci95_low", "ci95_high", "n")
"""The columns of the sheet about a run."""
_FIRST = ("sample_id", "repeat")
"""Columns before those of the data."""
SUITE_COLUMNS = (
    "dataset", "model", "metric", "value", "ci95_low", "ci95_high", "n", "samples", "failed", "leading", "run", "remark",
)  # fmt: skip
"""The columns of an exported suite. `leading`: the best model, or one that cannot be told apart from it."""
STEP_COLUMNS = (
    "step_key",
    "status",
    "attempts",
    "started_at",
    "finished_at",
    "seconds",
    "error",
    "input",
    "output",
    "metrics",
)
"""The columns of an exported workflow."""


def write_sheets(path: Path, runs: Sequence[SamplesOf], **before: Iterable[list[Any]]) -> int:
    """Write the samples of runs into a workbook, after the sheets given by name; without any, after the summary of the first run. Returns
    the number of samples."""
    sheets: dict[str, Iterable[list[Any]]] = dict(before) or {"summary": _run_summary(runs[0][1])}
    counted = _Counted(_samples(runs))
    with replacing(path) as temporary:
        write_workbook(
            temporary, {name: map(_clean, rows) for name, rows in {**sheets, "samples": counted}.items()}
        )
    return counted.rows - 1


class _Counted:
    """Rows that are counted while they pass."""

    def __init__(self, rows: Iterable[list[Any]]) -> None:
        self._all = rows
        self.rows = 0

    def __iter__(self) -> Iterator[list[Any]]:
        for row in self._all:
            self.rows += 1
            yield row


def _samples(runs: Sequence[SamplesOf]) -> Iterator[list[Any]]:
    """Every sample after a header: its place, the data's own columns, what was sent, the reply, scores and figures."""
    labels = list(dict.fromkeys(name for label, _, _ in runs for name in label))
    metrics = list(
        dict.fromkeys(
            name for _, details, _ in runs for name in (details.result.metrics if details.result else ())
        )
    )
    own = _own_columns(samples for _, _, samples in runs)
    scores = [f"score.{name}" for name in metrics]
    rest = [name for name in table_columns(metrics) if name not in (*_FIRST, "scores", "messages")]
    taken = {*labels, *_FIRST, *rest, *scores, "row"}
    titles = [f"row.{name}" if name in taken else name for name in own]
    left = [] if len(own) < _MOST_OWN else ["row"]
    at = rest.index("error")
    yield [*labels, *_FIRST, *titles, *rest[:at], *scores, *rest[at:], *left]
    for label, details, samples in runs:
        for record in sample_records(details, samples, metrics):
            row = record["row"] if isinstance(record["row"], dict) else {}
            cells = [
                *(label.get(name) for name in labels),
                *(record.get(name) for name in _FIRST),
                *(row.get(name) for name in own),
                *(record.get(name) for name in (*rest[:at], *scores, *rest[at:])),
                *(record["row"] for _ in left),
            ]
            yield list(map(plain_cell, cells))


def _own_columns(sources: Iterable[RunSamples]) -> list[str]:
    """The columns of the data, in their order."""
    found: dict[str, None] = {}
    for samples in sources:
        for block in samples.columns(("metadata",)):
            for text in block["metadata"]:
                row = None if text is None else orjson.loads(text)
                if isinstance(row, dict):
                    found.update(dict.fromkeys(map(str, row)))
            if len(found) >= _MOST_OWN:
                return list(found)[:_MOST_OWN]
    return list(found)


def _run_summary(details: RunDetails) -> Iterator[list[Any]]:
    """What a run is, its figures, its outcomes and its notes."""
    run, summary = details.run, details.result
    yield list(_SUMMARY)
    if summary is not None:
        yield ["result", "", result_sentence(run.title, summary)]
    for name, value in (("run", run.id), ("benchmark", run.name), ("model", run.model_title), ("status", run.status),
                        ("data", (run.data or {}).get("name")), ("command", details.command)):  # fmt: skip
        yield ["run", name, value]
    if summary is None:
        return
    for name, metric in figures_of(summary).items():
        yield ["metric", name, metric.value, metric.ci_low, metric.ci_high, metric.count]
    for outcome, count in summary.outcomes.items():
        yield ["outcome", outcome, count]
    for note in graded_notes(summary, run.error or ""):
        yield ["note", note.grade, note.text]


def suite_rows(table: WorkTable) -> Iterator[list[Any]]:
    """Every figure of a suite, after a header."""
    yield list(SUITE_COLUMNS)
    for line in table.lines:
        leading = () if line.standings is None else line.standings.leading
        for model, cell in line.cells.items():
            yield [
                line.dataset, model, line.metric, cell.value, cell.ci_low, cell.ci_high, cell.n, cell.evaluated, cell.failed,
                None if line.standings is None else cell.run_id in leading, cell.run_id, cell.remark or None,
            ]  # fmt: skip


def step_rows(view: WorkflowDetails) -> Iterator[list[Any]]:
    """Every step of a workflow, after a header; inputs and outputs as JSON. What records rows is among the samples."""
    yield list(STEP_COLUMNS)
    for step in view.steps:
        if view.is_row(step):
            continue
        record = step.to_json()
        yield [plain_cell(record.get(name)) for name in STEP_COLUMNS]


def export_suite(table: WorkTable, path: Path, format: str, *, raw: bool = False) -> int:
    """Write the figures of a suite, as a workbook also the samples of its runs, and return the number of figures."""
    if format == "xlsx":
        told = [
            ["dataset", "verdict"],
            *(
                [line.dataset, line.standings.sentence]
                for line in table.lines
                if line.standings and line.verdict
            ),
        ]
        runs: list[SamplesOf] = [
            ({"model": run.model, "dataset": run.dataset}, run.details, run.samples) for run in table.runs
        ]
        write_sheets(path, runs, summary=suite_rows(table), verdicts=told, notes=note_table(table.notes))
        return sum(len(line.cells) for line in table.lines)
    return _write_lines(path, suite_rows(table), format, raw)


def export_workflow(
    view: WorkflowDetails, samples: RunSamples, path: Path, format: str, *, raw: bool = False
) -> int:
    """Write the steps of a workflow, as a workbook after a summary and its rows. Returns the number of the rows in a workbook, else of the steps;
    without rows, of the steps."""
    if format == "xlsx":
        counted = _Counted(step_rows(view))
        sheets: dict[str, Iterable[list[Any]]] = {"summary": workflow_summary(view), "steps": counted}
        if view.numbers:
            every = counted
            counted = _Counted(_samples([({}, view.details, samples)]))
            sheets = {"summary": sheets["summary"], "samples": counted, "steps": every}
        with replacing(path) as temporary:
            write_workbook(temporary, {name: map(_clean, rows) for name, rows in sheets.items()})
        return counted.rows - 1
    return _write_lines(path, step_rows(view), format, raw)


def workflow_summary(view: WorkflowDetails) -> Iterator[list[Any]]:
    """What a workflow is and its metrics, after a header."""
    run = view.run
    yield list(_SUMMARY)
    for name, value in (("run", run.id), ("workflow", run.name), ("status", run.status), ("error", run.error),
                        ("starts", run.starts), ("input", plain_cell(run.input)), ("output", plain_cell(run.output))):  # fmt: skip
        yield ["run", name, value]
    scores = {} if view.details.result is None else view.details.result.metrics
    for name, score in scores.items():
        yield ["score", name, score.value, score.ci_low, score.ci_high, score.count]
    for name, totals in view.totals.items():
        if name not in scores:
            yield ["metric", name, totals.mean, None, None, totals.count]
    for note in view.notes:
        yield ["note", note.grade, note.text]


def export_load(view: LoadView, requests: Requests, path: Path) -> int:
    """Write a load test as a workbook: its figures, and every request. Returns the number of requests."""
    found = file_table(requests)

    def rows() -> Iterator[list[Any]]:
        yield list(found.column_names)
        for batch in found.to_batches(max_chunksize=2_000):
            for row in batch.to_pylist():
                yield [plain_cell(cell) for cell in row.values()]

    figures = ([row.get(name) for name in LOAD_COLUMNS] for row in figure_rows(view))
    sheets: dict[str, Iterable[list[Any]]] = {
        "summary": ([*LOAD_COLUMNS], *figures), **({"notes": note_table(view.notes)} if view.notes else {}), "requests": rows(),
    }  # fmt: skip
    with replacing(path) as temporary:
        write_workbook(temporary, {name: map(_clean, each) for name, each in sheets.items()})
    return len(requests)


def table_lines(rows: Iterable[list[Any]], format: str, *, raw: bool = False) -> Iterator[str]:
    """Rows as lines, the first being the header: `jsonl`, or `csv`."""
    following = iter(rows)
    header = next(following)
    write = csv_writer()
    if format == "csv":
        yield write(header)
    for row in map(_clean, following):
        if format == "csv":
            yield write(row if raw else [without_formula(cell) for cell in row])
        else:
            yield orjson.dumps(dict(zip(header, row, strict=False))).decode() + "\n"


def _write_lines(path: Path, rows: Iterable[list[Any]], format: str, raw: bool) -> int:
    count = -1 if format == "csv" else 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as text:
        for line in table_lines(rows, format, raw=raw):
            text.write(line)
            count += 1
    return count


def _clean(cells: list[Any]) -> list[Any]:
    """Cells without secrets."""
    return [known_secrets().clean(cell) if isinstance(cell, str) else cell for cell in cells]
