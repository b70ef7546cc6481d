"""Prompts, system messages and messages, out of recorded request bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from benchwright.core import encode_json

RequestTexts: TypeAlias = tuple[Sequence[str | None], Sequence[str | None], Sequence[bytes | None]]
"""Prompts, system messages, and messages as JSON, each with a value per body."""

BETWEEN = "\0"
"""Between any two values that are read or written as one list."""
SEPARATOR = b',"\\u0000",'
"""`BETWEEN` as an element of a list."""
_MARK = "\0here"
"""Stands for the prompt while a frame is made. Should it stand elsewhere in the body too, there is no frame."""


def request_texts(bodies: Sequence[bytes | None]) -> RequestTexts:
    """The texts of each body; None where there is none. There must be bodies.

    Those of a run mostly differ in the last message alone, and reading only that takes half of the time or less.
    """
    return texts_in_one_frame(bodies) or texts_one_by_one(bodies)


def text_of(value: Any) -> str | None:
    """A text as it is, other values as JSON."""
    if value is None or isinstance(value, str):
        return value
    return encode_json(value).decode()


def texts_one_by_one(bodies: Sequence[bytes | None]) -> RequestTexts:
    prompts, systems, messages = zip(*map(_texts_in, bodies), strict=True)
    return prompts, systems, messages


def _texts_in(body: bytes | None) -> tuple[str | None, str | None, bytes | None]:
    if body is None:
        return None, None, None
    record: dict[str, Any] = orjson.loads(body)
    messages = record.get("messages")
    if not messages:
        return text_of(record.get("prompt")), None, None
    system = text_of(messages[0].get("content")) if messages[0].get("role") == "system" else None
    return _words(messages[-1].get("content")), system, encode_json(messages)


def _words(content: Any) -> str | None:
    """The text of a message; of content parts, that of those which are text."""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "\n".join(
            str(part["text"]) for part in content if part.get("type") == "text" and "text" in part
        )
    return text_of(content)


class _Frame(NamedTuple):
    """A body without the text of its last message."""

    head: bytes
    """All before that text."""
    tail: bytes
    """All after it."""
    begin: int
    """Where the messages begin."""
    end: int
    """Where they end, counted from the body's end."""


def texts_in_one_frame(bodies: Sequence[bytes | None]) -> RequestTexts | None:
    """The same for bodies that differ in the text of the last message alone; None where they do not."""
    frame = _frame_of(bodies[0])
    if frame is None:
        return None
    head, tail, begin, end = frame
    alike = [body for body in bodies if body is not None and body.startswith(head) and body.endswith(tail)]
    if len(alike) != len(bodies):
        return None
    first, last = len(head), -len(tail)
    prompts = load_strings([body[first:last] for body in alike])
    if prompts is None:
        return None
    _, system, _ = _texts_in(bodies[0])
    return prompts, [system] * len(bodies), [body[begin:end] for body in alike]


def _frame_of(body: bytes | None) -> _Frame | None:
    if body is None:
        return None
    record: dict[str, Any] = orjson.loads(body)
    *others, last = record.get("messages") or [{}]
    content = last.get("content")
    if not isinstance(content, str) or last.get("role") == "system":
        return None
    messages = [*others, {**last, "content": _MARK}]
    marked, inner = orjson.dumps({**record, "messages": messages}), orjson.dumps(messages)
    head, mark, tail = marked.partition(orjson.dumps(_MARK))
    if mark in tail or head + orjson.dumps(content) + tail != body:
        return None
    begin = marked.index(inner)  # there is no second place: the mark is in it
    return _Frame(head, tail, begin, begin + len(inner) - len(marked))


def load_strings(encoded: Sequence[bytes]) -> list[str] | None:
    """The strings, if each of `encoded` is exactly what `orjson` writes for one; None if any is something else.

    They are read as one list, with a string of our own between any two. So a quote that is left open ends at the
    next separator, after which the list is no JSON; and anything but one value changes the number of values.
    """
    joined = b"[%b]" % SEPARATOR.join(encoded)
    try:
        values: list[Any] = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None
    if len(values) != 2 * len(encoded) - 1 or set(map(type, values)) != {str}:
        return None
    return values[::2] if orjson.dumps(values) == joined else None
