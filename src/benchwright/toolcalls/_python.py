"""Calls written in Python: `[f(a=1), g.h(b="x")]`. The text is parsed and read; nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.toolcalls._arithmetic import compute
from benchwright.toolcalls._call import CallDecodeError, Calls

_NO_NAMES: Mapping[str, Sequence[str]] = {}
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def decode_python(text: str, parameters: Mapping[str, Sequence[str]] = _NO_NAMES) -> Calls:
    """The calls of a list (or of one call) in Python. Positional arguments get the names of the function's `parameters`, and are
    dropped where these do not have it, as the published evaluation drops all of them."""
    return [_call(node, parameters) for node in parse_calls(text)]


def parse_calls(text: str) -> list[ast.Call]:
    """The syntax trees of the calls that a text lists."""
    try:
        body = _parse(text)
    except _PARSE_ERRORS as error:
        raise CallDecodeError(f"the text is not a Python expression: {_why(error)}", "syntax") from None
    nodes = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
    for node in nodes:
        if not isinstance(node, ast.Call):
            raise CallDecodeError(f"expected a list of calls, but found {_kind(node)}", "not_a_call")
    return nodes  # type: ignore[return-value]  # every one was looked at


def _parse(text: str) -> ast.expr:
    tree: ast.Expression
    if "\\" not in text:
        tree = compile(text, "<reply>", "eval", ast.PyCF_ONLY_AST)  # type: ignore[assignment]
        return tree.body
    with warnings.catch_warnings():  # "\d" warns, and where warnings are errors it would fail
        warnings.simplefilter("ignore")
        tree = compile(text, "<reply>", "eval", ast.PyCF_ONLY_AST)  # type: ignore[assignment]
    return tree.body


def _call(node: ast.Call, parameters: Mapping[str, Sequence[str]] = _NO_NAMES) -> dict[str, dict[Any, Any]]:
    try:
        name = dotted_name(node.func)
        named = {word.arg: value_of(word.value) for word in node.keywords}
        if node.args and (names := parameters.get(name)):
            for key, value in zip(names, node.args, strict=False):
                named.setdefault(key, value_of(value))
        return {name: named}
    except RecursionError:
        raise CallDecodeError("the call is nested too deep", "too_deep") from None
    except (ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, CallDecodeError):
            raise
        raise CallDecodeError(f"a value cannot be computed: {error}", "value") from None


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` as text. What is called must be named; the result of a call or of an index is not."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise CallDecodeError(f"a function is called by a plain name, not by {_kind(node)}", "not_a_name")
    parts.append(node.id)
    return ".".join(reversed(parts))


def value_of(node: ast.expr) -> Any:
    """The value that a literal stands for; a bare name, an index and a call without keywords stand for their own text."""
    if type(node) is ast.Constant:
        return "..." if node.value is ... else node.value
    read = _READERS.get(type(node))
    if read is None:
        raise CallDecodeError(f"a value must be a literal, but found {_kind(node)}", "not_a_literal")
    return read(node)


def _dict(node: ast.Dict) -> dict[Any, Any]:
    if None in node.keys:
        raise CallDecodeError("`**` inside a dictionary is not read", "not_a_literal")
    return {value_of(key): value_of(value) for key, value in zip(node.keys, node.values, strict=True) if key}


def _unary(node: ast.UnaryOp) -> Any:
    value = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if not isinstance(value, int | float | complex):
        raise CallDecodeError("a sign is allowed only before a number", "not_a_literal")
    if isinstance(node.op, ast.USub):
        return -value
    if isinstance(node.op, ast.UAdd):
        return +value
    raise CallDecodeError(f"{type(node.op).__name__} is not computed", "not_a_literal")


def _nested_call(node: ast.Call) -> Any:
    return _call(node) if node.keywords else ast.unparse(node)


def _binary(node: ast.BinOp) -> Any:
    return compute(type(node.op).__name__, operand(node.left), operand(node.right))


def operand(node: ast.expr) -> Any:
    """A side of an operator: a literal, never the text of a name."""
    if isinstance(node, ast.Name | ast.Subscript | ast.Call):
        raise CallDecodeError(f"nothing is computed with {_kind(node)}", "not_a_literal")
    return value_of(node)


_READERS: dict[type[ast.expr], Any] = {
    ast.List: lambda node: [value_of(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(value_of(item) for item in node.elts),
    ast.Dict: _dict,
    ast.Name: lambda node: node.id,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Call: _nested_call,
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
}


def _kind(node: ast.AST) -> str:
    return type(node).__name__


def _why(error: BaseException) -> str:
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deep"
    return str(getattr(error, "msg", None) or error) or type(error).__name__
