"""Parses overrides: `a.b.c=value`, several between commas in `--overrides`, one in each `-o`.

Values are YAML, but for keys whose values can only be texts. Quotes and brackets protect commas, and what they open they must close.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from benchwright.config._run_config_keys import takes_text
from benchwright.config._yaml import load_yaml
from benchwright.core import ConfigError, TooDeepError, check_depth

_CLOSED_BY = {"[": "]", "{": "}", "(": ")"}
_BEFORE_QUOTES = " \t\n=,[{(:"
"""A quote opens only after one of these characters; an apostrophe inside a word is an ordinary character."""
_WORDS = {"null": None, "true": True, "false": False}
_SHOWN = 30
"""Characters shown on either side of an error."""


def read_overrides(text: str) -> list[tuple[str, Any]]:
    """The pairs of `--overrides`, in order.

    >>> read_overrides("a.b=5, c='x, y', d=[1, 2], e=null, f=hf://o/d?split=test&a=b")
    [('a.b', 5), ('c', 'x, y'), ('d', [1, 2]), ('e', None), ('f', 'hf://o/d?split=test&a=b')]
    """
    return [_pair("--overrides", text, start, end) for start, end in _pieces(text)]


def read_override(text: str) -> tuple[str, Any]:
    """The pair of one `-o`. Commas in its value separate nothing.

    >>> read_override("++a.b=x, y"), read_override("a='1'")
    (('a.b', 'x, y'), ('a', '1'))
    """
    return _pair("-o", text, 0, len(text))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where the pairs begin and end. An empty place between two commas is skipped, because scripts join values that may be
    empty."""
    start = place = 0
    while place < len(text):
        if text[place] == ",":
            if text[start:place].strip():
                yield start, place
            start = place + 1
            place += 1
        else:
            place = _next(text, place, start)
    if text[start:].strip() or not text.strip(" ,"):
        yield start, len(text)


def _next(text: str, place: int, start: int) -> int:
    """The place after the character, or after the quotes or brackets that it opens."""
    character = text[place]
    before = text[place - 1] if place > start else " "
    if character in "\"'" and before in _BEFORE_QUOTES:
        return _after_quote(text, place)
    if character in _CLOSED_BY:
        opens_value = text[start:place].rstrip().endswith("=")
        end = _after_bracket(text, place)
        if end is None and opens_value and character != "(":
            raise _broken(
                "--overrides", text, place, f"{character} is never closed; expected {_CLOSED_BY[character]}"
            )
        return place + 1 if end is None else end
    return place + 1


def _after_quote(text: str, place: int) -> int:
    """The place after the closing quote. Only the last value may begin with a quote that is never closed, because otherwise it
    would swallow the pairs after it."""
    end = _closing(text, place)
    if end is None and "," not in text[place:] and text[:place].rstrip().endswith("="):
        end = len(text)
    if end is None:
        raise _broken(
            "--overrides",
            text,
            place,
            f"{text[place]} is never closed; close it, or put the whole value into quotes",
        )
    return end


def _closing(text: str, place: int) -> int | None:
    quote, end = text[place], place + 1
    while end < len(text):
        if text[end] == "\\" and quote == '"':
            end += 2
        elif text[end] == quote and text[end + 1 : end + 2] == quote == "'":
            end += 2  # two single quotes mean one
        elif text[end] == quote:
            return end + 1
        else:
            end += 1
    return None


def _after_bracket(text: str, place: int) -> int | None:
    """The place after the closing bracket; None if there is none."""
    opened = [_CLOSED_BY[text[place]]]
    end = place + 1
    while end < len(text):
        character = text[end]
        if character in "\"'" and text[end - 1] in _BEFORE_QUOTES:
            end = _after_quote(text, end)
            continue
        if character in _CLOSED_BY and (
            character != "(" or text[place] == "("
        ):  # in YAML, "(" is part of a text
            opened.append(_CLOSED_BY[character])
        elif character == opened[-1]:
            opened.pop()
            if not opened:
                return end + 1
        end += 1
    return None


def _pair(flag: str, text: str, start: int, end: int) -> tuple[str, Any]:
    piece = text[start:end]
    key, equals, value = piece.partition("=")
    if key.strip().startswith("~"):  # deletes a key, with or without its value
        key, equals, value = key.strip()[1:], "=", "null"
    if not equals:
        raise _broken(
            flag,
            text,
            start,
            f"{piece.strip()!r} has no '='; expected KEY=VALUE, as in config.params.limit_samples=10",
        )
    key = key.strip().lstrip("+")
    if not key or not all(key.split(".")):
        raise _broken(
            flag, text, start, f"{key!r} is not a key; expected one such as config.params.temperature"
        )
    if not value.strip():
        raise _broken(flag, text, start, f"{key} has no value; null takes a value back, '' is an empty text")
    try:
        found = _value(flag, text, start + len(piece) - len(value), value)
        check_depth(reduce(lambda inner, word: {word: inner}, key.split("."), found))
    except (RecursionError, TooDeepError):
        raise ConfigError(f"{flag}: {key[:_SHOWN]}…: {TooDeepError()}") from None
    if isinstance(found, int | float) and takes_text(tuple(key.split("."))):
        return key, value.strip()  # a name such as 5 or true; null takes a value back, whatever it is
    return key, found


def _value(flag: str, text: str, place: int, written: str) -> Any:
    """The value in YAML if it is a plain value, or a list or table in brackets; otherwise the text itself."""
    written = written.strip()
    if written in _WORDS:
        return _WORDS[written]
    if (number := _number(written)) is not None:
        return number
    if written.startswith("{{") or (written[0] in "\"'" and _closing(written, 0) is None):
        return written  # a text: a template of another program, or a quote as an ordinary character
    import yaml

    try:
        whole = written[0] in "\"'[{"
        value = load_yaml(written, lambda _: flag) if whole else yaml.safe_load(written)
    except yaml.YAMLError as error:
        if not written.startswith(("'", '"', "[", "{")):
            return written  # a text with a colon or a percent sign, such as `a: b: c`
        mark = getattr(error, "problem_mark", None)
        where = place + (0 if mark is None else min(mark.index, len(written)))
        raise _broken(flag, text, where, f"{written} is not valid YAML: {_reason(error)}") from None
    if isinstance(value, list | dict):
        return value if written.startswith(("[", "{")) else written
    if value is None and written != "~" and written.lower() != "null":
        return written  # in YAML, `#` would begin a comment
    if isinstance(value, str) and not written.startswith(("'", '"')):
        return written  # including the text after ` #`
    return value if value is None or isinstance(value, str | int | float | bool) else written


def _number(written: str) -> int | float | None:
    """A usual number, without PyYAML, because loading it takes as long as sending some hundred requests. None: PyYAML decides."""
    whole, point, digits = written.partition(".")
    if not (whole + digits).isdecimal() or not written.isascii() or (whole[:1] in ("", "0") and whole != "0"):
        return None
    return float(written) if point else int(written)


def _reason(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).replace("\n", " ")


def _broken(flag: str, text: str, place: int, reason: str) -> ConfigError:
    """An error that shows the place."""
    first = max(0, place - _SHOWN)
    lead = ("…" if first else "") + text[first:place]
    shown = lead + text[place : place + _SHOWN] + ("…" if place + _SHOWN < len(text) else "")
    return ConfigError(
        f"{flag}: {reason}\n  {shown!s}\n  {' ' * len(lead)}^ character {place + 1}".replace("\t", " ")
    )
