"""Reads calls written in Python: `[f(a=1), g.h(b="x")]`. The text is parsed, but never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.toolcalls._arithmetic import compute, compute_unary
from benchwright.toolcalls._call import CallDecodeError, Calls

_NO_NAMES: Mapping[str, Sequence[str]] = {}
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
_TREE_ONLY = ast.PyCF_ONLY_AST
_LONG_TEXT = 3_000
"""Shorter texts have no number that Python could not write down again."""
_FILE = "<reply>"
warnings.filterwarnings(
    "ignore", module=_FILE
)  # Python comments on code such as 1if, which a reply may contain
_Call, _Constant, _Name, _Tuple = ast.Call, ast.Constant, ast.Name, ast.Tuple


def decode_python(text: str, parameters: Mapping[str, Sequence[str]] = _NO_NAMES) -> Calls:
    """The calls of a list (or one call) in Python. Positional arguments get the names of the function's `parameters`; if these
    are unknown they are dropped, as the published evaluation drops all of them."""
    return [_call(node, parameters) for node in parse_calls(text)]


def parse_calls(text: str) -> list[ast.Call]:
    """The syntax trees of the calls that a text lists."""
    nodes = _items(text)
    if nodes is None:
        try:
            body = _parse(text)
        except _PARSE_ERRORS as error:
            raise CallDecodeError(f"the text is not a Python expression: {_why(error)}", "syntax") from None
        nodes = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
    for node in nodes:
        if type(node) is not _Call:
            raise CallDecodeError(f"expected a list of calls, but found {_kind(node)}", "not_a_call")
    if len(text) > _LONG_TEXT:
        _guard_numbers(nodes)
    return nodes  # type: ignore[return-value]  # every one was looked at


def _items(text: str) -> list[ast.expr] | None:
    """The items of a list, parsed without its brackets, which takes an eighth less time. None if the text may mean something else
    with them: a comment would hide the last one, and a tuple in brackets is one item."""
    if "#" in text or "\\" in text or text[:1] != "[" or text[-1] != "]":
        return None
    try:
        tree: Any = compile(text[1:-1], _FILE, "eval", _TREE_ONLY, True)
    except _PARSE_ERRORS:
        return None  # such as a line break between the calls
    body = tree.body
    if type(body) is _Call:
        return [body]
    if type(body) is not _Tuple or not body.elts:
        return None
    items: list[ast.expr] = body.elts
    starts_alike = items[0].col_offset == body.col_offset and items[0].lineno == body.lineno
    return items if starts_alike else None


def _guard_numbers(nodes: list[ast.expr]) -> None:
    """Refuse numbers that no record can contain. Python does not read them in decimal digits, but in hexadecimal ones."""
    for item in nodes:
        for node in ast.walk(item):
            if type(node) is _Constant and type(node.value) is int:
                try:
                    str(node.value)
                except ValueError as error:
                    raise CallDecodeError(f"a number is too long: {error}", "value") from None


def _parse(text: str) -> ast.expr:
    with warnings.catch_warnings():  # "\d" warns, which would fail if warnings are errors
        warnings.simplefilter("ignore")
        tree: Any = compile(text, _FILE, "eval", _TREE_ONLY, True)
    body: ast.expr = tree.body
    return body


def _call(node: ast.Call, parameters: Mapping[str, Sequence[str]] = _NO_NAMES) -> dict[str, dict[Any, Any]]:
    try:
        function = node.func
        name = function.id if type(function) is _Name else dotted_name(function)
        named: dict[Any, Any] = {}
        for word in node.keywords:
            value = word.value
            # Most are constants; the call of a function would take as long as the rest.
            if type(value) is _Constant and (constant := value.value) is not ...:
                named[word.arg] = constant
            else:
                named[word.arg] = value_of(value)
        if parameters and (names := parameters.get(name)):
            for key, argument in zip(names, node.args, strict=False):
                named.setdefault(key, value_of(argument))
        return {name: named}
    except RecursionError:
        raise CallDecodeError("the call is nested too deeply", "too_deep") from None
    except (ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, CallDecodeError):
            raise
        raise CallDecodeError(f"a value cannot be computed: {error}", "value") from None


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` as text. Only names can be called, not results of calls or indexes."""
    name = ""
    while isinstance(node, ast.Attribute):
        name = f".{node.attr}{name}"
        node = node.value
    if not isinstance(node, ast.Name):
        raise CallDecodeError(f"a function is called by a plain name, not by {_kind(node)}", "not_a_name")
    return node.id + name


def value_of(node: ast.expr) -> Any:
    """The value of a literal; for a bare name, an index or a call without keywords, its text."""
    if type(node) is _Constant:
        value = node.value
        return "..." if value is ... else value
    read = _READERS.get(type(node))
    if read is None:
        raise CallDecodeError(f"a value must be a literal, but found {_kind(node)}", "not_a_literal")
    return read(node)


def _dict(node: ast.Dict) -> dict[Any, Any]:
    if None in node.keys:
        raise CallDecodeError("`**` inside a dictionary is not read", "not_a_literal")
    return {value_of(key): value_of(value) for key, value in zip(node.keys, node.values, strict=True) if key}


def _signed(node: ast.UnaryOp) -> Any:
    """A sign or another operator before a number. What is negated must be written as a number, as in the published evaluation."""
    value = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if not isinstance(value, int | float | complex):
        raise CallDecodeError("a sign is allowed only before a number", "not_a_literal")
    return compute_unary(_kind(node.op), value)


def _nested_call(node: ast.Call) -> Any:
    return _call(node) if node.keywords else ast.unparse(node)


def _computed(node: ast.expr) -> Any:
    """Compute an expression of constants. Names are errors at any depth: a text that replaces a name cannot be added."""
    if isinstance(node, ast.BinOp):
        return compute(_kind(node.op), _computed(node.left), _computed(node.right))
    if isinstance(node, ast.UnaryOp):
        return compute_unary(_kind(node.op), _computed(node.operand))
    if isinstance(node, ast.Constant) and node.value is not ...:
        return node.value
    if isinstance(node, ast.List):
        return list(map(_computed, node.elts))
    if isinstance(node, ast.Tuple):
        return tuple(map(_computed, node.elts))
    if isinstance(node, ast.Dict) and None not in node.keys:
        return dict(zip(map(_computed, node.keys), map(_computed, node.values), strict=True))  # type: ignore[arg-type]
    raise CallDecodeError(f"nothing is computed with {_kind(node)}", "not_a_literal")


_READERS: dict[type[ast.expr], Any] = {
    ast.List: lambda node: [value_of(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(value_of(item) for item in node.elts),
    ast.Dict: _dict,
    ast.Name: lambda node: node.id,
    ast.UnaryOp: _signed,
    ast.BinOp: _computed,
    ast.Call: _nested_call,
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
}


def _kind(node: ast.AST) -> str:
    return type(node).__name__


def _why(error: BaseException) -> str:
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply"
    return str(getattr(error, "msg", None) or error) or type(error).__name__
