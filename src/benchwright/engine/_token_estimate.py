"""Tokens of a call whose server counts none: an estimate, for the budget only."""

from __future__ import annotations

from benchwright.benchmarks import estimate_tokens
from benchwright.core import JsonObject, JsonValue, ModelReply


def estimated_tokens(body: JsonObject, reply: ModelReply) -> int:
    """About how many tokens a call took: of the request the texts, of the reply the thinking too.

    >>> estimated_tokens({"messages": [{"role": "user", "content": "12345678"}]}, ModelReply("answered", "abc"))
    3
    """
    sent = _text_chars(body.get("messages")) + _text_chars(body.get("prompt"))
    return estimate_tokens(sent + len(reply.text) + len(reply.reasoning))


def _text_chars(value: JsonValue) -> int:
    """Characters of a text, of messages, or of the text parts of one; images and sounds have none."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(_text_chars, value))
    if isinstance(value, dict):
        return _text_chars(value.get("content")) + _text_chars(value.get("text"))
    return 0
