"""Finds events that a server or a proxy sent more than once. Equal texts alone are no sign of that: an answer may say "ha" and
"ha" again, in events that are equal byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
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


def times_sent(parts: Iterable[Sequence[object]], counted: float) -> int:
    """How often a whole answer was sent, given the pieces of its parts and how many the server counted, perhaps with one for
    the end. 1, if the parts are not one sequence again and again, or the count does not fit one of them.

    >>> times_sent([["4", "2", "4", "2"], []], 2), times_sent([["4", "2", "4", "2"], []], 4)
    (2, 1)
    """
    held = [part for part in parts if part]
    total = sum(map(len, held))
    for size in (counted, counted - 1):
        if 1 < size < total and not total % size:
            times = int(total // size)
            if all([*part] == [*part[: len(part) // times]] * times for part in held):
                return times
    return 1


def may_have_copies(pieces: Sequence[object], excess: int) -> bool:
    """Whether some of the pieces may be copies, if there are this many more than the server counted: two equal ones came in a
    row, or so many that came again at once.

    >>> may_have_copies(["a", "a", "b"], 1), may_have_copies(["a", "b", "c", "b", "c"], 2), may_have_copies(["a", "b", "a"], 1)
    (True, True, False)
    """
    return any(_comes_again(pieces, size) for size in ({1, excess, excess + 1} if excess else {1}))


def _comes_again(pieces: Sequence[object], size: int) -> bool:
    """Whether so many pieces are equal to as many directly after them."""
    equal = 0
    for one, other in zip(pieces, islice(pieces, size, None), strict=False):
        equal = equal + 1 if one == other else 0
        if equal == size:
            return True
    return False
