"""`.json` files that keep their rows under a key: `{"version": 1, "data": [ … ]}`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import islice

from benchwright.core import JsonValue, load_exact_json, suggest
from benchwright.datasets._json_text import NOT_A_CHARACTER, encodable, near, plain_words
from benchwright.datasets._stored import StoredFile
from benchwright.datasets._values import Chunk, Chunks

CHUNK_ROWS = 512
"""Most rows per chunk."""


def read_json_field(file: StoredFile, field: str) -> Chunks:
    """The rows under a top-level key: a list of objects, or an object of columns. The file is held in memory."""
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


def list_keys(file: StoredFile) -> list[str]:
    """The top-level keys of a JSON object under which rows may be; empty for anything else."""
    try:
        found = _whole(file)
    except ValueError:
        return []
    if not isinstance(found, dict):
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
    raise file.error(f"key {field!r} holds {_kind(value)}; expected a list of objects")


def _whole(file: StoredFile) -> JsonValue:
    with closing(file.text_blocks()) as blocks:
        text = b"".join(blocks)
    try:
        return load_exact_json(text)
    except json.JSONDecodeError as exc:
        raise file.error(
            f"not valid JSON: {plain_words(exc)}, column {exc.colno}{near(exc)}", exc.lineno
        ) from None
    except ValueError as exc:
        raise file.error(f"not usable JSON: {exc}") from None


def _kind(value: JsonValue) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a number")
