"""Executes a prepared run: workers take samples from the feed, ask, score, record, until all is done."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass

from benchwright.benchmarks import Answer
from benchwright.core import (
    Outcome,
    RunOwnedError,
    SampleRecord,
    encode_json,
    encode_sample,
    redact,
)
from benchwright.endpoints import OpenEndpoint
from benchwright.engine._calls import Answering
from benchwright.engine._feed import Feed, WorkItem
from benchwright.engine._group import RunGroup, StopAtOnce
from benchwright.engine._progress import Progress, Watcher
from benchwright.engine._scoring import Scored, Scoring
from benchwright.engine._side_calls import JudgeCalls
from benchwright.engine._stop import Stop
from benchwright.store import HEARTBEAT_S, StepWriter, Store, StoreError

_SHOW_EVERY_S = 0.12
_PATIENCE_S = 1.0
"""How long workers that are told to end may take."""
_HOPELESS = 20
"""A run whose first so many samples (and at least all in flight) fail without one success is stopped:
the rest would fail the same way, and may cost money."""


@dataclass(slots=True)
class Machinery:
    """What a worker needs, put together once per run."""

    answer: Answering
    """From a sample to the model's answer."""
    scoring: Scoring
    """How answers are scored."""
    feed: Feed
    """Where samples come from."""
    writer: StepWriter
    """Where records go."""
    endpoint: OpenEndpoint
    """The model under test."""
    judges: JudgeCalls
    """Other models, asked by scorers."""
    stop: Stop
    """When to stop."""
    progress: Progress
    """Counters for whoever watches."""
    workers: int
    """Samples worked on at once."""
    max_failures: int | None = None
    """Failed samples of this start that are taken in; None: any number."""
    skipped: int = 0
    """Samples of this start that could not be asked: they cost nothing and say nothing about the model."""


async def execute(
    machinery: Machinery,
    store: Store,
    run_id: int,
    watcher: Watcher | None,
    at_once: asyncio.Future[None],
    group: RunGroup,
) -> None:
    """Work until the feed ends, the run is stopped, or `at_once` is done; everything done is recorded on return."""
    with group.working(_work.__code__) as left:
        left += await _execute(machinery, store, run_id, watcher, at_once)


async def _execute(
    machinery: Machinery, store: Store, run_id: int, watcher: Watcher | None, at_once: asyncio.Future[None]
) -> set[asyncio.Task[None]]:
    """The workers that do not end, because an `async` scorer cannot be cancelled."""
    progress = machinery.progress
    progress.phase = "asking"
    progress.started = time.monotonic()
    attendant = asyncio.create_task(_attend(machinery, store, run_id, watcher))
    workers = [asyncio.create_task(_work(machinery)) for _ in range(machinery.workers)]
    everyone = asyncio.gather(*workers)
    everyone.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio reports it
    try:
        await asyncio.wait((everyone, at_once), return_when=asyncio.FIRST_COMPLETED)
        if everyone.done():
            everyone.result()  # a worker's own error, such as a full disk, ends the run
    except StopAtOnce:
        machinery.stop.interrupt()
    finally:
        for worker in workers:
            worker.cancel()
        _, left = await asyncio.wait(workers, timeout=_PATIENCE_S)
        await asyncio.gather(*(worker for worker in workers if worker.done()), return_exceptions=True)
        attendant.cancel()
        with suppress(asyncio.CancelledError):
            await attendant
        await machinery.feed.close()
    return left


async def _work(machinery: Machinery) -> None:
    """One worker: a sample at a time. It takes the next only when the last is committed, so that after a
    kill at most one request per worker has been paid for and not recorded."""
    feed, answering, scoring = machinery.feed, machinery.answer, machinery.scoring
    writer, progress = machinery.writer, machinery.progress
    while (item := feed.take() or await feed.next()) is not None:
        progress.in_flight += 1
        try:
            started = time.time()
            row = item.row_json = encode_json(item.row)  # before a scorer can change it
            answer = await answering(item)
            if item.out_of_budget:
                return  # the sample stays open for a resume
            if scoring.in_threads and item.held is not None:
                # A scorer that never lets go of the interpreter lock must not take a paid reply with it.
                await writer.append((item.release_held(),))
            try:
                scored = scoring.score(item, answer)
            except BaseException:  # a scorer's own interrupt ends the run, and the reply is paid for
                _record_held(item, writer)
                raise
            if not isinstance(scored, Scored):
                _record_held(item, writer)
                scored = await scored
                if item.out_of_budget:
                    return  # a judge, or the scorer's own question, could not be asked any more
            await writer.append(encode_sample(_record(item, row, answer, scored, started)))
        finally:
            progress.in_flight -= 1
        progress.done += 1
        if scored.scores is None:
            _count_failure(machinery, item, scored)


def _record_held(item: WorkItem, writer: StepWriter) -> None:
    """Record a reply without its score. A full disk or a lost lease is reported by whoever records next, and must not keep an
    `async` scorer from being awaited."""
    if item.held is not None:
        with suppress(StoreError, RunOwnedError):
            writer.append((item.release_held(),))


def _record(item: WorkItem, row: bytes, answer: Answer, scored: Scored, started: float) -> SampleRecord:
    reply, error, held = answer.reply, scored.error, item.held
    if error is not None:
        error = redact(error)
    cut, failure = False, None
    response: str | None = answer.response
    if reply is not None:
        if reply.text is response:
            response = None
        # An echo is requested with one token.
        cut = reply.finish_reason == "length" and reply.echoed is None
        if reply.failure is not None:
            failure = reply.failure.kind
    extra = answer.extra
    record = SampleRecord(
        item.index, item.repeat, row, scored.outcome, scored.target, scored.scores, error, answer.prompt, response, cut,
        failure, answer.usage, None, None, None, None, False, started, time.time(), () if held is None else (held,),
    )  # fmt: skip
    return record if extra is None else record._replace(**extra)


def _count_failure(machinery: Machinery, item: WorkItem, scored: Scored) -> None:
    progress = machinery.progress
    progress.failed += 1
    repeat = f"/{item.repeat}" if item.repeat else ""
    progress.recent_failures.append(f"row {item.index}{repeat}: {scored.error or scored.outcome.value}")
    if scored.error:
        progress.count_failure(scored.error)
    limit = machinery.max_failures
    if limit is not None and progress.failed - progress.recorded_failed > limit:
        failed = progress.failed - progress.recorded_failed
        machinery.stop.request("failures", f"stopped: {failed} failed, and max_failures is {limit}")
    if scored.outcome is Outcome.SKIPPED:
        machinery.skipped += 1
        return
    fresh = progress.done - progress.recorded - machinery.skipped
    all_failed = fresh == progress.failed - progress.recorded_failed - machinery.skipped
    if all_failed and fresh >= max(_HOPELESS, machinery.workers):
        machinery.stop.request("hopeless", f"stopped: the first {fresh} samples all failed")


async def _attend(machinery: Machinery, store: Store, run_id: int, watcher: Watcher | None) -> None:
    """Signs of life, and pictures for the watcher."""
    progress = machinery.progress
    next_heartbeat = time.monotonic() + HEARTBEAT_S
    while True:
        progress.limit = machinery.endpoint.limit
        if machinery.stop.cause is not None:
            progress.stopping = f"{machinery.stop.reason}; Ctrl-C stops at once"
        if watcher is not None:
            watcher.show(progress)
        if time.monotonic() >= next_heartbeat:
            store.heartbeat(run_id)
            next_heartbeat = time.monotonic() + HEARTBEAT_S
        await asyncio.sleep(_SHOW_EVERY_S)
