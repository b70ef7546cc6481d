"""Reads a response object of OpenAI's responses route."""

from __future__ import annotations

from typing import Any

from benchwright.core import JsonObject, JsonValue, ModelRequest
from benchwright.endpoints._messages import words_of_json
from benchwright.endpoints._replies import BadReply, error_inside, is_content, kind_of


def openai_form(data: JsonValue, request: ModelRequest) -> JsonObject | BadReply:
    """A response object as the chat or completions route would have sent it."""
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
    choice: JsonObject = {"finish_reason": _finish_reason(data, request, bool(calls))}
    text, reasoning = "".join(texts), "\n".join(thoughts)
    if request.route == "completions":
        choice["text"], choice["reasoning_content"] = text, reasoning
    else:
        choice["message"] = {
            "content": text,
            "reasoning_content": reasoning,
            "refusal": "".join(refusals),
            "tool_calls": calls,
        }
    return {"choices": [choice], "usage": _usage(data.get("usage"))}


_STATUS_OF_CODE = {"rate_limit_exceeded": 429, "server_error": 500, "invalid_prompt": 400}


def status_of_error(error: JsonValue) -> int | None:
    """The HTTP status that an error object of the route stands for, where it says."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str):
        return _STATUS_OF_CODE.get(code)
    return code if isinstance(code, int) else None


def _wrong_part(parts: Any) -> str | None:
    """What is wrong with a part of a message that should hold its text; null is an empty one."""
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
    """Why the answer ended. llama.cpp and `transformers serve` call a response completed although it reached the
    limit, so its number of tokens decides."""
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
    return {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}
