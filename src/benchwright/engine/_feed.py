"""Turns rows into work items. A thread reads one batch ahead, and samples that an earlier start recorded are left out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy

from msgspec import Struct

from benchwright.core import Outcome, Row, SampleRecord, load_json, sample_of, step_key
from benchwright.datasets import Chunk
from benchwright.engine._progress import Progress
from benchwright.engine._stop import Stop
from benchwright.engine._threads import DaemonThreads
from benchwright.store import RecordedStep, Store


class WorkItem(Struct, frozen=True):
    """One sample of one repeat that is to be sent and scored, in this process or another."""

    sample_id: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row: Row
    """The row after field mapping."""
    copy: int = 0
    """The number of this row among rows with the same prompt. Copies are treated as repeats and never share a reply."""
    recorded: Mapping[str, RecordedStep] | None = None
    """The calls that an earlier start recorded for it, by key; None if nothing is recorded."""
    replaces: tuple[str, ...] = ()
    """If it failed in an earlier start: the kinds of its recorded steps that its new record replaces."""
    line: int = 0
    """The line of its row in the file; 0 if that is not known."""

    @staticmethod
    def failed(output: bytes) -> bool:
        """Whether a recorded sample has no scores, so that it may be sent again."""
        return SampleRecord.from_score(output).scores is None


class Feed:
    """Hands out work items in row order until the rows end or the run stops."""

    def __init__(
        self,
        batches: Iterator[Chunk],
        *,
        repeats: int,
        store: Store,
        run_id: int,
        resuming: bool,
        retry_failed: bool,
        stop: Stop,
        progress: Progress,
        copy_of: Callable[[int], int],
    ) -> None:
        self._batches = batches
        self._copy_of = copy_of
        self._repeats = repeats
        self._store = store
        self._run_id = run_id
        self._resuming = resuming
        self._retry_failed = retry_failed
        self._stop = stop
        self._progress = progress
        self._ready: deque[WorkItem] = deque()
        self._next_index = 0
        self._ended = False
        self._loading = asyncio.Lock()
        self._threads = DaemonThreads(1, "benchwright-rows")
        self._ahead: asyncio.Task[Chunk | None] | None = None

    def take(self) -> WorkItem | None:
        """The next sample if one is ready, without waiting."""
        stop = self._stop
        if self._ready and stop.cause is None and (stop.deadline is None or not stop.out_of_time()):
            return self._ready.popleft()
        return None

    async def next(self) -> WorkItem | None:
        """The next sample, or None when there is no more to do."""
        ready = self._ready
        while not ready:
            if self._ended or self._stop.cause is not None:
                return None
            async with self._loading:
                if not ready and not self._ended:
                    await self._load()
        return self.take()

    async def close(self) -> None:
        """Stop reading ahead."""
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.gather(self._ahead, return_exceptions=True)
        self._threads.close()

    async def _load(self) -> None:
        if self._ahead is None:
            self._ahead = asyncio.create_task(self._read())
        batch = await self._ahead
        self._ahead = None
        if batch is None:
            self._ended = True
            return
        self._ahead = asyncio.create_task(self._read())
        first = self._next_index
        self._next_index += len(batch.rows)
        scored, calls = await self._known(first) if self._resuming else ({}, {})
        ready, repeats, copy_of = self._ready, self._repeats, self._copy_of
        if repeats == 1 and not scored and not calls:  # most runs
            ready.extend(
                [
                    WorkItem(index, 0, row, copy_of(index), line=line)
                    for index, (row, line) in enumerate(zip(batch.rows, batch.lines, strict=True), first)
                ]
            )
            return
        for index, (row, line) in enumerate(zip(batch.rows, batch.lines, strict=True), first):
            for repeat in range(repeats):
                key = step_key("score", index, repeat)
                recorded = calls.get(sample_of(key))
                replaces: tuple[str, ...] = ()
                if key in scored:
                    replaces = self._replaced(scored[key], recorded or {})
                    if not replaces:
                        self._count_recorded(scored[key])
                        continue
                    recorded = _kept(recorded or {}, replaces)
                # Each repeat gets a separate row, because a scorer that changes its row must not change later prompts.
                own = deepcopy(row) if repeats > 1 else row
                ready.append(WorkItem(index, repeat, own, copy_of(index), recorded, replaces, line))

    def _replaced(self, score: RecordedStep, calls: Mapping[str, RecordedStep]) -> tuple[str, ...]:
        """The kinds of steps to replace if a recorded sample is sent again. The model's replies are kept, because they were paid
        for, if only the scorer or its judge failed, or a later request of the sample did. A reply that is empty, cut off or a
        refusal is requested again."""
        if not self._retry_failed or not WorkItem.failed(score.output):
            return ()
        outcome = SampleRecord.from_score(score.output).outcome
        later = outcome is Outcome.REQUEST_FAILED and any(
            key.startswith("call/") and _is_answer(call) for key, call in calls.items()
        )
        return ("judge", "score") if later or outcome is Outcome.SCORER_FAILED else ("call", "judge", "score")

    async def _known(self, first: int) -> tuple[dict[str, RecordedStep], dict[str, dict[str, RecordedStep]]]:
        return self._recorded(first) if self._store.local else await asyncio.to_thread(self._recorded, first)

    def _recorded(self, first: int) -> tuple[dict[str, RecordedStep], dict[str, dict[str, RecordedStep]]]:
        """What an earlier start recorded for the rows from `first` on: scores by key, calls by sample."""
        last = self._next_index - 1
        calls: dict[str, dict[str, RecordedStep]] = {}
        for kind in ("call", "judge"):
            for key, output in self._store.recorded(self._run_id, kind, first, last).items():
                calls.setdefault(sample_of(key), {})[key] = output
        return self._store.recorded(self._run_id, "score", first, last), calls

    async def _read(self) -> Chunk | None:
        return await self._threads.run(next, self._batches, None)

    def _count_recorded(self, score: RecordedStep) -> None:
        self._progress.done += 1
        self._progress.recorded += 1
        if WorkItem.failed(score.output):
            self._progress.failed += 1
            self._progress.recorded_failed += 1


def _kept(calls: Mapping[str, RecordedStep], replaces: tuple[str, ...]) -> dict[str, RecordedStep]:
    """The recorded calls of a failed sample whose replies are used again."""
    return {
        key: call for key, call in calls.items() if key.partition("/")[0] not in replaces and _is_answer(call)
    }


def _is_answer(call: RecordedStep) -> bool:
    return "x" not in load_json(call.output)
