"""Reads the usual reply quickly: one text, a known end, counted tokens, and nothing else that counts.

Most replies are like that. Their JSON is read into the few fields that matter, and checked on the way; in Python the same
takes three times as long. Whatever is unusual is left to `read_reply`, which knows all forms and names all faults. So what
is declared here may be too narrow, but never too wide: `tests/endpoints/test_plain_replies.py` holds both against each
other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, MsgspecError, Struct
from msgspec.json import Decoder

from benchwright.core import MAX_DEPTH, CallTimes, ModelReply, ModelRequest, TokenUsage
from benchwright.endpoints._endpoint import is_captured
from benchwright.endpoints._refused_settings import without_stop
from benchwright.endpoints._settings import SERVED_BY_DEMO
from benchwright.endpoints._transport import Stamps

_Text: TypeAlias = Annotated[str, Meta(min_length=1)]
_NoText: TypeAlias = Literal[""] | None
_NoList: TypeAlias = Annotated[list[Any], Meta(max_length=0)] | None
_Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**62)]
_End: TypeAlias = Literal["stop", "length"] | None


class _Details(Struct, gc=False):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct, gc=False):
    prompt_tokens: _Count
    completion_tokens: _Count
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Message(Struct, gc=False):
    content: _Text
    reasoning_content: _NoText = None
    reasoning: _NoText = None
    refusal: _NoText = None
    tool_calls: _NoList = None
    function_call: None = None


class _ChatChoice(Struct, gc=False):
    message: _Message
    finish_reason: _End = None


class _CompletionsChoice(Struct, gc=False):
    text: _Text
    finish_reason: _End = None
    reasoning_content: _NoText = None
    reasoning: _NoText = None
    content: None = None
    logprobs: None = None


class _ChatReply(Struct, gc=False):
    choices: Annotated[list[_ChatChoice], Meta(min_length=1)]
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None


class _CompletionsReply(Struct, gc=False):
    choices: Annotated[list[_CompletionsChoice], Meta(min_length=1)]
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None


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


_read_chat = Decoder(_ChatReply).decode
_read_completions = Decoder(_CompletionsReply).decode


def plain_reply(body: bytes, request: ModelRequest, stamps: Stamps) -> ModelReply | None:
    """The reply in the body of a whole answer, if it is a plain one; None: to be read by `read_reply`."""
    asked = request.body
    if "echo" in asked or is_captured():
        return None
    if len(body) > 2 * MAX_DEPTH and body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        return None
    try:
        if not body.isascii():
            body.decode()  # texts that nobody reads are not decoded, and must be valid all the same
        if request.route == "chat":
            reply: _ChatReply | _CompletionsReply
            reply = chat = _read_chat(body)
            choice: _ChatChoice | _CompletionsChoice = chat.choices[0]
            text = chat.choices[0].message.content
        else:
            reply = completion = _read_completions(body)
            choice = completion.choices[0]
            text = completion.choices[0].text
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if "think>" in text or text.isspace():
        return None
    usage, served = reply.usage, reply.model
    if reply.system_fingerprint == SERVED_BY_DEMO:
        served = SERVED_BY_DEMO
    elif not served or served == asked.get("model"):
        served = None
    read = ModelReply(
        "answered",
        text,
        "",
        choice.finish_reason,
        None if usage is None else _tokens(usage),
        None,
        None,
        None,
        stamps.attempts,
        stamps.started_at,
        CallTimes(stamps.planned, stamps.sent, stamps.first_byte, last_byte=stamps.last_byte),
        served,
    )
    return without_stop(read, request) if "stop" in asked else read
