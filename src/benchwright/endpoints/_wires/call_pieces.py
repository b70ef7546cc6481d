"""Assembles tool calls that a stream sends in pieces: the id once, the name mostly in one piece, the arguments bit by bit.

Servers differ in how they mark the call that a piece belongs to. OpenAI numbers the calls. Some servers leave the number
out, some give every call the number 0, and some repeat the name in every piece. So a piece begins a new call if its id
differs from that of the call at its place, or if it has a name but no number and the last call already has arguments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchwright.core import JsonValue, encode_json, load_json


class CallPieces:
    """The calls of one stream."""

    __slots__ = ("_calls", "_places")

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}  # by the server's number, the newest call that has it

    @classmethod
    def of(cls, events: Iterable[list[dict[str, Any]]]) -> CallPieces:
        """The calls of these events."""
        assembled = cls()
        for event in events:
            for position, call in enumerate(event):
                assembled.add(call, position)
        return assembled

    @property
    def readable(self) -> bool:
        """Whether the arguments of all calls are JSON, or empty."""
        try:
            for call in self._calls:
                load_json(call["function"]["arguments"] or "{}")
        except ValueError:
            return False
        return True

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, piece: dict[str, Any], position: int) -> None:
        """Add one piece; `position` is its place in its event, for servers that do not number calls."""
        given = piece.get("index")
        numbered = isinstance(given, int) and not isinstance(given, bool)
        number: int = given if numbered else position  # type: ignore[assignment]  # an int, as was just seen
        identity = piece.get("id")
        identity = identity if isinstance(identity, str) and identity else None
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        call = self._call_at(number, identity, begins=bool(name) and not numbered)
        repeated = identity is not None and call["id"] == identity and call["function"]["name"] == name
        if identity is not None:
            call["id"] = identity
        if not repeated:
            call["function"]["name"] += name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # complete, and not as a text
            arguments = encode_json(arguments).decode()
        if isinstance(arguments, str):
            call["function"]["arguments"] += arguments

    def _call_at(self, number: int, identity: str | None, *, begins: bool) -> dict[str, Any]:
        place = self._places.get(number)
        if place is not None:
            call = self._calls[place]
            known = call["id"]
            another = (
                known != identity if known and identity else bool(begins and call["function"]["arguments"])
            )
            if not another:
                return call
        self._places[number] = len(self._calls)
        self._calls.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
        return self._calls[-1]

    def as_list(self) -> list[JsonValue]:
        """The calls in the order of the server's numbers if these are consistent, else in the order of arrival."""
        if len(self._places) == len(self._calls):
            return [self._calls[place] for _, place in sorted(self._places.items())]
        return [*self._calls]
