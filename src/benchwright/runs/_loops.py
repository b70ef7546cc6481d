"""The thin synchronous front: one event loop per call, the quickest there is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from benchwright.core import UsageError, refuse_while_loading

_PATIENCE_S = 1.0
"""How long what is left in a loop may take to end once it is cancelled."""


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
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    runner = asyncio.Runner(loop_factory=factory)
    try:
        return runner.run(work)
    finally:
        loop = runner.get_loop()
        if _all_ended(loop):
            runner.close()
        else:  # which would wait for them
            loop.close()


def _all_ended(loop: asyncio.AbstractEventLoop) -> bool:
    """Cancel what is left in the loop; False if some of it does not end, such as a scorer that catches everything."""
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return True
    for task in tasks:
        task.cancel()
    _, stubborn = loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE_S))
    for task in stubborn:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # there is nobody left to complain to
    return not stubborn
