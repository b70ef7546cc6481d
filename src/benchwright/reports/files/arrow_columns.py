"""Arrow columns out of plain lists, by their buffers.

pyarrow's own conversion looks at every value by itself and, where pandas is installed, imports it first, which takes
a quarter of a second. Here lists without nulls are joined in one call; what does not fit goes pyarrow's way.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

_FORMATS = {"int64": "q", "double": "d"}
"""Arrow's names of numbers to those of `struct`, which packs them in half the time that `array` takes."""


def array(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    """An Arrow array of texts (as str, or as bytes in UTF-8), numbers, truth values, or lists of these; None is null."""
    if not values or (values[0] is None and values.count(None) == len(values)):
        return pa.nulls(len(values), kind)
    try:
        if pa.types.is_string(kind):
            return _texts(pa, values, kind)
        if pa.types.is_list(kind):
            return _lists(pa, values, kind)
        if pa.types.is_boolean(kind):
            return _truths(pa, values, kind)
        return _numbers(pa, values, kind)
    except (TypeError, struct.error):
        return pa.array(values, kind)  # converts what can be converted, and says what cannot


def _texts(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = None, 0
    try:
        texts, data = _joined(values)
    except TypeError:
        valid, nulls = _valid(pa, values)
        blank = type(next(value for value in values if value is not None))()
        texts, data = _joined([blank if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(texts), [valid, _offsets(pa, texts), pa.py_buffer(data)], nulls)


def _joined(values: Sequence[Any]) -> tuple[Sequence[Any], bytes]:
    """The values as they are as long as in the data, and the data. TypeError: one is no text, or of the other kind."""
    if isinstance(values[0], bytes):
        data = b"".join(values)
        if not data.isascii():
            data.decode()  # refused here rather than by who reads the file
        return values, data
    text = "".join(values)
    data = text.encode()
    return (values if len(data) == len(text) else [value.encode() for value in values]), data


def _numbers(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    code, valid, nulls = _FORMATS[str(kind)], None, 0
    try:
        data = _packed(pa, code, values)
    except struct.error:
        valid, nulls = _valid(pa, values)
        data = _packed(pa, code, [0 if value is None else value for value in values])
    return pa.Array.from_buffers(kind, len(values), [valid, data], nulls)


def _truths(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = _valid(pa, values)
    return pa.Array.from_buffers(kind, len(values), [valid, _bitmap(pa, values)], nulls)


def _lists(pa: Any, values: Sequence[Any], kind: Any) -> Any:
    valid, nulls = _valid(pa, values)
    lists = [value or () for value in values]
    items = array(pa, list(chain.from_iterable(lists)), kind.value_type)
    return pa.Array.from_buffers(kind, len(lists), [valid, _offsets(pa, lists)], nulls, children=[items])


def _offsets(pa: Any, values: Sequence[Any]) -> Any:
    """Where each value begins, and where the last one ends."""
    return _packed(pa, "i", list(accumulate(map(len, values), initial=0)))


def _packed(pa: Any, code: str, numbers: Sequence[float]) -> Any:
    return pa.py_buffer(struct.pack(f"={len(numbers)}{code}", *numbers))


def _valid(pa: Any, values: Sequence[Any]) -> tuple[Any, int]:
    """The bitmap of the values that are there, None where all are; and how many are not."""
    there = [value is not None for value in values]
    nulls = there.count(False)
    return (_bitmap(pa, there), nulls) if nulls else (None, 0)


def _bitmap(pa: Any, values: Sequence[Any]) -> Any:
    """One bit per value, the first one lowest: as the digits of a number, last one first."""
    digits = "".join(["1" if value else "0" for value in reversed(values)])
    return pa.py_buffer(int(digits, 2).to_bytes((len(values) + 7) // 8, "little"))
