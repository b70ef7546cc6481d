"""The thin synchronous front: one event loop per call, the quickest there is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from benchwright.core import UsageError, refuse_while_loading


def in_event_loop(work: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None = None) -> Any:
    """Run a coroutine to its end on the quickest loop there is, also from inside a running loop.

    There, Ctrl-C calls `interrupt` twice before it raises: the thread of the work has no signals.
    """
    try:
        refuse_while_loading(getattr(work, "__name__", "this"))  # all that sends comes by here
    except UsageError:
        work.close()
        raise
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_loop(work)
    # A notebook or an async program: its loop is taken, so ours runs in a thread of its own.
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(_run_loop(work))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target, name="benchwright-run", daemon=True)
    thread.start()
    interrupts = 0
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            interrupts += 1
            if interrupt is None or interrupts > 2:
                raise
            interrupt()
    if failure:
        raise failure[0]
    return outcome[0]


def _run_loop(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
