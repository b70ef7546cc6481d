"""OpenAI's responses route: bodies, replies and streams."""

from __future__ import annotations

from typing import Any

from benchwright.core import WIRE_FORMATS, JsonObject, JsonValue, ModelRequest, encode_json
from benchwright.endpoints._addresses import Address
from benchwright.endpoints._messages import words_of_json
from benchwright.endpoints._replies import BadReply, error_inside, is_content, kind_of
from benchwright.endpoints._transport import Headers
from benchwright.endpoints._wires.wire import (
    BadEventError,
    EventCollector,
    RouteUrls,
    TranslatingWire,
    UnsendableRequestError,
    Urls,
    Wire,
    read_event,
    whole_choice,
)

_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_DROPPED = ("messages", "prompt", "stream_options")


def responses_body(request: ModelRequest) -> JsonObject:
    """The body to send. Fields that the route does not rename pass unchanged.

    `store` is false unless the body says otherwise, because the server should not keep rows of an evaluation.
    """
    body = request.body
    if body.get("stop"):
        raise UnsendableRequestError(
            "the responses route knows no stop texts, and ignoring them would change the answers. "
            "Leave --stop out, or use --api openai"
        )
    # `stream` is always sent: `transformers serve` streams unless it is false.
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
    """The items of a message; tool calls and their results are separate items in this format."""
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
    """A content part under its name in this format."""
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


def openai_form(data: JsonValue, request: ModelRequest) -> JsonObject | BadReply:
    """Convert a response object to the form of the chat or completions route."""
    if not isinstance(data, dict) or not isinstance(data.get("output"), list):
        if isinstance(data, dict) and data.get("error"):
            return error_inside(data, code=status_of_error(data["error"]))
        found = ", ".join(list(data)[:8]) if isinstance(data, dict) else "no object"
        return BadReply(f"the reply has no list of output items; it has {found or 'nothing'}")
    if data.get("status") in ("failed", "cancelled"):
        return BadReply(
            f"status 200, but the response {data['status']}: {words_of_json(data.get('error'))}",
            error=True,
            code=status_of_error(data.get("error")),
        )
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    calls: list[JsonValue] = []
    items: list[Any] = data["output"]  # type: ignore[assignment]  # a list, as was seen above
    if data.get("status") in ("in_progress", "queued"):
        return BadReply(f"status 200, but the response is still {data['status']}")
    if not items and data.get("status") != "incomplete":
        return BadReply("the reply's list of output items is empty")
    for item in items:
        if not isinstance(item, dict):
            return BadReply(f"an output item of the reply is {kind_of(item)}, not an object")
        if not is_content(item.get("content")):
            return BadReply(
                f"the content of an output item is {kind_of(item['content'])}, not a list of parts"
            )
        kind = item.get("type")
        if not isinstance(kind, str):
            return BadReply("an output item of the reply has no type")
        if kind == "message":
            if wrong := _wrong_part(item.get("content")):
                return BadReply(wrong)
            texts += _texts(item.get("content"), "text")
            refusals += _texts(item.get("content"), "refusal")
        elif kind == "reasoning":
            thoughts += _texts(item.get("content"), "text") or _texts(item.get("summary"), "text")
        elif kind == "function_call":
            calls.append(
                {
                    "id": item.get("call_id"),
                    "type": "function",
                    "function": {"name": item.get("name"), "arguments": item.get("arguments")},
                }
            )
    finish = _finish_reason(data, request, bool(calls))
    choice = whole_choice(
        request.route, finish, "".join(texts), "\n".join(thoughts), "".join(refusals), calls
    )
    return {"choices": [choice], "usage": _usage(data.get("usage"))}


_STATUS_OF_CODE = {"rate_limit_exceeded": 429, "server_error": 500, "invalid_prompt": 400}


