"""OpenAI's responses route, as the demo server speaks it."""

from __future__ import annotations

from time import time
from typing import Any

import orjson

from benchwright.core import JsonObject, JsonValue, Route
from benchwright.demo._completions import DemoChoice, DemoCompletion, error_body, reply_head
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._words import split_tokens

_SAME = ("model", "temperature", "top_p", "stream", "parallel_tool_calls", "seed")


class ResponsesForm:
    """Implements `Form`."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """The input as messages."""
        given = body.get("input")
        items: list[Any] = given if isinstance(given, list) else [{"role": "user", "content": given}]
        if not items or (not isinstance(given, list) and not isinstance(given, str)):
            raise DemoRefusalError("'input' must be a text or a list of items", "input")
        chat: JsonObject = {name: body[name] for name in _SAME if name in body}
        chat["messages"] = [_message(item) for item in items]
        if body.get("max_output_tokens") is not None:
            chat["max_tokens"] = body["max_output_tokens"]
        tools = body.get("tools")
        if isinstance(tools, list):
            chat["tools"] = [_nested(tool) for tool in tools]
        if body.get("tool_choice") is not None:
            chat["tool_choice"] = _nested(body["tool_choice"])
        return "chat", chat

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """A response object."""
        return orjson.dumps(self._response(completion, model, number))

    def events(self, completion: DemoCompletion, model: str, number: int) -> list[bytes]:
        """The items in pieces, each item opened and closed, then the whole response."""
        response = self._response(completion, model, number)
        begun: JsonObject = {**response, "status": "in_progress", "output": [], "usage": None}
        numbered = _Events()
        waiting = numbered.event("response.created", response=begun)
        waiting += numbered.event("response.in_progress", response=begun)
        events: list[bytes] = []
        output = response["output"]
        assert isinstance(output, list)
        for index, item in enumerate(output):
            assert isinstance(item, dict)
            opening, pieces, closing = numbered.item(index, item)
            for piece in pieces:
                events.append(waiting + opening + piece)
                waiting = opening = b""
            waiting += opening + closing
        last = numbered.event(f"response.{response['status']}", response=response)
        return [*events, waiting + last]

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
            **reply_head("resp", "response", model, number),
            "created_at": int(time()),
            "status": "incomplete" if cut else "completed",
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "instructions": None,
            "max_output_tokens": None,
            "metadata": {},
            "output": _output(choice, number),
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": {
                "input_tokens": completion.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": choice.tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
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


def _output(choice: DemoChoice, number: int) -> list[JsonValue]:
    status = "incomplete" if choice.finish_reason == "length" else "completed"
    if choice.tool_calls is None:
        content: list[JsonValue] = [_text_part(choice.text)]
        message: JsonObject = {"id": f"msg-demo-{number}", "type": "message", "role": "assistant"}
        return [{**message, "status": status, "content": content}]
    items: list[JsonValue] = []
    for call in choice.tool_calls:
        assert isinstance(call, dict)
        function = call["function"]
        assert isinstance(function, dict)
        made: JsonObject = {"id": f"fc-demo-{number}-{len(items)}", "type": "function_call", "status": status}
        items.append({**made, "call_id": call["id"], **function})
    return items


def _text_part(text: str) -> JsonObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


class _Events:
    """Writes events and numbers them."""

    def __init__(self) -> None:
        self._number = -1

    def event(self, kind: str, **fields: Any) -> bytes:
        """One event."""
        self._number += 1
        data = {"type": kind, "sequence_number": self._number, **fields}
        return f"event: {kind}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"

    def item(self, index: int, item: JsonObject) -> tuple[bytes, list[bytes], bytes]:
        """What opens an item, a piece for each token, what closes it."""
        place: JsonObject = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            text = _only_text(item)
            part: JsonObject = {**place, "content_index": 0}
            opening = self._added(index, {**item, "status": "in_progress", "content": []})
            opening += self.event("response.content_part.added", **part, part=_text_part(""))
            pieces = [
                self.event("response.output_text.delta", **part, delta=token, logprobs=[])
                for token in split_tokens(text)
            ]
            closing = self.event("response.output_text.done", **part, text=text, logprobs=[])
            closing += self.event("response.content_part.done", **part, part=_text_part(text))
        else:
            arguments = str(item["arguments"])
            opening = self._added(index, {**item, "status": "in_progress", "arguments": ""})
            pieces = [
                self.event("response.function_call_arguments.delta", **place, delta=token)
                for token in split_tokens(arguments)
            ]
            closing = self.event(
                "response.function_call_arguments.done", **place, name=item["name"], arguments=arguments
            )
        return (
            opening,
            pieces,
            closing + self.event("response.output_item.done", output_index=index, item=item),
        )

    def _added(self, index: int, item: JsonObject) -> bytes:
        return self.event("response.output_item.added", output_index=index, item=item)


def _only_text(item: JsonObject) -> str:
    parts = item["content"]
    assert isinstance(parts, list)
    assert isinstance(parts[0], dict)
    return str(parts[0]["text"])
