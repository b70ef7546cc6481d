"""Decide what the demo server answers to a request, without sockets and without waiting.

A response is bytes with times: a first piece after `ttft`, further pieces every `itl`. `DemoConnection` does the
waiting.
"""

from __future__ import annotations

import orjson
from msgspec import Struct, field

from benchwright.core import ROUTE_PATHS, JsonObject, encode_json
from benchwright.demo._completions import error_body, model_body, models_body
from benchwright.demo._forms import Form, served_at
from benchwright.demo._http import LAST_CHUNK, HttpRequest, chunk, response_head
from benchwright.demo._model import DemoModel
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._settings import DemoSettings, Faults

_JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"
_READABLE = ("/models", "/health", "/stats", "/metrics")
_PAGE = b"<!doctype html><html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>\n"


class Response(Struct):
    """Pieces to write, with their times."""

    pieces: list[bytes]
    """The pieces, in order. The first is written after `delay_s`, the others `gap_s` apart."""
    keep_alive: bool
    """Whether the connection stays open afterwards."""
    delay_s: float = 0.0
    """Seconds before the first piece."""
    gap_s: float = 0.0
    """Seconds between pieces."""


_MOST_SEEN = 1_000_000
"""Requests that are remembered, to tell repeats from others."""


class Counters(Struct):
    """Counts of a server's requests and connections."""

    requests: int = 0
    """All requests, with any outcome."""
    answered: int = 0
    """Requests answered by the model."""
    refused: int = 0
    """Requests answered with a client error (4xx)."""
    streams: int = 0
    """Requests answered as event streams."""
    prompt_tokens: int = 0
    """Tokens of all prompts answered."""
    completion_tokens: int = 0
    """Tokens of all answers."""
    faults: dict[str, int] = field(default_factory=dict)
    """Failures injected, by kind."""
    running: int = 0
    """Requests being answered now."""
    waiting: int = 0
    """Requests that wait for a slot now."""
    connections: int = 0
    """Connections open now."""
    connections_total: int = 0
    """Connections accepted so far."""

    def as_json(self) -> JsonObject:
        """Return the counts for GET /stats."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def as_metrics(self) -> bytes:
        """Return the counts for GET /metrics, in the text format of Prometheus."""
        lines = [
            f"# TYPE demo:num_requests_running gauge\ndemo:num_requests_running {self.running}",
            f"# TYPE demo:num_requests_waiting gauge\ndemo:num_requests_waiting {self.waiting}",
            f"# TYPE demo:requests_total counter\ndemo:requests_total {self.answered}",
            f"# TYPE demo:prompt_tokens_total counter\ndemo:prompt_tokens_total {self.prompt_tokens}",
            f"# TYPE demo:generation_tokens_total counter\ndemo:generation_tokens_total {self.completion_tokens}",
        ]
        return ("\n".join(lines) + "\n").encode()


class Responder:
    """Turns requests into responses for all connections of one server."""

    def __init__(self, settings: DemoSettings, api_key: str | None = None) -> None:
        self.settings = settings
        self._expected = None if api_key is None else f"Bearer {api_key}"
        self.counters = Counters()
        self._model = DemoModel(settings)
        self._faults = Faults(settings) if settings.error_rate else None
        self._ttft_s = settings.ttft_ms / 1000
        self._itl_s = settings.itl_ms / 1000
        self._seen: dict[int, int] = {}

    def respond(self, request: HttpRequest) -> Response:
        """Return the response to one request."""
        self.counters.requests += 1
        if self._expected is not None and request.authorization != self._expected:
            missing = (
                "no API key was sent" if not request.authorization else "the API key is not the right one"
            )
            return self._refuse(request, 401, missing, code="invalid_api_key")
        served = served_at(request.path)
        if served is None:
            return self._read_only(request, request.path.removeprefix("/v1"))
        if request.method != "POST":
            return self._refuse(
                request, 405, f"{request.path} takes POST, not {request.method}", allow="POST"
            )
        kind = None if self._faults is None else self._faults.pick_next(request.body)
        return self._complete(request, *served) if kind is None else self._fault(request, *served, kind)

    def refuse(self, status: int, message: str) -> Response:
        """Return the response to bytes that are not a request; it ends the connection."""
        self.counters.requests += 1
        return self._refuse(None, status, message)

    def _read_only(self, request: HttpRequest, path: str) -> Response:
        if path == f"/models/{self.settings.model_id}" and request.method == "GET":
            return _plain(request, 200, model_body(self.settings.model_id))
        if path.startswith("/models/") and request.method == "GET":
            missing = f"the model {path.removeprefix('/models/')!r} does not exist; this is {self.settings.model_id!r}"
            return self._refuse(request, 404, missing, code="model_not_found")
        if path not in _READABLE:
            known = ", ".join(f"/v1{name}" for name in [*ROUTE_PATHS.values(), "/responses", *_READABLE[:1]])
            others = (
                "/generate, /generate_stream, /infer, /v2/models/NAME/generate, /health, /stats, /metrics"
            )
            message = f"no such route: {request.method} {request.path}. Routes: {known}, {others}"
            return self._refuse(request, 404, message)
        if request.method != "GET":
            return self._refuse(request, 405, f"{request.path} takes GET, not {request.method}", allow="GET")
        if path == "/models":
            body = models_body(self.settings.model_id)
        elif path == "/stats":
            body = encode_json(self.counters.as_json())
        elif path == "/metrics":
            body = self.counters.as_metrics()
        else:
            body = b'{"status":"ok"}'
        return _plain(request, 200, body)

    def _times_seen(self, body: bytes) -> int:
        """How often the same request came before. At a temperature above 0, a model that is asked again answers differently; a
        request does not say that it is a repeat."""
        seen, key = self._seen, hash(body)
        if len(seen) >= _MOST_SEEN:
            seen.clear()
        count = seen.get(key, 0)
        seen[key] = count + 1
        return count

    def _complete(self, request: HttpRequest, form: Form, stream: bool | None) -> Response:
        try:
            body = orjson.loads(request.body)
        except orjson.JSONDecodeError as error:
            return self._refuse(request, 400, f"the body is not JSON: {error}", code="invalid_json")
        if not isinstance(body, dict):
            return self._refuse(request, 400, "the body must be a JSON object", code="invalid_json")
        try:
            route, asked = form.openai_body(body)
            sampled = self.settings.by_chance or (asked.get("temperature") != 0 and asked.get("seed") is None)
            completion = self._model.complete(route, asked, self._times_seen(request.body) if sampled else 0)
        except DemoRefusalError as error:
            self.counters.refused += 1
            return _plain(request, error.status, form.error(error.message, error.param))
        counters = self.counters
        counters.answered += 1
        counters.prompt_tokens += completion.prompt_tokens
        counters.completion_tokens += sum(choice.tokens for choice in completion.choices)
        name, number = self.settings.model_id, counters.answered
        if stream or (stream is None and body.get("stream") is True):
            counters.streams += 1
            return self._stream(request, form.events(completion, name, number, body))
        whole = form.whole(completion, name, number)
        response = _plain(request, 200, whole, extra=form.headers(completion))
        response.delay_s = self._ttft_s + self._itl_s * max(completion.choices[0].tokens - 1, 0)
        return response

    def _stream(self, request: HttpRequest, events: list[bytes]) -> Response:
        if request.chunks:
            keep_alive = request.keep_alive
            head = response_head(
                200, _EVENTS, None, keep_alive=keep_alive, extra="Cache-Control: no-cache\r\n"
            )
            pieces = [chunk(event) for event in events]
            pieces[-1] += LAST_CHUNK
        else:  # HTTP/1.0: the end of the connection is the end of the stream
            keep_alive = False
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            pieces = events
        if len(pieces) > 1:  # the closing events follow the last token immediately
            last = pieces.pop()
            pieces[-1] += last
        if not self._itl_s:
            pieces = [b"".join(pieces)]
        pieces[0] = head + pieces[0]
        return Response(pieces, keep_alive, self._ttft_s, self._itl_s)

    def _fault(self, request: HttpRequest, form: Form, stream: bool | None, kind: str) -> Response:
        counted = self.counters.faults
        counted[kind] = counted.get(kind, 0) + 1
        if kind == "rate_limited":
            body = error_body(
                "the demo model is over capacity", "rate_limit_error", code="rate_limit_exceeded"
            )
            return _plain(request, 429, body, extra=f"Retry-After: {self.settings.retry_after_s}\r\n")
        if kind == "server_error":
            return _plain(request, 500, error_body("the demo model fails on purpose", "server_error"))
        if kind == "unavailable":
            return _plain(
                request, 503, error_body("the demo model is unavailable on purpose", "overloaded_error")
            )
        if kind == "html":
            head = response_head(200, "text/html; charset=utf-8", len(_PAGE), keep_alive=request.keep_alive)
            return Response([head + _PAGE], request.keep_alive)
        if kind == "half_stream":
            return _halved(self._complete(request, form, stream))
        return Response([], False, self.settings.hang_s if kind == "timeout" else 0.0)

    def _refuse(
        self,
        request: HttpRequest | None,
        status: int,
        message: str,
        *,
        allow: str = "",
        param: str | None = None,
        code: str | None = None,
    ) -> Response:
        self.counters.refused += 1
        body = error_body(message, "invalid_request_error", param=param, code=code)
        return _plain(request, status, body, extra=f"Allow: {allow}\r\n" if allow else "")


def _plain(request: HttpRequest | None, status: int, body: bytes, *, extra: str = "") -> Response:
    keep_alive = request is not None and request.keep_alive
    head = response_head(status, _JSON, len(body), keep_alive=keep_alive, extra=extra)
    if request is not None and request.method == "HEAD":  # gives the length of the body but does not send it
        return Response([head], keep_alive)
    return Response([head + body], keep_alive)


def _halved(response: Response) -> Response:
    """Return a response that breaks off: some of its pieces, or half of its bytes, then the end of the connection."""
    if len(response.pieces) > 1:
        kept = response.pieces[: len(response.pieces) // 2]
    else:
        whole = response.pieces[0]
        body = whole.find(b"\r\n\r\n") + 4
        kept = [whole[: body + (len(whole) - body) // 2]]
    return Response(kept, False, response.delay_s, response.gap_s)
