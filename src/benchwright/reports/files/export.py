"""Exports the samples of a run: JSON lines, CSV, a workbook, or the Parquet file of the run's folder."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from benchwright.core import Outcome, encode_json, finite_number, replacing
from benchwright.reports.files.parquet import write_samples
from benchwright.results import COLUMNS, Predicted, RunDetails, RunSamples, SampleView, without_formula

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
    *EXPORTED,
)  # fmt: skip
"""Columns of prediction tables that come before the metrics and the row."""
MOST_ROWS = 1_048_576
"""Maximum number of rows in a sheet."""

MOST_CHARS = 32_767
"""Maximum number of characters in a cell."""

_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{}</Types>"""
_SHEET_TYPE = """<Override PartName="/xl/worksheets/sheet{}.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
_RELATION = """<Relationship Id="rId{number}" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"""
_BOOK = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" \
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{}</sheets></workbook>"""
_NAMED = """<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"""
_SHEET = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">\
<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>\
<cols><col min="1" max="{columns}" width="18" customWidth="1"/></cols><sheetData>"""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def prediction_line(predicted: Predicted, dataset: str, identify: Identify) -> bytes:
    """The sample as one line of JSON, in the names of a work folder."""
    return _line(_predicted(predicted, dataset, identify))


def _predicted(predicted: Predicted, dataset: str, identify: Identify) -> dict[str, Any]:
    view = predicted.view
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
    if predicted.error is not None:
        record["error"] = predicted.error
    for name in EXPORTED:
        record[name] = getattr(view, name)
    if view.choices is not None:
        record["choices"], record["choices_logprobs"] = view.choices, view.choices_logprobs
    record["row"] = None if view.metadata is None else orjson.Fragment(view.metadata)
    return record


def failed_line(predicted: Predicted, dataset: str) -> bytes:
    """A sample without a score: its prompt and the error."""
    view = predicted.view
    record = {
        "data_abbr": dataset,
        "id": view.sample_id,
        "repeat": view.repeat,
        "input": _prompt(view),
        "outcome": view.outcome,
        "error_info": view.error,
        "error": predicted.error,
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


def write_workbook(path: Path, sheets: Mapping[str, Iterable[list[Any]]]) -> tuple[int, int]:
    """Write sheets by name, each with a header that stays in view and filters: rows of strings, numbers and bools. Returns the number
    of rows, and of cells that had to be cut; these are marked. No string is taken for a formula. Raises ValueError for more rows than
    a sheet can have."""
    import zipfile

    numbers = range(1, len(sheets) + 1)
    written = cut = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("[Content_Types].xml", _TYPES.format("".join(map(_SHEET_TYPE.format, numbers))))
        main = _RELATION.format(number=1, kind="officeDocument", target="xl/workbook.xml")
        parts.writestr("_rels/.rels", _RELATIONS.format(main))
        named = "".join(
            _NAMED.format(name=_escaped(name), number=at) for at, name in zip(numbers, sheets, strict=True)
        )
        parts.writestr("xl/workbook.xml", _BOOK.format(named))
        places = [
            _RELATION.format(number=at, kind="worksheet", target=f"worksheets/sheet{at}.xml")
            for at in numbers
        ]
        parts.writestr("xl/_rels/workbook.xml.rels", _RELATIONS.format("".join(places)))
        for number, rows in zip(numbers, sheets.values(), strict=True):
            here = width = 0
            with parts.open(f"xl/worksheets/sheet{number}.xml", "w", force_zip64=True) as out:
                for row in rows:
                    if here == MOST_ROWS:
                        raise ValueError(f"a sheet has at most {MOST_ROWS:,} rows")
                    if not here:
                        width = len(row)
                        out.write(_SHEET.format(columns=width).encode())
                    here += 1
                    cut += sum(isinstance(value, str) and len(value) > MOST_CHARS for value in row)
                    out.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
                out.write(f'</sheetData><autoFilter ref="A1:{_column(width)}{here}"/></worksheet>'.encode())
            written += here
    return written, cut


def _column(number: int) -> str:
    """The letters of a column.

    >>> _column(1), _column(26), _column(28)
    ('A', 'Z', 'AB')
    """
    return "" if number < 1 else _column((number - 1) // 26) + chr(65 + (number - 1) % 26)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if finite_number(value) is not None:
        return f"<c><v>{value!r}</v></c>"
    text = _NO_XML.sub("", str(value))
    if len(text) > MOST_CHARS:
        left = f" … [{len(text) - MOST_CHARS + 100:,} characters left out]"
        text = text[: MOST_CHARS - 100] + left
    return f'<c t="inlineStr"><is><t xml:space="preserve">{_escaped(text)}</t></is></c>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def export_samples(
    details: RunDetails, samples: RunSamples, path: Path, format: str, *, raw: bool = False
) -> int:
    """Write the samples of a run and return their number. The file is complete or absent."""
    if format == "parquet":
        with replacing(path) as temporary, temporary.open("wb") as file:
            return write_samples(file, samples, _metrics(details), choices=details.ranks_choices)
    if format == "xlsx":
        with replacing(path) as temporary:
            written, _ = write_workbook(temporary, {"samples": _table(details, samples)})
        return written - 1
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
    write = _csv_writer()
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
    write = _csv_writer()
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
    records = (_predicted(each, details.run.name, identify) for each in samples.predictions())
    return (_line({_OWN_NAMES.get(name, name): value for name, value in each.items()}) for each in records)


def _table(details: RunDetails, samples: RunSamples) -> Iterator[list[Any]]:
    """The samples as cells, after a header: strings, numbers, bools, and JSON for other values."""
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
    writer = csv.writer(stream, lineterminator="\r\n")  # so that a cell with either character is quoted

    def write(cells: list[Any]) -> str:
        stream.seek(0)
        stream.truncate()
        writer.writerow(cells)
        return stream.getvalue()[:-2] + "\n"

    return write


def _csv_cell(value: Any) -> Any:
    return ("true" if value else "false") if isinstance(value, bool) else value
