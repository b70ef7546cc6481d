"""Exit codes, and which of several matters most."""

from __future__ import annotations

from collections.abc import Sequence

WORST_FIRST = (130, 1, 2, 4, 5, 3, 0)
"""All exit codes: interrupted, failed, wrong usage, not found, owned by another, not comparable, done."""


def worst_exit_code(codes: Sequence[int]) -> int:
    """The exit code that matters most.

    >>> worst_exit_code([0, 3, 1, 0]), worst_exit_code([])
    (1, 0)
    """
    return min(codes, key=WORST_FIRST.index, default=0)
