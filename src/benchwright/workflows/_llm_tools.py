"""Tools for `call_llm`: Python functions described to a model, and the calls that come back."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Union, get_args, get_origin, get_type_hints

from benchwright.core import JsonObject, JsonValue, ModelReply, UsageError, load_json

LLMTool: TypeAlias = Callable[..., Any] | Mapping[str, Any]
"""A Python function, described by its signature and docstring; or a tool in the format of OpenAI's chat route."""

_TYPES: dict[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array", tuple: "array", dict: "object",
}  # fmt: skip


class LLMToolCall(TypedDict):
    """One call that the model requests."""

    id: str
    """The server's id of the call, which the result must repeat."""
    name: str
    """The function."""
    arguments: JsonObject
    """Values by parameter; empty if they cannot be read."""
    error: str | None
    """Why they cannot be read."""


def tool_of(tool: LLMTool) -> JsonObject:
    """The tool in the form that requests contain. Raises UsageError for anything that is neither a function nor a tool.

    >>> def add(a: int, b: int = 0) -> int:
    ...     "Add two numbers."
    >>> tool_of(add)["function"]["parameters"]["required"]
    ['a']
    """
    if isinstance(tool, Mapping):
        function = tool.get("function")
        if tool.get("type") == "function" and isinstance(function, Mapping) and function.get("name"):
            return dict(tool)
        raise UsageError(
            f"call_llm: {tool!r} is not a tool; expected {{'type': 'function', 'function': {{'name': …}}}}"
        )
    if not callable(tool):
        raise UsageError(
            f"call_llm: {tool!r} is not a tool; pass a function, or a tool in the format of OpenAI's chat route"
        )
    name = getattr(tool, "__name__", "")
    if not name.isidentifier():
        raise UsageError(f"call_llm: {tool!r} has no name; define it with def")
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": inspect.getdoc(tool) or "",
            "parameters": _parameters(tool, name),
        },
    }


def _parameters(function: Callable[..., Any], name: str) -> JsonObject:
    try:
        hints = get_type_hints(function)
    except Exception:  # an annotation that cannot be evaluated does not show the type
        hints = {}
    properties: JsonObject = {}
    required: list[JsonValue] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UsageError(
                f"call_llm: {name}() takes {parameter}, which a model cannot fill; give every parameter a name"
            )
        properties[parameter.name] = _schema(hints.get(parameter.name, str))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required}


def _schema(annotation: Any) -> JsonObject:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        known = [each for each in inner if each is not type(None)]
        return _schema(known[0]) if len(known) == 1 else {}
    if origin is Literal:
        return {**_schema(type(inner[0])), "enum": list(inner)}
    kind = _TYPES.get(origin or annotation)
    if kind is None:
        return {}
    if kind == "array" and inner:
        return {"type": kind, "items": _schema(inner[0])}
    return {"type": kind}


def tool_calls_of(reply: ModelReply) -> list[LLMToolCall]:
    """The calls of a reply. Arguments that are not a JSON object are an `error`, never left out."""
    return [_call(item, number) for number, item in enumerate(reply.tool_calls or ())]


def _call(item: JsonValue, number: int) -> LLMToolCall:
    function = item.get("function") if isinstance(item, dict) else None
    function = function if isinstance(function, dict) else {}
    given, identity = function.get("arguments"), item.get("id") if isinstance(item, dict) else None
    error: str | None = None
    arguments: Any = given
    if given is None or given == "":
        arguments = {}
    elif isinstance(given, str):
        try:
            arguments = load_json(given)
        except ValueError as wrong:
            error = f"the arguments are not JSON ({wrong}): {given}"
    if error is None and not isinstance(arguments, dict):
        error = f"the arguments are not a JSON object: {given}"
    name = function.get("name")
    return {
        "id": identity if isinstance(identity, str) and identity else f"call_{number}",
        "name": name if isinstance(name, str) else "",
        "arguments": arguments if error is None else {},
        "error": error,
    }


def tools_of_request(tools: Sequence[LLMTool]) -> list[JsonValue]:
    """All tools of a request. Raises UsageError if two of them share a name."""
    if isinstance(tools, str | Mapping):
        raise UsageError(
            "call_llm: tools must be a list of functions, or of tools in the format of OpenAI's chat route"
        )
    found = [tool_of(tool) for tool in tools]
    names = [str(tool["function"]["name"]) for tool in found]  # type: ignore[index,call-overload]  # as `tool_of` gives it
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"call_llm: two tools are called {name!r}; rename one of them")
    return [*found]
