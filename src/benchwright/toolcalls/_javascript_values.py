"""Texts of JavaScript values as Python values, by the type of the parameter. What does not fit stays text."""

from __future__ import annotations

import re
from typing import Any

from benchwright.toolcalls._java_values import guess_number

_INTEGER = re.compile(r"^-?\d+$")
_FLOAT = re.compile(r"^-?\d+(?:\.\d+)?$")
_BIGINT = re.compile(r"^-?\d+n$")
_QUOTED = re.compile(r"""^(["'])(.*)\1\Z""")
_LISTS = re.compile(
    r"(?:\[\s*|new\s+Array\(\s*())\["
    r"(?:.|\](?:[^\S\n]*+\n\s*+,\s*+|[^\S\n]*+,[^\S\n]*+\n\s*+)\[)*?"  # lists are parted by commas, with line breaks or without
    r"\]\s*(?:(?(1)\)|\]))"
)
"""A list of lists. No two parts of it may match the same text: a pattern that repeats `[.*?]` takes forever on some texts."""
_LIST = re.compile(r"\[(.*?)\]|new\s+Array\((.*?)\)")
_INNER_LIST = re.compile(r"\[(.*?)\]")
_OBJECT = re.compile(r"\{(.*?)\}")
_NEXT_PAIR = re.compile(r",(?=[^:,]+:)")
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
        match = _QUOTED.match(text)
        return match.group(2) if match is not None else text
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
        body = text[text.index("[") + 1 :] if text.startswith("[") else text
        return [[_guess(item) for item in _split(part)] for part in _INNER_LIST.findall(body)]
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
    pairs = [pair.partition(":") for pair in _NEXT_PAIR.split(match.group(1))]
    return {key.strip().strip("\"'"): _member(value.strip()) for key, colon, value in pairs if colon}


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
