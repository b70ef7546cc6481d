"""The table of routes, and the OpenAPI document that describes it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from benchwright.core import STEP_STATUSES, VERSION
from benchwright.sdk import RUN_KINDS
from benchwright.server import _bodies as bodies, _handlers as handlers
from benchwright.server._bodies import ErrorBody
from benchwright.server._state import ServerState

Handler = Callable[[ServerState, handlers.Call], Awaitable[BaseModel | dict[str, Any]]]

MOST_PER_PAGE = 1_000
"""Most entries of a page."""
LARGEST_NUMBER = 2**53 - 1
"""Largest number that every JSON reader keeps exactly."""


class Query(Struct, frozen=True):
    """A query parameter."""

    name: str
    """Its name."""
    kind: type
    """int or str."""
    default: int | str | None
    """The value if it is not given."""
    meaning: str
    """One line."""
    choices: tuple[str, ...] = ()
    """The only values allowed."""


_AFTER = Query("after", int, None, "start after this number: `next` of the previous page")
_LIMIT = Query("limit", int, 100, f"entries per page, at most {MOST_PER_PAGE}")
_NAME = Query("name", str, None, "only entries with this name")
_STATUS = Query("status", str, None, "only steps with this status", tuple(STEP_STATUSES))
_KIND = Query("kind", str, None, "only runs of this kind", tuple(RUN_KINDS))


class Route(Struct, frozen=True):
    """One route."""

    method: str
    """HTTP method."""
    path: str
    """Path; `{run_id}` is a number."""
    handler: Handler
    """The function that answers."""
    answer: type[BaseModel]
    """The body of the response."""
    body: type[BaseModel] | None = None
    """The body of the request."""
    body_optional: bool = False
    """Whether the request body may be missing."""
    query: tuple[Query, ...] = ()
    """Query parameters."""
    refusals: tuple[int, ...] = ()
    """Statuses other than 400, 401, 403, 413 and 422."""

    @property
    def summary(self) -> str:
        """One line for the OpenAPI document."""
        return (self.handler.__doc__ or "").strip().rstrip(".")


_RUN = "/runs/{run_id}"
ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", handlers.health, bodies.Health),
    Route("POST", "/runs", handlers.create_run, bodies.RunCreated, bodies.CreateRun, refusals=(503,)),
    Route("GET", "/runs", handlers.list_runs, bodies.RunPage, query=(_AFTER, _LIMIT, _KIND, _NAME)),
    Route("GET", _RUN, handlers.get_run, bodies.RunBody, refusals=(404,)),
    Route("POST", f"{_RUN}/resume", handlers.resume_run, bodies.Empty, bodies.ResumeRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/complete", handlers.complete_run, bodies.Empty, bodies.CompleteRun, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/fail", handlers.fail_run, bodies.Empty, bodies.FailRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/output", handlers.set_output, bodies.Empty, bodies.RunOutput, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/heartbeat", handlers.heartbeat, bodies.Empty, bodies.Empty, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/metrics", handlers.add_metric, bodies.Empty, bodies.Metric, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/metrics", handlers.list_metrics, bodies.MetricPage, query=(_AFTER, _LIMIT, _NAME), refusals=(404,)),
    Route("POST", f"{_RUN}/events", handlers.add_event, bodies.Empty, bodies.NewEvent, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/events", handlers.list_events, bodies.EventPage, query=(_AFTER, _LIMIT), refusals=(404,)),
    Route("GET", f"{_RUN}/steps", handlers.list_steps, bodies.StepPage, query=(_AFTER, _LIMIT, _STATUS), refusals=(404,)),
    Route("POST", "/steps/begin", handlers.begin_step, bodies.Decision, bodies.BeginStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/complete", handlers.complete_step, bodies.Empty, bodies.CompleteStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/fail", handlers.fail_step, bodies.Empty, bodies.FailStep, refusals=(404, 409, 503)),
    *(
        Route("POST", f"/{noun}/init", handlers.init_dataset, bodies.DatasetBody, bodies.DatasetInit, refusals=(404, 502, 504))
        for noun in ("dataset", "datasets")
    ),
    *(
        Route("POST", f"/{noun}/batch", handlers.read_batch, bodies.Rows, bodies.DatasetBatch, refusals=(404, 502, 504))
        for noun in ("datasets", "dataset")
    ),
)  # fmt: skip
"""Every route."""

_TITLES = {
    200: "success", 400: "malformed request", 401: "the token is missing or wrong", 403: "not from this machine",
    404: "not found", 405: "method not allowed", 409: "conflicts with what is recorded", 413: "body too large",
    415: "encoding not supported", 422: "a field is wrong", 502: "the hub cannot be reached",
    503: "the records cannot be written", 504: "the hub does not answer",
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
    described: dict[str, Any] = {"200": _response(200, route.answer)}
    described.update({str(status): _response(status, ErrorBody) for status in sorted(statuses)})
    return described


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
