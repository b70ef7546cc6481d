"""How many connections this process may have open: each is an open file, and a run without one left would lose rows."""

from __future__ import annotations

import os

_RESERVE = 8
"""Files that a run opens now and then: its data, its database, the files that it writes."""
_PLENTY = 1 << 20


def most_connections() -> int | None:
    """Connections that may be opened now, at least 1, after the limit of open files was raised as far as this process may; None if
    there is no limit, or it cannot be known."""
    try:
        import resource
    except ImportError:  # this system has no such limit
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _PLENTY if hard == resource.RLIM_INFINITY else hard
    if soft == resource.RLIM_INFINITY:
        return None
    if soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (ValueError, OSError):  # the system allows less
            pass
    try:
        open_now = len(os.listdir("/dev/fd"))
    except OSError:
        return None
    return max(1, soft - open_now - _RESERVE)
