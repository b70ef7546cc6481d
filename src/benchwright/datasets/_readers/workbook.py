"""Reads workbooks of Excel and LibreOffice: one row of a sheet, usually the first, names the fields.

`.xlsx` files are read by `xlsx_cells.py`. Older files and those of LibreOffice are read by `python-calamine` (extra `excel`)
in a process with little memory, because it allocates as many cells as the file claims to have.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from typing import Any, Protocol

from benchwright.core import DatasetError, Information, Row, listed, suggest
from benchwright.datasets._readers.xlsx_cells import (
    BadCell,
    Cells,
    HiddenLine,
    NotAWorkbookError,
    SheetPart,
    XlsxBook,
    as_displayed,
    column_name,
)
from benchwright.datasets._stored import StoredFile, check_columns
from benchwright.datasets._values import Chunk, Chunks

CHUNK_ROWS = 512
"""Most rows per chunk."""

ALL = "all"
"""The name that means every sheet, unless a sheet has it."""

_LOOKED_AT = 30
"""Rows at the top of a sheet among which the header is searched for."""

NumberedCells = tuple[int, Cells]


class Book(Protocol):
    """A workbook, whichever library reads it."""

    @property
    def sheets(self) -> Sequence[SheetPart]:
        """Its sheets in order."""
        ...

    def rows(self, sheet: SheetPart) -> Iterator[NumberedCells]:
        """The rows of a sheet that are not empty."""
        ...

    def close(self) -> None:
        """Close the file."""


class SheetLine(int):
    """The number of a row in one of several sheets."""

    sheet: str
    """The name of the sheet, for messages about the row."""


def read_workbook(file: StoredFile) -> Chunks:
    """Rows of the named sheets, else of the first that has a table. Empty rows, and empty columns without a name, are
    skipped. Whole numbers are integers, dates are texts such as 2024-05-01, percentages texts such as 12.5%."""
    chunk = Chunk()
    with _opened(file) as book:
        chosen = _chosen(file, book)
        columns: dict[str, Row] = {}
        for sheet in chosen:
            for line, row, reason in _sheet_rows(file, book, sheet):
                if row is not None and sheet.name not in columns:
                    columns[sheet.name] = row
                if len(chosen) > 1:
                    line = SheetLine(line)
                    line.sheet = sheet.name
                if row is None:
                    chunk.add_bad(line, reason)
                else:
                    chunk.add(row, line)
                if len(chunk.rows) >= CHUNK_ROWS:
                    yield chunk
                    chunk = Chunk()
        _compare_columns(file, columns)
    if chunk:
        yield chunk


def _compare_columns(file: StoredFile, columns: Mapping[str, Row]) -> None:
    """Note the first sheet whose columns differ from those of the sheet before it."""
    for (first, ours), (second, theirs) in pairwise(columns.items()):
        if ours.keys() != theirs.keys():
            differing = [
                f"only {name!r} has {listed([repr(each) for each in sorted(names)], 5)}"
                for name, names in (
                    (first, ours.keys() - theirs.keys()),
                    (second, theirs.keys() - ours.keys()),
                )
                if names
            ]
            file.note(
                f"the sheets have different columns: {', '.join(differing)}. Give columns that mean the same one name, or "
                f"evaluate each sheet on its own, as in --sheet {shlex.quote(second)}"
            )
            return


@contextmanager
def _opened(file: StoredFile) -> Iterator[Book]:
    book = _book(file)
    try:
        yield book
    except NotAWorkbookError as exc:
        raise _damaged(file, exc) from exc
    finally:
        book.close()


def _book(file: StoredFile) -> Book:
    try:
        return XlsxBook(file)
    except NotAWorkbookError as exc:
        if file.path.suffix.lower() in (".xlsx", ".xlsm"):
            raise _damaged(file, exc) from exc
    from benchwright.datasets._readers.other_workbooks import OtherBook

    return OtherBook(file)


def _damaged(file: StoredFile, why: Exception) -> DatasetError:
    return file.error(f"cannot be read as a workbook: {why}. Open and save it again, or save it as CSV")


def _chosen(file: StoredFile, book: Book) -> list[SheetPart]:
    """The sheets to read: the named ones, else the first with a table."""
    names = [sheet.name for sheet in book.sheets]
    if file.sheet is None:
        return [_first_table(file, book)]
    if file.sheet in names:
        wanted = [file.sheet]
    elif file.sheet.strip().lower() == ALL:
        wanted = [sheet.name for sheet in book.sheets if not sheet.hidden and _is_filled(book, sheet)]
        if not wanted:
            raise file.error("all its sheets are empty")
        tables = [sheet.name for sheet in book.sheets if sheet.name in wanted and _has_table(book, sheet)]
        if 0 < len(tables) < len(wanted) and "," not in "".join(
            tables
        ):  # which the flag could not tell apart
            others = ", ".join(repr(name) for name in wanted if name not in tables)
            file.note(
                f"{others}: not a table, by its first rows. To read only the tables: --sheet {shlex.quote(','.join(tables))}"
            )
    else:
        wanted = [name.strip() for name in file.sheet.split(",") if name.strip()]
    for name in wanted:
        if name not in names:
            near = suggest(name, names)
            raise file.error(f"has no sheet {name!r}; there are: {', '.join(names)}.{near}")
    return [sheet for name in dict.fromkeys(wanted) for sheet in book.sheets if sheet.name == name]


def _first_table(file: StoredFile, book: Book) -> SheetPart:
    filled = [sheet for sheet in book.sheets if not sheet.hidden and _is_filled(book, sheet)]
    if not filled:
        hidden = [sheet.name for sheet in book.sheets if sheet.hidden and _is_filled(book, sheet)]
        if hidden:
            raise file.error(
                f"all its sheets are empty, except hidden ones: {', '.join(hidden)}. Name one: --sheet {shlex.quote(hidden[0])}"
            )
        raise file.error("all its sheets are empty")
    chosen = next((sheet for sheet in filled if _has_table(book, sheet)), filled[0])
    others = [sheet for sheet in filled if sheet is not chosen]
    if others:
        names, verb = ", ".join(repr(sheet.name) for sheet in others), "is" if len(others) == 1 else "are"
        tables = [sheet.name for sheet in others if _has_table(book, sheet)]
        # A cover page is named but not suggested: it has no rows to read. Another table may be what was meant.
        file.note(
            f"sheet {chosen.name!r} of {file.name} was read; there {verb} also {names}. Choose with --sheet {shlex.quote(tables[0])}, or read "
            "all with --sheet all (in a benchmark: FILE?sheet=NAME)"
            if tables
            else Information(f"sheet {chosen.name!r} of {file.name} was read; {names} {verb} no table")
        )
    return chosen


def _is_filled(book: Book, sheet: SheetPart) -> bool:
    return next(iter(book.rows(sheet)), None) is not None


def _has_table(book: Book, sheet: SheetPart) -> bool:
    """Whether a sheet has two rows with the same two columns; a cover page does not."""
    top = list(islice(book.rows(sheet), _LOOKED_AT))
    columns = Counter(column for _, cells in top for column in cells)
    return sum(count > 1 for count in columns.values()) > 1


def _sheet_rows(file: StoredFile, book: Book, sheet: SheetPart) -> Iterator[tuple[int, Row | None, str]]:
    """The rows of a sheet with their numbers; without a row, the reason why it cannot be used."""
    rows = iter(book.rows(sheet))
    top = list(islice(rows, _LOOKED_AT + (file.header_row or 0)))
    at = _header_place(file, sheet, top)
    number, cells = top[at]
    header = _header(file, sheet, number, cells)
    seen: set[tuple[int, str]] = set()
    hidden = 0
    for line, found in chain(top[at + 1 :], rows):
        row, reason = _row(sheet.name, line, found, header, seen)
        hidden += row is not None and isinstance(line, HiddenLine)
        if row is not None or reason:
            yield line, row, reason
    if hidden:
        rows_are = "row of sheet {} is" if hidden == 1 else "rows of sheet {} are"
        file.note(
            f"{hidden:,} {rows_are.format(repr(sheet.name))} hidden and read like the others. Delete what should not be evaluated, "
            "or choose rows by a column with --filter"
        )


def _header_place(file: StoredFile, sheet: SheetPart, top: Sequence[NumberedCells]) -> int:
    """Which of the rows at the top names the columns: the requested one, else the first, unless it is a title."""
    if file.header_row is not None:
        for at, (number, _) in enumerate(top):
            if number == file.header_row:
                return at
        raise file.error(
            f"row {file.header_row} of sheet {sheet.name!r} is empty, so it cannot name the columns. Rows with cells: "
            f"{listed([number for number, _ in top], 5)}. Name one of them with --header-row, or leave the flag out"
        )
    if not top:
        raise file.error(f"sheet {sheet.name!r} is empty; expected a row with the field names")
    counts = Counter(column for _, cells in top for column in cells)
    used = {column for column, count in counts.items() if count > max(1, len(top) // 4)}
    if len(used) < 2 or used <= top[0][1].keys():
        return 0
    for at, (number, cells) in enumerate(top[:-1]):
        if at and used <= cells.keys() and all(isinstance(value, str) for value in cells.values()):
            file.note(
                Information(
                    f"row {number} of sheet {sheet.name!r} names the columns, below a title (--header-row N chooses another)"
                )
            )
            return at
    return 0


def _header(file: StoredFile, sheet: SheetPart, number: int, cells: Cells) -> dict[int, str]:
    """The names of the columns."""
    for column, value in cells.items():
        if isinstance(value, BadCell):
            raise file.error(f"{_place(sheet.name, column, number)} {value}", number)
    columns = sorted(cells)
    return dict(zip(columns, check_columns(file, [str(cells[one]) for one in columns], number), strict=True))


def _row(
    sheet: str, line: int, cells: Cells, header: dict[int, str], seen: set[tuple[int, str]]
) -> tuple[Row | None, str]:
    """The row, or why it cannot be used; neither for a row without a value below a name. A reason is given in full for the first such cell of a column, so that the others can be counted."""
    row: Row = dict.fromkeys(header.values(), "")
    for column, value in cells.items():
        name = header.get(column)
        if isinstance(value, BadCell):
            if name is None:
                continue
            if (column, value) in seen:
                return None, f"sheet {sheet!r}, column {column_name(column)}: such a cell too"
            seen.add((column, value))
            return None, f"{_place(sheet, column, line)} {value}"
        if name is None:
            if (column, "") in seen:
                return None, f"sheet {sheet!r}, column {column_name(column)} has no header"
            seen.add((column, ""))
            shown = str(value) if len(str(value)) <= 40 else f"{str(value)[:39]}…"
            return None, (
                f"{_place(sheet, column, line)} ({shown}): the column has no header. Name it, or say which row contains the "
                "names: --header-row N"
            )
        row[name] = value
    return (row if any(column in header for column in cells) else None), ""


def _place(sheet: str, column: int, line: int) -> str:
    return f"sheet {sheet!r}, cell {column_name(column)}{line}"


def plain(value: Any) -> Any:
    """A cell as another library gives it."""
    import datetime

    if isinstance(value, datetime.datetime):
        whole_day = value.time() == datetime.time()
        return value.date().isoformat() if whole_day else value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, float):
        return as_displayed(value)
    return value
