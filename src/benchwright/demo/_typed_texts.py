"""Values that a function takes as source text of Java or JavaScript; their types appear only in descriptions."""

from __future__ import annotations

import re
from json import JSONDecoder

from benchwright.core import JsonObject, JsonValue, encode_json

_HINT = re.compile(r"This is a (Java|JavaScript) (\w+); write its value as a string\.")
_ELEMENTS = re.compile(r"Its elements are of type (\w+)\.")
_PROPERTIES = re.compile(r"Its properties are (?=\{)")


def described_schema(schema: JsonObject) -> JsonObject | None:
    """Return the schema that a parameter's description expresses in words; None if it is an ordinary text."""
    description = str(schema.get("description") or "")
    hint = _HINT.search(description)
    if hint is None or hint[2] == "String":
        return None
    found: JsonObject = {"type": hint[2]}
    if elements := _ELEMENTS.search(description):
        found["items"] = {"type": elements[1]}
    if properties := _PROPERTIES.search(description):
        try:
            found["properties"] = JSONDecoder().raw_decode(description, properties.end())[0]
        except (ValueError, RecursionError):
            return None
    return found


def as_source(value: JsonValue, schema: JsonObject) -> str:
    """Write a value as source text of its language.

    >>> as_source([1.5, 2], {"type": "Array", "items": {"type": "double"}})
    'new double[]{1.5, 2.0}'
    """
    kind = str(schema.get("type"))
    items = schema.get("items")
    inner: JsonObject = items if isinstance(items, dict) else {"type": "String"}
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        number = float(value) if kind in ("float", "double") else value
        return f"{number}{_SUFFIXES.get(kind, '')}"
    if isinstance(value, list) and kind in ("Array", "ArrayList"):
        element = str(inner.get("type"))
        listed = ", ".join(as_source(item, inner) for item in value)
        return (
            f"new {element}[]{{{listed}}}"
            if kind == "Array"
            else f"new ArrayList<{element}>(Arrays.asList({listed}))"
        )
    return encode_json(value).decode()


_SUFFIXES = {"long": "L", "Bigint": "n"}
