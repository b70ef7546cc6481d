"""Untyped JSON: its type, how text is decoded and values are encoded, and how two values differ.

Nesting is limited when text is read. The libraries that we use give up at different depths (254 levels when writing,
1,024 when reading, Python's recursion limit in between), and a value that can be read but not written would end a run.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any, Literal, TypeAlias, TypeVar, overload

import orjson
from msgspec import to_builtins
from msgspec.json import Decoder

from benchwright.core._late_patterns import late_pattern

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
"""Any value that JSON can represent."""

JsonObject: TypeAlias = "dict[str, JsonValue]"

Row: TypeAlias = dict[str, Any]
"""One row of a user's data after field mapping. Rows from files contain JSON values only; a source written in Python
may yield values of any type."""

MAX_DEPTH = 254
"""The deepest nesting of lists and objects that a text may have: the limit of the fast library when writing. Real data
never comes close."""

_DIGITS = bytes(48 if 48 <= byte < 58 else 120 for byte in range(256))
_LONG = b"0" * 19
_BEYOND_64_BITS = late_pattern(rb"-[0-9]{19}|[0-9]{20}")


class TooDeepError(ValueError):
    """A value is nested too deeply to be written."""

    def __init__(self) -> None:
        super().__init__(f"lists and objects are nested more than {MAX_DEPTH} levels deep")


def load_json(text: bytes | str) -> Any:
    """Decode a JSON text. Raises ValueError if it is not JSON, and `TooDeepError` if it is nested too deeply.

    >>> load_json(b"[" * 300 + b"]" * 300)
    Traceback (most recent call last):
    ...
    benchwright.core._json.TooDeepError: lists and objects are nested more than 254 levels deep
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "depth" in error.msg:  # deeper than the library reads; otherwise a syntax error
            raise TooDeepError from None
        raise
    if len(text) > 2 * MAX_DEPTH:
        _check_depth(text, value)
    return value


def beyond_64_bits(text: bytes) -> bool:
    """Whether an integer may be too long for the fast library, which would turn it into a float.

    The digit mask takes 1.6 ns per byte; the regular expression alone would take nine times as long.
    """
    return _LONG in text.translate(_DIGITS) and _BEYOND_64_BITS.search(text) is not None


def load_exact_json(text: bytes | str) -> JsonValue:
    """Decode like `load_json`, but keep every digit and lone surrogates, which the fast library does not.

    >>> load_exact_json(b"100000000000000000000")
    100000000000000000000
    """
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    value: JsonValue
    if not beyond_64_bits(text):
        try:
            value = load_json(text)
            return value
        except orjson.JSONDecodeError:  # lone surrogates, which the standard library reads
            pass
    try:
        value = json.loads(text)
    except RecursionError:
        raise TooDeepError from None
    _check_depth(text, value)
    return value


def load_each(texts: Sequence[bytes], *, exact: bool = False) -> list[Any]:
    """Decode each text; if `exact`, like `load_exact_json`. Short ones are decoded together, in half the time.

    >>> load_each([b'{"a":1}', b"100000000000000000000"], exact=True)
    [{'a': 1}, 100000000000000000000]
    """
    joined = b"[%b]" % b",".join(texts)
    values: list[Any] = []
    if not exact:
        values = orjson.loads(joined)
        return values
    if all(len(text) <= 2 * MAX_DEPTH for text in texts) and not beyond_64_bits(joined):
        with suppress(orjson.JSONDecodeError):  # one of them has lone surrogates
            values = orjson.loads(joined)
        if len(values) == len(texts):
            return values
    return [load_exact_json(text) for text in texts]


def load_data_json(text: bytes | str) -> Any:
    """Decode a user's data: like `load_json`, which refuses lone surrogates, but keep every digit."""
    value = load_json(text)
    exact = beyond_64_bits(text.encode() if isinstance(text, str) else text)
    return load_exact_json(text) if exact else value


def check_depth(value: Any) -> None:
    """Raise `TooDeepError` if a value is nested too deeply or contains itself, no matter how it was read."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = {
            id(item): item  # each only once: a document may refer to it many times
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
    """Raise `TooDeepError` for a deep value. Most texts have too few brackets to be deep; the others are encoded as a
    trial, which is faster than walking through them."""
    if isinstance(text, str):
        few = text.count("[") + text.count("{") <= MAX_DEPTH
    else:
        few = text.count(b"[") + text.count(b"{") <= MAX_DEPTH
    if few:
        return
    try:
        orjson.dumps(value)
    except TypeError:  # or it contains values that only the standard library writes
        check_depth(value)


ENCODE = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
"""Options for encoding values of any type."""

_CANONICAL = ENCODE | orjson.OPT_SORT_KEYS


def encode_json(value: Any) -> bytes:
    """Encode as compact JSON and keep the order of keys. Values that JSON cannot represent become text.

    >>> encode_json({"b": 1, "a": None})
    b'{"b":1,"a":null}'
    """
    try:
        return orjson.dumps(value)  # a third faster than with options, and nearly all values need none
    except TypeError:  # orjson.JSONEncodeError
        pass
    try:
        return orjson.dumps(value, default=as_text, option=ENCODE)
    except TypeError:
        return orjson.dumps(_representable(value), default=as_text, option=ENCODE)


def canonical_json(value: Any) -> bytes:
    """Encode as compact JSON with sorted keys, so that equal values give equal bytes.

    >>> canonical_json({"b": 1, "a": None})
    b'{"a":null,"b":1}'
    """
    try:
        return orjson.dumps(value, default=as_text, option=_CANONICAL)
    except TypeError:
        return orjson.dumps(_representable(value), default=as_text, option=_CANONICAL)


def content_hash(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def as_text(value: Any) -> Any:
    """Return a stand-in for a value that JSON cannot represent."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def as_json(value: object) -> Any:
    """A value and everything in it as JSON types: structs as objects, paths as texts, times as RFC 3339.

    Any, because the type follows from that of the value: a struct gives an object.
    """
    return to_builtins(value, enc_hook=as_text)


