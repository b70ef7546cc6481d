"""Performs one run from its record to its summary: opens endpoints, executes, sums up, and closes everything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import Watch
from benchwright.core import (
    JsonObject,
    Outcome,
    RunFailedError,
    RunStatus,
    RunSummary,
    SampleRecord,
    as_json,
    open_artifacts,
    step_key,
)
from benchwright.endpoints import (
    AdaptedEndpoint,
    Endpoint,
    OpenEndpoint,
    open_endpoint,
)
from benchwright.engine._calls import Calls, Ledger
from benchwright.engine._cost import RunPrices, counted_from_resume, run_cost
from benchwright.engine._earlier_replies import EarlierReplies
from benchwright.engine._execute import Counted, Doing, RunParts, UnrecordedCalls, execute, warm_up
from benchwright.engine._feed import Feed
from benchwright.engine._findings import ServerFindings
from benchwright.engine._group import RunGroup
from benchwright.engine._journal import KnownReplies, RunJournal
from benchwright.engine._ledger import CallLedger
from benchwright.engine._life import InterruptedRunError, RunLife
from benchwright.engine._manifest import with_read_files
from benchwright.engine._open_files import most_connections
from benchwright.engine._prepare import Prepared
from benchwright.engine._progress import Phase, Progress, Watcher
from benchwright.engine._reused import NONE_REUSED, reused_note, reused_replies
from benchwright.engine._settings import RunSettings
from benchwright.engine._stop import RetryGate, Stop, StopCause
from benchwright.engine._summarise import summarise
from benchwright.engine._worker import Answering, RunContext, SampleWorker
from benchwright.store import RunRecord, StepWriter, Store

if TYPE_CHECKING:
    from benchwright.endpoints import EchoProfile, Pipeline
    from benchwright.engine._corrections import LabelCounts
    from benchwright.engine._cost_limit import JudgeShares
    from benchwright.engine._pipeline import RunPipeline

_ESTIMATED = "the server does not count tokens: --max-tokens-total was applied to an estimate of four characters per token"


class RunStart:
    """The work of one start of a benchmark's run: `opened`, performed, ended.

    Runs of one `group` may run at the same time. `label` is the name for watchers. With `retry_failed`, samples without
    scores are sent again; each keeps its record until its new one replaces it.
    """

    summary: RunSummary
    """The numbers of everything recorded so far."""
    cause: StopCause | None
    """Why it stopped early, if it did."""
    reason: str
    """Why it stopped early, in plain words."""
    first_failure: str
    """The most common failure of this start, in plain words."""
    retries: int
    """Requests that repeated a failed attempt."""
    sent_again: int
    """Requests that repeated one which was lost on a connection that the server was closing."""
    from_cache: int
    """Calls answered by earlier runs."""
    done: int
    """Samples that got an outcome in this start."""

    def __init__(
        self,
        prepared: Prepared,
        life: RunLife,
        *,
        resuming: bool,
        retry_failed: bool,
        watcher: Watcher | None,
        group: RunGroup,
        label: str,
    ) -> None:
        prepared, self._lowered = _within_open_files(prepared)
        settings = prepared.settings
        self._prepared = prepared
        self._life = life
        self._store, self._run = store, run = life.store, life.run
        self._resuming = resuming
        self._retry_failed = retry_failed
        self._watcher = watcher
        stop = Stop(settings.budget, counted_from_resume(run.summary) if resuming else "")
        progress = Progress(label)
        # Checked once, so that a workspace without replies needs no look-ups at all.
        looks_up = settings.cache and store.index_replies()
        self._context = RunContext(
            stop,
            progress,
            group,
            ServerFindings.of_run(store, run, group, settings.rescored_from),
            CallLedger(
                stop=stop,
                progress=progress,
                known=KnownReplies(EarlierReplies(store, run)) if looks_up else None,
            ),
        )
        self._pipeline: RunPipeline | None = None
        if settings.steps is not None:
            from benchwright.engine._pipeline import RunPipeline

            self._pipeline = RunPipeline(settings.steps, open_artifacts(run.folder))
        limit = settings.budget.max_cost
        if limit is not None:
            from benchwright.engine._cost_limit import metering

            self._context.metered = metering(group.cost_meter, prepared.prices.of, limit, stop)
            self._context.shares = self._judge_shares()
        self._watch: Watch | None = None
        self.requests_sent = 0
        """Requests this start sent, retries included."""
        self.seconds = 0.0
        """Wall-clock time of the phase that sends requests."""

    def _judge_shares(self) -> JudgeShares | None:
        from benchwright.engine._cost_limit import JudgeShares

        prices = self._prepared.prices
        judges = self._prepared.spec.judges()
        priced = [
            (price, judge.max_new_tokens)
            for judge in judges
            if (price := prices.of(judge.model_id)) is not None
        ]
        if not priced:
            return None
        return JudgeShares(priced, self._context.group.cost_meter(priced[0][0].currency))

    @asynccontextmanager
    async def opened(self, endpoint: OpenEndpoint | None) -> AsyncIterator[Coroutine[Any, Any, None]]:
        """Open everything that the run needs, and yield the work: it sends and scores every sample that is not recorded, until
        all are done or the run stops. The caller closes an `endpoint` that it passes; without one, the settings say which to
        open."""
        context, prepared = self._context, self._prepared
        async with AsyncExitStack() as stack:
            at_once = stack.enter_context(context.stop.listening(context.group))
            if prepared.spec.source is not None:
                self._watch = stack.enter_context(Watch.on(prepared.spec.source))
            ours = endpoint is None
            endpoint = self._endpoint(endpoint)
            if ours:
                stack.push_async_callback(endpoint.aclose)
            if self._pipeline is not None:
                stack.push_async_callback(self._pipeline.aclose, context.stop)
            writer = self._store.step_writer(self._run.id)
            stack.push_async_callback(writer.close)
            journal = context.journal = RunJournal(self._store, self._run.id, writer)
            setting_up = self._set_up(endpoint, journal, stack)
            parts = await _unless_interrupted(setting_up, context.stop, at_once)
            context.progress.unread = await _record_unreadable(prepared, self._store, self._run.id, writer)
            context.progress.total = prepared.row_count * prepared.settings.repeats
            started, probes = time.monotonic(), endpoint.requests_sent
            yield execute(parts, self._life, self._watcher, at_once, context.group)
            self.seconds = time.monotonic() - started
            self.requests_sent = context.ledger.sent
            if ours:  # the ledger counts replies; requests that were cut off were sent too
                sent = endpoint.requests_sent - probes + parts.worker.judges.requests_sent
                self.requests_sent = max(self.requests_sent, sent)

    def _endpoint(self, given: OpenEndpoint | None) -> OpenEndpoint:
        """The endpoint of the model: the caller's, or the one that the settings describe."""
        context, settings, pipeline = self._context, self._prepared.settings, self._pipeline
        if settings.rescored_from is not None:
            from benchwright.engine._replay import NoModel

            no_model = NoModel()  # even if the caller passed an endpoint: this run must not use it
            return no_model if pipeline is None else pipeline.replaying(no_model)

        def opened(steps: Pipeline | None = None) -> OpenEndpoint:
            found = given or open_endpoint(
                settings.endpoint,
                gate=RetryGate(context.stop),
                limiter=context.group.limiter(settings.endpoint),
                around=None if steps is None else steps.http,
            )
            # Next to the server, because steps of a pipeline may make requests longer.
            return found if context.metered is None else context.metered(found, None)

        return opened() if pipeline is None else pipeline.opened(settings.endpoint, opened)

    async def _set_up(self, endpoint: OpenEndpoint, journal: RunJournal, stack: AsyncExitStack) -> RunParts:
        context, prepared, store, run = self._context, self._prepared, self._store, self._run
        settings, rows = prepared.settings, prepared.rows
        fingerprint = settings.endpoint.fingerprint()
        findings = context.findings.of(fingerprint)
        probed = AdaptedEndpoint(Counted(endpoint, context.stop), findings.adapter)
        profile = await _echo_profile(prepared, store, run, probed, context)
        echo_tokens = 0 if profile is None else profile.max_tokens
        if echo_tokens:
            rows = rows.but(echo_tokens=echo_tokens)
        worker = SampleWorker(
            rows,
            settings,
            endpoint,
            context,
            ledger=self._within(_ledger_of(prepared, store, context.ledger)),
            echo_tokens=echo_tokens,
            answering=_replayed() if settings.rescored_from is not None else None,
        )
        await stack.enter_async_context(worker)
        if _wants_warm_up(prepared, store, run.id, self._resuming and not self._retry_failed):
            self._show("warming up")
            unrecorded = Calls(
                self._within(UnrecordedCalls(context.stop)), endpoint, fingerprint, findings,
                threads=rows.strategy.threads, echo_tokens=echo_tokens,
            )  # fmt: skip
            await warm_up(rows, unrecorded, settings.num_warmups)
        feed = Feed(
            iter(rows.batches()), repeats=settings.repeats, store=store, run_id=run.id, resuming=self._resuming,
            retry_failed=self._retry_failed, stop=context.stop, progress=context.progress, copy_of=rows.scan.copy_of,
        )  # fmt: skip
        do: Doing = worker.do
        if context.shares is not None:
            do = context.shares.around(do)
        return RunParts(
            worker,
            do if self._pipeline is None else self._pipeline.counted(do, context.progress),
            feed,
            journal,
            endpoint,
            context.stop,
            context.progress,
            prepared.workers,
            settings.max_failures,
        )

    def _within(self, ledger: Ledger) -> Ledger:
        return ledger if self._pipeline is None else self._pipeline.ledger(ledger, self._context.stop)

    def end(self) -> None:
        """Sum up what is recorded."""
        stop, progress, ledger = self._context.stop, self._context.progress, self._context.ledger
        self.first_failure = progress.commonest_failure
        self._show("summing up")
        known = with_read_files(self._store.run(self._run.id).manifest, self._prepared.spec, self._watch)
        if known is not None:
            self._store.update_run(self._run.id, manifest=known)
        self.summary = self._summary()
        status, error = _ended_as(self.summary, stop, self.first_failure)
        self._life.end(status, error, summary=self.summary.to_json())
        self._show("done")
        self.cause, self.reason = stop.cause, stop.reason
        self.retries, self.sent_again, self.from_cache = ledger.retries, ledger.sent_again, ledger.cached
        self.done = progress.done - progress.recorded

    def _summary(self) -> RunSummary:
        prepared, store, run, stop = self._prepared, self._store, self._run, self._context.stop
        recorded = run.manifest.get("prices")
        prices = prepared.prices if recorded is None else RunPrices.from_json(recorded)
        rescored = prepared.settings.rescored_from is not None
        # The records of a first start that took over nothing need not be read for it.
        looks = self._resuming or rescored or self._context.ledger.cached
        reused = reused_replies(store, run) if looks else dict(NONE_REUSED)
        summary = summarise(
            store,
            run.id,
            rows=prepared.row_count,
            repeats=prepared.settings.repeats,
            failure_threshold=prepared.settings.failure_threshold,
            spec=prepared.spec,
            origins=prepared.rows.reader.origins(),
            copies=bool(prepared.rows.scan.copies),
            pass_k=prepared.settings.pass_k,
            manifest=run.manifest,
            labels=_label_counts(prepared.settings),
            notes=[
                *prepared.notes,
                *self._lowered,
                *_echo_notes(store, run),
                *_server_notes(prepared, self._context.findings),
                *_replay_notes(prepared, store, run, self._context.ledger.elsewhere, resumed=self._resuming),
                *reused_note(reused, rescored=rescored),
                *([_ESTIMATED] if stop.estimated else []),
                *prices.notes(run.created_at),
                *([] if self._pipeline is None else self._pipeline.notes),
                *([stop.reason] if stop.cause not in (None, "interrupted") else []),
                *self._spent(),
            ],
        )
        return replace(summary, cost=run_cost(summary, prices, store.taken_over(run.id)), reused=reused)

    def _spent(self) -> Iterator[str]:
        """What the command has spent, if its limit stopped the run: replies without a score are in no other sum. Nothing spent is not said:
        next to it stands that no cost is known."""
        limit = self._prepared.settings.budget.max_cost
        if limit is None or self._context.stop.cause != "budget":
            return
        prices = self._prepared.prices
        for price in (prices.model, *prices.judges.values()):
            if price is not None:
                if spent := self._context.group.cost_meter(price.currency).spent:
                    yield f"spent {spent:.4g} {price.currency} of --max-cost {limit:g}, replies without a score included"
                return

    def _show(self, phase: Phase) -> None:
        self._context.progress.phase = phase
        if self._watcher is not None:
            self._watcher.show(self._context.progress)


