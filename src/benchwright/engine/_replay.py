"""Scores a run again: every reply comes from the records of an earlier run, and nothing is sent to the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchwright.benchmarks import Answer, Asking
from benchwright.core import (
    BenchwrightError,
    Information,
    JsonObject,
    ModelReply,
    ModelRequest,
    RequestFailure,
    Row,
    SampleRecord,
    is_redacted,
    row_hash,
    step_key,
)
from benchwright.endpoints import Endpoint
from benchwright.engine._calls import RequestIdentity, SampleCalls
from benchwright.engine._feed import WorkItem
from benchwright.engine._journal import KnownReplies
from benchwright.engine._ledger import CallLedger, recorded_reply
from benchwright.engine._worker import Answering
from benchwright.store import RecordedStep, Store


class NotAskedError(BenchwrightError):
    """The earlier run does not have the reply."""


class RecordedReplies:
    """Replaces the ledger of a run that sends requests. Replies, failed ones too, become steps of the new run."""

    def __init__(self, ledger: CallLedger, store: Store, source: int, *, elsewhere: bool) -> None:
        self._ledger = ledger
        self._store = store
        self._source = source
        self._elsewhere = elsewhere  # whether replies to equal requests of any other run may be used
        self._blocks = SourceBlocks(store, source)
        self._replies = KnownReplies(partial(store.replies_of, source))
        self._places: dict[int, int] = {}  # by row number, the number in the earlier run
        self._rows: dict[bytes, deque[int]] | None = (
            None  # of the earlier run, by content; read when rows have moved
        )

    async def call(
        self,
        key: str | None,
        request: ModelRequest,
        endpoint: Endpoint,
        identity: RequestIdentity,
        sample: SampleCalls,
    ) -> ModelReply:
        """The recorded reply to `request`. Raises NotAskedError if there is none; never sends anything."""
        item = sample.item
        number = item.copy if key is None else identity.number(key, request, sample)
        request = identity.findings.adapter.apply(request)
        digest = identity.hash(request, number)
        known = recorded_reply(key, digest, request, identity, item)
        if known is not None:
            return known
        step = self._call(key, sample)
        # The numbers of copies may have changed with the rows before them; the request shows whether it is the same.
        kept = request.payload if request.record is None else request.record
        if step is not None and (step.input_hash == digest or step.input == kept):
            output: bytes | None = step.output
        else:
            output = await self._of_other_row(digest, identity.hash(request), item)
        if output is None:
            why = (
                "it has no reply to this row, which was added since or not reached"
                if step is None
                else "it sent another request for this row; prompt, row or settings differ now"
            )
            raise NotAskedError(f"no reply in run {self._source}: {why}")
        if is_redacted(output):
            raise NotAskedError(
                f"run {self._source} stored this reply without a secret that it contained, so it cannot be scored again"
            )
        return self._ledger.adopt(key, digest, request, output, identity, sample)

    async def _of_other_row(self, digest: bytes, plain: bytes, item: WorkItem) -> bytes | None:
        """The reply to an equal request of another row: this row has changed in fields that its request does not contain,
        or another benchmark sends the same request."""
        output = await self._replies.find((digest, 0))
        if output is None and digest != plain:
            output = await self._replies.find((plain, item.copy))  # recorded without numbers
        if output is None and self._elsewhere:
            output = await self._ledger.known_elsewhere(digest)
        return output

    def _call(self, key: str | None, sample: SampleCalls) -> RecordedStep | None:
        """The call that the earlier run recorded. Its row may have another number there because of other filters, limits
        or order; then it is found by content."""
        item = sample.item
        key = key or step_key("call", item.sample_id, item.repeat)
        there = self._places.get(item.sample_id)
        if there is None:
            there = self._places[item.sample_id] = self._row_there(item, row_hash(sample.row))
        if there == item.sample_id:
            return self._blocks.call(item.sample_id, key)
        return self._store.calls(self._source, there, there).get(SampleRecord.moved_key(key, there))

    def _row_there(self, item: WorkItem, identity: bytes) -> int:
        if self._blocks.row_hash(item.sample_id, item.repeat) == identity:
            return item.sample_id
        if self._rows is None:
            self._rows = {}
            for index, repeat, digest, _ in self._store.scored(self._source):
                if repeat == 0:
                    self._rows.setdefault(digest, deque()).append(index)
        same = self._rows.get(identity)
        return same.popleft() if same else item.sample_id


class SourceBlocks:
    """Calls and rows of the earlier run, read in blocks of rows. Workers take rows in order, and a database query for each
    call would block the event loop."""

    def __init__(self, store: Store, source: int) -> None:
        self._store = store
        self._source = source
        self._blocks: dict[int, tuple[dict[str, RecordedStep], dict[str, bytes]]] = {}

    def call(self, sample_id: int, key: str) -> RecordedStep | None:
        """A call of a row."""
        return self._block(sample_id)[0].get(key)

    def row_hash(self, sample_id: int, repeat: int) -> bytes | None:
        """Hash of the content of a sample's row; None if the sample is not recorded."""
        return self._block(sample_id)[1].get(step_key("score", sample_id, repeat))

    def _block(self, sample_id: int) -> tuple[dict[str, RecordedStep], dict[str, bytes]]:
        number = sample_id // _BLOCK_ROWS
        found = self._blocks.get(number)
        if found is None:
            while len(self._blocks) >= _MOST_BLOCKS:
                del self._blocks[next(iter(self._blocks))]  # the oldest
            first, last = number * _BLOCK_ROWS, (number + 1) * _BLOCK_ROWS - 1
            found = self._blocks[number] = (
                self._store.calls(self._source, first, last),
                {
                    key: step.input_hash
                    for key, step in self._store.recorded(self._source, "score", first, last).items()
                },
            )
        return found


