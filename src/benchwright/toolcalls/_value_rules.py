"""Whether a value is of the right type and among the allowed ones.

The rules are those of the published evaluation, oddities included, because scores are compared with published ones. They
are written down in `docs/tools.md`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from benchwright.toolcalls._verdict import VALID, CallVerdict, invalid, shown

_DELETED = str.maketrans("", "", " ,./-_*^")
_LONGEST_CACHED = 200


def normalise(text: str) -> str:
    """A text as texts are compared: without blanks and `, . / - _ * ^`, in lower case, with one kind of quotes.

    >>> normalise("New York, N.Y.")
    'newyorkny'
    """
    return _cached(text) if len(text) <= _LONGEST_CACHED else _normalise(text)


def _normalise(text: str) -> str:
    return text.translate(_DELETED).lower().replace("'", '"')


_cached = lru_cache(maxsize=8192)(_normalise)  # allowed values come up again in every sample and every run


def first_type(allowed: Any) -> type | None:
    """The type of the first allowed value that is not the mark of an optional parameter."""
    for value in allowed:
        if value != "":
            return type(value)
    return None


def check_type(
    name: object, value: Any, allowed: Any, expected: type, inner: type | None
) -> CallVerdict | bool:
    """Whether the allowed values are of another type than the schema says (so that only equality counts), or what is
    wrong with the type."""
    actual = type(value)
    declared = first_type(allowed)
    variable = declared is not None and declared is not expected
    if actual is expected:
        if inner is None:
            return variable
        for option in allowed:
            if not isinstance(option, list):
                return variable
            option_type = first_type(option)
            if all(type(item) is inner or type(item) is option_type for item in value):
                return variable
        if not allowed:
            return invalid("type_error:simple", f"{name}: no value is allowed", name)
        return invalid(
            "type_error:nested", f"{name}: expected items of type {inner.__name__}, got {shown(value)}", name
        )
    if declared is actual:
        return True
    return invalid(
        "type_error:simple",
        f"{name}: expected {expected.__name__}, got {actual.__name__}: {shown(value)}",
        name,
    )


def check_value(name: object, value: Any, allowed: Any, expected: type, inner: type | None) -> CallVerdict:
    """Whether a value of the schema's own type is among the allowed ones."""
    if expected is str:
        return _check_text(name, value, allowed)
    if expected is dict:
        return _check_dict(name, value, allowed)
    if expected is list:
        return (_check_dicts if inner is dict else _check_list)(name, value, allowed)
    return check_equal(name, value, allowed)


def check_equal(name: object, value: Any, allowed: Any) -> CallVerdict:
    """Whether a value equals an allowed one as Python compares: 5.0 equals 5, and True equals 1."""
    if value in allowed:
        return VALID
    return invalid("value_error:others", _unexpected(name, value, allowed), name)


def _check_text(name: object, value: str, allowed: Any) -> CallVerdict:
    wanted = normalise(value)
    for option in allowed:
        if isinstance(option, str) and normalise(option) == wanted:
            return VALID
    return invalid("value_error:string", _unexpected(name, value, allowed), name)


def _check_list(name: object, value: list[Any], allowed: Any) -> CallVerdict:
    wanted = [normalise(item) if isinstance(item, str) else item for item in value]
    for option in allowed:
        if wanted == [normalise(item) if isinstance(item, str) else item for item in option]:
            return VALID
    return invalid("value_error:list/tuple", _unexpected(name, value, allowed), name)


def _check_dict(name: object, value: Any, allowed: Any) -> CallVerdict:
    verdict = invalid("dict_checker:unclear", f"{name}: no object is allowed here", name)
    for option in allowed:
        if option == "":
            continue
        fault = _dict_fault(name, value, option)
        if fault is None:
            return VALID
        verdict = fault
    return verdict


def _dict_fault(name: object, value: dict[Any, Any], option: dict[Any, Any]) -> CallVerdict | None:
    """What is wrong with an object by one allowed object. A missing key outweighs a wrong value."""
    fault = None
    for key, item in value.items():
        if key not in option:
            fault = invalid("value_error:dict_key", f"{name}: unexpected key {shown(key)}", name)
            break
        wanted = normalise(item) if isinstance(item, str) else item
        if wanted not in [normalise(o) if isinstance(o, str) else o for o in option[key]]:
            fault = invalid(
                "value_error:dict_value", _unexpected(f"{name}[{key!r}]", item, option[key]), name
            )
            break
    for key, options in option.items():
        if key not in value and "" not in options:
            fault = invalid("value_error:dict_key", f"{name}: key {shown(key)} is missing", name)
    return fault


def _check_dicts(name: object, value: list[Any], allowed: Any) -> CallVerdict:
    verdict = invalid("list_dict_checker:unclear", f"{name}: no list is allowed here", name)
    for option in allowed:
        if len(value) != len(option):
            verdict = invalid(
                "value_error:list_dict_count", f"{name}: expected {len(option)} items, got {len(value)}", name
            )
            continue
        for item, expected in zip(value, option, strict=True):
            verdict = _check_dict(name, item, [expected])
            if not verdict.valid:
                break
        else:
            return VALID
    return verdict


def _unexpected(name: object, value: Any, allowed: Any) -> str:
    return f"{name}: expected one of {shown(allowed)}, got {shown(value)}"
