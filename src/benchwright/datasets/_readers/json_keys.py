"""Finds objects of JSON files that name a field more than once. Readers keep the last value, as all libraries do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import orjson

from benchwright.datasets._readers.json_array import array_elements
from benchwright.datasets._stored import StoredFile

_COLON = re.compile(rb'"\s*:')


def repeated_keys(file: StoredFile) -> str | None:
    """A sentence on the rows that name a field more than once; None if there are none, or the file cannot be read to its
    end, which readers report."""
    rows, first = 0, ""
    try:
        for line, key in _found(file):
            rows += 1
            first = first or f'line {line} names "{key}" twice'
    except ValueError:  # DatasetError too
        pass
    if not rows:
        return None
    has = "1 row names" if rows == 1 else f"{rows:,} rows name"
    return f"{has} a field more than once, and only the last value is used: {first}"


def _found(file: StoredFile) -> Iterator[tuple[int, str]]:
    """The lines of rows with a repeated key, and the first such key of each."""
    repeated: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            seen: set[str] = set()
            repeated.extend(key for key, _ in found if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return made

    with closing(file.text_blocks()) as blocks:
        start = next((text for block in blocks if (text := block.lstrip())), b"")
    if start.startswith(b"["):
        for line, _ in array_elements(file, pairs):
            if repeated:
                yield line, repeated[0]
                repeated.clear()
        return
    number = 0
    with closing(file.text_blocks()) as blocks:
        for block in blocks:
            lines = block.split(b"\n" if b"\n" in block else b"\r")
            if not lines[-1]:
                lines.pop()
            for number, text in enumerate(lines, number + 1):  # noqa: B020  # goes on in the next block
                if _may_repeat(text):
                    with suppress(ValueError, RecursionError):  # a bad row
                        json.loads(text, object_pairs_hook=pairs)
                    if repeated:
                        yield number, repeated[0]
                        repeated.clear()


def _may_repeat(text: bytes) -> bool:
    """Whether a line may name a field twice: it has more colons after quotes than fields. Nearly all lines are settled by
    this, at the cost of parsing them once more."""
    try:
        return len(_COLON.findall(text)) > _fields(orjson.loads(text))
    except orjson.JSONDecodeError:
        return bool(text.strip())  # NaN, or a bad row


def _fields(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_fields, value.values()))
    return sum(map(_fields, value)) if isinstance(value, list) else 0
