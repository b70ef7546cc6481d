"""The samples of a run and the store: finds replies of earlier runs, and stores records as soon as they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from benchwright.core import CallRecord, RunOwnedError, SampleRecord, step_key
from benchwright.engine._feed import WorkItem
from benchwright.store import StepWriter, Store, StoreError

K = TypeVar("K", bound=Hashable)


class RunJournal:
    """Stores calls and samples of one run."""

    def __init__(self, store: Store, run_id: int, writer: StepWriter) -> None:
        self._store = store
        self._run_id = run_id
        self._writer = writer
        self.append = writer.append
        """Store rows as they are."""

    def keep(self, item: WorkItem, calls: Sequence[CallRecord]) -> asyncio.Future[None]:
        """Store calls of a sample whose score is not known yet, each as a separate step.

        A full disk or a lost lease is reported when the next record is stored. It must not prevent an `async` scorer from
        being awaited.
        """
        own = step_key("call", item.sample_id, item.repeat)
        if item.recorded is not None:
            self._forget_replaced(item, calls)
        try:
            return self._writer.append([call.to_step(own) for call in calls])
        except (StoreError, RunOwnedError) as error:
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            failed.exception()  # code that awaits it sees the error; if none does, asyncio must not warn
            return failed

    def finish(self, item: WorkItem, record: SampleRecord) -> asyncio.Future[None]:
        """Store a sample with its calls; the future is done when they are committed."""
        if item.replaces:
            return self._writer.replace(item.replaces, record.to_steps())
        if item.recorded is not None:
            self._forget_replaced(item, record.calls)
        return self._writer.append(record.to_steps())

    def _forget_replaced(self, item: WorkItem, calls: Sequence[CallRecord]) -> None:
        """Forget recorded calls that were made again: the recorded reply belonged to another request, or a secret was removed
        from it, so that its score might differ."""
        recorded = item.recorded or {}
        for call in calls:
            key = call.key or step_key("call", item.sample_id, item.repeat)
            if key in recorded:
                self._store.forget_step(self._run_id, key)


class KnownReplies(Generic[K]):
    """Looks up replies of earlier runs; look-ups of one turn of the event loop are done together."""

    def __init__(self, look_up: Callable[[Sequence[K]], Awaitable[dict[K, bytes]]]) -> None:
        self._look_up = look_up
        self._waiting: dict[K, list[asyncio.Future[bytes | None]]] = {}
        self._answering: set[asyncio.Task[None]] = set()  # a task needs a reference to survive

    async def find(self, request: K) -> bytes | None:
        """The reply to an equal request; None if there is none."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            task = loop.create_task(self._answer())
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        found: asyncio.Future[bytes | None] = (
            loop.create_future()
        )  # a separate future for each: a worker that ends cancels its future
        self._waiting.setdefault(request, []).append(found)
        return await found

    async def _answer(self) -> None:
        await asyncio.sleep(0)  # let other look-ups of this turn join
        waiting, self._waiting = self._waiting, {}
        replies: dict[K, bytes] = {}
        failure: Exception | None = None
        try:
            replies = await self._look_up(list(waiting))
        except Exception as error:  # passed on to everyone who waits
            failure = error
        for request, futures in waiting.items():
            for future in futures:
                if future.done():
                    continue
                if failure is None:
                    future.set_result(replies.get(request))
                else:
                    future.set_exception(failure)
