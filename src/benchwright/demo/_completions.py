"""Apply limits, stop texts and log-probabilities to the demo model's answers, and write the JSON bodies, event streams and
errors of the OpenAI-compatible routes.
"""

from __future__ import annotations

from itertools import accumulate
from time import time

import orjson
from msgspec import Struct
from msgspec.structs import asdict

from benchwright.core import EchoedTokens, JsonObject, JsonValue, Route
from benchwright.demo._words import ScoredToken, count_tokens, split_tokens
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
    logprobs: list[ScoredToken] | None = None
    """Tokens with log-probabilities, if requested."""
    stopped_by: str = ""
    """The stop text that ended it, which OpenAI's routes leave out and TGI keeps."""


class DemoCompletion(Struct):
    """The demo model's reply to one request."""

    choices: list[DemoChoice]
    """One per prompt and `n`."""
    prompt_tokens: int


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


def shortened(scored: list[ScoredToken], chars: int) -> list[ScoredToken]:
    """Cut tokens to the first `chars` characters, where a stop text ended the text; the last token may be cut too."""
    kept = []
    for token in scored:
        if chars <= 0:
            break
        kept.append(token._replace(text=token.text[:chars]))
        chars -= len(token.text)
    return kept


def echoed_tokens(scored: list[ScoredToken], start: int = 0) -> EchoedTokens:
    """Return tokens as the completions route sends them; `start` is the place of the first in the text."""
    offsets = accumulate((len(token.text) for token in scored[:-1]), initial=start) if scored else ()
    return EchoedTokens(
        [token.text for token in scored],
        [token.logprob for token in scored],
        [*offsets],
        [token.top for token in scored],
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


def reply_body(completion: DemoCompletion, route: Route, model: str, number: int) -> bytes:
    """Return the body of a complete reply."""
    chat = route == "chat"
    kind, form = ("chatcmpl", "chat.completion") if chat else ("cmpl", "text_completion")
    reply: JsonObject = {
        **reply_head(kind, form, model, number),
        "created": int(time()),
        "choices": [
            _chat_choice(at, choice) if chat else _text_choice(at, choice)
            for at, choice in enumerate(completion.choices)
        ],
        "usage": _usage(completion),
    }
    return orjson.dumps(reply)


def stream_events(
    completion: DemoCompletion, route: Route, model: str, number: int, *, usage: bool
) -> list[bytes]:
    """Return the events of a streamed reply. Each of the first `n` has one token; the last closes the stream.

    Events that are sent at the same time are one item: the role comes with the first token; the finish reason, the
    usage and the end marker come together at the end.
    """
    chat = route == "chat"
    kind, form = ("chatcmpl", "chat.completion.chunk") if chat else ("cmpl", "text_completion")
    head = orjson.dumps({**reply_head(kind, form, model, number), "created": int(time())})[:-1]
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
    tokens = choice.logprobs or [ScoredToken(token) for token in split_tokens(choice.text)]
    pieces: list[JsonObject] = []
    start = 0
    for token in tokens:
        piece: JsonObject = (
            _delta(at, {"content": token.text})
            if chat
            else {"index": at, "text": token.text, "finish_reason": None}
        )
        piece["logprobs"] = None if choice.logprobs is None else _logprobs([token], chat, start)
        pieces.append(piece)
        start += len(token.text)
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
    logprobs = None if choice.logprobs is None else _logprobs(choice.logprobs, True)
    return {"index": at, "message": message, "logprobs": logprobs, "finish_reason": choice.finish_reason}


def _text_choice(at: int, choice: DemoChoice) -> JsonObject:
    logprobs = None if choice.logprobs is None else _logprobs(choice.logprobs, False)
    return {"index": at, "text": choice.text, "logprobs": logprobs, "finish_reason": choice.finish_reason}


def _usage(completion: DemoCompletion) -> JsonObject:
    produced = sum(choice.tokens for choice in completion.choices)
    return {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": produced,
        "total_tokens": completion.prompt_tokens + produced,
    }


def _logprobs(scored: list[ScoredToken], chat: bool, start: int = 0) -> JsonObject:
    if not chat:
        written: JsonObject = asdict(echoed_tokens(scored, start))
        return written
    content: list[JsonValue] = []
    for token in scored:
        listed: list[JsonValue] = [_token_object(*other) for other in (token.top or {}).items()]
        content.append({**_token_object(token.text, token.logprob), "top_logprobs": listed})
    return {"content": content, "refusal": None}


def _token_object(token: str, value: float | None) -> JsonObject:
    return {"token": token, "logprob": value, "bytes": [*token.encode("utf-8", "surrogatepass")]}
