"""Writes simple YAML without the library: plain words and numbers under sorted keys.

Loading PyYAML takes a twentieth of the time of a one-row run, before its first request. Everything that may not be plain
is left to it: a text that needs quotes, a number with an exponent, a value that occurs twice. The rules here may be too
strict, but never too loose; `tests/reports/test_plain_yaml.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.core import JsonObject, JsonValue, late_pattern

_PLAIN = late_pattern(
    r"(?:[A-Za-z/_]|\.(?=[A-Za-z/])|\.\./)(?:[A-Za-z0-9_./=+@%'\"()\-,;<>|*?$^~!&\[\]{}]|:(?=[^ ])| (?=[^ #]))*"
    r"|[1-9][0-9]*[a-f][0-9a-f]*|0[0-9]*[ac-f][0-9a-f]*|0[0-9]+b[0-9a-f]*|0b[01]*[2-9a-f][0-9a-f]*"
)
"""Matches a text that needs no quotes: no line breaks, nothing that could begin a comment or another value. Or a commit."""
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan"))
"""Texts that YAML reads as other values."""


class _NotPlainError(Exception):
    """The library must write this value."""


def plain_yaml(document: JsonObject) -> str | None:
    """The document as the library would write it, with sorted keys, in block style; None if the library must write it."""
    try:
        return "".join(_lines(document, "", set())) if document else None
    except _NotPlainError:
        return None


def _lines(value: JsonValue, indent: str, seen: set[int]) -> Iterator[str]:
    """The lines of a non-empty object or list; the first one without its indent."""
    if id(value) in seen:  # the library would write a reference
        raise _NotPlainError
    seen.add(id(value))
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise _NotPlainError
        for number, key in enumerate(sorted(value)):
            yield f"{indent if number else ''}{_scalar(key)}:"
            inner = value[key]
            # A list begins below its key, an object two places to the right.
            yield from _after(inner, indent if isinstance(inner, list) else indent + "  ", seen, "\n")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield f"{indent if number else ''}-"
            yield from _after(inner, indent + "  ", seen, " ")
    else:
        raise _NotPlainError


def _after(value: JsonValue, indent: str, seen: set[int], gap: str) -> Iterator[str]:
    """A value after its key or dash."""
    if isinstance(value, dict | list) and value:
        yield f"\n{indent}" if gap == "\n" else " "
        yield from _lines(value, indent, seen)
    else:
        yield f" {_scalar(value)}\n"


def _scalar(value: JsonValue) -> str:
    if isinstance(value, str):
        if len(value) > 100 and " " not in value[:100]:  # the library writes such long keys differently
            raise _NotPlainError
        if _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS:
            return value
        if ": " in value and value.isascii() and value.isprintable() and value == value.strip():
            return "'{}'".format(value.replace("'", "''"))
        raise _NotPlainError
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and (text := repr(value)).lstrip("-").replace(".", "").isdigit():
        return text
    if value == {} and isinstance(value, dict):
        return "{}"
    if value == [] and isinstance(value, list):
        return "[]"
    raise _NotPlainError
