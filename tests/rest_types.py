"""The types of REST answers for the modules of the pages, out of the OpenAPI document, which is their only home.

`python tests/rest_types.py` writes them next to the modules. The compiler reads them; browsers never get them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.reports.pages.report import APP
from benchwright.server._routes import openapi_document

PLACE = APP / "rest.d.ts"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def rest_types() -> str:
    """The text of the file: an interface for each schema that an answer has."""
    document = openapi_document()
    schemas = document["components"]["schemas"]
    answers = [
        route["responses"]["200"] for routes in document["paths"].values() for route in routes.values()
    ]
    found = set[str]()
    _collect(answers, schemas, found)
    lines = ["// Written by tests/rest_types.py out of the OpenAPI document."]
    for name in sorted(found):
        lines += ["", *_declared(name, schemas[name])]
    return "\n".join(lines) + "\n"


def _collect(part: Any, schemas: Mapping[str, Any], found: set[str]) -> None:
    """Add the names of all schemas that a part of the document refers to."""
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in found:
            found.add(name)
            _collect(schemas[name], schemas, found)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _collect(inner, schemas, found)


def _declared(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if "properties" not in schema:
        yield f"export type {name} = {_type(schema)};"
        return
    yield f"export interface {name} {{"
    for field, of_field in schema["properties"].items():
        yield f"  {field}: {_type(of_field)};"  # an answer has every field
    yield "}"


def _type(schema: Any) -> str:
    """A schema as TypeScript has it; what it does not say is `any`."""
    if not isinstance(schema, dict):
        return "any"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " | ".join(dict.fromkeys(map(_type, schema[word])))
    if "enum" in schema:
        return " | ".join("null" if each is None else f'"{each}"' for each in schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": each}) for each in kind)
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        inner = _type(schema.get("items"))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values)}>"
    return _PLAIN.get(str(kind), "any")


if __name__ == "__main__":
    PLACE.write_text(rest_types(), encoding="utf-8")
