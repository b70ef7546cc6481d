"""OpenAI's responses route, as the demo server speaks it."""

from __future__ import annotations

from typing import Any

import orjson

from benchwright.core import JsonObject, JsonValue, Route
from benchwright.endpoints._demo.bodies import DemoRefusalError
from benchwright.endpoints._demo.choices import DemoChoice, DemoCompletion
from benchwright.endpoints._demo.tokens import split_tokens
from benchwright.endpoints._demo.wire import error_body

_SAME = ("model", "temperature", "top_p", "stream", "parallel_tool_calls", "seed")


class ResponsesForm:
    """Implements `Form`."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """The input as messages."""
        given = body.get("input")
        items: list[Any] = given if isinstance(given, list) else [{"role": "user", "content": given}]
        if not items or (not isinstance(given, list) and not isinstance(given, str)):
            raise DemoRefusalError("'input' must be a text or a list of items", "input")
        asked: JsonObject = {name: body[name] for name in _SAME if name in body}
        asked["messages"] = [_message(item) for item in items]
        if body.get("max_output_tokens") is not None:
            asked["max_tokens"] = body["max_output_tokens"]
        tools = body.get("tools")
        if isinstance(tools, list):
            asked["tools"] = [_nested(tool) for tool in tools]
        if body.get("tool_choice") is not None:
            asked["tool_choice"] = _nested(body["tool_choice"])
        return "chat", asked

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """A response object."""
        return orjson.dumps(self._response(completion, model, number))

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """Pieces of the text, then the whole response."""
        response = self._response(completion, model, number)
        started = _event("response.created", response={**response, "status": "in_progress", "output": []})
        events = [
            _event(
                "response.output_text.delta", item_id="msg_demo", output_index=0, content_index=0, delta=token
            )
            for token in split_tokens(completion.choices[0].text)
        ]
        last = _event(f"response.{response['status']}", response=response)
        if not events:
            return [started + last]
        events[0] = started + events[0]
        return [*events, last]

    def headers(self, completion: DemoCompletion) -> str:
        """None."""
        return ""

    def error(self, message: str) -> bytes:
        """As on the other OpenAI routes."""
        return error_body(message, "invalid_request_error")

    def _response(self, completion: DemoCompletion, model: str, number: int) -> JsonObject:
        choice = completion.choices[0]
        cut = choice.finish_reason == "length"
        return {
            "id": f"resp-demo-{number}",
            "object": "response",
            "status": "incomplete" if cut else "completed",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "model": model,
            "output": _output(choice),
            "usage": {
                "input_tokens": completion.prompt_tokens,
                "output_tokens": choice.tokens,
                "total_tokens": completion.prompt_tokens + choice.tokens,
            },
        }


def _message(item: Any) -> JsonValue:
    """An item as a chat message."""
    if not isinstance(item, dict):
        raise DemoRefusalError("each item of 'input' must be an object", "input")
    kind = item.get("type")
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    if kind == "function_call":
        return {"role": "assistant", "content": None}
    content = item.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return {"role": item.get("role"), "content": content}


def _nested(tool: JsonValue) -> JsonValue:
    if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool:
        return {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}
    return tool


def _output(choice: DemoChoice) -> list[JsonValue]:
    if choice.tool_calls is None:
        content: list[JsonValue] = [{"type": "output_text", "text": choice.text, "annotations": []}]
        return [{"id": "msg_demo", "type": "message", "role": "assistant", "content": content}]
    items: list[JsonValue] = []
    for call in choice.tool_calls:
        assert isinstance(call, dict)
        function = call["function"]
        assert isinstance(function, dict)
        items.append({"type": "function_call", "call_id": call["id"], **function})
    return items


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: ".encode() + orjson.dumps({"type": kind, **fields}) + b"\n\n"
