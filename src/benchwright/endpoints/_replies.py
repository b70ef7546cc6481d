"""Reads the JSON of a chat or completions reply into a `ModelReply`. Pure; accepts any JSON value.

The status of a reply:

- `refused`: a `refusal` text, or finish reason `content_filter`;
- `truncated`: reasoning that never ended, or finish reason `length` before any answer text;
- `answered`: any answer text or tool call, even with finish reason `length` (which is recorded: an answer may be
  complete before the limit, and only the scorer can tell);
- `empty`: none of these, but null or blank content.

Finish reason `error` or `abort` is not a reply: the server broke off the answer (`BadReply`, treated like an error
object). A value of the wrong type in any of these places, or a choice without its field, is not a reply either
(`BadReply`).
"""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

from msgspec import Struct

from benchwright.core import EchoedTokens, JsonValue, ModelReply, ReplyStatus, Route, TokenUsage
from benchwright.endpoints._messages import Clean, words_of_json
from benchwright.endpoints._reasoning import split_reasoning
from benchwright.endpoints._settings import SERVED_BY_DEMO
from benchwright.endpoints._transport import Stamps

MOST_TOKENS = 10**9
"""The largest count of tokens of one call that is believed."""


class BadReply(Struct, frozen=True):
    """JSON that is not a reply of the route."""

    message: str
    """What it is instead, with the server's message."""
    error: bool = False
    """Whether the server sent an error object instead of an answer. It is treated like an error status."""
    code: int | None = None
    """HTTP status inside an error object, if it names one."""


