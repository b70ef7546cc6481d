"""JSON Lines: one object per line. Lines end at a newline only; other Unicode separators belong to the text."""

from __future__ import annotations

import re
from contextlib import closing

import orjson

from benchwright.core import MAX_DEPTH, Row, load_json
from benchwright.datasets._json_text import BadTextError, parse_row
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks

_DIGITS = bytes(48 if 48 <= byte < 58 else 120 for byte in range(256))
_LONG = b"0" * 19
_BEYOND_64_BITS = re.compile(rb"-[0-9]{19}|[0-9]{20}")


def read_json_lines(file: StoredFile) -> Chunks:
    """The objects of the file. Blank lines are passed over; anything else that is no object is a bad row."""
    number = 0
    with closing(file.text_blocks()) as blocks:
        for block in blocks:
            lines = block.split(b"\n" if b"\n" in block else b"\r")
            if not lines[-1]:
                lines.pop()
            yield _parse_block(block, lines, number)
            number += len(lines)


def _parse_block(block: bytes, lines: list[bytes], before: int) -> Chunk:
    exact = _beyond_64_bits(block)
    if not exact:
        # All lines in one go, and line by line only when that fails: three times the speed of a loop.
        try:
            # Short lines cannot be nested too deep, and need not be looked at.
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
    """The object of one line that is known to be good, with all digits of its numbers."""
    row = _parse_line(text, exact=True)
    if row is None:
        raise BadTextError("blank")
    return row


def _parse_line(text: bytes, exact: bool) -> Row | None:
    if not (exact and _BEYOND_64_BITS.search(text)):
        try:
            row = load_json(text)
        except ValueError:
            pass  # blank, too deep, NaN, a byte-order mark, or truly wrong: told apart below
        else:
            if type(row) is dict:
                return row
    return parse_row(text)


def _beyond_64_bits(block: bytes) -> bool:
    """Whether an integer may be longer than orjson reads exactly (it would turn it into a float).

    The digit mask costs 1.6 ns a byte; the regular expression alone would cost nine times as much.
    """
    return _LONG in block.translate(_DIGITS) and _BEYOND_64_BITS.search(block) is not None


def _explain(reason: str, text: bytes, line: int) -> str:
    if line == 1 and text.lstrip().startswith(b"[") and reason.startswith("not valid JSON"):
        return (
            reason + ". This looks like one JSON array: name the file .json to have its elements read as rows"
        )
    if line == 1 and text.strip() == b"{":
        return reason + ". Each object must stand on one line: jq -c . IN > OUT.jsonl"
    return reason
