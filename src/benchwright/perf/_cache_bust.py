"""Makes prompts that no server has seen before: each request begins with a unique word, so that no prefix cache has it."""

from __future__ import annotations

from msgspec.structs import replace

from benchwright.core import JsonObject, JsonValue, ModelRequest, encode_json

_BLANK = "request 0000000000000000: "
"""Placeholder for the word of a request. All words have this length, so that all prompts of a row have the same length."""


def word_of(nonce: str, number: int) -> str:
    """The first words of a request. The nonce is new in every test, because servers remember earlier prompts.

    >>> word_of("a1b2c3d4", 255)
    'request a1b2c3d4000000ff: '
    """
    return f"request {nonce}{number & 0xFFFFFFFF:08x}: "


def with_blank(request: ModelRequest) -> ModelRequest:
    """The request with a placeholder for its word at the start of its prompt."""
    body = _begun(request.body, _BLANK)
    return replace(request, body=body, payload=encode_json(body))


def with_word(request: ModelRequest, word: str) -> ModelRequest:
    """A request of `with_blank` with its word. The payload is edited, not rebuilt, so that media are not encoded again."""
    head, _, tail = request.payload.partition(_BLANK.encode())
    return replace(request, body=_replaced(request.body, word), payload=b"".join((head, word.encode(), tail)))


def _begun(body: JsonObject, word: str) -> JsonObject:
    messages = body.get("messages")
    if not isinstance(messages, list):
        return {**body, "prompt": _text_after(body.get("prompt"), word)}
    first, *rest = messages
    if not isinstance(first, dict):
        return body
    return {**body, "messages": [{**first, "content": _text_after(first.get("content"), word)}, *rest]}


def _text_after(content: JsonValue, word: str) -> JsonValue:
    if isinstance(content, str):
        return word + content
    if isinstance(content, list):  # parts, of which some are media
        part: JsonObject = {"type": "text", "text": word}
        return [part, *content]
    return content


def _replaced(body: JsonObject, word: str) -> JsonObject:
    """The body with the word, for wire formats that build their payload from the body."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return {**body, "prompt": _swapped(body.get("prompt"), word)}
    first, *rest = messages
    assert isinstance(first, dict)  # `with_blank` made it
    return {**body, "messages": [{**first, "content": _swapped(first.get("content"), word)}, *rest]}


def _swapped(content: JsonValue, word: str) -> JsonValue:
    if isinstance(content, str):
        return word + content[len(_BLANK) :]
    assert isinstance(content, list)
    part: JsonObject = {"type": "text", "text": word}
    return [part, *content[1:]]
