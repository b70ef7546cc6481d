"""Sends and scores one sample at a time, and returns everything as one record. It needs no store and no workspace, so the
same code can work in this process or in another."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from time import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.benchmarks import Answer, AskableRows, Asking
from benchwright.core import (
    UNANSWERED,
    BadRow,
    CallRecord,
    Outcome,
    Route,
    Row,
    SampleRecord,
    encode_json,
    redact,
)
from benchwright.endpoints import Endpoint
from benchwright.engine._calls import CallJournal, Calls, Ledger, SampleCalls
from benchwright.engine._feed import WorkItem
from benchwright.engine._findings import ServerFindings
from benchwright.engine._group import RunGroup
from benchwright.engine._ledger import CallLedger
from benchwright.engine._progress import Progress
from benchwright.engine._scoring import Scored, Scoring
from benchwright.engine._settings import RunSettings
from benchwright.engine._side_calls import JudgeCalls, ModelCalls
from benchwright.engine._stop import RetryGate, Stop

if TYPE_CHECKING:
    from benchwright.engine._corrections import Corrections
    from benchwright.engine._cost_limit import JudgeShares, Metering

_SCORER_THREADS = 32

Answering: TypeAlias = Callable[[Row, int, Asking], Coroutine[Any, Any, Answer]]
"""Gets the model's answer for a row and repeat, like `Strategy.answer`."""


OpenSample: TypeAlias = tuple[CallRecord, ...]
"""A sample that a budget or a stop cut off: its finished calls, which are paid for. A resumed run sends it again."""


class RunContext(Struct):
    """Objects that the samples of one run share."""

    stop: Stop
    """When to stop."""
    progress: Progress
    """Counters for watchers."""
    group: RunGroup
    """Limits that runs of one process share."""
    findings: ServerFindings
    """What is known about the servers."""
    ledger: CallLedger
    """Makes and records the calls."""
    journal: CallJournal | None = None
    """Stores calls before their sample is done; None: they are stored with the sample."""
    metered: Metering | None = None
    """Wraps an endpoint in the cost limit."""
    shares: JudgeShares | None = None
    """What is kept back for the judges of samples in flight, if costs have a limit."""

    @classmethod
    def alone(cls, settings: RunSettings) -> RunContext:
        """Make the context for samples without a store, within the budget of the settings."""
        stop, progress = Stop(settings.budget), Progress(settings.benchmark)
        ledger = CallLedger(stop=stop, progress=progress)
        return cls(stop, progress, RunGroup(), ServerFindings(), ledger)