_BLOCK_ROWS = 256
"""Rows per block."""
_MOST_BLOCKS = 4
"""Blocks that are kept. Workers are seldom more than one block apart."""


def replayed(answer: Answering) -> Answering:
    """Wrap an answering function for use without a model: a row without a recorded request is skipped."""

    async def recorded(row: Row, repeat: int, asking: Asking) -> Answer:
        try:
            return await answer(row, repeat, asking)
        except NotAskedError as error:
            return Answer(None, "", row, skipped=str(error))

    return recorded


class NoModel:
    """The endpoint of a run that calls no model."""

    in_flight = 0
    limit = 0
    requests_sent = 0
    retries = 0
    first_failure: RequestFailure | None = None

    async def send(self, request: ModelRequest) -> ModelReply:
        """Refuse."""
        raise NotAskedError("a run that is scored again calls no model")

    async def aclose(self) -> None:
        """Nothing to close."""


def replay_notes(store: Store, source: int, run_id: int, manifest: JsonObject) -> Iterator[str]:
    """Notes on numbers that come from recorded replies."""
    judged = store.count_steps(run_id, "judge") > 0
    yield Information(
        f"rescored from run {source}: no model was called{' except the judge' if judged else ''}"
    )
    if lost := store.run(source).lost:
        yield f"run {source} has lost {lost:,} of its samples"
    before = store.run(source).manifest
    if _part(before, "dataset", "fingerprint") != _part(manifest, "dataset", "fingerprint"):
        yield f"the data has changed since run {source}"
    name = _part(before, "benchmark", "name")
    if name != _part(manifest, "benchmark", "name"):
        yield f"run {source} was of another benchmark, {name}"
    elif _part(before, "benchmark", "hash") != _part(manifest, "benchmark", "hash"):
        yield f"the benchmark or its rules have changed since run {source}"


def _part(manifest: JsonObject, table: str, name: str) -> Any:
    entry = manifest.get(table)
    return entry.get(name) if isinstance(entry, dict) else None
