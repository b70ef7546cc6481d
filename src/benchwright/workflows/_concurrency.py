"""Works on many items at once, within bounds, and leaves nothing running.

At most `max_concurrency` workers run. Items that were pulled and not yet yielded never exceed that plus a buffer, and
nothing is pulled while the consumer does not ask. On an error, `aclose` or cancellation, every worker is cancelled and
awaited before control returns. A `break` drops the iterator, which cancels the workers.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct

T = TypeVar("T")
U = TypeVar("U")

YieldOrder: TypeAlias = Literal["input", "completion"]
"""Results in the order of the items, or in the order of completion."""

OnWorkerError: TypeAlias = Literal["raise", "yield"]
"""Whether a failing worker ends the iteration or is yielded as an `Outcome`."""


class Outcome(Struct, Generic[T, U], frozen=True):
    """The result of one item, if failures are yielded instead of raised."""

    index: int
    """0-based position of the item."""
    row: T
    """The item."""
    value: U | None
    """The worker's result; None if it failed."""
    error: Exception | None
    """The exception that it raised; None if it did not."""


def iter_async_with_concurrency(
    items: AsyncIterable[T],
    worker: Callable[[int, T], Awaitable[U]],
    *,
    max_concurrency: int | None = None,
    yield_order: YieldOrder = "input",
    max_items: int | None = None,
    buffer: int | None = None,
    drop_none: bool = False,
    on_error: OnWorkerError = "raise",
) -> AsyncIterator[U]:
    """Run `worker(index, item)` over items and yield the results.

    Args:
        items: The source of items; it is closed when the iteration ends.
        worker: Called with the item's number and the item.
        max_concurrency: The most workers at once; None: no limit.
        yield_order: `input` keeps the order of the items, `completion` yields as workers finish.
        max_items: Take only this many items.
        buffer: Finished results that may wait in addition to the running workers; None: as many as `max_concurrency`.
        drop_none: Leave out results that are None.
        on_error: `raise` cancels the other workers and raises; `yield` yields an `Outcome` for every item.

    Results that finished before an error are yielded before it is raised. Raises ValueError for invalid bounds.
    """
    if max_concurrency is not None and max_concurrency <= 0:
        raise ValueError(f"max_concurrency is {max_concurrency}; expected 1 or more, or None for no limit")
    if max_items is not None and max_items < 0:
        raise ValueError(f"max_items is {max_items}; expected 0 or more, or None for all")
    if buffer is not None and buffer < 0:
        raise ValueError(f"buffer is {buffer}; expected 0 or more")
    if yield_order not in ("input", "completion"):
        raise ValueError(f"yield_order is {yield_order!r}; expected 'input' or 'completion'")
    if on_error not in ("raise", "yield"):
        raise ValueError(f"on_error is {on_error!r}; expected 'raise' or 'yield'")
    window = None
    if max_concurrency is not None:
        window = max_concurrency + (max_concurrency if buffer is None else buffer)
    return _Concurrent(
        items, worker, max_concurrency, window, yield_order == "input", max_items, drop_none, on_error == "yield"
    )  # fmt: skip


async def collect_async_iter(items: AsyncIterable[T]) -> list[T]:
    """Everything an asynchronous iterator yields, as a list; the iterator is closed even if it fails."""
    try:
        return [item async for item in items]
    finally:
        await _close(items)


