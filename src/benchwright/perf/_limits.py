"""Checks the limit of open files before a test starts. Every connection is an open file, and a test that runs out of them
measures only that."""

from __future__ import annotations

from benchwright.core import UsageError
from benchwright.perf._values import LoadSettings

_OWN_FILES = 64
"""Open files that a process needs in addition to its connections."""


def most_connections(workers: int) -> int | None:
    """Connections that this many processes can have open together; None: no limit."""
    try:
        import resource
    except ImportError:
        return None
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else workers * max(1, hard - _OWN_FILES)


def check_files(settings: LoadSettings, connections: int | None) -> None:
    """Raise the limit of open files as far as this process may. Raises UsageError, with the cure, if `connections` at once exceed
    it; None: their number is unknown."""
    try:
        import resource
    except ImportError:  # this system has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 1 << 20 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (ValueError, OSError):  # the system allows less
            pass
    each = -(-(connections or 0) // settings.workers) + _OWN_FILES
    if soft != resource.RLIM_INFINITY and each > soft:
        workers = -(-(connections or 0) // max(1, soft - _OWN_FILES))
        raise UsageError(
            f"{connections:,} requests in flight need {each:,} open files in a process, and this one may open {soft:,}. "
            f"Raise the limit (ulimit -n {each}), or spread them over processes: --workers {workers}"
        )
