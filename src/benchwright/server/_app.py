"""The application: matches requests to the table of routes, checks them, calls the handler and answers in JSON."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Mounted

from benchwright.core import JsonObject, exact_json, load_json, shown
from benchwright.server._guard import MAX_BODY_BYTES, Guard, Refusal, refusal_of
from benchwright.server._handlers import Call
from benchwright.server._routes import LARGEST_NUMBER, MOST_PER_PAGE, ROUTES, Query, Route, openapi_document
from benchwright.server._state import ServerState
from benchwright.workflows import stable_stringify

_LOG = logging.getLogger("benchwright.server")


def build_app(
    state: ServerState, *, token: str, open_reads: bool = False, max_body: int = MAX_BODY_BYTES
) -> Guard:
    """The ASGI application of one workspace.

    Args:
        state: The workspace to serve.
        token: The token that requests must carry.
        open_reads: Whether requests that only read need no token.
        max_body: Largest body in bytes.
    """
    document = orjson.dumps(openapi_document())

    async def describe(request: Request) -> Response:
        return _json(document)

    mounted = [Mounted(route.path, _endpoint(route, state), methods=[route.method]) for route in ROUTES]
    app = Starlette(
        routes=[*_by_path(mounted), Mounted("/openapi.json", describe, methods=["GET"])],
        exception_handlers={HTTPException: _not_routed, Exception: _failed},
    )
    # A redirect away from a path that ends in "/" would lose the token of some clients.
    app.router.redirect_slashes = False
    return Guard(app, token=token, needs_token=_needs_token if open_reads else _always, max_body=max_body)


def _by_path(mounted: list[Mounted]) -> list[Mounted]:
    """One entry per path, so that a wrong method gives 405 and not 404."""
    paths: dict[str, dict[str, Any]] = {}
    for entry in mounted:
        for method in entry.methods or ():
            if method != "HEAD":
                paths.setdefault(entry.path, {})[method] = entry.endpoint

    def dispatch(known: dict[str, Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            response: Response = await known["GET" if request.method == "HEAD" else request.method](request)
            return response

        return answer

    return [Mounted(path, dispatch(known), methods=list(known)) for path, known in paths.items()]


def _endpoint(route: Route, state: ServerState) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            call = Call(_path(request), _query(route, request), _body(route, await request.body()))
            encoded = _encoded(await route.handler(state, call))
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                _LOG.exception("%s %s", request.method, request.url.path)
            return _refused(refusal)
        return _json(encoded)

    return answer


def _path(request: Request) -> dict[str, int]:
    numbers = {}
    for name, text in request.path_params.items():
        if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LARGEST_NUMBER:
            raise Refusal(422, "invalid", f"{name} is {text[:40]!r}; expected a whole number")
        numbers[name] = int(text)
    return numbers


def _query(route: Route, request: Request) -> dict[str, Any]:
    return {query.name: _parameter(query, request.query_params) for query in route.query}


def _parameter(query: Query, given: Mapping[str, str]) -> Any:
    text = given.get(query.name)
    if text is None:
        return query.default
    if query.kind is str:
        if query.choices and text not in query.choices:
            raise Refusal(
                422, "invalid", f"{query.name} is {text[:40]!r}; expected {', '.join(query.choices)}"
            )
        return text
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LARGEST_NUMBER:
        raise Refusal(422, "invalid", f"{query.name} is {text[:40]!r}; expected a whole number from 0 up")
    number = int(text)
    if query.name == "limit" and not 1 <= number <= MOST_PER_PAGE:
        raise Refusal(422, "invalid", f"limit is {number}; expected 1 to {MOST_PER_PAGE}")
    return number


def _body(route: Route, raw: bytes) -> BaseModel | None:
    if route.body is None:
        return None
    if not raw.strip():
        if route.body_optional:
            return route.body()
        raise Refusal(400, "no_body", "the request has no body", "send a JSON object")
    try:
        value = load_json(raw)
    except ValueError as error:
        _refuse_odd_numbers(raw)
        raise Refusal(400, "malformed", f"the body is not JSON: {error}") from None
    try:
        return route.body.model_validate(value)
    except ValidationError as error:
        raise Refusal(422, "invalid", _problems(error)) from None


def _refuse_odd_numbers(raw: bytes) -> None:
    """Raise UsageError with the place of a NaN or an infinite number, which many clients write into JSON."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    stable_stringify(value)


def _encoded(answer: BaseModel | JsonObject) -> bytes:
    if not isinstance(answer, BaseModel):
        return exact_json(answer)
    try:
        return answer.model_dump_json().encode()
    except PydanticSerializationError:  # half of a surrogate pair
        return exact_json(answer.model_dump(mode="python"))


def _problems(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}" for e in error.errors()[:5]]
    return "; ".join(found)


def _always(method: str, path: str) -> bool:
    return True


def _needs_token(method: str, path: str) -> bool:
    """With open reads, requests that do more than read records need the token."""
    return method not in ("GET", "HEAD")


def _matches(route: Route, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route.path), path) is not None


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def _refused(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    return _json(orjson.dumps(refusal.body()), refusal.status, headers)


async def _not_routed(request: Request, error: Exception) -> Response:
    status, path = getattr(error, "status_code", 404), request.url.path[:200]
    if status == 405:
        allowed = ", ".join(sorted({route.method for route in ROUTES if _matches(route, path)} or {"GET"}))
        refusal = Refusal(405, "method", f"{request.method[:20]} is not allowed here; use {allowed}")
        return _refused(refusal, {"Allow": allowed})
    if status == 404:
        return _refused(Refusal(404, "not_found", f"there is nothing at {path}", "see /openapi.json"))
    return _refused(Refusal(status, "http", str(getattr(error, "detail", error))))


async def _failed(request: Request, error: Exception) -> Response:
    trace = "".join(traceback.format_exception(error))
    _LOG.error("%s", shown(f"{request.method} {request.url.path}\n{trace}"))
    return _refused(refusal_of(error))
