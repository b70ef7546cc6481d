r"""The files of a load test: `requests.parquet`, `summary.csv`, `summary.json`, `report.html`; and its requests exported."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import (
    VERSION,
    JsonObject,
    JsonValue,
    LoadFile,
    UsageError,
    bridge,
    known_secrets,
    open_artifacts,
    replacing,
)
from benchwright.perf import (
    LATENCIES,
    METRICS,
    PER_REQUEST,
    PER_STAGE,
    Distribution,
    GroupSummary,
    Metric,
    Requests,
    StageSummary,
    file_table,
    write_request_file,
)
from benchwright.reports.pages.report import report_page
from benchwright.results import LoadView, without_formula

COLUMNS = (
    "stage", "level", "group", "figure", "unit", "better", "value", *Distribution.names,
    "ci95_low", "ci95_high", "p99_ci95_low", "p99_ci95_high",
)  # fmt: skip
"""The columns of `summary.csv`. `group` is empty for the whole stage, else `turn 1` or the address of a server. `value` is
the figure of a stage, or the mean of a distribution; `ci95` belongs to `value`."""


def write_load_files(view: LoadView, requests: Requests, *, format: str | None = None) -> list[str]:
    """Write all files of a test and return their names; `format` names a bridge whose files are added."""
    files = open_artifacts(view.run.folder)
    with files.create(LoadFile.REQUESTS) as file:
        write_request_file(requests, file)
    files.write(LoadFile.TABLE, summary_csv(view).encode())
    files.write(LoadFile.REPORT, load_report(view, requests))
    more = [] if format is None else bridge(format).write(view, requests, files)
    # Written last, so that if summary.json exists the others do too.
    files.write(LoadFile.SUMMARY, summary_json(view))
    return [*LoadFile, *more]


def load_report(view: LoadView, requests: Requests) -> bytes:
    """The content of `report.html`."""
    title = f"Load test: {view.run.name} on {view.run.model_title}"
    elsewhere = f"The same figures are in {LoadFile.SUMMARY}."
    return report_page("load", view.page(requests), title=title, elsewhere=elsewhere)


def summary_json(view: LoadView) -> bytes:
    """The content of `summary.json`."""
    run, summary = view.run, view.summary.to_json()
    figures = summary["notes"] if isinstance(summary["notes"], list) else []
    known: list[JsonValue] = [
        {"kind": "known_before", "text": note.text, "grade": note.grade} for note in view.known_before
    ]
    document: JsonObject = {
        "benchwright": VERSION,
        "run": {**run.identity(), "demo": run.demo},
        "settings": view.settings.to_json(),
        "endpoint": view.endpoint,
        "dataset": view.manifest.get("dataset"),
        **summary,
        "notes": [*figures, *known],
    }
    return orjson.dumps(known_secrets().clean_value(document), option=orjson.OPT_INDENT_2) + b"\n"


def summary_csv(view: LoadView) -> str:
    """The content of `summary.csv`: one line per stage and figure, then those of its turns and of its servers."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(figure_rows(view))
    return stream.getvalue()


def figure_rows(view: LoadView) -> Iterator[dict[str, Any]]:
    """The figures of every stage, of its turns and of its servers, by `COLUMNS`."""
    for stage in view.summary.stages:
        yield from _rows(stage)
        for group in (*stage.turns, *stage.urls):
            yield from _group_rows(stage, group)


def _rows(stage: StageSummary) -> list[dict[str, Any]]:
    found = []
    for metric in (*PER_STAGE, *PER_REQUEST):
        row = _named(stage, metric)
        values = stage.metrics.get(metric.key)
        if values is not None:
            row |= _cells(values)
        elif metric.key in stage.figures:
            low, high = stage.intervals.get(metric.key, (None, None))
            row |= {"value": stage.figures[metric.key], "ci95_low": low, "ci95_high": high}
        found.append(row)  # missing figures have a line too, with empty cells, not 0
    return found


def _group_rows(stage: StageSummary, group: GroupSummary) -> list[dict[str, Any]]:
    """The main times of a group of requests; its other figures are in `summary.json`."""
    label = known_secrets().clean(group.label)
    found = []
    for name in LATENCIES:
        values = group.metrics.get(METRICS[name].key)
        cells = {} if values is None else _cells(values)
        found.append({**_named(stage, METRICS[name]), "group": label, **cells})
    return found


def _named(stage: StageSummary, metric: Metric) -> dict[str, Any]:
    """The cells that identify a line."""
    return {
        "stage": stage.stage,
        "level": stage.label,
        "figure": metric.key,
        "unit": metric.unit,
        "better": metric.better,
    }


def _cells(values: Distribution) -> dict[str, Any]:
    low, high = values.mean_ci95 or (None, None)
    p99_low, p99_high = values.p99_ci95 or (None, None)
    return {
        "value": values.mean,
        **values.figures(),
        "ci95_low": low,
        "ci95_high": high,
        "p99_ci95_low": p99_low,
        "p99_ci95_high": p99_high,
    }


_BATCH = 2_000


def export_requests(requests: Requests, path: Path, format: str, *, raw: bool = False) -> int:
    """Write all requests and return their number. The file is complete or absent."""
    if format == "parquet":
        with replacing(path) as temporary, temporary.open("wb") as file:
            write_request_file(requests, file)
        return len(requests)
    lines = request_lines(requests, format, raw=raw)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as text:
        text.writelines(lines)
    return len(requests)


def request_lines(requests: Requests, format: str, *, raw: bool = False) -> Iterator[str]:
    """The requests as complete lines: `jsonl`, or `csv` with a heading, where lists are JSON. Cells that a spreadsheet would
    take for formulas get an apostrophe, unless `raw` is set."""
    if format not in ("jsonl", "csv"):
        raise UsageError(f"requests of a load test are written as jsonl, csv, parquet or xlsx, not {format}")
    return _json_lines(requests) if format == "jsonl" else _csv_lines(requests, raw)


def _json_lines(requests: Requests) -> Iterator[str]:
    for batch in file_table(requests).to_batches(max_chunksize=_BATCH):
        for row in batch.to_pylist():
            yield orjson.dumps(row).decode() + "\n"


def _csv_lines(requests: Requests, raw: bool) -> Iterator[str]:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    table = file_table(requests)
    writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=_BATCH):
        for row in batch.to_pylist():
            cells = [orjson.dumps(cell).decode() if isinstance(cell, list) else cell for cell in row.values()]
            writer.writerow(cells if raw else map(without_formula, cells))
            yield stream.getvalue()
            stream.seek(0)
            stream.truncate()
    if rest := stream.getvalue():  # the heading of a test without requests
        yield rest
