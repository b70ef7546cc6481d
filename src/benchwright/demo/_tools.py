"""Tool calls of the demo model: whether to call, which tool, and arguments from the text (numbers, names, quoted words,
enumerated values, dates, lists).
"""

from __future__ import annotations

import re
from functools import cache
from json import JSONDecoder
from typing import TypeAlias

from benchwright.core import JsonObject, JsonValue, encode_json, late_pattern
from benchwright.demo._numbers import FIGURE, Number, number_of

_QUOTED = late_pattern(r"\"([^\"\n]+)\"|'([^'\n]+)'(?!\w)|“([^”\n]+)”")
_NAME = late_pattern(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w'’-]+(?:(?:, | )[A-Z][\w'’-]+)*|\b[A-Z][\w-]+(?:(?:, | )[A-Z][\w'’-]+)+"
)
_DATE = late_pattern(
    r"\b\d{4}-\d{2}-\d{2}\b|\b(?:today|tomorrow|yesterday|tonight)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)
_MAIL = late_pattern(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_URL = late_pattern(r"https?://\S+")
_LIST = late_pattern(r"\[([^\]]*)\]")
_AFTER = late_pattern(
    r"\b(?:in|for|of|at|to|from|about|named|called|with)\s+(?:the\s+)?([^\W\d_][\w'-]*)", re.IGNORECASE
)
_WORD = late_pattern(r"[^\W\d_]{3,}")
_LOWER_UPPER = late_pattern(r"(?<=[a-z])(?=[A-Z])|[_\W]+")
_NO = late_pattern(r"\b(?:no|not|without|don't|disable|off|false|exclude)\b", re.IGNORECASE)
_MAX_DEPTH = 6


def name_words(name: str) -> list[str]:
    """Split a name into words: `getWeather_forecast` into get, weather, forecast."""
    return [part.lower() for part in _LOWER_UPPER.split(name) if part]


@cache
def _kinds() -> dict[str, str]:
    from benchwright.toolcalls import JSON_TYPES  # imported late: only requests with tools need it

    return {"int": "integer", **{name.lower(): kind for name, kind in JSON_TYPES.items()}}


def _kind(declared: JsonValue) -> str:
    """Return JSON Schema's name of a type in any spelling; an unknown type is a string."""
    return _kinds().get(str(declared).lower(), "string")


class Filler:
    """Fills schemas from one text, using each value only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lowered = text.lower()
        self._figures = [m for m in FIGURE.finditer(text) if len(m.group()) <= 20]
        self._quoted = [next(filter(None, m.groups())) for m in _QUOTED.finditer(text)]
        self._names = [m.group() for m in _NAME.finditer(text)]

    def fill(self, schema: JsonObject, depth: int = 0) -> JsonObject:
        """Return values for an object schema. Optional properties are filled only if the text has a value for them."""
        properties = schema.get("properties")
        if not isinstance(properties, dict) or depth > _MAX_DEPTH:
            return {}
        listed = schema.get("required")
        required = set(map(str, listed)) if isinstance(listed, list) else set(properties)
        filled: JsonObject = {}
        for name, sub in sorted(properties.items(), key=lambda item: item[0] not in required):
            value = self._value(name, sub if isinstance(sub, dict) else {}, name in required, depth)
            if value is not None:
                filled[name] = value
        return {name: filled[name] for name in properties if name in filled}

    def _value(self, name: str, schema: JsonObject, required: bool, depth: int) -> JsonValue:
        if "const" in schema:
            return schema["const"]
        options = schema.get("enum")
        if isinstance(options, list) and options:
            return self._enumerated(options, required)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "string")
        kind = _kind(kind)
        mentioned = any(word in self._lowered for word in name_words(name) if len(word) > 2)
        if kind == "boolean":
            if mentioned or required:
                return _NO.search(self._lowered) is None
            return None
        if kind in ("integer", "number"):
            return self._number(name, kind == "integer", required, mentioned)
        if kind == "array":
            return self._list(name, schema, required, depth)
        if kind == "object":
            return self.fill(schema, depth + 1) if required else None
        return self._string(name, schema, required, mentioned)

    def _enumerated(self, options: list[JsonValue], required: bool) -> JsonValue:
        for option in options:
            if isinstance(option, str) and re.search(
                rf"(?<!\w){re.escape(option.lower())}(?!\w)", self._lowered
            ):
                return option
        return options[0] if required else None

    def _number(self, name: str, whole: bool, required: bool, mentioned: bool) -> JsonValue:
        match = self._nearest_figure(name) if mentioned else None
        if match is None and required and self._figures:
            match = self._figures[0]
        if match is None:
            return (1 if whole else 1.0) if required else None
        self._figures.remove(match)
        value: Number = number_of(match.group())
        return int(value) if whole else value

    def _nearest_figure(self, name: str) -> re.Match[str] | None:
        """Return the closest figure after, else before, a word of the property's name."""
        best, nearest = None, 40
        for word in name_words(name):
            at = self._lowered.find(word) if len(word) > 2 else -1
            if at < 0:
                continue
            for match in self._figures:
                after = match.start() - at - len(word)
                distance = after if after >= 0 else 2 * (at - match.end()) + 4
                if 0 <= distance < nearest:
                    best, nearest = match, distance
        return best

    def _list(self, name: str, schema: JsonObject, required: bool, depth: int) -> JsonValue:
        items = schema.get("items")
        kind = _kind(items.get("type")) if isinstance(items, dict) else "string"
        bracketed = _LIST.search(self._text)
        source = bracketed.group(1) if bracketed else ""
        if kind in ("integer", "number"):
            figures = FIGURE.findall(source) or [match.group() for match in self._figures]
            if figures:
                self._figures.clear()
                return [
                    int(number_of(f)) if kind == "integer" else number_of(f) for f in figures if len(f) <= 20
                ]
            return [] if required else None
        if kind == "object" and isinstance(items, dict):
            return [self.fill(items, depth + 1)] if required else None
        words = [part.strip(" '\"") for part in source.split(",") if part.strip()]
        found: list[JsonValue] = [*(words or self._quoted or self._names)]
        if not found and required:
            found = [self._string(name, {}, True, False)]
        return found or None

    def _string(self, name: str, schema: JsonObject, required: bool, mentioned: bool) -> JsonValue:
        words = set(name_words(name))
        for hints, pattern in (
            ({"date", "day", "when"}, _DATE),
            ({"email", "mail"}, _MAIL),
            ({"url", "link", "website"}, _URL),
        ):
            if words & hints or schema.get("format") in hints:
                match = pattern.search(self._text)
                if match is not None:
                    return match.group()
        if not required and not mentioned:
            return None
        for pool in (self._quoted, self._names):
            if pool:
                return pool.pop(0)
        if not required:
            return None
        after = _AFTER.search(self._text)
        if after is not None:
            return after.group(1)
        rest = _WORD.findall(self._text)
        return rest[-1] if rest else ""


_COMMON = frozenset(
    {
        "the", "and", "for", "with", "from", "that", "this", "what", "which", "how", "are", "you", "can",
        "use", "get", "set", "given", "return", "returns", "value", "please", "me", "into", "about", "your",
        "our", "has", "have", "will", "would", "should", "number", "string", "list", "function", "tool",
        "need", "want",
    }
)  # fmt: skip
_STEM_CHARS = 5
"""Number of first letters by which words are compared: weather/weathers, calculate/calculating."""
_SEVERAL = late_pattern(
    r"\b(?:in|for|of|at)\s+((?:[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?:(?:, and |, | and )[A-Z][\w-]+(?: [A-Z][\w-]+)*)+)"
)
_BETWEEN = late_pattern(r", and |, | and ")


ToolCall: TypeAlias = tuple[str, JsonObject]
"""One call: a tool's name, and its arguments by parameter."""


def offered_tools(body: JsonObject) -> list[JsonObject]:
    """Return the functions that a request offers, in its order; none if `tool_choice` forbids calls."""
    tools = body.get("tools")
    if not isinstance(tools, list) or body.get("tool_choice") == "none":
        return []
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    return [
        function
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    ]


_DESCRIBED = late_pattern(r"\(JSON\): (?=\[)")


def described_functions(texts: list[str]) -> list[JsonObject]:
    """Return the functions that messages describe for models without native calls, as lists of JSON after `(JSON):`."""
    found: list[JsonObject] = []
    for text in texts:
        for mark in _DESCRIBED.finditer(text):
            try:
                listed, _ = JSONDecoder().raw_decode(text, mark.end())
            except (ValueError, RecursionError):
                continue
            found += [each for each in listed if isinstance(each, dict) and isinstance(each.get("name"), str)]
    return found


def written_calls(calls: list[ToolCall]) -> str:
    """Write calls as a Python list, with texts in double quotes, which are also valid in Java and JavaScript."""
    texts = (
        f"{name}({', '.join(f'{n}={_written(v)}' for n, v in arguments.items())})"
        for name, arguments in calls
    )
    return f"[{', '.join(texts)}]"


def _written(value: JsonValue) -> str:
    if isinstance(value, str):
        return encode_json(value).decode()
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(name)}: {_written(inner)}" for name, inner in value.items()) + "}"
    return repr(value)


def call_tools(functions: list[JsonObject], text: str, choice: JsonValue, parallel: bool) -> list[ToolCall]:
    """Return the calls that a text asks for; none if no tool fits and no call is required."""
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
    return [(str(function["name"]), Filler(each).fill(schema)) for each in texts]


def spoil_call(calls: list[ToolCall], bits: int) -> list[ToolCall]:
    """Make a plausible mistake: remove or change an argument, or leave out the call."""
    name, arguments = calls[0]
    if not arguments:
        return []
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
    return [(name, changed), *calls[1:]]


def wire_calls(calls: list[ToolCall], bits: int) -> list[JsonValue]:
    """Convert calls into the chat route's form; ids depend only on `bits` and the position."""
    return [
        {
            "id": f"call_{(bits + at * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF:016x}",
            "type": "function",
            "function": {"name": name, "arguments": encode_json(arguments).decode()},
        }
        for at, (name, arguments) in enumerate(calls)
    ]


def _fit(function: JsonObject, asked: set[str]) -> int:
    """Count the words that the question shares with the tool's name and description; the name counts double."""
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
    """Split a text such as "weather in Paris and Rome" into one text per name."""
    several = _SEVERAL.search(text)
    if several is None:
        return [text]
    start, end = several.span(1)
    return [text[:start] + name + text[end:] for name in _BETWEEN.split(several.group(1))]
