"""The demo model's answers as the OpenAI-compatible routes send them: JSON bodies, event streams, errors."""

from __future__ import annotations

import orjson

from benchwright.core import EchoedTokens, JsonObject, JsonValue, Route
from benchwright.demo._choices import DemoChoice, DemoCompletion
from benchwright.demo._tokens import split_tokens
from benchwright.endpoints import SERVED_BY_DEMO

_DONE = b"data: [DONE]\n\n"


def reply_body(completion: DemoCompletion, route: Route, model: str, number: int, created: int) -> bytes:
    """A complete reply."""
    chat = route == "chat"
    reply: JsonObject = {
        "id": f"{'chatcmpl' if chat else 'cmpl'}-demo-{number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": created,
        "model": model,
        "system_fingerprint": SERVED_BY_DEMO,
        "choices": [
            _chat_choice(at, choice) if chat else _text_choice(at, choice)
            for at, choice in enumerate(completion.choices)
        ],
        "usage": _usage(completion),
    }
    return orjson.dumps(reply)


def stream_events(
    completion: DemoCompletion, route: Route, model: str, number: int, created: int, *, usage: bool
) -> list[bytes]:
    """The events of a streamed reply. Each of the first `n` carries one token; the last closes the stream.

    What belongs together in time is one item: the role comes with the first token, the finish reason, the
    usage and the end mark come together at the end.
    """
    chat = route == "chat"
    head = orjson.dumps(
        {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-demo-{number}",
            "object": "chat.completion.chunk" if chat else "text_completion",
            "created": created,
            "model": model,
            "system_fingerprint": SERVED_BY_DEMO,
        }
    )[:-1]
    events: list[bytes] = []
    closing = b""
    for at, choice in enumerate(completion.choices):
        opening = _event(head, {"index": at, "delta": {"role": "assistant", "content": ""}, "logprobs": None,
                                "finish_reason": None}) if chat else b""  # fmt: skip
        for piece in _pieces(at, choice, chat):
            events.append(opening + _event(head, piece))
            opening = b""
        end: JsonObject = {"index": at, "delta": {}} if chat else {"index": at, "text": ""}
        closing += opening + _event(head, {**end, "logprobs": None, "finish_reason": choice.finish_reason})
    if usage:
        closing += b"data: " + head + b',"choices":[],"usage":' + orjson.dumps(_usage(completion)) + b"}\n\n"
    events.append(closing + _DONE)
    return events


def error_body(message: str, kind: str, *, param: str | None = None, code: str | None = None) -> bytes:
    """An error in the shape clients expect."""
    return orjson.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})


def models_body(model: str) -> bytes:
    """The list of models: one."""
    return b'{"object":"list","data":[' + model_body(model) + b"]}"


def model_body(model: str) -> bytes:
    """The one model."""
    return orjson.dumps({"id": model, "object": "model", "created": 0, "owned_by": "benchwright"})


def _event(head: bytes, choice: JsonObject) -> bytes:
    return b"data: " + head + b',"choices":[' + orjson.dumps(choice) + b"]}\n\n"


def _pieces(at: int, choice: DemoChoice, chat: bool) -> list[JsonObject]:
    """The choice objects of a stream, one per token."""
    if choice.tool_calls is not None:
        return [_delta(at, {"tool_calls": [part]}) for part in _call_parts(choice.tool_calls)]
    scored = choice.logprobs
    tokens = split_tokens(choice.text) if scored is None else scored.tokens
    pieces: list[JsonObject] = []
    for index, token in enumerate(tokens):
        piece: JsonObject = (
            _delta(at, {"content": token}) if chat else {"index": at, "text": token, "finish_reason": None}
        )
        one = None if scored is None else _slice(scored, index)
        piece["logprobs"] = None if one is None else (_chat_logprobs(one) if chat else _text_logprobs(one))
        pieces.append(piece)
    return pieces


def _call_parts(calls: list[JsonValue]) -> list[JsonObject]:
    """A tool call in pieces: its name first, then its arguments token by token."""
    parts: list[JsonObject] = []
    for index, call in enumerate(calls):
        assert isinstance(call, dict)
        function = call["function"]
        assert isinstance(function, dict)
        opening: JsonObject = {"name": function["name"], "arguments": ""}
        parts.append({"index": index, "id": call["id"], "type": "function", "function": opening})
        parts += [
            {"index": index, "function": {"arguments": t}} for t in split_tokens(str(function["arguments"]))
        ]
    return parts


def _delta(at: int, delta: JsonObject) -> JsonObject:
    return {"index": at, "delta": delta, "logprobs": None, "finish_reason": None}


def _chat_choice(at: int, choice: DemoChoice) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": choice.text}
    if choice.tool_calls is not None:
        message = {"role": "assistant", "content": None, "tool_calls": choice.tool_calls}
    logprobs = None if choice.logprobs is None else _chat_logprobs(choice.logprobs)
    return {"index": at, "message": message, "logprobs": logprobs, "finish_reason": choice.finish_reason}


def _text_choice(at: int, choice: DemoChoice) -> JsonObject:
    logprobs = None if choice.logprobs is None else _text_logprobs(choice.logprobs)
    return {"index": at, "text": choice.text, "logprobs": logprobs, "finish_reason": choice.finish_reason}


def _usage(completion: DemoCompletion) -> JsonObject:
    produced = sum(choice.tokens for choice in completion.choices)
    return {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": produced,
        "total_tokens": completion.prompt_tokens + produced,
    }


def _text_logprobs(scored: EchoedTokens) -> JsonObject:
    return {
        "tokens": [*scored.tokens],
        "token_logprobs": [*scored.token_logprobs],
        "top_logprobs": [None if top is None else {**top} for top in scored.top_logprobs],
        "text_offset": [*scored.text_offset],
    }


def _chat_logprobs(scored: EchoedTokens) -> JsonObject:
    content: list[JsonValue] = []
    for token, value, top in zip(scored.tokens, scored.token_logprobs, scored.top_logprobs, strict=True):
        listed: list[JsonValue] = [_token_object(other, number) for other, number in (top or {}).items()]
        content.append({**_token_object(token, value), "top_logprobs": listed})
    return {"content": content, "refusal": None}


def _token_object(token: str, value: float | None) -> JsonObject:
    return {"token": token, "logprob": value, "bytes": [*token.encode("utf-8", "surrogatepass")]}


def _slice(scored: EchoedTokens, at: int) -> EchoedTokens:
    return EchoedTokens(
        [scored.tokens[at]], [scored.token_logprobs[at]], [scored.text_offset[at]], [scored.top_logprobs[at]]
    )
