"""Reads native calls: `tool_calls` of a reply."""

from __future__ import annotations

from typing import Any

from benchwright.core import load_exact_json
from benchwright.toolcalls._call import CallDecodeError, Calls

MAX_CHARS = 1_000_000
"""The longest text of arguments that is read, because ten million brackets would take seconds."""


def read_tool_calls(tool_calls: Any) -> Calls:
    """The calls of a native reply. Arguments are JSON texts; servers that send objects instead are understood.

    >>> read_tool_calls([{"function": {"name": "f", "arguments": '{"a": 1}'}}])
    [{'f': {'a': 1}}]
    """
    if not isinstance(tool_calls, list | tuple):
        raise CallDecodeError("the reply contains no list of tool calls", "no_tool_calls")
    return [_read(call) for call in tool_calls]


def _read(call: Any) -> dict[str, dict[Any, Any]]:
    function = call.get("function", call) if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise CallDecodeError("a tool call has no function name", "no_name")
    return {name: _arguments(name, function.get("arguments"))}


def _arguments(name: str, arguments: Any) -> dict[Any, Any]:
    if isinstance(arguments, str | bytes):
        if len(arguments) > MAX_CHARS:
            raise CallDecodeError(
                f"the arguments of {name} have {len(arguments):,} characters; at most {MAX_CHARS:,} are read",
                "too_long",
            )
        try:
            arguments = load_exact_json(arguments)
        except ValueError as error:
            raise CallDecodeError(
                f"the arguments of {name} are not JSON: {error}", "arguments_not_json"
            ) from None
    if not isinstance(arguments, dict):
        raise CallDecodeError(
            f"the arguments of {name} are not a JSON object but {type(arguments).__name__}",
            "arguments_not_object",
        )
    return arguments
