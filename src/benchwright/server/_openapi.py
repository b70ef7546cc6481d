"""The OpenAPI document, made from the table of routes and the models."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from benchwright.core import VERSION
from benchwright.server._models import ErrorBody
from benchwright.server._routes import LARGEST_NUMBER, MOST_PER_PAGE, ROUTES, Query, Route

_TITLES = {
    200: "done", 400: "malformed request", 401: "the token is missing or wrong", 403: "not from this machine",
    404: "not found", 405: "method not possible", 409: "conflicts with what is recorded", 413: "body too large",
    415: "encoding not understood", 422: "a field is wrong", 502: "the hub cannot be reached",
    503: "the record cannot be written", 504: "the hub does not answer",
}  # fmt: skip


def openapi_document() -> dict[str, Any]:
    """The description of the REST interface, OpenAPI 3.1."""
    models: dict[str, type[BaseModel]] = {}
    for route in ROUTES:
        for model in (route.answer, route.body):
            if model is not None:
                models[model.__name__] = model
    models[ErrorBody.__name__] = ErrorBody
    _, schemas = models_json_schema(
        [(model, "validation") for model in models.values()], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "benchwright",
            "version": VERSION,
            "description": "Runs, durable steps, metrics, events and datasets of one workspace.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__name__}_{route.path.split('/')[1]}",
        "summary": route.summary,
        "parameters": [
            *(_path_parameter(name) for name in re.findall(r"\{(\w+)\}", route.path)),
            *map(_query_parameter, route.query),
        ],
        "responses": _responses(route),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.body_optional,
            "content": {"application/json": {"schema": _ref(route.body)}},
        }
    operation["security"] = [{"token": []}]
    return operation


def _responses(route: Route) -> dict[str, Any]:
    statuses = {401, 403, 422, *route.refusals}
    if route.body is not None:
        statuses |= {400, 413, 415}
    told: dict[str, Any] = {"200": _response(200, route.answer)}
    told.update({str(status): _response(status, ErrorBody) for status in sorted(statuses)})
    return told


def _response(status: int, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": _TITLES[status], "content": {"application/json": {"schema": _ref(model)}}}


def _path_parameter(name: str) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(query: Query) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if query.kind is int:
        schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}
    if query.name == "limit":
        schema |= {"minimum": 1, "maximum": MOST_PER_PAGE}
    if query.choices:
        schema["enum"] = list(query.choices)
    if query.default is not None:
        schema["default"] = query.default
    return {
        "name": query.name,
        "in": "query",
        "required": False,
        "schema": schema,
        "description": query.meaning,
    }


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
