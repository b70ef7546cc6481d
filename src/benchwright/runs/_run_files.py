"""Writes the files of a run: before its first request, and each time a start of it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    decode_score,
    load_json,
    reply_from_json,
    safe_name,
)
from benchwright.engine import InterruptedRunError, Performed, Prepared, RunGroup
from benchwright.reports import (
    EVAL_REPORT,
    RunSamples,
    benchmark_details,
    write_run_config,
    write_run_files,
)
from benchwright.store import RunRecord, SampleSteps, Store, Workspace, open_store

if TYPE_CHECKING:
    from benchwright.reports import EvalMark, RunDetails

_MANY_SAMPLES = 100_000
"""Runs with this many samples are indexed at their end, at a few microseconds each; smaller ones when first filtered."""


def make_folder(folder: Path) -> list[Path]:
    """Create the folder of a run's files, and check that it can be written to. Returns the folders that were not there
    before, the innermost last."""
    made = [each for each in (*reversed(folder.parents), folder) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror}; nothing was sent. Choose another --output-dir"
        ) from None
    return made


@contextmanager
def owned_folder(folder: Path) -> Iterator[None]:
    """Create the folder of a run's files, and keep it from other runs while this one lasts. Runs of the same workspace are refused
    by its records; this lock is for those of other workspaces, and ends with the process, however that ends."""
    make_folder(folder)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunOwnedError(
                    f"a run of another workspace writes its files into {folder}; nothing was sent. Wait for it, or choose another "
                    "--output-dir"
                ) from None
        yield
    finally:
        os.close(opened)


@contextmanager
def first_files(
    store: Store, run: RunRecord, prepared: Prepared, group: RunGroup, *, resuming: bool
) -> Iterator[None]:
    """Write the files that are known before the first request, so that they exist in any case. Send requests inside."""
    if not resuming:  # results of an earlier run in this folder must not be taken for those of this one
        for name in RunFile:
            (run.folder / name).unlink(missing_ok=True)
    details = benchmark_details(run)
    write_run_config(details)
    if EVAL_REPORT not in (prepared.settings.reports or ()):
        yield
        return
    from benchwright.reports import EvalMark, EvalRun, mark_eval_folder, start_eval_folder

    begun = EvalRun(details, RunSamples(store, run))
    start_eval_folder(begun)
    try:
        yield
    except InterruptedRunError:
        mark_eval_folder(begun, EvalMark("interrupted", group.signal))
        raise
    except BenchwrightError as error:  # everything else was checked before, so the server cannot be used
        mark_eval_folder(begun, EvalMark("upstream error", str(error)))
        raise


def _mark_of(performed: Performed, signal: str) -> EvalMark | None:
    """Why a start ended early, for the file that records it."""
    from benchwright.reports import EvalMark

    if performed.cause == "interrupted":  # a signal may come after the last sample
        return EvalMark("interrupted", signal) if performed.summary.partial else None
    summary = performed.summary
    hopeless = summary.failed == summary.evaluated or performed.cause in (
        "hopeless",
        "failures",
        "client_error",
    )
    if hopeless and summary.outcomes.get(Outcome.REQUEST_FAILED):
        reason, failure = performed.reason, performed.first_failure
        words = [reason] if failure in reason else [reason, failure]  # fail fast already quotes it
        return EvalMark("upstream error", ": ".join(filter(None, words)))
    return None


def last_files(
    workspace: Workspace, run_id: int, performed: Performed, prepared: Prepared, signal: str
) -> RunDetails:
    """Write all files of a run whose start has ended, perhaps by the named signal. Returns the updated run."""
    with open_store(workspace) as store:
        run = replace(store.run(run_id), status=performed.status, error=performed.error)
        reports = prepared.settings.reports or ()
        details, summary = benchmark_details(run), performed.summary
        samples = RunSamples(store, run, keep=True)
        # Written first, so that if results.yml exists these do too.
        if prepared.spec.write_files is not None:
            prepared.spec.write_files(run.folder, safe_name(run.model), map(_recorded, store.samples(run_id)))
        if EVAL_REPORT in reports:
            from benchwright.reports import EvalRun, write_eval_folder

            mark = _mark_of(performed, signal)
            with_events = benchmark_details(run, store.events(run_id))
            write_eval_folder(EvalRun(with_events, samples, summary, mark))
        elif prepared.settings.steps is not None:
            from benchwright.reports import EvalRun, write_files_of_steps

            write_files_of_steps(EvalRun(benchmark_details(run, store.events(run_id)), samples, summary))
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
