"""Samples of a run as a file of their own: JSON lines, CSV, or the Parquet of the run's folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import encode_json
from benchwright.reports.files.atomic import replacing
from benchwright.reports.files.parquet import write_samples
from benchwright.reports.files.predictions import (
    prediction_line,
    predictions_of,
    sample_ids,
)
from benchwright.reports.files.workbook import write_workbook
from benchwright.reports.terminal.workflows import summary_of
from benchwright.reports.views.settings import endpoint_of
from benchwright.reports.views.text import without_formula
from benchwright.store import RunRecord, Store


def export_samples(store: Store, run: RunRecord, path: Path, kind: str, *, raw: bool = False) -> int:
    """Write the samples of a run and return how many they are. The file is there whole or not at all."""
    if kind == "parquet":
        choices = endpoint_of(run).get("type") == "completions_logprob"
        return write_samples(path, store.samples(run.id), _metrics(run), choices=choices)
    if kind == "xlsx":
        with replacing(path) as temporary:
            written, _ = write_workbook(temporary, _table(store, run))
        return written - 1
    count = -1 if kind == "csv" else 0  # the heading is no sample
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for line in exported_lines(store, run, kind, raw=raw):
            file.write(line)
            count += 1
    return count


def exported_lines(store: Store, run: RunRecord, kind: str, *, raw: bool = False) -> Iterator[str]:
    """The samples as texts that end their lines, streamed: `jsonl`, or `csv` with a heading. Cells of CSV that a
    spreadsheet would take for formulas get an apostrophe, unless they are wanted `raw`."""
    if kind != "csv":
        yield from (line.decode() for line in _lines(store, run))
        return
    write = _csv_writer()
    for cells in _table(store, run):
        yield write([_csv_cell(cell) if raw else without_formula(_csv_cell(cell)) for cell in cells])


def _lines(store: Store, run: RunRecord) -> Iterator[bytes]:
    identify = sample_ids(run.id, str(store.workspace.root))
    return (prediction_line(predicted, run.name, identify) for predicted in predictions_of(store, run.id))


def _table(store: Store, run: RunRecord) -> Iterator[list[Any]]:
    """The samples as cells, behind a heading: texts, numbers, truth values, and JSON where a value is none of them."""
    metrics = _metrics(run)
    yield [*_COLUMNS, *(f"score.{name}" for name in metrics), "row"]
    for line in _lines(store, run):
        record: dict[str, Any] = orjson.loads(line)
        scores = record["scores"] or {}
        record["error"] = (record.get("error") or {}).get("message")
        numbers = [scores.get(name) for name in metrics]
        cells = [
            *(record.get(name) for name in _COLUMNS),
            *(int(number) if isinstance(number, bool) else number for number in numbers),
            record["row"],
        ]
        yield [encode_json(cell).decode() if isinstance(cell, dict | list) else cell for cell in cells]


_COLUMNS = (
    "data_abbr", "id", "repeat", "success", "uuid", "origin_prompt", "prediction", "gold", "outcome", "error", "scores",
    "reasoning", "prompt_tokens", "completion_tokens", "latency_s", "ttft_s", "finish_reason",
)  # fmt: skip


def _metrics(run: RunRecord) -> list[str]:
    summary = summary_of(run)
    return [] if summary is None else list(summary.metrics)


def _csv_writer() -> Callable[[list[Any]], str]:
    import csv

    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")  # so that a cell with either of them is quoted

    def write(cells: list[Any]) -> str:
        stream.seek(0)
        stream.truncate()
        writer.writerow(cells)
        return stream.getvalue()[:-2] + "\n"

    return write


def _csv_cell(value: Any) -> Any:
    return ("true" if value else "false") if isinstance(value, bool) else value
