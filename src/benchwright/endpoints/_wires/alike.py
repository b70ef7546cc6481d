"""Reads events that differ only in one text: their common parts are learned once, and then only the texts are read.

The events of one stream differ by one text. The events of two streams also differ by the id and the time that all events
of a stream share. So the shapes learned from one stream are a guess for the next.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from benchwright.core import Route, late_pattern

_STRING = late_pattern(rb'"(?:[^"\\]|\\.)*"')
_BEFORE, _AFTER = b"data: ", b"\n\n"
"""The bytes before and after the data of an event."""
MOST_BYTES = 256 * 1024
"""The most bytes of texts that are read together."""
_MOST_TRIES = 16  # to learn what streams share; for a server whose streams share nothing, learning ends here


class Shape:
    """The common form of events that differ by one text: the bytes before and after the text."""

    __slots__ = ("_plain", "head", "is_thought", "tail")

    def __init__(self, head: bytes, tail: bytes, is_thought: bool) -> None:
        self.head = head
        """The bytes up to the opening quote of the text, starting with `data: `."""
        self.tail = tail
        """The bytes after the closing quote, with the empty line that ends an event."""
        self.is_thought = is_thought
        """Whether the text is reasoning."""
        self._plain: Shape | None = None

    @property
    def plain(self) -> Shape:
        """The same shape for the data of events, without `data: ` and the empty line."""
        plain = self._plain
        if plain is None:
            plain = self._plain = Shape(self.head[len(_BEFORE) :], self.tail[: -len(_AFTER)], self.is_thought)
        return plain

    def fits(self, event: bytes) -> bool:
        """Whether an event begins and ends like this shape. `texts` reads the part between."""
        return event.startswith(self.head) and event.endswith(self.tail)

    def count_after(self, events: list[bytes], most: int) -> int:
        """The number of events after the last one with this shape, at most `most`."""
        for count in range(most):
            if not events[: len(events) - count] or self.fits(events[-1 - count]):
                return count
        return most

    def texts(self, events: list[bytes]) -> list[str] | None:
        """The texts of events; None if one has another shape, or contains anything but a text. Empty texts are included."""
        found = self.values(events)
        try:
            "".join(found or ())
        except TypeError:
            return None
        return found

    def values(self, events: list[bytes]) -> list[Any] | None:
        """The JSON values in place of the texts of events; None if one has another shape, or contains no value."""
        head, tail = self.head, self.tail
        texts = list(map(itemgetter(slice(len(head), -len(tail))), events))
        # The events are rebuilt and compared as a whole: checking each one took three times as long.
        if b"%b%b%b" % (head, (b"%b\n%b" % (tail, head)).join(texts), tail) != b"\n".join(events):
            return None
        # A JSON text cannot contain a line feed, so no text can reach beyond its event; nor may a line feed be next to it.
        inside = b",\n".join(texts)
        if inside.count(b"\n") != len(texts) - 1 or len(inside) > MOST_BYTES:
            return None
        try:
            found: list[Any] = orjson.loads(b"[%b]" % inside)
        except ValueError:
            return None
        return found if len(found) == len(events) else None


def shape_of(data: bytes, event: dict[str, Any], route: Route) -> Shape | None:
    """The shape of an event that contains one piece of text and nothing else that is read; None for any other.

    >>> shape_of(b'{"choices":[{"delta":{"content":"4"}}]}', {"choices": [{"delta": {"content": "4"}}]}, "chat").head
    b'data: {"choices":[{"delta":{"content":'
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
    head, tail = data[: literal.start()], data[literal.end() :]
    if b"\n" in head or b"\n" in tail:  # the event has several lines
        return None
    # With another text in its place, the event must be the same except for that text.
    probe = orjson.loads(b'%b"\\u0001"%b' % (head, tail))
    text, holder[name] = holder[name], "\x01"
    same = probe == event
    holder[name] = text
    if not same:
        return None
    return Shape(_BEFORE + head, tail + _AFTER, is_thought=name.startswith("reasoning"))


class _Form(NamedTuple):
    """A shape with placeholders for the parts that differ from stream to stream."""

    head: bytes
    tail: bytes
    is_thought: bool

    def shape(self, stream: str, created: int) -> Shape:
        known = {b"id": orjson.dumps(stream), b"created": b"%d" % created}
        head, tail = self.head % known, self.tail
        return Shape(head, tail % known if b"%" in tail else tail, self.is_thought)


class Shapes:
    """The shapes that the streams of one endpoint had."""

    __slots__ = ("_answers", "_forms", "_tries", "after", "splits")

    def __init__(self) -> None:
        self.after = 1
        """Events between the last text and the end mark of the last stream that was read at once: a guess for the next."""
        self.splits = False
        """Whether the server sends tokens in several pieces, so that there are more pieces than tokens."""
        self._forms: dict[Route, list[_Form]] = {}
        self._answers: dict[Route, _Form] = {}  # of these, the one of text that is not reasoning
        self._tries = 0

    def of_stream(self, event: dict[str, Any], route: Route) -> list[Shape]:
        """The shapes that the events of a stream may have, given one of its events."""
        forms = self._forms.get(route)
        if forms is None:
            return []
        stream, created = event.get("id"), event.get("created")
        if type(stream) is not str or type(created) is not int:
            return []
        return [form.shape(stream, created) for form in forms]

    def of_answer(self, stream: str | None, created: int | None, route: Route) -> Shape | None:
        """The shape of events with text in a stream with this id and time, if earlier streams had one."""
        form = self._answers.get(route)
        if form is None or stream is None or created is None:
            return None
        return form.shape(stream, created)

    def keep(self, shape: Shape, event: dict[str, Any], route: Route) -> None:
        """Remember the shape of an event, if the places of its id and its time can be found."""
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
        form = _Form(head, tail, shape.is_thought)
        # With another id, time and text in their places, exactly these must be different.
        other = form.shape("\x01", -created - 1).plain
        same = form.shape(stream, created).plain
        try:
            probe, plain = (orjson.loads(b'%b"\\u0001"%b' % (of.head, of.tail)) for of in (other, same))
        except ValueError:
            return
        if probe == {**plain, "id": "\x01", "created": -created - 1}:
            forms = self._forms.setdefault(route, [])
            forms[:] = [kept for kept in forms if kept.is_thought != form.is_thought] + [form]
            if not form.is_thought:
                self._answers[route] = form