def _within_open_files(prepared: Prepared) -> tuple[Prepared, tuple[str, ...]]:
    """The run with as many requests at once as this process can have connections, and a note if that is fewer than requested: a
    request without a connection would fail."""
    settings = prepared.settings
    wanted = settings.parallelism
    most = most_connections() if settings.endpoint.by_http else None
    if most is None:
        return prepared, ()
    most = max(1, most // (1 + len(prepared.spec.judges())))
    if wanted <= most:
        return prepared, ()
    endpoint = replace(settings.endpoint, parallelism=min(settings.endpoint.parallelism, most))
    lowered = replace(settings, parallelism=most, endpoint=endpoint)
    note = (
        f"the parallelism is {most:,} instead of {wanted:,}, because this process may not open more files. Raise the limit with "
        f"ulimit -n {_OWN_FILES + wanted}"
    )
    return replace(prepared, settings=lowered), (note,)


_OWN_FILES = 64
"""Files that a process needs besides its connections, generously."""


async def _unless_interrupted(
    setting_up: Coroutine[Any, Any, RunParts], stop: Stop, at_once: asyncio.Future[None]
) -> RunParts:
    """Await the coroutine. Probes and warm-ups that an interrupt cuts short do not count as failed."""
    task = asyncio.create_task(setting_up)
    try:
        await asyncio.wait((task, at_once), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise InterruptedRunError("interrupted before the first request")
        return task.result()
    except Exception as error:
        if stop.cause == "interrupted" and not isinstance(error, InterruptedRunError):
            raise InterruptedRunError("interrupted before the first request") from error
        raise
    finally:
        task.cancel()
        await asyncio.wait((task,))


def _label_counts(settings: RunSettings) -> LabelCounts | None:
    if settings.labels is None:
        return None
    from benchwright.engine._corrections import LabelCounts  # for runs that are scored with labels

    return LabelCounts()


def _replayed() -> Callable[[Answering], Answering]:
    from benchwright.engine._replay import replayed  # for runs that are scored again

    return replayed


def _ledger_of(prepared: Prepared, store: Store, ledger: CallLedger) -> Ledger:
    """The source of the model's replies: the model, or the run that is scored again."""
    settings = prepared.settings
    if settings.rescored_from is None:
        return ledger
    from benchwright.engine._replay import RecordedReplies

    elsewhere = settings.endpoint.reusable
    return RecordedReplies(ledger, store, settings.rescored_from, elsewhere=elsewhere)


def _wants_warm_up(prepared: Prepared, store: Store, run_id: int, resuming: bool) -> bool:
    """Whether the run needs a warm-up: not if it is complete, and not if it is scored again."""
    settings = prepared.settings
    if not settings.num_warmups or not prepared.asks_a_model or settings.rescored_from is not None:
        return False
    return not resuming or store.count_steps(run_id, "score") < prepared.row_count * settings.repeats


async def _echo_profile(
    prepared: Prepared, store: Store, run: RunRecord, endpoint: Endpoint, context: RunContext
) -> EchoProfile | None:
    """What is known about the server's echo. It is learned once per run and kept, so that a resumed run sends equal
    bodies. None if no choices are ranked."""
    if not prepared.rows.facts.needs_echo:
        return None
    from benchwright.endpoints import EchoProfile, EchoRefusedError

    known = _known_echo(run)
    if known is not None:
        return known
    source = prepared.settings.rescored_from
    if source is not None:
        # One that ranked nothing has no such replies either; each sample will say so.
        profile = _known_echo(store.run(source)) or EchoProfile(max_tokens=1, drops_generated=False)
    else:
        context.progress.phase = "probing"
        try:
            profile = await EchoProfile.learned(endpoint, prepared.settings.generation.model)
        except EchoRefusedError as error:
            if context.stop.cause != "budget":
                raise
            raise RunFailedError(
                f"{context.stop.reason} before the first row: at most twenty requests check the server's echo, and they "
                "count too. Allow more"
            ) from error
    echo: JsonObject = as_json(profile)
    store.update_run(run.id, manifest={**store.run(run.id).manifest, "echo": echo})
    return profile


def _known_echo(run: RunRecord) -> EchoProfile | None:
    known = run.manifest.get("echo")
    if not isinstance(known, dict):
        return None
    from benchwright.endpoints import EchoProfile

    return EchoProfile(**{**known, "notes": tuple(known.get("notes") or ())})  # type: ignore[arg-type]  # our own record


def _replay_notes(
    prepared: Prepared, store: Store, run: RunRecord, elsewhere: int, *, resumed: bool
) -> list[str]:
    """Notes on a run that scores recorded replies; `elsewhere` of them are replies to other runs."""
    source = prepared.settings.rescored_from
    if source is None:
        return []
    from benchwright.engine._replay import replay_notes

    notes = list(replay_notes(store, source, run.id, prepared.manifest))
    if elsewhere:
        least = "at least " if resumed else ""
        notes.append(
            f"{least}{elsewhere:,} of the replies are not in run {source}: other runs sent the same requests"
        )
    return notes


def _server_notes(prepared: Prepared, findings: ServerFindings) -> list[str]:
    """Notes on the servers. If no server was involved, the note on the demo model is already there."""
    endpoint = prepared.settings.endpoint
    notes = findings.notes(endpoint.fingerprint(), endpoint.model_id)
    return [note for note in dict.fromkeys(notes) if note not in prepared.notes]


def _echo_notes(store: Store, run: RunRecord) -> list[str]:
    """Notes on the server's echo."""
    echo = store.run(run.id).manifest.get("echo")
    notes = echo.get("notes") if isinstance(echo, dict) else None
    return [f"server's echo: {note}" for note in notes] if isinstance(notes, list) else []


async def _record_unreadable(prepared: Prepared, store: Store, run_id: int, writer: StepWriter) -> list[str]:
    """Record rows that could not be read as skipped, after the others, so that they are counted although they have no
    sample. Returns the reason of each record that this start adds."""
    reasons = [str(bad) for bad in prepared.rows.unreadable]
    if not reasons:
        return []
    now, first = time.time(), prepared.rows.scan.readable
    known = store.recorded(run_id, "score", first, prepared.row_count)
    samples = [
        SampleRecord(number, repeat, None, Outcome.SKIPPED, error=reason, started_at=now, finished_at=now)
        for number, reason in enumerate(reasons, first)
        for repeat in range(prepared.settings.repeats)
        if step_key("score", number, repeat) not in known
    ]
    if samples:
        await writer.append([row for sample in samples for row in sample.to_steps()])
    return [str(sample.error) for sample in samples]


def _ended_as(summary: RunSummary, stop: Stop, failure: str) -> tuple[RunStatus, str | None]:
    if summary.evaluated > 0 and summary.failed == summary.evaluated:
        return "failed", failure or stop.reason
    if summary.partial:
        return "interrupted", stop.reason or None
    return "completed", None
