"""One commit per revision for all who read within a run.

Within `hub_commits()` every revision is looked up at most once, whoever asks: the rows, the examples and the checks of a
run see the same commit even when somebody pushes meanwhile. A run keeps what was found and hands it in again when it is
resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

looked_up: ContextVar[dict[str, str] | None] = ContextVar("hub_commits", default=None)
"""Commits by `org/name@revision`; None outside of `hub_commits()`."""


@contextmanager
def hub_commits(recorded: Mapping[str, str] | None = None) -> Iterator[dict[str, str]]:
    """Inside, every revision of every hub dataset stands for one commit; gives the dictionary of them.

    Args:
        recorded: what an earlier run found; those revisions are not looked up again.
    """
    found = dict(recorded or {})
    token = looked_up.set(found)
    try:
        yield found
    finally:
        looked_up.reset(token)
