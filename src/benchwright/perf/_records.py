"""Turns replies into records of requests, and records into steps of the store and back."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import (
    OWN_WORDS,
    CallTimes,
    FailureKind,
    ModelReply,
    Redactor,
    RequestFailure,
    StepValues,
    encode_json,
    known_secrets,
    marked_as_redacted,
    open_artifacts,
)
from benchwright.perf._journal import Journal, Journals
from benchwright.perf._plan import PlannedRequest
from benchwright.perf._quality import decode_grade, encode_grade
from benchwright.perf._token_check import possible
from benchwright.perf._values import (
    PhaseName,
    RequestOutcome,
    RequestRecord,
    StageRecord,
    TokenSource,
    decode_record,
    decode_stage,
    encode_record,
    encode_stage,
)
from benchwright.store import StepWriter, Store

_OUTCOMES: dict[FailureKind, RequestOutcome] = {
    kind: outcome for outcome in RequestOutcome for kind in outcome.failures
}
_Item = TypeVar("_Item", contravariant=True)
_Put = TypeVar("_Put")
_FIRST_WORDS = 200
_CHARACTERS_PER_TOKEN = 4


class Sending(Struct, eq=False):
    """One request in flight: its place in the plan and its planned time."""

    number: int
    stage: int
    phase: PhaseName
    entry: PlannedRequest
    planned: float | None
    """By the machine's clock, like all times until the record is made."""
    worker: int = 0
    url: int = 0
    conversation: int | None = None
    turn: int = 0
    delayed_s: float = 0.0
    free_at: float | None = None


def record_of(
    sending: Sending, reply: ModelReply, zero: float, *, keep_reply: bool = False, wall: float = 0.0
) -> RequestRecord:
    """The record of a request that has ended. `zero` is when the test's clock started, `wall` how far the wall clock is ahead of
    the machine's; `keep_reply`: for scoring."""
    times = reply.times
    sent = times.sent
    failure = reply.failure
    ended = times.last_byte if times.failed is None else times.failed
    arrivals = times.arrivals
    outcome = _outcome(reply, times, failure)
    tokens, source, reported = _output_tokens(reply, len(arrivals))
    usage = reply.usage
    entry = sending.entry
    last = arrivals[-1] if arrivals else (ended if failure is None else None)
    # By position, in the order of the fields: with forty names the call takes four times as long.
    return RequestRecord(
        sending.number,
        sending.stage,
        sending.phase,
        entry.row,
        sending.conversation,
        sending.turn,
        sending.worker,
        sending.url,
        None if sending.planned is None else sending.planned - zero,
        None if sent is None else sent - zero,
        None if times.first_byte is None else times.first_byte - zero,
        None if times.first_event is None else times.first_event - zero,
        None if times.first_token is None else times.first_token - zero,
        None if times.first_answer is None else times.first_answer - zero,
        None if last is None else last - zero,
        None if ended is None else ended - zero,
        tuple([at - sent for at in arrivals]) if arrivals and sent is not None else (),
        None,  # event_tokens
        outcome,
        _words(outcome, failure),
        200 if failure is None else failure.http_status,
        None if usage is None or usage.source != "server" else _count(usage.prompt, 1),
        tokens,
        None if usage is None else _count(usage.cached),
        None if usage is None or reported is not None else _count(usage.reasoning),
        source,
        entry.max_tokens,
        reply.finish_reason,
        entry.prompt_hash,
        None,  # scores
        sending.delayed_s,
        reply.attempts,
        _kept(reply) if keep_reply and failure is None else None,
        None,  # score_outcome
        None,  # score_error
        reply.served,
        reported,
        None if sent is None else sent + wall,
        reply.reply_id,
        reply.request_id,
    )


def _kept(reply: ModelReply) -> str:
    """The part of a reply that a scorer may see: its content without times, so that equal replies compare equal."""
    timeless = replace(reply, times=CallTimes(), started_at=0.0, usage=None, attempts=1, served=None)
    return encode_json(timeless.to_json()).decode()


def unsent_record(
    sending: Sending, outcome: RequestOutcome, why: str, zero: float, at: float
) -> RequestRecord:
    """The record of a request that was planned and not sent, or given up."""
    return RequestRecord(
        number=sending.number,
        stage=sending.stage,
        phase=sending.phase,
        row=sending.entry.row,
        conversation=sending.conversation,
        turn=sending.turn,
        worker=sending.worker,
        url=sending.url,
        planned=None if sending.planned is None else sending.planned - zero,
        ended=at - zero,
        outcome=outcome,
        error=why,
        requested_tokens=sending.entry.max_tokens,
        prompt_hash=sending.entry.prompt_hash,
        delayed_s=sending.delayed_s,
    )


