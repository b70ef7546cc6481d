"""Puts the events of OpenAI's responses route together."""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonObject, JsonValue, ModelRequest
from benchwright.endpoints._replies import BadReply, kind_of
from benchwright.endpoints._wires.responses_reply import openai_form, status_of_error
from benchwright.endpoints._wires.wire import BadEventError, EventCollector, read_event

_CONTENT = frozenset(
    (
        "response.output_text.delta", "response.refusal.delta", "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta", "response.function_call_arguments.delta",
    )
)  # fmt: skip
_LAST = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class ResponsesCollector(EventCollector):
    """Implements `Collector`. The last event holds the whole response; deltas are content, and give the items
    where a server leaves them out of the last event."""

    __slots__ = ("_items", "_request", "_response", "_texts")

    def __init__(self, request: ModelRequest) -> None:
        super().__init__("output")
        self._request = request
        self._texts: dict[str, list[str]] = {}
        self._items: list[JsonValue] = []
        self._response: dict[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """Whether the last event has come."""
        return self._response is not None

    def add(self, data: bytes) -> None:
        """Take in one event."""
        if data.strip() == b"[DONE]":
            self.done = True
            return
        event = read_event(data)
        self.events += 1
        kind = event.get("type")
        if kind in _CONTENT:
            delta = event.get("delta")
            if not isinstance(delta, str):
                raise BadEventError(f"the delta of an event is {kind_of(delta)}, not a text")
            self.lacks = ""
            if delta:
                self._texts.setdefault(kind, []).append(delta)
                self.content += 1
        elif kind == "response.output_item.added":
            item = event.get("item")
            self.content += isinstance(item, dict) and item.get("type") == "function_call"
        elif kind == "response.output_item.done":
            self._items.append(event.get("item"))
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
        told = inner if isinstance(inner, dict) else event
        self.error = {"error": {"message": inner or told.get("message"), "code": status_of_error(told)}}

    def _spoken(self) -> list[JsonValue]:
        """Items made of the deltas alone."""

        def text_of(kind: str) -> str:
            return "".join(self._texts.get(f"response.{kind}.delta", ()))

        thought = text_of("reasoning_text") or text_of("reasoning_summary_text")
        content: list[JsonValue] = [{"text": text_of("output_text")}]
        if refusal := text_of("refusal"):
            content.append({"refusal": refusal})
        return [
            {"type": "reasoning", "content": [{"text": thought}]},
            {"type": "message", "content": content},
        ]
