"""JSON Lines: one object per line. Lines end at a newline only; other Unicode separators belong to the text."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import orjson

from benchwright.core import (
    MAX_DEPTH,
    Row,
    beyond_64_bits,
    finite_json,
    late_pattern,
    load_exact_json,
    load_json,
)
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks


def read_json_lines(file: StoredFile) -> Chunks:
    """The objects of the file. Skips blank lines. Any other line that is not an object is a bad row. A file that is one
    array of objects is read as one, with a note."""
    if _is_array(file):
        from benchwright.datasets._readers.json_array import read_array

        file.note(
            f"{file.name} is one JSON array, not one object per line; its elements were read as rows. Name it .json"
        )
        yield from read_array(file)
        return
    number = 0
    with closing(file.text_blocks()) as blocks:
        for block in blocks:
            lines = block.split(b"\n" if b"\n" in block else b"\r")
            if not lines[-1]:
                lines.pop()
            yield _parse_block(block, lines, number)
            number += len(lines)


_ARRAY = late_pattern(rb"\s*\[\s*\{")


def _is_array(file: StoredFile) -> bool:
    with closing(file.text_blocks()) as blocks:
        return _ARRAY.match(next(blocks, b"")) is not None


def _parse_block(block: bytes, lines: list[bytes], before: int) -> Chunk:
    exact = beyond_64_bits(block)
    if not exact:
        # All lines at once, and line by line only if that fails: three times as fast as a loop.
        try:
            # Short lines cannot be nested too deeply, so they need no check.
            parse = orjson.loads if max(map(len, lines), default=0) <= 2 * MAX_DEPTH else load_json
            rows: list[Row] = list(map(parse, lines))
        except ValueError:
            pass
        else:
            if set(map(type, rows)) == {dict}:
                return Chunk(rows, list(range(before + 1, before + 1 + len(rows))))
    chunk = Chunk()
    for line, text in enumerate(lines, before + 1):
        try:
            row = _parse_line(text, exact)
        except BadTextError as exc:
            chunk.add_bad(line, _explain(str(exc), text, line))
        else:
            if row is not None:
                chunk.add(row, line)
    return chunk


def parse_exact(text: bytes) -> Row:
    """The object of a line that is known to be valid, with all digits of its numbers."""
    row = _parse_line(text, exact=True)
    if row is None:
        raise BadTextError("blank")
    return row


def _parse_line(text: bytes, exact: bool) -> Row | None:
    if not (exact and beyond_64_bits(text)):
        try:
            row = load_json(text)
        except ValueError:
            pass  # blank, too deep, NaN, a byte-order mark, or invalid: `parse_row` decides
        else:
            if type(row) is dict:
                return row
    return parse_row(text)


def _explain(reason: str, text: bytes, line: int) -> str:
    if line == 1 and text.strip() == b"{":
        return reason + ". Each object must be on one line: jq -c . IN > OUT.jsonl"
    return reason


_HALF_PAIR = late_pattern(r"\\u[dD][89a-fA-F]")
_PLAIN_WORDS = {
    "Expecting value": "a value is missing or misspelt",
    "Expecting ',' delimiter": "expected a comma or a closing bracket",
    "Expecting ':' delimiter": "expected a colon after the field name",
    "Expecting property name enclosed in double quotes": "expected a field name in double quotes",
    "Unterminated string starting at": "a string is not closed; it starts",
    "Invalid control character at": "a raw control character in a string (write \\n, \\t or \\u00XX)",
    "Invalid \\escape": "an unknown escape in a string (write \\\\ for a backslash)",
    "Invalid \\uXXXX escape": "a \\u escape without four hexadecimal digits",
    "Extra data": "more text after the end of the value",
}
NOT_A_CHARACTER = (
    "contains half of a surrogate pair (\\ud800-\\udfff), which is not a character and cannot be sent"
)


class BadTextError(ValueError):
    """Why a text is not a row."""


def parse_row(line: bytes) -> Row | None:
    """The object of one line, or None if the line is blank. Raises BadTextError with the reason.

    It is slower than orjson and used only if orjson refuses or would round: integers beyond 64 bits stay exact, and NaN
    and Infinity, which orjson refuses, are null.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as exc:
        column = len(line[: exc.start].decode("utf-8")) + 1
        raise BadTextError(
            f"not valid UTF-8: byte 0x{line[exc.start]:02x} at column {column}. Name the encoding (--encoding cp1252), or save the file as UTF-8"
        ) from None
    text = text.lstrip("\ufeff")  # joined files may have a byte-order mark in the middle
    if not text.strip():
        return None
    try:
        value = load_exact_json(text)
    except json.JSONDecodeError as exc:
        raise BadTextError(f"not valid JSON: {plain_words(exc)}, column {exc.pos + 1}{near(exc)}") from None
    except ValueError as exc:  # nested too deep, or an integer of thousands of digits
        raise BadTextError(f"not usable JSON: {exc}") from None
    if not isinstance(value, dict):
        raise BadTextError(f"Line is not a JSON object: {type(value).__name__}")
    if _HALF_PAIR.search(text) and not encodable(value):
        raise BadTextError(NOT_A_CHARACTER)
    row: Row = finite_json(value)
    return row


def plain_words(exc: json.JSONDecodeError) -> str:
    """The parser's message in plain words."""
    return _PLAIN_WORDS.get(exc.msg, exc.msg[:1].lower() + exc.msg[1:])


def near(exc: json.JSONDecodeError) -> str:
    """` near '…'`: the text at the error, or a note that the line ends there."""
    found = exc.doc[exc.pos : exc.pos + 24].split("\n")[0].rstrip()
    return f" near {found!r}" if found else " (the text ends there)"


def encodable(value: Any) -> bool:
    """Whether all text in a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
