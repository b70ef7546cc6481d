"""Calls that pass by a row's ground truth, found by trying allowed values in the ways a language writes them."""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from benchwright.bfcl import CATEGORIES, check_ast, decode_calls
from benchwright.core import Row

_MOST = 64
"""Ways to write one value that are tried."""


class Source(str):
    """A value as it stands in code; in native mode the text of it is sent."""


class Written(NamedTuple):
    """A call as a model would write it."""

    name: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        """As prompting mode takes it."""
        return f"{self.name}({', '.join(f'{key}={_code(value)}' for key, value in self.arguments.items())})"


Reply: TypeAlias = "list[Written]"


def truth_reply(row: Row, turn: int, functions: Sequence[Row], *, native: bool) -> Reply:
    """What a model that knows the ground truth calls in a turn of a row."""
    category = CATEGORIES[row["category"]]
    if category.check == "irrelevance":
        return []
    if category.check == "relevance":
        return [Written(functions[0]["name"], {})]
    if category.check == "multi_turn":
        return [_parsed(text, functions) for text in row["ground_truth"][turn]]
    by_name = {function["name"]: function for function in functions}
    found = []
    for truth in row["ground_truth"]:
        ((name, allowed),) = truth.items()
        document = functions[0] if category.by_place else by_name[name]
        found.append(_call(document, allowed, category.language, native))
    return found


def as_message(reply: Reply, *, native: bool) -> dict[str, Any]:
    """A reply as the message of an assistant."""
    if not reply:
        return {"content": "There is nothing to call."}
    if not native:
        return {"content": f"[{', '.join(call.text for call in reply)}]"}
    calls = [
        {
            "id": f"c{number}", "type": "function",
            "function": {"name": call.name.replace(".", "_"), "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(reply)
    ]  # fmt: skip
    return {"content": None, "tool_calls": calls}


def _call(document: Row, expected: Mapping[str, Any], language: str, native: bool) -> Written:
    parameters = document.get("parameters") or {}
    schemas, required = parameters.get("properties") or {}, parameters.get("required") or ()
    chosen = {}
    for name, allowed in expected.items():
        if name not in schemas:
            continue  # three published truths name a parameter that is none, and let it be left out
        schema = schemas[name]
        alone = {"name": "f", "parameters": {"properties": {name: schema}, "required": []}}
        for value in _candidates(allowed, schema, language):
            if _passes(alone, {name: value}, {name: allowed}, language, native):
                chosen[name] = value
                break
        else:
            if name in required or not _passes(alone, {}, {name: allowed}, language, native):
                chosen[name] = next(_candidates(allowed, schema, language), "")  # and the row is wrong
    return Written(document["name"], chosen)


def _passes(document: Row, arguments: Any, truth: Any, language: str, native: bool) -> bool:
    """Whether the checker takes the value of one parameter, by the way on which a reply reaches it."""
    calls: Any = [{"f": json.loads(json.dumps(arguments))}]
    if not native:
        try:
            calls = decode_calls(f"[{Written('f', arguments).text}]", language)  # type: ignore[arg-type]
        except ValueError:
            return False
    category = "simple" if language == "python" else language
    return check_ast([document], calls, [{"f": truth}], category).valid


def _candidates(allowed: Any, schema: Mapping[str, Any], language: str) -> Iterator[Any]:
    """Values to try, the likely ones first; an empty text last."""
    values = [value for value in allowed if value != ""] if isinstance(allowed, list) else [allowed]
    if any(value == "" for value in allowed if isinstance(allowed, list)):
        values.append("")
    for value in values:
        for plain in itertools.islice(_plain(value), _MOST):
            yield from [plain] if language == "python" else _foreign(plain, schema, language)


def _plain(value: Any) -> Iterator[Any]:
    """Values that an allowed one stands for: its objects hold lists of allowed values."""
    if isinstance(value, dict):
        ways = [[*_ways(allowed)] for allowed in value.values()]
        for chosen in itertools.product(*ways):
            yield {key: item for key, item in zip(value, chosen, strict=True) if item is not _LEFT_OUT}
        yield value  # nested objects are compared as they stand
        yield {}
    elif isinstance(value, list):
        for items in itertools.product(*([*itertools.islice(_plain(item), _MOST)] for item in value)):
            yield [*items]
    else:
        yield value


_LEFT_OUT = object()


def _ways(allowed: Any) -> Iterator[Any]:
    if not isinstance(allowed, list):
        yield allowed
        return
    for value in allowed:
        if value == "":
            yield _LEFT_OUT
        else:
            yield value
            if isinstance(value, dict | list):
                yield from itertools.islice(_plain(value), 8)


def _foreign(value: Any, schema: Mapping[str, Any], language: str) -> Iterator[Any]:
    """A value as Java or JavaScript write it."""
    kind = str(schema.get("type"))
    items = schema.get("items")
    inner = str(items.get("type")) if isinstance(items, dict) else "String"
    if isinstance(value, str):
        yield value
        yield Source(value)
        return
    if language == "java" and isinstance(value, list):
        for element in dict.fromkeys((inner, "String", "any")):
            listed = ", ".join(_java(item, element) for item in value)
            yield Source(f"new {element}[]{{{listed}}}")
            yield Source(f"new ArrayList<{element}>(Arrays.asList({listed}))")
            # Items of arrays keep their quotes in the published rules, so only texts without them pass.
            yield f"new {element}[]{{{', '.join(map(_unquoted, value))}}}"
    elif language == "java" and isinstance(value, dict):
        puts = " ".join(f'put("{key}", {_java(item, "any")});' for key, item in value.items())
        yield Source(f"new HashMap<String, Object>() {{{{ {puts} }}}}")
    elif language == "java":
        yield Source(_java(value, kind))
    else:
        yield Source(f"{value}n" if kind == "Bigint" else json.dumps(value))
    if isinstance(value, list | dict):
        yield Source(_unquoted(value))
    yield Source(json.dumps(value))


def _unquoted(value: Any) -> str:
    """With texts as they stand: names and expressions."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_unquoted(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_unquoted, value)) + "]"
    return value if isinstance(value, str) else json.dumps(value)


def _java(value: Any, kind: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value)
    return f"{value}{ {'long': 'L', 'float': 'f'}.get(kind, '') }"


def _code(value: Any) -> str:
    return str(value) if isinstance(value, Source) else _literal(value)


def _literal(value: Any) -> str:
    if isinstance(value, Called):
        return value.text
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


class Called(dict[str, Any]):
    """A call inside a call, `{name: {parameter: value}}`."""

    @property
    def text(self) -> str:
        """As code."""
        ((name, arguments),) = self.items()
        return Written(name, arguments).text


def _parsed(text: str, functions: Sequence[Row]) -> Written:
    """A call of a published ground truth. Values without a name get that of their place."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call), text
    return _of_node(node, functions)


def _of_node(node: ast.Call, functions: Sequence[Row]) -> Written:
    name = ast.unparse(node.func)
    names = next([*f["parameters"]["properties"]] for f in functions if f["name"] == name)
    given = [*zip(names, node.args, strict=False), *((str(word.arg), word.value) for word in node.keywords)]
    return Written(name, {key: _value(value, functions) for key, value in given})


def _value(node: ast.expr, functions: Sequence[Row]) -> Any:
    if isinstance(node, ast.Call):
        inner = _of_node(node, functions)
        return Called({inner.name: inner.arguments})
    return ast.literal_eval(node)
