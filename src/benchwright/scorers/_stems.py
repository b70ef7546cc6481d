"""Finds where patterns can match: each begins with one of a few words, which are found much faster than the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def places(
    lower: str, stems: Iterable[str], begin: int = 0, end: int | None = None, most: int = 40
) -> list[int]:
    """Where one of the stems begins, the last place first; of each stem the last `most`.

    >>> places("so it is, so there", ["so", "is"])
    [10, 6, 0]
    """
    found = []
    stop = len(lower) if end is None else end
    for stem in stems:
        at = lower.rfind(stem, begin, stop)
        for _ in range(most):
            if at < 0:
                break
            found.append(at)
            at = lower.rfind(stem, begin, at)
    return sorted(found, reverse=True)


def matches_at(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin at these places."""
    return filter(None, (pattern.match(text, at) for at in starts))
