"""What a benchmark's run does in its life: sends and scores its samples, and writes its files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.benchmarks import RecordedSample
from benchwright.core import (
    BenchwrightError,
    JsonObject,
    ModelReply,
    Outcome,
    SampleRecord,
    bridge,
    load_json,
    open_artifacts,
    safe_name,
)
from benchwright.engine import InterruptedRunError, Prepared, Progress, RunGroup, RunLife, RunStart
from benchwright.reports import EVAL_REPORT, write_reports, write_run_config, write_run_files
from benchwright.results import RunResult, RunSamples, benchmark_details
from benchwright.runs._jobs import Running
from benchwright.runs._result import result_of
from benchwright.store import RunRecord, SampleSteps, Store, Workspace, open_store

if TYPE_CHECKING:
    from benchwright.results import RunDetails

_MANY_SAMPLES = 100_000
"""Runs with this many samples are indexed at their end, at a few microseconds each; smaller ones when first filtered."""


class BenchmarkWork:
    """Implements `Work` for a prepared run."""

    resumable = True
    _start: RunStart
    _details: RunDetails

    def __init__(self, prepared: Prepared, *, resuming: bool = False, retry_failed: bool = False) -> None:
        """`retry_failed`: there are failed samples to send again."""
        self.prepared = prepared
        self.resuming = resuming
        self._retry_failed = retry_failed
        self.trackers: Sequence[str] = prepared.settings.trackers or ()

    def start(self, life: RunLife) -> None:
        """Start the run, unless only its summary is computed again."""
        run, prepared = life.run, self.prepared
        if not self.resuming or not run.manifest:  # new, or killed before its data were read
            life.start(prepared.manifest)
        elif (
            run.finished_at is None
            or self._retry_failed
            or life.store.count_steps(run.id, "score") < prepared.row_count * prepared.settings.repeats
        ):
            life.start()

    async def perform(self, life: RunLife, run: Running) -> None:
        """Send and score every sample that is not recorded, sum up, and write the files."""
        self._start = start = RunStart(
            self.prepared, life,
            resuming=self.resuming, retry_failed=self._retry_failed, watcher=run.watcher, group=run.group, label=run.label,
        )  # fmt: skip
        with _first_files(life.store, life.run, self.prepared, run.group):
            async with start.opened(run.endpoint) as work:
                await work
            start.end()
        # In a thread, because writing the samples of a large run would delay the others.
        self._details, first_tokens = await asyncio.to_thread(
            _last_files, life.store.workspace, life.run, start, self.prepared, run.group.signal
        )
        if first_tokens is not None:
            start.summary = replace(start.summary, ttft_s=first_tokens)
            life.run = replace(life.run, summary=start.summary.to_json())

    async def reported(self) -> list[str]:
        """Write the reports of plugins, which must not delay the end of the run."""
        reports = self.prepared.settings.reports
        return await asyncio.to_thread(write_reports, self._details, reports) if reports else []

    def counted(self, progress: Progress) -> tuple[int, int | None, int]:
        """Samples."""
        return progress.done, progress.total, progress.failed

    def details(self, store: Store, run: RunRecord) -> JsonObject:
        """As `show --json` prints it."""
        return benchmark_details(run).to_json()

    def result(self, run: RunRecord, problems: Sequence[str]) -> RunResult:
        """With the counters of this start."""
        return result_of(run, self._start, problems)


@contextmanager
def _first_files(store: Store, run: RunRecord, prepared: Prepared, group: RunGroup) -> Iterator[None]:
    """Write the files that are known before the first request, so that they exist in any case. Send requests inside."""
    details = benchmark_details(run)
    write_run_config(details)
    if EVAL_REPORT not in (prepared.settings.reports or ()):
        yield
        return
    folder = bridge(EVAL_REPORT)
    begun = folder.EvalRun(details, RunSamples(store, run))
    folder.start_eval_folder(begun)
    try:
        yield
    except InterruptedRunError:
        folder.mark_eval_folder(begun, "interrupted", group.signal)
        raise
    except BenchwrightError as error:  # everything else was checked before, so the server cannot be used
        folder.mark_eval_folder(begun, "upstream error", str(error))
        raise


def _mark_of(start: RunStart, signal: str) -> tuple[str, str] | None:
    """Why a start ended early, and by which signal or error, for the file that records it."""
    if start.cause == "interrupted":  # a signal may come after the last sample
        return ("interrupted", signal) if start.summary.partial else None
    summary = start.summary
    hopeless = summary.failed == summary.evaluated or start.cause in (
        "hopeless",
        "failures",
        "client_error",
    )
    if hopeless and summary.outcomes.get(Outcome.REQUEST_FAILED):
        reason, failure = start.reason, start.first_failure
        words = [reason] if failure in reason else [reason, failure]  # fail fast already quotes it
        return "upstream error", ": ".join(filter(None, words))
    return None


def _last_files(
    workspace: Workspace, run: RunRecord, start: RunStart, prepared: Prepared, signal: str
) -> tuple[RunDetails, dict[str, Any] | None]:
    """Write all files of a run whose start has ended, perhaps by the named signal. Returns the updated run, and the times to the first
    token that its samples have."""
    with open_store(workspace) as store:
        reports = prepared.settings.reports or ()
        details, summary = benchmark_details(run), start.summary
        samples = RunSamples(store, run, keep=True)
        # Written first, so that if results.yml exists these do too.
        if prepared.spec.write_files is not None:
            recorded = map(_recorded, store.samples(run.id))
            prepared.spec.write_files(open_artifacts(run.folder), safe_name(run.model), recorded)
        if EVAL_REPORT in reports:
            folder, with_events = bridge(EVAL_REPORT), benchmark_details(run, store.events(run.id))
            folder.write_eval_folder(folder.EvalRun(with_events, samples, summary, _mark_of(start, signal)))
        elif prepared.settings.steps is not None:
            folder, with_events = bridge(EVAL_REPORT), benchmark_details(run, store.events(run.id))
            folder.write_files_of_steps(folder.EvalRun(with_events, samples, summary))
        write_run_files(details, samples, summary)
        store.index_samples(at_least=_MANY_SAMPLES)
        return details, details.run.first_token_times()


def _recorded(steps: SampleSteps) -> RecordedSample:
    return (
        None if steps.score_input is None else load_json(steps.score_input),
        steps.repeat,
        SampleRecord.from_score(steps.score),
        None if steps.call_output is None else ModelReply.from_json(load_json(steps.call_output)),
    )
