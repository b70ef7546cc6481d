"""Runs coroutines to their end on the fastest available event loop, also inside a running one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from benchwright.core import UsageError, refuse_while_loading

_PATIENCE_S = 1.0
"""How long remaining tasks of a loop may take to end after they are cancelled."""


def in_event_loop(work: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None = None) -> Any:
    """Run a coroutine to its end on the fastest available loop, even from inside a running loop.

    Inside a running loop, Ctrl-C calls `interrupt` twice before it raises, because the thread of the work gets no signals.
    """
    try:
        refuse_while_loading(getattr(work, "__name__", "this"))  # everything that sends passes here
    except UsageError:
        work.close()
        raise
    if not _in_a_loop():
        with _runner() as runner:
            return runner.run(work)
    # A notebook or an async program already uses its loop, so ours runs in a separate thread.
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            with _runner() as runner:
                outcome.append(runner.run(work))
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


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _runner() -> Iterator[asyncio.Runner]:
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    runner = asyncio.Runner(loop_factory=factory)
    try:
        yield runner
    finally:
        loop = runner.get_loop()
        if _all_ended(loop):
            runner.close()
        else:  # closing the loop would wait for them
            loop.close()


def _all_ended(loop: asyncio.AbstractEventLoop) -> bool:
    """Cancel the remaining tasks of the loop. Returns False if some do not end, such as a scorer that catches everything."""
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return True
    for task in tasks:
        task.cancel()
    _, stubborn = loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE_S))
    for task in stubborn:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # no loop is left to report it
    return not stubborn
