"""The table of routes, and the OpenAPI document that describes it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from benchwright.core import RUN_STATUSES, VERSION, Outcome
from benchwright.results import RUN_KINDS, History, SearchPage, Slices
from benchwright.server import (
    _acts as acts,
    _bodies as bodies,
    _catalogue as catalogue,
    _decisions as decisions,
    _handlers as handlers,
    _kind_pages as kind_pages,
    _labelling as labelling,
    _run_pages as run_pages,
)
from benchwright.server._answers import AnswerKind, AnyJson, Bytes, Events, HtmlPage, Json, Listed
from benchwright.server._bodies import LARGEST_NUMBER, ErrorBody
from benchwright.server._catalogue import SORTS
from benchwright.server._page_files import PAGE_FILES, SHELL, file_handler
from benchwright.server._people import Access
from benchwright.server._state import ServerState
from benchwright.store import LABEL_KINDS, SampleOrder

Handler = Callable[[ServerState, handlers.RestCall], Awaitable[Any]]

MOST_PER_PAGE = 1_000
"""Most entries of a page."""
API = "/api"
"""REST routes are below it, and at their places without it as well."""


class Query(Struct, frozen=True):
    """A query parameter."""

    name: str
    """Its name."""
    kind: type
    """int, float or str."""
    default: int | str | None
    """The value if it is not given."""
    meaning: str
    """One line."""
    choices: tuple[str, ...] = ()
    """The only values allowed."""


_AFTER = Query("after", int, None, "start after this number: `next` of the previous page")
_LIMIT = Query("limit", int, 100, f"entries per page, at most {MOST_PER_PAGE}")
_NAME = Query("name", str, None, "only entries with this name")
_NAMED = Query("name", str, None, "the name of the benchmark, load test or workflow")
_SUITE = Query("name", str, None, "the name of the suite: its file without the ending")
_STATUS = Query(
    "status",
    str,
    None,
    "only steps with this status",
    tuple(name for name, status in RUN_STATUSES.items() if status.of_steps),
)
_OF_SAMPLES = (
    _AFTER,
    _LIMIT,
    Query("outcome", str, None, "only samples with this outcome", tuple(Outcome)),
    Query("verdict", str, None, "only samples with this verdict", ("right", "wrong", "neither")),
    Query("scored", str, None, "only samples with, or without, scores", ("true", "false")),
    Query("metric", str, None, "only samples with a value of this metric"),
    Query("above", float, None, "only samples whose value of `metric` is greater"),
    Query("below", float, None, "only samples whose value of `metric` is smaller"),
    Query("text", str, None, "only samples with this text in prompt, reply or target"),
    Query("rule", str, None, "only samples whose answer was read by this rule"),
    Query("column", str, None, "only samples whose row has `value` in this column"),
    Query("value", str, None, "the value in `column`"),
    Query(
        "labelled",
        str,
        None,
        "only samples whose row has a label of this kind, or of any",
        ("any", *LABEL_KINDS),
    ),
    Query(
        "changed_from",
        int,
        None,
        "only samples whose outcome or scores differ from this run's, paired as a comparison pairs them",
    ),
    Query(
        "sort",
        str,
        None,
        f"the order: {', '.join(SampleOrder.figures)} or metric:NAME; samples without that figure are left out. Not given: by row",
    ),
    Query("descending", str, "false", "whether the greatest come first", ("true", "false")),
    Query(
        "patience_s",
        float,
        None,
        "seconds after which the first page by a figure answers how many samples are indexed, instead of samples; asked again, it goes on. "
        "Not given: answer with samples, however long that takes",
    ),
    Query("columns", str, None, "only these columns of the samples, with commas between"),
    Query("cut", int, None, "cut texts that are longer than this many characters"),
)
_BY = Query("by", str, None, "the column; a dotted name reaches into tables")
_RUNS = Query(
    "runs", str, None, "numbers of two to eight runs, with commas between them; the first is the baseline"
)
_METRIC = Query("metric", str, None, "the metric (default: the headline)")
_FORCE = Query("force", str, "false", "compare even if data, prompts or scorers differ", ("true", "false"))
_OF_RUNS = (
    _NAME,
    Query("model", str, None, "only runs of this model, by its id or its name"),
    Query("suite", str, None, "only runs of this suite"),
    Query("status", str, None, "only runs with this status", tuple(RUN_STATUSES)),
    Query("tag", str, None, "only runs with this tag: NAME or NAME=VALUE"),
    Query("data", str, None, "only runs on data whose hash begins so"),
    Query("q", str, None, "only runs with all of these words in name, model, target, data, tags or status"),
    Query("sort", str, None, "the order (newest)", SORTS),
    Query("brief", str, "false", "leave out summaries, inputs and outputs", ("true", "false")),
)
_OF_SEARCH = (
    Query("q", str, None, "the text to look for, in any case"),
    Query("after", str, None, "start there: `next` of the previous page"),
    _LIMIT,
)
_OF_LABELS = (
    Query("kind", str, None, "only labels of this kind", tuple(LABEL_KINDS)),
    Query("who", str, None, "only labels of this person"),
    Query("run", int, None, "only labels of rows that this run has"),
    Query("q", str, None, "only labels with this text in their value, in any case"),
    _AFTER,
    _LIMIT,
)
_OF_BLIND = (
    Query("runs", str, None, "numbers of runs with grades of judges, with commas between them"),
    Query("seed", int, 0, "decides the order"),
    Query("limit", int, 50, f"samples, at most {MOST_PER_PAGE}"),
)
_KIND = Query("kind", str, None, "only runs of this kind", tuple(RUN_KINDS))


class Route(Struct, frozen=True):
    """One route."""

    method: str
    """HTTP method; GET changes nothing."""
    path: str
    """Path; `{run_id}` is a number."""
    needs: Access
    """What a request's token must allow."""
    handler: Handler
    """The function that answers."""
    answer: AnswerKind
    """What it answers with."""
    body: type[Struct] | None = None
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


