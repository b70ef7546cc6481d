"""Untyped JSON: its type, and the one place where foreign text becomes a value.

Nesting is limited where text is read. The libraries behind us give up at different depths (254 levels when writing,
1,024 when reading, Python's own recursion in between), and a value that can be read but not written would end a run.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import orjson

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
"""Anything JSON can hold."""

JsonObject: TypeAlias = "dict[str, JsonValue]"
"""A JSON object."""

Row: TypeAlias = dict[str, Any]
"""One row of a user's data after field mapping. Values are the user's own and may be anything a
programmatic source yields; rows from files hold JSON values only."""

MAX_DEPTH = 100
"""Levels of lists and objects that a text may have. No data has as many; what is read can be written anywhere."""

TOO_DEEP = f"lists and objects are nested more than {MAX_DEPTH} levels deep"
"""What is wrong with a text beyond that."""

_LONG = re.compile(rb"[0-9]{19}")
_WRITABLE = 254  # levels that the library writes


def load_json(text: bytes | str) -> Any:
    """The value of a JSON text. ValueError for what is no JSON or is nested too deep.

    >>> load_json(b"[" * 300 + b"]" * 300)
    Traceback (most recent call last):
    ...
    ValueError: lists and objects are nested more than 100 levels deep
    """
    value = orjson.loads(text)
    if len(text) > 2 * MAX_DEPTH:
        _check_depth(text, value)
    return value


def load_exact_json(text: bytes) -> JsonValue:
    """As `load_json`, every digit and half character kept, which the quick library does not.

    >>> load_exact_json(b"100000000000000000000")
    100000000000000000000
    """
    value: JsonValue
    if not _LONG.search(text):
        try:
            value = load_json(text)
            return value
        except orjson.JSONDecodeError:  # half characters, which the standard library reads
            pass
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    _check_depth(text, value)
    return value


def check_depth(value: Any) -> None:
    """ValueError for a value that is nested too deep, however it was read."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for box in level
            if isinstance(box, dict | list | tuple)
            for item in (box.values() if isinstance(box, dict) else box)
            if isinstance(item, dict | list | tuple)
        ]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def _check_depth(text: bytes | str, value: Any) -> None:
    """Most texts have too few brackets to be deep. The others are written below so many lists that the library refuses
    them when they are: a quarter of what reading them took."""
    if isinstance(text, str):
        few = text.count("[") + text.count("{") <= MAX_DEPTH
    else:
        few = text.count(b"[") + text.count(b"{") <= MAX_DEPTH
    if few:
        return
    for _ in range(_WRITABLE - MAX_DEPTH):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:  # or it holds what only the standard library writes
        for _ in range(_WRITABLE - MAX_DEPTH):
            value = value[0]
        check_depth(value)
