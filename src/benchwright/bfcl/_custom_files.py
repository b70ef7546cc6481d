"""Files of custom datasets: their JSON objects one at a time, and answers by id. Neither keeps what it has read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core import DatasetError, load_data_json

_UP_TO_A_VALUE = re.compile(r"\s*(?=\S)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RawObject(NamedTuple):
    """The text of an object, and where it is."""

    line: int
    """The line on which it begins."""
    text: str
    is_text: bool = True
    """Whether it is UTF-8."""
    offset: int | None = None
    """The byte at which its line begins; None if it may span several lines."""


def raw_objects(file: Path) -> Iterator[RawObject]:
    """The objects of a file, usually one a line; blank lines are left out.

    In manuals, objects span several lines. A file is read as a whole only if its first line is not an object.
    """
    with file.open("rb") as lines:
        end, begun = 0, False
        for number, line in enumerate(lines, 1):
            start, end = end, end + len(line)
            content = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if not content.strip():
                continue
            if not begun and not _is_json(content):
                yield from _whole(file)
                return
            begun = True
            yield _raw(number, content, start)


class Answers:
    """The answers of a file by id. It keeps where each one is, and reads it again when it is requested."""

    def __init__(self, file: Path, read: Callable[[dict[str, Any]], Any]) -> None:
        self.file = file
        self._read = read
        self._places: dict[str, int | str] = {}
        self._lines: dict[str, int] = {}

    def add(self, identity: str, raw: RawObject) -> None:
        """Note where an answer is."""
        self._places[identity] = raw.text if raw.offset is None else raw.offset
        self._lines[identity] = raw.line

    def line(self, identity: str) -> int:
        """The line on which an answer begins."""
        return self._lines[identity]

    def __contains__(self, identity: str) -> bool:
        return identity in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, identity: str) -> Any:
        place = self._places[identity]
        try:
            value = load_data_json(place if isinstance(place, str) else self._line(place))
            if value["id"] == identity:
                return self._read(value)
        except (ValueError, KeyError, TypeError):
            pass
        raise DatasetError(f"{self.file}: the answer {identity!r} was changed while the file was read")

    def _line(self, offset: int) -> bytes:
        with self.file.open("rb") as lines:
            lines.seek(offset)
            return lines.readline().removeprefix(_BYTE_ORDER_MARK)  # the first line may begin with it


def _is_json(line: bytes) -> bool:
    try:
        load_data_json(line)
    except ValueError:
        return False
    return True


def _raw(number: int, line: bytes, offset: int) -> RawObject:
    try:
        return RawObject(number, line.decode().rstrip("\r\n"), offset=offset)
    except UnicodeDecodeError:
        return RawObject(number, line.decode("utf-8", "replace").rstrip("\r\n"), False)


def _whole(file: Path) -> Iterator[RawObject]:
    text = file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    for number, raw in _documents(text) or enumerate(text.split("\n"), 1):
        if raw.strip():
            readable = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield RawObject(number, readable, readable == raw)


def _documents(text: str) -> list[tuple[int, str]]:
    """The objects of a file in which they span several lines, each with the line on which it begins.

    Empty if the first line is a complete object, as it should be, or if the file contains something else.

    >>> _documents('{"a":\\n 1}\\n{"b": 2}'), _documents('{"a": 1}\\n{"b":'), _documents('{\\n"a": 1')
    ([(1, '{"a":\\n 1}'), (3, '{"b": 2}')], [], [])
    """
    found: list[tuple[int, str]] = []
    decoder, end, line = json.JSONDecoder(), 0, 1
    try:
        while gap := _UP_TO_A_VALUE.match(text, end):
            line += gap[0].count("\n")
            value, end = decoder.raw_decode(text, gap.end())
            raw = text[gap.end() : end]
            if not isinstance(value, dict) or not (found or "\n" in raw):
                return []
            found.append((line, raw))
            line += raw.count("\n")
    except (ValueError, RecursionError):
        return []
    return found
