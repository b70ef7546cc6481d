"""Whether a user's file is being loaded: what it defines is wanted then, and nothing may be run or sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from benchwright.core._errors import UsageError

_loading: ContextVar[bool] = ContextVar("benchwright_loading", default=False)
"""A context variable: other threads, and other cells of a notebook's loop, may run what they like meanwhile."""


@contextmanager
def loading_code() -> Iterator[None]:
    """Inside, `refuse_while_loading` raises."""
    token = _loading.set(True)
    try:
        yield
    finally:
        _loading.reset(token)


def refuse_while_loading(function: str) -> None:
    """Raise UsageError if a file that is only being loaded calls `function`; the loader adds file and line."""
    if _loading.get():
        raise UsageError(
            f"{function}() is called while the file is loaded; nothing was sent. Put this under "
            f"`if __name__ == '__main__':`, and start it with python, not with benchwright"
        )
