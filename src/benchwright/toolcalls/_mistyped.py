"""Expected values that no call can have: they are not of the type that the schema gives, or no text is read as them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.toolcalls._schema_types import LIST_TYPES, NUMBER_TYPES, PYTHON_TYPES
from benchwright.toolcalls._verdict import shown


def mistyped_value(
    functions: Sequence[Mapping[str, Any]], truths: Sequence[Mapping[str, Any]], *, by_place: bool = False
) -> str | None:
    """The first parameter of expected calls that must be given and has no allowed value of the type of its schema; None if there
    is none. The published rules accept such a value, and no other. With `by_place`, all calls are of the first function.

    >>> timer = {"name": "timer", "parameters": {"properties": {"minutes": {"type": "integer"}}}}
    >>> mistyped_value([timer], [{"timer": {"minutes": ["twelve"]}}])
    "the ground truth of timer gives minutes as 'twelve', but the schema says integer"
    """
    documents = {function.get("name"): function for function in functions}
    for truth in truths:
        for name, expected in truth.items():
            document = functions[0] if by_place else documents.get(name, {})
            parameters = document.get("parameters") or {}
            properties = parameters.get("properties") or {}
            for parameter, allowed in expected.items():
                schema = properties.get(parameter)
                if not isinstance(schema, Mapping) or (
                    "" in allowed and parameter not in (parameters.get("required") or ())
                ):
                    continue  # a parameter may be left out where no value fits
                values = [value for value in allowed if value != ""]
                if values and not any(_fits(value, schema) for value in values):
                    return (
                        f"the ground truth of {name} gives {parameter} as {shown(values[0])}, but the schema says "
                        f"{_type_name(schema)}"
                    )
    return None


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is of the type of its schema. Unknown types, `any` and a list of types fit everything."""
    kind = schema.get("type")
    expected = PYTHON_TYPES.get(kind) if isinstance(kind, str) else None
    if expected is None or kind == "any":
        return True
    if value is None:
        return "default" in schema and schema["default"] is None
    if isinstance(value, bool):
        return expected is bool
    if expected is float:
        return isinstance(value, int | float)
    if expected is int:  # JSON schema takes 5.0 for an integer
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if expected is list:
        items = schema.get("items")
        return isinstance(value, list) and (
            not isinstance(items, Mapping) or all(_fits(item, items) for item in value)
        )
    return isinstance(value, expected)


def _type_name(schema: Mapping[str, Any]) -> str:
    items = schema.get("items")
    inner = items.get("type") if isinstance(items, Mapping) else None
    return f"{schema.get('type')} of {inner}" if inner is not None else str(schema.get("type"))


_LISTS = LIST_TYPES["java"] | LIST_TYPES["javascript"]


def unwritable_value(
    name: str, expected: Mapping[str, Any], properties: Mapping[str, Any], *, maps: bool
) -> str | None:
    """Which parameter of a call in Java or JavaScript has no allowed value that a text could be read as; None if all have one.

    Without `maps`, maps with entries count too: what is put into a map is lost when Java is read from a text.
    """
    for key, allowed in expected.items():
        schema = properties.get(key)
        if schema is None or not isinstance(allowed, list) or "" in allowed:
            continue
        if allowed and not any(_is_written(value, schema) for value in allowed):
            kind = schema.get("type")
            items = schema.get("items")
            of = f" of {items.get('type')}" if kind in _LISTS and isinstance(items, dict) else ""
            return f"the ground truth of {name} demands for {key} what no text of type {kind}{of} is read as: {allowed[0]!r}"
    return None if maps else _lost_map(name, expected)


def _lost_map(name: str, expected: Mapping[str, Any]) -> str | None:
    for key, allowed in expected.items():
        if isinstance(allowed, list) and allowed and all(map(_is_full_map, allowed)):
            return f"the ground truth of {name} demands entries of the map {key}, which are lost when calls are texts"
    return None


def _is_full_map(value: Any) -> bool:
    return isinstance(value, dict) and any("" not in options for options in value.values())


def _is_written(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a text may be read as the value. Texts of types other than numbers stay texts; in doubt, True."""
    kind = schema.get("type")
    if isinstance(value, list) and kind in _LISTS:
        inner = schema.get("items")
        return not isinstance(inner, dict) or all(_is_written(item, inner) for item in value)
    return not isinstance(value, bool | int | float) or kind in NUMBER_TYPES
