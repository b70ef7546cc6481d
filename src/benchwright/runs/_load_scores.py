"""Scores the replies of a load test, after its last request: with the scorer, the threads and the judges of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from time import time
from typing import Any

from benchwright.benchmarks import Answer, Asking
from benchwright.core import (
    ModelReply,
    ModelRequest,
    Outcome,
    RequestFailure,
    Row,
    SampleRecord,
    UsageError,
    is_redacted,
    load_json,
)
from benchwright.engine import Answering, Prepared, RunContext, RunGroup, SampleWorker, WorkItem
from benchwright.perf import (
    BatchThread,
    Grade,
    RequestRecord,
    StoreSink,
    recorded_requests,
)
from benchwright.store import Store

_AT_ONCE = 16
_NOT_WHOLE = (
    "the reply contained the value of an environment variable and is not stored whole, so it cannot be scored"
)


def check_scoring(prepared: Prepared) -> None:
    """Raise UsageError for benchmarks without a score for a single request."""
    scan, spec = prepared.rows.scan, prepared.spec
    if scan.requests > scan.rows or spec.converses:
        raise UsageError(
            f"--score: a row of {spec.name} sends several requests, and only all of them together have a score"
        )


async def score_replies(store: Store, run_id: int, prepared: Prepared, group: RunGroup) -> None:
    """Score every measured reply and record the scores. Equal replies to the same row are scored once.

    Ctrl-C ends it; replies not scored by then have no score.
    """
    stopped = asyncio.Event()
    thread: BatchThread[Any] = BatchThread(StoreSink(store, run_id))
    try:
        with group.listening(stopped.set):
            jobs, failed = _jobs(recorded_requests(store, run_id))
            rows = _rows(prepared, {row for row, _ in jobs} | {record.row for record in failed})
            target = prepared.spec.target_reader()
            for record in failed:
                if record.row in rows and prepared.spec.lacks_answer(target(rows[record.row])):
                    grade = Grade(record.number, record.stage, Outcome.REQUEST_FAILED.value, {})
                    thread.put(grade.step(time()))
            await _score_all(prepared, jobs, rows, stopped, thread)
    finally:
        await asyncio.to_thread(thread.close)


_Jobs = dict[tuple[int, str], list[tuple[int, int]]]
"""The numbers and stages of requests, by their row and reply."""


def _jobs(records: Iterator[RequestRecord]) -> tuple[_Jobs, list[RequestRecord]]:
    """The replies to score, and the measured requests without one."""
    found: _Jobs = {}
    failed: list[RequestRecord] = []
    for record in records:
        if record.phase != "measured":
            continue
        if record.ok and record.reply is not None:
            found.setdefault((record.row, record.reply), []).append((record.number, record.stage))
        elif not record.ok:
            failed.append(record)
    return found, failed


def _rows(prepared: Prepared, wanted: set[int]) -> dict[int, Row]:
    return {index: row for index, _, row in prepared.rows if index in wanted}


async def _score_all(
    prepared: Prepared, jobs: _Jobs, rows: dict[int, Row], stopped: asyncio.Event, thread: BatchThread[Any]
) -> None:
    waiting = iter(jobs.items())
    replies: dict[int, ModelReply] = {}
    context = RunContext.alone(prepared.settings)

    async def work(worker: SampleWorker) -> None:
        for (row, reply), places in waiting:
            if stopped.is_set():
                return
            if is_redacted(reply.encode()):
                for each, stage in places:
                    grade = Grade(each, stage, Outcome.SKIPPED.value, None, _NOT_WHOLE)
                    thread.put(grade.step(time()))
                continue
            number = places[0][0]
            replies[number] = ModelReply.from_json(load_json(reply))
            found = await worker.do(WorkItem(number, 0, rows[row]))
            del replies[number]
            if isinstance(found, SampleRecord):  # else a judge could no longer be called
                scores, now = Grade.plain(found.scores), time()
                for each, stage in places:
                    grade = Grade(each, stage, found.outcome.value, scores, found.error)
                    thread.put(grade.step(now))

    async with SampleWorker(
        prepared.rows, prepared.settings, _NoModel(), context, answering=_recorded(replies)
    ) as worker:
        await asyncio.gather(*(work(worker) for _ in range(_AT_ONCE)))


def _recorded(replies: dict[int, ModelReply]) -> Callable[[Answering], Answering]:
    """Give strategies recorded replies, by the number of the request, so that they send nothing."""

    def around(answer: Answering) -> Answering:
        async def recorded(row: Row, repeat: int, asking: Any) -> Answer:
            return await answer(row, repeat, _RecordedReply(replies[asking.item.sample_id], asking))

        return recorded

    return around


class _RecordedReply:
    """Implements `Asking` with an existing reply."""

    def __init__(self, reply: ModelReply, asking: Asking) -> None:
        self._reply = reply
        self.in_thread, self.likelihood = asking.in_thread, asking.likelihood

    async def ask(self, request: ModelRequest, part: str | None = None) -> ModelReply:
        """Return the reply to any request."""
        return self._reply


class _NoModel:
    """Implements `Endpoint` for scorers that call the model under test, which gets no requests after the test."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """Refuse."""
        failure = RequestFailure(
            "rejected", "the replies of a load test are scored without asking the model again"
        )
        return ModelReply("failed", failure=failure)
