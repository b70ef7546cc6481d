"""OpenAI's chat and completions routes: what goes through untouched, and how their streams are put together.

The events of one stream look alike but for a piece of text. Once such an event has been read, the next ones that have the
same bytes before and after that piece are read by the piece alone, at a fifth of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

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
from benchwright.endpoints._wires.wire import BadEventError, EventCollector, RouteUrls, Urls, Wire, read_event

DONE = b"[DONE]"
"""The data of the last event."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_MOST_SHAPES = 4  # that are learned in vain: servers whose events all differ are read one by one


class Shape(NamedTuple):
    """The bytes around the text of an event that holds nothing else of interest."""

    head: bytes
    """Up to the opening quote."""
    tail: bytes
    """From after the closing quote."""
    name: str
    """Where the text belongs."""


_NO_SHAPE = Shape(b"\n", b"", "")  # which no event has


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


class StreamedReply(EventCollector):
    """Implements `Collector`: the JSON that a whole reply would have been."""

    __slots__ = (
        "_calls", "_content", "_from", "_learned", "_reasoning", "_refusal", "_route", "_shape", "_texts", "_usage",
        "finish_reason",
    )  # fmt: skip

    def __init__(self, route: Route) -> None:
        super().__init__("choices")
        self._route = route
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: JsonValue = None
        self._from: JsonObject = {}  # who answers, as the first event says
        self._shape: Shape | None = None
        self._texts: list[str] = []  # where the text of events of that shape goes
        self._learned = 0
        self.finish_reason: str | None = None

    @property
    def complete(self) -> bool:
        """Whether a finish reason came. `[DONE]` alone does not end an answer: servers also send it when they
        break an answer off, and some never send it."""
        return self.finish_reason is not None

    def add_all(self, events: Iterable[bytes]) -> None:
        """Take in events that came together, those that look alike at once."""
        alike: list[bytes] = []
        head, tail, _ = self._shape or _NO_SHAPE
        for data in events:
            if data.startswith(head) and data.endswith(tail):
                alike.append(data)
                continue
            if alike:
                self._add_alike(alike)
                alike = []
            self.add(data)
            head, tail, _ = self._shape or _NO_SHAPE
        if alike:
            self._add_alike(alike)

    def _add_alike(self, events: list[bytes]) -> None:
        """Take in events that have the known shape: all their texts as one JSON list."""
        assert self._shape is not None
        start, stop = len(self._shape.head), -len(self._shape.tail)
        # A line feed cannot be inside a JSON text, so no text can reach beyond its event.
        texts = [data[start:stop] for data in events]
        try:
            found = orjson.loads(b"[%b]" % b",\n".join(texts))
        except ValueError:
            found = []
        if len(found) != len(events) or set(map(type, found)) != {str}:
            for data in events:  # alike on both sides, and something else in between
                self.add(data)
            return
        self._learned = 0
        self.events += len(events)
        pieces = list(filter(None, found))
        self.content += len(pieces)
        self._texts += pieces

    def add(self, data: bytes) -> None:
        """Take in the data of one event."""
        if len(data) < 20 and data.strip() == DONE:
            self.done = True
            return
        event = read_event(data)
        self.events += 1
        if event.get("error"):
            self.error = event
            return
        if not self._from:
            self._from = {name: event.get(name) for name in ("model", "system_fingerprint")}
        usage = event.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        choices = event.get("choices")
        if not choices:  # token counts, a filter's verdict
            return
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
                elif got and self._learned < _MOST_SHAPES:
                    self._learn_shape(data, event)
                self.content += got
                return

    def _learn_shape(self, data: bytes, event: dict[str, Any]) -> None:
        self._learned += 1
        self._shape = shape = _shape_of(data, event, self._route)
        if shape is not None:
            self._texts = self._reasoning if shape.name.startswith("reasoning") else self._content

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
        got = False
        content = delta.get("content")
        if content is not None and content != "":
            got = _append(self._content, _content_text(content))
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            got |= _append(self._reasoning, thought)
        if refusal := delta.get("refusal"):
            got |= _append(self._refusal, refusal)
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


def _shape_of(data: bytes, event: dict[str, Any], route: Route) -> Shape | None:
    """The shape of an event that holds one piece of text and nothing else that is read; None for any other.

    >>> _shape_of(b'{"choices":[{"delta":{"content":"4"}}]}', {"choices": [{"delta": {"content": "4"}}]}, "chat")
    Shape(head=b'{"choices":[{"delta":{"content":', tail=b'}}]}', name='content')
    """
    if event.get("usage") or len(event["choices"]) != 1:
        return None
    choice = event["choices"][0]
    holder = choice if route == "completions" else choice.get("delta")
    if not isinstance(holder, dict):
        return None
    if route == "completions":
        names = ["text"]
    else:
        names = [name for name, value in holder.items() if value and name != "role"]
        if len(names) != 1 or names[0] not in ("content", "reasoning_content", "reasoning"):
            return None
    name = names[0]
    key = data.find(b'"%b":' % name.encode())
    literal = None if key < 0 else _STRING.search(data, key + len(name) + 3)
    if literal is None:
        return None
    shape = Shape(data[: literal.start()], data[literal.end() :], name)
    # With another text in its place the event must be the same but for that text.
    probe = orjson.loads(b'%b"\\u0001"%b' % (shape.head, shape.tail))
    text, holder[name] = holder[name], "\x01"
    same = probe == event
    holder[name] = text
    return shape if same else None


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
