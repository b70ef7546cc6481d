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

MAX_DEPTH = 254
"""Levels of lists and objects that a text may have: what the quick library writes. No data has as many."""

_LONG = re.compile(rb"[0-9]{19}")


class TooDeepError(ValueError):
    """A value that is nested deeper than it can be written."""

    def __init__(self) -> None:
        super().__init__(f"lists and objects are nested more than {MAX_DEPTH} levels deep")


def load_json(text: bytes | str) -> Any:
    """The value of a JSON text. ValueError for what is no JSON, `TooDeepError` for what is nested too deep.

    >>> load_json(b"[" * 300 + b"]" * 300)
    Traceback (most recent call last):
    ...
    benchwright.core._json.TooDeepError: lists and objects are nested more than 254 levels deep
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "depth" in error.msg:  # beyond what the library reads; else a syntax error, with its place
            raise TooDeepError from None
        raise
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
        raise TooDeepError from None
    _check_depth(text, value)
    return value


def check_depth(value: Any) -> None:
    """`TooDeepError` for a value that is nested too deep, or is part of itself, however it was read."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = {
            id(item): item  # once, however often a document refers to it
            for box in level
            if isinstance(box, dict | list | tuple)
            for item in (box.values() if isinstance(box, dict) else box)
            if isinstance(item, dict | list | tuple)
        }
        if not inner:
            return
        level = list(inner.values())
    raise TooDeepError


def _check_depth(text: bytes | str, value: Any) -> None:
    """Most texts have too few brackets to be deep; the others are written, which is quicker than to look."""
    if isinstance(text, str):
        few = text.count("[") + text.count("{") <= MAX_DEPTH
    else:
        few = text.count(b"[") + text.count(b"{") <= MAX_DEPTH
    if few:
        return
    try:
        orjson.dumps(value)
    except TypeError:  # or it holds what only the standard library writes
        check_depth(value)