_Value = TypeVar("_Value")
_READY: set[object] = set()
_READING = RLock()


@overload
def ready(kind: type[_Value]) -> type[_Value]: ...
@overload
def ready(kind: Any) -> Any: ...
def ready(kind: Any) -> Any:
    """A type that values are converted to, for which any thread may ask.

    msgspec reads the fields of a struct when a value is first converted to it, and two threads that do so at once can
    crash the process. So every type passes here on its way to `convert`, `decode` or a `Decoder`: its fields, and those of
    the structs in it, are read by one thread at a time. A type that a function makes for itself need not pass.
    """
    if kind not in _READY:
        with _READING:
            Decoder(kind)
            _READY.add(kind)
    return kind


_DEEPEST = 100


def _representable(value: Any, depth: int = 0) -> Any:
    """Turn parts of a value that JSON cannot represent into text: integers beyond 64 bits, lone surrogates, endless nesting.

    A run must never fail because of a value in a user's row. Prompts and scorers see the row itself, unchanged.
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
        return {_key(key): _representable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_representable(item, depth + 1) for item in value]
    return value


def _key(key: Any) -> Any:
    """Return a key that JSON can represent: a model may write tuples, bytes or complex numbers as keys of a Python dict."""
    return _representable(key) if isinstance(key, str | int | float) or key is None else str(as_text(key))


def exact_json(value: Any, *, indent: bool = False) -> bytes:
    """Encode a value as JSON and keep every digit.

    NaN and infinities become null; other values that JSON cannot represent become text.

    >>> exact_json({"n": 10**20})
    b'{"n":100000000000000000000}'
    """
    try:
        return orjson.dumps(value, default=as_text, option=ENCODE | (orjson.OPT_INDENT_2 if indent else 0))
    except TypeError:
        shape: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
    try:
        return json.dumps(finite_json(value), default=as_text, **shape).encode()
    except (RecursionError, TypeError):  # endless nesting, or keys that are not strings
        return encode_json(value)


def finite_number(value: object) -> float | None:
    """Return a value as a number to calculate with; None for texts, bools, infinities and integers too large for a float.

    >>> finite_number(2), finite_number("2"), finite_number(10**400), finite_number(float("nan"))
    (2.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def finite_json(value: Any) -> Any:
    """Return a value with null in place of NaN and infinities, which JSON does not have. Parts without them stay as they are.

    >>> finite_json({"a": [float("nan"), 1.5]})
    {'a': [None, 1.5]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_json(item) for item in value]
    return value


DifferenceKind: TypeAlias = Literal["changed", "added", "removed"]
"""How a field changed: it is in both values, only in the new one, or only in the old one."""


def json_differences(
    old: JsonValue, new: JsonValue, path: str = "$"
) -> Iterator[tuple[str, DifferenceKind, JsonValue, JsonValue]]:
    """Yield every place where two values differ, in the order of the old one: where (`$` is the whole value, `$.rows[3].text` a field in it),
    how, and the old and the new value, None if there is none. `1` and `1.0` differ, as their JSON does.

    >>> list(json_differences({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3], "c": None}))
    [('$.b[1]', 'changed', 2, 3), ('$.c', 'added', None, None)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old:
            place = _field(path, name)
            if name in new:
                yield from json_differences(old[name], new[name], place)
            else:
                yield place, "removed", old[name], None
        for name in new:
            if name not in old:
                yield _field(path, name), "added", None, new[name]
    elif isinstance(old, list) and isinstance(new, list):
        for number in range(max(len(old), len(new))):
            place = f"{path}[{number}]"
            if number >= len(new):
                yield place, "removed", old[number], None
            elif number >= len(old):
                yield place, "added", None, new[number]
            else:
                yield from json_differences(old[number], new[number], place)
    elif type(old) is not type(new) or old != new:
        yield path, "changed", old, new


def _field(path: str, name: str) -> str:
    import json

    return f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name, ensure_ascii=False)}]"
