"""Results of runs that this process performed or that ended earlier, and runs by their results."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from benchwright.core import NotFoundError, RunSummary
from benchwright.engine import RunStart, StopCause
from benchwright.results import RunResult, benchmark_details, view_of
from benchwright.store import RunRecord, Store, named_run


def recorded(store: Store, run: str | int | RunResult) -> RunRecord:
    """Find a run by number, `last`, name or folder, or by its result."""
    if not isinstance(run, RunResult):
        return named_run(store, str(run))
    found = named_run(store, str(run.run_id))
    if found.folder != run.folder:
        raise NotFoundError(
            f"the result is of {run.folder}, and run {run.run_id} of the workspace {store.workspace.root} is another "
            "one. Name the workspace of the result: workspace=…"
        )
    return found


def called(run: str | int | RunResult) -> str:
    """The name of a run in messages."""
    return str(run.run_id if isinstance(run, RunResult) else run)


def result_of(run: RunRecord, start: RunStart, problems: Sequence[str] = ()) -> RunResult:
    """The result of a run that this process started. With `problems`, some of the requested output is missing."""
    code = exit_code_of(start.summary, start.cause)
    return RunResult(
        run=view_of(run),
        summary=start.summary,
        exit_code=code or (1 if problems else 0),
        stopped_because=start.reason,
        first_failure=start.first_failure,
        requests_sent=start.requests_sent,
        retries=start.retries,
        sent_again=start.sent_again,
        from_cache=start.from_cache,
        seconds=start.seconds,
        samples_per_s=start.done / start.seconds if start.seconds > 0 else 0.0,
        report_problems=tuple(problems),
    )


def recorded_result(run: RunRecord) -> RunResult | None:
    """The result of a run that ended earlier; None while there is none. The requests of its last start are not known."""
    found = RunResult.recorded(benchmark_details(run))
    if found is None:
        return None
    return replace(found, exit_code=exit_code_of(found.summary, None), requests_sent=0, seconds=0.0)


def exit_code_of(summary: RunSummary, cause: StopCause | None) -> int:
    """The exit code: 0 done · 1 no number resulted · 3 finished but not comparable · 130 interrupted."""
    if cause == "interrupted":
        return 130
    if cause == "client_error":
        return 1
    if summary.failed == summary.evaluated:
        return 1
    if not summary.metrics and not summary.unscored:
        return 1
    return 0 if summary.comparable else 3
