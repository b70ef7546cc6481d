"""Canonical JSON and content hashes: the identity of rows, requests and steps."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

_ENCODE = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_CANONICAL = _ENCODE | orjson.OPT_SORT_KEYS


def encode_json(value: Any) -> bytes:
    """Compact JSON, keys in their own order. What orjson cannot hold becomes text.

    >>> encode_json({"b": 1, "a": None})
    b'{"b":1,"a":null}'
    """
    return orjson.dumps(value, default=_as_text, option=_ENCODE)


def canonical_json(value: Any) -> bytes:
    """Compact JSON with sorted keys: equal values give equal bytes.

    >>> canonical_json({"b": 1, "a": None})
    b'{"a":null,"b":1}'
    """
    return orjson.dumps(value, default=_as_text, option=_CANONICAL)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _as_text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, int):  # beyond 64 bits, which orjson refuses
        return str(value)
    return str(value)
