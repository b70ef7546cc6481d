"""Canonical JSON of step inputs and outputs: equal values give equal texts, and a replayed value equals the first.

Keys are sorted, nothing is dropped (None stays None), and values that JSON cannot represent are refused with their place.
Pydantic models and dataclasses are converted to JSON types first.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
from collections.abc import Callable
from enum import Enum
from json.scanner import make_scanner
from typing import Any

import orjson

from benchwright.core import JsonValue, UsageError

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)
_scan: Any = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]  # it wants any decoder
_CHECK = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_DEEPEST = 200


def stable_stringify(value: Any) -> str:
    """Canonical JSON, ASCII only. Raises `UsageError` (a `ValueError`) with the place of a value that JSON cannot represent.

    >>> stable_stringify({"b": (1, 2.0), "a": None, "ü": "é"})
    '{"a":null,"b":[1,2.0],"\\\\u00fc":"\\\\u00e9"}'
    >>> stable_stringify({"rows": [{"score": float("nan")}]})
    Traceback (most recent call last):
    ...
    benchwright.UsageError: $.rows[0].score is nan, which JSON cannot represent; expected a finite number
    """
    try:
        # A fast check that refuses keys that are not text; the standard library would convert them.
        orjson.dumps(value, option=_CHECK)
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        pass
    return _encode(plain(value))


def read_back(text: str) -> Any:
    """The value of a canonical text. Twice as fast as `json.loads`, which checks for spaces first."""
    return _scan(text, 0)[0]


def hash_json(value: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 lower-case hexadecimal digits.

    >>> hash_json({"a": None, "b": 1}) == hash_json({"b": 1})
    False
    """
    return hash_text(stable_stringify(value))


def hash_text(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any, path: str = "$", depth: int = 0) -> JsonValue:
    """Convert a value to JSON types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value, path, depth)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(f"{path} is {value!r}, which JSON cannot represent; expected a finite number")
        return float(value)
    if depth > _DEEPEST:
        raise UsageError(f"{path[:80]}… is nested more than {_DEEPEST} deep; is it part of itself?")
    if isinstance(value, dict):
        return {_key(key, path): plain(item, _field(path, key), depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{path}[{number}]", depth + 1) for number, item in enumerate(value)]
    return plain(_dumped(value, path), path, depth + 1)


def _compiled() -> Callable[[Any], str]:
    """A prepared encoder. `JSONEncoder.encode` sets up its encoder for each value, which takes longer than a small value."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _ENCODER.encode
    encode = make(
        None, _ENCODER.default, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, False
    )
    return lambda value: "".join(encode(value, 0))


_encode = _compiled()


def _key(key: object, path: str) -> str:
    if isinstance(key, str):
        return str(key)
    raise UsageError(
        f"{path} has the key {key!r}; expected text. Write {{{str(key)!r}: …}}, as JSON would read it"
    )


def _dumped(value: Any, path: str) -> Any:
    """Convert models and dataclasses to JSON types, with dates and similar values as text."""
    model = getattr(sys.modules.get("pydantic"), "BaseModel", None)  # if it is not loaded there are no models
    if model is not None and isinstance(value, model):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        from pydantic_core import to_jsonable_python

        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return to_jsonable_python(fields, inf_nan_mode="constants")
    if hasattr(value, "tolist") and type(value).__module__ == "numpy":
        return value.tolist()
    raise UsageError(
        f"{path} is a {type(value).__name__}, which JSON cannot represent; expected text, a number, true or false, None, "
        "a list, a dictionary, a dataclass or a pydantic model"
    )


def _field(path: str, name: object) -> str:
    text = str(name)
    return f"{path}.{text}" if text.isidentifier() else f"{path}[{text!r}]"
