"""What the model was asked, out of recorded request bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from benchwright.core import encode_json
from benchwright.reports.views.json_lists import load_strings

Asked: TypeAlias = tuple[Sequence[str | None], Sequence[str | None], Sequence[bytes | None]]
"""Prompts, system messages, and messages as JSON, each with a value per body."""

_MARK = "\0here"
"""Stands for the prompt while a frame is made. Should it stand elsewhere in the body too, there is no frame."""


def asked(bodies: Sequence[bytes | None]) -> Asked:
    """What each body asks; nothing where there is none. There must be bodies.

    Those of a run mostly differ in the last message alone, and reading only that takes half of the time or less.
    """
    return _asked_in_one_frame(bodies) or _asked_one_by_one(bodies)


def text_of(value: Any) -> str | None:
    """A text as it is, other values as JSON."""
    if value is None or isinstance(value, str):
        return value
    return encode_json(value).decode()


def _asked_one_by_one(bodies: Sequence[bytes | None]) -> Asked:
    prompts, systems, messages = zip(*map(_asked_in, bodies), strict=True)
    return prompts, systems, messages


def _asked_in(body: bytes | None) -> tuple[str | None, str | None, bytes | None]:
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
    """All behind it."""
    begin: int
    """Where the messages begin."""
    end: int
    """Where they end, counted from the body's end."""


def _asked_in_one_frame(bodies: Sequence[bytes | None]) -> Asked | None:
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
    _, system, _ = _asked_in(bodies[0])
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
