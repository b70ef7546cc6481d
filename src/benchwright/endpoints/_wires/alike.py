"""Events that look alike: what they share is learned once, and then only their texts are read.

The events of one stream differ by one text. The events of two streams differ, besides, by the id and the time that
all events of a stream have. So what is learned from one stream is a guess for the next.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from benchwright.core import Route

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_MOST_TRIES = (
    16  # to find out what streams share: a server whose streams share nothing costs no more than this
)


class Shape(NamedTuple):
    """The bytes around the text of an event that holds nothing else of interest."""

    head: bytes
    """Up to the opening quote."""
    tail: bytes
    """From after the closing quote."""
    name: str
    """Where the text belongs."""

    def fits(self, data: bytes) -> bool:
        """Whether an event looks so. What stands between is for the caller to read."""
        return (
            len(data) >= len(self.head) + len(self.tail)
            and data.startswith(self.head)
            and data.endswith(self.tail)
        )

    def texts(self, events: list[bytes]) -> list[str] | None:
        """The texts of events, all of which look so; None if one of them does not."""
        start, stop = len(self.head), -len(self.tail)
        texts = [data[start:stop] for data in events]
        # Put together again and compared at once: looking at each event took four times as long.
        if (b"%b\n%b" % (self.tail, self.head)).join(texts) != b"\n".join(events)[start:stop]:
            return None
        # A line feed cannot be inside a JSON text, so no text can reach beyond its event.
        try:
            found: list[str] = orjson.loads(b"[%b]" % b",\n".join(texts))
        except ValueError:
            return None
        return found if len(found) == len(events) and set(map(type, found)) == {str} else None


def shape_of(data: bytes, event: dict[str, Any], route: Route) -> Shape | None:
    """The shape of an event that holds one piece of text and nothing else that is read; None for any other.

    >>> shape_of(b'{"choices":[{"delta":{"content":"4"}}]}', {"choices": [{"delta": {"content": "4"}}]}, "chat")
    Shape(head=b'{"choices":[{"delta":{"content":', tail=b'}}]}', name='content')
    """
    if event.get("usage") or len(event["choices"]) != 1:
        return None
    choice = event["choices"][0]
    holder = choice if route == "completions" else choice.get("delta")
    if not isinstance(holder, dict):
        return None
    if route == "completions":
        names = ["text"]
    else:
        names = [name for name, value in holder.items() if value and name != "role"]
        if len(names) != 1 or names[0] not in ("content", "reasoning_content", "reasoning"):
            return None
    name = names[0]
    key = data.find(b'"%b":' % name.encode())
    literal = None if key < 0 else _STRING.search(data, key + len(name) + 3)
    if literal is None:
        return None
    shape = Shape(data[: literal.start()], data[literal.end() :], name)
    # With another text in its place the event must be the same but for that text.
    probe = orjson.loads(b'%b"\\u0001"%b' % (shape.head, shape.tail))
    text, holder[name] = holder[name], "\x01"
    same = probe == event
    holder[name] = text
    return shape if same else None


class _Form(NamedTuple):
    """A shape with blanks for what differs from stream to stream."""

    head: bytes
    tail: bytes
    name: str

    def shape(self, stream: str, created: int) -> Shape:
        known = {b"id": orjson.dumps(stream), b"created": b"%d" % created}
        return Shape(self.head % known, self.tail % known, self.name)


class Shapes:
    """The shapes that the streams of one endpoint had."""

    __slots__ = ("_forms", "_tries")

    def __init__(self) -> None:
        self._forms: dict[tuple[Route, str], _Form] = {}
        self._tries = 0

    def of_stream(self, event: dict[str, Any], route: Route) -> list[Shape]:
        """Shapes that the events of a stream may have, by any of its events."""
        stream, created = event.get("id"), event.get("created")
        if not self._forms or type(stream) is not str or type(created) is not int:
            return []
        return [form.shape(stream, created) for (of, _), form in self._forms.items() if of == route]

    def keep(self, shape: Shape, event: dict[str, Any], route: Route) -> None:
        """Remember the shape of an event, if it can be told where its id and its time stand."""
        stream, created = event.get("id"), event.get("created")
        if type(stream) is not str or type(created) is not int or self._tries >= _MOST_TRIES:
            return
        self._tries += 1
        both = b"%b\n%b" % (shape.head.replace(b"%", b"%%"), shape.tail.replace(b"%", b"%%"))
        for value, blank in (
            (orjson.dumps(stream).replace(b"%", b"%%"), b"%(id)b"),
            (b"%d" % created, b"%(created)b"),
        ):
            if both.count(value) != 1:
                return
            both = both.replace(value, blank)
        head, _, tail = both.partition(b"\n")
        form = _Form(head, tail, shape.name)
        # With another id and another time in their places, these and nothing else must be different.
        other = form.shape("\x01", -created - 1)
        text = orjson.dumps(_text_of(event, shape.name, route))
        try:
            probe = orjson.loads(b"%b%b%b" % (other.head, text, other.tail))
        except ValueError:
            return
        if probe == {**event, "id": "\x01", "created": -created - 1}:
            self._forms[route, shape.name] = form


def _text_of(event: dict[str, Any], name: str, route: Route) -> str:
    choice = event["choices"][0]
    text: str = choice[name] if route == "completions" else choice["delta"][name]
    return text
