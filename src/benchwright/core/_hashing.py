"""Canonical JSON and content hashes: the identity of rows, requests and steps."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

ENCODE = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
"""How values of any kind are written."""

_CANONICAL = ENCODE | orjson.OPT_SORT_KEYS


def encode_json(value: Any) -> bytes:
    """Compact JSON, keys in their own order. What JSON cannot hold becomes text.

    >>> encode_json({"b": 1, "a": None})
    b'{"b":1,"a":null}'
    """
    try:
        return orjson.dumps(value)  # a third quicker than with options, and nearly all values need none
    except TypeError:  # orjson.JSONEncodeError
        pass
    try:
        return orjson.dumps(value, default=as_text, option=ENCODE)
    except TypeError:
        return orjson.dumps(_holdable(value), default=as_text, option=ENCODE)


def canonical_json(value: Any) -> bytes:
    """Compact JSON with sorted keys: equal values give equal bytes.

    >>> canonical_json({"b": 1, "a": None})
    b'{"a":null,"b":1}'
    """
    try:
        return orjson.dumps(value, default=as_text, option=_CANONICAL)
    except TypeError:
        return orjson.dumps(_holdable(value), default=as_text, option=_CANONICAL)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def as_text(value: Any) -> Any:
    """What stands for a value that JSON cannot hold."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


_DEEPEST = 100


def _holdable(value: Any, depth: int = 0) -> Any:
    """The value with what JSON cannot hold made text: integers beyond 64 bits, half characters, endless nesting.

    A user's row must never be what a run fails on; the row itself, which prompts and scorers see, is not changed.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {_holdable(key, depth + 1): _holdable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_holdable(item, depth + 1) for item in value]
    return value
