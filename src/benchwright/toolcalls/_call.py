"""A call, and the error for a reply without calls."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from benchwright.core import BenchwrightError

Language: TypeAlias = Literal["python", "java", "javascript"]
"""The languages in which calls can be written."""

LANGUAGE_TITLES: dict[str, str] = {"java": "Java", "javascript": "JavaScript"}
"""Names of languages other than Python, in messages and prompts."""
Calls: TypeAlias = list[dict[str, dict[Any, Any]]]
"""Calls in order, each as `{name: {parameter: value}}`. A key may be None if the text gave no name."""


READABLE = frozenset({None, "no_calls", "no_text"})
"""Of the reasons why a reply has no calls, those that leave nothing unread: there are calls, words, or nothing at all."""


class CallDecodeError(BenchwrightError, ValueError):
    """A reply that cannot be read as calls. `reason` is one word for tables, the text is for people."""

    def __init__(self, message: str, reason: str = "not_calls") -> None:
        super().__init__(message)
        self.reason = reason


class Call(Struct, frozen=True):
    """One call of a function."""

    name: str
    """The function, with its dots."""
    arguments: dict[Any, Any]
    """Values by parameter."""

    @classmethod
    def of(cls, item: dict[str, dict[Any, Any]]) -> Call:
        """The call that `{name: {parameter: value}}` describes."""
        ((name, arguments),) = item.items()
        return cls(name, arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def is_calls(value: object) -> bool:
    """Whether a decoded value is a list of objects with one key and an object as value. An empty list is.

    >>> is_calls([{"f": {}}]), is_calls([]), is_calls([{}])
    (True, True, False)
    """
    return isinstance(value, list) and all(
        isinstance(item, dict) and len(item) == 1 and all(isinstance(v, dict) for v in item.values())
        for item in value
    )
