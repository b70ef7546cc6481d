"""Tool calls of the demo model: whether to call, which tool, with what arguments."""

from __future__ import annotations

import re
from typing import NamedTuple

from benchwright.core import JsonObject, JsonValue, encode_json
from benchwright.demo._arguments import Filler, name_words

_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = frozenset(
    {
        "the", "and", "for", "with", "from", "that", "this", "what", "which", "how", "are", "you", "can",
        "use", "get", "set", "given", "return", "returns", "value", "please", "me", "into", "about", "your",
        "our", "has", "have", "will", "would", "should", "number", "string", "list", "function", "tool",
        "need", "want",
    }
)  # fmt: skip
_STEM_CHARS = 5
"""Words agree when they begin alike: weather/weathers, calculate/calculating."""
_SEVERAL = re.compile(
    r"\b(?:in|for|of|at)\s+((?:[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?:(?:, and |, | and )[A-Z][\w-]+(?: [A-Z][\w-]+)*)+)"
)
_BETWEEN = re.compile(r", and |, | and ")


class ToolCall(NamedTuple):
    """One call: a tool's name and its arguments."""

    name: str
    """The tool."""
    arguments: JsonObject
    """Values by parameter name."""


def offered_tools(body: JsonObject) -> list[JsonObject]:
    """The functions a request offers, in the order given; none when `tool_choice` forbids calls."""
    tools = body.get("tools")
    if not isinstance(tools, list) or body.get("tool_choice") == "none":
        return []
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    return [
        function
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    ]


def call_tools(functions: list[JsonObject], text: str, choice: JsonValue, parallel: bool) -> list[ToolCall]:
    """The calls a text asks for; none when no tool fits and none is demanded."""
    named = choice.get("function") if isinstance(choice, dict) else None
    if isinstance(named, dict):
        functions = [f for f in functions if f.get("name") == named.get("name")] or functions
    asked = {word[:_STEM_CHARS] for word in _WORD.findall(text.lower()) if word not in _COMMON}
    ranked = sorted(functions, key=lambda f: -_fit(f, asked))
    if not ranked or (_fit(ranked[0], asked) == 0 and choice in (None, "auto")):
        return []
    function = ranked[0]
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    texts = _one_per_name(text) if parallel else [text]
    return [ToolCall(str(function["name"]), Filler(each).fill(schema)) for each in texts]


def spoil_call(calls: list[ToolCall], bits: int) -> list[ToolCall]:
    """A plausible mistake: an argument missing or altered, or the call not made."""
    if not calls or not calls[0].arguments:
        return []
    name, arguments = calls[0]
    at = list(arguments)[bits % len(arguments)]
    value = arguments[at]
    changed = dict(arguments)
    if isinstance(value, bool):
        changed[at] = not value
    elif isinstance(value, int | float):
        changed[at] = value + 1
    elif isinstance(value, str) and len(value) > 1:
        changed[at] = value[: len(value) // 2].strip() or value[0]
    else:
        del changed[at]
    return [ToolCall(name, changed), *calls[1:]]


def wire_calls(calls: list[ToolCall], bits: int) -> list[JsonValue]:
    """Calls as the chat route sends them; ids depend on `bits` and position only."""
    return [
        {
            "id": f"call_{(bits + at * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF:016x}",
            "type": "function",
            "function": {"name": call.name, "arguments": encode_json(call.arguments).decode()},
        }
        for at, call in enumerate(calls)
    ]


def _fit(function: JsonObject, asked: set[str]) -> int:
    """How many words of the question the tool's name and description share; the name counts double."""
    name = {word[:_STEM_CHARS] for word in name_words(str(function.get("name"))) if len(word) > 2}
    described = str(function.get("description") or "").lower()
    words = {word[:_STEM_CHARS] for word in _WORD.findall(described) if word not in _COMMON}
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    listed = (
        {part[:_STEM_CHARS] for p in properties for part in name_words(p)}
        if isinstance(properties, dict)
        else set()
    )
    return 4 * len((name - _COMMON) & asked) + 2 * len(words & asked) + len((listed - _COMMON) & asked)


def _one_per_name(text: str) -> list[str]:
    """ "weather in Paris and Rome" as two texts, one per name."""
    several = _SEVERAL.search(text)
    if several is None:
        return [text]
    start, end = several.span(1)
    return [text[:start] + name + text[end:] for name in _BETWEEN.split(several.group(1))]
