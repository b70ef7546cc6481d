"""JSON of many short texts and objects in one call, as `load_each` does for values of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from benchwright.core import encode_json

_BETWEEN = "\0"
_SEPARATOR = b',"\\u0000",'
"""`_BETWEEN` as an element of a list."""


def dump_each(objects: Sequence[dict[str, Any] | None]) -> list[bytes | None]:
    """The JSON text of each object; None stays None."""
    if not objects:
        return []
    spaced: list[Any] = [_BETWEEN] * (2 * len(objects) - 1)
    spaced[::2] = objects
    try:
        texts: list[bytes | None] = list(orjson.dumps(spaced)[1:-1].split(_SEPARATOR))
    except TypeError:  # one is as deep as can be written alone
        texts = []
    if len(texts) != len(objects):  # or the separator stands in an object too
        texts = list(map(encode_json, objects))
    return [None if text == b"null" else text for text in texts] if b"null" in texts else texts


def load_strings(encoded: Sequence[bytes]) -> list[str] | None:
    """The strings, if each of `encoded` is exactly what `orjson` writes for one; None if any is something else.

    They are read as one list, with a string of our own between any two. So a quote that is left open ends at the
    next separator, behind which the list is no JSON; and anything but one value changes the number of values.
    """
    joined = b"[%b]" % _SEPARATOR.join(encoded)
    try:
        values: list[Any] = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None
    if len(values) != 2 * len(encoded) - 1 or set(map(type, values)) != {str}:
        return None
    return values[::2] if orjson.dumps(values) == joined else None