def _outcome(reply: ModelReply, times: CallTimes, failure: RequestFailure | None) -> RequestOutcome:
    if failure is None:
        return RequestOutcome.EMPTY if reply.status == "empty" else RequestOutcome.OK
    if failure.kind == "connection" and times.sent is not None:
        return RequestOutcome.RESET
    return _OUTCOMES[failure.kind]


def _output_tokens(reply: ModelReply, events: int) -> tuple[int | None, TokenSource | None, int | None]:
    """Output tokens, who counted them, and the number that the server reported if it cannot be."""
    reported = None
    if reply.usage is not None and reply.usage.source == "server":
        if possible(reply.usage.completion, reply):
            return reply.usage.completion, "usage", None
        reported = max(-_MOST, min(_MOST, reply.usage.completion))
    if events:
        return events, "counted", reported
    text = 0 if reply.failure is not None else len(reply.text) + len(reply.reasoning)
    if not text:
        return None, None, reported
    return max(1, round(text / _CHARACTERS_PER_TOKEN)), "estimated", reported


_MOST = 2**53
"""Larger counts are no counts, and do not fit into files."""


def _count(reported: int | None, least: int = 0) -> int | None:
    """A count that a server reported; None if it cannot be one."""
    return reported if reported is not None and least <= reported <= _MOST else None


def _words(outcome: RequestOutcome, failure: RequestFailure | None) -> str | None:
    if failure is not None:
        return failure.message[:_FIRST_WORDS]
    return None if outcome is RequestOutcome.OK else "the reply has no content"


class EndedRequest(Struct, frozen=True, gc=False):
    """A request that has ended. Its step is made by the thread that writes it, because that is cheaper for many at once."""

    record: RequestRecord
    stored: bytes
    """The record as it is stored."""
    zero: float = 0.0
    """The wall clock of the test's start."""

    @classmethod
    def of(cls, record: RequestRecord, zero: float = 0.0) -> EndedRequest:
        """With its stored form."""
        return cls(record, encode_record(record), zero)

    def step(self) -> StepValues:
        """The step that records it."""
        record, zero = self.record, self.zero
        started = record.sent or record.planned or 0.0
        return (
            _request_key(record), b"", None, self.stored, False,
            zero + started, zero + (record.ended or started), None, None, None,
        )  # fmt: skip

    @staticmethod
    def without_secrets(stored: bytes, redactor: Redactor) -> bytes:
        """Remove secrets from a stored record."""
        if not redactor.guards or not redactor.found_in(stored):
            return stored
        record = decode_record(stored)
        reply = (record.reply or "").encode()
        whole = redactor.clean_json(reply, OWN_WORDS)
        marked = record.reply if whole is reply else marked_as_redacted(whole).decode()
        texts = {
            name: text and redactor.clean_record(text) for name in _TEXTS for text in [getattr(record, name)]
        }
        return encode_record(replace(record, **texts, reply=marked))

    @staticmethod
    def step_of(record: RequestRecord) -> StepValues:
        """The step that records a request whose test has no clock any more."""
        return EndedRequest.of(record).step()


def _request_key(record: RequestRecord) -> str:
    return f"request/{record.number:09d}/{record.stage:04d}"


def stage_step(stage: StageRecord, zero: float = 0.0) -> StepValues:
    """The step that records a stage."""
    key = f"stage/{stage.stage:09d}/0000"
    return (
        key,
        b"",
        None,
        encode_stage(stage),
        False,
        zero + stage.started,
        zero + stage.ended,
        None,
        None,
        None,
    )


_BATCH = 10_000


def recorded_requests(store: Store, run_id: int) -> Iterator[RequestRecord]:
    """The recorded requests of a load test, in the order of their numbers, with their scores if there are any. For a test that was
    killed, those of its journal too."""
    left, first = store.count_steps(run_id, "request"), 0
    scored = store.count_steps(run_id, "grade") > 0
    late = {
        _request_key(record): record
        for record in Journals(open_artifacts(store.run(run_id).folder), run_id).records()
    }
    while left > 0 or late:
        steps = store.recorded(run_id, "request", first, first + _BATCH - 1)
        grades = store.recorded(run_id, "grade", first, first + _BATCH - 1) if scored else {}
        own = {key: late.pop(key) for key, record in list(late.items()) if record.number < first + _BATCH}
        for key in sorted(steps.keys() | own.keys()):
            record = decode_record(steps[key].output) if key in steps else own[key]
            grade = grades.get(key.replace("request/", "grade/", 1))
            yield record if grade is None else decode_grade(grade.output).added_to(record)
        left -= len(steps)
        first += _BATCH