class _EndSignal:
    """Signals that tasks have ended. It is separate from the iterator, because tasks must not keep the iterator alive: it must
    be freed with its last consumer, so that its workers end too."""

    __slots__ = ("_wake", "finished")

    def __init__(self) -> None:
        self.finished: deque[asyncio.Task[Any]] = deque()
        """Workers that ended, in that order."""
        self._wake: asyncio.Future[None] | None = None

    def wake(self, _: object = None) -> None:
        """Signal that something ended."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def worker_ended(self, task: asyncio.Task[Any]) -> None:
        """Note a worker that ended."""
        self.finished.append(task)
        self.wake()

    async def wait(self) -> None:
        """Wait until something ends."""
        self._wake = asyncio.get_running_loop().create_future()
        await self._wake
        self._wake = None


class _Concurrent(AsyncIterator[Any]):
    """The iterator. Everything happens inside `__anext__`; between two calls only running workers continue."""

    def __init__(
        self,
        items: AsyncIterable[Any],
        worker: Callable[[int, Any], Awaitable[Any]],
        limit: int | None,
        window: int | None,
        in_order: bool,
        max_items: int | None,
        drop_none: bool,
        wrap: bool,
    ) -> None:
        self._items = items.__aiter__()
        self._worker = worker
        self._limit = limit
        self._window = window
        self._in_order = in_order
        self._left = max_items
        self._drop_none = drop_none
        self._wrap = wrap
        self._pull: asyncio.Task[Any] | None = None
        self._running: dict[asyncio.Task[Any], tuple[int, Any]] = {}
        self._signal = _EndSignal()
        self._results: dict[int, Any] = {}  # insertion order is the order of completion
        self._next_index = 0
        self._next_yield = 0
        self._error: BaseException | None = None
        self._exhausted = False
        self._closed = False
        self._asked = False

    def __aiter__(self) -> _Concurrent:
        return self

    async def __anext__(self) -> Any:
        if self._asked:
            raise RuntimeError("two consumers use the same iterator at once; give each its own")
        self._asked = True
        try:
            while True:
                value = await self._next()
                if value is not None or not self._drop_none:
                    return value
        except BaseException:  # the end, a failing worker or source, or cancellation
            await self.aclose()
            raise
        finally:
            self._asked = False

    async def aclose(self) -> None:
        """Cancel running workers, wait for them, and close the source."""
        if self._closed:
            return
        self._closed = True
        self._exhausted = True
        tasks = [*self._running, *([] if self._pull is None else [self._pull])]
        self._running.clear()
        self._results.clear()
        self._pull = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        self._signal.finished.clear()
        await _close(self._items)

    def __del__(self) -> None:
        # A `break` out of the loop drops the iterator, so its workers must end.
        for task in [*self._running, *([] if self._pull is None else [self._pull])]:
            with suppress(RuntimeError):  # the loop is closed
                task.cancel()

    async def _next(self) -> Any:
        while True:
            self._harvest()
            index = self._ready()
            if index is not None:
                self._next_yield += 1
                return self._results.pop(index)
            if self._error is not None:
                raise self._error
            if self._closed:
                raise StopAsyncIteration
            self._start_pull()
            if self._pull is None and not self._running:
                raise StopAsyncIteration
            if not self._signal.finished and (self._pull is None or not self._pull.done()):
                await self._signal.wait()

    def _ready(self) -> int | None:
        if self._in_order:
            return self._next_yield if self._next_yield in self._results else None
        return next(iter(self._results), None)

    def _start_pull(self) -> None:
        if self._pull is not None or self._exhausted:
            return
        if self._left is not None and self._next_index >= self._left:
            self._exhausted = True
            return
        if self._limit is not None and len(self._running) >= self._limit:
            return
        if self._window is not None and len(self._running) + len(self._results) >= self._window:
            return
        self._pull = asyncio.ensure_future(_pulled(self._items))
        self._pull.add_done_callback(self._signal.wake)

    def _harvest(self) -> None:
        """Collect results of finished workers, then start a worker for the pulled item."""
        while self._signal.finished:
            task = self._signal.finished.popleft()
            index, item = self._running.pop(task)
            if task.cancelled():
                error: BaseException | None = asyncio.CancelledError(
                    f"the worker of item {index} was cancelled"
                )
            else:
                error = task.exception()
            if error is None:
                self._results[index] = (
                    Outcome(index, item, task.result(), None) if self._wrap else task.result()
                )
            elif self._wrap and isinstance(error, Exception):
                self._results[index] = Outcome(index, item, None, error)
            elif self._error is None:
                self._error = error
                self._exhausted = True
        if self._pull is not None and self._pull.done():
            pull, self._pull = self._pull, None
            if pull.cancelled():
                self._fail(asyncio.CancelledError("the source of items was cancelled"))
            elif (error := pull.exception()) is not None:
                self._fail(error)
            elif pull.result() is _END:
                self._exhausted = True
            elif self._error is None:
                self._start_worker(pull.result())

    def _fail(self, error: BaseException) -> None:
        self._error = self._error or error
        self._exhausted = True

    def _start_worker(self, item: Any) -> None:
        index = self._next_index
        self._next_index += 1
        task = asyncio.ensure_future(_worked(self._worker, index, item))
        self._running[task] = (index, item)
        task.add_done_callback(self._signal.worker_ended)


_END: Any = object()


async def _pulled(items: AsyncIterator[Any]) -> Any:
    """The next item. The end is a value, because a task cannot raise StopAsyncIteration."""
    try:
        return await items.__anext__()
    except StopAsyncIteration:
        return _END


async def _worked(worker: Callable[[int, Any], Any], index: int, item: Any) -> Any:
    result = worker(index, item)
    return await result if inspect.isawaitable(result) else result


async def _close(items: object) -> None:
    close = getattr(items, "aclose", None)
    if close is not None:
        await cast(Callable[[], Awaitable[None]], close)()
