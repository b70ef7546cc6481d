"""Finds events that a server or a proxy sent more than once. Equal texts alone are no sign of that: an answer may say "ha" and
"ha" again, in events that are equal byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd

from benchwright.endpoints._sse import SseReader


def begins_twice(body: bytes, limit: int) -> bool | None:
    """Whether the second event of a stream equals the first; None if there are not two yet.

    >>> begins_twice(b"data: 1\\n\\ndata: 1\\n\\n", 99), begins_twice(b"data: 1\\n\\ndata: 2", 99), begins_twice(b"data: 1\\n\\nda", 99)
    (True, False, None)
    """
    if body.startswith(b"data: ") and b"\r" not in body[:200]:
        size = body.find(b"\n\n") + 2
        if size == 1:
            return None
        second = body[size : 2 * size]
        if not body.startswith(second):
            return False
        return True if len(second) == size else None
    events = SseReader(limit).feed(body)
    return events[0] == events[1] if len(events) > 1 else None


def copies_of_each(runs: Iterable[int]) -> int:
    """How often each event was sent, given how many equal ones came in a row.

    >>> copies_of_each([2, 4, 2]), copies_of_each([2, 3, 2])
    (2, 1)
    """
    return gcd(*runs)


def has_equal_neighbours(pieces: Sequence[object]) -> bool:
    """Whether two equal pieces came in a row, so that one of them may be a copy."""
    return any(one == other for one, other in pairwise(pieces))
