"""Type names of function documents: the Python type of each, by language, and the conversion of texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from benchwright.toolcalls._call import Language

PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
    # JSON schema and other common names, which the published checker does not know
    "object": dict,
    "number": float,
    "bool": bool,
    "list": list,
}
JAVA_TYPES: dict[str, type] = {
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": bool,
    "char": str,
    "String": str,
    "any": str,
    "Array": list,
    "ArrayList": list,
    "HashMap": dict,
}
JAVASCRIPT_TYPES: dict[str, type] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}
JSON_TYPES: dict[str, str] = {
    **{name: name for name in ("integer", "number", "string", "boolean", "array", "object")},
    **dict.fromkeys(("float", "double"), "number"),
    "bool": "boolean",
    **dict.fromkeys(("list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "HashMap", "Hashtable"), "object"),
    **dict.fromkeys(("byte", "short", "long", "Bigint"), "integer"),
}
"""The JSON schema name of each type; all others are strings."""
LIST_TYPES: dict[Language, frozenset[str]] = {
    "python": frozenset(("array", "tuple", "list")),
    "java": frozenset(("Array", "ArrayList")),
    "javascript": frozenset(("array",)),
}
"""Types with an element type."""
_TYPE_OF_VALUES = {
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "string",
    list: "array",
    dict: "dict",
}


def options_of(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of one type each that a schema of JSON schema offers: by a list of types, by `anyOf` or `oneOf`, or by the
    values of `enum` or `const`. Only itself if it has one type, or none that can be told.

    >>> [option["type"] for option in options_of({"type": ["integer", "null"]})]
    ['integer', 'null']
    """
    kind = schema.get("type")
    if isinstance(kind, list):
        return [{**schema, "type": name} for name in kind if isinstance(name, str)] or [schema]
    if kind is not None:
        return [schema]
    for key in ("anyOf", "oneOf"):
        inner = schema.get(key)
        if isinstance(inner, list) and inner:
            return [found for option in inner if isinstance(option, Mapping) for found in options_of(option)]
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        names = dict.fromkeys(_TYPE_OF_VALUES.get(type(value), "null") for value in values)
        return [{"type": name} for name in names] or [schema]
    return [schema]


def fitting(schema: Mapping[str, Any], value: object) -> Mapping[str, Any]:
    """The option of a schema that has the type of a value, else the first one."""
    options = options_of(schema)
    for actual in (type(value), float) if type(value) is int else (type(value),):
        for option in options:
            kind = option.get("type")
            if kind == "null" and value is None:
                return option
            if isinstance(kind, str) and actual is PYTHON_TYPES.get(kind):
                return option
    return options[0] if options else schema


NUMBER_TYPES = frozenset(
    name
    for types in (JAVA_TYPES, JAVASCRIPT_TYPES)
    for name, kind in types.items()
    if kind in (int, float, bool)
)
"""Types of Java and JavaScript whose texts are read as numbers, or as true and false, which equal numbers."""
Convert = Callable[[str, str, str | None], Any]


class LanguageTypes(Struct, frozen=True):
    """The types of a language for the checker."""

    types: dict[str, type]
    """The Python type of each type name."""
    lists: frozenset[str]
    """Type names with an element type."""
    plain: dict[str, type | None]
    """Types whose values are right if they equal an allowed value; None for types with other rules."""
    error_type: str | None = None
    """The fault if a value is not a text; None if values are not texts."""
    convert: Convert | None = None
    """Converts text, type name and element type to a value."""


PYTHON = LanguageTypes(
    PYTHON_TYPES, LIST_TYPES["python"],
    {name: None if kind in (list, dict) else kind for name, kind in PYTHON_TYPES.items()},
)  # fmt: skip


def types_of(language: Language) -> LanguageTypes:
    return PYTHON if language == "python" else _written_types(language)


def _written_types(language: Language) -> LanguageTypes:
    known = _KNOWN.get(language)
    if known is None:
        if language == "java":
            from benchwright.toolcalls._java_values import convert_java

            known = LanguageTypes(
                JAVA_TYPES,
                LIST_TYPES["java"],
                dict.fromkeys(JAVA_TYPES),
                "type_error:java",
                convert_java,
            )
        else:
            from benchwright.toolcalls._javascript_values import convert_javascript

            known = LanguageTypes(
                JAVASCRIPT_TYPES,
                LIST_TYPES["javascript"],
                dict.fromkeys(JAVASCRIPT_TYPES),
                "type_error:js",
                convert_javascript,
            )
        _KNOWN[language] = known
    return known


_KNOWN: dict[str, LanguageTypes] = {}


def language_of(category: str) -> Language:
    """The language in which the calls of a category are written, by the category's name.

    >>> language_of("simple_java"), language_of("live_multiple")
    ('java', 'python')
    """
    if "javascript" in category:
        return "javascript"
    return "java" if "java" in category else "python"
