"""Threads that never keep a process alive, for users' code that may block.

Python joins `ThreadPoolExecutor` when it exits and when an event loop closes, so a scorer that hangs would make a user
wait who has pressed Ctrl-C twice.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class DaemonThreads:
    """At most `limit` daemon threads that work for one event loop; they are started as needed."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[tuple[asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]] | None]
        self._jobs = queue.SimpleQueue()
        self._started = 0
        self._idle = 0

    def run(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Call a function in a thread. The future belongs to the event loop."""
        future: asyncio.Future[T] = self._loop.create_future()
        if self._idle == 0 and self._started < self._limit:
            self._started += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        else:
            self._idle = max(0, self._idle - 1)
        self._jobs.put((future, function, arguments))
        return future

    def close(self) -> None:
        """Let idle threads end; busy ones end with their job."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, function, arguments = job
            result: Any = None
            failure: BaseException | None = None
            try:
                result = function(*arguments)
            except BaseException as error:  # passed on through the future
                failure = error
            try:
                self._loop.call_soon_threadsafe(self._finish, future, result, failure)
            except RuntimeError:  # the loop is closed, so nothing waits for the result
                return

    def _finish(self, future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
        self._idle += 1
        if future.done():  # cancelled meanwhile
            return
        if failure is None:
            future.set_result(result)
        elif isinstance(failure, StopIteration):  # a future cannot carry it
            future.set_exception(RuntimeError("StopIteration"))
        else:
            future.set_exception(failure)
