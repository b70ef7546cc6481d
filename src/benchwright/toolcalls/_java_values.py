"""Converts texts of Java values to Python values, by the type of the parameter. A text that does not fit stays text.

`$` instead of `\\Z` is intended: the published patterns tolerate one line break at the end. No two parts of a pattern may
match the same text, because patterns with several `\\s*` around a lazy part take hours on white space.
"""

from __future__ import annotations

import re
from typing import Any

_INTEGER = re.compile(r"^-?\d+$")
_LONG = re.compile(r"^-?\d+[lL]$")
_FLOAT = re.compile(r"^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[fF]$")
_DOUBLE = re.compile(r"^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_AS_LIST = re.compile(r"new\s+ArrayList<(\w*)>\(Arrays\.asList\((.+?)\)\)")
_ADDED = re.compile(r"new\s+ArrayList<(\w*)>\(\)\s*\{\{\s*+(.+?)\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<(\w*)>\(\)")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{([^}]*)\}", re.DOTALL)
_PUT = re.compile(
    r"put\(\"(?:(?>(.*?)\",)\s*+(.*?)\)"
    r"|(.*)\",[^\S\n]*+\n\s*+(.*?)\))"  # a value that goes on in the next line after a text ends the key there
)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_MOST_DIGITS = 4000
"""The most digits that Python converts; longer numbers stay text."""


def convert_java(text: str, kind: str, inner: str | None) -> Any:
    """The value of a text. `inner` is the type of the elements of an Array or ArrayList.

    >>> convert_java("5L", "long", None), convert_java("new int[]{1, 2}", "Array", "integer")
    (5, [1, 2])
    """
    if kind == "Array":
        return _array(text, inner)
    if kind == "ArrayList":
        return _array_list(text, inner)
    if kind == "HashMap":
        return _hash_map(text)
    return _scalar(text, kind)


def _scalar(text: str, kind: str) -> Any:
    if kind in ("byte", "short", "integer"):
        return _number(text, int) if _INTEGER.match(text) else text
    if kind == "long":
        return _number(text.rstrip("\n")[:-1], int, text) if _LONG.match(text) else text
    if kind == "float":
        return _number(text.rstrip("\n")[:-1], float, text) if _FLOAT.match(text) else text
    if kind == "double":
        return _number(text, float) if _DOUBLE.match(text) else text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return text


def _number(digits: str, make: type, text: str | None = None) -> Any:
    return make(digits) if len(digits) <= _MOST_DIGITS else (digits if text is None else text)


def _array(text: str, inner: str | None) -> Any:
    match = _ARRAY.search(text)
    if match is None:
        return text
    items = [item.strip() for item in match.group(1).split(",")]
    return [_element(item, inner) for item in items if item]


def _array_list(text: str, inner: str | None) -> Any:
    match = _AS_LIST.search(text)
    if match is not None:
        items = [item.strip() for item in match.group(2).split(",")]
    else:
        match = _ADDED.search(text)
        if match is None:
            return [] if _EMPTY_LIST.search(text) else text
        items = [item.strip() for item in _ADD.findall(match.group(2))]
    if inner in ("String", "char"):
        return [item[1:-1] for item in items]
    return [_element(item, inner) for item in items]


def _element(text: str, inner: str | None) -> Any:
    return _guess(text) if inner is None else convert_java(text, inner, None)


def _hash_map(text: str) -> Any:
    match = _MAP.search(text)
    if match is not None:
        return {
            key or later_key: _guess(value or later_value)
            for key, value, later_key, later_value in _PUT.findall(match.group(1))
        }
    return {} if _EMPTY_MAP.search(text) else text


def _guess(text: str) -> Any:
    """A value of a map, or of a list in a list: no schema gives its type."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if text[:1] == '"' == text[-1:]:  # also of a single quote, which is what remains of ")"
        return text[1:-1]
    for kind in ("long", "float"):
        value = _scalar(text, kind)
        if not isinstance(value, str):
            return value
    return guess_number(text)


def guess_number(text: str) -> Any:
    """A whole number, another number, or the text itself, as Python reads numbers, including `1_000` and `NaN`."""
    for make in (int, float):
        try:
            return make(text)
        except ValueError:
            pass
    return text
