"""`RUN_KINDS`: one row for each kind of run, with the functions of the commands for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from benchwright import results
from benchwright.core import LoadFile, RunFile, RunKind, UsageError, kind_title
from benchwright.store import RunRecord, Store, whole

if TYPE_CHECKING:
    from benchwright.endpoints import OpenEndpoint
    from benchwright.engine import Watcher
    from benchwright.perf import Requests
    from benchwright.results import (
        Comparison,
        ComparisonOptions,
        FoundRun,
        LoadComparison,
        Policy,
        RunDetails,
        RunSamples,
        RunView,
        Verdict,
    )
    from benchwright.runs._cancel_and_repair import Canceled


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


class KindRow(Struct, frozen=True):
    """One kind of run."""

    name: RunKind
    """Its name in records."""
    view: Callable[[RunRecord], RunView]
    """A run in a list. What `show` presents is in `results.KIND_VIEWS`, which lists need not load."""
    compare: Callable[[FoundRun, FoundRun, ComparisonOptions], Comparison | LoadComparison]
    """Compares two runs of this kind."""
    cancel: Callable[[Store, RunRecord], Canceled]
    """Stops the process of a run and ends the run for good."""
    resume: Callable[[Store, RunRecord, Resuming], Any]
    """Resumes a run where it stopped, and returns its result. Raises UsageError if such runs cannot be resumed."""
    counted: Callable[[Store, int], int]
    """How many samples, requests or steps of a run are recorded."""
    unit: str
    """What is counted."""
    starts_program: bool = False
    """Whether a run is a user's program, which records its steps itself."""
    file: str | None = None
    """The file from which lost records are restored; None: such runs write none."""
    samples: Callable[[Store, RunRecord], tuple[RunDetails, RunSamples]] | None = None
    """The samples that `export` writes and `rescore` scores again; None: such runs have none."""
    filed: Callable[[RunRecord], RunRecord] | None = None
    """Puts the settings of a run into the form of its files, for comparison with a folder; None: they have it."""
    requests: Callable[[Store, int], Requests] | None = None
    """The requests of a load test that `export` writes; None: such runs are not load tests."""
    judge: Callable[[Policy, FoundRun, FoundRun | None, Collection[str], bool], Verdict] | None = None
    """Judges a run for `gate`; None: such runs have no figures for a policy, and cannot be a baseline. The last arguments name
    settings that change no result, and tell whether replies may be older than the run."""


def _samples(store: Store, run: RunRecord) -> tuple[RunDetails, RunSamples]:
    return results.benchmark_details(run), results.RunSamples(store, run)


def _cancel_benchmark(store: Store, run: RunRecord) -> Canceled:
    from benchwright.runs._cancel_and_repair import cancel_benchmark  # reads files of load tests too

    return cancel_benchmark(store, run)


def _cancel_workflow(store: Store, run: RunRecord) -> Canceled:
    from benchwright.runs._cancel_and_repair import cancel_workflow

    return cancel_workflow(store, run)


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
    from benchwright.workflows import resume_program

    return resume_program(store, run)


def _refuse_load(store: Store, run: RunRecord, how: Resuming) -> Any:
    raise UsageError(
        f"run {run.id} is a load test, and load tests cannot be resumed. Start it again with benchwright perf"
    )


def _count_requests(store: Store, run_id: int) -> int:
    from benchwright.perf import count_requests

    return count_requests(store, run_id)


def filed(run: RunRecord) -> RunRecord:
    """The run with its settings in the form of its files."""
    form = kind_of(run).filed
    return run if form is None else form(run)


RUN_KINDS: dict[str, KindRow] = {
    row.name: row
    for row in (
        KindRow(
            name=RunKind.BENCHMARK,
            view=lambda run: results.benchmark_view(run),
            compare=lambda a, b, options: results.compare_benchmarks(a, b, options),
            cancel=_cancel_benchmark,
            resume=_resume_benchmark,
            counted=lambda store, run_id: store.count_steps(run_id, "score"),
            unit="samples",
            file=RunFile.SAMPLES,
            samples=_samples,
            filed=lambda run: results.as_filed(run, results.benchmark_details(run)),
            judge=lambda policy, run, before, harmless, cached: results.judge_benchmark(
                policy, run, before, harmless, accept_cached=cached
            ),
        ),
        KindRow(
            name=RunKind.WORKFLOW,
            view=lambda run: results.workflow_view(run),
            compare=lambda a, b, options: results.compare_workflows(a, b, options),
            cancel=_cancel_workflow,
            resume=_resume_workflow,
            counted=lambda store, run_id: sum(store.workflow_step_counts(run_id).values()),
            unit="steps",
            starts_program=True,
        ),
        KindRow(
            name=RunKind.LOAD,
            view=lambda run: results.load_view(run),
            compare=lambda a, b, options: results.compare_loads(a, b, options),
            cancel=_cancel_benchmark,
            resume=_refuse_load,
            counted=_count_requests,
            unit="requests",
            file=LoadFile.REQUESTS,
            requests=lambda store, run_id: results.load_requests(store, run_id),
            judge=lambda policy, run, before, harmless, _: results.judge_load(policy, run, before, harmless),
        ),
    )
}
"""By name. A new kind is a member of `core.RunKind`, a row here and one of `results.KIND_VIEWS`. What only some commands need is loaded by them."""


def kind_of(run: RunRecord) -> KindRow:
    """The row of a run's kind. Raises UsageError for a kind that only a newer version knows."""
    if run.kind not in RUN_KINDS:
        raise UsageError(f"run {run.id} ({run.name}) is {kind_title(run.kind)}. Update benchwright to use it")
    return RUN_KINDS[run.kind]


def view_of(run: RunRecord, store: Store | None = None) -> RunView:
    """The view of a run of any kind in a list; for an unknown kind, only what every run has. With `store`, a run without a
    result has the number of samples or requests recorded so far."""
    if store is not None:
        run = whole(store, run)
    if run.kind in RUN_KINDS:
        row = RUN_KINDS[run.kind]
        view = row.view(run)
        if view.progress is not None:
            return replace(view, counted=f"{view.progress.done:,}")
        if store is None or row.file is None or run.summary is not None:
            return view
        return replace(view, counted=f"{row.counted(store, run.id):,}")
    return replace(
        results.plain_view(run), summary=None, headline=f"kind {run.kind!r}: needs a newer benchwright"
    )


def cancel_run(store: Store, run: RunRecord) -> Canceled:
    """End a run for good: its process stops, and the run is `canceled`. Raises UsageError if it has ended."""
    return kind_of(run).cancel(store, run)
