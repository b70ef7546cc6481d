"""Halves of surrogate pairs in JSON. A program whose texts are UTF-16 may cut a character such as 😀 between two messages, and
writes each half as an escape, which is JSON but no text."""

from __future__ import annotations

from typing import Any

import orjson

from benchwright.core import late_pattern, load_exact_json, load_json

_HALF = late_pattern(rb"\\u[dD][89a-fA-F]")


def load_halves(text: bytes) -> Any:
    """Decode JSON like `load_json`, but keep halves of pairs, which its library refuses; `join_halves` joins them later."""
    try:
        return load_json(text)
    except orjson.JSONDecodeError:
        if _HALF.search(text) is None:
            raise
        return load_exact_json(text)


def load_joined(text: bytes) -> Any:
    """Decode JSON like `load_json`; halves of pairs are joined."""
    try:
        return load_json(text)
    except orjson.JSONDecodeError:
        return join_halves(load_halves(text))


def join_halves(value: Any) -> Any:
    """A JSON value in whose texts halves of pairs that meet are one character, and others are U+FFFD.

    >>> join_halves({"a": ["\\ud83d\\ude00", "\\ud83d", 5]})
    {'a': ['😀', '�', 5]}
    """
    try:
        orjson.dumps(value)
    except TypeError:
        return _joined(value)
    return value


def _joined(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_joined(key): _joined(item) for key, item in value.items()}
    return [_joined(item) for item in value] if isinstance(value, list) else value
