"""Parses Java and JavaScript texts into syntax trees with tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchwright.core import UsageError
from benchwright.toolcalls._call import LANGUAGE_TITLES, CallDecodeError, Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_DEPTH = 400
"""The most levels of a syntax tree. A bracket takes several; operators and dots nest without brackets."""

_PARSERS: dict[str, Parser] = {}


def parse(source: bytes, language: Language) -> Node:
    """The root of a text's syntax tree. Raises for text that does not parse or is nested too deeply."""
    root = _parser(language).parse(source).root_node
    _guard(root, language)
    return root


def text_of(source: bytes, node: Node) -> str:
    """The source text of a node. Offsets are in bytes, so text beyond ASCII stays whole."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def add_argument(arguments: dict[Any, Any], name: str | None, value: str) -> None:
    """Add an argument of a call. Arguments without a name share the key None, so only one is possible."""
    if name in arguments:
        raise CallDecodeError(
            "a call has one argument without a name at most" if name is None else f"parameter {name} is given twice",
            "repeated",
        )  # fmt: skip
    arguments[name] = value


def depth_first(node: Node) -> Iterator[Node]:
    """A node and all below it, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def _parser(language: Language) -> Parser:
    if language not in _PARSERS:
        try:
            from tree_sitter import Language as Grammar, Parser

            if language == "java":
                import tree_sitter_java as grammar
            else:
                import tree_sitter_javascript as grammar  # type: ignore[no-redef]
        except ImportError:
            raise MissingGrammarError(
                f"reading calls in {LANGUAGE_TITLES[language]} needs a parser: pip install 'benchwright[bfcl]'"
            ) from None
        _PARSERS[language] = Parser(Grammar(grammar.language()))
    return _PARSERS[language]


class MissingGrammarError(UsageError):
    """The parsers of Java and JavaScript are not installed."""


def _guard(root: Node, language: Language) -> None:
    """Raise for syntax errors and deep nesting. A cursor walks the tree without recursion. A missing mark, such as the last
    semicolon, is not an error."""
    if root.is_error:
        raise CallDecodeError(f"the text is not {LANGUAGE_TITLES[language]}", "syntax")
    cursor = root.walk()
    while True:
        if cursor.depth > MAX_DEPTH:
            raise CallDecodeError(f"the text is nested more than {MAX_DEPTH} levels deep", "too_deep")
        if not cursor.goto_first_child():
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
        node = cursor.node
        if node is not None and node.is_error:
            raise CallDecodeError(f"the text is not {LANGUAGE_TITLES[language]}", "syntax")
