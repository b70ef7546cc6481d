"""OpenAI's chat and completions routes: what goes through untouched, and how their streams are put together."""

from __future__ import annotations

from typing import Any

from benchwright.core import (
    ROUTE_PATHS,
    WIRE_FORMATS,
    JsonObject,
    JsonValue,
    ModelRequest,
    RequestFailure,
    Route,
    encode_json,
)
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._replies import BadReply, is_content, kind_of
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.wire import BadEventError, RouteUrls, Urls, Wire, read_event

DONE = b"[DONE]"
"""The data of the last event."""


class OpenAiWire:
    """Implements `Wire`. Remembers only what a server cannot take (`stream_options`)."""

    native = True
    format = WIRE_FORMATS["openai"]

    def __init__(self) -> None:
        self._sends_stream_options = True  # until the server objects

    def urls(self, address: Address, model: str) -> Urls:
        """Below the base path."""
        chat, completions = (address.url_of(path) for path in ROUTE_PATHS.values())
        return {"chat": RouteUrls(chat, chat), "completions": RouteUrls(completions, completions)}

    def payload(self, request: ModelRequest) -> bytes:
        """The body as it is; for a stream, asking for token counts at its end. They do not change the answer,
        so the request's identity stays that of its own body."""
        if not request.body.get("stream"):
            return request.payload
        if "stream_options" in request.body:
            if self._sends_stream_options:
                return request.payload
            return encode_json({k: v for k, v in request.body.items() if k != "stream_options"})
        if self._sends_stream_options:
            return request.payload.rstrip()[:-1] + b',"stream_options":{"include_usage":true}}'
        return request.payload

    def collector(self, request: ModelRequest) -> StreamedReply:
        """For one stream."""
        return StreamedReply(request.route)

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """Nothing to do."""
        return data

    def learn(self, failure: RequestFailure, request: ModelRequest) -> bool:
        """Whether the server does not know `stream_options`."""
        objects = failure.http_status in (400, 422) and "stream_options" in failure.message
        if not objects or not request.body.get("stream"):
            return False
        self._sends_stream_options = False
        return True


class StreamedReply:
    """Implements `Collector`: the JSON that a whole reply would have been."""

    __slots__ = (
        "_calls", "_content", "_from", "_reasoning", "_refusal", "_route", "_usage", "done", "error",
        "events", "finish_reason", "lacks",
    )  # fmt: skip

    def __init__(self, route: Route) -> None:
        self._route = route
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: JsonValue = None
        self._from: JsonObject = {}  # who answers, as the first event says
        self.finish_reason: str | None = None
        self.done = False
        self.error: JsonObject | None = None
        self.events = 0
        self.lacks = "choices"

    @property
    def complete(self) -> bool:
        """Whether a finish reason came. `[DONE]` alone does not end an answer: servers also send it when they
        break an answer off, and some never send it."""
        return self.finish_reason is not None

    def add(self, data: bytes) -> bool:
        """Take in the data of one event."""
        if data == DONE or data.strip() == DONE:
            self.done = True
            return False
        event = read_event(data)
        self.events += 1
        if event.get("error"):
            self.error = event
            return False
        if not self._from:
            self._from = {name: event.get(name) for name in ("model", "system_fingerprint")}
        usage = event.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        choices = event.get("choices")
        if not choices:  # token counts, a filter's verdict
            return False
        if not isinstance(choices, list):
            raise BadEventError(f"the choices of an event are {kind_of(choices)}, not a list")
        for choice in choices:
            if not isinstance(choice, dict):
                raise BadEventError(f"a choice of an event is {kind_of(choice)}, not an object")
            if not choice.get("index"):
                got = self._add_choice(choice)
                finish = choice.get("finish_reason")
                if isinstance(finish, str) and finish:  # only once the piece was found good
                    self.finish_reason = finish
                return got
        return False

    def body_ended(self) -> None:
        """Says nothing: the end is announced."""

    def as_json(self) -> JsonObject:
        """The whole reply."""
        choice: JsonObject = {"finish_reason": self.finish_reason}
        if self._route == "completions":
            choice["text"] = "".join(self._content)
            choice["reasoning_content"] = "".join(self._reasoning)
        else:
            choice["message"] = {
                "content": "".join(self._content),
                "reasoning_content": "".join(self._reasoning),
                "refusal": "".join(self._refusal),
                "tool_calls": [self._calls[i] for i in sorted(self._calls)],
            }
        return {**self._from, "choices": [choice], "usage": self._usage}

    def _add_choice(self, choice: dict[str, Any]) -> bool:
        """Take in a choice's piece; whether it held any content."""
        if self._route == "completions":
            if self.lacks:
                self.lacks = "" if "text" in choice else "text in its choices"
            return _append(self._content, _content_text(choice.get("text")))
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            if delta is not None:
                raise BadEventError(f"the delta of an event is {kind_of(delta)}, not an object")
            delta = choice.get("message")  # some servers end with a whole message
            if not isinstance(delta, dict):
                self.lacks = self.lacks and "a delta in its choices"
                return False
            if self._content:
                return False
        self.lacks = ""
        got = _append(self._content, _content_text(delta.get("content")))
        got |= _append(self._reasoning, delta.get("reasoning_content") or delta.get("reasoning"))
        got |= _append(self._refusal, delta.get("refusal"))
        calls = delta.get("tool_calls")
        if calls:
            if not isinstance(calls, list):
                raise BadEventError(f"the tool calls of an event are {kind_of(calls)}, not a list")
            for position, call in enumerate(calls):
                if isinstance(call, dict):
                    self._add_call(call, position)
                    got = True
        return got

    def _add_call(self, piece: dict[str, Any], position: int) -> None:
        """Tool calls come in pieces: the name once, the arguments a few characters at a time."""
        index = piece.get("index")
        call = self._calls.setdefault(
            index if isinstance(index, int) else position,
            {"id": None, "type": "function", "function": {"name": "", "arguments": ""}},
        )
        if isinstance(piece.get("id"), str) and piece["id"]:
            call["id"] = piece["id"]
        function = piece.get("function")
        if isinstance(function, dict):
            for name in ("name", "arguments"):
                if isinstance(function.get(name), str):
                    call["function"][name] += function[name]


def _append(parts: list[str], value: Any) -> bool:
    """Keep a piece of text; whether there was any. Anything else is not looked at."""
    if isinstance(value, str) and value:
        parts.append(value)
        return True
    return False


def _content_text(value: Any) -> str | None:
    """A piece of the answer itself."""
    if value is None or isinstance(value, str):
        return value
    if not is_content(value):
        raise BadEventError(f"the content of an event is {kind_of(value)}, not a text")
    texts = [part.get("text") if isinstance(part, dict) else part for part in value]
    return "".join(text for text in texts if isinstance(text, str))


WIRE: type[Wire] = OpenAiWire
"""The class that speaks this format."""