def status_of_error(error: JsonValue) -> int | None:
    """The HTTP status that an error object of the route corresponds to, if it has one."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str):
        return _STATUS_OF_CODE.get(code)
    return code if isinstance(code, int) else None


def _wrong_part(parts: Any) -> str | None:
    """What is wrong with a message part that should contain text; null counts as an empty text."""
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict) or part.get("type") != "output_text":
            continue
        if "text" not in part:
            return "an output text of the reply has no text"
        if not isinstance(part["text"], str | None):
            return f"the text of an output item is {kind_of(part['text'])}, not a text"
    return None


def _texts(parts: Any, field: str) -> list[str]:
    if not isinstance(parts, list):
        return []
    found = [part.get(field) for part in parts if isinstance(part, dict)]
    return [text for text in found if isinstance(text, str)]


def _finish_reason(data: JsonObject, request: ModelRequest, has_calls: bool) -> str | None:
    """Why the answer ended. llama.cpp and `transformers serve` call a response completed although it reached the limit, so
    its number of tokens decides."""
    if data.get("status") == "incomplete":
        details = data.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return "content_filter" if reason == "content_filter" else "length"
    if has_calls:
        return "tool_calls"
    limit = request.body.get("max_tokens") or request.body.get("max_completion_tokens")
    usage = data.get("usage")
    used = usage.get("output_tokens") if isinstance(usage, dict) else None
    return "length" if isinstance(limit, int) and isinstance(used, int) and used >= limit else "stop"


def _usage(usage: JsonValue) -> JsonObject | None:
    if not isinstance(usage, dict):
        return None
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }


_THOUGHTS = frozenset(("response.reasoning_text.delta", "response.reasoning_summary_text.delta"))
_ARGUMENTS = frozenset(("response.function_call_arguments.delta",))
_CONTENT = _THOUGHTS | _ARGUMENTS | {"response.output_text.delta", "response.refusal.delta"}
_LAST = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class ResponsesCollector(EventCollector):
    """Implements `Collector`. The last event contains the whole response. If it has no items, they are built from the
    deltas."""

    __slots__ = ("_calls", "_items", "_numbered", "_request", "_response", "_texts")

    def __init__(self, request: ModelRequest) -> None:
        super().__init__("output")
        self._request = request
        self._texts: dict[str, list[str]] = {}
        self._items: list[JsonValue] = []
        self._calls: dict[str, dict[str, Any]] = {}  # by the server's id of the item
        self._numbered: dict[int, bytes] = {}  # events by their sequence number
        self._response: dict[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """Whether the last event has come."""
        return self._response is not None

    def add(self, data: bytes) -> None:
        """Add one event."""
        if data.strip() == b"[DONE]":
            self.done = True
            return
        event = read_event(data)
        if self._came_before(event, data):
            self.copied = "left_out"
            return
        self.events += 1
        kind = event.get("type")
        if kind in _CONTENT:
            delta = event.get("delta")
            if not isinstance(delta, str):
                raise BadEventError(f"the delta of an event is {kind_of(delta)}, not a text")
            self.lacks = ""
            if delta:
                self._texts.setdefault(kind, []).append(delta)
                if kind == "response.output_text.delta":
                    self.add_text(delta)
                elif kind in _THOUGHTS:
                    self.add_thought()
                else:
                    self.add_act()
                    if (
                        kind in _ARGUMENTS
                        and (call := self._calls.get(str(event.get("item_id")))) is not None
                    ):
                        call["arguments"] += delta
        elif kind == "response.output_item.added":
            item = event.get("item")
            if isinstance(item, dict) and item.get("type") == "function_call":
                begun = item.get("arguments")
                self._calls[str(item.get("id"))] = {
                    **item,
                    "arguments": begun if isinstance(begun, str) else "",
                }
                self.add_act()
        elif kind == "response.output_item.done":
            item = event.get("item")
            if isinstance(item, dict) and item.get("id") and item in self._items:
                self.copied = "left_out"
            else:
                self._items.append(item)
            self.lacks = ""
        elif kind in _LAST:
            self._end(event)
        elif kind == "error" or event.get("error"):
            self._fail(event)

    def as_json(self) -> JsonObject | BadReply:
        """The whole reply."""
        response: JsonObject = dict(self._response or {})
        if not response.get("output"):
            response["output"] = self._items or (self._spoken() if self._texts else [])
        form = openai_form(response, self._request)
        if isinstance(form, BadReply):
            return form
        return {**form, **{name: response.get(name) for name in ("model", "system_fingerprint")}}

    def _came_before(self, event: dict[str, Any], data: bytes) -> bool:
        """Whether the same event came before: its number says so, if the server counts its events."""
        number = event.get("sequence_number")
        if type(number) is not int:
            return False
        known = self._numbered.setdefault(number, data)
        return known is not data and known == data and len(self._numbered) > 1

    def _end(self, event: dict[str, Any]) -> None:
        response = event.get("response")
        self._response = response if isinstance(response, dict) else {}
        if isinstance(self._response.get("output"), list):
            self.lacks = ""
        if self._response.get("status") in ("failed", "cancelled") or event["type"] in _LAST[2:]:
            self._fail(self._response)
        elif event["type"] == "response.incomplete":
            self._response.setdefault("status", "incomplete")
        self.done = True

    def _fail(self, event: dict[str, Any]) -> None:
        inner = event.get("error")
        error = inner if isinstance(inner, dict) else event
        self.error = {"error": {"message": inner or error.get("message"), "code": status_of_error(error)}}

    def _spoken(self) -> list[JsonValue]:
        """Items built from the deltas alone."""

        def text_of(kind: str) -> str:
            return "".join(self._texts.get(f"response.{kind}.delta", ()))

        thought = text_of("reasoning_text") or text_of("reasoning_summary_text")
        content: list[JsonValue] = [{"text": text_of("output_text")}]
        if refusal := text_of("refusal"):
            content.append({"refusal": refusal})
        return [
            {"type": "reasoning", "content": [{"text": thought}]},
            {"type": "message", "content": content},
            *self._calls.values(),
        ]


class ResponsesWire(TranslatingWire):
    """Implements `Wire`."""

    format = WIRE_FORMATS["responses"]

    def urls(self, address: Address, model: str) -> Urls:
        """One route for everything."""
        url = address.url_of("/responses")
        return {"chat": RouteUrls(url, url), "completions": RouteUrls(url, url)}

    def payload(self, request: ModelRequest) -> bytes:
        """The body under the names of this route."""
        return encode_json(responses_body(request))

    def collector(self, request: ModelRequest) -> ResponsesCollector:
        """For one stream."""
        return ResponsesCollector(request)

    def translate(
        self, data: JsonValue, request: ModelRequest, headers: Headers | None
    ) -> JsonValue | BadReply:
        """The output items as one message."""
        return openai_form(data, request)


WIRE: type[Wire] = ResponsesWire
"""The class that speaks this format."""