class SampleWorker:
    """Works on the samples of one run, any number of them at once. Use it as a context manager."""

    def __init__(
        self,
        rows: AskableRows,
        settings: RunSettings,
        endpoint: Endpoint,
        context: RunContext | None = None,
        *,
        ledger: Ledger | None = None,
        echo_tokens: int = 0,
        answering: Callable[[Answering], Answering] | None = None,
    ) -> None:
        """Create the worker inside an event loop.

        Args:
            rows: The rows that samples come from, for a server that generates `echo_tokens` before it echoes.
            settings: The settings of the run.
            endpoint: The model under test; the caller closes it.
            context: Objects that the samples share; None: only the budget of the settings.
            ledger: Makes the calls to the model instead of the context's ledger.
            echo_tokens: See `AskableRows.but`.
            answering: Wraps the function that answers.
        """
        context = context or RunContext.alone(settings)
        self._journal = context.journal
        self._calls = Calls(
            ledger or context.ledger,
            endpoint,
            settings.call_fingerprint(),
            context.findings.of(settings.endpoint.fingerprint()),
            threads=rows.strategy.threads,
            echo_tokens=echo_tokens,
        )
        self._answer: Answering = rows.strategy.answer
        if answering is not None:
            self._answer = answering(self._answer)
        self.judges = JudgeCalls(
            context.ledger,
            settings.parallelism,
            RetryGate(context.stop),
            context.group,
            context.findings,
            context.metered,
            max_retries=settings.judge_retries,
            shares=context.shares,
        )
        route: Route = "chat" if rows.model_type == "chat" else "completions"
        self._spec = rows.spec
        self._source = rows.reader.name
        self._scoring = Scoring(
            rows.spec,
            ask_model=ModelCalls(settings.generation, route).ask,
            ask_judge=self.judges.ask,
            threads=min(settings.parallelism, _SCORER_THREADS),
        )
        self._corrections: Corrections | None = None
        if settings.labels is not None:
            from benchwright.engine._corrections import Corrections  # for runs that are scored with labels

            self._corrections = Corrections(settings.labels, rows.spec)
        self._stack = AsyncExitStack()
        self._stack.push_async_callback(self.judges.aclose)
        self._stack.callback(self._scoring.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def do(self, item: WorkItem) -> SampleRecord | OpenSample:
        """Send and score one sample. Failures are in the record; only errors that end the run are raised."""
        started = time()
        row = encode_json(item.row)  # before a scorer can change it
        # The calls of a sample that failed before are stored with its score: until then, its old record stays whole.
        sample = SampleCalls(self._calls, item, row, None if item.replaces else self._journal)
        answer = await self._answer(item.row, item.repeat, sample)
        if sample.cut_off:
            return sample.calls
        scoring = self._scoring
        correction = None if self._corrections is None else self._corrections.of(row, answer)
        if correction is not None:
            target = correction.target(self._scoring.target(item.row))
            if correction.left_out is not None:
                left = _record(sample, answer, correction.without_score(answer, target), started)
                return left if left.scores is not None else replace(left, group=UNANSWERED)
            read, answer = answer, correction.answer(answer, target)
        if scoring.pace.in_threads and (stored := sample.store_early()) is not None:
            # Stored first: a scorer that never releases the interpreter lock must not lose a paid reply.
            await stored
        try:
            scored = (
                scoring.score(sample, answer)
                if correction is None
                else scoring.score(sample, answer, (target,))
            )
        except BaseException:  # an interrupt from the scorer ends the run, but the reply is paid for
            sample.store_early()
            raise
        if not isinstance(scored, Scored):
            sample.store_early()
            scored = await scored
            if sample.cut_off:  # a call of the scorer, to a judge or the model, could no longer be sent
                return sample.calls
        if correction is not None:
            scored, answer = correction.marked(scored), read
        record = _record(sample, answer, scored, started)
        if scored.scores is not None:
            return record
        if scored.outcome is Outcome.SKIPPED and item.line:
            record = replace(record, error=str(BadRow(self._source, item.line, scored.error or "")))
        if self._spec.lacks_answer(scored.target):
            return replace(record, group=UNANSWERED)
        constants = self._spec.constants
        if constants and scored.outcome is not Outcome.SKIPPED:  # the options of a bad row may be missing
            return replace(record, constants={name: of(item.row) for name, of in constants.items()})
        return record


def _record(sample: SampleCalls, answer: Answer, scored: Scored, started: float) -> SampleRecord:
    item, reply = sample.item, answer.reply
    record = SampleRecord(
        item.sample_id, item.repeat, sample.row, scored.outcome, scored.target, scored.scores,
        usage=answer.usage, started_at=started, finished_at=time(), calls=sample.calls,
    )  # fmt: skip
    if (
        scored.error is None
        and reply is not None
        and reply.text is answer.response
        and reply.finish_reason != "length"
        and answer.prompt is None
        and answer.extra is None
        and reply.copied is None
    ):
        return record  # most samples
    return replace(record, **_unusual(answer, scored), **(answer.extra or {}))


def _unusual(answer: Answer, scored: Scored) -> dict[str, Any]:
    """Fields of a record that a plain sample leaves out."""
    reply = answer.reply
    found: dict[str, Any] = {"prompt": answer.prompt}
    if scored.error is not None:
        found["error"] = redact(scored.error)
    if reply is None or reply.text is not answer.response:
        found["response"] = answer.response
    if reply is not None:
        # An echo is requested with one token.
        found["cut"] = reply.finish_reason == "length" and reply.echoed is None
        found["copied"] = reply.copied
        found["failure"] = None if reply.failure is None else reply.failure.kind
    if scored.reason is not None:
        found["failure"] = scored.reason
    return found
