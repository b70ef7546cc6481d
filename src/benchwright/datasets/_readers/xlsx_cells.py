"""Reads the cells of `.xlsx` files as a stream: what people see in them, whatever the file claims about its size.

Only the texts of the workbook and one row are kept, and cells that are empty take no memory. So a cell in the last column of
the last row costs nothing, and a file that unpacks to far more than its size is refused. Dates, percentages and postcodes are
numbers with a format, which the usual libraries do not show.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from math import isfinite
from typing import Any, TypeAlias
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from msgspec import Struct

from benchwright.core import DatasetError
from benchwright.datasets._stored import MEGABYTE, StoredFile, max_row_bytes

MOST_BYTES = 2 * 1024**3
"""The largest unpacked size of a sheet."""
MOST_TEXTS_BYTES = 64 * MEGABYTE
"""The unpacked size of the texts of a workbook that is always read; they are kept in memory."""
_TEXTS_RATIO = 100
"""How many times the size of the file they may have beyond that. Texts are seldom packed to less than a twentieth."""
_MOST_OPEN = 32 * MEGABYTE
"""The most that is kept of a row or text that does not end."""
_MOST_ELEMENTS = 300_000
"""The most elements of a row, or of a part that is read as a whole. A sheet has at most 16,384 columns and 65,490 formats, and
an element takes far more memory than the four characters that it may be written with."""
_BLOCK = 256 * 1024

Cells: TypeAlias = "dict[int, Any]"
"""The filled cells of a row by column, counted from 0. A value is a str, an int, a float, a bool or a `BadCell`."""


class BadCell(str):
    """A cell that has no value: what it holds instead, with the cure."""

    __slots__ = ()


class SheetPart(Struct, frozen=True):
    """A sheet of a workbook."""

    name: str
    part: str
    """The file in the archive."""
    hidden: bool


class HiddenLine(int):
    """The number of a row that the sheet does not show: someone hid it, or a filter did."""


class NotAWorkbookError(ValueError):
    """A file that is not a workbook in this format."""


class XlsxBook:
    """An open workbook. Close it."""

    def __init__(self, file: StoredFile) -> None:
        self._file = file
        try:
            self._parts = zipfile.ZipFile(file.path)
        except (zipfile.BadZipFile, OSError) as exc:
            raise NotAWorkbookError(str(exc)) from exc
        try:
            self.sheets, self._first_day = self._read_sheets()
            self._formats = self._read_formats()
        except (KeyError, ParseError, zipfile.BadZipFile, OSError, ValueError) as exc:
            self._parts.close()
            if isinstance(exc, DatasetError):  # it names its own cure
                raise
            raise NotAWorkbookError(str(exc)) from exc
        self._texts: list[str] | None = None

    def close(self) -> None:
        """Close the file."""
        self._parts.close()

    def rows(self, sheet: SheetPart) -> Iterator[tuple[int, Cells]]:
        """The rows that are not empty, with their numbers."""
        if self._texts is None:
            self._texts = list(self._read_texts())
        number = 0
        for row in self._elements(sheet.part, "row", MOST_BYTES):
            try:
                number = int(row.get("r") or number + 1)
            except ValueError as exc:
                raise NotAWorkbookError(f"{sheet.part}: the row after {number} has no number: {exc}") from exc
            cells = self._cells(row, number)
            if cells:
                yield HiddenLine(number) if row.get("hidden") in ("1", "true") else number, cells

    def _cells(self, row: Element, number: int) -> Cells:
        found: Cells = {}
        column, size = -1, 0
        for cell in row:
            place = cell.get("r")
            column = column_number(place) if place else column + 1
            try:
                value = self._value(cell)
            except (IndexError, ValueError):
                value = BadCell(
                    "has no value that can be read. Open and save the workbook again, or correct the cell"
                )
            if value is None or (isinstance(value, str) and not value.strip()):
                continue
            found[column] = value
            size += len(value) if isinstance(value, str) else 8
        if size > max_row_bytes():
            raise self._file.too_long(number)
        return found

    def _value(self, cell: Element) -> Any:
        kind, text, formula = cell.get("t", "n"), None, None
        if kind == "s" and len(cell) == 1:  # most cells
            return self._shared(cell[0].text)
        for part in cell:
            name = _local(part.tag)
            if name == "v":
                text = part.text
            elif name == "f":
                formula = part
            elif name == "is":
                return _joined(part)
        if kind == "e":
            return BadCell(f"contains the error {text}. Correct its formula, or delete the cell")
        if not text:
            if formula is not None and kind != "str":
                return BadCell(
                    "contains a formula whose value was never saved, so it would be read as empty. Open the workbook in a "
                    "spreadsheet program and save it"
                )
            return None
        if kind == "s":
            return self._shared(text)
        if kind in ("str", "inlineStr"):
            return text
        if kind == "b":
            return text.strip() == "1"
        if kind == "d":
            return text.removesuffix("T00:00:00").replace("T", " ")
        return self._number(text, int(cell.get("s") or 0))

    def _shared(self, number: str | None) -> str | None:
        assert self._texts is not None
        place = int(number) if number else 0
        if place < 0:
            raise IndexError
        return self._texts[place] if number else None

    def _number(self, text: str, style: int) -> Any:
        number = float(text)
        if not isfinite(number):
            return None
        shown = self._formats[style] if style < len(self._formats) else ""
        if shown == "date":
            return _date(number, self._first_day)
        if shown == "duration":
            return _duration(number)
        if shown.endswith("%"):
            return _percentage(number, int(shown[:-1]))
        value = as_displayed(number)
        return _padded(value, shown) if shown and isinstance(value, int) and value >= 0 else value

    def _read_sheets(self) -> tuple[list[SheetPart], datetime.datetime]:
        related = {
            one.get("Id"): one.get("Target") or ""
            for one in self._elements("xl/_rels/workbook.xml.rels", "Relationship", _BLOCK * 40)
        }
        sheets, first_day = [], datetime.datetime(1899, 12, 30)  # noqa: DTZ001  # cells have no zone
        for one in self._elements("xl/workbook.xml", None, _BLOCK * 40):
            if _local(one.tag) == "workbookPr" and one.get("date1904") in ("1", "true"):
                first_day = datetime.datetime(1904, 1, 1)  # noqa: DTZ001
            if _local(one.tag) == "sheet":
                target = next((related[value] for key, value in one.items() if _local(key) == "id"), "")
                part = target[1:] if target.startswith("/") else f"xl/{target}"
                if part in self._parts.NameToInfo:
                    state = one.get("state", "visible")
                    sheets.append(SheetPart(one.get("name") or "", part, state != "visible"))
        if not sheets:
            raise NotAWorkbookError("it names no sheets")
        return sheets, first_day

    def _read_formats(self) -> list[str]:
        """For each style, how its numbers are shown: as `shown_as` says."""
        if "xl/styles.xml" not in self._parts.NameToInfo:
            return []
        codes: dict[int, str] = {}
        formats: list[str] = []
        for one in self._elements("xl/styles.xml", None, _BLOCK * 400):
            name = _local(one.tag)
            if name == "numFmt":
                codes[int(one.get("numFmtId") or 0)] = one.get("formatCode") or ""
            elif name == "cellXfs":
                formats = [shown_as(int(xf.get("numFmtId") or 0), codes) for xf in one]
        return formats

    def _read_texts(self) -> Iterator[str]:
        part = "xl/sharedStrings.xml"
        if part not in self._parts.NameToInfo:
            return
        most = max(MOST_TEXTS_BYTES, _TEXTS_RATIO * self._file.path.stat().st_size)
        for one in self._elements(part, "si", int(most)):
            yield _joined(one)

    def _elements(self, part: str, name: str | None, most: int) -> Iterator[Element]:
        """The elements with a name, each once it is complete; then it is forgotten. With None: all, in the order they end."""
        parser: Any = XMLPullParser(("end",) if name is None else ("start",))
        open_: list[Element] = []
        size, whole, elements, wanted = 0, 0, 0, ""
        parent: Any = None
        try:
            with self._parts.open(part) as raw:
                while block := raw.read(_BLOCK):
                    if b"<!DOCTYPE" in block and not size:
                        raise NotAWorkbookError("it declares entities, which workbooks do not")
                    size += len(block)
                    if size > most:
                        raise self._file.error(
                            f"unpacks to more than {most / MEGABYTE:,.0f} MB, which is too much for its size. Save the sheet "
                            "as CSV"
                        )
                    parser.feed(block)
                    found = list(parser.read_events())
                    elements += len(found)
                    if elements > _MOST_ELEMENTS:
                        raise self._file.error(
                            f"{part} has more than {_MOST_ELEMENTS:,} elements{'' if name is None else ' without the end of a row'}. Save the "
                            "sheet as CSV"
                        )
                    events = iter(found)
                    if name is None:
                        yield from (one for _, one in events)
                        continue
                    if not wanted and (root := next(events, None)):
                        wanted = root[1].tag[: root[1].tag.rfind("}") + 1] + name
                        parent = root[1]
                    if not open_:  # the element around them is the last one that begins before the first
                        for _, one in events:
                            if one.tag == wanted:
                                open_.append(one)
                                break
                            parent = one
                    open_ += [one for _, one in events if one.tag == wanted]
                    done = len(open_) - 1
                    yield from open_[:done]
                    if done > 0:
                        del open_[:done], parent[:done]
                        whole, elements = size, 0
                    elif size - whole > _MOST_OPEN:
                        raise self._file.error(
                            f"{part} has {_MOST_OPEN / MEGABYTE:,.0f} MB without the end of a row. Save the sheet as CSV"
                        )
                parser.close()
                if name is not None:
                    yield from open_
        except (ParseError, zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as exc:
            raise NotAWorkbookError(f"{part}: {exc}") from exc


def column_number(place: str) -> int:
    """The column of a cell, counted from 0.

    >>> column_number("A1"), column_number("XFD1048576")
    (0, 16383)
    """
    number = 0
    for letter in place:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number - 1


def column_name(number: int) -> str:
    """The letters of a column.

    >>> column_name(0), column_name(16383)
    ('A', 'XFD')
    """
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


_QUOTED = re.compile(r'"[^"]*"|\\.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_SEPARATOR = re.compile(r'[\\"]([-/ ])"?')
_DIGITS = re.compile(r"0{2,}(?:[-/ ]0+)*|0(?:[-/ ]0+)+")
"""Formats of postcodes and other numbers whose zeros at the front count, after `_SEPARATOR` was replaced by what it shows."""
_BUILT_IN_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)))


def shown_as(number: int, codes: dict[int, str]) -> str:
    r"""How a number format shows numbers: `date`, `duration`, `2%` for percentages with two decimals, `00000` for at least five
    digits, or an empty text for numbers as they are.

    >>> shown_as(10, {}), shown_as(14, {}), shown_as(0, {}), shown_as(165, {165: 'yyyy"%"'}), shown_as(9, {})
    ('2%', 'date', '', 'date', '0%')
    >>> shown_as(46, {}), shown_as(165, {165: "[h]:mm"}), shown_as(165, {165: "[Magenta]0.00"})
    ('duration', 'duration', '')
    >>> shown_as(165, {165: "00000"}), shown_as(165, {165: r"000\-00"}), shown_as(165, {165: "00.00"}), shown_as(1, {})
    ('00000', '000-00', '', '')
    """
    code = codes.get(number)
    if number == 46 or (code and _ELAPSED.search(code)):
        return "duration"
    if code is None:
        return {9: "0%", 10: "2%"}.get(number, "date" if number in _BUILT_IN_DATES else "")
    code = code.split(";")[0]
    if _DIGITS.fullmatch(digits := _SEPARATOR.sub(r"\1", code)):
        return digits
    code = _QUOTED.sub("", code)
    if "%" in code:
        decimals = re.search(r"\.([0#?]+)", code)
        return f"{len(decimals[1]) if decimals else 0}%"
    return "date" if re.search(r"[ymdhs]", code, re.IGNORECASE) and "general" not in code.lower() else ""


def _padded(number: int, shape: str) -> str:
    """A number with its zeros at the front and the separators of its format.

    >>> _padded(4109, "00000"), _padded(71234, "00-000"), _padded(123456, "00-00")
    ('04109', '71-234', '1234-56')
    """
    digits = [*str(number).zfill(shape.count("0"))]
    end = [digits.pop() if mark == "0" else mark for mark in reversed(shape)]
    return "".join(digits + end[::-1])


def as_displayed(number: float) -> int | float:
    """A number with the 15 digits that spreadsheet programs display: a formula such as `=0.1+0.2` leaves more in the file.

    >>> as_displayed(0.1 + 0.2), as_displayed((0.1 + 0.7) * 10), as_displayed(6.02e23), as_displayed(1 / 3)
    (0.3, 8, 6.02e+23, 0.333333333333333)
    """
    value = number if number.is_integer() else float(f"{number:.15g}")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _percentage(number: float, decimals: int) -> str:
    """A percentage with its decimals, where halves are rounded away from 0, as spreadsheet programs do.

    >>> _percentage(0.125, 0), _percentage(0.285, 0), _percentage(-0.0005, 1), _percentage(1, 2)
    ('13%', '29%', '-0.1%', '100.00%')
    """
    from decimal import ROUND_HALF_UP, Context, Decimal

    exact = Decimal(f"{number:.15g}") * 100
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400)):f}%"


def _duration(days: float) -> str:
    """Hours, minutes and seconds, however many hours there are.

    >>> _duration(1.5), _duration(-0.0625)
    ('36:00:00', '-01:30:00')
    """
    minutes, seconds = divmod(round(abs(days) * 86_400), 60)
    return f"{'-' if days < 0 else ''}{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _date(days: float, first: datetime.datetime) -> Any:
    """The date, the time, or both, that a number of days means. Numbers that are no dates stay numbers."""
    try:
        when = first + datetime.timedelta(seconds=round(days * 86_400))
    except OverflowError:
        return days
    if days < 0:
        return days
    if days < 1:
        return when.time().isoformat()
    return when.date().isoformat() if when.time() == datetime.time() else when.isoformat(sep=" ")


def _joined(element: Element) -> str:
    """The text of an element with runs of text, without hints on pronunciation."""
    found = []
    for part in element:
        name = _local(part.tag)
        if name == "t":
            found.append(part.text or "")
        elif name == "r":
            found += [one.text or "" for one in part if _local(one.tag) == "t"]
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), "".join(found))


_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
