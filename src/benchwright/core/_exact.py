"""JSON in both directions without loss: integers of any length and half characters come back as they were.

The quick library reads an integer beyond 64 bits as a float, and writes neither it nor half a character.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from benchwright.core._hashing import ENCODE, as_text, encode_json
from benchwright.core._json import JsonValue

_LONG = re.compile(rb"[0-9]{19}")


def exact_json(value: Any, *, indent: bool = False) -> bytes:
    """JSON of a value, every digit kept. NaN and infinities become null, what else JSON cannot hold becomes text.

    >>> exact_json({"n": 10**20})
    b'{"n":100000000000000000000}'
    """
    try:
        return orjson.dumps(value, default=as_text, option=ENCODE | (orjson.OPT_INDENT_2 if indent else 0))
    except TypeError:
        shape: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
    try:
        return json.dumps(_finite(value), default=as_text, **shape).encode()
    except (RecursionError, TypeError):  # endless nesting, or keys that are no text
        return encode_json(value)


def load_exact_json(text: bytes) -> JsonValue:
    """The value of a JSON text, every digit kept. ValueError for what is no JSON.

    >>> load_exact_json(b"100000000000000000000")
    100000000000000000000
    """
    if not _LONG.search(text):
        try:
            value: JsonValue = orjson.loads(text)
            return value
        except orjson.JSONDecodeError:  # half characters, which the standard library reads
            pass
    value = json.loads(text)
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
