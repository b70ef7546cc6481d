"""The demo server's wire formats, so that each can be tried out."""

from __future__ import annotations

import re
from functools import lru_cache
from time import time
from typing import Any

import orjson

from benchwright.core import ROUTE_PATHS, JsonObject, JsonValue, Route, completions_body
from benchwright.demo._completions import (
    DemoChoice,
    DemoCompletion,
    error_body,
    reply_body,
    reply_head,
    stream_events,
)
from benchwright.demo._requests import DemoRefusalError
from benchwright.demo._words import split_tokens
from benchwright.endpoints import SERVED_BY_DEMO

_MARK: JsonObject = {"system_fingerprint": SERVED_BY_DEMO}
"""A field that is not part of these formats; it marks the replies as not those of a real model."""
_REASONS = {"stop": "eos_token", "length": "length"}


class Form:
    """One wire format."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Translate a body into the route and body for the demo model. Raises DemoRefusalError if it is invalid."""
        raise NotImplementedError

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """Write a reply in one piece."""
        raise NotImplementedError

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        """Write the events of a stream, one for each token; the last closes it."""
        raise NotImplementedError

    def headers(self, completion: DemoCompletion) -> str:
        """Return further header lines of a whole reply."""
        return ""

    def error(self, message: str, param: str | None) -> bytes:
        """Write an error body."""
        return error_body(message, "invalid_request_error", param=param)


class OpenAiForm(Form):
    """OpenAI's chat or completions."""

    def __init__(self, route: Route) -> None:
        self._route = route

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Check the one field that the model does not read."""
        if not isinstance(body.get("stream_options") or {}, dict):
            raise DemoRefusalError("'stream_options' must be an object", "stream_options")
        return self._route, body

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        return reply_body(completion, self._route, model, number)

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        options = body.get("stream_options")
        usage = isinstance(options, dict) and options.get("include_usage") is True
        return stream_events(completion, self._route, model, number, usage=usage)


class TgiForm(Form):
    """Text Generation Inference."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Translate `inputs` and `parameters`, checked against TGI's limits."""
        parameters = _parameters(body)
        top_p = parameters.get("top_p")
        if isinstance(top_p, int | float) and not 0 < top_p < 1:
            raise DemoRefusalError(
                "Input validation error: `top_p` must be > 0.0 and < 1.0", "top_p", status=422
            )
        return "completions", _text_body(body.get("inputs"), "inputs", parameters)

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        """Write the text and why it ended."""
        choice = completion.choices[0]
        text = choice.text + self._kept(choice)
        return orjson.dumps({"generated_text": text, "details": _details(choice), **_MARK})

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        """Write one event for each token; the last also has the whole text."""
        choice = completion.choices[0]
        text = choice.text + self._kept(choice)
        events = [self._event(token, None, None) for token in split_tokens(text)]
        details: JsonObject = {**_details(choice), "input_length": completion.prompt_tokens}
        return [*events, self._event("", text, details, special=True)]

    def headers(self, completion: DemoCompletion) -> str:
        """Return the token counts, which TGI sends as headers."""
        made = completion.choices[0].tokens
        return f"x-prompt-tokens: {completion.prompt_tokens}\r\nx-generated-tokens: {made}\r\n"

    def error(self, message: str, param: str | None) -> bytes:
        return orjson.dumps({"error": message, "error_type": "validation"})

    def _event(
        self, text: str, whole: str | None, details: JsonObject | None, *, special: bool = False
    ) -> bytes:
        token: JsonObject = {"id": 0, "text": text, "logprob": 0.0, "special": special}
        event: JsonObject = {"token": token, "generated_text": whole, "details": details, **_MARK}
        return b"data:" + orjson.dumps(event) + b"\n\n"

    def _kept(self, choice: DemoChoice) -> str:
        """Return the stop text, which TGI keeps at the end of the answer."""
        return choice.stopped_by


class MindieForm(TgiForm):
    """MindIE's native route: TGI's field names, single tokens and then the whole text."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Translate `inputs`, `stream` and `parameters`."""
        return "completions", _text_body(body.get("inputs"), "inputs", _parameters(body))

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        """Write the events; the last contains the whole text."""
        choice = completion.choices[0]
        events: list[JsonObject] = [
            {"token": {"id": 0, "text": token}} for token in split_tokens(choice.text)
        ]
        events.append({"generated_text": choice.text, "details": _details(choice), **_MARK})
        return [b"data: " + orjson.dumps(event) + b"\n\n" for event in events]

    def headers(self, completion: DemoCompletion) -> str:
        return ""

    def _kept(self, choice: DemoChoice) -> str:
        return ""