def read_reply(
    data: JsonValue,
    route: Route,
    stamps: Stamps,
    raw_text: bool = False,
    clean: Clean = str,
    served: str | None = None,
) -> ModelReply | BadReply:
    """Read the JSON of a reply. With `raw_text` no reasoning is split off, because echoed prompts contain none. `clean`
    removes secrets from the message of a bad reply. `served` is the model name in the server's reply."""
    if not isinstance(data, dict):
        return BadReply(f"the reply is {kind_of(data)}, not an object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return _without_choices(data, clean)
    first = (each for each in choices if isinstance(each, dict) and not each.get("index"))
    choice: dict[str, Any] = next(first, choices[0])  # as in streams, in any order
    finish_reason = choice.get("finish_reason")
    if finish_reason is not None and not isinstance(finish_reason, str):
        return BadReply(f"the finish reason of the reply is {kind_of(finish_reason)}, not a text")
    if finish_reason in _BROKEN_OFF:
        return _broken_off(choice, finish_reason, clean)
    said = _said_in_chat(choice) if route == "chat" else _said_in_completion(choice)
    if isinstance(said, BadReply):
        return said
    text, reasoning, refusal, tool_calls = said
    unclosed = False
    if not reasoning and not raw_text and ("<think>" in text or "</think>" in text):
        text, reasoning, unclosed = split_reasoning(text)
    status: ReplyStatus
    if refusal or finish_reason == "content_filter":
        status, text = "refused", text or refusal
    elif unclosed:
        status = "truncated"
    elif tool_calls is not None or (text and not text.isspace()):
        status = "answered"
    else:
        status = "truncated" if finish_reason == "length" else "empty"
    usage = data.get("usage")
    logprobs = choice.get("logprobs") if route == "completions" else None
    return ModelReply(
        status,
        text,
        reasoning,
        finish_reason,
        read_usage(usage) if isinstance(usage, dict) else None,
        None,
        read_echoed(logprobs) if isinstance(logprobs, dict) else None,
        tool_calls,
        stamps.attempts,
        stamps.started_at,
        stamps.times(),
        served,
        reply_id=None if stamps.arrivals is None else stamps.reply_id(data.get("id")),
        request_id=stamps.request_id,
    )


_Said: TypeAlias = tuple[str, str, str, list[JsonValue] | None]
"""Text, reasoning, refusal and tool calls of a choice."""


def _said_in_chat(choice: dict[str, Any]) -> _Said | BadReply:
    message = choice.get("message")
    if not isinstance(message, dict):
        return BadReply("the reply's first choice has no message; is this a chat route?")
    content = message.get("content")
    if not isinstance(content, str) and not is_content(content):
        return BadReply(f"the content of the reply's message is {kind_of(content)}, not a text")
    calls = _tool_calls(message) if message.get("tool_calls") or "function_call" in message else None
    if isinstance(calls, BadReply):
        return calls
    refusal = message.get("refusal")
    return (
        _joined(content),
        _reasoning_field(message),
        refusal if isinstance(refusal, str) else "",
        calls,
    )


def _said_in_completion(choice: dict[str, Any]) -> _Said | BadReply:
    text = choice.get("text")
    if not isinstance(text, str):
        if text is not None:
            return BadReply(f"the text of the reply's first choice is {kind_of(text)}")
        if "text" not in choice:
            return BadReply("the reply's first choice has no text; is this a completions route?")
    return text or "", _reasoning_field(choice), "", None


def _tool_calls(message: dict[str, Any]) -> list[JsonValue] | BadReply | None:
    calls = message.get("tool_calls")
    if not calls:  # the older form, `function_call`
        old = message.get("function_call")
        return [{"type": "function", "function": old}] if isinstance(old, dict) else None
    if not isinstance(calls, list):
        return BadReply(f"the tool calls of the reply's message are {kind_of(calls)}, not a list")
    for call in calls:
        if not isinstance(call, dict):
            return BadReply(f"a tool call of the reply's message is {kind_of(call)}, not an object")
    return calls


_BROKEN_OFF = frozenset(("error", "abort"))
"""Finish reasons of servers (OpenRouter, SGLang, vLLM) that could not finish."""


def _broken_off(choice: dict[str, Any], reason: str | None, clean: Clean) -> BadReply:
    if choice.get("error"):
        return error_inside(choice, clean)
    return BadReply(f"status 200, but the server broke the answer off: finish reason {reason}", error=True)


def served_as(data: JsonValue, requested: JsonValue) -> str | None:
    """The model name in the reply if it is not the requested one, or the name that `simulate` gives itself."""
    if not isinstance(data, dict):
        return None
    if data.get("system_fingerprint") == SERVED_BY_DEMO:
        return SERVED_BY_DEMO
    name = data.get("model")
    return name if isinstance(name, str) and name and name != requested else None


def read_usage(usage: dict[str, Any]) -> TokenUsage | None:
    """Token counts, if the server gave at least one of them, and none that cannot be: a negative or absurd count would
    change sums and costs."""
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    given = [count for count in (prompt, completion) if isinstance(count, int)]
    if not given or not all(map(_is_count, given)):
        return None
    return TokenUsage(
        prompt if isinstance(prompt, int) else 0,
        completion if isinstance(completion, int) else 0,
        "server",
        _detail(usage, "prompt_tokens_details", "cached_tokens"),
        _detail(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _detail(usage: dict[str, Any], table: str, name: str) -> int | None:
    details = usage.get(table)
    found = details.get(name) if isinstance(details, dict) else None
    return found if isinstance(found, int) and _is_count(found) else None


def _is_count(value: int) -> bool:
    return 0 <= value <= MOST_TOKENS and not isinstance(value, bool)


def read_echoed(logprobs: dict[str, Any]) -> EchoedTokens | None:
    """Read the `logprobs` object of a completions choice; None if it lists no tokens."""
    tokens = logprobs.get("tokens")
    values = logprobs.get("token_logprobs")
    if tokens is None and isinstance(logprobs.get("content"), list):
        logprobs = _listed_tokens(logprobs["content"])
        tokens, values = logprobs["tokens"], logprobs["token_logprobs"]
    if not isinstance(tokens, list) or not isinstance(values, list) or not tokens:
        return None
    offsets = _list(logprobs.get("text_offset"))
    tops = _list(logprobs.get("top_logprobs"))
    # The types of whole lists are checked first: checking items took a quarter of a ranking run's time.
    if not set(map(type, tokens)) <= _TEXTS:
        tokens = [t if isinstance(t, str) else "" for t in tokens]
    if not set(map(type, values)) <= _NUMBERS:
        values = [v if _is_number(v) else None for v in values]
    if not set(map(type, offsets)) <= _INTEGERS:
        offsets = [o if isinstance(o, int) else None for o in offsets]
    if not (set(map(type, tops)) <= _TABLES and _all_numbers(tops)):
        tops = [
            {token: v for token, v in top.items() if _is_number(v)} if isinstance(top, dict) else None
            for top in tops
        ]
    return EchoedTokens(tokens, values, offsets, tops)


def _listed_tokens(content: list[Any]) -> dict[str, Any]:
    """Convert the form of the chat route, which llama.cpp also uses on the completions route, into four lists."""
    tokens = [token for token in content if isinstance(token, dict)]
    return {
        "tokens": [_token_text(token) for token in tokens],
        "token_logprobs": [token.get("logprob") for token in tokens],
        "top_logprobs": [
            {
                str(_token_text(top)): top.get("logprob")
                for top in _list(token.get("top_logprobs"))
                if isinstance(top, dict)
            }
            for token in tokens
        ],
    }


def _token_text(token: dict[str, Any]) -> Any:
    """The text of a token; its bytes, if it is a part of a character."""
    text, raw = token.get("token"), token.get("bytes")
    if not isinstance(text, str) or "\ufffd" not in text or not isinstance(raw, list):
        return text
    if not all(isinstance(byte, int) and 0 <= byte < 256 for byte in raw):
        return text
    return "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)


_TEXTS = {str}
_NUMBERS = {float, int, type(None)}
_INTEGERS = {int, type(None)}
_TABLES = {dict, type(None)}


def _all_numbers(tops: list[Any]) -> bool:
    return set(map(type, chain.from_iterable(top.values() for top in tops if top))) <= {float, int}


def _without_choices(data: dict[str, Any], clean: Clean) -> BadReply:
    if data.get("error"):
        return error_inside(data, clean)
    if "choices" in data:
        choices = data["choices"]
        if not isinstance(choices, list):
            return BadReply(f"the reply's choices are {kind_of(choices)}, not a list")
        if not choices:
            return BadReply("the reply's list of choices is empty")
        return BadReply(f"the reply's first choice is {kind_of(choices[0])}, not an object")
    keys = ", ".join(list(data)[:8]) or "nothing"
    return BadReply(f"the reply has no choices; it has {keys}. Does the server speak another API (--api)?")


def error_inside(data: dict[str, Any], clean: Clean = str, code: JsonValue = None) -> BadReply:
    """The failure for a reply with status 200 and an error object; `code` is given if the format names the status elsewhere."""
    error = data.get("error")
    if code is None and isinstance(error, dict):
        code = error.get("code")
    return BadReply(
        f"status 200, but with an error inside: {words_of_json(data, clean)}",
        error=True,
        code=code if isinstance(code, int) else None,
    )


def _reasoning_field(message: dict[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
    content = message.get("content")
    if isinstance(content, list):
        return "".join(
            _joined(part.get("thinking"))
            for part in content
            if isinstance(part, dict) and part.get("type") == "thinking"
        )
    return ""


def _joined(content: Any) -> str:
    """The text of content in parts; other kinds of parts (images, reasoning) have none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "".join(text for text in texts if isinstance(text, str))


def is_content(value: Any) -> bool:
    """Whether a value can be the content of a message: a text, parts, or nothing."""
    if isinstance(value, list):
        return all(isinstance(part, dict | str) for part in value)
    return value is None or isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def kind_of(value: Any) -> str:
    """The kind of a JSON value, for messages.

    >>> kind_of({}), kind_of(None)
    ('an object', 'null')
    """
    names = {"dict": "an object", "list": "a list", "str": "a text", "NoneType": "null", "bool": "a boolean"}
    return names.get(type(value).__name__, "a number")
