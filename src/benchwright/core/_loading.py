"""Whether a user's file is being loaded: its definitions are needed then, and nothing may be run or sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakSet

from benchwright.core._errors import UsageError

_loading: ContextVar[bool] = ContextVar("benchwright_loading", default=False)
"""A context variable: threads, and cells of a notebook's loop, that were there before may run what they like meanwhile."""
_before: list[frozenset[threading.Thread]] = []
"""For each file that is being loaded, the threads that were there before."""
_started: WeakSet[threading.Thread] = WeakSet()
"""Threads that appeared while a file was loaded: its own, which may live on and send later."""


@contextmanager
def loading_code() -> Iterator[None]:
    """Inside, `refuse_while_loading` raises; in threads that the file starts, from then on."""
    token = _loading.set(True)
    before = frozenset(threading.enumerate())
    _before.append(before)
    try:
        yield
    finally:
        _started.update(thread for thread in threading.enumerate() if thread not in before)
        _before.remove(before)
        _loading.reset(token)


def refuse_while_loading(function: str) -> None:
    """Raise UsageError if a file that is only being loaded calls `function`; the loader adds file and line."""
    if _loading.get() or _in_a_thread_of_the_file():
        raise UsageError(
            f"{function}() is called while the file is loaded; nothing was sent. Put this under "
            f"`if __name__ == '__main__':`, and start it with python, not with benchwright"
        )


def _in_a_thread_of_the_file() -> bool:
    thread = threading.current_thread()
    return thread in _started or any(thread not in before for before in _before)