def count_requests(store: Store, run_id: int, *, only_measured: bool) -> int:
    """The number of recorded requests that were measured. `only_measured`: the test has no others, so none has to be read."""
    if not only_measured:
        return sum(record.phase == "measured" for record in recorded_requests(store, run_id))
    committed = store.count_steps(run_id, "request")
    late = {
        _request_key(record): record.number
        for record in Journals(open_artifacts(store.run(run_id).folder), run_id).records()
    }
    if not late:
        return committed
    known = store.recorded(run_id, "request", min(late.values()), max(late.values()))
    return committed + len(late.keys() - known.keys())


def recorded_stages(store: Store, run_id: int) -> list[StageRecord]:
    """The stages of a load test that have ended, in order."""
    steps = store.recorded(run_id, "stage", 0, 10**8)
    return [decode_stage(steps[key].output) for key in sorted(steps)]


class StepSink(Protocol[_Item]):
    """Stores records. All methods are called in one thread."""

    def write(self, steps: Sequence[_Item], /) -> None:
        """Write steps. Returns when they are safe."""

    def close(self) -> None:
        """Close after the last write."""


_EVERY_S = 0.2
"""Seconds between two batches."""


class BatchThread(Generic[_Put]):
    """Passes items from the event loop to a thread in batches, so that the loop never waits for a disk or a pipe.

    An exception of the sink ends the thread; `close` raises it, and `failure` has it. `journal` turns with every batch, and is
    closed at the end.
    """

    def __init__(
        self, sink: StepSink[_Put], *, every_s: float = _EVERY_S, journal: Journal | None = None
    ) -> None:
        self._sink, self._every_s, self._journal = sink, every_s, journal
        self._waiting: deque[_Put] = deque()
        self._closing = threading.Event()
        self.failure: BaseException | None = None
        """The exception that ended the thread."""
        self._thread = threading.Thread(target=self._work, name="benchwright-records", daemon=True)
        self._thread.start()

    def put(self, step: _Put) -> None:
        """Add an item."""
        self._waiting.append(step)

    def close(self) -> None:
        """Wait until all are written."""
        self._closing.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _work(self) -> None:
        try:
            last = False
            while not last:
                last = self._closing.wait(self._every_s)  # items added before are written below
                waiting, journal = self._waiting, self._journal
                # Items are added before they are journaled, so those of the file that is emptied below are in the batch.
                file = 0 if journal is None else journal.turn()
                if batch := [waiting.popleft() for _ in range(len(waiting))]:
                    self._sink.write(batch)
                    if journal is not None:
                        journal.empty(file)
        except BaseException as error:
            self.failure = error
        try:
            self._sink.close()
        except BaseException as error:
            self.failure = self.failure or error
        if self._journal is not None:
            self._journal.close(keep=self.failure is not None)


class StoreSink:
    """Implements `StepSink` with the writer of a run's steps, in an event loop of the thread that calls it."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store, self._run_id = store, run_id
        self._runner = asyncio.Runner()
        self._writer: StepWriter | None = None

    def write(self, steps: Sequence[StepValues | EndedRequest]) -> None:
        """Write steps. Returns when they are committed."""
        made = [step.step() if isinstance(step, EndedRequest) else step for step in steps]
        self._runner.run(self._append(_without_secrets(made)))

    async def _append(self, steps: Sequence[StepValues]) -> None:
        if self._writer is None:
            self._writer = self._store.step_writer(self._run_id)
        await self._writer.append(steps)

    def close(self) -> None:
        """Close the writer."""
        try:
            if self._writer is not None:
                self._runner.run(self._writer.close())
        finally:
            self._runner.close()


def _without_secrets(steps: Sequence[StepValues]) -> Sequence[StepValues]:
    """Remove secrets from the steps. A reply that contained one is marked, because it was changed and is not scored."""
    redactor = known_secrets()
    if not redactor.guards or not redactor.found_in(b"\n".join([step[3] for step in steps])):
        return steps

    def kept(step: StepValues) -> bytes:
        output = step[3]
        if step[0].startswith("request/"):
            return EndedRequest.without_secrets(output, redactor)
        if step[0].startswith("grade/"):
            grade = decode_grade(output)
            return encode_grade(replace(grade, error=grade.error and redactor.clean_record(grade.error)))
        return output

    return [(*step[:3], kept(step), *step[4:]) for step in steps]


_TEXTS = ("error", "finish_reason", "served", "reply_id", "request_id")
