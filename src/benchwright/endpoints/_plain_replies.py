"""Reads the usual reply quickly: one text, a known end, counted tokens, and nothing else that counts.

Most replies are like that. Their JSON is read into the few fields that matter, and checked on the way; in Python the same
takes three times as long. Whatever is unusual is left to `read_reply`, which knows all forms and names all faults. So what
is declared here may be too narrow, but never too wide: `tests/endpoints/test_plain_replies.py` holds both against each
other.

A usual stream is read the same way once it is complete: its first and its last events by their fields, and those between
them, which look alike, by their texts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, MsgspecError, Struct
from msgspec.json import Decoder

from benchwright.core import (
    FAST_PATHS,
    MAX_DEPTH,
    CallTimes,
    ModelReply,
    ModelRequest,
    Route,
    TokenUsage,
    ready,
)
from benchwright.endpoints._copies import may_have_copies, times_sent
from benchwright.endpoints._endpoint import is_captured
from benchwright.endpoints._refused_settings import without_stop
from benchwright.endpoints._replies import MOST_TOKENS
from benchwright.endpoints._settings import SERVED_BY_DEMO
from benchwright.endpoints._transport import Stamps
from benchwright.endpoints._wires.alike import MOST_BYTES, Shapes

_BEFORE, _AFTER = b"data: ", b"\n\n"
_END_MARK = b"data: [DONE]\n\n"
_MOST_LAST_EVENTS = 3  # after the last text: a finish reason, token counts
_Text: TypeAlias = Annotated[str, Meta(min_length=1)]
_NoText: TypeAlias = Literal[""] | None
_NoList: TypeAlias = Annotated[list[Any], Meta(max_length=0)] | None
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]
_End: TypeAlias = Literal["stop", "length"] | None


class _Details(Struct, gc=False):
    cached_tokens: _Count | None = None
    reasoning_tokens: _Count | None = None


class _Usage(Struct, gc=False):
    prompt_tokens: _Count
    completion_tokens: _Count
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Said(Struct, gc=False, kw_only=True):
    reasoning_content: _NoText = None
    reasoning: _NoText = None
    refusal: _NoText = None
    tool_calls: _NoList = None


class _Message(_Said, gc=False, kw_only=True):
    content: _Text
    function_call: None = None


class _Delta(_Said, gc=False, kw_only=True):
    content: str | None = None


class _Choice(Struct, gc=False, kw_only=True):
    index: Literal[0] | None = None
    finish_reason: _End = None


class _ChatChoice(_Choice, gc=False, kw_only=True):
    message: _Message


class _CompletionsChoice(_Choice, gc=False, kw_only=True):
    text: _Text
    reasoning_content: _NoText = None
    reasoning: _NoText = None
    content: None = None
    logprobs: None = None


class _ChatPiece(_Choice, gc=False, kw_only=True):
    delta: _Delta


class _CompletionsPiece(_Choice, gc=False, kw_only=True):
    text: str | None


class _Body(Struct, gc=False, kw_only=True):
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None


class _ChatReply(_Body, gc=False, kw_only=True):
    choices: Annotated[list[_ChatChoice], Meta(min_length=1)]
    id: str | int | None = None


class _CompletionsReply(_Body, gc=False, kw_only=True):
    choices: Annotated[list[_CompletionsChoice], Meta(min_length=1)]
    id: str | int | None = None


class _Event(_Body, gc=False, kw_only=True):
    error: None = None
    id: str | None = None
    created: int | None = None


class _ChatEvent(_Event, gc=False, kw_only=True):
    choices: Annotated[list[_ChatPiece], Meta(max_length=1)] | None = None

    def said(self) -> tuple[str, _End]:
        if not self.choices:
            return "", None
        piece = self.choices[0]
        return piece.delta.content or "", piece.finish_reason


class _CompletionsEvent(_Event, gc=False):
    choices: Annotated[list[_CompletionsPiece], Meta(max_length=1)] | None = None

    def said(self) -> tuple[str, _End]:
        if not self.choices:
            return "", None
        piece = self.choices[0]
        return piece.text or "", piece.finish_reason


class _UnusualError(Exception):
    """A piece that is not one event of one line."""


def _read_event(piece: bytes, route: Route) -> _ChatEvent | _CompletionsEvent:
    data = piece[len(_BEFORE) : -len(_AFTER)]
    if not (piece.startswith(_BEFORE) and piece.endswith(_AFTER)) or b"\n" in data:
        raise _UnusualError
    if len(data) > 2 * MAX_DEPTH and data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        raise _UnusualError
    if not data.isascii():
        data.decode()  # unused texts are not decoded below, but must still be valid
    return _chat_event_reader()(data) if route == "chat" else _completions_event_reader()(data)


def _tokens(usage: _Usage) -> TokenUsage:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    if prompt is None and completion is None:
        return TokenUsage(usage.prompt_tokens, usage.completion_tokens)
    return TokenUsage(
        usage.prompt_tokens,
        usage.completion_tokens,
        "server",
        None if prompt is None else prompt.cached_tokens,
        None if completion is None else completion.reasoning_tokens,
    )


# Made when first needed, as a run reads one form of the four, and not before a request is on its way.
@cache
def _chat_reader() -> Callable[[bytes], _ChatReply]:
    return Decoder(ready(_ChatReply)).decode


@cache
def _completions_reader() -> Callable[[bytes], _CompletionsReply]:
    return Decoder(ready(_CompletionsReply)).decode


@cache
def _chat_event_reader() -> Callable[[bytes], _ChatEvent]:
    return Decoder(ready(_ChatEvent)).decode


@cache
def _completions_event_reader() -> Callable[[bytes], _CompletionsEvent]:
    return Decoder(ready(_CompletionsEvent)).decode


def plain_reply(body: bytes, request: ModelRequest, stamps: Stamps) -> ModelReply | None:
    """The reply in the body of a whole answer, if it is a plain one; None: to be read by `read_reply`."""
    asked = request.body
    if "echo" in asked or is_captured() or not FAST_PATHS:
        return None
    if len(body) > 2 * MAX_DEPTH and body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        return None
    try:
        if not body.isascii():
            body.decode()  # as above
        if request.route == "chat":
            reply: _ChatReply | _CompletionsReply
            reply = chat = _chat_reader()(body)
            choice: _ChatChoice | _CompletionsChoice = chat.choices[0]
            text = chat.choices[0].message.content
        else:
            reply = completion = _completions_reader()(body)
            choice = completion.choices[0]
            text = completion.choices[0].text
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if "think>" in text or text.isspace():
        return None
    times = CallTimes(stamps.planned, stamps.sent, stamps.first_byte, last_byte=stamps.last_byte)
    return _answered(text, choice.finish_reason, reply.usage, reply, request, stamps, times)


def _answered(
    text: str,
    end: _End,
    usage: _Usage | None,
    source: _ChatReply | _CompletionsReply | _Event,
    request: ModelRequest,
    stamps: Stamps,
    times: CallTimes,
) -> ModelReply:
    asked, served = request.body, source.model
    if source.system_fingerprint == SERVED_BY_DEMO:
        served = SERVED_BY_DEMO
    elif not served or served == asked.get("model"):
        served = None
    read = ModelReply(
        "answered",
        text,
        "",
        end,
        None if usage is None else _tokens(usage),
        None,
        None,
        None,
        stamps.attempts,
        stamps.started_at,
        times,
        served,
        reply_id=None if stamps.arrivals is None else stamps.reply_id(source.id),
        request_id=stamps.request_id,
    )
    return without_stop(read, request) if "stop" in asked else read


def plain_stream(
    pieces: list[bytes], times: list[float], request: ModelRequest, stamps: Stamps, shapes: Shapes, limit: int
) -> ModelReply | None:
    """The reply in all the pieces of a stream, if it is a plain one: each piece an event, most of them like those of earlier
    streams. None: to be read event by event, and nothing is stamped. `limit`: bytes that an event may have."""
    route, after = request.route, shapes.after
    if (
        pieces[-1] != _END_MARK
        or "echo" in request.body
        or limit <= 2 * MOST_BYTES
        or is_captured()
        or not FAST_PATHS
    ):
        return None
    if pieces[:1] == pieces[1:2]:  # perhaps all events came twice
        return None
    try:
        first = _read_event(pieces[0], route)
        shape = shapes.of_answer(first.id, first.created, route)
        if shape is None:
            return None
        texts = shape.values(pieces[1 : -1 - after])
        if texts is None:  # fewer or more events than in earlier streams may follow the texts
            after = shapes.after = shape.count_after(pieces[1:-1], _MOST_LAST_EVENTS)
            between = pieces[1 : -1 - after]
            texts = shape.values(between) if between else []  # a short reply has one text
        if texts is None:
            return None
        begun, end = first.said()
        usage = first.usage
        texts.insert(0, begun)
        last = pieces[-1 - after : -1]
        if len({*last}) < len(last):
            return None
        for piece in last:
            event = _read_event(piece, route)
            said, ended = event.said()
            texts.append(said)
            end = ended or end
            usage = event.usage or usage
        text = "".join(texts)
    except (MsgspecError, TypeError, UnicodeDecodeError, RecursionError, _UnusualError):
        return None
    if end is None or "think>" in text or not text or text.isspace():
        return None
    if usage is not None and usage.completion_tokens < len(texts):
        given = [*filter(None, texts)]
        excess = len(given) - usage.completion_tokens
        if excess > 0:
            if times_sent([given], usage.completion_tokens) > 1:
                return None
            if not shapes.splits and may_have_copies(given, excess):
                return None
            shapes.splits = shapes.splits or usage.completion_tokens > 0
    place = 0
    while not texts[place]:
        place += 1
    stamps.first_event, stamps.last_byte = times[0], times[-1]
    stamps.first_token = stamps.first_answer = times[place]
    if stamps.arrivals is not None:
        stamps.arrivals += [at for at, piece in zip(times, texts, strict=False) if piece]
    return _answered(text, end, usage, first, request, stamps, stamps.times())
