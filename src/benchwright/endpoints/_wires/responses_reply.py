"""Reads a response object of OpenAI's responses route."""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonObject, JsonValue, Route
from benchwright.endpoints._messages import words_of_json
from benchwright.endpoints._replies import BadReply


def openai_form(data: JsonValue, route: Route) -> JsonObject | BadReply:
    """A response object as the chat or completions route would have sent it."""
    if not isinstance(data, dict) or not isinstance(data.get("output"), list):
        if isinstance(data, dict) and data.get("error"):
            return BadReply(f"status 200, but with an error inside: {words_of_json(data)}")
        found = ", ".join(list(data)[:8]) if isinstance(data, dict) else "no object"
        return BadReply(f"the reply has no list of output items; it has {found or 'nothing'}")
    if data.get("status") in ("failed", "cancelled"):
        return BadReply(f"status 200, but the response {data['status']}: {words_of_json(data.get('error'))}")
    texts: list[str] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    calls: list[JsonValue] = []
    items: list[Any] = data["output"]  # type: ignore[assignment]  # a list, as was seen above
    for item in items:
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind == "message":
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
    choice: JsonObject = {"finish_reason": _finish_reason(data, bool(calls))}
    text, reasoning = "".join(texts), "\n".join(thoughts)
    if route == "completions":
        choice["text"], choice["reasoning_content"] = text, reasoning
    else:
        choice["message"] = {
            "content": text,
            "reasoning_content": reasoning,
            "refusal": "".join(refusals),
            "tool_calls": calls,
        }
    return {"choices": [choice], "usage": _usage(data.get("usage"))}


def _texts(parts: Any, field: str) -> list[str]:
    if not isinstance(parts, list):
        return []
    found = [part.get(field) for part in parts if isinstance(part, dict)]
    return [text for text in found if isinstance(text, str)]


def _finish_reason(data: JsonObject, has_calls: bool) -> str | None:
    if data.get("status") == "incomplete":
        details = data.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        return "content_filter" if reason == "content_filter" else "length"
    return "tool_calls" if has_calls else "stop"


def _usage(usage: JsonValue) -> JsonObject | None:
    if not isinstance(usage, dict):
        return None
    return {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}
