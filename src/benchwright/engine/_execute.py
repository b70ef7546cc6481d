"""Executes a prepared run: warms up the server, then workers take samples from the feed until all are done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from copy import deepcopy
from itertools import chain, cycle, islice
from typing import Any, TypeAlias

from msgspec import Struct

from benchwright.benchmarks import Answer, AskableRows
from benchwright.core import ModelReply, ModelRequest, Outcome, RunFailedError, SampleRecord
from benchwright.endpoints import AdaptedEndpoint, Endpoint, OpenEndpoint
from benchwright.engine._calls import Calls, RequestIdentity, SampleCalls
from benchwright.engine._feed import Feed, WorkItem
from benchwright.engine._group import RunGroup, StopAtOnce
from benchwright.engine._journal import RunJournal
from benchwright.engine._ledger import BUDGET_SPENT
from benchwright.engine._life import RunLife
from benchwright.engine._progress import Progress, Watcher
from benchwright.engine._stop import Stop
from benchwright.engine._worker import OpenSample, SampleWorker

Doing: TypeAlias = Callable[[WorkItem], Coroutine[Any, Any, SampleRecord | OpenSample]]
"""Turns a sample into its record."""


class UnrecordedCalls:
    """Replaces the ledger during warm-up. Requests still count against the budget, because they are paid for."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:
        """Send without recording."""
        return await AdaptedEndpoint(Counted(endpoint, self._stop), identity.findings.adapter).send(request)


class Counted:
    """Implements `Endpoint` for calls that are not recorded: each request counts against the budget, also one that repeats a
    refused one."""

    def __init__(self, endpoint: Endpoint, stop: Stop) -> None:
        self._endpoint = endpoint
        self._stop = stop

    async def send(self, request: ModelRequest) -> ModelReply:
        """Send, if the budget allows it."""
        if not self._stop.may_send():
            return BUDGET_SPENT
        reply = await self._endpoint.send(request)
        usage = reply.usage
        self._stop.spent(0 if usage is None else usage.prompt + usage.completion)
        return reply


async def warm_up(rows: AskableRows, calls: Calls, count: int) -> None:
    """Send the first `count` rows, repeating them if there are fewer. Raises RunFailedError if none was answered."""
    first = list(islice(chain.from_iterable(batch.rows for batch in rows.batches()), count))
    items = [WorkItem(number, 0, deepcopy(row)) for number, row in enumerate(islice(cycle(first), count))]
    answers = await asyncio.gather(
        *(rows.strategy.answer(item.row, 0, SampleCalls(calls, item, b"")) for item in items)
    )
    failures = [failure for answer in answers if (failure := _failure(answer)) is not None]
    if answers and len(failures) == len(answers):
        raise RunFailedError(
            f"all {len(answers)} warm-up requests failed, so the run was not started: {failures[0]}"
        )


def _failure(answer: Answer) -> str | None:
    if answer.reply is None:
        return answer.skipped or "the row could not be sent"
    return None if answer.reply.failure is None else answer.reply.failure.message


_SHOW_EVERY_S = 0.12
_BEAT_EVERY_S = 0.4
"""Pages show a sample within a second of its record. A heartbeat is one small commit."""
_PATIENCE_S = 1.0
"""How long cancelled workers may take to end."""
_HOPELESS = 20
"""A run stops if this many samples, and at least all in flight, fail before the first success: the rest would fail the
same way and might cost money."""


class RunParts(Struct):
    """The objects that a run works with, assembled once."""

    worker: SampleWorker
    """Asks and scores."""
    do: Doing
    """Handles one sample: the worker's `do`, or a wrapper that counts."""
    feed: Feed
    """Where samples come from."""
    journal: RunJournal
    """Where records go."""
    endpoint: OpenEndpoint
    """The model under test."""
    stop: Stop
    """When to stop."""
    progress: Progress
    """Counters for watchers."""
    workers: int
    """Samples worked on at once."""
    max_failures: int | None = None
    """Failed samples of this start that are accepted; None: any number."""
    skipped: int = 0
    """Samples that this start skipped. They cost nothing and tell nothing about the model."""


async def execute(
    parts: RunParts,
    life: RunLife,
    watcher: Watcher | None,
    at_once: asyncio.Future[None],
    group: RunGroup,
) -> None:
    """Work until the feed ends, the run is stopped, or `at_once` is done. On return all finished work is recorded."""
    progress = parts.progress
    progress.phase = "asking"
    progress.started = time.monotonic()
    life.beat_every_s = _BEAT_EVERY_S
    with group.working(_work.__code__) as left:
        async with life.beating(lambda: _show(parts, watcher), progress.told, _SHOW_EVERY_S):
            workers = [asyncio.create_task(_work(parts)) for _ in range(parts.workers)]
            everyone = asyncio.gather(*workers)
            everyone.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # else asyncio reports it
            try:
                await asyncio.wait((everyone, at_once), return_when=asyncio.FIRST_COMPLETED)
                if everyone.done():
                    everyone.result()  # a worker's own error, such as a full disk, ends the run
            except StopAtOnce:
                parts.stop.interrupt()
            finally:
                for worker in workers:
                    worker.cancel()
                _, stubborn = await asyncio.wait(workers, timeout=_PATIENCE_S)
                await asyncio.gather(*(worker for worker in workers if worker.done()), return_exceptions=True)
                await parts.feed.close()
        left += stubborn  # an `async` scorer that cannot be cancelled


async def _work(parts: RunParts) -> None:
    """Work on one sample at a time. The next is taken only when the last is committed, so that a killed process loses at
    most one paid request per worker."""
    feed, do, journal, progress = parts.feed, parts.do, parts.journal, parts.progress
    append = journal.append  # does the same as `finish` if nothing is replaced, and saves a call
    while (item := feed.take() or await feed.next()) is not None:
        progress.in_flight += 1
        try:
            record = await do(item)
            if isinstance(record, tuple):
                if record and not item.replaces:  # else its earlier failure stays on record
                    await journal.keep(item, record)
                return
            if item.recorded is None:
                await append(record.to_steps())
            else:
                await journal.finish(item, record)
        finally:
            progress.in_flight -= 1
        progress.done += 1
        if record.scores is None:
            _count_failure(parts, record)


def _count_failure(parts: RunParts, record: SampleRecord) -> None:
    progress = parts.progress
    progress.failed += 1
    repeat = f"/{record.repeat}" if record.repeat else ""
    progress.recent_failures.append(f"row {record.sample_id}{repeat}: {record.error or record.outcome.value}")
    if record.error:
        progress.count_failure(record.error)
    parts.stop.failure_recorded()
    limit = parts.max_failures
    if limit is not None and progress.failed - progress.recorded_failed > limit:
        failed = progress.failed - progress.recorded_failed
        parts.stop.request("failures", f"stopped: {failed} failed, and max_failures is {limit}")
    if record.outcome is Outcome.SKIPPED:
        parts.skipped += 1
        return
    fresh = progress.done - progress.recorded - parts.skipped
    all_failed = fresh == progress.failed - progress.recorded_failed - parts.skipped
    if all_failed and fresh >= max(_HOPELESS, parts.workers):
        parts.stop.request("hopeless", f"stopped: the first {fresh} samples all failed")


def _show(parts: RunParts, watcher: Watcher | None) -> None:
    progress = parts.progress
    progress.limit = parts.endpoint.limit
    progress.judge_retries = parts.worker.judges.retries
    if parts.stop.cause is not None:
        progress.stopping = f"{parts.stop.reason}; Ctrl-C stops at once"
    if watcher is not None:
        watcher.show(progress)
