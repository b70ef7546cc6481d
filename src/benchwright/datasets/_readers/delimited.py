"""Reads CSV and TSV: the first row names the fields, every cell is text, and quoted cells may contain newlines."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain

from benchwright.core import DatasetError
from benchwright.datasets._stored import StoredFile, check_columns, max_row_bytes
from benchwright.datasets._values import Chunk, Chunks

_NAMED_SEPARATOR = re.compile(r"sep=([^\w\s\"]|\t)?", re.IGNORECASE)

# Added after the last line. No file can contain it (lone surrogates below DC80 are never decoded), so if it does not come
# back as a separate row, the last quote was never closed.
_END = "\ud800"


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def read_csv(file: StoredFile) -> Chunks:
    """Rows of a comma-separated file, or of one whose header is separated by semicolons or tabs instead, or whose first
    line names the separator as Excel does: `sep=;`."""
    with closing(file.text_blocks()) as blocks:
        first = next(blocks, b"")[:8].splitlines()
    named = _NAMED_SEPARATOR.fullmatch(first[0].decode("ascii", "replace")) if first else None
    return read_separated(file, named[1] if named and named[1] else ",")


def read_tsv(file: StoredFile) -> Chunks:
    """Rows of a tab-separated file."""
    return read_separated(file, "\t")


def read_separated(file: StoredFile, delimiter: str) -> Chunks:
    """Rows of a file with a known separator."""
    # The standard library stops at 131072 characters a cell, which real prompts exceed; without any bound a quote that is
    # never closed would pull a file of any size into memory.
    csv.field_size_limit(max_row_bytes())
    chunk = Chunk()
    with closing(file.text_blocks()) as blocks:
        text = _Lines(blocks)
        table = csv.reader(text.lines(), delimiter=delimiter)
        end = 0
        try:
            header, end = _read_header(file, table, text)
            if delimiter == "," and len(header) == 1 and (other := _other_delimiter(file, header[0])):
                yield from read_separated(file, other)
                return
            width, seen = len(header), text.blocks
            for cells in table:
                start, end = end + 1, table.line_num
                if text.alert:
                    if text.ended:
                        _check_end(file, cells, start)
                        break
                    if wrong := _not_utf8(header, cells):
                        chunk.add_bad(start, *wrong)
                        continue
                if len(cells) == width:
                    chunk.rows.append(dict(zip(header, cells, strict=True)))
                    chunk.lines.append(start)
                elif len(cells) > width and not any(
                    cells[width:]
                ):  # empty columns that spreadsheets leave behind
                    chunk.rows.append(dict(zip(header, cells, strict=False)))
                    chunk.lines.append(start)
                elif not _is_blank(cells):
                    chunk.add_bad(start, _wrong_width(len(cells), width, delimiter))
                if text.blocks != seen:
                    seen = text.blocks
                    yield chunk
                    chunk = Chunk()
        except csv.Error as exc:
            if chunk:
                yield chunk
            raise file.error(f"{exc}. Is a quote opened here and never closed?", end + 1) from exc
        except DatasetError:
            if chunk:
                yield chunk
            raise
    if chunk:
        yield chunk


class _Lines:
    """The lines of a file for `csv.reader`, and findings while reading them."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._source = blocks
        self.blocks = 0
        """Blocks read so far. Each ends a chunk, so that memory depends on bytes and not on rows."""
        self.alert = False
        """Whether rows need a closer look: the text has ended, or contained bytes that are not UTF-8."""
        self.ended = False
        """Whether the mark after the last line was read."""

    def lines(self) -> Iterator[str]:
        """All lines with their line endings; iterated without a Python call per line."""
        return chain.from_iterable(self._texts())

    def _texts(self) -> Iterator[Iterable[str]]:
        for block in self._source:
            self.blocks += 1
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError:
                text = block.decode("utf-8", "surrogateescape")
                self.alert = True
            # newline="" keeps line endings as they are and splits at \n, \r and \r\n only.
            yield io.StringIO(text, newline="")
        self.alert = self.ended = True
        yield [_END]


def _read_header(file: StoredFile, table: Iterator[list[str]], text: _Lines) -> tuple[list[str], int]:
    for line, cells in _numbered(table):
        if text.ended:
            _check_end(file, cells, line)
            break
        if _is_blank(cells):
            continue
        if text.alert and (wrong := _not_utf8([], cells)):
            raise file.error(wrong[0], line)
        if line == 1 and _NAMED_SEPARATOR.fullmatch(cells[0]) and not any(cells[1:]):
            continue
        return check_columns(file, cells, line), table.line_num  # type: ignore[attr-defined]  # csv.reader; its class has no public name
    raise file.error("is empty; expected a first row with the field names")


def _other_delimiter(file: StoredFile, only_name: str) -> str | None:
    """The separator of a `.csv` file whose header has no comma; None if it has one column.

    Spreadsheets write semicolons in countries where the comma is the decimal sign.
    """
    for delimiter in (";", "\t"):
        if delimiter not in only_name:
            continue
        # Parsed rather than split, because a separator inside quotes is part of a name.
        with closing(file.text_blocks()) as blocks:
            table = csv.reader(_Lines(blocks).lines(), delimiter=delimiter)
            header = next(cells for cells in table if any(cell.strip() for cell in cells))
        if len(header) > 1:
            return delimiter
    return None


def _numbered(table: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    end = 0
    for cells in table:
        start, end = end + 1, table.line_num  # type: ignore[attr-defined]  # csv.reader
        yield start, cells


def _check_end(file: StoredFile, cells: list[str], line: int) -> None:
    if cells != [_END]:
        raise file.error(
            "a quote opened in this row is never closed, so all that follows would be one cell. "
            'Close it, or write "" for a quote inside a quoted cell',
            line,
        )


def _not_utf8(header: list[str], cells: list[str]) -> tuple[str, str | None] | None:
    for number, cell in enumerate(cells):
        try:
            cell.encode("utf-8")
        except UnicodeEncodeError as exc:
            byte = ord(cell[exc.start]) - 0xDC00
            field = header[number] if number < len(header) else None
            where = f"field {field!r}" if field else f"cell {number + 1}"
            return (
                f"not valid UTF-8: byte 0x{byte:02x} in {where}. Name the encoding (--encoding cp1252), or save the file as UTF-8",
                field,
            )
    return None


def _is_blank(cells: list[str]) -> bool:
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _wrong_width(found: int, expected: int, delimiter: str) -> str:
    cells = f"{found} cell{'' if found == 1 else 's'}, header has {expected}"
    if found < expected:
        return cells + ": write empty cells too"
    return cells + f": put quotes around cells that contain {_SEPARATORS.get(delimiter, repr(delimiter))}"
