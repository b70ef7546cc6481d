"""Writes the files of a run: before its first request, and each time a start of it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from benchwright.benchmarks import RecordedSample
from benchwright.core import (
    BenchwrightError,
    Outcome,
    RunFile,
    RunOwnedError,
    UsageError,
    bridge,
    decode_score,
    load_json,
    open_artifacts,
    reply_from_json,
    safe_name,
)
from benchwright.engine import InterruptedRunError, Prepared, RunGroup, RunStart
from benchwright.reports import EVAL_REPORT, write_run_config, write_run_files
from benchwright.results import RunSamples, benchmark_details
from benchwright.store import RunRecord, SampleSteps, Store, Workspace, open_store

if TYPE_CHECKING:
    from benchwright.results import RunDetails

_MANY_SAMPLES = 100_000
"""Runs with this many samples are indexed at their end, at a few microseconds each; smaller ones when first filtered."""


def make_folder(folder: Path) -> Callable[[], None]:
    """Create the folder of a run's files, and check that it can be written to. The returned function removes it while it is
    empty."""
    try:
        return open_artifacts(folder).prepare()
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror}; nothing was sent. Choose another --output-dir"
        ) from None


@contextmanager
def owned_folder(folder: Path) -> Iterator[None]:
    """Create the folder of a run's files, and keep it from other runs while this one lasts. Runs of the same workspace are refused
    by its records; this lock is for those of other workspaces, whose records are elsewhere."""
    make_folder(folder)
    with open_artifacts(folder).lock() as free:
        if not free:
            raise RunOwnedError(
                f"a run of another workspace writes its files into {folder}; nothing was sent. Wait for it, or choose another "
                "--output-dir"
            )
        yield


@contextmanager
def first_files(
    store: Store, run: RunRecord, prepared: Prepared, group: RunGroup, *, resuming: bool
) -> Iterator[None]:
    """Write the files that are known before the first request, so that they exist in any case. Send requests inside."""
    if not resuming:  # results of an earlier run in this folder must not be taken for those of this one
        open_artifacts(run.folder).remove(*RunFile)
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


def last_files(
    workspace: Workspace, run_id: int, start: RunStart, prepared: Prepared, signal: str
) -> RunDetails:
    """Write all files of a run whose start has ended, perhaps by the named signal. Returns the updated run."""
    with open_store(workspace) as store:
        run = replace(store.run(run_id), status=start.status, error=start.error)
        reports = prepared.settings.reports or ()
        details, summary = benchmark_details(run), start.summary
        samples = RunSamples(store, run, keep=True)
        # Written first, so that if results.yml exists these do too.
        if prepared.spec.write_files is not None:
            recorded = map(_recorded, store.samples(run_id))
            prepared.spec.write_files(open_artifacts(run.folder), safe_name(run.model), recorded)
        if EVAL_REPORT in reports:
            folder, with_events = bridge(EVAL_REPORT), benchmark_details(run, store.events(run_id))
            folder.write_eval_folder(folder.EvalRun(with_events, samples, summary, _mark_of(start, signal)))
        elif prepared.settings.steps is not None:
            folder, with_events = bridge(EVAL_REPORT), benchmark_details(run, store.events(run_id))
            folder.write_files_of_steps(folder.EvalRun(with_events, samples, summary))
        write_run_files(details, samples, summary)
        store.index_samples(at_least=_MANY_SAMPLES)
        return details


def _recorded(steps: SampleSteps) -> RecordedSample:
    return RecordedSample(
        None if steps.score_input is None else load_json(steps.score_input),
        steps.repeat,
        decode_score(steps.score),
        None if steps.call_output is None else reply_from_json(load_json(steps.call_output)),
    )
