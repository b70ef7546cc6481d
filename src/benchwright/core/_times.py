"""Wall-clock times as texts."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(seconds: float) -> str:
    """A wall-clock time in UTC, with microseconds and `Z`.

    >>> rfc3339(0.5)
    '1970-01-01T00:00:00.500000Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
