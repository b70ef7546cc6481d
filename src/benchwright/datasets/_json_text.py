"""One JSON value that the fast parser could not or must not read: exact numbers, NaN, and errors in plain words."""

from __future__ import annotations

import json
import re
from typing import Any

from benchwright.core import Row, load_exact_json

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
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
NOT_A_CHARACTER = "holds half of a surrogate pair (\\ud800-\\udfff), which is no character and cannot be sent"


class BadTextError(ValueError):
    """The reason why a text is not a row."""


def parse_row(line: bytes) -> Row | None:
    """The object of one line, or None when the line is blank. Raises BadTextError with the reason.

    Slower than orjson and used only where that refuses or would round: integers beyond 64 bits stay exact,
    NaN and Infinity are numbers.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as exc:
        column = len(line[: exc.start].decode("utf-8")) + 1
        raise BadTextError(
            f"not valid UTF-8: byte 0x{line[exc.start]:02x} at column {column}. Name the encoding (--encoding cp1252), or save the file as UTF-8"
        ) from None
    text = text.lstrip("\ufeff")  # files with byte-order marks that were joined keep one in the middle
    if not text.strip():
        return None
    try:
        value = load_exact_json(text.encode("utf-8", "surrogatepass"))
    except json.JSONDecodeError as exc:
        raise BadTextError(f"not valid JSON: {plain_words(exc)}, column {exc.pos + 1}{near(exc)}") from None
    except ValueError as exc:  # nested too deep, or an integer of thousands of digits
        raise BadTextError(f"not usable JSON: {exc}") from None
    if not isinstance(value, dict):
        raise BadTextError(f"Line is not a JSON object: {type(value).__name__}")
    if _HALF_PAIR.search(text) and not encodable(value):
        raise BadTextError(NOT_A_CHARACTER)
    return value


def plain_words(exc: json.JSONDecodeError) -> str:
    """The parser's complaint for people who do not write parsers."""
    return _PLAIN_WORDS.get(exc.msg, exc.msg[:1].lower() + exc.msg[1:])


def near(exc: json.JSONDecodeError) -> str:
    """` near '…'`: the text at the fault, or where the line ended."""
    found = exc.doc[exc.pos : exc.pos + 24].split("\n")[0].rstrip()
    return f" near {found!r}" if found else " (the text ends there)"


def encodable(value: Any) -> bool:
    """Whether all text in a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