async def describe(state: ServerState, call: handlers.RestCall) -> bytes:
    """Get this description."""
    return msgspec.json.encode(openapi_document())


_OPEN, _READ, _FULL = Access
_RUN = "/runs/{run_id}"
_SAMPLE = f"{_RUN}/samples/{{sample_id}}/{{repeat}}"
_EMPTY = Json(bodies.Empty)
_METRICS = Listed("MetricPage", "Metric points in the order of their arrival.", "metrics", bodies.METRIC)
_EVENTS = Listed("EventPage", "Events, oldest first.", "events", bodies.EVENT)
_STEPS = Listed("StepPage", "Steps in the order in which they were begun.", "steps", bodies.STEP)
_LABELS = Listed("LabelPage", "Labels, newest first.", "labels")
REST: tuple[Route, ...] = (
    Route("GET", "/health", _READ, handlers.health, Json(bodies.Health)),
    Route("GET", "/openapi.json", _READ, describe, Bytes("application/json")),
    Route("POST", "/codes", _FULL, handlers.create_code, Json(bodies.NewCode), bodies.CreateCode, body_optional=True),
    Route("POST", "/token", _OPEN, handlers.exchange_code, Json(bodies.PageToken), bodies.Code),
    Route("POST", "/runs", _FULL, handlers.create_run, Json(bodies.RunCreated), bodies.CreateRun, refusals=(503,)),
    Route("GET", "/runs", _READ, catalogue.list_runs, Json(bodies.RunPage), query=(_AFTER, _LIMIT, _KIND, *_OF_RUNS)),
    Route("GET", "/live", _READ, catalogue.watch_runs, Events(bodies.LiveRuns)),
    Route("GET", _RUN, _READ, handlers.get_run, Json(bodies.RunBody), refusals=(404,)),
    Route("GET", f"{_RUN}/details", _READ, run_pages.get_details, AnyJson(), refusals=(404,)),
    Route("POST", f"{_RUN}/resume", _FULL, handlers.resume_run, _EMPTY, bodies.ResumeRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/complete", _FULL, handlers.complete_run, _EMPTY, bodies.CompleteRun, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/fail", _FULL, handlers.fail_run, _EMPTY, bodies.FailRun, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/output", _FULL, handlers.set_output, _EMPTY, bodies.RunOutput, refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/heartbeat", _FULL, handlers.heartbeat, _EMPTY, bodies.Empty, body_optional=True,
          refusals=(404, 409, 503)),
    Route("POST", f"{_RUN}/metrics", _FULL, handlers.add_metric, _EMPTY, bodies.Metric, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/metrics", _READ, handlers.list_metrics, _METRICS, query=(_AFTER, _LIMIT, _NAME),
          refusals=(404,)),
    Route("POST", f"{_RUN}/events", _FULL, handlers.add_event, _EMPTY, bodies.NewEvent, refusals=(404, 409, 503)),
    Route("GET", f"{_RUN}/events", _READ, handlers.list_events, _EVENTS, query=(_AFTER, _LIMIT), refusals=(404,)),
    Route("GET", f"{_RUN}/steps", _READ, handlers.list_steps, _STEPS, query=(_AFTER, _LIMIT, _STATUS),
          refusals=(404,)),
    Route("GET", f"{_RUN}/samples", _READ, run_pages.list_samples, Json(bodies.SamplePage), query=_OF_SAMPLES, refusals=(404,)),
    Route("GET", _SAMPLE, _READ, run_pages.get_sample, AnyJson(), refusals=(404,)),
    Route("POST", f"{_SAMPLE}/labels", _FULL, labelling.add_label, AnyJson(), bodies.NewLabel, refusals=(404,)),
    Route("POST", f"{_SAMPLE}/trials", _FULL, labelling.ask_again, AnyJson(), bodies.AskAgain, refusals=(404,)),
    Route("POST", f"{_RUN}/labels/effect", _FULL, labelling.label_effect, AnyJson(), bodies.Empty, body_optional=True, refusals=(404,)),
    Route("GET", "/labels", _READ, labelling.list_labels, _LABELS, query=_OF_LABELS, refusals=(404,)),
    Route("POST", "/labels/{label_id}/remove", _FULL, labelling.remove_label, Json(bodies.Done), bodies.Empty, body_optional=True,
          refusals=(404,)),
    Route("GET", "/blind", _READ, labelling.get_blind, AnyJson(), query=_OF_BLIND, refusals=(404,)),
    Route("GET", "/agreement", _READ, labelling.get_agreement, AnyJson(), query=_OF_BLIND[:1], refusals=(404,)),
    Route("GET", f"{_RUN}/slices", _READ, decisions.get_slices, Json(Slices), query=(_BY, _METRIC), refusals=(404,)),
    Route("GET", f"{_RUN}/distributions", _READ, decisions.get_distributions, AnyJson(), refusals=(404,)),
    Route("GET", "/search", _READ, run_pages.search_all, Json(SearchPage), query=_OF_SEARCH),
    Route("GET", "/history", _READ, decisions.get_history, Json(History), query=(_NAMED, _AFTER, _LIMIT)),
    Route("GET", "/compare", _READ, decisions.get_comparison, AnyJson(), query=(_RUNS, _BY, _METRIC, _FORCE, _LIMIT),
          refusals=(404,)),
    Route("GET", "/suites", _READ, decisions.get_suite, AnyJson(), query=(_SUITE,), refusals=(404,)),
    Route("POST", f"{_RUN}/cancel", _FULL, acts.cancel, Json(bodies.Done), bodies.Empty, body_optional=True, refusals=(404, 409)),
    Route("POST", f"{_RUN}/remove", _FULL, acts.remove, Json(bodies.Done), bodies.Empty, body_optional=True, refusals=(404, 409)),
    Route("POST", f"{_RUN}/bless", _FULL, acts.bless_run, Json(bodies.Done), bodies.Bless, body_optional=True, refusals=(404, 409)),
    Route("POST", f"{_RUN}/continue", _FULL, acts.resume, Json(bodies.Done), bodies.Empty, body_optional=True, refusals=(404, 409)),
    Route("POST", f"{_RUN}/tag", _FULL, acts.tag, Json(bodies.Done), bodies.Tags, refusals=(404,)),
    Route("POST", f"{_RUN}/rename", _FULL, acts.rename, Json(bodies.Done), bodies.Rename, refusals=(404, 409)),
    Route("GET", f"{_RUN}/load", _READ, kind_pages.get_load_test, AnyJson(), refusals=(404,)),
    Route("POST", "/handed", _FULL, kind_pages.hand_over, _EMPTY, bodies.HandOver),
    Route("GET", "/handed", _READ, kind_pages.get_handed, Bytes("application/json"), refusals=(404,),
          query=(Query("page", str, None, "the address of the page, such as /gates/5"),)),
    Route("POST", "/steps/begin", _FULL, handlers.begin_step, Json(bodies.DECISION.body), bodies.BeginStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/complete", _FULL, handlers.complete_step, _EMPTY, bodies.CompleteStep, refusals=(404, 409, 503)),
    Route("POST", "/steps/fail", _FULL, handlers.fail_step, _EMPTY, bodies.FailStep, refusals=(404, 409, 503)),
    *(
        Route("POST", f"/{noun}/init", _FULL, handlers.init_dataset, Json(bodies.DATASET.body), bodies.DatasetInit,
              refusals=(404, 502, 504))
        for noun in ("dataset", "datasets")
    ),
    *(
        Route("POST", f"/{noun}/batch", _FULL, handlers.read_batch, Json(bodies.Rows), bodies.DatasetBatch,
              refusals=(404, 502, 504))
        for noun in ("datasets", "dataset")
    ),
)  # fmt: skip
"""Routes for programs, and for the scripts of pages."""

PAGES: tuple[Route, ...] = (
    Route("GET", "/", _OPEN, file_handler(SHELL), HtmlPage()),
    *(Route("GET", f"/pages/{name}", _OPEN, file_handler(name), Bytes(kind)) for name, kind in PAGE_FILES.items()),
)  # fmt: skip
"""The shell of all pages, and the files that it loads. They have no data, so they need no token."""

ROUTES: tuple[Route, ...] = (
    *REST,
    *(msgspec.structs.replace(route, path=API + route.path) for route in REST),
    *PAGES,
)
"""Every route of the server, at each of its places."""

_TITLES = {
    200: "success", 400: "malformed request", 401: "the token is missing or wrong", 403: "not allowed with this token, or not from this machine",
    404: "not found", 405: "method not allowed", 409: "conflicts with what is recorded", 413: "body too large",
    415: "encoding not supported", 422: "a field is wrong", 502: "the hub cannot be reached",
    503: "the records cannot be written", 504: "the hub does not answer",
}  # fmt: skip


def openapi_document() -> dict[str, Any]:
    """The description of the REST interface, OpenAPI 3.1."""
    structs = {
        struct
        for route in REST
        for struct in (route.answer.schema, route.body, ErrorBody)
        if struct is not None
    }
    ordered = sorted(structs, key=lambda struct: struct.__name__)
    _, schemas = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, Any]] = {}
    for route in REST:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "benchwright",
            "version": VERSION,
            "description": "Runs, durable steps, metrics, events and datasets of one workspace.",
        },
        "servers": [{"url": API}, {"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__name__}_{route.path.split('/')[1].removesuffix('.json')}",
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
    operation["security"] = [{"token": []}] if route.needs else []
    return operation


def _responses(route: Route) -> dict[str, Any]:
    statuses = {401, 403, 422, *route.refusals}
    if route.body is not None:
        statuses |= {400, 413, 415}
    described: dict[str, Any] = {"200": _response(200, route.answer)}
    described.update({str(status): _response(status, Json(ErrorBody)) for status in sorted(statuses)})
    return described


def _response(status: int, answer: AnswerKind) -> dict[str, Any]:
    schema = {} if answer.schema is None else _ref(answer.schema)
    return {"description": _TITLES[status], "content": {answer.media_type: {"schema": schema}}}


def _path_parameter(name: str) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(query: Query) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if query.kind is int:
        schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}
    elif query.kind is float:
        schema = {"type": "number"}
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


def _ref(model: type[Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
