"""Reads workbooks of Excel and LibreOffice: the first row of a sheet names the fields.

Uses `python-calamine` (extra `excel`), which is 13 times as fast as openpyxl on 20,000 rows and returns the values of
formulas.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any

from benchwright.core import JsonValue, Row, suggest
from benchwright.datasets._stored import StoredFile, check_columns
from benchwright.datasets._values import Chunk, Chunks

CHUNK_ROWS = 512
"""Most rows per chunk."""

MOST_BYTES = 1024**3
"""The largest unpacked size of a workbook, because it is kept in memory."""


def read_workbook(file: StoredFile) -> Chunks:
    """Rows of one sheet: the named one, else the first that is not empty. Empty rows, and empty columns without a name,
    are skipped. Whole numbers are integers, dates are texts such as 2024-05-01."""
    name, cells = _sheet(file)
    unsaved = _unsaved_formulas(file, name)
    header: list[str] = []
    chunk = Chunk()
    for number, values in cells:
        if number in unsaved:
            message = (
                f"cell {unsaved[number]} holds a formula whose value was never saved (sheet {name!r}), so it would be read "
                "as empty. Open the workbook in a spreadsheet program and save it"
            )
            if not header:
                raise file.error(message, number)
            chunk.add_bad(number, message)
            continue
        if not header:
            header = check_columns(file, [_text(value) for value in values], number)
            continue
        if rest := [value for value in values[len(header) :] if value != ""]:
            chunk.add_bad(
                number, f"{rest[0]!r} is in a column without a name (sheet {name!r}); name the column"
            )
            continue
        filled = [*values, *[""] * (len(header) - len(values))]
        row: Row = dict(zip(header, map(_value, filled), strict=False))
        chunk.add(row, number)
        if len(chunk.rows) >= CHUNK_ROWS:
            yield chunk
            chunk = Chunk()
    if not header:
        raise file.error(f"sheet {name!r} is empty; expected a first row with the field names")
    if chunk:
        yield chunk


def _sheet(file: StoredFile) -> tuple[str, Iterator[tuple[int, list[Any]]]]:
    try:
        import python_calamine
    except ImportError:
        raise file.error(
            "is a workbook; reading it needs one more package: pip install 'benchwright[excel]'. Or save the sheet as "
            "CSV (in Excel: CSV UTF-8)"
        ) from None
    _check_size(file)
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(file.path))
        names = list(book.sheet_names)
        if file.sheet is not None:
            if file.sheet not in names:
                near = suggest(file.sheet, names)
                raise file.error(f"has no sheet {file.sheet!r}; there are: {', '.join(names)}.{near}")
            return file.sheet, _filled(book.get_sheet_by_name(file.sheet))
        for name in names:
            sheet = book.get_sheet_by_name(name)
            if sheet.height:
                if len(names) > 1:
                    others = ", ".join(repr(other) for other in names if other != name)
                    file.note(
                        f"sheet {name!r} of {file.name} was read; there is also {others}: choose with --sheet NAME (in a benchmark: FILE?sheet=NAME)"
                    )
                return name, _filled(sheet)
    except python_calamine.CalamineError as exc:
        raise file.error(
            f"cannot be read as a workbook: {exc}. Open and save it again, or save it as CSV"
        ) from exc
    raise file.error("all its sheets are empty")


def _filled(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Rows that are not empty, with their numbers in the sheet."""
    start = sheet.start
    first = 1 if start is None else start[0] + 1
    for number, values in enumerate(sheet.to_python(skip_empty_area=True), first):
        if any(value not in ("", None) and (not isinstance(value, str) or value.strip()) for value in values):
            yield number, values


_SHEET = re.compile(rb"<sheet [^>]*>")
_PART = re.compile(rb"<Relationship [^>]*>")
_NO_VALUE = re.compile(
    rb'<c r="([A-Z]+)([0-9]+)"(?![^>]*t="str")[^>]*><f(?:/>|[^>]*/>|[^>]*>[^<]*</f>)(?:<v></v>|<v */>)?</c>'
)


def _unsaved_formulas(file: StoredFile, sheet: str) -> dict[int, str]:
    """Rows with a formula that no program has calculated, and the first such cell of each. Programs that write workbooks
    without calculating leave such cells, which the reader returns as empty."""
    import zipfile
    from html import unescape

    def attribute(tag: bytes, name: str) -> str:
        found = re.search(rf'\b{name}="([^"]*)"', tag.decode("utf-8", "replace"))
        return unescape(found[1]) if found else ""

    try:
        with zipfile.ZipFile(file.path) as parts:
            tags = _SHEET.findall(parts.read("xl/workbook.xml"))
            relation = next((attribute(tag, "r:id") for tag in tags if attribute(tag, "name") == sheet), "")
            related = _PART.findall(parts.read("xl/_rels/workbook.xml.rels"))
            target = next(
                (attribute(tag, "Target") for tag in related if attribute(tag, "Id") == relation), ""
            )
            part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
            found: dict[int, str] = {}
            for column, row in _NO_VALUE.findall(parts.read(part)):
                found.setdefault(int(row), f"{column.decode()}{int(row)}")
            return found
    except (zipfile.BadZipFile, KeyError, OSError):
        return {}  # another kind of workbook


def _check_size(file: StoredFile) -> None:
    import zipfile

    try:
        with zipfile.ZipFile(file.path) as parts:
            size = sum(part.file_size for part in parts.infolist())
    except (zipfile.BadZipFile, OSError):
        return  # an .xls is not a zip file; the reader reports whatever else is wrong
    if size > MOST_BYTES:
        raise file.error(
            f"unpacks to {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} are read. Save the sheet as CSV"
        )


def _text(value: Any) -> str:
    value = _value(value)
    return value if isinstance(value, str) else str(value)


def _value(value: Any) -> JsonValue:
    if isinstance(value, bool) or value is None:
        return "" if value is None else value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime):
        whole_day = value.time() == datetime.time()
        return value.date().isoformat() if whole_day else value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float) else str(value)
