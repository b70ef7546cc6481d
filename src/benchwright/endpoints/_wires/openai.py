"""OpenAI's chat and completions routes. Bodies and replies pass unchanged; streams are assembled.

The events of one stream differ only in a piece of text. Once such an event has been read, only the piece is read from
events with the same bytes before and after it, which takes a fifth of the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import groupby
from math import inf
from operator import eq, itemgetter
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
from benchwright.endpoints._copies import may_have_copies, times_sent
from benchwright.endpoints._replies import BadReply, is_content, kind_of
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.alike import Shape, Shapes, shape_of
from benchwright.endpoints._wires.call_pieces import CallPieces
from benchwright.endpoints._wires.wire import (
    BadEventError,
    EventCollector,
    RouteUrls,
    Urls,
    Wire,
    read_event,
    whole_choice,
)

DONE = b"[DONE]"
"""The data of the last event."""

_ASIDE = frozenset(("reasoning_content", "reasoning", "refusal"))
_MOST_SHAPES = 4  # learned in vain; after that, events that all differ are read one by one


class OpenAiWire:
    """Implements `Wire`. Remembers only whether the server accepts `stream_options`."""

    native = True
    format = WIRE_FORMATS["openai"]

    def __init__(self) -> None:
        self._sends_stream_options = True  # until the server objects
        self.shapes = Shapes()
        """The shapes of the events of its streams."""

    def urls(self, address: Address, model: str) -> Urls:
        """Below the base path."""
        chat, completions = (address.url_of(path) for path in ROUTE_PATHS.values())
        return {"chat": RouteUrls(chat, chat), "completions": RouteUrls(completions, completions)}

    def payload(self, request: ModelRequest) -> bytes:
        """The body unchanged; for a stream, with a request for token counts at its end. They do not change the answer, so the
        request is identified by its original body."""
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
        return StreamedReply(request.route, self.shapes)

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
    """Implements `Collector`: builds the JSON that a whole reply would have had."""

    __slots__ = (
        "_call_events", "_end", "_end_at", "_ends", "_from", "_known", "_learned", "_mixed", "_opened_at", "_opening", "_reasoning", "_refusal",
        "_route", "_shapes", "_usage", "finish_reason",
    )  # fmt: skip

    def __init__(self, route: Route, shapes: Shapes | None = None) -> None:
        super().__init__("choices")
        self._route = route
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._call_events: list[tuple[int, list[dict[str, Any]]]] = []  # each with its position
        self._end, self._end_at, self._ends = (
            b"",
            0,
            0,
        )  # the event with the finish reason: data, position, how often
        self._usage: JsonValue = None
        self._from: JsonObject = {}  # the model and server that the first event names
        self._shapes = shapes or Shapes()
        self._known: list[Shape] = []
        self._learned = 0
        self._opening, self._opened_at = (
            b"",
            0,
        )  # the first event, if it says nothing, and after how many texts it came again
        self._mixed = False  # whether events of different shapes alternate
        self.finish_reason: str | None = None

    @property
    def complete(self) -> bool:
        """Whether a finish reason came. `[DONE]` alone does not end an answer: servers also send it when they break off an
        answer, and some never send it."""
        return self.finish_reason is not None

    def add_alike(self, pieces: list[bytes], at: int) -> int:
        """Add pieces that are one event each, all of the same shape."""
        piece = pieces[at]
        for shape in self._known:
            if piece.startswith(shape.head) and piece.endswith(shape.tail):
                return self._add_run(shape, pieces, at)
        return 0

    def add_all(self, events: list[bytes]) -> None:
        """Add events that arrived together; events of one shape are read in one step."""
        at, count = 0, len(events)
        while at < count:
            data = events[at]
            alike = 0
            for shape in self._known:
                if shape.plain.fits(data):
                    alike = self._add_run(shape.plain, events, at)
                    break
            if alike:
                at += alike
                continue
            self.add_next(data)
            at += 1
            if self.done or self.error is not None:
                return

    def _add_run(self, shape: Shape, events: list[bytes], at: int) -> int:
        """Add events of a known shape, beginning with one at `at`. Returns how many there were, or 0 if one contains anything
        but a text in its place."""
        found = None
        stop = len(events)
        if not self._mixed:
            # The events after them: a finish reason, token counts, the end mark.
            last = max(at + 1, stop - 4)
            while stop > last and not shape.fits(events[stop - 1]):
                stop -= 1
            if stop > last or stop == at + 1:
                found = shape.texts(events[at:stop])
                self._mixed = found is None
        if found is None:
            stop = at + 1
            while stop < len(events) and shape.fits(events[stop]):
                stop += 1
            found = shape.texts(events[at:stop])
            if found is None:
                return 0
        self._learned = 0
        self.events += len(found)
        self.lacks = ""
        places: Iterable[int] = range(self.given, self.given + len(found))
        self.given += len(found)
        if "" in found:
            places = [place for place, text in zip(places, found, strict=True) if text]
            found = list(filter(None, found))
        self.tokens += places
        if shape.is_thought:
            self._reasoning += found
            self.thought = self.thought or bool(found)
        else:
            self.texts += found
            self.text_at += places
        return stop - at

    def add(self, data: bytes) -> None:
        """Take in the data of one event."""
        if len(data) < 20 and data.strip() == DONE:
            self.done = True
            return
        if data == self._end and self.tokens and self.tokens[-1] == self._end_at:
            # The end came with the last piece, and nothing since: an answer has one end, so this is a copy.
            self._ends += 1
            self.copied = "left_out"
            return
        event = read_event(data)
        self.events += 1
        if event.get("error"):
            self.error = event
            return
        if not self._from:
            self._from = {
                "id": event.get("id"),
                "model": event.get("model"),
                "system_fingerprint": event.get("system_fingerprint"),
            }
            self._known = self._shapes.of_stream(event, self._route)
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
                if finish is not None and not isinstance(finish, str):
                    raise BadEventError(f"the finish reason of an event is {kind_of(finish)}, not a text")
                if finish:  # only after the piece proved valid
                    if self.finish_reason is None:
                        self._end, self._end_at = data, self.given
                    self._ends += data == self._end
                    self.finish_reason = finish
                elif got and self._learned < _MOST_SHAPES:
                    self._learn_shape(data, event)
                elif not got and self.events == 1:
                    self._opening = data
                elif not got and data == self._opening:
                    self._opened_at = self._opened_at or len(self.texts)
                return

    def _learn_shape(self, data: bytes, event: dict[str, Any]) -> None:
        if any(shape.plain.fits(data) for shape in self._known):
            return
        self._learned += 1
        shape = shape_of(data, event, self._route)
        if shape is not None:
            self._known = [shape, *self._known[:_MOST_SHAPES]]
            self._shapes.keep(shape, event, self._route)

    def as_json(self) -> JsonObject | BadReply:
        """The whole reply. A stream that contains its end twice, and equal pieces in a row, is none: which of them are copies
        cannot be told."""
        calls = [pieces for _, pieces in self._call_events]
        if (self.text_at and self.text_at[-1] > self._end_at) or (
            self._call_events and self._call_events[-1][0] > self._end_at
        ):
            calls = self._first_answer(calls)
        counted = _counted(self._usage)
        times = times_sent((self.texts, self._reasoning, calls), counted)
        if times > 1:
            self.copied = "left_out"
            calls = calls[: len(calls) // times]
            del self._reasoning[len(self._reasoning) // times :]
            self._keep_texts(len(self.texts) // times)
        pieces = len(self.texts) + len(self._reasoning) + len(calls)
        fewer = not self._shapes.splits and counted < pieces
        again = self._begins_again()
        if fewer or again or self._ends > 1:
            excess = int(pieces - counted) if fewer else 0
            equal = again or any(
                may_have_copies(each, excess) for each in (self.texts, self._reasoning, calls)
            )
            if equal and self._ends > 1:
                return BadReply(
                    "the stream has its end more than once, and equal pieces in a row, which may be copies of each other"
                )
            if equal:
                self.copied = "suspected"
            elif fewer:
                self._shapes.splits = True
        text, reasoning, refusal = map("".join, (self.texts, self._reasoning, self._refusal))
        assembled = CallPieces.of(calls)
        if not assembled.readable and len(different := [event for event, _ in groupby(calls)]) < len(calls):
            once = CallPieces.of(different)
            self.copied = "left_out" if once.readable else "suspected"
            assembled = once if once.readable else assembled
        choice = whole_choice(self._route, self.finish_reason, text, reasoning, refusal, assembled.as_list())
        return {**self._from, "choices": [choice], "usage": self._usage}

    def _first_answer(self, calls: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """The calls of the first answer in a stream that went on after its end. If the rest is the same answer again, its text is
        left out too; else all of it is kept, as some servers give a finish reason too early."""
        said = bisect_right(self.text_at, self._end_at)
        called = bisect_right(self._call_events, self._end_at, key=itemgetter(0))
        times, left = divmod(len(self.texts) + len(calls), max(1, said + called))
        if left or self.texts != self.texts[:said] * times or calls != calls[:called] * times:
            return calls
        self.copied = "left_out"
        self._keep_texts(said)
        thoughts = len(self._reasoning) // times
        if self._reasoning == self._reasoning[:thoughts] * times:
            del self._reasoning[thoughts:]
        return calls[:called]

    def _keep_texts(self, count: int) -> None:
        """Leave out all texts but the first."""
        del self.texts[count:], self.text_at[count:]

    def _begins_again(self) -> bool:
        """Whether the event that opened the stream came again, and after it the texts from before."""
        if not self._opened_at:
            return False
        again = self.texts[self._opened_at :]
        return bool(again) and all(map(eq, again, self.texts[: self._opened_at]))

    def _add_choice(self, choice: dict[str, Any]) -> bool:
        """Add the piece of a choice. Returns whether it had any content."""
        if self._route == "completions":
            if self.lacks:
                self.lacks = "" if "text" in choice else "text in its choices"
            return self._add_content(choice.get("text"))
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            if delta is not None:
                raise BadEventError(f"the delta of an event is {kind_of(delta)}, not an object")
            delta = choice.get("message")  # some servers end with a whole message
            if not isinstance(delta, dict):
                self.lacks = self.lacks and "a delta in its choices"
                return False
            if self.texts or self._call_events:
                return False
        self.lacks = ""
        got = False
        for name, value in delta.items():
            if value is None or value == "" or name == "role":
                continue
            if name == "content":
                got |= self._add_content(value)
            elif name == "tool_calls":
                got |= self._add_calls(value)
            elif name == "function_call" and isinstance(value, dict):  # the older form of tool_calls
                got |= self._add_calls([{"index": 0, "function": value}])
            elif name in _ASIDE and isinstance(value, str):
                got = True
                if name == "refusal":
                    self._refusal.append(value)
                    self.add_act()
                elif name == "reasoning_content" or not delta.get("reasoning_content"):
                    self._reasoning.append(value)
                    self.add_thought()
        return got

    def _add_calls(self, calls: Any) -> bool:
        if not calls:
            return False
        if not isinstance(calls, list):
            raise BadEventError(f"the tool calls of an event are {kind_of(calls)}, not a list")
        for call in calls:
            if not isinstance(call, dict):
                raise BadEventError(f"a tool call of an event is {kind_of(call)}, not an object")
        self._call_events.append((self.given, calls))
        self.add_act()
        return True

    def _add_content(self, value: Any) -> bool:
        text = value if isinstance(value, str) else _content_text(value)
        if text:
            self.add_text(text)
        return bool(text)


def _counted(usage: JsonValue) -> float:
    """The tokens of the answer; infinitely many if the server did not count them."""
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else inf


def _content_text(value: Any) -> str | None:
    """The text of a piece of the answer."""
    if value is None:
        return None
    if not is_content(value):
        raise BadEventError(f"the content of an event is {kind_of(value)}, not a text")
    texts = [part.get("text") if isinstance(part, dict) else part for part in value]
    return "".join(text for text in texts if isinstance(text, str))


WIRE: type[Wire] = OpenAiWire
"""The class that speaks this format."""
