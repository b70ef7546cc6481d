"""`RUN_ACTS`: how each kind of run is canceled and resumed. What can be read of it is in `RUN_KINDS` of `benchwright.results`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchwright.core import RunKind, UsageError
from benchwright.results import kind_of
from benchwright.runs._cancel_and_repair import Canceled, cancel_benchmark, cancel_workflow
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.endpoints import OpenEndpoint
    from benchwright.engine import Watcher


def _resume_benchmark(
    store: Store, run: RunRecord, *, watcher: Watcher | None, endpoint: OpenEndpoint | None, **how: Any
) -> Any:
    from benchwright.runs._jobs import only_result, perform_jobs  # lists need none of the engine
    from benchwright.runs._resume import claimed

    job = claimed(store, run, **how)
    return only_result(perform_jobs(store, [[job]], watcher=watcher, endpoint=endpoint))


def _resume_workflow(store: Store, run: RunRecord, **how: Any) -> Any:
    from benchwright.runs._run_program import resume_program

    return resume_program(store, run)


def _refuse_load(store: Store, run: RunRecord, **how: Any) -> Any:
    raise UsageError(
        f"run {run.id} is a load test, and load tests cannot be resumed. Start it again with benchwright perf"
    )


RUN_ACTS: dict[str, tuple[Callable[[Store, RunRecord], Canceled], Callable[..., Any]]] = {
    RunKind.BENCHMARK: (cancel_benchmark, _resume_benchmark),
    RunKind.WORKFLOW: (cancel_workflow, _resume_workflow),
    RunKind.LOAD: (cancel_benchmark, _refuse_load),
}
"""By the name of the kind: what stops the process of a run and marks the run as canceled, and what resumes a run where it stopped and
returns its result. The second takes what `resume_run` takes, and raises UsageError if such runs cannot be resumed."""


def cancel_run(store: Store, run: RunRecord) -> Canceled:
    """Stop the process of a run, and mark the run as `canceled`; it can still be resumed. Raises UsageError if it has ended."""
    cancel, _ = RUN_ACTS[kind_of(run).name]
    return cancel(store, run)


def resume_run(
    store: Store,
    run: RunRecord,
    *,
    target: Callable[..., Any] | None,
    retry_failed: bool,
    allow_changed: bool,
    overrides: Mapping[str, Any],
    watcher: Watcher | None,
    endpoint: OpenEndpoint | None,
) -> Any:
    """Resume a run of any kind, and return its result.

    Args:
        store: Where it is recorded.
        run: The run.
        target: The decorated function, for a benchmark that no file defines.
        retry_failed: Whether failed samples are sent again.
        allow_changed: Whether the benchmark may have changed since.
        overrides: Settings of `RESUME_OVERRIDES`.
        watcher: Shows the progress.
        endpoint: Answers in place of the model.
    """
    _, resume = RUN_ACTS[kind_of(run).name]
    return resume(
        store, run,
        target=target, retry_failed=retry_failed, allow_changed=allow_changed, overrides=overrides,
        watcher=watcher, endpoint=endpoint,
    )  # fmt: skip
