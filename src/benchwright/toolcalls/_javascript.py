"""Calls written in JavaScript: `object.method(name = value, …)`. Values stay texts; the checker converts them by type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.toolcalls._call import CallDecodeError, Calls
from benchwright.toolcalls._syntax_trees import add_argument, parse, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_javascript(text: str) -> Calls:
    """The first call that is a statement by itself."""
    source = text.encode("utf-8", "replace")
    for statement in parse(source, "javascript").children:
        if statement.type != "expression_statement":
            continue
        for node in statement.children:
            if node.type == "call_expression":
                return [_call(source, node)]
    raise CallDecodeError("the text contains no call", "no_call")


def _call(source: bytes, node: Node) -> dict[str, dict[Any, Any]]:
    function, listed, *_ = node.children
    arguments: dict[Any, Any] = {}
    for child in listed.children:
        if child.type == "assignment_expression":
            left, _, right, *_ = (
                child.children
            )  # a comment replaces the value after it, as in the published decoder
            add_argument(arguments, text_of(source, left), _unquoted(text_of(source, right)))
        elif child.type in ("identifier", "true"):
            add_argument(arguments, None, text_of(source, child))
    return {text_of(source, function): arguments}


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
