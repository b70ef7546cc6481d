"""Checks whether a value has the right type and is allowed.

The rules are those of the published evaluation, oddities included, because scores are compared with published ones. They
are written down in `docs/tools.md`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from benchwright.toolcalls._verdict import CallVerdict, invalid

_LONGEST_CACHED = 200


def normalise(text: str) -> str:
    """Normalise a text for comparison: without spaces and `, . / - _ * ^`, in lower case, with one kind of quotes.

    >>> normalise("New York, N.Y.")
    'newyorkny'
    """
    return _cached(text) if len(text) <= _LONGEST_CACHED else _normalise(text)


def _normalise(text: str) -> str:
    for mark in " ,./-_*^":  # three times as fast as a table of translations
        text = text.replace(mark, "")
    return text.lower().replace("'", '"')


_cached = lru_cache(maxsize=8192)(_normalise)  # allowed values recur in every sample and every run


def value_fault(
    name: object, value: Any, allowed: Any, expected: type, inner: type | None
) -> CallVerdict | None:
    """What is wrong with a value, by the type in the schema and by the allowed values.

    If the first allowed value has another type than the schema gives, only equality counts.
    """
    actual, declared = type(value), _first_type(allowed)
    if actual is not expected:
        if actual is declared:
            return _check_equal(name, value, allowed)
        wording = "{}: expected {}, got {}: {!r}"
        return invalid("type_error:simple", wording, name, name, expected.__name__, actual.__name__, value)
    if inner is not None and (fault := _items_fault(name, value, allowed, inner)) is not None:
        return fault
    if declared is None or declared is expected:
        if expected is str:
            return _check_text(name, value, allowed)
        if expected is dict:
            return _check_dict(name, value, allowed)
        if expected is list:
            return (_check_dicts if inner is dict else _check_list)(name, value, allowed)
    return _check_equal(name, value, allowed)


def _first_type(allowed: Any) -> type | None:
    """The type of the first allowed value that is not the mark of an optional parameter."""
    for value in allowed:
        if value != "":
            return type(value)
    return None


def _items_fault(name: object, value: list[Any], allowed: Any, inner: type) -> CallVerdict | None:
    """What is wrong with the types of a list's items. They may also be of the type of the first item of an allowed list."""
    for option in allowed:
        if not isinstance(option, list):
            return None
        for item in value:
            if type(item) is not inner and type(item) is not _first_type(option):
                break
        else:
            return None
    if not allowed:
        return invalid("type_error:simple", "{}: no value is allowed", name, name)
    wording = "{}: expected items of type {}, got {!r}"
    return invalid("type_error:nested", wording, name, name, inner.__name__, value)


def _check_equal(name: object, value: Any, allowed: Any) -> CallVerdict | None:
    """Compare as Python does: 5.0 equals 5, and True equals 1."""
    return None if value in allowed else _unexpected("value_error:others", name, value, allowed)


def _check_text(name: object, value: str, allowed: Any) -> CallVerdict | None:
    wanted = normalise(value)
    for option in allowed:
        if isinstance(option, str) and normalise(option) == wanted:
            return None
    return _unexpected("value_error:string", name, value, allowed)


def _check_list(name: object, value: list[Any], allowed: Any) -> CallVerdict | None:
    if value in allowed:
        return None
    wanted = [normalise(item) if isinstance(item, str) else item for item in value]
    for option in allowed:
        if wanted == [normalise(item) if isinstance(item, str) else item for item in option]:
            return None
    return _unexpected("value_error:list/tuple", name, value, allowed)


def _check_dict(name: object, value: Any, allowed: Any) -> CallVerdict | None:
    verdict = None
    for option in allowed:
        if option == "":
            continue
        verdict = _dict_fault(name, value, option)
        if verdict is None:
            return None
    return verdict or invalid("dict_checker:unclear", "{}: no object is allowed here", name, name)


def _dict_fault(name: object, value: dict[Any, Any], option: dict[Any, Any]) -> CallVerdict | None:
    """What is wrong with an object by one allowed object. A missing key outweighs a wrong value."""
    fault = None
    for key, item in value.items():
        if key not in option:
            fault = invalid("value_error:dict_key", "{}: unexpected key {!r}", name, name, key)
            break
        allowed = option[key]
        if type(allowed) is list and item in allowed:
            continue  # equal values are equal when normalised
        wanted = normalise(item) if isinstance(item, str) else item
        if wanted not in [normalise(o) if isinstance(o, str) else o for o in allowed]:
            wording = "{}[{!r}]: expected one of {!r}, got {!r}"
            fault = invalid("value_error:dict_value", wording, name, name, key, allowed, item)
            break
    for key, allowed in option.items():
        if key not in value and "" not in allowed:
            return invalid("value_error:dict_key", "{}: key {!r} is missing", name, name, key)
    return fault


def _check_dicts(name: object, value: list[Any], allowed: Any) -> CallVerdict | None:
    verdict = None
    for option in allowed:
        if len(value) != len(option):
            wording = "{}: expected {} items, got {}"
            verdict = invalid("value_error:list_dict_count", wording, name, name, len(option), len(value))
            continue
        for item, expected in zip(value, option, strict=True):
            verdict = _check_dict(name, item, [expected])
            if verdict is not None:
                break
        else:
            return None
    return verdict or invalid("list_dict_checker:unclear", "{}: no list is allowed here", name, name)


def _unexpected(error_type: str, name: object, value: Any, allowed: Any) -> CallVerdict:
    if allowed == [""]:  # the mark of an optional parameter alone
        return invalid(error_type, "{}: expected to be left out, got {!r}", name, name, value)
    return invalid(error_type, "{}: expected one of {!r}, got {!r}", name, name, allowed, value)
