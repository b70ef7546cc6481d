"""`.json` files: one array of objects, read as a stream; one object per line; or rows under a key (`{"data": [ … ]}`)."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from math import isfinite
from typing import Any, TypeAlias

from benchwright.core import (
    MAX_DEPTH,
    DatasetError,
    JsonValue,
    TooDeepError,
    check_depth,
    finite_json,
    load_exact_json,
    suggest,
)
from benchwright.datasets._readers.json_lines import (
    NOT_A_CHARACTER,
    encodable,
    near,
    plain_words,
    read_json_lines,
)
from benchwright.datasets._stored import BLOCK_BYTES, StoredFile, max_row_bytes
from benchwright.datasets._values import Chunk, Chunks

CHUNK_ROWS = 512
"""Most elements per chunk."""

_SPACE = re.compile(r"[ \t\n\r]*")
_LONGEST_WORD = 16
"""An error this close to the end of the text read so far may only mean that the text continues: `-Infin` or `\\ud83d\\ude`
look wrong until the rest is read."""


def read_json(file: StoredFile, *, keyed: bool = True) -> Chunks:
    """The rows of a `.json` file, in any of these forms; those under a key only if `keyed`."""
    with closing(file.text_blocks()) as blocks:
        start = next((text for block in blocks if (text := block.lstrip())), b"")
    if start.startswith(b"["):
        return read_array(file)
    first, _, rest = start.partition(b"\n")
    several = first.startswith(b"{") and first.rstrip().endswith((b"{", b"[", b","))
    if several or (first.startswith(b"{") and not rest.strip() and len(start) < BLOCK_BYTES):
        keys = list_keys(file, alone=not several) if keyed else []
        if len(keys) == 1:
            file.note(f"rows are read from the list under the key {keys[0]!r} of {file.path.name}")
            return read_json_field(file, keys[0])
        if several:
            lists = f"; it has several lists: {', '.join(keys)}" if keys else ""
            raise file.error(
                f"one JSON object over several lines{lists}; expected an array of objects, one object per line, or one list "
                "of objects under a key. To take one list out: jq -c '.KEY[]' IN > OUT.jsonl",
                line=1,
            )
    return read_json_lines(file)


def read_array(file: StoredFile) -> Chunks:
    """The objects of an array."""
    chunk, size = Chunk(), 0
    with closing(file.text_blocks()) as blocks:
        text = _Window(file, blocks)
        try:
            for element in text.elements():
                line = text.element_line
                if not isinstance(element, dict):
                    chunk.add_bad(line, f"Array element is not a JSON object: {type(element).__name__}")
                elif text.suspicious and not encodable(element):
                    chunk.add_bad(line, "contains bytes that are not UTF-8, or half of a surrogate pair")
                else:
                    chunk.add(element, line)
                size += text.element_size
                if len(chunk.rows) >= CHUNK_ROWS or size >= BLOCK_BYTES:
                    yield chunk
                    chunk, size = Chunk(), 0
        except DatasetError:
            if chunk:
                yield chunk
            raise
    if chunk:
        yield chunk


Pairs: TypeAlias = Callable[[list[tuple[str, Any]]], dict[str, Any]]
"""Makes an object of its fields."""


def array_elements(file: StoredFile, pairs: Pairs) -> Iterator[tuple[int, JsonValue]]:
    """The elements of an array with their lines, objects made by `pairs`. Raises if the array is broken."""
    with closing(file.text_blocks()) as blocks:
        text = _Window(file, blocks, pairs)
        for element in text.elements():
            yield text.element_line, element


class _Window:
    """The part of the array that is in memory: from the element being read to the end of the last block."""

    def __init__(self, file: StoredFile, blocks: Iterator[bytes], pairs: Pairs | None = None) -> None:
        self._file = file
        self._blocks = blocks
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._decode = json.JSONDecoder(
            parse_float=_finite, parse_constant=lambda _: None, object_pairs_hook=pairs
        ).raw_decode
        self._most = max_row_bytes()
        self._text = ""
        self._at = 0
        self._line = 1
        self._column = 0  # characters of the current line that have left the window
        self.suspicious = False
        """Whether any text so far contained bytes or escapes that may not be characters."""
        self.element_line = 1
        """Line where the last element starts."""
        self.element_size = 0
        """Its length in characters."""

    def elements(self) -> Iterator[JsonValue]:
        """The elements in order. Raises if the array is broken, because the next element cannot be found."""
        self._next_char()
        self._at += 1  # the opening bracket
        if self._next_char() != "]":
            while True:
                yield self._element()
                after = self._next_char()
                if after == "]":
                    break
                if after != ",":
                    raise self._broken("expected a comma or the closing bracket of the array", self._at)
                self._at += 1
                self._next_char()
        self._at += 1
        if self._next_char():
            raise self._broken("more text after the end of the array", self._at)

    def _element(self) -> JsonValue:
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as exc:
                cut = exc.msg.startswith("Unterminated") or exc.pos + _LONGEST_WORD >= len(self._text)
                if cut and self._more():
                    continue
                raise self._broken(plain_words(exc), exc.pos, near(exc)) from None
            except RecursionError:
                raise self._broken(str(TooDeepError()), self._at) from None
            except ValueError as exc:  # an integer of thousands of digits
                raise self._broken(str(exc), self._at) from None
            # A number that touches the end of the window may have more digits beyond it.
            if end == len(self._text) and self._text[end - 1] not in '}]"' and self._more():
                continue
            self.element_line, self.element_size = self._line, end - self._at
            if self.element_size > 2 * MAX_DEPTH:
                self._check_depth(value, end)
            self._line += self._text.count("\n", self._at, end)
            self._at = end
            return value  # type: ignore[no-any-return]  # what a JSON decoder gives is a JSON value

    def _check_depth(self, value: JsonValue, end: int) -> None:
        if self._text.count("[", self._at, end) + self._text.count("{", self._at, end) > MAX_DEPTH:
            try:
                check_depth(value)
            except TooDeepError as error:
                raise self._broken(str(error), self._at) from None

    def _next_char(self) -> str:
        """Skip white space. Returns the next character, or an empty text at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            end = match.end() if match else self._at
            self._line += self._text.count("\n", self._at, end)
            self._at = end
            if end < len(self._text):
                return self._text[end]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read more text, at least as much as is kept, so that a huge element takes time linear in its size."""
        gone, kept = self._text[: self._at], self._text[self._at :]
        if len(kept) > self._most:
            raise self._file.too_long(self._line)
        parts, missing = [kept], max(len(kept), 1)
        for block in self._blocks:
            part = self._utf8.decode(block)
            self.suspicious = self.suspicious or _suspicious(part)
            parts.append(part)
            missing -= len(part)
            if missing <= 0:
                break
        else:
            parts.append(self._utf8.decode(b"", final=True))
        if not any(parts[1:]):
            return False
        newline = gone.rfind("\n")
        self._column = len(gone) - newline - 1 if newline >= 0 else self._column + len(gone)
        self._text, self._at = "".join(parts), 0
        return True

    def _broken(self, what: str, position: int, found: str = "") -> DatasetError:
        line = self._line + self._text.count("\n", self._at, position)
        newline = self._text.rfind("\n", 0, position)
        column = position - newline if newline >= 0 else self._column + position + 1
        reason = f"not valid JSON: {what}, column {column}{found}. The array cannot be read beyond this point"
        return self._file.error(reason, line)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _suspicious(text: str) -> bool:
    if "\\ud" in text or "\\uD" in text:
        return True
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


CHUNK_ROWS = 512
"""Most rows per chunk."""


def read_json_field(file: StoredFile, field: str) -> Chunks:
    """The rows under a top-level key: a list of objects, or an object of columns. The whole file is kept in memory."""
    found = _whole(file)
    if not isinstance(found, dict):
        raise file.error(f"has no top-level keys (it is {_kind(found)}), so field={field} cannot be read")
    if field not in found:
        lists = [key for key, value in found.items() if isinstance(value, list)]
        raise file.error(f"has no key {field!r}; it has: {', '.join(found)}.{suggest(field, lists or found)}")
    rows = iter(_rows(file, field, found.pop(field)))
    number = 0
    while batch := list(islice(rows, CHUNK_ROWS)):
        chunk = Chunk()
        for row in batch:
            number += 1
            if not isinstance(row, dict):
                chunk.add_bad(number, f"Element of {field!r} is not a JSON object: {_kind(row)}")
            elif not encodable(row):
                chunk.add_bad(number, NOT_A_CHARACTER)
            else:
                chunk.add(row, number)
        yield chunk


def list_keys(file: StoredFile, *, alone: bool = False) -> list[str]:
    """The top-level keys of a JSON object under which rows may be; empty for anything else. If `alone`, only of an object with no
    other key: a row may contain a list of objects too."""
    try:
        found = _whole(file)
    except ValueError:
        return []
    if not isinstance(found, dict) or (alone and len(found) > 1):
        return []
    return [
        key
        for key, value in found.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]


def _rows(file: StoredFile, field: str, value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, list):
        return iter(value)
    if isinstance(value, dict) and value:
        columns = list(value.values())
        lengths = {len(column) if isinstance(column, list) else -1 for column in columns}
        if len(lengths) == 1 and -1 not in lengths:
            return (dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True))
    raise file.error(f"key {field!r} contains {_kind(value)}; expected a list of objects")


def _whole(file: StoredFile) -> JsonValue:
    with closing(file.text_blocks()) as blocks:
        text = b"".join(blocks)
    try:
        found: JsonValue = finite_json(load_exact_json(text))
        return found
    except json.JSONDecodeError as exc:
        raise file.error(
            f"not valid JSON: {plain_words(exc)}, column {exc.colno}{near(exc)}", exc.lineno
        ) from None
    except ValueError as exc:
        raise file.error(f"not usable JSON: {exc}") from None


def _kind(value: JsonValue) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a number")
