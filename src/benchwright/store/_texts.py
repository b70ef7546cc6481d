"""Texts on their way into and out of the database."""

from __future__ import annotations

from typing import overload

from benchwright.core import JsonValue, load_exact_json


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
    """A stored JSON value with every digit; None for none."""
    if text is None:
        return None
    return load_exact_json(text)