class TritonForm(Form):
    """Triton's generate extension."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Translate `text_input`, and `parameters` or the model's inputs, under the names of vLLM or of MindIE. A temperature
        of 0 means greedy decoding, as in Triton's back-ends."""
        parameters = {**body, **_parameters(body)}
        parameters.setdefault("max_new_tokens", parameters.get("max_tokens", 100))
        temperature = parameters.pop("temperature", None)
        if temperature is not None and temperature != 0:
            parameters = {"do_sample": True, **parameters, "temperature": temperature}
        return "completions", _text_body(body.get("text_input"), "text_input", parameters)

    def whole(self, completion: DemoCompletion, model: str, number: int) -> bytes:
        return orjson.dumps(self._output(completion.choices[0].text, model))

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        """Write pieces of the text; the stream ends with the body."""
        pieces = [*split_tokens(completion.choices[0].text), ""]
        return [b"data: " + orjson.dumps(self._output(piece, model)) + b"\n\n" for piece in pieces]

    def error(self, message: str, param: str | None) -> bytes:
        return orjson.dumps({"error": message})

    def _output(self, text: str, model: str) -> JsonObject:
        return {"model_name": model, "model_version": "1", "text_output": text, **_MARK}


def _parameters(body: JsonObject) -> JsonObject:
    parameters = body.get("parameters")
    if parameters is None:
        return {}
    if not isinstance(parameters, dict):
        raise DemoRefusalError("'parameters' must be an object", "parameters", status=422)
    return parameters


def _text_body(prompt: JsonValue, name: str, parameters: JsonObject) -> JsonObject:
    """Return a completions body. Decoding is greedy unless sampling is requested, even with a temperature."""
    if not isinstance(prompt, str) or not prompt:
        raise DemoRefusalError(f"'{name}' must be a text that is not empty", name, status=422)
    temperature = parameters.get("temperature")
    if isinstance(temperature, int | float) and temperature <= 0:
        raise DemoRefusalError(
            "Input validation error: `temperature` must be strictly positive", "temperature", status=422
        )
    sampled = (1.0 if temperature is None else temperature) if parameters.get("do_sample") else 0.0
    same = ("seed", "stop", "ignore_eos", "min_tokens")
    body = completions_body("demo", prompt, parameters.get("max_new_tokens", 100), sampled)
    body |= {name: parameters[name] for name in same if parameters.get(name) is not None}
    return body


def _details(choice: DemoChoice) -> JsonObject:
    reason = _REASONS.get(choice.finish_reason, choice.finish_reason)
    if choice.stopped_by:
        reason = "stop_sequence"
    return {"finish_reason": reason, "generated_tokens": choice.tokens, "seed": None}


_SAME = ("model", "temperature", "top_p", "stream", "parallel_tool_calls", "seed")


class ResponsesForm(Form):
    """OpenAI's responses."""

    def openai_body(self, body: JsonObject) -> tuple[Route, JsonObject]:
        """Translate the input into messages."""
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
        """Write a response object."""
        return orjson.dumps(self._response(completion, model, number))

    def events(self, completion: DemoCompletion, model: str, number: int, body: JsonObject) -> list[bytes]:
        """Write the items in pieces, with an event before and after each item, then the whole response."""
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
    """Convert an item into a chat message."""
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
        self._number += 1
        data = {"type": kind, "sequence_number": self._number, **fields}
        return f"event: {kind}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"

    def item(self, index: int, item: JsonObject) -> tuple[bytes, list[bytes], bytes]:
        """Return the event that opens an item, an event for each token, and the event that closes it."""
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


_SERVED: list[tuple[str, Form, bool | None]] = [
    *((rf"(?:/v1)?{path}", OpenAiForm(route), None) for route, path in ROUTE_PATHS.items()),
    (r"(?:/v1)?/responses", ResponsesForm(), None),
    (r"/generate", TgiForm(), False),
    (r"/generate_stream", TgiForm(), True),
    (r"/infer", MindieForm(), None),
    (r"/v2/models/[^/]+(?:/versions/[^/]+)?/generate", TritonForm(), False),
    (r"/v2/models/[^/]+(?:/versions/[^/]+)?/generate_stream", TritonForm(), True),
]
"""Paths, their formats, and whether they always or never stream; None if the body decides."""


@lru_cache(maxsize=256)
def served_at(path: str) -> tuple[Form, bool | None] | None:
    """Find the format that a path belongs to, and whether it streams."""
    return next(((form, stream) for pattern, form, stream in _SERVED if re.fullmatch(pattern, path)), None)
