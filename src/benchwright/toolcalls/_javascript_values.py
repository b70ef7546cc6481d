"""Converts texts of JavaScript values to Python values, by the type of the parameter. A text that does not fit stays
text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchwright.toolcalls._java_values import guess_number

_INTEGER = re.compile(r"^-?\d+$")
_FLOAT = re.compile(r"^-?\d+(?:\.\d+)?$")
_BIGINT = re.compile(r"^-?\d+n$")
_LISTS = re.compile(
    r"(?:\[\s*|new\s+Array\(\s*())\["
    r"(?:.|\](?:[^\S\n]*+\n\s*+,\s*+|[^\S\n]*+,[^\S\n]*+\n\s*+)\[)*?"  # lists are separated by commas, with or without line breaks
    r"\]\s*(?:(?(1)\)|\]))"
)
"""A list of lists. No two parts of it may match the same text, because a pattern that repeats `[.*?]` never ends on some
texts."""
_LIST = re.compile(r"\[(.*?)\]|new\s+Array\((.*?)\)")
_INNER_LIST = re.compile(r"\[(.*?)\]")
_OBJECT = re.compile(r"\{(.*?)\}")
_NEXT_PAIR = re.compile(r",(?=[^,]+:)")
_MOST_DIGITS = 4000


def convert_javascript(text: str, kind: str, inner: str | None) -> Any:
    """The value of a text. `inner` is the type of the elements of an array.

    >>> convert_javascript("5n", "Bigint", None), convert_javascript("['a', 'b']", "array", "String")
    (5, ['a', 'b'])
    """
    if kind == "array":
        return _array(text, inner)
    if kind == "dict":
        return _object(text)
    return _scalar(text, kind)


def _scalar(text: str, kind: str) -> Any:
    if kind == "String":
        return text[1:-1] if text[:1] in ("'", '"') and text[-1] == text[0] else text
    if len(text) > _MOST_DIGITS:
        return text
    if kind == "integer":
        return int(text) if _INTEGER.match(text) else text
    if kind == "float":
        return float(text) if _FLOAT.match(text) else text
    if kind == "Bigint":
        return int(text.rstrip("\n")[:-1]) if _BIGINT.match(text) else text
    if kind == "Boolean":
        return {"true": True, "false": False}.get(text, text)
    return text


def _array(text: str, inner: str | None) -> Any:
    text = text.strip()
    match = _LISTS.match(text)
    if match is not None:
        first, *others = _INNER_LIST.findall(match.group())
        parts = [first.strip().removeprefix("["), *others]
        return [[_guess(item) for item in _split(part)] for part in parts]
    match = _LIST.match(text)
    if match is None:
        return text
    body = match.group(1) if match.group(1) is not None else match.group(2)
    if not body.strip():
        return []
    return [_guess(item) if inner is None else convert_javascript(item, inner, None) for item in _split(body)]


def _split(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _object(text: str) -> Any:
    text = text.strip()
    if text == "{}":
        return {}
    match = _OBJECT.match(text)
    if match is None:
        return text
    return {key.strip().strip("\"'"): _member(value.strip()) for key, value in _pairs(match.group(1))}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values: a key is everything before the next colon, including commas, and a value ends before the next key."""
    while True:
        key, colon, rest = text.lstrip(":").partition(":")
        if not colon:
            return
        rest = rest.lstrip()
        after = _NEXT_PAIR.search(rest)
        if after is None:
            yield key, rest
            return
        yield key, rest[: after.start()]
        text = rest[after.end() :]
        bare = text.lstrip()
        # A key is never empty: if only a colon follows the white space, its last character is the key.
        text = bare if ":" in bare[1:].partition(",")[0] else text[len(text) - len(bare) - 1 :]


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _object(text)
    return _guess(text.strip("\"'").strip())


def _guess(text: str) -> Any:
    """A value whose type no schema gives."""
    if text in ("true", "false"):
        return text == "true"
    number = guess_number(text)
    return _scalar(number, "String") if isinstance(number, str) else number
