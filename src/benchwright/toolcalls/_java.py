"""Calls written in Java: `object.method(name = value, …)`. Values stay texts; the checker converts them by type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.toolcalls._call import CallDecodeError, Calls
from benchwright.toolcalls._syntax_trees import add_argument, depth_first, parse, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_WHOLE = frozenset(("identifier", "class_literal", "type_identifier", "method_invocation"))
"""Nodes whose text is kept unchanged."""
_QUOTED = frozenset(("string_literal", "character_literal"))


def decode_java(text: str) -> Calls:
    """The first call of a Java text; others are left out, as the published evaluation does."""
    source = text.encode("utf-8", "replace")
    for node in depth_first(parse(source, "java")):
        if node.type == "method_invocation":
            return [_call(source, node)]
    raise CallDecodeError("the text contains no call", "no_call")


def _call(source: bytes, node: Node) -> dict[str, dict[Any, Any]]:
    name_node = node.child_by_field_name("name")
    holder = node.child_by_field_name("object")
    name = text_of(source, name_node) if name_node is not None else ""
    if holder is not None:
        name = f"{text_of(source, holder)}.{name}"
    arguments: dict[Any, Any] = {}
    listed = node.child_by_field_name("arguments")
    for child in listed.children if listed is not None else ():
        if child.type == "assignment_expression":
            left, _, right, *_ = (
                child.children
            )  # a comment replaces the value after it, as in the published decoder
            add_argument(arguments, text_of(source, left), _value(source, right, top=True))
        elif child.type in ("identifier", "class_literal"):
            add_argument(arguments, None, text_of(source, child))
    return {name: arguments}


def _value(source: bytes, node: Node, *, top: bool = False) -> str:
    """The text of a value, rebuilt without the white space between its parts."""
    if node.type in _QUOTED:
        text = text_of(source, node)
        return text[1:-1] if top else text
    if node.type in _WHOLE or not node.children:
        return text_of(source, node)
    if node.type == "object_creation_expression":
        return _creation(source, node)
    if node.type == "array_creation_expression":
        return _array(source, node)
    return "".join(_value(source, child) for child in node.children)


def _array(source: bytes, node: Node) -> str:
    """`new T[]{a,b}`, with one pair of brackets for any number of them. A size instead of values is not read."""
    kind, values = node.child_by_field_name("type"), node.child_by_field_name("value")
    if kind is None or values is None:
        raise CallDecodeError("an array is read by its values, not by its size", "not_a_literal")
    return f"new {_value(source, kind)}[]{_value(source, values)}"


def _creation(source: bytes, node: Node) -> str:
    """`new T(a, b)`. A class body, such as `{{ put(…); }}`, is lost here, as in the published evaluation."""
    kind = node.child_by_field_name("type")
    arguments = node.child_by_field_name("arguments")
    inner = [_value(source, child) for child in arguments.named_children] if arguments is not None else []
    return f"new {_value(source, kind) if kind is not None else ''}({', '.join(inner)})"
