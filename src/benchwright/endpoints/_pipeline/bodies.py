"""Built-in changes of request bodies, compiled once: the system message, and fields that are added, removed and renamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.config import PayloadModifier, SystemMessage
from benchwright.core import JsonObject, JsonValue, ModelRequest, encode_json
from benchwright.endpoints._pipeline.step import BodyChange, with_body


class BodyStep:
    """Implements the request half of `Step`: consecutive changes with one encoding for all of them."""

    def __init__(self, name: str, *changes: BodyChange) -> None:
        self.name = name
        self._changes = changes

    def followed_by(self, other: BodyStep) -> BodyStep:
        """Both as one step."""
        return BodyStep(f"{self.name}, {other.name}", *self._changes, *other._changes)

    def on_request(self, request: ModelRequest) -> ModelRequest:
        """The changed request."""
        if request.record is not None:
            return with_body(request, self._changed)
        body = request.body
        for change in self._changes:
            body = change(body)
        return ModelRequest(request.route, body, encode_json(body), request.repeat)

    def _changed(self, body: JsonObject) -> JsonObject:
        for change in self._changes:
            body = change(body)
        return body


def system_message(step: SystemMessage) -> BodyStep:
    """Put a system message first. Several system messages of a chat become one; a text prompt gets it as its first lines."""
    text, strategy = step.value("system_message"), step.value("strategy")

    def change(body: JsonObject) -> JsonObject:
        messages = body.get("messages")
        if messages is None and "prompt" in body:
            return {**body, "prompt": _in_front(text, body)}
        if not isinstance(messages, list):
            raise ValueError("the request has no messages that a system message could go to")
        others: list[JsonValue] = []
        existing: list[str] = []
        for each in messages:
            if isinstance(each, dict) and each.get("role") == "system":
                existing.append(_content(each))
            else:
                others.append(each)
        if not existing:
            return {**body, "messages": [{"role": "system", "content": text}, *others]}
        parts = {"prepend": [text, *existing], "append": [*existing, text], "replace": [text]}[strategy]
        return {**body, "messages": [{"role": "system", "content": "\n".join(parts)}, *others]}

    return BodyStep(step.name, change)


def _in_front(text: str, body: JsonObject) -> JsonValue:
    prompt = body["prompt"]
    if body.get("echo"):
        raise ValueError(
            "choices are ranked by their place after the prompt, so nothing may be put in front of it; "
            "give the system message to the benchmark, or as the model's `system`"
        )
    if not isinstance(prompt, str):
        raise ValueError("the prompt is not a text that a system message could be put in front of")
    return f"{text}\n{prompt}"


def _content(message: Any) -> str:
    content = message.get("content")
    if isinstance(content, list):  # parts
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def payload_change(step: PayloadModifier) -> BodyStep | None:
    """Remove fields at any depth, then add some, then rename some; None if the step changes only headers."""
    removed = frozenset(step.params_to_remove or ())
    added: Mapping[str, JsonValue] = step.params_to_add or {}
    renamed: Mapping[str, str] = step.params_to_rename or {}
    if not (removed or added or renamed):
        return None

    def change(body: JsonObject) -> JsonObject:
        changed: JsonObject = _without(body, removed) if removed else body.copy()
        changed.update(added)
        for old, new in renamed.items():
            if old in changed:
                changed[new] = changed.pop(old)
        return changed

    return BodyStep(step.name, change)


_NESTED = frozenset((dict, list))


def _holds(value: Any, names: frozenset[str]) -> bool:
    """Whether a field of one of these names is anywhere. Looking costs less than building all again."""
    if type(value) is dict:
        if not names.isdisjoint(value):
            return True
        value = value.values()
    if _NESTED.isdisjoint(map(type, value)):
        return False
    for entry in value:  # noqa: SIM110  # a generator would cost as much as all the rest
        if type(entry) in _NESTED and _holds(entry, names):
            return True
    return False


def _without(value: Any, names: frozenset[str]) -> Any:
    """The value without these fields; parts that have none of them are shared."""
    if type(value) is not dict:
        return [_without(entry, names) if type(entry) in _NESTED else entry for entry in value]
    kept = value.copy()
    for name in names:
        kept.pop(name, None)
    for name, entry in kept.items():
        if type(entry) in _NESTED and _holds(entry, names):
            kept[name] = _without(entry, names)
    return kept
