"""Texts on their way into and out of the database."""

from __future__ import annotations

from typing import overload

import orjson

from benchwright.core import JsonValue


@overload
def storable(text: str) -> str: ...
@overload
def storable(text: str | None) -> str | None: ...
def storable(text: str | None) -> str | None:
    """Half characters, which UTF-8 cannot hold, made question marks: users' texts may hold anything."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


@overload
def load_json(text: bytes) -> JsonValue: ...
@overload
def load_json(text: bytes | None) -> JsonValue: ...
def load_json(text: bytes | None) -> JsonValue:
    """A stored JSON value; None for none."""
    if text is None:
        return None
    try:
        value: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:  # half characters and the like, which the standard library reads
        import json

        value = json.loads(text)
    return value
