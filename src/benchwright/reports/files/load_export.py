"""Requests of a load test as a file of their own: JSON lines, CSV, or the Parquet of the test's folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchwright.core import UsageError
from benchwright.perf import Requests, file_table, write_request_file
from benchwright.reports.files.atomic import replacing
from benchwright.reports.views.text import without_formula

_BATCH = 2_000


def export_requests(requests: Requests, path: Path, format: str, *, raw: bool = False) -> int:
    """Write all requests and return how many they are. The file is there whole or not at all."""
    if format == "parquet":
        with replacing(path) as temporary:
            write_request_file(requests, temporary)
        return len(requests)
    lines = request_lines(requests, format, raw=raw)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)
    return len(requests)


def request_lines(requests: Requests, format: str, *, raw: bool = False) -> Iterator[str]:
    """The requests as texts that end their lines: `jsonl`, or `csv` with a heading, where lists are JSON. Cells that a
    spreadsheet would take for formulas get an apostrophe, unless `raw` is set."""
    if format not in ("jsonl", "csv"):
        raise UsageError(f"requests of a load test are written as jsonl, csv or parquet, not {format}")
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
