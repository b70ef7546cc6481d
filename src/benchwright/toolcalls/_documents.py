"""Prepares function documents for models: with a hint at the language, as tools, or as text of a system message."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from benchwright.core import encode_json
from benchwright.toolcalls._call import LANGUAGE_TITLES, Language
from benchwright.toolcalls._schema_types import JSON_TYPES, LIST_TYPES

Function = dict[str, Any]

_SYNTAX = {"python": "Python 3", "java": "Java 8 SE", "javascript": "JavaScript"}

_CHOICES = ("anyOf", "oneOf", "allOf")
_SELF_CONTAINED = frozenset((*_CHOICES, "$ref", "enum", "const"))
"""Keys of JSON schema that say what a value is without `type`; a type added to them would contradict them."""

PROMPT = (
    "You answer requests by calling functions. Decide which of the functions listed below are needed and "
    "reply with nothing but the calls, written as a Python list: [first_function(param=value, other=value), "
    "second_function(param=value)]. Use keyword arguments. If none of the functions helps, or a required "
    "value is missing from the conversation, say so in plain words instead of calling anything. When a task "
    "needs several steps, go on calling functions after each result; a reply without a call ends the turn. "
    "Functions (JSON): {functions}"
)
"""The system message of prompting mode."""


def hinted(functions: list[Function], language: Language) -> list[Function]:
    """The documents with a hint at the language; in Java and JavaScript, values are requested as texts. The checker needs the
    originals."""
    documents = deepcopy(functions)
    for document in documents:
        document["description"] = (
            f"{document.get('description') or ''} Note that the provided function is in {_SYNTAX[language]} syntax."
        ).lstrip()
        if language != "python":
            properties = (document.get("parameters") or {}).get("properties") or {}
            for schema in properties.values():
                if isinstance(schema, dict):
                    _as_text(schema, language)
    return documents


def _as_text(schema: dict[str, Any], language: Language) -> None:
    kind = schema.get("type", "any")
    if not isinstance(kind, str):
        kind = "any"  # several types
    name = LANGUAGE_TITLES[language]
    if kind == "any":
        hint = f" This parameter can be any {name} object, written as a string."
    else:
        hint = f" This is a {name} {kind}; write its value as a string."
    if kind in LIST_TYPES[language]:
        items = schema.pop("items", None)
        if isinstance(items, dict) and items.get("type"):
            hint += f" Its elements are of type {items['type']}."
    if language == "javascript" and kind == "dict" and "properties" in schema:
        hint += f" Its properties are {encode_json(schema.pop('properties')).decode()}."
    schema["description"] = f"{schema.get('description') or ''}{hint}".lstrip()
    schema["type"] = "string"


def tools_of(functions: list[Function], language: Language = "python") -> list[dict[str, Any]]:
    """The documents as tools of a chat request, with the hints of the language.

    >>> tools_of([{"name": "a.b", "description": "Add.", "parameters": {"properties": {"x": {"type": "float"}}}}])[0]["function"]["name"]
    'a_b'
    """
    tools = []
    for document in hinted(functions, language):
        function = {key: value for key, value in document.items() if key != "response"}
        function["name"] = str(document["name"]).replace(".", "_")
        parameters = document.get("parameters")
        parameters = dict(parameters) if isinstance(parameters, dict) else {}
        parameters["type"] = "object"
        properties = parameters.get("properties")
        parameters["properties"] = _schemas(properties) if isinstance(properties, dict) else {}
        function["parameters"] = parameters
        tools.append({"type": "function", "function": function})
    return tools


def _schemas(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _schema(schema) if isinstance(schema, dict) else schema for name, schema in properties.items()
    }


def _schema(schema: dict[str, Any], *, is_item: bool = False) -> dict[str, Any]:
    """Convert a schema and its sub-schemas to the terms of JSON schema. Items of a list get no note on floats."""
    if "type" not in schema and not _SELF_CONTAINED.isdisjoint(schema):
        return {key: _choices(value) if key in _CHOICES else value for key, value in schema.items()}
    kind = schema.get("type", "string")
    known = {**schema, "type": list(map(_json_type, kind)) if isinstance(kind, list) else _json_type(kind)}
    if kind == "float" and not is_item:
        known["format"] = "float"
        known["description"] = f"{schema.get('description') or ''} This is a float type value.".lstrip()
    if isinstance(kind, list) or known["type"] in ("array", "object"):
        if isinstance(known.get("properties"), dict):
            known["properties"] = _schemas(known["properties"])
        elif isinstance(known.get("items"), dict):
            known["items"] = _schema(known["items"], is_item=True)
    return known


def _choices(schemas: Any) -> Any:
    if not isinstance(schemas, list):
        return schemas
    return [_schema(each, is_item=True) if isinstance(each, dict) else each for each in schemas]


def _json_type(kind: Any) -> Any:
    return JSON_TYPES.get(kind, "string") if isinstance(kind, str) and kind != "null" else kind


def prompting_message(functions: list[Function]) -> str:
    """The system message that lists functions for models without native calls. Names keep their dots."""
    return PROMPT.replace("{functions}", encode_json(functions).decode())


def prompting_messages(messages: list[dict[str, Any]], functions: list[Function]) -> list[dict[str, Any]]:
    """A first turn with the functions in its system message, before the row's system message if there is one."""
    text = prompting_message(functions)
    if messages and messages[0].get("role") == "system":
        return [{"role": "system", "content": f"{text}\n\n{messages[0].get('content') or ''}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]
