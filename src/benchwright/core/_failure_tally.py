"""Finds the most common failure among many messages."""

from __future__ import annotations

from benchwright.core._late_patterns import late_pattern

_NUMBERS = late_pattern(r"\d+")
_COMPARED = 200
"""Number of leading characters by which reasons are told apart."""
_MOST_REASONS = 1000


class FailureTally:
    """Counts failures by reason. Messages that differ only in numbers count as one reason.

    >>> tally = FailureTally()
    >>> for error in ("no reply in 30 s", "HTTP 500", "no reply in 31 s"):
    ...     tally.add(error)
    >>> tally.commonest(), tally.total
    ((2, 'no reply in 30 s'), 3)
    """

    __slots__ = ("_reasons", "total")

    def __init__(self) -> None:
        self._reasons: dict[str, tuple[int, str]] = {}
        self.total = 0
        """Failures counted."""

    def add(self, error: str) -> None:
        """Count a failure."""
        self.total += 1
        reason = _NUMBERS.sub("0", error[:_COMPARED])
        if reason in self._reasons or len(self._reasons) < _MOST_REASONS:
            count, first = self._reasons.get(reason, (0, error))
            self._reasons[reason] = count + 1, first

    def commonest(self) -> tuple[int, str]:
        """How often the most common failure occurred (the earliest of equals), and its first message; 0 and empty if there
        is none."""
        return max(self._reasons.values(), key=lambda reason: reason[0], default=(0, ""))
