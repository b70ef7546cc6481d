"""Apply limits, stop texts and log-probabilities to the demo model's answers, and write the JSON bodies, event streams and
errors of the OpenAI-compatible routes.
"""

from __future__ import annotations

import orjson
from msgspec import Struct

from benchwright.core import EchoedTokens, JsonObject, JsonValue, Route
from benchwright.demo._words import Reader, count_tokens, split_tokens, token_offsets
from benchwright.endpoints import SERVED_BY_DEMO


class DemoChoice(Struct):
    """One answer of the demo model."""

    text: str
    """The generated text; with `echo`, the prompt in front of it."""
    finish_reason: str
    """stop, length or tool_calls."""
    tokens: int
    """Tokens generated."""
    tool_calls: list[JsonValue] | None = None
    """Tool calls in the form of the chat route."""
    logprobs: EchoedTokens | None = None
    """Tokens with log-probabilities, if requested."""
    stopped_by: str = ""
    """The stop text that ended it, which OpenAI's routes leave out and TGI keeps."""


class DemoCompletion(Struct):
    """The demo model's reply to one request."""

    choices: list[DemoChoice]
    """One per prompt and `n`."""
    prompt_tokens: int
    """Tokens of all prompts."""


def cut(text: str, limit: int | None, stops: list[str]) -> DemoChoice:
    """End a text at its limit or at a stop text, whichever comes first."""
    count = count_tokens(text)
    reason = "stop"
    if limit is not None and count > limit:
        text = "".join(split_tokens(text)[:limit])
        count = limit
        reason = "length"
    if stops:
        found = [(at, stop) for stop in stops if (at := text.find(stop)) >= 0]
        if found:
            at, stop = min(found)
            text = text[:at]
            return DemoChoice(text, "stop", count_tokens(text), stopped_by=stop)
    return DemoChoice(text, reason, count)


def echoed(reader: Reader, text: str, top: int) -> EchoedTokens:
    """Return the log-probabilities of a whole text, from its start."""
    tokens, logprobs, tops = reader.score(text, top)
    return EchoedTokens(tokens, logprobs, [*token_offsets(tokens)], tops)


def followed(reader: Reader, tokens: list[str], top: int) -> EchoedTokens:
    """Return the log-probabilities of given tokens after the text that the reader has read."""
    logprobs: list[float | None] = []
    tops: list[dict[str, float] | None] = []
    for token in tokens:
        logprobs.append(reader.logprob(token))
        tops.append(reader.alternatives(top, token) if top else None)
        reader.follow(token)
    return EchoedTokens(tokens, logprobs, [*token_offsets(tokens)], tops)


def shortened(scored: EchoedTokens, chars: int) -> EchoedTokens:
    """Cut tokens to the first `chars` characters, where a stop text ended the text; the last token may be cut too."""
    kept = sum(1 for offset in scored.text_offset if offset is not None and offset < chars)
    tokens = scored.tokens[:kept]
    surplus = sum(map(len, tokens)) - chars
    if tokens and surplus > 0:
        tokens[-1] = tokens[-1][:-surplus]
    return EchoedTokens(
        tokens, scored.token_logprobs[:kept], scored.text_offset[:kept], scored.top_logprobs[:kept]
    )


def after(prompt: EchoedTokens, generated: EchoedTokens) -> EchoedTokens:
    """Join the tokens of a prompt and of the text generated after it."""
    shift = sum(map(len, prompt.tokens))
    return EchoedTokens(
        prompt.tokens + generated.tokens,
        prompt.token_logprobs + generated.token_logprobs,
        prompt.text_offset + [None if offset is None else offset + shift for offset in generated.text_offset],
        prompt.top_logprobs + generated.top_logprobs,
    )


_DONE = b"data: [DONE]\n\n"


def reply_head(kind: str, form: str, model: str, number: int) -> JsonObject:
    """Return the fields with which the replies of all of OpenAI's routes begin."""
    return {
        "id": f"{kind}-demo-{number}",
        "object": form,
        "model": model,
        "system_fingerprint": SERVED_BY_DEMO,
    }


def reply_body(completion: DemoCompletion, route: Route, model: str, number: int, created: int) -> bytes:
    """Return the body of a complete reply."""
    chat = route == "chat"
    kind, form = ("chatcmpl", "chat.completion") if chat else ("cmpl", "text_completion")
    reply: JsonObject = {
        **reply_head(kind, form, model, number),
        "created": created,
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
    """Return the events of a streamed reply. Each of the first `n` has one token; the last closes the stream.

    Events that are sent at the same time are one item: the role comes with the first token; the finish reason, the
    usage and the end marker come together at the end.
    """
    chat = route == "chat"
    kind, form = ("chatcmpl", "chat.completion.chunk") if chat else ("cmpl", "text_completion")
    head = orjson.dumps({**reply_head(kind, form, model, number), "created": created})[:-1]
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
    """Return an error body in the form that clients expect."""
    return orjson.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})


def models_body(model: str) -> bytes:
    """Return the list of models, which has one."""
    return b'{"object":"list","data":[' + model_body(model) + b"]}"


def model_body(model: str) -> bytes:
    """Return the description of the model."""
    return orjson.dumps({"id": model, "object": "model", "created": 0, "owned_by": "benchwright"})


def _event(head: bytes, choice: JsonObject) -> bytes:
    return b"data: " + head + b',"choices":[' + orjson.dumps(choice) + b"]}\n\n"


def _pieces(at: int, choice: DemoChoice, chat: bool) -> list[JsonObject]:
    """Return the choice objects of a stream, one per token."""
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
    """Split tool calls into pieces: the name first, then the arguments token by token."""
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
