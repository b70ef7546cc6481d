"""JSON without loss: integers of any length and half characters are written as they are, which the quick library does
not do. `load_exact_json` reads them."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from benchwright.core._hashing import ENCODE, as_text, encode_json


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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
