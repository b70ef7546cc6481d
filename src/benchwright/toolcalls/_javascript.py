"""Calls written in JavaScript: `object.method(name = value, …)`. Values stay texts; the checker converts them by type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.toolcalls._call import CallDecodeError, Calls
from benchwright.toolcalls._syntax_trees import parse, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_javascript(text: str) -> Calls:
    """The first call that stands as a statement of its own."""
    source = text.encode("utf-8", "replace")
    for statement in parse(source, "javascript").children:
        if statement.type != "expression_statement":
            continue
        for node in statement.children:
            if node.type == "call_expression":
                return [_call(source, node)]
    raise CallDecodeError("the text holds no call", "no_call")


def _call(source: bytes, node: Node) -> dict[str, dict[Any, Any]]:
    function = node.child_by_field_name("function")
    listed = node.child_by_field_name("arguments")
    arguments: dict[Any, Any] = {}
    for child in listed.children if listed is not None else ():
        if child.type == "assignment_expression":
            left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
            if left is None or right is None:
                continue
            parameter: str | None = text_of(source, left)
            value = _unquoted(text_of(source, right))
        elif child.type in ("identifier", "true"):
            parameter, value = None, text_of(source, child)
        else:
            continue
        if parameter in arguments and parameter is not None:
            raise CallDecodeError(f"parameter {parameter} is given twice", "repeated")
        arguments[parameter] = value
    return {text_of(source, function) if function is not None else "": arguments}


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
