"""The JSON schema of a judge's verdict. Its name marks it as ours, so that it can be left out for servers that refuse it."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.core._json import JsonObject, JsonValue

_NAME = "benchwright_verdict"


def verdict_format(grades: Sequence[str]) -> JsonObject:
    """The `response_format` that restricts a judge to these grades, or allows any text if there are none.

    >>> verdict_format(["C", "I"])["json_schema"]["schema"]["properties"]["grade"]
    {'type': 'string', 'enum': ['C', 'I']}
    """
    grade: JsonObject = {"type": "string", **({"enum": list(grades)} if grades else {})}
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "grade": grade,
        },  # the reasons come first because they shape the grade
        "required": ["reasoning", "grade"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": _NAME, "strict": True, "schema": schema}}


def is_verdict_format(value: JsonValue) -> bool:
    """Whether a `response_format` is one of ours, and not the user's."""
    schema = value.get("json_schema") if isinstance(value, dict) else None
    return isinstance(schema, dict) and schema.get("name") == _NAME
