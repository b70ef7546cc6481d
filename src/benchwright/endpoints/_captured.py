"""For callers who want to see replies as the server sent them: engines do not, so nothing is kept for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from benchwright.core import JsonValue

_TAKER: ContextVar[list[JsonValue] | None] = ContextVar("benchwright_captured_bodies", default=None)


@contextmanager
def captured_bodies() -> Iterator[list[JsonValue]]:
    """Collects the JSON body of every reply that is read within; the last is that of the reply
    which counts."""
    bodies: list[JsonValue] = []
    token = _TAKER.set(bodies)
    try:
        yield bodies
    finally:
        _TAKER.reset(token)


def capture(body: Any) -> None:
    """A body was read."""
    bodies = _TAKER.get()
    if bodies is not None:
        bodies.append(body)
