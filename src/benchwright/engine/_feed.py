"""Rows become work: batches are read one ahead in a thread, and what an earlier start recorded is left out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

from benchwright.core import CallRecord, Row, StepRow, call_key, decode_score, score_key
from benchwright.datasets import Batch
from benchwright.engine._progress import Progress
from benchwright.engine._stop import Stop
from benchwright.engine._threads import DaemonThreads
from benchwright.store import StepOutput, Store


@dataclass(slots=True)
class WorkItem:
    """One sample of one repeat, to be asked and scored."""

    index: int
    """0-based row number."""
    repeat: int
    """0-based repeat."""
    row: Row
    """The row after field mapping."""
    recorded: dict[str, StepOutput] | None
    """Calls that an earlier start recorded, by key; None on a first start."""
    out_of_budget: bool = False
    """Set when a call of this sample was not sent: the sample then stays open for a resume."""
    held: CallRecord | None = None
    """A reply that is recorded in one row with its score, if the score follows at once."""
    copy: int = 0
    """Which of the rows with the same prompt this is: copies are repeats, and never share a reply."""
    row_json: bytes = b""
    """The row as it was before a scorer could change it; its hash is the row's identity."""
    asked: dict[bytes, int] | None = None
    """Of samples with several calls: equal ones so far, by hash."""

    def release_held(self) -> StepRow:
        """The held call as a step of its own: its score takes longer than a reply should wait to be recorded."""
        assert self.held is not None
        held, self.held = self.held, None
        return StepRow(call_key(self.index, self.repeat), *held[1:])


class Feed:
    """Hands out work items in row order until the rows end or the run is told to stop."""

    def __init__(
        self,
        batches: Iterator[Batch],
        *,
        repeats: int,
        store: Store,
        run_id: int,
        resuming: bool,
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
        self._stop = stop
        self._progress = progress
        self._ready: deque[WorkItem] = deque()
        self._next_index = 0
        self._ended = False
        self._loading = asyncio.Lock()
        self._threads = DaemonThreads(1, "benchwright-rows")
        self._ahead: asyncio.Task[Batch | None] | None = None

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
        calls: dict[str, StepOutput] | None = None
        scored: dict[str, StepOutput] = {}
        if self._resuming:
            last = self._next_index - 1
            scored = self._store.recorded(self._run_id, "score", first, last)
            calls = self._store.recorded(self._run_id, "call", first, last)
            calls.update(self._store.recorded(self._run_id, "judge", first, last))
        for index, row in enumerate(batch.rows, first):
            copy = self._copy_of(index)
            for repeat in range(self._repeats):
                if scored and score_key(index, repeat) in scored:
                    self._count_recorded(scored[score_key(index, repeat)])
                else:
                    # Each repeat has a row of its own: a scorer that changes it must not change later prompts.
                    own = deepcopy(row) if self._repeats > 1 else row
                    self._ready.append(WorkItem(index, repeat, own, calls, copy=copy))

    async def _read(self) -> Batch | None:
        return await self._threads.run(next, self._batches, None)

    def _count_recorded(self, score: StepOutput) -> None:
        self._progress.done += 1
        self._progress.recorded += 1
        if decode_score(score.output).scores is None:
            self._progress.failed += 1
            self._progress.recorded_failed += 1
