"""From a chat or completions body to one of OpenAI's responses route."""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonObject, JsonValue, ModelRequest
from benchwright.endpoints._wires.wire import UnsendableRequestError

_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_DROPPED = ("messages", "prompt", "stream_options")


def responses_body(request: ModelRequest) -> JsonObject:
    """The body to send. What the route does not rename goes through as it is.

    `store` is false unless the body says otherwise: rows of an evaluation are nobody's to keep.
    """
    body = request.body
    if body.get("stop"):
        raise UnsendableRequestError(
            "the responses route knows no stop texts, and ignoring them would change the answers. "
            "Leave --stop out, or use --api openai"
        )
    # `stream` is always said: `transformers serve` streams unless it is false.
    sent: JsonObject = {"model": body.get("model"), "input": _input(request), "store": False, "stream": False}
    for name, value in body.items():
        if name in _DROPPED or name == "model":
            continue
        if name == "tools" and isinstance(value, list):
            sent["tools"] = [_flat(tool) for tool in value]
        elif name == "tool_choice":
            sent["tool_choice"] = _flat(value)
        elif name == "response_format":
            sent["text"] = {"format": _format(value)}
        elif name == "reasoning_effort":
            sent["reasoning"] = {"effort": value}
        else:
            sent[_RENAMED.get(name, name)] = value
    return sent


def _input(request: ModelRequest) -> JsonValue:
    if request.route == "completions":
        return request.body.get("prompt")
    messages = request.body.get("messages")
    items: list[JsonValue] = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            items += _items(message)
    return items


def _items(message: dict[str, Any]) -> list[JsonValue]:
    """A message; tool calls and their results are items of their own here."""
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        return [{"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": content}]
    items: list[JsonValue] = []
    if content is not None and content != "":
        parts = [_part(part) for part in content] if isinstance(content, list) else content
        items.append({"role": role, "content": parts})
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        items.append(
            {
                "type": "function_call",
                "call_id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments"),
            }
        )
    return items


def _part(part: Any) -> JsonValue:
    """A content part under its name here."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return {"type": "input_text", "text": part.get("text")}
    if kind == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        detail = image.get("detail") if isinstance(image, dict) else None
        return {"type": "input_image", "image_url": url, "detail": detail or "auto"}
    if kind in ("input_text", "input_image", "input_file", "input_audio"):
        found: JsonValue = part
        return found
    raise UnsendableRequestError(
        f"content parts of type {kind!r} cannot be sent to the responses route. Use --api openai"
    )


def _flat(tool: JsonValue) -> JsonValue:
    """`{"type": "function", "function": {…}}` without the inner object."""
    function = tool.get("function") if isinstance(tool, dict) else None
    return {"type": "function", **function} if isinstance(function, dict) else tool


def _format(wanted: JsonValue) -> JsonValue:
    schema = wanted.get("json_schema") if isinstance(wanted, dict) else None
    return {"type": "json_schema", **schema} if isinstance(schema, dict) else wanted
