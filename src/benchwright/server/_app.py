"""The application: finds the route of a request, admits it, reads it, calls the handler and answers. Every request takes this way."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Mounted

from benchwright.core import MAX_DEPTH, TooDeepError, load_json, ready, shown, suggest
from benchwright.server._answers import Events, encoded
from benchwright.server._bodies import LARGEST_NUMBER
from benchwright.server._guard import (
    Guard,
    Headers,
    Refusal,
    check_sender,
    read_body,
    refusal_of,
)
from benchwright.server._handlers import RestCall
from benchwright.server._people import Access
from benchwright.server._routes import MOST_PER_PAGE, ROUTES, Query, Route
from benchwright.server._settings import ServerSettings
from benchwright.server._state import ServerState
from benchwright.store import Label
from benchwright.workflows import stable_stringify

_LOG = logging.getLogger("benchwright.server")


def build_app(
    state: ServerState, settings: ServerSettings | None = None, *, routes: Sequence[Route] = ROUTES
) -> Guard:
    """The ASGI application of one workspace.

    Args:
        state: The workspace to serve, and who may use it.
        settings: By which names clients call the server, and how large their bodies are.
        routes: The routes.
    """
    settings = settings or ServerSettings()
    places: dict[str, dict[str, Route]] = {}
    for route in routes:
        places.setdefault(route.path, {})[route.method] = route
    app = Starlette(
        # One entry per path, so that a wrong method gives 405 and not 404.
        routes=[
            Mounted(path, _endpoint(known, state, settings.max_body), methods=list(known))
            for path, known in places.items()
        ],
        exception_handlers={HTTPException: _not_routed(state), Exception: _failed},
    )
    # A redirect away from a path that ends in "/" would lose the token of some clients.
    app.router.redirect_slashes = False
    return Guard(app, settings)


def _endpoint(
    known: Mapping[str, Route], state: ServerState, max_body: int
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        route = known["GET" if request.method == "HEAD" else request.method]
        headers: Headers = request.scope["headers_by_name"]
        try:
            check_sender(headers, navigable=route.answer.navigable)
            person = state.keys.admit(headers.get("authorization", ""), route.needs)
            state.use.asked()
            body = await read_body(headers, request.receive, max_body)
            who = (
                "" if route.needs is not Access.FULL else Label.user_name() if person is None else person.name
            )
            call = RestCall(_path(request), _query(route, request), _body(route, body), who, person)
            found = await route.handler(state, call)
            if isinstance(route.answer, Events):
                found = _while_admitted(state, headers, route, found)
            return route.answer.response(found)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                _LOG.exception("%s %s", request.method, request.url.path)
            return _refused(refusal)

    return answer


async def _while_admitted(
    state: ServerState, headers: Headers, route: Route, values: AsyncIterator[Any]
) -> AsyncIterator[Any]:
    """A stream that ends when its token is taken away; a page that connects again is told why."""
    async for value in values:
        try:
            state.keys.admit(headers.get("authorization", ""), route.needs)
        except Refusal:
            return
        yield value


def _path(request: Request) -> dict[str, int]:
    return {name: _number(name, text) for name, text in request.path_params.items()}


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
    if query.kind is float:
        try:
            return msgspec.json.decode(text, type=float)
        except ValueError:
            raise Refusal(422, "invalid", f"{query.name} is {text[:40]!r}; expected a number") from None
    number = _number(query.name, text)
    if query.name == "limit" and not 1 <= number <= MOST_PER_PAGE:
        raise Refusal(422, "invalid", f"limit is {number}; expected 1 to {MOST_PER_PAGE}")
    return number


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LARGEST_NUMBER:
        raise Refusal(422, "invalid", f"{name} is {text[:40]!r}; expected a whole number of 0 or more")
    return int(text)


def _body(route: Route, raw: bytes) -> Struct | None:
    if route.body is None:
        return None
    if not raw.strip():
        if route.body_optional:
            return route.body()
        raise Refusal(400, "no_body", "the request has no body", "send a JSON object")
    try:
        if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
            load_json(raw)  # refuses what is nested so deeply that it could not be written
        return msgspec.json.decode(raw, type=ready(route.body))
    except msgspec.ValidationError as error:
        _refuse_odd_numbers(raw)
        raise Refusal(422, "invalid", _problem(route.body, raw, str(error))) from None
    except (ValueError, RecursionError) as error:
        _refuse_odd_numbers(raw)
        reason = TooDeepError() if isinstance(error, RecursionError) else error
        raise Refusal(400, "malformed", f"the body is not JSON: {reason}") from None


def _refuse_odd_numbers(raw: bytes) -> None:
    """Raise UsageError with the place of a NaN or an infinite number, which many clients write into JSON."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    stable_stringify(value)


_PLACE = re.compile(r"(?P<what>.*) - at `\$\.?(?P<where>.*)`", re.DOTALL)


def _problem(body: type[Struct], raw: bytes, text: str) -> str:
    """What is wrong with a body: its unknown fields, with near names, else the first field with a wrong value."""
    known = [field.encode_name for field in msgspec.structs.fields(body)]
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError) as error:  # which comes after the first field that is wrong
        raise Refusal(400, "malformed", f"the body is not JSON: {error}") from None
    unknown = [name for name in given if name not in known] if isinstance(given, dict) else []
    if unknown:
        has = f"the fields are {', '.join(known)}" if known else "this body has no fields"
        return (
            "; ".join(
                f"{shown(name[:80])}: there is no such field.{suggest(name, known)}" for name in unknown[:5]
            )
            + f" ({has})"
        )
    placed = _PLACE.fullmatch(text)
    what, where = (placed["what"], placed["where"]) if placed else (text, "body")
    return f"{where}: {what.replace('`', '')}"


def _refused(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    all_headers = {**refusal.headers, **(headers or {})}
    return Response(encoded(refusal.body()), refusal.status, all_headers, "application/json")


def _not_routed(state: ServerState) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Answers requests that no route takes; without the token, nobody learns what is there."""

    async def answer(request: Request, error: Exception) -> Response:
        status, path = getattr(error, "status_code", 404), request.url.path[:200]
        headers: Headers = request.scope["headers_by_name"]
        try:
            check_sender(headers, navigable=False)
            state.keys.admit(headers.get("authorization", ""), Access.READ)
        except Refusal as refusal:
            return _refused(refusal)
        if status == 405:
            allowed = str((getattr(error, "headers", None) or {}).get("Allow", "GET"))
            wrong = Refusal(405, "method", f"{request.method[:20]} is not allowed here; use {allowed}")
            return _refused(wrong, {"Allow": allowed})
        if status == 404:
            return _refused(Refusal(404, "not_found", f"there is nothing at {path}", "see /openapi.json"))
        return _refused(Refusal(status, "http", str(getattr(error, "detail", error))))

    return answer


async def _failed(request: Request, error: Exception) -> Response:
    trace = "".join(traceback.format_exception(error))
    _LOG.error("%s", shown(f"{request.method} {request.url.path}\n{trace}"))
    return _refused(refusal_of(error))
