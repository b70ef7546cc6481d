"""Exports the samples of a run: JSON lines, CSV, a workbook, or the Parquet file of the run's folder."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from benchwright.core import JsonObject, Outcome, encode_json, replacing
from benchwright.reports.files.parquet import write_samples
from benchwright.reports.files.workbook import write_workbook
from benchwright.results import COLUMNS, RunDetails, RunSamples, SampleView, without_formula

TEXT_FORMATS = ("jsonl", "csv")
"""Formats that can be printed, line by line."""
Identify: TypeAlias = Callable[[int, int], str]
"""Turns a row number and a repeat into an id."""
EXPORTED = tuple(name for name, column in COLUMNS.items() if column.exported)
"""Columns that keep their names in a prediction. They follow the renamed ones."""
_OWN_NAMES = {"id": "sample_id", "origin_prompt": "prompt", "prediction": "response", "gold": "target"}
"""What predictions of a work folder call otherwise than `samples.parquet`. Exported samples have the names of that file."""
TABLE_COLUMNS = (
    "data_abbr", "sample_id", "repeat", "success", "uuid", "prompt", "response", "target", "outcome", "error", "scores",
    "verdict", "grade", "reason", *EXPORTED, "messages",
)  # fmt: skip
"""Columns of prediction tables that come before the metrics and the row."""


def prediction_line(view: SampleView, error: JsonObject | None, dataset: str, identify: Identify) -> bytes:
    """The sample as one line of JSON, in the names of a work folder."""
    return _line(_predicted(view, error, dataset, identify))


def _predicted(
    view: SampleView, error: JsonObject | None, dataset: str, identify: Identify
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "success": Outcome(view.outcome).has_reply,
        "uuid": identify(view.sample_id, view.repeat),
        "origin_prompt": _prompt(view),
        "prediction": view.response,
        "gold": view.target,
        "outcome": view.outcome,
        "scores": view.scores,
    }
    if error is not None:
        record["error"] = error
    for name in EXPORTED:
        record[name] = getattr(view, name)
    if view.choices is not None:
        record["choices"], record["choices_logprobs"] = view.choices, view.choices_logprobs
    record["row"] = None if view.metadata is None else orjson.Fragment(view.metadata)
    return record


def failed_line(view: SampleView, error: JsonObject | None, dataset: str) -> bytes:
    """A sample without a score: its prompt and the error."""
    record = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "input": _prompt(view),
        "outcome": view.outcome,
        "error_info": view.error,
        "error": error,
    }
    return _line(record)


def sample_ids(identity: str) -> Identify:
    """Give each sample of a run a unique id, which is the same each time it is written."""
    from uuid import NAMESPACE_URL, uuid5

    space = uuid5(NAMESPACE_URL, identity)
    return lambda sample, repeat: str(uuid5(space, f"{sample}/{repeat}"))


def _prompt(view: SampleView) -> Any:
    """The prompt, or the messages if there are several."""
    if view.messages is None:
        return view.prompt
    messages = orjson.loads(view.messages)
    plain = len(messages) == 1 and isinstance(messages[0].get("content"), str)
    return view.prompt if plain else messages


def _line(record: dict[str, Any]) -> bytes:
    return encode_json(record) + b"\n"


def export_samples(
    details: RunDetails, samples: RunSamples, path: Path, format: str, *, raw: bool = False
) -> int:
    """Write the samples of a run and return their number. The file is complete or absent."""
    if format == "parquet":
        with replacing(path) as temporary, temporary.open("wb") as file:
            return write_samples(file, samples, _metrics(details), choices=details.ranks_choices)
    if format == "xlsx":
        from benchwright.reports.files.sheets import write_sheets  # it reads lines as they are written here

        return write_sheets(path, [({}, details, samples)])
    count = -1 if format == "csv" else 0  # the header is not a sample
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as text:
        for line in exported_lines(details, samples, format, raw=raw):
            text.write(line)
            count += 1
    return count


def exported_lines(
    details: RunDetails, samples: RunSamples, format: str, *, raw: bool = False
) -> Iterator[str]:
    """Stream the samples as lines: `jsonl`, or `csv` with a header. Cells of CSV that a spreadsheet would take
    for formulas get an apostrophe, unless `raw` is set."""
    if format != "csv":
        yield from (line.decode() for line in _lines(details, samples))
        return
    write = csv_writer()
    for cells in _table(details, samples):
        yield write([_csv_cell(cell) if raw else without_formula(_csv_cell(cell)) for cell in cells])


def write_rows(path: Path, format: str, rows: Iterable[list[Any]]) -> int:
    """Write a table whose first row is its header, as `jsonl`, `csv` or `xlsx`, and return the number of rows after it. The file is
    complete or absent. In CSV, a text that a spreadsheet would take for a formula gets an apostrophe."""
    if format == "xlsx":
        with replacing(path) as temporary:
            return write_workbook(temporary, {"labels": rows})[0] - 1
    lines = iter(rows)
    header = next(lines)
    count = 0
    write = csv_writer()
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as text:
        if format == "csv":
            text.write(write(header))
        for cells in lines:
            count += 1
            if format == "csv":
                text.write(write([without_formula(_csv_cell(cell)) for cell in cells]))
            else:
                text.write(_line(dict(zip(header, cells, strict=True))).decode())
    return count


def _lines(details: RunDetails, samples: RunSamples) -> Iterator[bytes]:
    identify = sample_ids(samples.identity)
    for view, error in samples.predictions():
        record = _predicted(view, error, details.run.name, identify)
        messages = record["origin_prompt"]
        record["origin_prompt"] = view.prompt  # as in `samples.parquet`
        if messages != view.prompt:
            record["messages"] = messages
        record["verdict"] = view.verdict
        if view.grade is not None:
            record["grade"], record["reason"] = view.grade, samples.reason(view)
        yield _line({_OWN_NAMES.get(name, name): value for name, value in record.items()})


def _table(details: RunDetails, samples: RunSamples) -> Iterator[list[Any]]:
    """The samples as cells, after a header: strings, numbers, bools, and JSON for other values."""
    metrics = _metrics(details)
    columns = table_columns(metrics)
    yield [*columns, *(f"score.{name}" for name in metrics), "row"]
    for record in sample_records(details, samples, metrics):
        cells = [
            *(record.get(name) for name in columns),
            *(record[f"score.{name}"] for name in metrics),
            record["row"],
        ]
        yield list(map(plain_cell, cells))


def table_columns(metrics: Collection[str]) -> list[str]:
    """The columns of a table of samples: with a judge's grades, if there are any."""
    judged = "judge_score" in metrics or "judge" in metrics
    return [name for name in TABLE_COLUMNS if judged or name not in ("grade", "reason")]


def sample_records(
    details: RunDetails, samples: RunSamples, metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The samples as tables have them: one value for each column of predictions, and for each metric as `score.NAME`."""
    for line in _lines(details, samples):
        record: dict[str, Any] = orjson.loads(line)
        scores = record["scores"] or {}
        record["error"] = (record.get("error") or {}).get("message")
        for name in metrics:
            number = scores.get(name)
            record[f"score.{name}"] = int(number) if isinstance(number, bool) else number
        yield record


def plain_cell(value: Any) -> Any:
    """A value of a table's cell: JSON for lists and tables."""
    return encode_json(value).decode() if isinstance(value, dict | list) else value


def _metrics(details: RunDetails) -> list[str]:
    return [] if details.result is None else list(details.result.metrics)


def csv_writer() -> Callable[[list[Any]], str]:
    import csv

    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")  # so that a cell with either character is quoted

    def write(cells: list[Any]) -> str:
        stream.seek(0)
        stream.truncate()
        writer.writerow(cells)
        return stream.getvalue()[:-2] + "\n"

    return write


def _csv_cell(value: Any) -> Any:
    return ("true" if value else "false") if isinstance(value, bool) else value
