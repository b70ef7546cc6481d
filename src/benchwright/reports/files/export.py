"""Samples of a run as a file of their own: JSON lines, CSV, a workbook, or the Parquet of the run's folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import encode_json
from benchwright.reports.files.atomic import replacing
from benchwright.reports.files.parquet import write_samples
from benchwright.reports.files.predictions import TABLE_COLUMNS, prediction_line, sample_ids
from benchwright.reports.files.workbook import write_workbook
from benchwright.reports.views.runs import RunDetails
from benchwright.reports.views.samples import RunSamples
from benchwright.reports.views.text import without_formula

TEXT_FORMATS = ("jsonl", "csv")
"""Formats that can be printed, line by line."""


def export_samples(
    details: RunDetails, samples: RunSamples, path: Path, format: str, *, raw: bool = False
) -> int:
    """Write the samples of a run and return how many they are. The file is there whole or not at all."""
    if format == "parquet":
        return write_samples(path, samples, _metrics(details), choices=details.ranks_choices)
    if format == "xlsx":
        with replacing(path) as temporary:
            written, _ = write_workbook(temporary, _table(details, samples))
        return written - 1
    count = -1 if format == "csv" else 0  # the heading is no sample
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        for line in exported_lines(details, samples, format, raw=raw):
            file.write(line)
            count += 1
    return count


def exported_lines(
    details: RunDetails, samples: RunSamples, format: str, *, raw: bool = False
) -> Iterator[str]:
    """The samples as texts that end their lines, streamed: `jsonl`, or `csv` with a heading. Cells of CSV that a
    spreadsheet would take for formulas get an apostrophe, unless `raw` is set."""
    if format != "csv":
        yield from (line.decode() for line in _lines(details, samples))
        return
    write = _csv_writer()
    for cells in _table(details, samples):
        yield write([_csv_cell(cell) if raw else without_formula(_csv_cell(cell)) for cell in cells])


def _lines(details: RunDetails, samples: RunSamples) -> Iterator[bytes]:
    identify = sample_ids(samples.identity)
    return (prediction_line(each, details.run.name, identify) for each in samples.predictions())


def _table(details: RunDetails, samples: RunSamples) -> Iterator[list[Any]]:
    """The samples as cells, after a heading: texts, numbers, truth values, and JSON where a value is none of them."""
    metrics = _metrics(details)
    yield [*TABLE_COLUMNS, *(f"score.{name}" for name in metrics), "row"]
    for line in _lines(details, samples):
        record: dict[str, Any] = orjson.loads(line)
        scores = record["scores"] or {}
        record["error"] = (record.get("error") or {}).get("message")
        numbers = [scores.get(name) for name in metrics]
        cells = [
            *(record.get(name) for name in TABLE_COLUMNS),
            *(int(number) if isinstance(number, bool) else number for number in numbers),
            record["row"],
        ]
        yield [encode_json(cell).decode() if isinstance(cell, dict | list) else cell for cell in cells]


def _metrics(details: RunDetails) -> list[str]:
    return [] if details.result is None else list(details.result.metrics)


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
