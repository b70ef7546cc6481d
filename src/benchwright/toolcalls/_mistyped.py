"""Expected values that are not of the type that the schema gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.toolcalls._schema_types import PYTHON_TYPES
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
