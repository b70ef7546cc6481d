"""Requests of a load test as files of their own."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from load_tests import sweep
from made_records import failed

from benchwright.core import UsageError
from benchwright.perf import RequestOutcome, Requests
from benchwright.reports.files.load import export_requests, request_lines


def test_every_format_has_every_request(tmp_path: Path) -> None:
    requests = Requests.of(sweep()[0])
    for format in ("jsonl", "csv", "parquet"):
        assert export_requests(requests, tmp_path / f"r.{format}", format) == 450
    rows = pq.read_table(tmp_path / "r.parquet").to_pylist()
    assert [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()] == rows
    with (tmp_path / "r.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert [float(each["ended_s"]) for each in cells] == [row["ended_s"] for row in rows]
    assert [json.loads(each["arrivals_s"]) for each in cells] == [row["arrivals_s"] for row in rows]


def test_a_cell_that_looks_like_a_formula_gets_an_apostrophe() -> None:
    requests = Requests.of([failed(0, 0.0, RequestOutcome.HTTP_5XX, error="=1+1")])
    for raw, shown in ((False, "'=1+1"), (True, "=1+1")):
        (row,) = csv.DictReader(io.StringIO("".join(request_lines(requests, "csv", raw=raw))))
        assert row["error"] == shown


def test_no_requests_are_a_heading() -> None:
    (heading,) = request_lines(Requests.of([]), "csv")
    assert heading.startswith("number,stage,phase")


def test_a_workbook_has_no_lines() -> None:
    with pytest.raises(UsageError, match="jsonl, csv, parquet or xlsx"):
        request_lines(Requests.of([]), "xlsx")
