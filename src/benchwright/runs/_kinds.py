"""`RUN_ACTS`: how each kind of run is canceled and resumed. What can be read of it is in `RUN_KINDS` of `benchwright.results`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from benchwright.core import RunKind, UsageError
from benchwright.results import kind_of
from benchwright.runs._cancel_and_repair import Canceled, cancel_benchmark, cancel_workflow
from benchwright.store import RunRecord, Store

if TYPE_CHECKING:
    from benchwright.endpoints import OpenEndpoint
    from benchwright.engine import Watcher


class Resuming(Struct, frozen=True):
    """How a run is resumed."""

    target: Callable[..., Any] | None = None
    """The decorated function, for a benchmark that no file defines."""
    retry_failed: bool = False
    """Whether failed samples are sent again."""
    allow_changed: bool = False
    """Whether the benchmark may have changed since."""
    overrides: Mapping[str, Any] = {}
    """Settings of `RESUME_OVERRIDES`."""
    watcher: Watcher | None = None
    endpoint: OpenEndpoint | None = None


class KindActs(Struct, frozen=True):
    """What can be done with a run of one kind."""

    cancel: Callable[[Store, RunRecord], Canceled]
    """Stops the process of a run, and marks the run as canceled."""
    resume: Callable[[Store, RunRecord, Resuming], Any]
    """Resumes a run where it stopped, and returns its result. Raises UsageError if such runs cannot be resumed."""


def _resume_benchmark(store: Store, run: RunRecord, how: Resuming) -> Any:
    from benchwright.runs._jobs import only_result, perform_jobs  # lists need none of the engine
    from benchwright.runs._resume import claimed

    job = claimed(
        store,
        run,
        target=how.target,
        retry_failed=how.retry_failed,
        allow_changed=how.allow_changed,
        overrides=how.overrides,
    )
    return only_result(perform_jobs(store, [[job]], watcher=how.watcher, endpoint=how.endpoint))


def _resume_workflow(store: Store, run: RunRecord, how: Resuming) -> Any:
    from benchwright.runs._run_program import resume_program

    return resume_program(store, run)


def _refuse_load(store: Store, run: RunRecord, how: Resuming) -> Any:
    raise UsageError(
        f"run {run.id} is a load test, and load tests cannot be resumed. Start it again with benchwright perf"
    )


RUN_ACTS: dict[str, KindActs] = {
    RunKind.BENCHMARK: KindActs(cancel_benchmark, _resume_benchmark),
    RunKind.WORKFLOW: KindActs(cancel_workflow, _resume_workflow),
    RunKind.LOAD: KindActs(cancel_benchmark, _refuse_load),
}
"""By the name of the kind."""


def cancel_run(store: Store, run: RunRecord) -> Canceled:
    """Stop the process of a run, and mark the run as `canceled`; it can still be resumed. Raises UsageError if it has ended."""
    return RUN_ACTS[kind_of(run).name].cancel(store, run)


def resume_run(store: Store, run: RunRecord, how: Resuming) -> Any:
    """Resume a run of any kind, and return its result."""
    return RUN_ACTS[kind_of(run).name].resume(store, run, how)
